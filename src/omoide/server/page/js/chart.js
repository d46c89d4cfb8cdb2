// Charts drawn with uPlot; each has a label for screen readers.

import { colour, el, fill } from "./dom.js";
import { number, percent } from "./time.js";

const UPLOT = "/page/vendor/uplot/uPlot";
await new Promise((loaded, failed) => {
  document.head.append(
    el("link", { rel: "stylesheet", href: `${UPLOT}.min.css` }),
    el("script", { src: `${UPLOT}.iife.min.js`, onload: loaded, onerror: failed }),
  );
});

const FONT = '12px Inter, system-ui, sans-serif';
const drawn = new WeakMap();

const axis = (more) => ({
  stroke: colour("--soft"),
  font: FONT,
  grid: { stroke: colour("--line"), width: 1 },
  ticks: { show: false },
  ...more,
});

/** Draw a chart into an element and keep it as wide as the element. */
function put(place, label, options, data) {
  drawn.get(place)?.destroy();
  fill(place);
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", label);
  const width = () => Math.max(place.clientWidth, 200);
  const chart = new uPlot({ ...options, width: width(), legend: { show: false }, cursor: { show: false } }, data, place);
  const watch = new ResizeObserver(() => chart.setSize({ width: width(), height: options.height }));
  watch.observe(place);
  drawn.set(place, { destroy: () => { watch.disconnect(); chart.destroy(); } });
  return chart;
}

const pen = document.createElement("canvas").getContext("2d");

/** How wide the longest of the texts is on an axis, with the room around it. */
function room(texts) {
  pen.font = FONT;
  return Math.max(...texts.map((text) => pen.measureText(text).width)) + 12;
}

/** Line chart over days from now. Each series is `{ id, points, colour, width, dash, alpha }`; `level`
 * is the threshold. `point(id, day, value)` is called for the line under the pointer, and `choose(id)` on a
 * click; lines without an id are passed over. */
export function lines(place, { label, series, level, days, format, point, choose }) {
  const tables = series.map((one) => [one.points.map(([x]) => x), one.points.map(([, y]) => y)]);
  const data = tables.length ? uPlot.join(tables) : [[]];
  const from = Math.min(0, ...series.flatMap((one) => one.points.slice(0, 1).map(([x]) => x)));
  const low = Math.min(level - 0.1, ...series.flatMap((one) => one.points.map(([, y]) => y)));
  const mark = (chart) => {
    const { ctx, bbox } = chart;
    const across = (value, scale) => chart.valToPos(value, scale, true);
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.strokeStyle = colour("--warn");
    ctx.beginPath();
    ctx.moveTo(bbox.left, across(level, "y"));
    ctx.lineTo(bbox.left + bbox.width, across(level, "y"));
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.strokeStyle = colour("--soft");
    ctx.beginPath();
    ctx.moveTo(across(0, "x"), bbox.top);
    ctx.lineTo(across(0, "x"), bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  };
  const last = room([format(days)]);
  const chart = put(
    place,
    label,
    {
      height: 230,
      padding: [8, last / 2, 0, 0],
      scales: { x: { time: false, range: [from, days] }, y: { range: [Math.max(0, Math.floor((low - 0.02) * 4) / 4), 1.01] } },
      axes: [axis({ values: (_, ticks) => ticks.map(format), incrs: [91.25, 182.5, 365, 730, 1825, 3650], space: room([182.5, 365, 1825, days].map(format)), size: 30 }), axis({ values: (_, ticks) => ticks.map(percent), incrs: [0.05, 0.1, 0.25], size: 48 })],
      series: [{}, ...series.map((one) => ({ stroke: one.colour, width: one.width, dash: one.dash, alpha: one.alpha ?? 1, spanGaps: true, points: { show: false } }))],
      hooks: { drawClear: [mark] },
    },
    data,
  );
  track(chart, series.filter((one) => one.id), point, choose);
  return chart;
}

/** Find the line nearest to the pointer. */
function track(chart, series, point, choose) {
  const nearest = (event) => {
    const box = chart.over.getBoundingClientRect();
    const day = chart.posToVal(event.clientX - box.left, "x");
    const found = series
      .map((one) => ({ id: one.id, value: between(one.points, day) }))
      .filter(({ value }) => value !== null)
      .map((one) => ({ ...one, far: Math.abs(chart.valToPos(one.value, "y") - (event.clientY - box.top)) }))
      .sort((a, b) => a.far - b.far)[0];
    return found && found.far < 30 ? { ...found, day } : null;
  };
  chart.over.addEventListener("pointermove", (event) => {
    const found = nearest(event);
    point(found?.id ?? null, found?.day ?? 0, found?.value ?? 0);
    chart.over.classList.toggle("on-line", Boolean(found));
  });
  chart.over.addEventListener("pointerleave", () => point(null, 0, 0));
  chart.over.addEventListener("click", (event) => {
    const found = nearest(event);
    if (found) choose(found.id);
  });
}

/** The value of a line at a day; null outside of it. */
function between(points, day) {
  const after = points.findIndex(([x]) => x >= day);
  if (after < 0 || (after === 0 && points[0][0] > day)) return null;
  if (after === 0) return points[0][1];
  const [[x0, y0], [x1, y1]] = [points[after - 1], points[after]];
  return x1 === x0 ? y1 : y0 + ((y1 - y0) * (day - x0)) / (x1 - x0);
}

/** Stacked bars of two parts, one bar for each name. */
export function bars(place, { label, names, below, above }) {
  const sums = below.map((value, i) => value + above[i]);
  const paths = uPlot.paths.bars({ size: [0.6, 36], radius: 0.15 });
  return put(
    place,
    label,
    {
      height: 180,
      padding: [8, 12, 0, 0],
      scales: { x: { time: false, range: [-0.5, names.length - 0.5] }, y: { range: [0, Math.max(...sums) * 1.08] } },
      axes: [
        axis({ values: (_, ticks) => ticks.map((i) => names[i] ?? ""), incrs: [1, 2, 5, 10, 20, 50, 100], grid: { show: false }, space: room(names), size: 30 }),
        axis({ values: (_, ticks) => ticks.map((v) => (v >= 10_000 ? `${number(v / 1000)}k` : number(v))), size: 48 }),
      ],
      series: [{}, { fill: colour("--accent"), paths, points: { show: false } }, { fill: colour("--good"), paths, points: { show: false } }],
    },
    [names.map((_, i) => i), sums, below],
  );
}

/** A legend for a chart's lines. */
export const key = (...parts) => el("div", { class: "key", "aria-hidden": "true" }, parts.map(([name, text]) => el("span", { class: name }, text)));
