// Supporting turns, with links to the conversation.

import { get } from "./api.js";
import { el } from "./dom.js";
import { tell } from "./state.js";
import * as talks from "./talks.js";
import { moment } from "./time.js";
import { t } from "./words.js";

const PART = 100; // ids in one request: an address must not be too long

/** The turns with these ids, in the order in which they were said. */
export async function turnsOf(ids) {
  const parts = [];
  for (let i = 0; i < ids.length; i += PART) parts.push(get("/api/turns", { id: ids.slice(i, i + PART), limit: PART }));
  const found = await Promise.all(parts);
  return found.flatMap(({ items }) => items).sort((one, other) => one.position - other.position);
}

/** Whether a turn is the user's correction of the summary. */
export const isEdit = (turn) => turn.id.startsWith("edit-");

/** A turn's text, speaker and time. */
export function quote(turn) {
  const open = () => {
    tell("show", "chat");
    talks.open(turn.session, turn);
  };
  const who = isEdit(turn) ? t("source.edit") : t(`speaker.${turn.speaker}`);
  return el(
    "div",
    { class: "quote" },
    el("p", { dir: "auto" }, turn.text),
    el(
      "div",
      { class: "fine" },
      el("span", {}, `${who} · ${moment(turn.time)}`),
      isEdit(turn) ? null : el("button", { type: "button", class: "link", onclick: open }, t("source.open")),
    ),
  );
}
