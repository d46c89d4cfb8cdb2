// Supporting turns, with links to the conversation.

import { get } from "./api.js";
import { el, toast } from "./dom.js";
import { tell } from "./state.js";
import * as talks from "./talks.js";
import { moment } from "./time.js";
import { told } from "./trouble.js";
import { t } from "./words.js";

/** The turns with these ids. */
export async function turnsOf(ids) {
  if (!ids.length) return [];
  try {
    return (await get("/api/turns", { id: ids, limit: 1000 })).items;
  } catch (problem) {
    toast(told(problem));
    return [];
  }
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
