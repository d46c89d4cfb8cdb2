// Copying to the clipboard.

import { el } from "./dom.js";
import { t } from "./words.js";

/** Copy a text. Browsers offer the clipboard only over HTTPS or on this machine; elsewhere a selection is copied. */
export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = el("textarea", { value: text, class: "unseen", "aria-hidden": "true" });
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

/** A button that copies what `text` gives, and says so. */
export function copyButton(text, name = "copy") {
  const button = el("button", { type: "button", class: "quiet small" }, t(name));
  button.addEventListener("click", async () => {
    try {
      await copy(text());
      button.textContent = t("copied");
    } catch {
      button.textContent = t("not_copied");
    }
    setTimeout(() => (button.textContent = t(name)), 2000);
  });
  return button;
}
