// The run as a whole: in the explorer's first tab, and spread out in a report.

/** Seconds as seconds, or as minutes and seconds. */
const duration = (seconds) => (seconds < 99.95 ? `${seconds.toFixed(1)} s` : `${Math.floor(Math.round(seconds) / 60)} min ${Math.round(seconds) % 60} s`);

function stat(value, text) {
  return el("div", { class: "stat" }, el("b", {}, value), el("span", {}, text));
}

/** The run's metric first, then how long it took, what predicts, and the protocol. */
function result(meta) {
  const { summary } = meta;
  const what = summary.candidates ? counted(summary.candidates.length, "candidate") : counted(summary.epochs, "epoch");
  const guess = isNone(summary.alone?.guess) ? "" : ` (always ${meta.guess}: ${figure(summary.metric, summary.alone.guess)})`;
  return [el("div", { class: "stats" },
    stat(shownScore("test", summary), `${summary.metric} on test nodes`),
    stat(shownScore("val", summary), `${summary.metric} on validation nodes${guess}`),
    stat(duration(summary.seconds), `of training, ${what}`)),
  el("p", { class: "predictor" }, meta.predictor.sentence), meta.note ? el("p", { class: "decision" }, meta.note) : "", el("p", { class: "note" }, `How it was measured: ${summary.protocol}.`), remarkList(meta)];
}

/** Title and content of every chart. */
function charts(data) {
  const { meta } = data;
  const drawn = [];
  const labelled = Object.keys(meta.confusion).length > 0;
  if (meta.curves) drawn.push(...trainingCurves(meta));
  if (meta.kind === "choices" && meta.chooses.some(Boolean)) drawn.push(["Motif and steps that nodes chose, by layer", layerShares(data)]);
  drawn.splice(meta.numeric ? 0 : drawn.length, 0, ...targetCharts(meta));
  if (meta.chooses.some(Boolean)) {
    if (labelled) drawn.push([`Choices by true ${targetName(meta)}`, shares(data, meta.classes, meta.by_class)]);
    drawn.push(["Choices by number of neighbours", shares(data, meta.degree_bins.map((name) => `${name} neighbour${name === "1" ? "" : "s"}`), meta.by_degree)]);
  }
  return drawn;
}

/** Which share of all nodes chose which motif and step in each layer. */
function layerShares(data) {
  const sums = data.meta.by_degree.map((table) => table[0].map((_, option) => table.reduce((sum, row) => sum + row[option], 0)));
  return el("div", {}, optionKey(data), shareBars(data, sums.map((_, layer) => `layer ${layer + 1}`), sums));
}

const titled = (parts) => parts.map(([title, content]) => el("section", { class: "box" }, el("h3", {}, title), content));

function showRun(data, root) {
  const { meta } = data;
  root.replaceChildren(meta.other_graph ? el("p", { class: "problem" }, "This is another graph than the one the network was trained on.") : "",
    ...result(meta), ...[...scoreTables(meta), ...charts(data)].flatMap(([title, content]) => [el("h3", {}, title), content]));
}

function showReport(data, root) {
  const { meta } = data;
  root.hidden = false;
  root.replaceChildren(el("h2", {}, "Result"), ...result(meta), el("div", { class: "grid", id: "scores" }, titled(scoreTables(meta))),
    el("h2", {}, "Training and predictions in detail"), el("div", { class: "grid", id: "charts" }, titled(charts(data))),
    el("h2", {}, "Node by node"), el("p", { class: "note" }, "Click a node, or search for its id: how it was predicted, and what it was predicted from."));
}

function showRepeat(data, root) {
  const { repeat, summary } = data.meta;
  root.hidden = false;
  const table = (rows) => el("table", {}, el("tbody", {}, Object.entries(rows).map(([name, value]) =>
    el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, Array.isArray(value) ? value.join(", ") : value === null ? "–" : String(value))))));
  root.replaceChildren(el("h2", {}, "How to repeat this run"), el("pre", { id: "command" }, repeat.command),
    el("div", { class: "grid" },
      el("section", { class: "box" }, el("details", {}, el("summary", {}, "All settings, as in config.yaml"), table(repeat.config))),
      el("section", { class: "box" }, el("h3", {}, "Versions"), table(summary.versions),
        el("h3", {}, "Data"), table(repeat.source), el("p", { class: "note" }, `SHA-256 of edges, features, known labels and split: ${repeat.fingerprint || "–"}`))));
}
