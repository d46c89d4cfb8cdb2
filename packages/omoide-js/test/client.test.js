// Against a running `omoide serve` at OMOIDE_URL; tests/heavy/test_typescript.py starts it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Omoide, OmoideError } from "omoide";

const URL = process.env.OMOIDE_URL;
const key = process.env.OMOIDE_SERVER_KEY;
const memory = new Omoide(URL, { key });
const CAT = "The user has a cat called Miso.";

test("a conversation is recorded, digested, recalled, corrected and erased", async () => {
  const recorded = await memory.record(
    "ána",
    ["I have a cat called Miso.", { speaker: "assistant", text: "How nice.", id: "nice" }],
    { session: "thread-1" },
  );
  assert.equal(recorded.turns.length, 2);
  assert.deepEqual((await memory.record("ána", recorded.turns[0].text)).new.length, 1);
  assert.deepEqual(
    (await memory.record("ána", { speaker: "assistant", text: "How nice.", id: "nice" })).new,
    [],
  );

  await memory.endSession("ána");
  assert.ok((await memory.runJobs()) >= 1);
  const summary = await memory.summary("ána");
  assert.equal(summary.sentences[0].text, CAT);
  assert.equal((await memory.why("ána"))[0].turns[0].text, "I have a cat called Miso.");
  assert.ok((await memory.recall("ána", "What is my cat called?", { k: 3 })).items.length > 0);

  const [fact] = await memory.facts("ána", { about: "user" });
  assert.equal(fact.text, CAT);
  assert.equal((await memory.mark("ána", fact.id, { pinned: true, tags: ["pets"] })).pinned, true);
  const dog = await memory.correct("ána", fact.id, "The user has a dog called Rex.");
  assert.deepEqual(dog.supersedes, [fact.id]);
  assert.deepEqual((await memory.facts("ána", { ended: true })).length, 2);
  assert.deepEqual(
    (await memory.timeline("ána")).map((entry) => entry.change),
    ["began", "changed"],
  );
  assert.equal((await memory.diff("ána", 0)).length, 1);
  assert.equal((await memory.rollback("ána", 0)).number >= 2, true);

  const records = [];
  for await (const record of memory.export("ána")) records.push(record);
  assert.ok(records.some((record) => record.text === "How nice."));
  assert.ok((await memory.users()).includes("ána"));
  assert.equal((await memory.forget("ána", dog.id)).facts, 1);
  assert.equal((await memory.erase("ána", { all: true })).receipt.user, "ána");
  assert.ok(!(await memory.users()).includes("ána"));
});

test("a reply is streamed", async () => {
  const reply = await memory.reply("ben", "Hello!", { session: "s" });
  assert.equal(reply.turn.text, "Hello!");
  const pieces = [];
  for await (const piece of reply) pieces.push(piece);
  assert.equal(pieces.join("").trim(), "I see you.");
  assert.ok(pieces.length > 1);
  assert.deepEqual(
    (await memory.turns("ben")).map((turn) => turn.text.trim()),
    ["Hello!", "I see you."],
  );
});

test("a reply that is stopped before it is read is closed", async () => {
  const reply = await memory.reply("bob", "Hello!");
  await reply.close();
  assert.equal((await memory.turns("bob"))[0].text, "Hello!");
});

test("an exchange with a model of one's own", async () => {
  await memory.record("cleo", "I have a cat called Miso.", { session: "monday" });
  const exchange = await memory.exchange(
    "cleo",
    [{ role: "user", content: "What is my cat called?" }],
    { session: "tuesday" },
  );
  assert.match(JSON.stringify(exchange.messages), /Miso/);
  assert.ok(exchange.contributions.length > 0);
  await exchange.finish("Miso.");
  assert.equal((await memory.turns("cleo")).at(-1).text, "Miso.");
  const context = await memory.context("cleo", "What is my cat called?");
  assert.match(context.text, /Miso/);
});

