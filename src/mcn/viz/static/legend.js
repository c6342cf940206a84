// What the colours mean; a click shows one category only, further clicks add others.

class Legend {
  constructor(modes, changed) {
    Object.assign(this, { modes, changed, picked: new Set() });
    this.select = byId("mode");
    modes.forEach((mode, i) => this.select.append(el("option", { value: i }, mode.name)));
    this.select.addEventListener("change", () => this.use(Number(this.select.value)));
    byId("all").addEventListener("click", () => { this.picked.clear(); this.update(); byId("legend").querySelector("button").focus(); });
  }

  use(number) {
    this.mode = this.modes[number];
    this.select.value = String(number);
    this.picked.clear();
    this.list();
    this.update();
  }

  list() {
    const { mode } = this;
    const entries = mode.names.map((name, i) => [i, name, mode.counts[i]]);
    if (mode.counts[mode.names.length]) entries.push([-1, mode.rest || "none", mode.counts[mode.names.length]]);
    byId("legend").replaceChildren(...entries.map(([category, name, count]) => {
      const button = el("button", { type: "button", "aria-pressed": "false", title: shorten(name, 300) },
        swatch(mode.look(category)), el("span", { class: "name" }, shorten(name, 120)), el("span", { class: "count" }, whole(count)));
      button.dataset.category = category;
      button.addEventListener("click", () => {
        if (!this.picked.delete(category)) this.picked.add(category);
        this.update();
      });
      return el("li", {}, button);
    }));
  }

  update() {
    const { mode, picked } = this;
    for (const button of byId("legend").querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(picked.has(Number(button.dataset.category))));
    }
    byId("legend").classList.toggle("filtered", picked.size > 0);
    byId("all").hidden = picked.size === 0;
    this.changed(mode, (i) => picked.size === 0 || picked.has(mode.values[i] < 0 ? -1 : mode.values[i]));
  }
}
