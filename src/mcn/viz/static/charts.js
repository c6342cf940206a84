// Charts of the whole run, as tables and SVG.

const PART_NAMES = { train: "training", val: "validation", test: "test", none: "other" };

/** Accuracy of every class, for one part of the nodes. */
function classAccuracy(meta, table) {
  const listed = bars(meta.classes.map((name, c) => {
    const all = table[c].reduce((a, b) => a + b, 0);
    return { name: `${name} (${whole(all)})`, value: all ? table[c][c] / all : 0, colour: look(c).colour };
  }).filter((_, c) => table[c].some((count) => count)));
  return el("div", {}, el("p", { class: "note" }, "Share of the nodes of each class that are predicted right; in brackets how many nodes the class has here."), listed);
}

function confusionTable(meta, table) {
  const head = el("tr", {}, el("th", {}, "true ↓ predicted →"),
    meta.classes.map((name, c) => el("th", { class: "turned", scope: "col", title: shorten(name, 300) }, meta.classes.length > 8 ? swatch(c) : [swatch(c), el("br"), shorten(name, 9)])));
  const rows = table.map((row, c) => {
    const all = Math.max(1, row.reduce((a, b) => a + b, 0));
    return el("tr", {}, el("th", { scope: "row", class: "nodecell", title: shorten(meta.classes[c], 300) }, swatch(c), " ", shorten(meta.classes[c], 16)),
      row.map((count, p) => {
        const cell = el("td", { class: "cell" }, count ? whole(count) : "·");
        const share = Math.round(88 * (count / all));
        cell.style.background = `color-mix(in srgb, ${c === p ? "var(--accent)" : "var(--mark)"} ${share}%, transparent)`;
        if (share > 50) cell.style.color = "var(--accent-ink)";
        return cell;
      }));
  });
  return el("div", {}, el("p", { class: "note" }, "Numbers of nodes. Blue: predicted right; orange: predicted wrong; the darker, the larger the share of the row."),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, head), el("tbody", {}, rows))));
}

/** A chart that can be switched between the parts of the split that have labels. */
function byPart(tables, label, draw) {
  const parts = ["test", "val", "train", "none"].filter((part) => tables[part]);
  if (!parts.length) return el("p", { class: "note" }, "no node has a label");
  const body = el("div", {}, draw(tables[parts[0]]));
  return el("div", {}, switcher(label, parts.map((part) => PART_NAMES[part]), 0, (n) => body.replaceChildren(draw(tables[parts[n]]))), body);
}

/** How often predictions of a given confidence are right; on the dashed line where they are as sure as they are right. */
function calibrationChart(curve) {
  const w = 380, h = 190, left = 56, right = 20, top = 10, bottom = 34;
  const x = (value) => left + value * (w - left - right), y = (value) => top + (1 - value) * (h - top - bottom);
  const middle = (h - bottom + top) / 2;
  const told = curve.confidence.map((sure, i) => `${percent(sure, 0)} sure: ${percent(curve.accuracy[i], 0)} right (${whole(curve.count[i])} nodes)`);
  const chart = svg("svg", { class: "chart calibration", viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `Calibration. ${told.join("; ")}` });
  for (const share of [0, .25, .5, .75, 1]) {
    chart.append(svg("line", { x1: left, x2: w - right, y1: y(share), y2: y(share), stroke: "var(--faint)" }),
      svg("text", { x: left - 5, y: y(share) + 3.5, "text-anchor": "end", "font-size": 10 }, percent(share, 0)),
      svg("text", { x: x(share), y: h - bottom + 13, "text-anchor": "middle", "font-size": 10 }, percent(share, 0)));
  }
  chart.append(svg("text", { x: (left + w - right) / 2, y: h - 4, "text-anchor": "middle", "font-size": 10 }, "probability of the predicted class"),
    svg("text", { class: "axis", x: 12, y: middle, transform: `rotate(-90 12 ${middle})`, "text-anchor": "middle", "font-size": 10 }, "share that is right"),
    svg("line", { x1: x(0), y1: y(0), x2: x(1), y2: y(1), stroke: "var(--mark)", "stroke-dasharray": "4 3" }),
    svg("polyline", { points: curve.confidence.map((sure, i) => `${x(sure).toFixed(1)},${y(curve.accuracy[i]).toFixed(1)}`).join(" "), fill: "none", stroke: look(0).colour, "stroke-width": 1.6 }));
  const most = Math.max(...curve.count);
  curve.confidence.forEach((sure, i) => chart.append(svg("circle", { cx: x(sure), cy: y(curve.accuracy[i]), r: 2 + 5 * Math.sqrt(curve.count[i] / most), fill: look(0).colour },
    svg("title", {}, told[i]))));
  return el("div", {}, el("p", { class: "note" }, `Of the nodes that are predicted with a probability of about 80 %, are 80 % predicted right? On the dashed line it is so. Larger dots stand for more nodes. Mean distance from the line: ${(100 * curve.error).toFixed(1)} points (a point is 1 %).`), chart);
}

/** Stacked bars: of each row of counts, which share chose which motif and step. */
function shareBars(data, names, counts) {
  const options = optionCount(data);
  const rows = names.flatMap((name, r) => {
    const all = counts[r].reduce((a, b) => a + b, 0);
    if (!all) return [];
    const bar = el("div", { class: "stack", role: "img", "aria-label": `${shorten(name, 60)}: ` +
      counts[r].map((count, o) => `${optionName(data, o)} ${percent(count / all, 0)}`).join(", ") });
    counts[r].forEach((count, o) => {
      if (!count) return;
      const piece = el("div", { title: `${optionName(data, o)}: ${percent(count / all)} of ${whole(all)}` });
      piece.style.width = `${(100 * count) / all}%`;
      piece.style.background = look(o).colour;
      if (o % 2) piece.classList.add("striped");
      bar.append(piece);
    });
    return [el("span", { class: "name", title: shorten(name, 300) }, shorten(name, 60)), bar,
      el("span", { class: "number" }, options === 2 ? percent(counts[r][0] / all, 0) : whole(all))];
  });
  return el("div", { class: "bars" }, rows);
}

