// Everything put together.

function setTheme(name) {
  document.documentElement.dataset.theme = name;
}

/** What the tooltip says of a node. */
function tipOf(data, i) {
  const { meta } = data;
  const lines = [
    data.truth[i] < 0 ? null : `true: ${trueWords(data, i)}`,
    `predicted: ${predictedWords(data, i)}`,
    `${["not in the split", "training", "validation", "test"][data.split[i]]}, ${counted(data.degree[i], "neighbour")}`,
  ];
  for (let layer = 0; layer < meta.layers; layer++) if (meta.chooses[layer]) lines.push(`layer ${layer + 1} chose ${optionName(data, chosen(data, layer, i))}`);
  return [el("strong", {}, shorten(nodeName(data, i), 80)), ...lines.filter(Boolean).map((text) => el("span", {}, text))];
}

class App {
  constructor(data) {
    this.data = data;
    const { meta } = data;
    byId("headline").textContent = [`${whole(meta.whole.nodes)} nodes, ${whole(meta.whole.edges)} edges`, meta.target ? `target ${targetName(meta)}` : null, predictorName(meta),
      isNone(scoreOn("test", meta.summary)) ? null : `${meta.summary.metric} on test nodes ${shownScore("test", meta.summary)}`].filter(Boolean).join(" · ");
    this.report = document.body.classList.contains("report");
    this.buttons();
    this.charts();
    byId("drawn").textContent = drawnWords(data);
    this.graph(data);
  }

  graph(data) {
    this.panel = new NodePanel(data, { go: (i) => this.select(i, true) });
    this.stage = new Stage(data, { pick: (i) => this.select(i, false), hover: (i, x, y) => this.tip(i, x, y) });
    this.search = new Search(data, {
      choose: (i) => this.select(i, true), mark: (i) => this.mark(i), found: (hits) => { this.stage.hits = hits; this.stage.refresh(false); } });
    this.modes = colourModes(data);
    this.legend = new Legend(this.modes, (mode, shown) => {
      this.stage.colour(mode, shown);
      if (this.stage.selected >= 0) this.panel.show(this.stage.selected, mode);
    });
    this.legend.use(data.truth.some((label) => label >= 0) ? 0 : 1);
    this.tabs();
    if (this.report) this.open(1); // the charts of the run stand above already
    document.addEventListener("keydown", (event) => this.key(event));
  }

  charts() {
    if (this.report) { showReport(this.data, byId("report")); showRepeat(this.data, byId("repeat")); }
    showRun(this.data, byId("run"));
  }

  buttons() {
    byId("theme").addEventListener("click", () => {
      setTheme(theme() === "dark" ? "light" : "dark");
      this.legend?.list();
      this.legend?.update();
      this.charts();
    });
    for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => this.zoom(button.dataset.zoom));
  }

  zoom(how) {
    if (how === "fit") this.stage.fit();
    else this.stage.zoomBy(how === "in" ? 1.5 : 1 / 1.5);
  }

  tabs() {
    const tabs = [byId("tab-run"), byId("tab-node")];
    tabs.forEach((tab, n) => {
      tab.addEventListener("click", () => this.open(n));
      tab.addEventListener("keydown", (event) => {
        if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
        this.open(1 - n);
        tabs[1 - n].focus();
      });
    });
  }

  open(n) {
    [byId("tab-run"), byId("tab-node")].forEach((tab, t) => {
      tab.setAttribute("aria-selected", String(t === n));
      tab.tabIndex = t === n ? 0 : -1;
    });
    byId("run").hidden = n !== 0;
    byId("node").hidden = n !== 1;
  }

  select(i, move) {
    this.stage.select(i);
    if (i < 0) { this.panel.clear(); byId("said").textContent = "no node selected"; return; }
    this.panel.show(i, this.legend.mode);
    this.open(1);
    if (move) this.stage.show(i);
    const { data } = this;
    byId("said").textContent = `node ${shorten(nodeName(data, i), 60)}, predicted ${predictedWords(data, i)}, ${counted(data.degree[i], "neighbour")}`;
  }

  mark(i) {
    this.stage.marked = i;
    byId("said").textContent = `node ${shorten(nodeName(this.data, i), 60)}`;
    this.stage.refresh(false);
  }

  tip(i, x, y) {
    const tip = byId("tip");
    tip.hidden = i < 0;
    if (i < 0) return;
    if (tip.dataset.node !== String(i)) { tip.replaceChildren(...tipOf(this.data, i)); tip.dataset.node = i; }
    const { width, height } = this.stage.camera;
    tip.style.left = `${Math.max(4, Math.min(x + 14, width - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > height ? Math.max(4, y - tip.offsetHeight - 12) : y + 18}px`;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement.tagName);
    if (event.key === "/" && !typing) { event.preventDefault(); byId("search").focus(); byId("search").select(); return; }
    if (event.key === "Escape") {
      if (typing) byId("graph").focus({ preventScroll: true });
      else this.select(-1);
      return;
    }
    if (document.activeElement === byId("graph") && this.graphKey(event.key)) event.preventDefault();
  }

  graphKey(key) {
    const { stage, data } = this;
    if (key === "+" || key === "=") this.zoom("in");
    else if (key === "-") this.zoom("out");
    else if (key === "0") this.zoom("fit");
    else if (key === "Enter" && stage.marked >= 0) this.select(stage.marked, true);
    else if (key.startsWith("Arrow")) {
      const step = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
      const around = stage.selected >= 0 ? data.adjacency.of(stage.selected) : stage.hits;
      if (!around.length) { if (stage.selected < 0 && data.meta.nodes) this.select(0, true); return true; }
      const at = around.indexOf(stage.marked);
      this.mark(around[at < 0 ? (step > 0 ? 0 : around.length - 1) : (at + step + around.length) % around.length]);
    } else return false;
    return true;
  }
}

async function main() {
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  try {
    const app = new App(await readData());
    requestAnimationFrame(() => requestAnimationFrame(() => { document.documentElement.dataset.ready = app.stage.drawing.kind; }));
  } catch (error) {
    byId("problem").textContent = `The page could not be drawn (${error.message}); it needs a browser of 2023 or later.`;
    byId("problem").hidden = false;
    throw error;
  }
}

main();
