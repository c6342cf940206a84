// What is said of a node's target: a class with its probability, or a number and the band that it lies in.

const BANDS = [0, 4, 2, 1, 5]; // colours from cold to warm
const classLook = (meta, c) => (meta.numeric && c >= 0 ? BANDS[c] : c);
/** A number with `digits` significant digits; thousands are set apart from 10,000 on. */
function readable(value, digits = 5) {
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  return value.toLocaleString("en-US", { maximumSignificantDigits: digits, useGrouping: size >= 1e4 });
}
const brief = (value) => readable(value);
const targetName = ({ target }, otherwise = "class") => shorten(target || otherwise, 40);

function trueWords(data, i) {
  return data.meta.numeric ? brief(data.true_number[i]) : shorten(data.meta.classes[data.truth[i]], 60);
}

function predictedWords(data, i) {
  const { classes, numeric } = data.meta, c = data.predicted[i];
  return numeric ? brief(data.number[i]) : `${shorten(classes[c], 60)}, ${percent(data.probabilities[i * classes.length + c] / 65535, 0)}`;
}

/** What an option predicts of a node; `at`: the place of both in the arrays. */
function alternativeWords(data, at) {
  const { meta } = data;
  return meta.numeric ? brief(data.alternative_number[at]) : `${shorten(meta.classes[data.alternative_class[at]], 40)} ${percent(data.alternative_probability[at] / 65535, 0)}`;
}

/** Whether the prediction is right, in words; of numbers, how far off it is. */
function verdict(data, i) {
  if (data.meta.numeric) return `off by ${compact(Math.abs(data.number[i] - data.true_number[i]))}`;
  return data.truth[i] === data.predicted[i] ? "predicted right ✓" : "predicted wrong ✗";
}

/** The number of a node with its band. */
function numberOf(data, i) {
  const { meta } = data, rows = [["predicted", data.number, data.predicted]];
  if (data.truth[i] >= 0) rows.push(["true", data.true_number, data.truth]);
  return numberTable(["", targetName(meta), "band"], rows.map(([name, numbers, bands]) => ({ cells: [name, brief(numbers[i]), meta.classes[bands[i]]] })));
}

/**
 * The scale of an axis for numbers: where its value lies between 0 and 1, its ticks, and what it is called.
 * Where the range of the true numbers is more than eight times that of their middle half, equal distances are
 * equal factors: a logarithm for large numbers, which goes over into a straight line around 0, so that 0 and less have a place.
 */
function axisOf(values, truth) {
  const sorted = truth.toSorted((a, b) => a - b), at = (share) => sorted[Math.floor(share * (sorted.length - 1))];
  const low = Math.min(...values), high = Math.max(...values), range = at(1) - at(0), half = at(.75) - at(.25);
  const skewed = range > 8 * half;
  const sizes = skewed ? sorted.map(Math.abs).filter(Boolean).sort((a, b) => a - b) : [];
  const unit = skewed ? 10 ** Math.floor(Math.log10(sizes[Math.floor(.02 * sizes.length)])) : 1;
  const bend = skewed ? (value) => Math.asinh(value / unit) : (value) => value;
  const from = bend(low), span = bend(high) - from || 1;
  const place = (value) => (bend(value) - from) / span;
  return { place, low, high, skewed, times: range / half, ticks: (skewed ? factorTicks(low, high, unit) : evenTicks(low, high)).map((value) => [value, tickName(value)]) };
}

function evenTicks(low, high) {
  const span = high - low || 1, unit = 10 ** Math.floor(Math.log10(span / 6)), step = unit * [1, 2, 5, 10].find((times) => span / (unit * times) <= 6);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor((low + span) / step + 1e-9) - first + 1 }, (_, n) => Number(((first + n) * step).toPrecision(12)));
}

/** 0 and powers of ten in between, every second or third one where there are many. */
function factorTicks(low, high, unit) {
  const most = Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / unit)), every = Math.ceil(most / 5);
  const powers = Array.from({ length: Math.floor(most / every) + 1 }, (_, n) => unit * 10 ** (n * every));
  return [...powers.map((value) => -value), 0, ...powers].filter((value) => value >= low && value <= high);
}

