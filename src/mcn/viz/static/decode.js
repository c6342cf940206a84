// The data in the page: JSON for names and counts, one compressed block for the arrays.

const KINDS = {
  float32: Float32Array, uint32: Uint32Array, int32: Int32Array, uint16: Uint16Array, uint8: Uint8Array,
};

async function readData() {
  const meta = JSON.parse(byId("meta").textContent);
  if (meta.not_drawn) return { meta };
  const text = atob(byId("arrays").textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  byId("arrays").textContent = "";
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const arrays = {};
  for (const [name, kind, offset, length] of meta.arrays) {
    arrays[name] = new KINDS[kind](buffer, offset, length);
  }
  return { meta, ...arrays, adjacency: adjacency(arrays.edges, meta.nodes) };
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
    degree: (i) => pointers[i + 1] - pointers[i],
    of: (i) => indices.subarray(pointers[i], pointers[i + 1]),
  };
}

const nodeName = (data, i) => (data.meta.ids ? data.meta.ids[i] : String(i));

/** What predicts, in a few words. */
function predictorName({ predictor, kind, motifs, steps }) {
  const names = Object.keys(predictor.shares);
  if (predictor.mode === "blend") return `a blend of ${names.join(", ")}`;
  if (kind === "candidates") return names[0];
  return `${names[0]} on the ${kind === "views" ? "views" : "motifs"} ${motifs.join(", ")}${steps > 1 ? `, up to ${steps} steps` : ""}`;
}

/** The share of a network in the predictions; 0 if it has none. */
const shareOf = ({ predictor }, name) => (Object.hasOwn(predictor.shares, name) ? predictor.shares[name] : 0);

/** What a node chose: a motif in a layer, or its candidate. */
const choiceName = ({ kind }, layer) => (kind === "candidates" ? "candidate" : `layer ${layer + 1}`);

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
