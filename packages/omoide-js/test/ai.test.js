// The middleware with the AI SDK's own functions and its mock model.
import assert from "node:assert/strict";
import { test } from "node:test";

import { generateText, simulateReadableStream, streamText, wrapLanguageModel } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { Omoide } from "omoide";
import { omoideMiddleware } from "omoide/ai";

const memory = new Omoide(process.env.OMOIDE_URL, { key: process.env.OMOIDE_SERVER_KEY });
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const finishReason = { unified: "stop", raw: "stop" };

function mock(text) {
  return new MockLanguageModelV3({
    doGenerate: async () => ({
      content: [{ type: "text", text }],
      finishReason,
      usage,
      warnings: [],
    }),
    doStream: async () => ({
      stream: simulateReadableStream({
        initialDelayInMs: null,
        chunkDelayInMs: null,
        chunks: [
          { type: "stream-start", warnings: [] },
          { type: "text-start", id: "1" },
          ...text.split(/(?<= )/).map((delta) => ({ type: "text-delta", id: "1", delta })),
          { type: "text-end", id: "1" },
          { type: "finish", finishReason, usage },
        ],
      }),
    }),
  });
}

function remembering(inner, user, session) {
  return wrapLanguageModel({
    model: inner,
    middleware: omoideMiddleware({ memory, user, session }),
  });
}

test("what was said on Monday is in the prompt on Tuesday", async () => {
  const first = mock("Lovely.");
  const told = await generateText({
    model: remembering(first, "eva", "monday"),
    prompt: "I have a cat called Miso.",
  });
  assert.equal(told.text, "Lovely.");

  const second = mock("Miso, of course.");
  const asked = streamText({
    model: remembering(second, "eva", "tuesday"),
    system: "Be brief.",
    messages: [{ role: "user", content: "What is my cat called?" }],
  });
  assert.equal(await asked.text, "Miso, of course.");
  const prompt = second.doStreamCalls[0].prompt;
  assert.equal(prompt[0].role, "system");
  assert.match(prompt[0].content, /^Be brief\./);
  assert.match(JSON.stringify(prompt), /Miso/);
  assert.equal(prompt.at(-1).content.at(-1).text, "What is my cat called?");
  assert.deepEqual(
    (await memory.turns("eva")).map((turn) => turn.text),
    ["I have a cat called Miso.", "Lovely.", "What is my cat called?", "Miso, of course."],
  );
});

test("a memory that is away does not stop the chat", async () => {
  const problems = [];
  const away = new Omoide("http://127.0.0.1:9", { retries: 0 });
  const model = wrapLanguageModel({
    model: mock("Hello."),
    middleware: omoideMiddleware({ memory: away, user: "eva", onProblem: (e) => problems.push(e) }),
  });
  assert.equal((await generateText({ model, prompt: "Hi" })).text, "Hello.");
  assert.equal(problems[0].kind, "unavailable");
});
