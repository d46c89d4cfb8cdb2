// Conversations by date: opening, ending, naming and deleting them.

import { get, patch, post } from "./api.js";
import { Chunks, whenNear } from "./chunks.js";
import { confirm, prompt } from "./dialog.js";
import { at, el, fill, toast } from "./dom.js";
import { receipt } from "./receipt.js";
import { on, state, tell, turns } from "./state.js";
import { clock, date, daysAgo, month, titleDate } from "./time.js";
import { told } from "./trouble.js";
import { t } from "./words.js";

const EDIT = "edit-";
const FIRST = 30; // conversations in the first request: more than a screen shows
const PAGE = 60; // and in each further one
const newest = turns();
let list = null; // Chunks of the cards
let unwatch = () => {};
let oldest = null; // number of the oldest conversation that was asked for; null if there are no more

/** Load the newest conversations again; older ones that were loaded stay. */
export async function load() {
  const still = newest();
  const user = state.user;
  const page = (await get("/api/sessions/latest", { limit: FIRST })).items;
  if (!still()) return;
  const last = page.at(-1);
  const same = list?.user === user && page.length === FIRST;
  const older = same ? state.talks.filter((card) => byTime(last, card) < 0 && !has(page, card)) : [];
  if (!older.length) oldest = page.length === FIRST ? last.number : null;
  state.talks = [...shownCards(page), ...older];
  draw();
  tell("listed");
}

/** Load the next older ones; whether there are more. */
async function more() {
  if (oldest === null) return false;
  const user = state.user;
  const page = (await get("/api/sessions/latest", { limit: PAGE, before: oldest })).items;
  if (user !== state.user) return false;
  oldest = page.length === PAGE ? page.at(-1).number : null;
  const cards = shownCards(page).filter((card) => !has(state.talks, card));
  state.talks.push(...cards);
  list.append(cards);
  at("talks").append(...at("talks").querySelectorAll(".end-mark"));
  return oldest !== null;
}

/** Load older ones until the one that is shown is among them. */
export async function reach() {
  const number = state.talk;
  while (number !== null && number === state.talk && !shown() && (await more()));
  head();
}

/** Let go of those of the person before, until those of the next are there. */
function leave() {
  [state.talks, state.talk, oldest] = [[], null, null];
  draw();
  fill(at("talks"), el("p", { class: "fine" }, t("loading")));
}

/** All conversations, for a search. */
export async function all() {
  while (await more());
  return state.talks;
}

/** Which of two conversations comes first in the list: that with the later last message. */
const byTime = (one, other) => new Date(other.last) - new Date(one.last) || other.number - one.number;
const has = (cards, card) => cards.some((known) => known.number === card.number);

/** Corrections of the summary are left out: they are sources, not conversations. */
const shownCards = (cards) => cards.filter((card) => !card.key?.startsWith(EDIT) && card.turns);

/** The open session without a key: new messages go there. */
export const current = () => state.talks.find((card) => !card.ended && !card.key);
export const shown = () => state.talks.find((card) => card.number === state.talk);
export const name = (card) => card.title || card.opening;

export function draw() {
  const place = at("talks");
  const held = place.scrollTop;
  const focused = document.activeElement?.closest("#talks [data-talk]")?.dataset.talk;
  unwatch();
  list?.clear();
  fill(place, state.talks.length ? null : el("p", { class: "fine" }, t("talks.none")));
  list = Object.assign(new Chunks(place, place, groups), { user: state.user });
  for (let i = 0; i < state.talks.length; i += PAGE) list.append(state.talks.slice(i, i + PAGE));
  const mark = el("div", { class: "end-mark", "aria-hidden": "true" });
  place.append(mark);
  unwatch = oldest === null ? () => {} : whenNear(mark, place, more);
  place.scrollTop = held;
  if (focused) place.querySelector(`[data-talk="${focused}"]`)?.focus();
  head();
}

function group(card) {
  const days = daysAgo(card.last);
  return days <= 0 ? t("today") : days === 1 ? t("yesterday") : days < 7 ? t("week") : month(card.last);
}

function groups(cards, before) {
  const parts = [];
  let last = before ? group(before) : null;
  for (const card of cards) {
    const name = group(card);
    if (name !== last) parts.push(el("h2", {}, name));
    if (name !== last || !parts.length) parts.push(el("ul", {}));
    parts.at(-1).append(el("li", {}, row(card)));
    last = name;
  }
  return parts;
}

function row(card) {
  const when = daysAgo(card.last) <= 1 ? clock(card.last) : date(card.last);
  return el(
    "button",
    { type: "button", "data-talk": card.number, "aria-current": card.number === state.talk ? "true" : "false", onclick: () => open(card.number) },
    el("span", { class: "opening", dir: "auto" }, name(card)),
    el(
      "span",
      { class: "when" },
      card.ended ? null : el("span", { class: "open-dot" }),
      `${when} · ${card.turns === 1 ? t("turn") : t("turns", { n: card.turns })}${card.ended ? "" : ` · ${t("talk.open")}`}`,
    ),
  );
}

/** The bar above the conversation. */
export function head() {
  const card = shown();
  at("talk-title").textContent = card ? card.title || titleDate(card.started) : t("talk.new");
  at("end-talk").hidden = !card || Boolean(card.ended) || state.busy;
  at("rename-talk").hidden = at("delete-talk").hidden = !card || state.busy;
  at("log").toggleAttribute("data-open", Boolean(card && !card.ended && !state.busy));
  for (const button of at("talks").querySelectorAll("[data-talk]")) {
    button.setAttribute("aria-current", String(Number(button.dataset.talk) === state.talk));
  }
}

/** Show a conversation, and a turn in it; null for a new one. */
export function open(number, turn = null) {
  state.talk = number;
  head();
  tell("talk", turn);
}

async function end() {
  try {
    await post("/api/sessions/end", { session: state.talk });
    toast(t("talk.ended"));
    await load();
    tell("work");
  } catch (problem) {
    toast(told(problem));
  }
}

/** End the open conversation, and begin a new one. */
export async function begin() {
  const going = current();
  if (going) {
    state.talk = going.number;
    await end();
  }
  open(null);
  at("say").focus();
}

export async function rename() {
  const card = shown();
  if (!card) return;
  const title = await prompt({ title: t("talk.rename"), label: t("talk.title"), value: name(card), yes: t("save") });
  if (title === null) return;
  try {
    await patch("/api/sessions", { session: card.number, title });
    await load();
  } catch (problem) {
    toast(told(problem));
  }
}

export async function remove() {
  const card = shown();
  if (!card) return;
  const sure = await confirm({ title: t("talk.delete_title"), quote: name(card), text: t("talk.delete_about"), yes: t("talk.delete") });
  if (!sure) return;
  try {
    const erased = await post("/api/erase", { session: card.number });
    state.talks = state.talks.filter((other) => other !== card);
    await load();
    open(null);
    tell("changed");
    tell("digested");
    receipt(erased.receipt);
  } catch (problem) {
    toast(told(problem));
  }
}

export function start() {
  on("user", leave);
  at("end-talk").addEventListener("click", end);
  at("rename-talk").addEventListener("click", rename);
  at("delete-talk").addEventListener("click", remove);
  at("new-talk").addEventListener("click", begin);
}
