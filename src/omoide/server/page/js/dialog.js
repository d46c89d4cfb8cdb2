// Dialogs.

import { el } from "./dom.js";
import { t } from "./words.js";

/** Show a dialog with optional fields; resolves to the result of `read`, or null if cancelled. */
function ask({ title, body = [], yes, danger = false, read = () => true, required = null }) {
  return new Promise((resolve) => {
    const id = "dialog-title";
    const form = el(
      "form",
      { method: "dialog" },
      el("h2", { id }, title),
      body,
      el(
        "div",
        { class: "row" },
        el("button", { type: "button", onclick: () => dialog.close() }, t("cancel")),
        el("button", { class: "main", type: "submit", "data-danger": danger }, yes),
      ),
    );
    const dialog = el("dialog", { "aria-labelledby": id }, form);
    let answer = null;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (required && !required.value.trim()) return required.focus();
      answer = read();
      dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Show something, with another button beside "close". */
export const show = ({ title, body, other = null }) => {
  const id = "dialog-title";
  const dialog = el(
    "dialog",
    { "aria-labelledby": id, onclose: () => dialog.remove() },
    el("div", { class: "form" }, el("h2", { id }, title), body, el("div", { class: "row" }, other, el("button", { type: "button", class: "main", onclick: () => dialog.close() }, t("close")))),
  );
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
};

/** Ask for confirmation. */
export const confirm = ({ title, text, quote, yes, tick }) => {
  const box = tick ? el("input", { type: "checkbox", id: "dialog-tick" }) : null;
  return ask({
    title,
    yes,
    danger: true,
    body: [
      quote ? el("blockquote", {}, quote) : null,
      el("p", {}, text),
      box ? el("label", { class: "tick", for: "dialog-tick" }, box, el("span", {}, tick)) : null,
    ].filter(Boolean),
    read: () => ({ ticked: box?.checked ?? false }),
  });
};

/** Ask for text of one or more lines. */
export const prompt = ({ title, text, label, value = "", yes, lines = 1, type = "text" }) => {
  const field =
    lines > 1
      ? el("textarea", { id: "dialog-field", rows: lines, value })
      : el("input", { id: "dialog-field", type, value, autocomplete: "off" });
  return ask({
    title,
    yes,
    required: field,
    body: [
      text ? el("p", { class: "fine" }, text) : null,
      el("label", { class: "unseen", for: "dialog-field" }, label ?? title),
      field,
    ].filter(Boolean),
    read: () => field.value.trim(),
  });
};
