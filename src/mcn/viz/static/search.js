// Finding nodes by their id: exact first, then those that begin with the text, then those that hold it.

const MOST_HITS = 50;

class Search {
  constructor(data, events) {
    Object.assign(this, { data, events, hits: [], at: -1 });
    this.input = byId("search"); this.list = byId("hits");
    this.input.addEventListener("input", () => this.find());
    this.input.addEventListener("keydown", (event) => this.key(event));
  }

  find() {
    const text = this.input.value.trim().toLowerCase();
    const groups = [[], [], []];
    let count = 0;
    if (text) {
      this.lower ||= Array.from({ length: this.data.meta.nodes }, (_, i) => nodeName(this.data, i).toLowerCase());
      this.lower.forEach((name, i) => {
        const place = name.indexOf(text);
        if (place < 0) return;
        count++;
        const group = groups[name === text ? 0 : place === 0 ? 1 : 2];
        if (group.length < MOST_HITS) group.push(i);
      });
    }
    this.hits = groups.flat().slice(0, MOST_HITS);
    byId("found").textContent = !text ? "" : count === 0 ? (isPart(this.data.meta) ? `none of the ${whole(this.data.meta.nodes)} nodes drawn has this in its id` : "no node has this in its id") :
      `${whole(count)} found${count > this.hits.length ? `, the first ${this.hits.length} listed` : ""}`;
    this.list.replaceChildren(...this.hits.map((node, n) =>
      el("li", { role: "option", id: `hit-${n}`, "aria-selected": "false", onclick: () => this.events.choose(node) },
        shorten(nodeName(this.data, node), 60))));
    this.input.setAttribute("aria-expanded", String(this.hits.length > 0));
    this.move(-1);
    this.events.found(this.hits);
  }

  move(to) {
    this.list.children[this.at]?.setAttribute("aria-selected", "false");
    this.at = to;
    const item = this.list.children[to];
    item?.setAttribute("aria-selected", "true");
    item?.scrollIntoView({ block: "nearest" });
    if (item) this.input.setAttribute("aria-activedescendant", item.id);
    else this.input.removeAttribute("aria-activedescendant");
    if (item) this.events.mark(this.hits[to]);
  }

  key(event) {
    const { length } = this.hits;
    if (event.key === "ArrowDown" && length) this.move((this.at + 1) % length);
    else if (event.key === "ArrowUp" && length) this.move((this.at - 1 + length) % length);
    else if (event.key === "Enter" && length) this.events.choose(this.hits[Math.max(0, this.at)]);
    else if (event.key === "Escape") { this.input.value = ""; this.find(); return; }
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
