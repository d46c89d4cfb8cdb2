// Error messages that say what to do.

import { el } from "./dom.js";
import { t } from "./words.js";

const KINDS = {
  unreachable: "trouble.unreachable",
  "broke-off": "trouble.broke",
  "too-many-requests": "trouble.rate",
  forbidden: "trouble.forbidden",
  unauthorized: "trouble.locked",
  "stale-version": "trouble.stale",
};

/** An error as one or two sentences. */
export function told(problem) {
  if (problem.kind in KINDS) return t(KINDS[problem.kind]);
  if ([502, 504].includes(problem.status)) return t("trouble.model");
  if ([503, 507].includes(problem.status)) return t("trouble.store");
  if (problem.status) return t("trouble.other");
  return t("trouble.page");
}

/** An error notice, with a retry button if that makes sense. */
export function trouble(problem, again) {
  if (!problem.status && !problem.kind) console.error(problem);
  return el(
    "div",
    { class: "trouble", role: "alert" },
    el("div", {}, el("strong", {}, told(problem)), problem.message ? el("div", { class: "detail" }, problem.message) : null),
    again ? el("button", { type: "button", class: "small", onclick: again }, t("again")) : null,
  );
}
