// Translations of the interface: one JSON file for each of five languages, all with the same keys.

export const LANGUAGES = { en: "English", zh: "中文", ja: "日本語", ko: "한국어", vi: "Tiếng Việt" };

let words = {};
let spoken = "en";

/** The language of the interface. */
export const language = () => spoken;

/** The language with the reader's region, for dates and numbers. */
export const locale = () => navigator.languages.find((code) => code.startsWith(spoken)) ?? spoken;

/** The translation of a key, with `{names}` filled in. */
export function t(key, values = {}) {
  const text = words[key];
  if (text === undefined) throw new Error(`no words for ${key} in ${spoken}`);
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

/** The initial language: the saved one, or the browser's. */
export function wanted() {
  const chosen = localStorage.getItem("omoide-language");
  const known = [chosen, ...navigator.languages].map((code) => (code ?? "").slice(0, 2));
  return known.find((code) => code in LANGUAGES) ?? "en";
}

/** Switch to a language. */
export async function speak(code) {
  words = await (await fetch(`/page/words/${code}.json`)).json();
  spoken = code;
  document.documentElement.lang = code;
  for (const place of document.querySelectorAll("[data-t]")) place.textContent = t(place.dataset.t);
  for (const place of document.querySelectorAll("[data-label]")) {
    place.setAttribute("aria-label", t(place.dataset.label));
    if (place.tagName === "BUTTON") place.title = t(place.dataset.label);
  }
  for (const place of document.querySelectorAll("[data-placeholder]")) {
    place.placeholder = t(place.dataset.placeholder);
  }
}
