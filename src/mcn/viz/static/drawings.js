// A node and its neighbours, small: the same neighbour has the same place in every drawing.

const INNER = 26, OUTER = 30; // most neighbours drawn on the two rings

/** Places for the one-hop neighbours (inner ring) and for those that only longer walks reach (outer ring). */
function surroundings(data, i) {
  const rows = Array.from({ length: optionCount(data) }, (_, option) => rowOf(data, option, i));
  const listed = new Map(rows.flatMap((row) => row.entries.map((entry) => [entry.node, entry])));
  const near = [...data.adjacency.of(i)];
  near.sort((a, b) => (listed.get(b)?.last ?? -1) - (listed.get(a)?.last ?? -1) || a - b);
  const inner = near.slice(0, INNER), known = new Set(near);
  const outer = [...listed.keys()].filter((j) => j !== i && !known.has(j)).slice(0, OUTER);
  // Neighbours of the same class side by side: the drawing becomes easier to read.
  const kind = (j) => data.predicted[j];
  inner.sort((a, b) => kind(a) - kind(b) || a - b);
  outer.sort((a, b) => kind(a) - kind(b) || a - b);
  const places = new Map([[i, [60, 60]]]);
  const spread = (nodes, radius, turn) => nodes.forEach((j, n) => {
    const angle = (2 * Math.PI * (n + turn)) / nodes.length - Math.PI / 2;
    places.set(j, [60 + radius * Math.cos(angle), 60 + radius * Math.sin(angle)]);
  });
  spread(inner, outer.length ? 33 : 44, 0);
  spread(outer, 52, .5);
  return { rows, places, inner, outer, near };
}

/** The graph's own edges around a node, those among its neighbours too. */
function drawOneHop(data, mode, i, around) {
  const { places, inner } = around;
  const lines = inner.map((j) => line(places.get(i), places.get(j), 1.2, .7));
  const within = new Set(inner);
  for (const a of inner) for (const b of data.adjacency.of(a)) {
    if (a < b && within.has(b)) lines.push(line(places.get(a), places.get(b), .8, .45));
  }
  return small(`graph neighbours of node ${shorten(nodeName(data, i), 60)}`, lines, [
    ...inner.map((j) => dot(data, mode, j, places.get(j), 4.2)), dot(data, mode, i, places.get(i), 7, true)]);
}

/** The neighbourhood of a motif and step: links as wide as the weights; who is not in it is only hinted at. */
function drawOption(data, mode, i, around, option) {
  const { places, rows, inner, near } = around;
  const entries = rows[option].entries;
  const most = Math.max(...entries.filter((entry) => entry.node !== i).map((entry) => entry.weight));
  const listed = new Map(entries.map((entry) => [entry.node, entry.weight]));
  const slots = data.adjacency.slots(i);
  const members = new Set([...data.adjacency.of(i)].filter((_, n) => data[`members_${option}`][slots[n]]));
  const lines = [], dots = [];
  for (const [node, place] of places) {
    if (node === i) continue;
    const close = near.includes(node);
    if (listed.has(node) || members.has(node)) { // one that is in the row but not in the page has no weight here
      lines.push(line(places.get(i), place, listed.has(node) ? .8 + 2.6 * Math.sqrt(listed.get(node) / most) : .6, .85, "var(--accent)"));
      dots.push(dot(data, mode, node, place, close ? 4.2 : 3.2));
    } else if (close) {
      dots.push(svg("circle", { cx: place[0], cy: place[1], r: 1.8, fill: "none", stroke: "var(--soft)", "stroke-width": .7, opacity: .7 }));
    }
  }
  return small(`neighbourhood by ${optionName(data, option)}`, lines, [...dots, dot(data, mode, i, places.get(i), 7, true)]);
}

const line = ([x1, y1], [x2, y2], width, opacity, colour = "var(--soft)") =>
  svg("line", { x1, y1, x2, y2, stroke: colour, "stroke-width": width, opacity });

const dot = (data, mode, j, [x, y], r, own) =>
  mark(mode.look(mode.values[j]), x, y, r, own ? { stroke: "var(--ink)", "stroke-width": 1.6 } : {});

const small = (label, lines, dots) =>
  svg("svg", { class: "around", viewBox: "0 0 120 120", role: "img", "aria-label": label }, lines, dots);
