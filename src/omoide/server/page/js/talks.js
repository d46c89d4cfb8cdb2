// List of conversations by date.

import { get, post } from "./api.js";
import { at, el, fill, toast } from "./dom.js";
import { state, tell, turns } from "./state.js";
import { clock, date, daysAgo, longDate, month } from "./time.js";
import { told } from "./trouble.js";
import { t } from "./words.js";

const EDIT = "edit-";
const newest = turns();

/** Load the list. Corrections of the summary are left out: they are sources, not conversations. */
export async function load() {
  const still = newest();
  const cards = (await get("/api/sessions/latest", { limit: 200 })).items;
  if (!still()) return;
  state.talks = cards.filter((card) => !card.key?.startsWith(EDIT) && card.turns);
  draw();
}

/** The open session without a key: new messages go there. */
export const current = () => state.talks.find((card) => !card.ended && !card.key);
export const shown = () => state.talks.find((card) => card.number === state.talk);

export function draw() {
  const groups = new Map();
  for (const card of state.talks) {
    const days = daysAgo(card.last);
    const name = days <= 0 ? t("today") : days === 1 ? t("yesterday") : days < 7 ? t("week") : month(card.last);
    groups.set(name, [...(groups.get(name) ?? []), card]);
  }
  const list = [...groups].flatMap(([name, cards]) => [
    el("h2", {}, name),
    el("ul", {}, cards.map((card) => el("li", {}, row(card)))),
  ]);
  fill(at("talks"), list.length ? list : el("p", { class: "fine" }, t("talks.none")));
  head();
}

function row(card) {
  const when = daysAgo(card.last) <= 1 ? clock(card.last) : date(card.last);
  return el(
    "button",
    {
      type: "button",
      "aria-current": card.number === state.talk ? "true" : "false",
      onclick: () => open(card.number),
    },
    el("span", { class: "opening" }, card.opening),
    el(
      "span",
      { class: "when" },
      card.ended ? null : el("span", { class: "open-dot" }),
      `${when} · ${card.turns === 1 ? t("turn") : t("turns", { n: card.turns })}${card.ended ? "" : ` · ${t("talk.open")}`}`,
    ),
  );
}

function head() {
  const card = shown();
  at("talk-title").textContent = card ? longDate(card.started) : t("talk.new");
  at("end-talk").hidden = !card || Boolean(card.ended) || state.busy;
}

/** Show a conversation; null for a new one. */
export function open(number, turn = null) {
  state.talk = number;
  draw();
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

export function start() {
  at("end-talk").addEventListener("click", end);
  at("new-talk").addEventListener("click", async () => {
    const going = current();
    if (going) {
      state.talk = going.number;
      await end();
    }
    open(null);
    at("say").focus();
  });
}
