// Streams that break off, stall or are stopped. Needs no server: its answers are made here.
import assert from "node:assert/strict";
import { test } from "node:test";

import { omoideMiddleware } from "omoide/ai";

const usage = {};
const finish = { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage };

/** The middleware's stream over the parts of a model, and what memory was told of the reply. */
async function wrapped(stream, finished = async () => {}) {
  const told = [];
  const messages = [{ role: "user", content: "Count." }];
  const memory = {
    exchange: async () => ({
      messages,
      finish: (text, how) => {
        told.push({ text, complete: how.complete });
        return finished();
      },
    }),
  };
  const middleware = omoideMiddleware({ memory, user: "ana" });
  const prompt = [{ role: "user", content: [{ type: "text", text: "Count." }] }];
  const params = await middleware.transformParams({ type: "stream", params: { prompt } });
  const result = await middleware.wrapStream({ params, doStream: async () => ({ stream }) });
  return { stream: result.stream, told };
}

function streamOf(...parts) {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

const one = { type: "text-delta", id: "1", delta: "One" };

test("a reply that the model ended is complete", async () => {
  const { stream, told } = await wrapped(streamOf(one, finish));
  for await (const _ of stream);
  assert.deepEqual(told, [{ text: "One", complete: true }]);
});

test("a reply that an error part broke off is not complete", async () => {
  for (const rest of [
    [{ type: "error", error: new Error("overloaded") }, { ...finish, finishReason: { unified: "error" } }],
    [{ type: "error", error: new Error("overloaded") }],
    [],
  ]) {
    const { stream, told } = await wrapped(streamOf(one, ...rest));
    for await (const _ of stream);
    assert.deepEqual(told, [{ text: "One", complete: false }]);
  }
});

test("a reply that is stopped stops the model at once, whatever memory does", async () => {
  let stopped;
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(one),
    cancel: (reason) => {
      stopped = reason;
    },
  });
  const { stream, told } = await wrapped(endless, () => new Promise(() => {}));
  const reader = stream.getReader();
  await reader.read();
  void reader.cancel("enough");
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(stopped, "enough");
  assert.equal(told[0].complete, false);
});
