// What a run reached: every metric, simpler things beside it, remarks, candidates.

const LESS_IS_BETTER = ["log-loss", "mae", "mse"], NOT_PERCENT = ["log-loss", "r2", "mae", "mse"];
const PARTS = [["train", "training"], ["val", "validation"], ["test", "test"]];
const SIMPLER = [["features", "a linear model on the features, without the graph"], ["graph", "known labels spread along the edges, without features"]];

const isNone = (value) => value === null || value === undefined;

/** The value of a metric as it is shown. */
function figure(metric, value) {
  if (isNone(value)) return "–";
  if (["mae", "mse", "rmse"].includes(metric)) return readable(value, 4); // in the unit of the target, mse in its square
  return NOT_PERCENT.includes(metric) ? value.toFixed(3) : percent(value);
}

/** The run's own metric on a part of the nodes. */
const scoreOn = (part, summary) => summary.scores[part] && summary.scores[part][summary.metric];
const shownScore = (part, summary) => figure(summary.metric, scoreOn(part, summary));

/** A table; the first column names the rows, all others are numbers. */
function numberTable(head, rows) {
  const line = (tag, cells) => cells.map((cell, i) => el(i ? tag : "th", { class: i ? "number" : null, scope: tag === "th" ? "col" : i ? null : "row" }, cell));
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, line("th", head))),
    el("tbody", {}, rows.map(({ cells, picked }) => el("tr", { class: picked ? "picked" : null }, line("td", cells))))));
}

/** What a metric is, in a few words, with its unit. */
function metricWords(meta, name) {
  const unit = `in the unit of ${targetName(meta, "the target")}`;
  if (name === "rmse") return `square root of mse, ${unit} (less is better)`;
  const words = Object.hasOwn(meta.metric_words, name) ? meta.metric_words[name].replace(/^of [^:]*: /, "") : "";
  return name === "mae" ? words.replace("(less", `, ${unit} (less`).replace(" ,", ",") : name === "mse" ? words.replace("(less", "in the square of that unit (less") : words;
}

/** All metrics, that of the run first; beside a squared error its root. */
function metricTable(meta) {
  const { summary } = meta, parts = PARTS.filter(([part]) => summary.scores[part]);
  const names = [...new Set(parts.flatMap(([part]) => Object.keys(summary.scores[part])))];
  names.sort((a, b) => Number(b === summary.metric) - Number(a === summary.metric));
  if (names.includes("mse")) names.splice(names.indexOf("mse"), 0, "rmse");
  const value = (name, scores) => (name === "rmse" ? (isNone(scores.mse) ? null : Math.sqrt(scores.mse)) : scores[name]);
  const rows = names.map((name) => ({
    picked: name === summary.metric,
    cells: [[name, el("span", { class: "meaning" }, metricWords(meta, name))], ...parts.map(([part]) => figure(name, value(name, summary.scores[part])))],
  }));
  return numberTable(["metric", ...parts.map(([, title]) => `${title} nodes`)], rows);
}

function simplerTable(meta) {
  const { metric, alone } = meta.summary;
  const rows = [{ picked: true, cells: [predictorName(meta), shownScore("val", meta.summary)] },
    ...[["guess", `always ${meta.guess}`], ...SIMPLER].map(([key, text]) => ({ cells: [text, figure(metric, alone[key])] }))];
  return numberTable(["what predicts", `${metric} on validation nodes`], rows);
}

/** The candidates, the best first, with the part that each has in the blend. */
function candidateTable(meta) {
  const { summary, predictor } = meta, { metric } = summary, plain = NOT_PERCENT.includes(metric), less = LESS_IS_BETTER.includes(metric), blend = predictor.mode === "blend";
  const points = (value) => (plain ? figure(metric, value) : (100 * value).toFixed(1));
  const rows = summary.candidates.map((row, i) => ({
    picked: shareOf(meta, row.candidate) > 0,
    cells: [row.candidate, ...(blend ? [shareOf(meta, row.candidate) ? percent(shareOf(meta, row.candidate), 0) : ""] : []),
      figure(metric, less ? Math.abs(row.score) : row.score),
      i === 0 ? "the best" : points(row.behind) + (isNone(row.behind_error) ? "" : ` ± ${points(row.behind_error)}`),
      whole(row.runs), row.seconds_per_run.toFixed(1)],
  }));
  const worse = `${less ? "more" : "less"} than the best${plain ? "" : ", in points"}`;
  return el("div", {}, numberTable(["candidate", ...(blend ? ["part of the blend"] : []), `${metric} on held-out nodes`, worse, "times trained", "seconds each"], rows),
    el("p", { class: "note" }, `Held-out nodes are labelled nodes that a candidate did not learn from; the mean over its trainings. ${plain ? "" : "A point is 1 %. "}± is the standard error of the difference, where both were trained more than once. In bold: what predicts.`));
}

function remarkList({ summary }) {
  if (!summary.remarks.length) return "";
  return el("ul", { class: "remarks", "aria-label": "Remarks" }, summary.remarks.map((text) => el("li", {}, text)));
}

/** The trees whose columns are listed: a candidate with its part in the predictions, or the whole model. */
function treesMeasured(meta) {
  const { summary, predictor } = meta;
  const run = (summary.candidate_runs || []).find((each) => shareOf(meta, each.candidate) && each.columns);
  if (!run) return Object.keys(predictor.shares)[0];
  const share = shareOf(meta, run.candidate);
  return share < 1 ? `${run.candidate}, ${percent(share, 0)} of the blend` : run.candidate;
}

/** How much the loss rises when the values of a column are shuffled. */
function columnTable(meta) {
  const { columns } = meta.summary, rows = columns.map(({ column, loss, error }) => ({ cells: [column, `${loss.toFixed(4)} ± ${error.toFixed(4)}`] }));
  return el("div", {}, numberTable(["column", "loss rises by"], rows),
    el("p", { class: "note" }, `Measured on ${treesMeasured(meta)}${meta.predictor.mode === "blend" ? " alone; the other parts of the blend are not measured" : ""}: how much its mean loss on validation nodes rises when the values of one column are exchanged among these nodes at random, ± standard error over repetitions. 0 would be a column that does not matter. Columns that say the same share what they are worth.`));
}

/** Title and table of all that the summary has. */
function scoreTables(meta) {
  const tables = [["Metrics", metricTable(meta)], ["Compared with simpler methods", simplerTable(meta)]];
  const several = Object.fromEntries(Object.entries(meta.details).filter(([, part]) => part.targets));
  if (Object.keys(several).length) tables.push(["Every target", byPart(several, "Part of the nodes", targetTable)]);
  if (meta.summary.candidates) tables.push(["Candidates that were trained", candidateTable(meta)]);
  if (meta.summary.columns && meta.summary.columns.length) tables.push([`Columns that mattered to ${treesMeasured(meta)}`, columnTable(meta)]);
  return tables;
}
