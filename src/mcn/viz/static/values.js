// What is said of a node's target: a class with its probability, or a number and the band that it lies in.

const BANDS = [0, 4, 2, 1, 5]; // colours from cold to warm
const classLook = (meta, c) => (meta.numeric && c >= 0 ? BANDS[c] : c);
const brief = (value) => Number(value.toPrecision(5)).toString();
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

/** Predicted against true numbers; dots on the dashed line are right. */
function scatterChart(meta, { points, nodes, scores }) {
  const w = 380, h = 300, left = 52, right = 12, top = 10, bottom = 36, all = points.flat();
  const low = Math.min(...all), span = Math.max(...all) - low || 1;
  const x = (value) => left + ((value - low) / span) * (w - left - right), y = (value) => h - bottom - ((value - low) / span) * (h - top - bottom);
  const told = `R² ${figure("r2", scores.r2)}, MAE ${figure("mae", scores.mae)}, ${counted(nodes, "node")}${nodes > points.length ? `, ${whole(points.length)} of them drawn` : ""}`;
  const chart = svg("svg", { class: "chart scatter", viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `Predicted against true. ${told}` });
  const unit = 10 ** Math.floor(Math.log10(span / 6)), step = unit * [1, 2, 5, 10].find((times) => span / (unit * times) <= 6);
  for (let value = Math.ceil(low / step) * step; value <= low + span; value += step) {
    const text = brief(value);
    chart.append(svg("line", { x1: left, x2: w - right, y1: y(value), y2: y(value), stroke: "var(--faint)" }),
      svg("text", { x: left - 5, y: y(value) + 3.5, "text-anchor": "end", "font-size": 10 }, text),
      svg("text", { x: x(value), y: h - bottom + 13, "text-anchor": "middle", "font-size": 10 }, text));
  }
  chart.append(svg("text", { x: (left + w - right) / 2, y: h - 6, "text-anchor": "middle", "font-size": 10 }, `true ${targetName(meta)}`),
    svg("text", { x: 10, y: (h - bottom + top) / 2, transform: `rotate(-90 10 ${(h - bottom + top) / 2})`, "text-anchor": "middle", "font-size": 10 }, `predicted ${targetName(meta)}`),
    ...points.map(([a, b]) => svg("circle", { cx: x(a).toFixed(1), cy: y(b).toFixed(1), r: 2, fill: look(0).colour, "fill-opacity": .55 })),
    svg("line", { x1: x(low), y1: y(low), x2: x(low + span), y2: y(low + span), stroke: "var(--mark)", "stroke-dasharray": "4 3" }));
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
