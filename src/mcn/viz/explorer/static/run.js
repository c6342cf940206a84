// The run as a whole: in the explorer's first tab, and spread out in a report.

function stat(value, text) {
  return el("div", { class: "stat" }, el("b", {}, value), el("span", {}, text));
}

function statistics(meta) {
  const { summary } = meta;
  return el("div", { class: "stats" },
    stat(summary.test_accuracy === null || summary.test_accuracy === undefined ? "–" : percent(summary.test_accuracy), "test accuracy"),
    stat(percent(summary.val_accuracy), "validation"),
    stat(whole(summary.epochs), `epochs in ${summary.seconds.toFixed(1)} s`));
}

/** Title and content of every chart. */
function charts(data) {
  const { meta } = data;
  const found = [];
  const labelled = Object.keys(meta.confusion).length > 0;
  if (meta.curves.epoch.length) found.push(...trainingCurves(meta));
  if (labelled) {
    found.push(["Confusion matrix", byPart(meta.confusion, "Part of the nodes", (table) => confusionTable(meta, table))]);
    found.push(["Accuracy by class", byPart(meta.confusion, "Part of the nodes", (table) => classAccuracy(meta, table))]);
    found.push(["Calibration", byPart(meta.calibration, "Part of the nodes", calibrationChart)]);
  }
  if (meta.chooses.some(Boolean)) {
    if (labelled) found.push(["Choices by true class", shares(data, meta.classes, meta.by_class)]);
    found.push(["Choices by degree", shares(data, meta.degree_bins.map((name) => `degree ${name}`), meta.by_degree)]);
  }
  return found;
}

function showRun(data, root) {
  const { meta } = data;
  root.replaceChildren(meta.other_graph ? el("p", { class: "problem" }, "This is another graph than the one the network was trained on.") : "",
    statistics(meta), el("p", { class: "note" }, meta.summary.protocol),
    remarkList(meta.summary),
    ...[...scoreTables(meta.summary), ...charts(data)].flatMap(([title, chart]) => [el("h3", {}, title), chart]));
}

function showReport(data, root) {
  const { meta } = data;
  root.hidden = false;
  root.replaceChildren(el("h2", {}, "Result"), statistics(meta), el("p", { class: "note" }, meta.summary.protocol),
    remarkList(meta.summary), scoreBoxes(meta.summary),
    el("h2", {}, "How it came about"),
    el("div", { class: "grid", id: "charts" }, charts(data).map(([title, chart]) => el("section", { class: "box" }, el("h3", {}, title), chart))),
    el("h2", {}, "Node by node"), meta.not_drawn ? el("p", { class: "note" }, meta.not_drawn) : "");
}

function showRepeat(data, root) {
  const { repeat, summary } = data.meta;
  root.hidden = false;
  const table = (rows) => el("table", {}, el("tbody", {}, Object.entries(rows).map(([name, value]) =>
    el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, Array.isArray(value) ? value.join(", ") : value === null ? "–" : String(value))))));
  root.replaceChildren(el("h2", {}, "Repeat it"), el("pre", { id: "command" }, repeat.command),
    el("div", { class: "grid" },
      el("section", { class: "box" }, el("details", {}, el("summary", {}, "All settings, as in config.yaml"), table(repeat.config))),
      el("section", { class: "box" }, el("h3", {}, "Versions"), table(summary.versions || {}),
        el("h3", {}, "Data"), table(repeat.source), el("p", { class: "note" }, `SHA-256 of edges, features, known labels and split: ${repeat.fingerprint || "–"}`))));
}
