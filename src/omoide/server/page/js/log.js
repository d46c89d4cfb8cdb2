// The conversation that is shown: its newest turns first, older ones when one scrolls up.

import { get } from "./api.js";
import { Chunks, whenNear } from "./chunks.js";
import { copyButton } from "./copying.js";
import { at, el, fill } from "./dom.js";
import * as markdown from "./markdown.js";
import { moment } from "./time.js";
import { t } from "./words.js";

const PAGE = 60; // turns in one request
const LEAP = 1000; // turns in one request on the way to a wanted one
const END = 2_147_483_647; // a position after all turns
const PAUSE = 10 * 60 * 1000; // milliseconds between two turns after which the time is shown

const said = new WeakMap(); // the turn of each bubble
let shown = null; // Chunks of the turns
let unwatch = () => {};
let acts = () => []; // the buttons of a turn

/** Register the function that gives the buttons under a turn. */
export function onActs(give) {
  acts = give;
}

/** Remove everything. */
export function clear() {
  unwatch();
  shown?.clear();
  shown = null;
  fill(at("log"));
}

/** Show the end of a session, or the part around a turn (`{ id, position }`). */
export async function open(session, wanted, still) {
  const found = await older(session, END, PAGE);
  if (!still()) return;
  clear();
  shown = new Chunks(at("log"), at("scroll"), draw);
  shown.append(found);
  at("scroll").scrollTop = at("scroll").scrollHeight;
  const mark = el("div", { class: "top-mark", "aria-hidden": "true" });
  at("log").prepend(mark);
  const more = async (size = PAGE) => {
    const first = shown?.chunks[0]?.items[0]?.position;
    if (!first || !still()) return false;
    const page = await older(session, first, size);
    if (!still()) return false;
    for (let end = page.length; end > 0; end -= PAGE) shown.prepend(page.slice(Math.max(0, end - PAGE), end), size === PAGE);
    return page.length === size;
  };
  if (found.length === PAGE) {
    while (wanted && still() && shown.chunks[0].items[0].position > wanted.position && (await more(LEAP)));
    if (still()) unwatch = whenNear(mark, at("scroll"), more);
  }
  if (wanted && still()) highlight(wanted.id);
}

const older = async (session, before, limit) => (await get("/api/turns", { session, before, limit })).items;

function highlight(id) {
  shown.reveal((turn) => turn.id === id);
  const box = at(`turn-${id}`);
  box?.classList.add("flash");
  box?.scrollIntoView({ block: "center" });
}

const draw = (turns, before) => turns.map((turn, i) => [hour(i ? turns[i - 1] : before, turn), bubble(turn)]);

/** One turn, with its buttons. */
export function bubble(turn) {
  const text = el("div", { class: turn.speaker === "user" ? "text" : "text md", dir: "auto", lang: turn.language, title: moment(turn.time) });
  if (turn.speaker === "user") text.textContent = turn.text;
  else markdown.show(text, turn.text);
  const box = el(
    "div",
    { class: `said ${turn.speaker}`, id: `turn-${turn.id}` },
    el("span", { class: "unseen" }, `${t(`speaker.${turn.speaker}`)}, ${moment(turn.time)}`),
    text,
    under(turn),
  );
  said.set(box, turn);
  return box;
}

/** The buttons under a turn. */
export const under = (turn) => el("div", { class: "acts under-said" }, copyButton(() => turn.text), acts(turn));

/** The time, if a while passed since the previous turn. */
function hour(before, turn) {
  if (before && new Date(turn.time) - new Date(before.time) < PAUSE) return null;
  return el("p", { class: "hour", "aria-hidden": "true" }, moment(turn.time));
}

/** Whether the end of the conversation is in view. */
export const near = () => at("scroll").scrollHeight - at("scroll").scrollTop - at("scroll").clientHeight < 120;

/** Scroll to the end. */
export const down = () => {
  at("scroll").scrollTop = at("scroll").scrollHeight;
};

/** Remove a message and everything after it from the page. */
export function cut(id) {
  shown?.cut((turn) => turn.id === id);
  const first = at(`turn-${id}`);
  if (!first) return;
  while (first.nextSibling) first.nextSibling.remove();
  first.remove();
}

/** The user's last message: one of this visit, or else the last that was loaded, drawn or not. */
export const lastMessage = () =>
  said.get([...at("log").querySelectorAll(":scope > .said.user")].at(-1)) ?? shown?.items.findLast((turn) => turn.speaker === "user");
