// The data in the page: JSON for names and counts, one compressed block for the arrays.

const KINDS = {
  float32: Float32Array, uint32: Uint32Array, int32: Int32Array, uint16: Uint16Array, uint8: Uint8Array,
};

async function readData() {
  const meta = JSON.parse(byId("meta").textContent);
  const text = atob(byId("arrays").textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  byId("arrays").textContent = "";
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const arrays = {};
  for (const [name, kind, offset, length] of meta.arrays) {
    arrays[name] = gathered(new Uint8Array(buffer, offset, length * KINDS[kind].BYTES_PER_ELEMENT), KINDS[kind], length);
  }
  const { edges, drawn } = arrays;
  for (let e = 2; e < edges.length; e++) edges[e] += edges[e - 2]; // stored are differences
  const lines = drawn.every(Boolean) ? edges : edges.filter((_, e) => drawn[e >> 1]);
  return { meta, ...arrays, lines, adjacency: adjacency(edges, meta.nodes) };
}

/** Numbers whose first bytes stand first, then all second bytes, and so on. */
function gathered(bytes, kind, length) {
  const size = kind.BYTES_PER_ELEMENT, whole = new Uint8Array(bytes.length);
  for (let b = 0, from = 0; b < size; b++) for (let i = 0; i < length; i++) whole[i * size + b] = bytes[from++];
  return new kind(whole.buffer);
}

/** Neighbours of every node: those of i are at indices[pointers[i]] … */
function adjacency(edges, count) {
  const pointers = new Uint32Array(count + 1);
  for (let e = 0; e < edges.length; e++) pointers[edges[e] + 1]++;
  for (let i = 0; i < count; i++) pointers[i + 1] += pointers[i];
  const next = pointers.slice(0, count);
  const indices = new Uint32Array(edges.length), slots = new Uint32Array(edges.length);
  for (let e = 0; e < edges.length; e += 2) {
    slots[next[edges[e]]] = e;
    indices[next[edges[e]]++] = edges[e + 1];
    slots[next[edges[e + 1]]] = e + 1;
    indices[next[edges[e + 1]]++] = edges[e];
  }
  return {
    slots: (i) => slots.subarray(pointers[i], pointers[i + 1]), // places in `members_…`
    of: (i) => indices.subarray(pointers[i], pointers[i + 1]),
  };
}

const nodeName = (data, i) => data.meta.ids[i];
/** Whether nodes of the graph are not in the page. */
const isPart = ({ nodes, whole }) => nodes < whole.nodes;

/** What of the graph is drawn, in numbers, what is left out, and how to see it. */
function drawnWords(data) {
  const { meta } = data, { nodes, edges, whole: all } = meta, lines = data.lines.length / 2;
  const some = isPart(meta);
  const who = !some ? `all ${counted(nodes, "node")}` : `${whole(nodes)} of ${counted(all.nodes, "node")}: ` +
    `${meta.named ? "those that you named" : "a few chosen at random, the same ones every time"}, their neighbours, and nodes near those, first the ones whose own neighbours are drawn`;
  const thinned = lines < edges;
  const links = thinned ? `${whole(lines)} of the ${counted(edges, "edge")} between them, those whose ends share the most neighbours, of equal ones some at random` :
    some ? `all ${counted(edges, "edge")} between them` : `${counted(edges, "edge")}`;
  return [`Drawn: ${who}; ${links}.`,
    some ? `Not in this page: ${whole(all.nodes - nodes)} nodes; the search does not find them. predictions.csv in the run's folder has the predictions for all of them, and “mcn view RUN --around ID” draws what is near a node that you name. Scores, tables and charts count all nodes.` : "",
    thinned ? "A selected node shows all its edges to the nodes drawn." : ""].filter(Boolean).join(" ");
}

/** What predicts, in a few words. */
function predictorName({ predictor, kind, motifs, steps }) {
  const names = Object.keys(predictor.shares);
  if (predictor.mode === "blend") return `a blend of ${names.join(", ")}`;
  if (kind === "candidates") return names[0];
  return `${names[0]} on the ${kind === "views" ? "views" : "motifs"} ${motifs.join(", ")}${steps > 1 ? `, up to ${steps} steps` : ""}`;
}

/** The share of a network in the predictions; 0 if it has none. */
const shareOf = ({ predictor }, name) => (Object.hasOwn(predictor.shares, name) ? predictor.shares[name] : 0);

/** The entries of a node's row under a motif and step: node, weight, coefficients of the two layers. */
function rowOf(data, option, i) {
  const from = data[`pointers_${option}`][i], to = data[`pointers_${option}`][i + 1];
  const entries = [];
  for (let e = from; e < to; e++) {
    entries.push({
      node: data[`neighbours_${option}`][e],
      weight: data[`weights_${option}`][e],
      first: coefficient(data, "first", option, e),
      last: coefficient(data, "last", option, e),
    });
  }
  return { entries, total: data[`total_${option}`][i] };
}

function coefficient(data, place, option, e) {
  const values = data[`${place}_${option}`];
  return values ? (values[e] / 65535) * data[`${place}_scale_${option}`][0] : null;
}

const optionName = (data, option) => {
  const { motifs, steps } = data.meta;
  const k = (option % steps) + 1;
  return steps === 1 ? motifs[Math.floor(option / steps)] : `${motifs[Math.floor(option / steps)]}, ${k} step${k > 1 ? "s" : ""}`;
};

const optionCount = (data) => data.meta.motifs.length * data.meta.steps;

/** The motif and step that a node chose in a layer, as one number. */
const chosen = (data, layer, i) => data[`motif_${layer}`][i] * data.meta.steps + data[`step_${layer}`][i] - 1;
