// Dates in the reader's language. Uses the server's clock, not the browser's.

import { locale, t } from "./words.js";

let ahead = 0;

/** Synchronise the page's clock with the server's. */
export const setClock = (now) => {
  ahead = new Date(now) - Date.now();
};

/** The current time. */
export const now = () => new Date(Date.now() + ahead);

/** 09:00, but 9:00 where "in the morning" stands beside it. */
const hour = () => (new Intl.DateTimeFormat(locale(), { hour: "numeric" }).resolvedOptions().hour12 ? "numeric" : "2-digit");

/** A time; a day without one ("2026-01-10") is that day wherever the reader is. */
const parsed = (time) => new Date(/^\d{4}-\d\d-\d\d$/.test(time) ? `${time}T00:00` : time);

/** A text that stays on one line: "14 Oct" with a space that does not break. */
const whole = (text) => text.replaceAll(" ", "\u00a0");

/** A format for times; the browser takes long to make one, so each is made once a language. */
function format(options) {
  const made = new Map();
  return (time) => {
    if (!made.has(locale())) made.set(locale(), new Intl.DateTimeFormat(locale(), { ...options, ...(options.minute ? { hour: hour() } : {}) }));
    return whole(made.get(locale()).format(parsed(time)));
  };
}

export const shortDate = format({ day: "numeric", month: "short" });
const dateWithYear = format({ day: "numeric", month: "short", year: "numeric" });
const isThisYear = (time) => parsed(time).getFullYear() === now().getFullYear();
export const date = (time) => (isThisYear(time) ? shortDate : dateWithYear)(time);
export const longDate = format({ day: "numeric", month: "long", year: "numeric" });
const longDateThisYear = format({ day: "numeric", month: "long" });
/** For a title: in full, but without the year where it is this one. */
export const titleDate = (time) => (isThisYear(time) ? longDateThisYear : longDate)(time);
export const month = format({ month: "long", year: "numeric" });
export const clock = format({ minute: "2-digit" }); // brings the hour with it
/** A day and its time. The words say the order: the browser would put the time first in Vietnamese. */
export const moment = (time) => whole(t("moment", { date: date(time), clock: clock(time) }));

/** How many days ago, counted by calendar days. */
export function daysAgo(time) {
  const midnight = (moment) => new Date(moment).setHours(0, 0, 0, 0);
  return Math.round((midnight(now()) - midnight(time)) / 86_400_000);
}

/** Entries with a time, newest first; of those with the same time, the later in the list first. */
export const newestFirst = (entries) => [...entries].reverse().sort((one, other) => new Date(other.time) - new Date(one.time));

/** A number of days from now, in words. */
export function inDays(days) {
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  const size = Math.abs(days);
  if (size && size % 365 === 0) return new Intl.RelativeTimeFormat(locale()).format(days / 365, "year"); // not "next year"
  if (size < 45) return words.format(Math.round(days), "day");
  if (size < 700) return words.format(Math.round(days / 30.44), "month");
  return words.format(Math.round(days / 365.25), "year");
}

export const number = (value, digits = 0) =>
  new Intl.NumberFormat(locale(), {
    maximumFractionDigits: digits,
    minimumFractionDigits: digits,
  }).format(value);

export const percent = (share) => new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: 0 }).format(share);
