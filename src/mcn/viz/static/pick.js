// Which node is under the pointer: a grid over the graph.

class Grid {
  constructor(places, box) {
    this.places = places; this.box = box;
    const count = places.length / 2;
    this.side = Math.max(1, Math.ceil(Math.sqrt(count / 2)));
    this.cellX = (box[2] - box[0]) / this.side || 1;
    this.cellY = (box[3] - box[1]) / this.side || 1;
    this.starts = new Uint32Array(this.side * this.side + 1);
    const cells = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      cells[i] = this.row(places[2 * i + 1]) * this.side + this.column(places[2 * i]);
      this.starts[cells[i] + 1]++;
    }
    for (let c = 0; c < this.side * this.side; c++) this.starts[c + 1] += this.starts[c];
    const next = this.starts.slice();
    this.nodes = new Uint32Array(count);
    for (let i = 0; i < count; i++) this.nodes[next[cells[i]]++] = i;
  }

  clamp(v) { return Math.min(this.side - 1, Math.max(0, Math.floor(v))); }
  column(x) { return this.clamp((x - this.box[0]) / this.cellX); }
  row(y) { return this.clamp((y - this.box[1]) / this.cellY); }

  /** The nearest node within a radius for which `shown` is true, or -1. */
  nearest(x, y, radius, shown) {
    let best = -1, least = radius * radius;
    for (let r = this.row(y - radius); r <= this.row(y + radius); r++) {
      for (let c = this.column(x - radius); c <= this.column(x + radius); c++) {
        for (let s = this.starts[r * this.side + c]; s < this.starts[r * this.side + c + 1]; s++) {
          const i = this.nodes[s];
          const dx = this.places[2 * i] - x, dy = this.places[2 * i + 1] - y;
          if (dx * dx + dy * dy <= least && shown(i)) { best = i; least = dx * dx + dy * dy; }
        }
      }
    }
    return best;
  }
}
