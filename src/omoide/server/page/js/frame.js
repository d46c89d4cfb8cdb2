// The layout: tabs, the dock on phones, the drawer, language and theme.

import { at, el, fill } from "./dom.js";
import { on, state, tell } from "./state.js";
import { LANGUAGES, language, speak, t } from "./words.js";

const TABS = ["memory", "facts", "memos", "events", "why", "cost"];
const THEME = "omoide-theme";

/** Show one panel, or the chat. */
export function show(name) {
  state.view = name;
  at("app").dataset.view = name;
  for (const button of at("dock").querySelectorAll("button")) {
    button.setAttribute("aria-current", String(button.dataset.view === name));
  }
  if (!TABS.includes(name)) return;
  state.tab = name;
  for (const tab of TABS) {
    at(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
    at(`tab-${tab}`).tabIndex = tab === name ? 0 : -1;
    at(`panel-${tab}`).classList.toggle("on", tab === name);
  }
  tell("tab");
}

function tabs() {
  for (const name of TABS) at(`tab-${name}`).addEventListener("click", () => show(name));
  document.querySelector(".tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? TABS.length - 1 : step && (TABS.indexOf(state.tab) + step + TABS.length) % TABS.length;
    if (to === undefined) return;
    event.preventDefault();
    show(TABS[to]);
    at(`tab-${TABS[to]}`).focus();
  });
  for (const button of at("dock").querySelectorAll("button")) {
    button.addEventListener("click", () => show(button.dataset.view));
  }
}

function drawer(open) {
  at("app").classList.toggle("side-open", open);
  at("open-side").setAttribute("aria-expanded", String(open));
  (open ? at("close-side") : at("open-side")).focus();
}

function theme(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  localStorage.setItem(THEME, name);
}

/** Fill the select boxes in the current language. */
export function choices() {
  fill(at("language"), Object.entries(LANGUAGES).map(([code, name]) => el("option", { value: code, lang: code }, name)));
  at("language").value = language();
  fill(at("theme"), ["auto", "light", "dark"].map((name) => el("option", { value: name }, t(`theme.${name}`))));
  at("theme").value = localStorage.getItem(THEME) ?? "auto";
}

export function start() {
  tabs();
  on("show", (name) => {
    if (at("app").classList.contains("side-open")) drawer(false); // it would lie over what was asked for
    show(name);
  });
  on("talk user", () => {
    if (at("app").classList.contains("side-open")) drawer(false);
    if (state.view !== "chat") show("chat");
  });
  theme(localStorage.getItem(THEME) ?? "auto");
  at("theme").addEventListener("change", (event) => {
    theme(event.target.value);
    tell("theme");
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => tell("theme"));
  at("language").addEventListener("change", async (event) => {
    localStorage.setItem("omoide-language", event.target.value);
    await speak(event.target.value);
    choices();
    tell("language");
  });
  at("open-side").addEventListener("click", () => drawer(true));
  at("close-side").addEventListener("click", () => drawer(false));
  at("app").addEventListener("click", (event) => {
    if (event.target === at("app") && at("app").classList.contains("side-open")) drawer(false);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && at("app").classList.contains("side-open") && !document.querySelector("dialog[open]")) drawer(false);
  });
  show("memory");
  show("chat");
}
