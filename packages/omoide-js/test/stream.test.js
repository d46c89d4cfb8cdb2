// Streams that break off, stall or are stopped. Needs no server: its answers are made here.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Omoide, OmoideError } from "omoide";
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

const turn = { id: "t", text: "Count." };
const begin = `event: begin\ndata: ${JSON.stringify({ turn, contributions: [] })}\n\n`;
const piece = 'event: piece\ndata: {"text":"One"}\n\n';

/** A memory whose server answers with a body that these functions fill. */
function answering(source) {
  const encoder = new TextEncoder();
  const body = () =>
    new ReadableStream({
      start: (controller) =>
        source({
          send: (text) => controller.enqueue(encoder.encode(text)),
          end: () => controller.close(),
          lose: () => controller.error(new TypeError("terminated")),
        }),
    });
  return new Omoide("http://127.0.0.1:9", { fetch: async () => new Response(body()), retries: 0 });
}

const isLost = (error) => error instanceof OmoideError && error.kind === "unavailable";

test("a connection that is lost is one error, wherever the answer was", async () => {
  const lost = answering(({ send, lose }) => {
    send(begin + piece);
    setTimeout(lose);
  });
  const reply = await lost.reply("ana", "Count.");
  await assert.rejects(reply.text(), isLost);
  for (const way of ["lose", "end"]) {
    const cut = answering((to) => {
      to.send('{"kind": "header"}\n{"ki');
      setTimeout(to[way]);
    });
    const records = [];
    await assert.rejects(async () => {
      for await (const record of cut.export("ana")) records.push(record);
    }, isLost);
    assert.deepEqual(records, [{ kind: "header" }]);
    await assert.rejects(cut.sessions("ana"), isLost);
  }
});

test("a page of another program is that error too", async () => {
  const page = answering(({ send, end }) => {
    send("<title>Another program</title>");
    end();
  });
  await assert.rejects(page.about(), isLost);
});

test("a reply that stalls can be closed, which ends it quietly", { timeout: 5000 }, async () => {
  const memory = answering(({ send }) => send(begin + piece));
  const reply = await memory.reply("ana", "Count.");
  const pieces = [];
  const reading = (async () => {
    for await (const piece of reply) pieces.push(piece);
  })();
  await new Promise((resolve) => setTimeout(resolve, 20));
  await reply.close();
  await reading;
  assert.deepEqual(pieces, ["One"]);
});
