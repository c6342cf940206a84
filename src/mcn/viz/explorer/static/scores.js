// What a run reached: every metric, simpler things beside it, remarks, candidates. Runs of 0.1.0 have none of it.

const LESS_IS_BETTER = ["log-loss"];
const PARTS = [["train", "training"], ["val", "validation"], ["test", "test"]];
const SIMPLER = [["guess", "always the largest class"], ["features", "features alone (logistic regression)"], ["graph", "the graph alone (labels spread along edges)"]];

const isNone = (value) => value === null || value === undefined;

/** The value of a metric as it is shown. */
function figure(metric, value) {
  if (isNone(value)) return "–";
  return LESS_IS_BETTER.includes(metric) ? value.toFixed(3) : percent(value);
}

/** A table; the first column names the rows, all others are numbers. */
function numberTable(head, rows) {
  const line = (tag, cells) => cells.map((cell, i) => el(i ? tag : "th", { class: i ? "number" : null, scope: tag === "th" ? "col" : i ? null : "row" }, cell));
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, line("th", head))),
    el("tbody", {}, rows.map(({ cells, picked }) => el("tr", { class: picked ? "picked" : null }, line("td", cells))))));
}

function metricTable(summary) {
  const parts = PARTS.filter(([part]) => summary.scores[part]);
  const names = [...new Set(parts.flatMap(([part]) => Object.keys(summary.scores[part])))];
  const rows = names.map((name) => ({
    picked: name === summary.metric,
    cells: [LESS_IS_BETTER.includes(name) ? `${name} (less is better)` : name, ...parts.map(([part]) => figure(name, summary.scores[part][name]))],
  }));
  return numberTable(["metric", ...parts.map(([, title]) => title)], rows);
}

function simplerTable(summary) {
  const metric = summary.metric || "accuracy";
  const own = summary.scores && summary.scores.val ? summary.scores.val[metric] : null;
  const rows = [["this network", own], ...SIMPLER.map(([key, text]) => [text, summary.alone[key]])];
  return numberTable(["", `${metric}, validation`], rows.map(([text, value], i) => ({ picked: i === 0, cells: [text, figure(metric, value)] })));
}

function candidateTable(summary) {
  const metric = summary.metric || "accuracy", less = LESS_IS_BETTER.includes(metric);
  const points = (value) => (less ? value.toFixed(3) : (100 * value).toFixed(1));
  const rows = summary.candidates.map((row, i) => ({
    picked: i === 0,
    cells: [row.candidate, figure(metric, less ? Math.abs(row.score) : row.score),
      i === 0 ? "" : points(row.behind) + (isNone(row.behind_error) ? "" : ` ± ${points(row.behind_error)}`),
      whole(row.runs), row.seconds_per_run.toFixed(1)],
  }));
  return numberTable(["candidate", `${metric}, validation`, less ? "behind" : "points behind", "runs", "s per run"], rows);
}

function remarkList(summary) {
  if (!summary.remarks || !summary.remarks.length) return "";
  return el("ul", { class: "remarks", "aria-label": "Remarks" }, summary.remarks.map((text) => el("li", {}, text)));
}

/** Title and table of all that the summary has. */
function scoreTables(summary) {
  const found = [];
  if (summary.scores) found.push(["Metrics", metricTable(summary)]);
  if (summary.alone) found.push(["Simpler things beside it", simplerTable(summary)]);
  if (summary.candidates && summary.candidates.length) found.push(["Candidates that were tried", candidateTable(summary)]);
  return found;
}

function scoreBoxes(summary) {
  const found = scoreTables(summary);
  if (!found.length) return "";
  return el("div", { class: "grid", id: "scores" }, found.map(([title, table]) => el("section", { class: "box" }, el("h3", {}, title), table)));
}
