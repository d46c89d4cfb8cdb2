// How a user's memory works: each paper's method by one name, and the choice of one.

import { get, patch } from "./api.js";
import { show } from "./dialog.js";
import { at, el, fill, toast } from "./dom.js";
import { on, state, turns } from "./state.js";
import { told } from "./trouble.js";
import { t } from "./words.js";

const OWN = "omoide";
const newest = turns();

/** Say at the foot of the page which preset is on, if it is not our own. */
async function mark() {
  const still = newest();
  const found = await get("/api/presets").catch(() => null); // a key that may only write
  if (!still()) return;
  at("preset").textContent = !found || found.preset === OWN ? t("preset.open") : `${t("preset.open")} · ${found.preset}`;
}

/** A text whose names of settings stand between backticks. */
const code = (text) => text.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));

/** What the server says about a preset. It says so in English. */
const described = (preset) => [
  el("p", { lang: "en" }, preset.about),
  el("p", { class: "fine", lang: "en" }, preset.paper),
  preset.departures.length
    ? el(
        "details",
        {},
        el("summary", {}, t("preset.departures", { n: preset.departures.length })),
        el("ul", { class: "plain fine", lang: "en" }, preset.departures.map((one) => el("li", {}, el("strong", {}, code(one.what)), " ", code(one.why)))),
      )
    : null,
];

async function open() {
  let found;
  try {
    found = await get("/api/presets");
  } catch (problem) {
    return toast(told(problem));
  }
  const may = found.open && state.about.scopes.includes("write");
  const about = el("div", { class: "stack", id: "preset-about" });
  const select = el(
    "select",
    { id: "preset-name", onchange: () => draw() },
    found.items.map((one) => el("option", { value: one.name, selected: one.name === found.preset }, one.name)),
  );
  const use = may ? el("button", { type: "button", id: "preset-use", onclick: () => choose() }, t("preset.use")) : null;
  const draw = () => {
    const preset = found.items.find((one) => one.name === select.value);
    const on = preset.name === found.preset;
    if (use) use.disabled = on;
    fill(about, on ? el("p", {}, el("span", { class: "badge good" }, t("preset.on"))) : null, described(preset));
  };
  const choose = async () => {
    try {
      ({ preset: found.preset } = await patch("/api/presets", { preset: select.value }));
      toast(t("preset.chosen", { name: found.preset }));
      draw();
      mark();
    } catch (problem) {
      toast(told(problem));
    }
  };
  draw();
  show({
    title: t("preset.title"),
    body: [
      el("p", { class: "fine" }, t(may ? "preset.about" : "preset.fixed")),
      el("label", { class: "unseen", for: "preset-name" }, t("preset.label")),
      select,
      about,
    ],
    other: use,
  });
}

export function start() {
  at("preset").addEventListener("click", open);
  on("user language", mark);
  mark();
}
