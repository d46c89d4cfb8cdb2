// DOM helpers. Text of users and models is inserted as text, never as markup.

/** Create an element: `el("p", { class: "fine", onclick: f, "aria-label": "x" }, "text", child)`. */
export function el(name, given = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key.startsWith("--")) made.style.setProperty(key, value);
    else if (key === "value" || key === "checked" || key === "disabled") made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** The element with that id. */
export const at = (id) => document.getElementById(id);

/** Replace all children. */
export function fill(place, ...children) {
  place.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
}

/** A colour of the style sheet, resolved for use in a canvas. */
export function colour(name) {
  const probe = el("span", { hidden: true });
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** Offer a file to be saved. */
export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A short notice that disappears by itself. */
export function toast(text) {
  const notice = el("div", { class: "toast" }, text);
  at("toasts").append(notice);
  setTimeout(() => notice.remove(), 5000);
}
