import { lost } from "./errors.js";

/**
 * The lines of a response as they come, each ended by a line feed. Leaving the loop early closes
 * the connection, and so does the signal, which ends the lines also while one is waited for.
 */
export async function* lines(response: Response, signal?: AbortSignal): AsyncGenerator<string> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const close = () => reader.cancel().catch(() => {}); // it may be lost already
  signal?.addEventListener("abort", close);
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw lost(cause);
      });
      rest += decoder.decode(value, { stream: !done });
      const parts = rest.split("\n");
      rest = parts.pop() ?? "";
      yield* parts;
      if (done) break;
    }
    if (rest && !signal?.aborted) throw lost();
  } finally {
    signal?.removeEventListener("abort", close);
    await close();
  }
}
