// Replies in Markdown. marked only splits the text into tokens; every node is made here, of the few
// kinds below, and text goes in as text. No HTML is ever parsed, so there is nothing to sanitise.

import { lexer } from "../vendor/marked/marked.esm.js";
import { copyButton } from "./copying.js";
import { el } from "./dom.js";

const OPTIONS = { gfm: true, breaks: true };
const SAFE = new Set(["http:", "https:", "mailto:"]);
const drawn = new WeakMap(); // the source of each block that is shown

/** Show a text. Blocks that did not change stay as they are, so that a reply can be shown as it comes. */
export function show(place, text, { streaming = false } = {}) {
  const tokens = lexer(streaming ? closed(text) : text, OPTIONS);
  const links = Object.keys(tokens.links).length; // a definition changes what stands before it
  const blocks = tokens.filter((token) => !["space", "def"].includes(token.type));
  blocks.forEach((token, i) => {
    const key = `${links} ${token.raw}`;
    const old = place.childNodes[i];
    if (old && drawn.get(old) === key) return;
    const same = old && regrown(old, token);
    const made = same ? old : block(token);
    drawn.set(made, key);
    if (same) return;
    if (old) old.replaceWith(made);
    else place.append(made);
  });
  while (place.childNodes.length > blocks.length) place.lastChild.remove();
}

/** The text with the emphasis or code closed that the next piece will close. */
function closed(text) {
  const last = text.slice(text.lastIndexOf("\n\n") + 1);
  if ((text.match(/^```/gm) ?? []).length % 2) return text; // within a code block
  if ((last.match(/`/g) ?? []).length % 2) return `${text}\``;
  const bold = (last.match(/\*\*/g) ?? []).length % 2;
  return bold && /\S$/.test(text) && !text.endsWith("*") ? `${text}**` : text;
}

/** Whether a code block could be changed in place: its scroll position and its button stay. */
function regrown(old, token) {
  if (token.type !== "code" || !old.classList?.contains("code") || old.dataset.lang !== (token.lang ?? "")) return false;
  old.querySelector("code").textContent = token.text;
  return true;
}

const BLOCKS = {
  paragraph: (token) => el("p", {}, inline(token.tokens)),
  text: (token) => el("p", {}, inline(token.tokens ?? [token])),
  heading: (token) => el("p", { class: `heading h${token.depth}` }, inline(token.tokens)),
  blockquote: (token) => el("blockquote", {}, token.tokens.map(block)),
  hr: () => el("hr"),
  list: (token) =>
    el(token.ordered ? "ol" : "ul", token.ordered && token.start !== 1 ? { start: token.start } : {}, token.items.map((item) => el("li", {}, tick(item), item.tokens.map(within)))),
  code,
  table,
};

/** Anything else, HTML above all, is shown as it was written. */
const block = (token) => (BLOCKS[token.type] ?? ((other) => el("p", {}, other.raw.trimEnd())))(token);

/** A part of a list item: its text needs no paragraph around it. */
const within = (token) => (token.type === "text" ? el("span", {}, inline(token.tokens ?? [token])) : token.type === "checkbox" || token.type === "space" ? "" : block(token));

const tick = (item) => (item.task ? (item.checked ? "☑ " : "☐ ") : null);

function code(token) {
  const text = el("code", {}, token.text);
  const name = (token.lang ?? "").split(/\s/)[0];
  return el(
    "div",
    { class: "code", "data-lang": token.lang ?? "" },
    el("div", { class: "row" }, el("span", {}, name), copyButton(() => text.textContent)),
    el("pre", { tabindex: "0" }, text),
  );
}

function table(token) {
  const cell = (name) => (one, i) => el(name, { class: token.align[i] ? `to-${token.align[i]}` : null }, inline(one.tokens));
  return el(
    "div",
    { class: "wide-table", tabindex: "0" },
    el("table", {}, el("thead", {}, el("tr", {}, token.header.map(cell("th")))), el("tbody", {}, token.rows.map((row) => el("tr", {}, row.map(cell("td")))))),
  );
}

const INLINE = {
  strong: (token) => el("strong", {}, inline(token.tokens)),
  em: (token) => el("em", {}, inline(token.tokens)),
  del: (token) => el("s", {}, inline(token.tokens)),
  codespan: (token) => el("code", {}, token.text),
  br: () => el("br"),
  link: (token) => link(token.href, inline(token.tokens)),
  image: (token) => link(token.href, [token.text || token.href]), // never loaded: its address could carry words away
  escape: (token) => token.text,
  text: (token) => (token.tokens ? inline(token.tokens) : token.text),
};

const inline = (tokens) => tokens.flatMap((token) => (INLINE[token.type] ?? ((other) => other.raw))(token));

/** A link that opens elsewhere and tells nothing of this page; only its text, if the address could run something. */
function link(href, children) {
  let url;
  try {
    url = new URL(href);
  } catch {
    return children;
  }
  if (!SAFE.has(url.protocol)) return children;
  return el("a", { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow", title: url.href }, children);
}

/** A text as plain words on one line, without the marks. */
export const plain = (text) => lexer(text, OPTIONS).map(wordsOf).join(" ").replace(/\s+/g, " ").trim();

/** The words of a token: of its parts where it has some, each block after a space. */
function wordsOf(token) {
  if (token.type === "table") return [token.header, ...token.rows].flat().map(wordsOf).join(" ");
  if (token.type === "list") return token.items.map(wordsOf).join(" ");
  if (["br", "hr", "def"].includes(token.type)) return " ";
  if (token.tokens) return token.tokens.map(wordsOf).join(["blockquote", "list_item"].includes(token.type) ? " " : "");
  return token.text ?? token.raw ?? "";
}