/** 20,000 as 20k, 3,000,000 as 3M. */
const tickName = (value) => (Math.abs(value) >= 1e4 ? value.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 5 }) : brief(value));

/** Predicted against true numbers; dots on the dashed line are right. */
function scatterChart(meta, { points, nodes, scores }) {
  const axis = axisOf(points.flat(), points.map(([truth]) => truth)), widest = Math.max(...axis.ticks.map(([, name]) => name.length));
  const w = 380, h = 300, title = 12, left = title + 10 + 6.2 * widest, right = 14, top = 10, bottom = 36;
  const x = (value) => left + axis.place(value) * (w - left - right), y = (value) => h - bottom - axis.place(value) * (h - top - bottom);
  const name = targetName(meta, "target");
  const told = `${counted(nodes, "node")}${nodes > points.length ? `, ${whole(points.length)} of them drawn` : ""}. R² ${figure("r2", scores.r2)} (1: all right; 0: no better than the mean of all). Mean absolute error ${figure("mae", scores.mae)}, in the unit of ${name}. On the dashed line predictions are right.` +
    (axis.skewed ? ` Both axes are logarithmic, because the true numbers span ${Number.isFinite(axis.times) ? `${readable(axis.times, 2)} times` : "more than"} the range of their middle half.` : "");
  const chart = svg("svg", { class: "chart scatter", viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `Predicted against true. ${told}` });
  let last = -Infinity;
  for (const [value, text] of axis.ticks) {
    const half = 3.1 * text.length, under = x(value) - half > last + 4; // labels must not run into each other
    if (under) last = x(value) + half;
    chart.append(svg("line", { x1: left, x2: w - right, y1: y(value), y2: y(value), stroke: "var(--faint)" }),
      svg("text", { class: "tick", x: left - 5, y: y(value) + 3.5, "text-anchor": "end", "font-size": 10 }, text),
      under ? svg("text", { class: "tick", x: x(value), y: h - bottom + 13, "text-anchor": "middle", "font-size": 10 }, text) : "");
  }
  chart.append(svg("text", { class: "axis", x: (left + w - right) / 2, y: h - 6, "text-anchor": "middle", "font-size": 10 }, `true ${name}`),
    svg("text", { class: "axis", x: title, y: (h - bottom + top) / 2, transform: `rotate(-90 ${title} ${(h - bottom + top) / 2})`, "text-anchor": "middle", "font-size": 10 }, `predicted ${name}`),
    ...points.map(([a, b]) => svg("circle", { cx: x(a).toFixed(1), cy: y(b).toFixed(1), r: 2, fill: look(0).colour, "fill-opacity": .55 })),
    svg("line", { x1: x(axis.low), y1: y(axis.low), x2: x(axis.high), y2: y(axis.high), stroke: "var(--mark)", "stroke-dasharray": "4 3" }));
  return el("div", {}, el("p", { class: "note" }, told), chart);
}

/** Title and content of the charts that compare predictions with labels. */
function targetCharts(meta) {
  const scattered = ["test", "val", "none"].filter((part) => meta.numeric && meta.details[part]);
  if (meta.numeric) return scattered.map((part) => [`Predicted against true: ${PART_NAMES[part]} nodes`, scatterChart(meta, meta.details[part])]);
  if (!Object.keys(meta.confusion).length) return [];
  const of = meta.target ? `: ${targetName(meta)}` : "", parted = (tables, draw) => byPart(tables, "Part of the nodes", draw);
  return [[`Confusion matrix${of}`, parted(meta.confusion, (table) => confusionTable(meta, table))],
    [`Accuracy by class${of}`, parted(meta.confusion, (table) => classAccuracy(meta, table))], [`Calibration${of}`, parted(meta.calibration, calibrationChart)]];
}

/** One row per target, where there are several. */
function targetTable({ targets }) {
  return numberTable(["target", "share of yes", "average precision", "ROC-AUC"], targets.map(([name, ...values]) => ({ cells: [shorten(name, 60), ...values.map((value) => figure("roc-auc", value))] })));
}
