// The panel of a clicked node: prediction, choices, the neighbourhoods it could have had, and their weights.

class NodePanel {
  constructor(data, events) {
    Object.assign(this, { data, events, words: OPTION_WORDS[data.meta.kind] });
    this.root = byId("node");
    this.clear();
  }

  clear() {
    this.root.replaceChildren(el("p", { class: "note" },
      "Click a node, or find one by its id: how it was predicted appears here, its neighbours with their weights, and what would have been predicted otherwise."));
  }

  show(i, mode) {
    const { data } = this;
    const around = surroundings(data, i);
    this.around = around;
    this.root.replaceChildren(
      this.heading(i), this.chips(i),
      el("h3", {}, data.meta.target ? `Prediction: ${targetName(data.meta)}` : "Prediction"), data.meta.numeric ? numberOf(data, i) : this.probabilities(i),
      ...(data.meta.layers ? [el("h3", {}, this.words.chose), this.choices(i)] : []),
      el("h3", {}, this.words.options), this.cards(i, mode, around),
      this.table = el("div", {}));
    this.root.scrollTop = 0;
    this.neighbours(i, mode, this.first(i));
  }

  /** The option whose rows are shown at first: what the node chose, or what has the largest share. */
  first(i) {
    const { data } = this, { meta } = data;
    if (meta.layers) return chosen(data, meta.layers - 1, i);
    return Math.max(0, meta.motifs.indexOf(Object.keys(meta.predictor.shares)[0]));
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
    const known = data.truth[i] >= 0, wrong = !meta.numeric && data.truth[i] !== data.predicted[i];
    return el("div", { class: "chips" },
      chip(part), chip(counted(data.degree[i], "neighbour")),
      known ? chip(`true: ${trueWords(data, i)}`, "", swatch(classLook(meta, data.truth[i]))) : chip(`true ${targetName(meta)} not known`),
      known ? chip(verdict(data, i), wrong ? "wrong" : "") : null);
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
      el("span", {}, counted(data.degree[i], "neighbour")),
      data.degree[i] > around.inner.length ? el("span", {}, `${around.inner.length} of them drawn`) : null));
    for (let option = 0; option < optionCount(data); option++) {
      const at = option * meta.nodes + i;
      const predicted = data.alternative_class[at], differs = predicted !== data.predicted[i];
      const button = el("button", { type: "button", "aria-pressed": "false", "data-option": option,
        onclick: () => this.neighbours(i, mode, option) },
        drawOption(data, mode, i, around, option),
        el("b", {}, optionName(data, option)),
        el("span", {}, counted(others(around.rows[option], i), "neighbour")),
        el("span", { class: differs ? "differs" : "" }, `→ ${alternativeWords(data, at)}`),
        el("span", {}, this.part(i, option) || (differs ? this.words.differs : meta.numeric ? "same band" : "same prediction")));
      grid.append(button);
    }
    return el("div", {}, grid, this.rightUnder(i), el("p", { class: "note" }, `${this.words.meaning} The wider a line, the larger the weight; hollow dots are neighbours in the graph that are left out here.`));
  }

  /** The part that an option has in the prediction of a node, in words; empty if it has none. */
  part(i, option) {
    const { data } = this, { meta } = data, share = shareOf(meta, meta.motifs[option]);
    if (meta.kind === "candidates") return !share ? "" : share < 1 ? `● ${percent(share, 0)} of the blend` : "● predicts";
    const layers = Array.from({ length: meta.layers }, (_, layer) => layer).filter((layer) => chosen(data, layer, i) === option);
    return layers.length ? `● chosen, layer ${layers.map((layer) => layer + 1).join(", ")}` : "";
  }

  /** Which options are right, where the true class is known. */
  rightUnder(i) {
    const { data } = this;
    if (data.truth[i] < 0 || data.meta.numeric) return null;
    const names = [];
    for (let option = 0; option < optionCount(data); option++) {
      if (data.alternative_class[option * data.meta.nodes + i] === data.truth[i]) names.push(optionName(data, option));
    }
    const [every, some, none] = this.words.right;
    return el("p", { id: "right-under" }, names.length === optionCount(data) ? every : names.length ? `${some}: ${names.join("; ")}.` : none);
  }

  neighbours(i, mode, option) {
    const { data } = this, { meta } = data;
    for (const button of this.root.querySelectorAll("[data-option]")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.option) === option));
    }
    const { entries, total } = this.around.rows[option];
    const both = meta.shown_layers > 1;
    const word = ["views", "trees"].includes(meta.kind) ? "share" : meta.kind === "choices" && meta.self_attention ? "attention" : "coefficient";
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
      el("h3", {}, `Weights and ${word === "coefficient" ? "coefficients" : word}: ${optionName(data, option)}`),
      el("div", { class: "scroll" }, el("table", {},
        el("thead", {}, el("tr", {}, el("th", {}, "node"), el("th", {}, el("span", { class: "unseen" }, mode.name)),
          el("th", { class: "number" }, "weight"),
          both ? el("th", {}, `${word}, first layer`) : null, el("th", {}, both ? `${word}, last layer` : word))),
        el("tbody", {}, rows))),
      el("p", { class: "note" }, total > entries.length ? `and ${whole(total - entries.length)} more: this page holds at most ${meta.kept} per row, those that weigh most${isPart(meta) ? ", and only nodes that are drawn" : ""}. ` : "",
        this.words.weights || (meta.self_attention ? "Mean over the heads." : "This network has no self-attention: the coefficients are those of D^-½ Â D^-½.")));
  }
}

/** How the options are spoken of: choices of a node, candidates, motifs of a sum, views, or motifs of trees. */
const OPTION_WORDS = {
  choices: { chose: "Motif and steps that it chose", options: "Its neighbours under every choice", differs: "would change it",
    meaning: "→ the prediction if this node alone made this choice in the last layer.",
    right: ["Would have been right under every choice.", "Would have been right under", "Would have been wrong under every choice."] },
  candidates: { options: "What every candidate predicts", differs: "another prediction",
    meaning: "→ the prediction by this candidate alone; drawn are the neighbours whose values it uses.",
    weights: "What the candidate, in its first run, multiplies the values of a neighbour by.",
    right: ["Every candidate is right.", "Candidates that are right", "No candidate is right."] },
  sums: { options: "Its neighbours by every motif", differs: "another prediction",
    meaning: "→ the prediction if the last layer used this motif alone; the network sums over all of them.",
    weights: "What the layer multiplies the values of a neighbour by: D^-½ Ψ D'^-½, D the row sums and D' the column sums.",
    right: ["Every motif alone is right.", "Motifs that are right alone", "No motif alone is right."] },
  views: { options: "Its neighbours in every view", differs: "another prediction",
    meaning: "→ the prediction by this view alone; the network takes the mean of all of them.",
    weights: "The share of a neighbour's features in the mixture that the view uses.",
    right: ["Every view alone is right.", "Views that are right alone", "No view alone is right."] },
  trees: { options: "Neighbours whose values the trees use", differs: "another prediction",
    meaning: "→ the prediction if the values of the neighbours by all other motifs were missing.",
    weights: "The share of a neighbour in a mean; the node itself is drawn with them.",
    right: ["Right by every motif alone.", "Right by these motifs alone", "Wrong by every motif alone."] },
};

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
