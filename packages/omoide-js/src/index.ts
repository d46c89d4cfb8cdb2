/**
 * The memory of an omoide server.
 *
 *     const memory = new Omoide("http://127.0.0.1:8377", { key: "omo_…" });
 *     await memory.record("ana", ["I have a cat called Miso."]);
 *     const { items } = await memory.recall("ana", "What is my cat called?");
 */
import { Connection, type ConnectionOptions } from "./connection.js";
import { lines } from "./lines.js";
import { Reply } from "./reply.js";
import type {
  About,
  Calibration,
  Contribution,
  Curve,
  Erased,
  Erasure,
  Explained,
  Fact,
  FactFilter,
  FactMarks,
  FileVersion,
  ForeignConversation,
  ForeignMemories,
  ImportedConversations,
  ImportedMemories,
  Job,
  Memo,
  MemoryEvent,
  Message,
  ModelCall,
  Note,
  Presets,
  Reason,
  Recalled,
  RecallOptions,
  RejectedAnswer,
  Restored,
  SentenceChange,
  Session,
  Summary,
  Support,
  TimelineEntry,
  ToolResult,
  Turn,
  Utterance,
  When,
} from "./types.js";

export { OmoideError } from "./errors.js";
export type * from "./types.js";
export type { ConnectionOptions };
export { Reply };

/** What memory adds to the prompt of one reply. */
export interface Context {
  /** The memory as one text, for your own prompt. */
  text: string;
  /** The messages to send to a model, with what memory adds. */
  messages: Message[];
  /** What was added, each with its reason. */
  contributions: Contribution[];
}

/** A recorded message that your own model answers. */
export interface Exchange extends Context {
  /** The recorded messages of the user; the last one is to be answered. */
  turns: Turn[];
  /** Whether the message was recorded before: a request is sent again. */
  repeated: boolean;
  /** Record the reply. `complete: false` if it broke off. */
  finish(text: string, options?: { complete?: boolean; once?: boolean }): Promise<void>;
}

interface Begun extends Context {
  turns: Turn[];
  repeated: boolean;
}

interface Spoken {
  session?: string;
  /** The time at which it was said, ISO 8601 with a time zone; now if left out. */
  at?: string;
}

export class Omoide {
  readonly #to: Connection;

  constructor(url: string, options: ConnectionOptions = {}) {
    this.#to = new Connection(url, options);
  }

  // ── Talking ───────────────────────────────────────────────────────────────────────────────

  /** Record turns; durable once it resolves. `new` are the ids of those not recorded before. */
  async record(
    user: string,
    turns: Utterance | Utterance[],
    options: Spoken = {},
  ): Promise<{ turns: Turn[]; new: string[] }> {
    const given = Array.isArray(turns) ? turns : [turns];
    const said = given.map((t) => (typeof t === "string" ? { speaker: "user", text: t } : t));
    return this.#post("/api/turns", user, { ...options, turns: said });
  }

