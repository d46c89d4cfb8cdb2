import { lost, problemError } from "./errors.js";
import { lines } from "./lines.js";
import type { Contribution, Turn } from "./types.js";

interface Begun {
  turn: Turn;
  contributions: Contribution[];
}

/** A reply of the server's model that is being streamed: iterate over it for the pieces. */
export class Reply implements AsyncIterable<string> {
  readonly #pieces: AsyncGenerator<string>;
  readonly #events: AsyncGenerator<unknown>;
  readonly #stop: AbortController;

  private constructor(
    /** The user's message, as recorded. */
    readonly turn: Turn,
    /** What memory added to the prompt, and why. */
    readonly contributions: Contribution[],
    events: AsyncGenerator<unknown>,
    stop: AbortController,
  ) {
    this.#events = events;
    this.#stop = stop;
    this.#pieces = texts(events);
  }

  static async read(response: Response): Promise<Reply> {
    const stop = new AbortController();
    const events = parsed(response, stop.signal);
    const first = await events.next();
    if (first.done) throw lost();
    const { turn, contributions } = first.value as Begun;
    return new Reply(turn, contributions, events, stop);
  }

  [Symbol.asyncIterator](): AsyncIterator<string> {
    return this.#pieces;
  }

  /** Wait for the end, and return all of it. */
  async text(): Promise<string> {
    let text = "";
    for await (const piece of this) text += piece;
    return text;
  }

  /** Stop the reply; what came until then is recorded. */
  async close(): Promise<void> {
    this.#stop.abort(); // a piece may be waited for
    await this.#pieces.return(undefined);
    await this.#events.return(undefined); // the pieces may not have been begun
  }
}

async function* texts(events: AsyncGenerator<unknown>): AsyncGenerator<string> {
  try {
    for await (const event of events) yield (event as { text: string }).text;
  } finally {
    await events.return(undefined);
  }
}

/** The data of the events until `end`. */
async function* parsed(response: Response, stop: AbortSignal): AsyncGenerator<unknown> {
  let name = "";
  for await (const line of lines(response, stop)) {
    if (line.startsWith("event: ")) name = line.slice(7);
    if (!line.startsWith("data: ")) continue;
    if (name === "end") return;
    const data = JSON.parse(line.slice(6));
    if (name === "error") throw problemError(data, data.status);
    yield data;
  }
  if (!stop.aborted) throw lost();
}
