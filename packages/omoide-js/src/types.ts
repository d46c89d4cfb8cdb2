/** Names for the shapes of the server's OpenAPI document. */
import type { components } from "./schema.js";

type Schemas = components["schemas"];

export type About = Schemas["About"];
export type Calibration = Schemas["Calibration"];
export type Contribution = Schemas["Contribution"];
export type Curve = Schemas["Curve"];
export type Erased = Schemas["Erased"];
export type Explained = Schemas["Explained"];
export type Fact = Schemas["Fact"];
export type FileVersion = Schemas["FileVersion"];
export type ForeignConversation = Schemas["ForeignConversation"];
export type ForeignMemories = Schemas["ImportMemories"];
export type ImportedConversations = Schemas["ImportedConversations"];
export type ImportedMemories = Schemas["ImportedMemories"];
export type Job = Schemas["Job"];
export type Memo = Schemas["Memo"];
export type MemoryEvent = Schemas["Happened"];
export type ModelCall = Schemas["ModelCall"];
export type Note = Schemas["Note"];
export type Presets = Schemas["Presets"];
export type Reason = Schemas["Because"];
export type Recalled = Schemas["Recalled"];
export type RejectedAnswer = Schemas["Rejected"];
export type Restored = Schemas["Restored"];
export type Session = Schemas["Session"];
export type Summary = Schemas["Memory"];
export type SentenceChange = Schemas["Change"];
export type Support = Schemas["Support"];
export type TimelineEntry = Schemas["TimelineEntry"];
export type ToolResult = Schemas["ToolResult"];
export type Turn = Schemas["Turn"];

/** A message as chat APIs use them. Anything besides `role` and the text is passed through. */
export interface Message {
  role: string;
  content?: unknown;
  [field: string]: unknown;
}

/** A message to record. A plain text is the user's. */
export type Utterance = string | Schemas["Utterance"];

export type RecallOptions = Omit<Schemas["Query"], "query">;

/** Which facts to read. Times are ISO 8601 with a time zone. */
export interface FactFilter {
  id?: string[];
  /** Only what one of these turns supports, by id. */
  turn?: string[];
  about?: string;
  kind?: string[];
  tag?: string[];
  at?: string;
  since?: string;
  until?: string;
  /** Also what had ended or expired. */
  ended?: boolean;
}

export type FactMarks = Omit<Schemas["Marks"], "id">;

/** Names one version of the summary; without any, the newest. */
export type When = { version: number } | { session: number } | { at: string };

/** What to erase; `{ all: true }` for everything about the user. */
export type Erasure = Schemas["Erasure"];
