// The receipt of an erasure: what was removed, what was searched afterwards, and a file to keep.

import { download, el } from "./dom.js";
import { show } from "./dialog.js";
import { moment, number } from "./time.js";
import { t } from "./words.js";

const KINDS = ["sessions", "turns", "sentences", "facts", "events", "memos", "notes", "rejected"];

/** Show a receipt. */
export function receipt(paper) {
  const removed = KINDS.filter((kind) => paper.removed[kind]).map((kind) => [t(`receipt.${kind}`), number(paper.removed[kind])]);
  const searched = Object.values(paper.searched).reduce((sum, count) => sum + count, 0);
  show({
    title: t("receipt.title"),
    body: [
      removed.length ? el("dl", { class: "receipt" }, removed.map(([name, count]) => el("div", {}, el("dt", {}, name), el("dd", {}, count)))) : el("p", {}, t("receipt.nothing")),
      el("p", {}, paper.found.length ? t("receipt.found") : paper.pending ? t("receipt.pending") : t("receipt.clean", { n: number(searched) })),
      el("p", { class: "fine" }, `${moment(paper.time)} · ${paper.id.slice(0, 8)}`),
      el("details", {}, el("summary", {}, t("receipt.more")), el("pre", { class: "paper", tabindex: "0" }, JSON.stringify(paper, null, 2))),
    ],
    other: el("button", { type: "button", onclick: () => save(paper) }, t("receipt.save")),
  });
}

const save = (paper) => download(new Blob([JSON.stringify(paper, null, 2)], { type: "application/json" }), `omoide-receipt-${paper.id.slice(0, 8)}.json`);
