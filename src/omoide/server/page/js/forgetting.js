// Forgetting with a moment to think: what is forgotten can be brought back for a few seconds; then it
// is erased for good, and the receipt is shown. Leaving the page does not bring it back.

import { el } from "./dom.js";
import { receipt } from "./receipt.js";
import { on, tell } from "./state.js";
import { toast } from "./dom.js";
import { told } from "./trouble.js";
import { t } from "./words.js";

const GRACE = 8000; // milliseconds during which it can be undone
const waiting = new Map(); // what to do at the end of the grace, by what is forgotten

/** Whether a thing is about to be forgotten. */
export const isGoing = (key) => waiting.has(key);

/** Forget a thing after the grace. `erase(keepalive)` does it and returns what was erased; `redraw`
 * is called when it is on its way and when it was brought back. */
export function forget(key, erase, redraw) {
  const timer = setTimeout(() => now(key), GRACE);
  waiting.set(key, { timer, erase, redraw });
  redraw();
}

/** Bring it back. */
function undo(key) {
  const { timer, redraw } = waiting.get(key);
  clearTimeout(timer);
  waiting.delete(key);
  redraw();
}

/** Erase it now. */
async function now(key, leaving = false) {
  const going = waiting.get(key);
  if (!going) return;
  clearTimeout(going.timer);
  waiting.delete(key);
  try {
    const erased = await going.erase(leaving);
    if (leaving) return;
    tell("digested");
    receipt(erased.receipt);
  } catch (problem) {
    toast(told(problem));
    going.redraw();
  }
}

/** What stands in the place of a thing that is about to be forgotten. */
export const notice = (key) =>
  el(
    "div",
    { class: "going", role: "status" },
    el("span", {}, t("forget.going")),
    el("button", { type: "button", class: "small", onclick: () => undo(key) }, t("forget.undo")),
    el("button", { type: "button", class: "quiet small", onclick: () => now(key) }, t("forget.now")),
  );

export function start() {
  const all = (leaving) => [...waiting.keys()].forEach((key) => now(key, leaving));
  on("leaving", () => all(true)); // before another person is chosen
  addEventListener("pagehide", () => all(true));
}
