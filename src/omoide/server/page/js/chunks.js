// Long lists: items are drawn in chunks, and chunks far from the viewport are emptied. An empty chunk
// keeps its height, so that nothing moves. However long the list is, few nodes are in the document.

import { el } from "./dom.js";
import { month } from "./time.js";

const MARGIN = "1200px 0px"; // how far beyond the viewport chunks are drawn

/** Chunks of a list within `place`, which scrolls in `scroller`. `draw(items, before)` makes the
 * nodes of a chunk; `before` is the item before its first one. */
export class Chunks {
  constructor(place, scroller, draw) {
    this.place = place;
    this.scroller = scroller;
    this.draw = draw;
    this.chunks = []; // { box, items, shown }
    this.observer = new IntersectionObserver((entries) => entries.forEach((entry) => this.#seen(entry)), { root: scroller, rootMargin: MARGIN });
  }

  /** All items, in order. */
  get items() {
    return this.chunks.flatMap((chunk) => chunk.items);
  }

  /** Forget all items. */
  clear() {
    this.observer.disconnect();
    for (const { box } of this.chunks) box.remove();
    this.chunks = [];
  }

  /** Add items at the end; those that are not `drawn` are drawn when they come near. */
  append(items, drawn = true) {
    if (items.length) this.#add(items, this.chunks.length, drawn);
  }

  /** Add items at the beginning; what is in view stays where it is. Those that are not `drawn` are
   * drawn when they come near. */
  prepend(items, drawn = true) {
    if (!items.length) return;
    const from = this.scroller.scrollHeight - this.scroller.scrollTop;
    this.#add(items, 0, drawn);
    if (this.chunks[1]?.shown) this.#show(this.chunks[1]); // it may have begun with a date or heading
    this.scroller.scrollTop = this.scroller.scrollHeight - from;
  }

  /** Draw the chunk that has an item, and return its box; undefined if there is none. */
  reveal(has) {
    const chunk = this.chunks.find(({ items }) => items.some(has));
    if (chunk && !chunk.shown) this.#show(chunk);
    return chunk?.box;
  }

  /** Forget an item and all after it. */
  cut(has) {
    const index = this.chunks.findIndex(({ items }) => items.some(has));
    if (index < 0) return;
    const chunk = this.chunks[index];
    chunk.items = chunk.items.slice(0, chunk.items.findIndex(has));
    this.#show(chunk);
    for (const { box } of this.chunks.splice(index + 1)) {
      this.observer.unobserve(box);
      box.remove();
    }
  }

  #add(items, index, drawn = true) {
    const known = this.chunks.find(({ shown }) => shown);
    const chunk = { box: el("div", { class: "chunk" }), items, shown: false };
    if (index) this.place.append(chunk.box);
    else this.place.insertBefore(chunk.box, this.chunks[0]?.box ?? null);
    this.chunks.splice(index, 0, chunk);
    if (drawn || !known) this.#show(chunk);
    else chunk.box.style.height = `${(known.box.offsetHeight / known.items.length) * items.length}px`;
    this.observer.observe(chunk.box);
  }

  #show(chunk) {
    const before = this.chunks[this.chunks.indexOf(chunk) - 1]?.items.at(-1);
    chunk.box.style.height = "";
    chunk.box.replaceChildren(...this.draw(chunk.items, before).flat().filter(Boolean));
    chunk.shown = true;
  }

  #seen({ target, isIntersecting }) {
    const chunk = this.chunks.find(({ box }) => box === target);
    if (!chunk || chunk.shown === isIntersecting) return;
    if (isIntersecting) return this.#show(chunk);
    chunk.box.style.height = `${chunk.box.offsetHeight}px`;
    chunk.box.replaceChildren();
    chunk.shown = false;
  }
}

const SIZE = 40; // entries of a timeline in one chunk

/** A timeline in chunks: entries under their months, newest first. `row` makes the node of one. */
export function months(place, scroller, entries, row) {
  const list = new Chunks(place, scroller, (items, before) => {
    const parts = [];
    let last = before ? month(before.time) : null;
    for (const item of items) {
      const name = month(item.time);
      if (name !== last || !parts.length) parts.push(el("section", {}, name === last ? null : el("h3", {}, name), el("ol", { class: "line" })));
      parts.at(-1).lastChild.append(row(item));
      last = name;
    }
    return parts;
  });
  for (let i = 0; i < entries.length; i += SIZE) list.append(entries.slice(i, i + SIZE), i === 0);
  return list;
}

/** Call `more` when the end of a list comes near, until it returns false. */
export function whenNear(mark, scroller, more) {
  let busy = false;
  let near = false;
  const watch = new IntersectionObserver(
    ([entry]) => {
      near = entry.isIntersecting;
      go();
    },
    { root: scroller, rootMargin: "600px 0px" },
  );
  async function go() {
    if (busy || !near) return;
    busy = true;
    const left = await more().catch(() => false);
    busy = false;
    if (!left) return watch.disconnect();
    watch.unobserve(mark); // ask again where it is now
    watch.observe(mark);
  }
  watch.observe(mark);
  return () => watch.disconnect();
}
