/**
 * Memory for the Vercel AI SDK, whatever the model:
 *
 *     const model = wrapLanguageModel({
 *       model: openai("gpt-5"),
 *       middleware: omoideMiddleware({ memory, user: "ana" }),
 *     });
 */
import type { LanguageModelMiddleware } from "ai";

import type { Exchange, Message, Omoide } from "./index.js";

export interface MiddlewareOptions {
  memory: Omoide;
  /** Whose memory. */
  user: string;
  /** The id of the conversation. Without it, a pause starts a new session. */
  session?: string;
  /** Most tokens of memory in a prompt. */
  budget?: number;
  /** Called with an error of memory, which never stops a chat. By default it is a warning. */
  onProblem?: (error: unknown) => void;
}

type TransformParams = NonNullable<LanguageModelMiddleware["transformParams"]>;
type Params = Parameters<TransformParams>[0]["params"];
type Prompt = Params["prompt"];

/** Records what is said, and adds to each prompt what memory knows. */
export function omoideMiddleware(options: MiddlewareOptions): LanguageModelMiddleware {
  const { memory, user, session, budget } = options;
  const problem = options.onProblem ?? ((error) => console.warn("omoide:", error));
  const exchanges = new WeakMap<Params, Exchange>();

  async function finish(params: Params, text: string, complete: boolean): Promise<void> {
    try {
      if (text) await exchanges.get(params)?.finish(text, { once: true, complete });
    } catch (error) {
      problem(error);
    }
  }

  return {
    specificationVersion: "v3",

    async transformParams({ params }) {
      try {
        const sent = params.prompt.map(plain);
        const exchange = await memory.exchange(user, sent, {
          ...(session === undefined ? {} : { session }),
          ...(budget === undefined ? {} : { budget }),
        });
        const changed = { ...params, prompt: withMemory(params.prompt, sent, exchange.messages) };
        exchanges.set(changed, exchange);
        return changed;
      } catch (error) {
        problem(error);
        return params;
      }
    },

    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      await finish(params, text, result.finishReason.unified !== "error");
      return result;
    },

    async wrapStream({ doStream, params }) {
      const result = await doStream();
      const reader = result.stream.getReader();
      let text = "";
      let complete = false;
      const stream: typeof result.stream = new ReadableStream({
        async pull(controller) {
          try {
            const { done, value } = await reader.read();
            if (!done) {
              if (value.type === "text-delta") text += value.delta;
              // A model that fails says so in a part of its stream, which then ends as usual.
              if (value.type === "finish") complete = value.finishReason.unified !== "error";
              controller.enqueue(value);
              return;
            }
            await finish(params, text, complete);
            controller.close();
          } catch (error) {
            await finish(params, text, false);
            controller.error(error);
          }
        },
        async cancel(reason) {
          try {
            await reader.cancel(reason);
          } finally {
            await finish(params, text, false);
          }
        },
      });
      return { ...result, stream };
    },
  };
}

/** A message of the prompt with its text alone: files and tool calls are not for memory. */
function plain(message: Prompt[number]): Message {
  if (typeof message.content === "string") return { role: message.role, content: message.content };
  const texts = message.content.map((part) => (part.type === "text" ? part.text : ""));
  return { role: message.role, content: texts.filter(Boolean).join("\n") };
}

/** The prompt with what memory added to the plain messages. */
function withMemory(prompt: Prompt, sent: Message[], got: Message[]): Prompt {
  const changed = [...prompt];
  const inserted = got.length - sent.length;
  for (const [i, before] of sent.entries()) {
    const after = String(got[i + inserted]?.content ?? "");
    const text = String(before.content);
    const message = changed[i];
    if (after === text || message === undefined) continue;
    if (message.role === "system") {
      changed[i] = { ...message, content: after };
    } else if (message.role === "user") {
      const added = after.slice(0, after.length - text.length).trimEnd();
      changed[i] = { ...message, content: [{ type: "text", text: added }, ...message.content] };
    }
  }
  const first = got[0];
  if (inserted > 0 && first) changed.unshift({ role: "system", content: String(first.content) });
  return changed;
}
