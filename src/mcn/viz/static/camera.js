// Where one looks: the middle of the view in the graph's units, and pixels per unit.

class Camera {
  constructor() {
    this.x = 0; this.y = 0; this.scale = 1; this.width = 1; this.height = 1; this.whole = 1;
  }

  resize(width, height) {
    const fitted = this.scale === this.whole;
    this.width = width; this.height = height;
    this.whole = Math.min(width / (this.box[2] - this.box[0]), height / (this.box[3] - this.box[1])) * .94;
    if (fitted) this.fit();
  }

  fit() {
    this.scale = this.whole;
    this.x = (this.box[0] + this.box[2]) / 2;
    this.y = (this.box[1] + this.box[3]) / 2;
  }

  /** The extent of the graph, with a margin for graphs of one point. */
  frame(places) {
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < places.length; i += 2) {
      box[0] = Math.min(box[0], places[i]); box[2] = Math.max(box[2], places[i]);
      box[1] = Math.min(box[1], places[i + 1]); box[3] = Math.max(box[3], places[i + 1]);
    }
    const least = .05;
    for (const at of [0, 1]) {
      const room = Math.max(0, least - (box[at + 2] - box[at])) / 2;
      box[at] -= room; box[at + 2] += room;
    }
    this.box = places.length ? box : [-1, -1, 1, 1];
    this.scale = this.whole;
  }

  get zoom() { return this.scale / this.whole; }
  toScreen(x, y) { return [(x - this.x) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2]; }
  toGraph(x, y) { return [(x - this.width / 2) / this.scale + this.x, (y - this.height / 2) / this.scale + this.y]; }

  pan(dx, dy) { this.x -= dx / this.scale; this.y -= dy / this.scale; }

  /** Zoom so that the point under the pointer stays there. */
  zoomAt(factor, x, y) {
    const [gx, gy] = this.toGraph(x, y);
    this.scale = Math.min(Math.max(this.scale * factor, this.whole * .5), this.whole * 400);
    this.x = gx - (x - this.width / 2) / this.scale;
    this.y = gy - (y - this.height / 2) / this.scale;
  }
}
