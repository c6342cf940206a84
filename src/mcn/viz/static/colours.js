// Colours that people with the usual colour deficiencies tell apart (after Okabe and Ito), and a shape beside
// every colour, so that colour is never the only sign.

const LIGHT = ["#0072B2", "#E69F00", "#009E73", "#CC5F98", "#56B4E9", "#D55E00", "#C9B800", "#6B5B95"];
const DARK = ["#4FA3E0", "#F2B134", "#2CC295", "#E58BBD", "#8FD3FF", "#FF7F45", "#F0E442", "#B3A4E0"];
const GREY = { light: "#A9B0BA", dark: "#5C6675" };
const SHAPES = 8; // circle, square, triangle, diamond, triangle down, plus, hexagon, cross

const theme = () => document.documentElement.dataset.theme;

/** Colour and shape of category i; after eight the colours come again with other shapes. */
function look(i) {
  const colours = theme() === "dark" ? DARK : LIGHT;
  if (i < 0) return { colour: GREY[theme()], shape: 0 };
  return { colour: colours[i % colours.length], shape: (i + Math.floor(i / colours.length)) % SHAPES };
}

function rgb(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

const POLYGONS = [
  null,
  [[-.75, -.75], [.75, -.75], [.75, .75], [-.75, .75]],
  [[0, -.95], [.9, .7], [-.9, .7]],
  [[0, -1], [1, 0], [0, 1], [-1, 0]],
  [[0, .95], [.9, -.7], [-.9, -.7]],
  [[-.32, -.95], [.32, -.95], [.32, -.32], [.95, -.32], [.95, .32], [.32, .32], [.32, .95], [-.32, .95], [-.32, .32],
    [-.95, .32], [-.95, -.32], [-.32, -.32]],
  [[0, -.95], [.82, -.47], [.82, .47], [0, .95], [-.82, .47], [-.82, -.47]],
  [[0, -.4], [.5, -.9], [.9, -.5], [.4, 0], [.9, .5], [.5, .9], [0, .4], [-.5, .9], [-.9, .5], [-.4, 0], [-.9, -.5],
    [-.5, -.9]],
];

/** A node's mark as SVG. */
function mark(category, x, y, r, attributes) {
  const { colour, shape } = look(category);
  const all = { fill: colour, stroke: "var(--card)", "stroke-width": .8, ...attributes };
  if (shape === 0) return svg("circle", { cx: x, cy: y, r: r * .9, ...all });
  const points = POLYGONS[shape].map(([a, b]) => `${(x + a * r).toFixed(1)},${(y + b * r).toFixed(1)}`).join(" ");
  return svg("polygon", { points, ...all });
}

const swatch = (category) =>
  svg("svg", { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" }, mark(category, 8, 8, 6.5));

/** The ways to colour the graph: a category per node, their names, what each looks like. */
function colourModes(data) {
  const { meta, truth, predicted, split } = data;
  const count = meta.nodes, looks = meta.classes.map((_, c) => classLook(meta, c));
  const modes = [
    { key: "truth", name: `true ${targetName(meta)}`, values: truth, names: meta.classes, rest: "not known", looks },
    { key: "predicted", name: `predicted ${targetName(meta)}`, values: predicted, names: meta.classes, looks },
    { key: "correct", name: meta.numeric ? "band right or wrong" : "right or wrong", names: ["right", "wrong"], rest: "not known", looks: [0, 5],
      values: Int32Array.from({ length: count }, (_, i) => (truth[i] < 0 ? -1 : Number(truth[i] !== predicted[i]))) },
    { key: "split", name: "part of the split", names: ["training", "validation", "test"], rest: "none",
      values: Int32Array.from(split, (part) => part - 1) },
  ];
  for (let layer = 0; layer < meta.layers; layer++) {
    modes.push({ key: `motif_${layer}`, values: data[`motif_${layer}`], names: meta.motifs,
      name: `motif chosen in layer ${layer + 1}` });
    if (meta.steps > 1) {
      modes.push({ key: `step_${layer}`, name: `steps chosen in layer ${layer + 1}`,
        names: Array.from({ length: meta.steps }, (_, k) => `${k + 1} step${k ? "s" : ""}`),
        values: Int32Array.from(data[`step_${layer}`], (k) => k - 1) });
    }
  }
  for (const mode of modes) {
    mode.look = (i) => (i >= 0 && mode.looks ? mode.looks[i] : i);
    mode.counts = new Uint32Array(mode.names.length + 1);
    for (let i = 0; i < count; i++) mode.counts[mode.values[i] < 0 ? mode.names.length : mode.values[i]]++;
  }
  return modes;
}
