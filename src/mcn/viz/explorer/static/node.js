// The panel of a clicked node: prediction, choices, the neighbourhoods it could have had, and their weights.

class NodePanel {
  constructor(data, events) {
    Object.assign(this, { data, events });
    this.root = byId("node");
    this.clear();
  }

  clear() {
    this.root.replaceChildren(el("p", { class: "note" },
      "Click a node, or find one by its id: its neighbourhoods, their weights and what else it could have been appear here."));
  }

  show(i, mode) {
    const { data } = this;
    const around = surroundings(data, i);
    this.around = around;
    this.root.replaceChildren(
      this.heading(i), this.chips(i),
      el("h3", {}, "Prediction"), this.probabilities(i),
      ...(data.meta.layers ? [el("h3", {}, "What it chose"), this.choices(i)] : []),
      el("h3", {}, data.meta.layers ? "Its neighbourhood under every choice" : "What it hears in every view"), this.cards(i, mode, around),
      this.table = el("div", {}));
    this.root.scrollTop = 0;
    this.neighbours(i, mode, data.meta.layers ? chosen(data, data.meta.layers - 1, i) : 0);
  }

  heading(i) {
    const name = nodeName(this.data, i), most = 80;
    const title = el("h2", { class: "id" }, shorten(name, most) || "(an empty id)");
    if (name.length <= most) return title;
    const button = el("button", { type: "button", class: "link", onclick: () => { title.textContent = name; button.remove(); } },
      `show all ${whole(name.length)} characters`);
    return el("div", {}, title, button);
  }

  chips(i) {
    const { data } = this, { meta } = data;
    const part = ["not in the split", "training", "validation", "test"][data.split[i]];
    const chip = (text, extra, picture) => el("span", { class: `chip ${extra || ""}` }, picture, el("span", { class: "name" }, text));
    const right = data.truth[i] < 0 ? null : data.truth[i] === data.predicted[i];
    return el("div", { class: "chips" },
      chip(part), chip(`degree ${whole(data.adjacency.degree(i))}`),
      data.truth[i] < 0 ? chip("true class not known") : chip(`true: ${shorten(meta.classes[data.truth[i]], 60)}`, "", swatch(data.truth[i])),
      right === null ? null : chip(right ? "predicted right ✓" : "predicted wrong ✗", right ? "" : "wrong"));
  }

  probabilities(i) {
    const { data } = this, { classes } = data.meta;
    const values = Array.from(classes, (_, c) => [c, data.probabilities[i * classes.length + c] / 65535]);
    values.sort((a, b) => b[1] - a[1]);
    const listed = values.slice(0, 5);
    if (data.truth[i] >= 0 && !listed.some(([c]) => c === data.truth[i])) listed.push(values.find(([c]) => c === data.truth[i]));
    return bars(listed.map(([c, value]) => ({
      name: classes[c] + (c === data.truth[i] ? " (true)" : ""), value, colour: look(c).colour, bold: c === data.predicted[i] })));
  }

  choices(i) {
    const { data } = this, { meta } = data;
    const blocks = [];
    for (let layer = 0; layer < meta.layers; layer++) {
      const content = [el("h4", {}, `Layer ${layer + 1}`)];
      if (meta.chooses[layer]) {
        if (meta.motifs.length > 1) content.push(this.selector(`f_${layer}`, i, meta.motifs, data[`motif_${layer}`][i]));
        if (meta.steps > 1) {
          const steps = Array.from({ length: meta.steps }, (_, k) => `${k + 1} step${k ? "s" : ""}`);
          content.push(this.selector(`g_${layer}`, i, steps, data[`step_${layer}`][i] - 1));
        }
      } else content.push(el("p", { class: "note" }, `no choice: ${optionName(data, chosen(data, layer, i))}`));
      blocks.push(el("div", {}, content));
    }
    return el("div", { class: "layers" }, blocks);
  }

  selector(array, i, names, picked) {
    return bars(names.map((name, n) => ({
      name: (n === picked ? "● " : "") + name, value: this.data[array][i * names.length + n] / 65535, bold: n === picked,
      colour: n === picked ? "" : "var(--soft)" })));
  }

