// What a run reached: every metric, simpler things beside it, remarks, candidates.

const LESS_IS_BETTER = ["log-loss", "mae", "mse"], NOT_PERCENT = ["log-loss", "r2", "mae", "mse"];
const PARTS = [["train", "training"], ["val", "validation"], ["test", "test"]];
const SIMPLER = [["features", "features alone (a linear model)"], ["graph", "the graph alone (labels spread along edges)"]];

const isNone = (value) => value === null || value === undefined;

/** The value of a metric as it is shown. */
function figure(metric, value) {
  if (isNone(value)) return "–";
  if (metric === "mae" || metric === "mse") return Number(value.toPrecision(4)).toString(); // in the unit of the target
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

/** All metrics, that of the run first. */
function metricTable({ summary }) {
  const parts = PARTS.filter(([part]) => summary.scores[part]);
  const names = [...new Set(parts.flatMap(([part]) => Object.keys(summary.scores[part])))];
  names.sort((a, b) => Number(b === summary.metric) - Number(a === summary.metric));
  const rows = names.map((name) => ({
    picked: name === summary.metric,
    cells: [LESS_IS_BETTER.includes(name) ? `${name} (less is better)` : name, ...parts.map(([part]) => figure(name, summary.scores[part][name]))],
  }));
  return numberTable(["metric", ...parts.map(([, title]) => title)], rows);
}

function simplerTable(meta) {
  const { metric, alone } = meta.summary;
  const rows = [{ picked: true, cells: [predictorName(meta), shownScore("val", meta.summary)] },
    ...[["guess", `always ${meta.guess}`], ...SIMPLER].map(([key, text]) => ({ cells: [text, figure(metric, alone[key])] }))];
  return numberTable(["", `${metric}, validation`], rows);
}

/** The candidates, the best first, with the share that each has in the predictions. */
function candidateTable(meta) {
  const { summary, predictor } = meta, { metric } = summary, plain = NOT_PERCENT.includes(metric), less = LESS_IS_BETTER.includes(metric), shared = predictor.mode === "blend";
  const points = (value) => (plain ? figure(metric, value) : (100 * value).toFixed(1));
  const rows = summary.candidates.map((row, i) => ({
    picked: shareOf(meta, row.candidate) > 0,
    cells: [row.candidate, ...(shared ? [shareOf(meta, row.candidate) ? percent(shareOf(meta, row.candidate), 0) : ""] : []),
      figure(metric, less ? Math.abs(row.score) : row.score),
      i === 0 ? "" : points(row.behind) + (isNone(row.behind_error) ? "" : ` ± ${points(row.behind_error)}`),
      whole(row.runs), row.seconds_per_run.toFixed(1)],
  }));
  return numberTable(["candidate", ...(shared ? ["of the blend"] : []),
    `${metric}, held out`, plain ? "worse by" : "points worse", "runs", "s per run"], rows);
}

function remarkList({ summary }) {
  if (!summary.remarks.length) return "";
  return el("ul", { class: "remarks", "aria-label": "Remarks" }, summary.remarks.map((text) => el("li", {}, text)));
}

/** How much the loss rises when the values of a column are shuffled. */
function columnTable({ summary }) {
  const rows = summary.columns.map(({ column, loss, error }) => ({ cells: [column, `${loss.toFixed(4)} ± ${error.toFixed(4)}`] }));
  return numberTable(["column, shuffled among validation nodes", "loss rises by"], rows);
}

/** Title and table of all that the summary has. */
function scoreTables(meta) {
  const tables = [["Metrics", metricTable(meta)], ["Simpler things beside it", simplerTable(meta)]];
  const several = Object.fromEntries(Object.entries(meta.details).filter(([, part]) => part.targets));
  if (Object.keys(several).length) tables.push(["Every target", byPart(several, "Part of the nodes", targetTable)]);
  if (meta.summary.candidates) tables.push(["Candidates that were tried", candidateTable(meta)]);
  if (meta.summary.columns && meta.summary.columns.length) tables.push(["Columns that mattered", columnTable(meta)]);
  return tables;
}