test("files of the memory tool have versions", async () => {
  const path = "/memories/tea.md";
  await memory.memoryTool("gus", { command: "create", path, file_text: "Green." });
  assert.equal((await memory.memoryTool("gus", { command: "delete", path })).is_error, false);
  const restored = await memory.restoreFile("gus", path, 1);
  assert.equal(restored.text, "Green.");
  const versions = await memory.fileVersions("gus", path);
  assert.deepEqual(versions.map((v) => v.command), ["create", "delete", "restore"]);
  await assert.rejects(memory.restoreFile("gus", path, 9), { kind: "no-such-version" });
});

test("notes, titles and work", async () => {
  await memory.record("finn", "Hello.");
  await memory.rename("finn", 1, "Greetings");
  assert.deepEqual([...(await memory.titles("finn"))], [[1, "Greetings"]]);
  const note = await memory.putNote("finn", { kind: "app.js", key: "a", text: "one" });
  assert.deepEqual(await memory.notes("finn", "app.js"), [note]);
  assert.equal(await memory.removeNotes("finn", "app.js"), 1);
  assert.equal(await memory.endIdle(), 0);
  await memory.embed("finn");
  assert.deepEqual(await memory.retry("finn"), []);
  assert.deepEqual(await memory.rejected("finn"), []);
  assert.deepEqual(await memory.memos("finn"), []);
  assert.deepEqual((await memory.explain("finn", "Hello?")).items, await memory.events("finn"));
  assert.deepEqual(await memory.curves("finn", { days: 30 }), []);
  assert.deepEqual(await memory.calls("finn"), []);
  await assert.rejects(memory.digest("finn", 9), { kind: "no-such-session" });
  await assert.rejects(memory.calibrate("finn"), { status: 422 });
});

test("what other programs stored is imported, and an export restored", async () => {
  const talk = { key: "k", messages: [{ id: "m", speaker: "user", text: "I moved." }] };
  assert.equal((await memory.importConversations("gil", [talk], { digest: false })).turns, 1);
  const known = { source: "mem0", facts: [{ id: "f", text: "The user lives in Bonn." }] };
  assert.equal((await memory.importMemories("gil", known)).facts, 1);
  assert.equal((await memory.importMemories("gil", known)).known, 1);
  const records = [];
  for await (const record of memory.export("gil")) records.push(record);
  const restored = await memory.restore("hal", records);
  assert.deepEqual([restored.turns, restored.facts], [1, 1]);
  assert.equal((await memory.facts("hal"))[0].text, "The user lives in Bonn.");
  const { receipt } = await memory.erase("hal", { all: true });
  assert.equal(await memory.isGenuine(receipt), true);
  assert.equal(await memory.isGenuine({ ...receipt, user: "gil" }), false);
});

test("errors say their kind", async () => {
  await assert.rejects(memory.summary("cleo", { version: 99 }), (error) => {
    assert.ok(error instanceof OmoideError);
    assert.deepEqual([error.kind, error.status], ["no-such-version", 404]);
    return true;
  });
  await assert.rejects(memory.record("cleo", " "), { kind: "invalid", status: 422 });
  const stranger = new Omoide(URL, { key: "omo_wrong" });
  await assert.rejects(stranger.users(), { kind: "unauthorized", status: 401 });
  const nobody = new Omoide("http://127.0.0.1:9", { retries: 0 });
  await assert.rejects(nobody.users(), { kind: "unavailable", status: 0 });
});

test("an answer that is lost is asked for again, and done once", async () => {
  let lost = 0;
  const flaky = async (input, init) => {
    const response = await fetch(input, init);
    if (lost++ === 0) {
      await response.arrayBuffer();
      throw new TypeError("lost");
    }
    return response;
  };
  const unsure = new Omoide(URL, { key, fetch: flaky });
  await unsure.record("dora", "Hi");
  assert.equal(lost, 2);
  assert.equal((await memory.turns("dora")).length, 1);
});

test("no ids name nothing", async () => {
  await memory.record("nora", "I have a cat called Miso.");
  assert.deepEqual(await memory.turns("nora", { id: [] }), []);
  assert.deepEqual(await memory.facts("nora", { id: [] }), []);
  assert.deepEqual(await memory.facts("nora", { turn: [] }), []);
  assert.equal((await memory.turns("nora")).length, 1);
});
