// Talking: sending a message, showing the reply as it comes, asking for another, saying it differently.

import { stream } from "./api.js";
import * as demo from "./demo.js";
import { at, el, fill, toast } from "./dom.js";
import * as log from "./log.js";
import { state, on, tell, turns } from "./state.js";
import * as talks from "./talks.js";
import { now } from "./time.js";
import { told, trouble } from "./trouble.js";
import { waiting } from "./waiting.js";
import { t } from "./words.js";

const newest = turns();
let going = null; // aborts the reply in progress
let drawing = null; // promise that resolves when the selected conversation is shown
let editing = null; // the message that is being said differently

/** Show the selected conversation; `turn` is one to highlight. */
async function load(turn) {
  const still = newest();
  edit(null);
  if (state.talk === null) return welcome();
  try {
    await Promise.all([log.open(state.talk, turn, still), talks.reach()]);
  } catch (problem) {
    if (!still()) return;
    log.clear();
    fill(at("log"), trouble(problem, () => load(turn)));
  }
}

function welcome() {
  const known = state.talks.length > 0;
  log.clear();
  fill(
    at("log"),
    el(
      "div",
      { class: "welcome" },
      el("img", { src: "/page/mark.svg", alt: "" }),
      el("h2", { dir: "auto" }, known ? (state.name ? t("welcome.back_name", { name: state.name }) : t("welcome.back")) : t("welcome.title")),
      el("p", {}, t(known ? "welcome.known" : "welcome.text")),
      known
        ? null
        : el(
            "div",
            { class: "row" },
            el("button", { type: "button", onclick: demo.toggle }, t("demo.see")),
            el("button", { type: "button", onclick: () => tell("import") }, t("import.open")),
          ),
    ),
  );
}

const fresh = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

/** Send a message and show the reply. With `again` a message that is known gets another reply in
 * place of the former one; `replaces` is the id of the message that this one takes the place of. */
async function say(text, { id = `page-${fresh()}`, again = false, replaces = null } = {}) {
  going = new AbortController();
  busy(true);
  await state.arriving; // both must finish first, or the
  await drawing; // conversation would be drawn over the message
  const card = talks.shown();
  const key = card && !card.ended && card.key ? card.key : null;
  if (card?.ended) state.talk = null;
  if (state.talk === null) log.clear();
  if (replaces) log.cut(replaces);
  log.cut(id); // it is there if it failed before
  const mine = log.bubble({ id, speaker: "user", text, time: now() });
  const reply = waiting();
  at("log").append(mine, reply.box);
  log.down();
  let answer = "";
  let heard = false; // whether the server has recorded the message
  let session = null; // number of the conversation that it is in
  try {
    const body = { text, id, stream: true, again, ...(replaces ? { replaces } : {}), ...(key ? { session: key } : {}) };
    for await (const { event, data } of stream("/api/reply", body, going.signal)) {
      if (event === "begin") {
        heard = true;
        session = data.turn.session;
        begin(data, text, mine.isConnected);
      } else if (event === "piece") {
        answer += data.text;
        reply.write(answer);
      } else if (event === "error") {
        throw Object.assign(new Error(data.detail), { status: data.status });
      }
    }
    reply.done(answer);
  } catch (problem) {
    if (problem.name === "AbortError") reply.done(answer, t("chat.stopped"));
    else {
      reply.done(answer, answer ? t("chat.broken") : null);
      if (mine.isConnected) {
        at("log").append(trouble(problem, () => say(text, { id, again: true, replaces })));
        log.down();
      } else toast(told(problem)); // another conversation is shown by now
    }
  } finally {
    const stopped = going.signal.aborted;
    going = null;
    busy(false);
    if (heard) tell("said");
    const back = heard && !mine.isConnected && state.talk === session; // it was left and opened again
    if (back || (stopped && !answer && (again || replaces))) drawing = load(); // what stands there now
  }
}

function begin(data, text, shown) {
  state.latest = { text, time: data.turn.time, session: data.turn.session, contributions: data.contributions };
  if (shown) state.talk = data.turn.session;
  tell("latest");
  talks.load().catch(() => {});
}

/** The buttons under a turn, beside the one that copies it. The style sheet hides them where the
 * conversation has ended, and "again" under all but the last reply. */
function acts(turn) {
  if (turn.speaker === "user") return el("button", { type: "button", class: "quiet small while-open", onclick: () => edit(turn) }, t("chat.edit"));
  return el("button", { type: "button", class: "quiet small while-open again", onclick: again }, t("chat.again"));
}

/** Ask for another reply to the last message. */
export function again() {
  const turn = log.lastMessage();
  if (turn && !going) say(turn.text, { id: turn.id, again: true });
}

/** Say a message differently; null for a new one. */
function edit(turn) {
  if (turn === editing || (turn && going)) return;
  editing = turn;
  at("editing").hidden = !turn;
  at("say").value = turn?.text ?? "";
  grow();
  if (turn) at("say").focus();
}

function busy(is) {
  state.busy = is;
  at("send").hidden = is;
  at("stop").hidden = !is;
  talks.head();
}

function grow() {
  const field = at("say");
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, 176)}px`;
}

/** Put a text into the field, for the person to send. */
export function propose(text) {
  tell("show", "chat");
  at("say").value = text;
  grow();
  at("say").focus();
}

/** Resolves when the selected conversation is shown. */
export const drawn = () => drawing;

export const stop = () => going?.abort();

/** Redraw in another language, unless a reply is being streamed. */
export const redraw = () => going ?? load();

export function start() {
  log.onActs(acts);
  on("talk", (turn) => {
    drawing = load(turn);
  });
  let known = false; // whether anybody was chosen before
  on("user", () => {
    if (known) stop(); // a message that waits for the first person is theirs
    known = true;
    log.clear();
  });
  on("name", () => at("log").querySelector(".welcome") && welcome());
  at("say").addEventListener("input", grow);
  at("say").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      at("composer").requestSubmit();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
    if (going) stop();
    else if (editing) edit(null);
  });
  at("stop").addEventListener("click", () => {
    stop();
    at("say").focus();
  });
  at("stop-editing").addEventListener("click", () => {
    edit(null);
    at("say").focus();
  });
  at("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = at("say").value.trim();
    if (!text || going) return;
    const replaces = editing?.id ?? null;
    edit(null);
    at("say").value = "";
    grow();
    say(text, { replaces });
  });
}
