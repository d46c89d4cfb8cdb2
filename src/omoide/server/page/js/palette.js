// The palette (Ctrl+K or ⌘K): everything the page can do, all conversations, and all that was said.

import { get, post } from "./api.js";
import * as chat from "./chat.js";
import { at, el, fill } from "./dom.js";
import { plain } from "./markdown.js";
import { state, tell, turns } from "./state.js";
import * as talks from "./talks.js";
import { date, moment } from "./time.js";
import { LANGUAGES, t } from "./words.js";

const TABS = ["chat", "memory", "facts", "memos", "events", "why", "cost"];
const MOST = 8; // conversations and messages that are shown
const NEAR = 0.4; // share of the best score below which a message is not shown
const PAUSE = 150; // milliseconds without a key after which messages are searched
const newest = turns();
let dialog = null;
let options = []; // what can be chosen, as { name, note, run }
let chosen = 0;

/** What the page can do. */
function commands() {
  const pick = (id, value) => () => {
    at(id).value = value;
    at(id).dispatchEvent(new Event("change"));
  };
  return [
    { name: t("talk.new"), run: talks.begin },
    ...(talks.shown() ? [{ name: t("talk.rename"), run: talks.rename }, { name: t("talk.delete"), run: talks.remove }] : []),
    ...(at("log").hasAttribute("data-open") ? [{ name: t("chat.again"), run: chat.again }] : []),
    { name: t("import.open"), run: () => tell("import") },
    { name: t("export.open"), run: () => tell("export") },
    ...TABS.map((tab) => ({ name: t(`tab.${tab}`), note: t("search.tab"), run: () => tell("show", tab) })),
    ...["auto", "light", "dark"].map((theme) => ({ name: t(`theme.${theme}`), note: t("theme"), run: pick("theme", theme) })),
    ...Object.entries(LANGUAGES).map(([code, name]) => ({ name, note: t("language"), run: pick("language", code) })),
  ];
}

const lower = (text) => text.toLocaleLowerCase();
const matching = (list, words) => list.filter(({ name, note }) => words.every((word) => lower(`${name} ${note ?? ""}`).includes(word)));

function conversations(words) {
  const found = state.talks.filter((card) => words.every((word) => lower(talks.name(card)).includes(word)));
  return found.slice(0, MOST).map((card) => ({ name: talks.name(card), note: date(card.last), run: () => open(card.number) }));
}

function open(number, turn = null) {
  tell("show", "chat");
  talks.open(number, turn);
}

/** What was said, by words and by meaning. */
async function messages(query) {
  const found = (await post("/api/recall", { query, k: MOST, kinds: ["turn"] })).items;
  const close = found.filter((item) => item.score >= NEAR * found[0].score);
  return close.map((item) => ({
    name: item.speaker === "user" ? item.text : plain(item.text),
    note: `${t(`speaker.${item.speaker}`)} · ${moment(item.time)}`,
    run: async () => {
      const [turn] = (await get("/api/turns", { id: [item.id] })).items;
      if (turn) open(turn.session, turn);
    },
  }));
}

/** Show what can be chosen; what was chosen stays so if `same`. */
function draw(groups, same = false) {
  const was = same ? options[chosen] : null;
  options = groups.flatMap(([, members]) => members);
  chosen = Math.max(0, options.findIndex((one) => one.name === was?.name && one.note === was?.note));
  let index = 0;
  const option = (one) => {
    const id = index++;
    return el("li", { role: "option", id: `option-${id}`, onclick: () => run(id), onpointermove: () => choose(id) }, el("span", { class: "name", dir: "auto" }, one.name), one.note ? el("span", { class: "fine" }, one.note) : null);
  };
  const lists = groups.filter(([, members]) => members.length);
  fill(at("found"), lists.map(([name, members]) => el("ul", { role: "group", "aria-label": name }, el("li", { role: "presentation", class: "group" }, name), members.map(option))));
  at("found-none").hidden = options.length > 0;
  point();
}

function point() {
  for (const item of at("found").querySelectorAll("[role=option]")) item.setAttribute("aria-selected", String(item.id === `option-${chosen}`));
  const item = at(`option-${chosen}`);
  if (item) at("search").setAttribute("aria-activedescendant", item.id);
  else at("search").removeAttribute("aria-activedescendant");
  item?.scrollIntoView({ block: "nearest" });
}

function choose(index) {
  if (index === chosen) return;
  chosen = index;
  point();
}

function run(index) {
  const one = options[index];
  if (!one) return;
  dialog.close();
  one.run();
}

let timer = null;

/** Show what matches; what was said follows after a pause. */
function look(same = false) {
  const still = newest();
  clearTimeout(timer);
  const query = at("search").value.trim();
  const words = lower(query).split(/\s+/u).filter(Boolean);
  const groups = [[t("search.commands"), matching(commands(), words)], [t("talks.label"), conversations(words)]];
  if (words.length) groups.reverse();
  draw(groups, same);
  if (!query) return;
  timer = setTimeout(async () => {
    const said = await messages(query).catch(() => []);
    if (still() && said.length) draw([...groups, [t("search.said"), said]], true);
  }, PAUSE);
}

function keys(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Enter" && !event.isComposing) run(chosen);
  else if (step && options.length) chosen = (chosen + step + options.length) % options.length;
  else return;
  event.preventDefault();
  point();
}

/** Open the palette, or close it. */
export function toggle() {
  if (dialog) return dialog.close();
  if (document.querySelector("dialog[open]")) return;
  const field = el("input", { id: "search", type: "text", role: "combobox", placeholder: t("search.placeholder"), "aria-label": t("search.open"), "aria-controls": "found", "aria-expanded": "true", "aria-autocomplete": "list", autocomplete: "off", oninput: () => look(), onkeydown: keys });
  dialog = el(
    "dialog",
    { class: "palette", "aria-label": t("search.open") },
    field,
    el("div", { id: "found", role: "listbox", "aria-label": t("search.found"), tabindex: "-1" }),
    el("p", { id: "found-none", class: "fine", hidden: true }, t("search.none")),
  );
  dialog.addEventListener("close", () => {
    newest();
    dialog.remove();
    dialog = null;
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  look();
  talks.all().then(() => dialog && look(true), () => {}); // titles of conversations that were not listed yet
}

export function start() {
  at("open-search").addEventListener("click", toggle);
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    toggle();
  });
}