/** What the colours of stacked bars mean. */
function optionKey(data) {
  return el("div", { class: "key" }, Array.from({ length: optionCount(data) }, (_, o) => el("span", {}, patch(look(o).colour, o % 2), optionName(data, o))),
    optionCount(data) === 2 ? el("span", {}, `number at the right: share of ${optionName(data, 0)}`) : el("span", {}, "number at the right: nodes"));
}

function shares(data, names, byLayer) {
  const last = byLayer.length - 1, body = el("div", {}, shareBars(data, names, byLayer[last]));
  const buttons = byLayer.length > 1 ? switcher("Layer", byLayer.map((_, l) => `layer ${l + 1}`), last, (l) => body.replaceChildren(shareBars(data, names, byLayer[l]))) : null;
  return el("div", {}, buttons, optionKey(data), body);
}

function patch(colour, striped) {
  const box = el("i", { class: striped ? "patch striped" : "patch" });
  box.style.background = colour;
  return box;
}

/** Lines over the epochs; each has its own dash, so that grey paper shows them too. */
function lineChart(title, epochs, lines, kept, asPercent) {
  const w = 380, h = 160, left = 42, right = 8, top = 10, bottom = 34;
  const values = lines.flatMap((line) => line.values).filter((v) => v !== null);
  let low = Math.min(...values), high = Math.max(...values);
  if (asPercent) { low = 0; high = Math.max(high, 1); }
  if (high - low < 1e-9) { high += .5; low -= .5; }
  const first = epochs[0], span = Math.max(1, epochs[epochs.length - 1] - first);
  const x = (epoch) => left + ((epoch - first) / span) * (w - left - right);
  const y = (value) => top + (1 - (value - low) / (high - low)) * (h - top - bottom);
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `${title} over ${epochs.length} epochs` });
  for (const value of asPercent ? [0, .25, .5, .75, 1] : evenTicks(low, high)) {
    chart.append(svg("line", { x1: left, x2: w - right, y1: y(value), y2: y(value), stroke: "var(--faint)" }),
      svg("text", { x: left - 5, y: y(value) + 3.5, "text-anchor": "end", "font-size": 10 }, asPercent ? percent(value, 0) : tickName(value)));
  }
  for (const [epoch, anchor] of [[first, "start"], [Math.round(first + span / 2), "middle"], [first + span, "end"]]) {
    chart.append(svg("text", { x: x(epoch), y: h - bottom + 13, "text-anchor": anchor, "font-size": 10 }, String(epoch)));
  }
  chart.append(svg("text", { class: "axis", x: (left + w - right) / 2, y: h - 4, "text-anchor": "middle", "font-size": 10 }, "epoch (pass over the training nodes)"));
  if (kept) chart.append(svg("line", { x1: x(kept), x2: x(kept), y1: top, y2: h - bottom, stroke: "var(--mark)", "stroke-dasharray": "2 3" }));
  for (const line of lines) {
    const points = line.values.map((v, i) => (v === null ? null : `${x(epochs[i]).toFixed(1)},${y(v).toFixed(1)}`)).filter(Boolean);
    chart.append(svg("polyline", { points: points.join(" "), fill: "none", stroke: line.colour, "stroke-width": 1.6, "stroke-dasharray": line.dash }));
  }
  const key = el("div", { class: "key" }, lines.map((line) => el("span", {},
    svg("svg", { width: 22, height: 8, "aria-hidden": "true" }, svg("line", { x1: 0, x2: 22, y1: 4, y2: 4, stroke: line.colour, "stroke-width": 2, "stroke-dasharray": line.dash })), line.name)),
    kept ? el("span", {}, svg("svg", { width: 8, height: 12, "aria-hidden": "true" }, svg("line", { x1: 4, x2: 4, y1: 0, y2: 12, stroke: "var(--mark)", "stroke-dasharray": "2 3" })), `weights kept: those of epoch ${kept}`) : null);
  return el("div", {}, key, chart);
}

/** Title and chart of the metric and the loss of the network that predicts; of several, with the share of the one shown. */
function trainingCurves(meta) {
  const { curves } = meta, share = shareOf(meta, curves.network);
  const part = share < 1 ? ` (${percent(share, 0)} of the blend)` : "";
  const { metric } = meta.summary, sign = LESS_IS_BETTER.includes(metric) ? -1 : 1; // logged is what is better if it is more
  const line = (name, values, first) => ({ name, values, colour: look(first ? 0 : 1).colour, dash: first ? null : "5 3" });
  const pair = (name) => [line("training", curves[`train_${name}`], false), line("validation", curves[`val_${name}`], true)];
  const scores = metric === "accuracy" ? pair("accuracy") : [line("validation", curves.val_score.map((value) => value && sign * value), true)];
  const drawn = [["Loss", "loss", pair("loss")]];
  if (scores.some(({ values }) => values.some((value) => value !== null))) drawn.unshift([metric[0].toUpperCase() + metric.slice(1), metric, scores]);
  return drawn.map(([title, name, lines]) =>
    [`${title} while training: ${curves.network}${part}`, lineChart(name, curves.epoch, lines, curves.kept, name !== "loss" && !NOT_PERCENT.includes(metric))]);
}