  cards(i, mode, around) {
    const { data } = this, { meta } = data;
    const grid = el("div", { class: "cards" }, el("div", {}, drawOneHop(data, mode, i, around), el("b", {}, "the graph itself"),
      el("span", {}, counted(around.near.length, "neighbour")),
      around.near.length > around.inner.length ? el("span", {}, `${around.inner.length} of them drawn`) : null));
    for (let option = 0; option < optionCount(data); option++) {
      const layers = [];
      for (let layer = 0; layer < meta.layers; layer++) if (chosen(data, layer, i) === option) layers.push(layer + 1);
      const at = option * meta.nodes + i;
      const predicted = data.alternative_class[at], differs = predicted !== data.predicted[i];
      const button = el("button", { type: "button", "aria-pressed": "false", "data-option": option,
        onclick: () => this.neighbours(i, mode, option) },
        drawOption(data, mode, i, around, option),
        el("b", {}, optionName(data, option)),
        el("span", {}, counted(others(around.rows[option], i), "neighbour")),
        el("span", { class: differs ? "differs" : "" },
          `→ ${shorten(meta.classes[predicted], 40)} ${percent(data.alternative_probability[at] / 65535, 0)}`),
        el("span", {}, layers.length ? `● chosen, layer ${layers.join(", ")}` : differs ? "would change it" : "same prediction"));
      grid.append(button);
    }
    const meaning = meta.kind === "candidates" ? "→ the prediction by the network that has this neighbourhood for all nodes." :
      meta.layers ? "→ the prediction if this node alone made this choice in the last layer." :
      "→ the prediction by this view alone; the network averages what is heard in all of them.";
    return el("div", {}, grid, this.rightUnder(i), el("p", { class: "note" }, `${meaning} Lines are as wide as the weights; hollow dots are graph neighbours left out.`));
  }

  /** Which choices would have been right, where the true class is known. */
  rightUnder(i) {
    const { data } = this;
    if (data.truth[i] < 0) return null;
    const names = [];
    for (let option = 0; option < optionCount(data); option++) {
      if (data.alternative_class[option * data.meta.nodes + i] === data.truth[i]) names.push(optionName(data, option));
    }
    const all = names.length === optionCount(data);
    return el("p", { id: "right-under" }, all ? "Would have been right under every choice." :
      names.length ? `Would have been right under: ${names.join("; ")}.` : "Would have been wrong under every choice.");
  }

  neighbours(i, mode, option) {
    const { data } = this, { meta } = data;
    for (const button of this.root.querySelectorAll("[data-option]")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.option) === option));
    }
    const { entries, total } = this.around.rows[option];
    const both = meta.layers > 1;
    const word = meta.kind === "views" ? "share" : meta.self_attention ? "attention" : "coefficient";
    const most = (place) => Math.max(1e-9, ...entries.map((entry) => entry[place]));
    const scale = { first: both ? most("first") : 1, last: most("last") };
    const bar = (value, place) => el("td", { class: "meter" },
      el("div", {}, track(value / scale[place]), el("span", { class: "count number" }, percent(value))));
    const rows = entries.map((entry) => el("tr", {},
      el("td", { class: "nodecell" }, entry.node === i ? "itself" :
        el("button", { type: "button", class: "link", onclick: () => this.events.go(entry.node) }, shorten(nodeName(data, entry.node), 24))),
      el("td", { title: shorten(mode.names[mode.values[entry.node]] || mode.rest || "", 300) }, swatch(mode.look(mode.values[entry.node]))),
      el("td", { class: "number" }, compact(entry.weight)),
      both ? bar(entry.first, "first") : null, bar(entry.last, "last")));
    this.table.replaceChildren(
      el("h3", {}, `Weights and ${word}: ${optionName(data, option)}`),
      el("div", { class: "scroll" }, el("table", {},
        el("thead", {}, el("tr", {}, el("th", {}, "node"), el("th", {}, el("span", { class: "unseen" }, mode.name)),
          el("th", { class: "number" }, "weight"),
          both ? el("th", {}, `${word}, layer 1`) : null, el("th", {}, meta.layers ? `${word}, layer ${meta.layers}` : word))),
        el("tbody", {}, rows))),
      el("p", { class: "note" }, total > entries.length ? `and ${whole(total - entries.length)} more: at most ${meta.kept} per row are kept in this page, those that weigh most. ` : "",
        meta.kind === "views" ? "The share of a node's features in what is heard." : meta.self_attention ? "Mean over the heads." :
          "This network has no self-attention: the coefficients are those of D^-½ Â D^-½."));
  }
}

const counted = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : "s"}`;
/** How many are in a row beside the node itself, which comes first if it is there. */
const others = (row, i) => row.total - Number(row.entries.length > 0 && row.entries[0].node === i);
const compact = (value) => (Number.isInteger(value) && value < 1e6 ? whole(value) : Number(value.toPrecision(3)).toString());

/** Rows of name, bar, percentage. */
function bars(rows) {
  return el("div", { class: "bars" }, rows.flatMap(({ name, value, colour, bold }) => [
    el("span", { class: `name ${bold ? "picked" : ""}`, title: shorten(name, 300) }, shorten(name, 120)),
    track(value, colour), el("span", { class: `number ${bold ? "picked" : ""}` }, percent(value))]));
}