  /** Record the user's message, and stream a reply of the server's model. */
  async reply(user: string, text: string, options: Spoken & { id?: string } = {}): Promise<Reply> {
    const body = { ...options, text, stream: true };
    const wanted = { query: { user }, body, retry: false };
    return Reply.read(await this.#to.send("/api/reply", wanted));
  }

  /** What memory adds to the prompt of the reply to these messages. Nothing is recorded. */
  async context(
    user: string,
    messages: string | Message[],
    options: { at?: string; budget?: number } = {},
  ): Promise<Context> {
    return this.#post("/api/context", user, { ...options, ...said(messages) });
  }

  /** Record a message, get the prompt of its reply, and record that with `finish`. */
  async exchange(
    user: string,
    messages: string | Message[],
    options: Spoken & { budget?: number } = {},
  ): Promise<Exchange> {
    const begun: Begun = await this.#post("/api/exchanges", user, {
      ...options,
      ...said(messages),
    });
    const { budget: _, ...spoken } = options;
    const turn = begun.turns.at(-1);
    const finish: Exchange["finish"] = async (text, how = {}) => {
      if (!turn) return;
      const used = begun.contributions.map(({ mechanism, place, kind, id, time }) => ({
        mechanism,
        place,
        kind,
        id,
        time,
      }));
      const body = { ...spoken, ...how, turn: turn.id, text, used, repeated: begun.repeated };
      await this.#post("/api/exchanges/finish", user, body);
    };
    return { ...begun, finish };
  }

  /** What is relevant to a query, best first, and how likely it is that anything is known. */
  async recall(
    user: string,
    query: string,
    options: RecallOptions = {},
  ): Promise<{ items: Recalled[]; support: Support; degraded: string }> {
    return this.#post("/api/recall", user, { ...options, query });
  }

  /** End the user's open sessions, or one of them. They are digested in the background. */
  async endSession(user: string, options: { session?: number } = {}): Promise<Session[]> {
    return (await this.#post<{ sessions: Session[] }>("/api/sessions/end", user, options)).sessions;
  }

  /** Run all jobs that are due, and wait for them. Resolves to how many were started. */
  async runJobs(): Promise<number> {
    const ran = await this.#to.json<{ started: number }>("/api/jobs/run", { body: {}, timeout: 0 });
    return ran.started;
  }

  /** End the sessions of all users that were idle for long. Resolves to how many. */
  async endIdle(): Promise<number> {
    const done = await this.#to.json<{ ended: number }>("/api/sessions/end-idle", { body: {} });
    return done.ended;
  }

  // ── Reading ───────────────────────────────────────────────────────────────────────────────

  async summary(user: string, when?: When): Promise<Summary> {
    return this.#to.json("/api/memory", { query: { user, ...when } });
  }

  /** All versions of the summary, oldest first. */
  async history(user: string): Promise<Summary[]> {
    return this.#to.pages("/api/memory/versions", { user });
  }

  /** What changed from one version to another, by default to the newest. */
  async diff(user: string, from: number, to?: number): Promise<SentenceChange[]> {
    return this.#items("/api/memory/diff", { user, from, ...(to === undefined ? {} : { to }) });
  }

  /** Each sentence of the summary with the turns that support it. */
  async why(user: string, when?: When): Promise<Reason[]> {
    return this.#items("/api/memory/why", { user, ...when });
  }

  async turns(user: string, options: { session?: number; id?: string[] } = {}): Promise<Turn[]> {
    if (options.id?.length === 0) return []; // the query would ask for all
    return this.#to.pages("/api/turns", { user, ...options });
  }

  async sessions(user: string): Promise<Session[]> {
    return this.#to.pages("/api/sessions", { user });
  }

  /** What memory takes for true, or took for true at a time. */
  async facts(user: string, filter: FactFilter = {}): Promise<Fact[]> {
    if ([filter.id, filter.turn].some((ids) => ids?.length === 0)) return [];
    return this.#to.pages("/api/facts", { user, ...filter });
  }

  /** What memory learned, and when and why it changed its mind. */
  async timeline(user: string, filter: { about?: string } = {}): Promise<TimelineEntry[]> {
    return this.#to.pages("/api/facts/timeline", { user, ...filter });
  }

  async jobs(user: string, state?: string[]): Promise<Job[]> {
    return this.#to.pages("/api/jobs", { user, ...(state ? { state } : {}) });
  }

  /** Every event that is considered for a text, and why it is recalled or not. */
  async explain(user: string, text: string, options: { at?: string } = {}): Promise<Explained> {
    return this.#post("/api/explain", user, { ...options, text });
  }

  async events(user: string): Promise<MemoryEvent[]> {
    return this.#to.pages("/api/events", { user });
  }

  /** How events fade, and how they would after a recall. */
  async curves(user: string, options: { at?: string; days?: number } = {}): Promise<Curve[]> {
    return this.#items("/api/events/curves", { user, ...options });
  }

  async memos(user: string): Promise<Memo[]> {
    return this.#to.pages("/api/memos", { user });
  }

  async notes(user: string, kind: string): Promise<Note[]> {
    return this.#items("/api/notes", { user, kind });
  }

  /** The titles that sessions were given, by the session's number. */
  async titles(user: string): Promise<Map<number, string>> {
    const found = new Map<number, string>();
    let before: number | undefined;
    for (;;) {
      const query = { user, limit: 1000, ...(before === undefined ? {} : { before }) };
      const cards = await this.#items<{ number: number; title: string }>(
        "/api/sessions/latest",
        query,
      );
      for (const card of cards) if (card.title) found.set(card.number, card.title);
      before = cards.at(-1)?.number;
      if (cards.length < 1000) return found;
    }
  }

  /** Answers of models that the guards rejected, with the reasons. */
  async rejected(user: string): Promise<RejectedAnswer[]> {
    return this.#items("/api/memory/rejected", { user });
  }

  /** Every model call made for the user, and what it cost. */
  async calls(user: string): Promise<ModelCall[]> {
    return this.#to.pages("/api/calls", { user });
  }

  /** All users about whom anything is stored. */
  async users(): Promise<string[]> {
    return this.#to.pages("/api/users", {});
  }

  async about(): Promise<About> {
    return this.#to.json("/api/about");
  }

  /** Everything that is stored about the user, record by record. */
  async *export(user: string): AsyncGenerator<Record<string, unknown>> {
    const response = await this.#to.send("/api/export", { query: { user } });
    for await (const line of lines(response)) if (line.trim()) yield JSON.parse(line);
  }

  // ── Correcting and forgetting ─────────────────────────────────────────────────────────────

  /** Replace a fact by what the user says instead. Resolves to the new fact. */
  async correct(user: string, fact: string, text: string): Promise<Fact> {
    return this.#post("/api/facts/correct", user, { id: fact, text });
  }

  /** Pin, tag or expire a fact. `expires: null` means never. */
  async mark(user: string, fact: string, marks: FactMarks): Promise<Fact> {
    const body = { id: fact, ...marks };
    return this.#to.json("/api/facts", { method: "PATCH", query: { user }, body });
  }

  /** Correct a sentence of the summary, as a new version. */
  async amend(user: string, sentence: string, text: string): Promise<Summary> {
    return this.#post("/api/memory/amend", user, { sentence, text });
  }

  /** Bring an old version of the summary back, as a new version. */
  async rollback(user: string, version: number): Promise<Summary> {
    return this.#post("/api/memory/rollback", user, { version });
  }

  /** Erase a fact; with `words`, also the turns that support it. */
  async forget(user: string, fact: string, options: { words?: boolean } = {}): Promise<Erased> {
    const query = { user, id: fact, ...options };
    return this.#to.json("/api/facts", { method: "DELETE", query });
  }

  /** Remove for good. The result counts what was removed, and has a signed receipt. */
  async erase(user: string, what: Erasure): Promise<Erased> {
    return this.#post("/api/erase", user, what);
  }

  /** Whether a receipt was signed by the server's database, and not changed since. */
  async isGenuine(receipt: Erased["receipt"]): Promise<boolean> {
    const path = "/api/receipts/check";
    return (await this.#to.json<{ genuine: boolean }>(path, { body: receipt })).genuine;
  }

  /** Give a session a title; an empty one removes it. */
  async rename(user: string, session: number, title: string): Promise<void> {
    const body = { session, title };
    await this.#to.json("/api/sessions", { method: "PATCH", query: { user }, body });
  }

  /** The presets, each paper's method by one name; `preset` is the user's. */
  async presets(user: string): Promise<Presets> {
    return this.#to.json("/api/presets", { query: { user } });
  }

  /** The preset that the user's memory works by. */
  async preset(user: string): Promise<string> {
    return (await this.presets(user)).preset;
  }

  /** Let the user's memory work by a preset from now on. */
  async choosePreset(user: string, preset: string): Promise<void> {
    const body = { preset };
    await this.#to.json("/api/presets", { method: "PATCH", query: { user }, body });
  }

  /** Keep a text of the application's own; its kind begins with `app.`. */
  async putNote(user: string, note: { kind: string; key: string; text: string }): Promise<Note> {
    return this.#post("/api/notes", user, note);
  }

  /** Remove notes of the application's own: those with these keys, or all of the kind. */
  async removeNotes(user: string, kind: string, keys?: string[]): Promise<number> {
    const body = { kind, ...(keys ? { keys } : {}) };
    return (await this.#post<{ removed: number }>("/api/notes/remove", user, body)).removed;
  }

  /** Do a command of Anthropic's memory tool. An error is for the model to read, like a result. */
  async memoryTool(user: string, command: Record<string, unknown>): Promise<ToolResult> {
    return this.#post("/api/memory/tool", user, command);
  }

  /** The versions of one file of the memory tool, or of all, oldest first. */
  async fileVersions(user: string, path?: string): Promise<FileVersion[]> {
    return this.#to.pages("/api/memory/files", { user, ...(path ? { path } : {}) });
  }

  /** Give a file of the memory tool the text of one of its versions again, as a new version. */
  async restoreFile(user: string, path: string, version: number): Promise<FileVersion> {
    return this.#post("/api/memory/files/restore", user, { path, version });
  }

  // ── Repairing and importing ───────────────────────────────────────────────────────────────

  /** Queue dead jobs again, or one of them. */
  async retry(user: string, job?: number): Promise<Job[]> {
    const body = job === undefined ? {} : { job };
    return (await this.#post<{ items: Job[] }>("/api/jobs/retry", user, body)).items;
  }

  /** Queue a session to be digested again. */
  async digest(user: string, session: number): Promise<Job[]> {
    return (await this.#post<{ items: Job[] }>("/api/jobs/digest", user, { session })).items;
  }

  /** Queue the embedding of everything that has no vector. */
  async embed(user: string): Promise<void> {
    await this.#post("/api/jobs/embed", user, {});
  }

  /** Fit what counts as relevant to the user's own data. */
  async calibrate(user: string): Promise<Calibration> {
    return this.#post("/api/events/calibrate", user, {});
  }

  /** Restore all records of an export. Needs a key with the scope admin. */
  async restore(user: string, records: Record<string, unknown>[]): Promise<Restored> {
    return this.#long("/api/restore", user, { records });
  }

  /** Record conversations of another program, each once; at most 1,000 in one call. */
  async importConversations(
    user: string,
    conversations: ForeignConversation[],
    options: { digest?: boolean } = {},
  ): Promise<ImportedConversations> {
    return this.#long("/api/import/conversations", user, { ...options, conversations });
  }

  /** Store what another memory product has stored, each item once. */
  async importMemories(user: string, memories: ForeignMemories): Promise<ImportedMemories> {
    return this.#long("/api/import/memories", user, memories);
  }

  async #long<T>(path: string, user: string, body: object): Promise<T> {
    return this.#to.json<T>(path, { query: { user }, body, timeout: 0 });
  }

  async #post<T>(path: string, user: string, body: object): Promise<T> {
    return this.#to.json<T>(path, { query: { user }, body });
  }

  async #items<T>(path: string, query: Record<string, string | number>): Promise<T[]> {
    return (await this.#to.json<{ items: T[] }>(path, { query })).items;
  }
}

function said(messages: string | Message[]): { text: string } | { messages: Message[] } {
  return typeof messages === "string" ? { text: messages } : { messages };
}
