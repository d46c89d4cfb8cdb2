// Client for the REST API of this server. The API key is kept in this tab only.

import { state } from "./state.js";

const KEY = "omoide-key";

/** An error response: its status, its kind, and what the server says to do. */
export class Problem extends Error {
  constructor(status, kind, detail) {
    super(detail);
    this.status = status;
    this.kind = kind;
  }
}

export const hasKey = () => sessionStorage.getItem(KEY) !== null;
export const dropKey = () => sessionStorage.removeItem(KEY);
let askForKey = null;

/** Register the function that asks for an API key; it returns the key, or null. */
export function onLocked(ask) {
  askForKey = ask;
}

async function send(path, { method = "GET", body, query = {}, user = state.user, signal, keepalive } = {}) {
  const url = new URL(path, location.origin);
  if (user) url.searchParams.set("user", user);
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) url.searchParams.append(name, one);
  }
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (hasKey()) headers.Authorization = `Bearer ${sessionStorage.getItem(KEY)}`;
  let response;
  try {
    response = await fetch(url, { method, headers, body: body && JSON.stringify(body), signal, keepalive });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "unreachable", "");
  }
  if (response.status === 401 && askForKey) {
    dropKey();
    const key = await askForKey();
    if (key) {
      sessionStorage.setItem(KEY, key);
      return send(path, { method, body, query, user, signal, keepalive });
    }
  }
  if (!response.ok) {
    const told = await response.json().catch(() => ({}));
    throw new Problem(response.status, (told.type ?? "").split(":").pop(), told.detail ?? "");
  }
  return response;
}

/** The JSON of a GET. */
export const get = async (path, query, user) => (await send(path, { query, user })).json();

/** The JSON of a POST. */
export const post = async (path, body, user, keepalive = false) =>
  (await send(path, { method: "POST", body, user, keepalive })).json();

/** The JSON of a PATCH. */
export const patch = async (path, body) => (await send(path, { method: "PATCH", body })).json();

/** The JSON of a DELETE; `keepalive` lets it outlive the page. */
export const remove = async (path, query, user, keepalive = false) =>
  (await send(path, { method: "DELETE", query, user, keepalive })).json();

/** A GET as a file. */
export const file = async (path) => (await send(path)).blob();

/** All items of a paged list. */
export async function all(path, { cursor = null, ...query } = {}) {
  const found = [];
  do {
    const page = await get(path, { limit: 1000, ...query, ...(cursor ? { cursor } : {}) });
    found.push(...page.items);
    cursor = page.next;
  } while (cursor);
  return found;
}

/** A streamed reply: `{ event, data }` for each server-sent event. */
export async function* stream(path, body, signal) {
  const response = await send(path, { method: "POST", body, signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    let read;
    try {
      read = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem(0, "broke-off", "");
    }
    if (read.done) return;
    held += read.value;
    for (let end; (end = held.indexOf("\n\n")) >= 0; held = held.slice(end + 2)) {
      const lines = held.slice(0, end).split("\n");
      const of = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      yield { event: of("event"), data: JSON.parse(of("data") ?? "null") };
    }
  }
}
