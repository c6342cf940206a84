// The graph on the screen: draws when something changed, follows pointer and keys, says what was picked.

class Stage {
  constructor(data, events) {
    Object.assign(this, { data, events, hover: -1, selected: -1, marked: -1, hits: [], wanted: false, detail: 1, last: 0 });
    this.canvas = byId("graph"); this.overlay = byId("overlay");
    this.camera = new Camera();
    this.camera.frame(data.places);
    this.grid = new Grid(data.places, this.camera.box);
    this.sizes = Float32Array.from({ length: data.meta.nodes }, (_, i) => .75 + .28 * Math.log2(1 + data.degree[i]));
    this.start();
    this.listen();
    new ResizeObserver(() => this.resize()).observe(byId("stage"));
    this.resize();
  }

  start() {
    this.drawing = WebGLDrawing.on(this.canvas) || new CanvasDrawing(this.canvas);
    this.drawing.setGraph(this.data.places, this.data.lines);
    if (this.mode) this.colour(this.mode, this.shown);
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = byId("stage");
    if (!width || !height) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    for (const canvas of [this.canvas, this.overlay]) {
      canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    }
    this.camera.resize(width, height);
    this.draw(); // at once: a resized canvas is empty
  }

  /** Colour by a mode; `shown` says which nodes pass the filter. */
  colour(mode, shown) {
    Object.assign(this, { mode, shown });
    const count = this.data.meta.nodes;
    const colours = new Uint8Array(4 * count), kinds = new Float32Array(2 * count);
    const looks = new Map();
    for (let i = 0; i < count; i++) {
      const category = mode.look(mode.values[i]);
      if (!looks.has(category)) looks.set(category, { ...look(category), rgb: rgb(look(category).colour) });
      const { rgb: tint, shape } = looks.get(category);
      colours.set(tint, 4 * i);
      colours[4 * i + 3] = shown(i) ? (category < 0 ? 150 : 235) : 14;
      kinds[2 * i] = shape; kinds[2 * i + 1] = this.sizes[i];
    }
    this.drawing.setLooks(colours, kinds);
    this.refresh();
  }

  /** Draw with the next frame: everything, or only what lies over the graph (rings, labels). */
  refresh(whole = true) {
    this.stale ||= whole;
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame((now) => {
      this.wanted = false;
      if (this.stale) this.draw(now);
      else this.drawOverlay();
      this.stale = false;
    });
  }

  /** The view moves: draw with as many edges as keep it smooth, and with all of them once it rests. */
  move() {
    Object.assign(this, { moved: performance.now(), idle: 0 });
    if (!this.moving) requestAnimationFrame(() => this.rest());
    this.moving = true;
    this.refresh();
  }

  /** Frames are counted, not time alone: where they are slow, the next movement may be on its way. */
  rest() {
    if (++this.idle < 3 || performance.now() - this.moved < 200) { requestAnimationFrame(() => this.rest()); return; }
    Object.assign(this, { moving: false, last: 0 });
    this.refresh();
  }

  /** The size of a node in pixels: grows slowly with the zoom, smaller for large graphs. */
  get size() {
    const base = Math.min(13, Math.max(2.4, 215 / Math.sqrt(this.data.meta.nodes + 60)));
    return base * Math.min(6, Math.pow(this.camera.zoom, .45));
  }

  draw(now = 0) {
    if (!this.mode) return;
    if (this.moving && this.last) this.detail = Math.min(1, Math.max(.04, this.detail * (now - this.last > 45 ? .6 : 1.25)));
    this.last = now;
    const crowd = this.data.lines.length / 2;
    const strength = Math.max(.05, 14 / Math.sqrt(crowd + 1)) * Math.pow(this.camera.zoom, .6);
    const most = crowd > 20000 ? .25 : .45;
    this.drawing.draw(this.camera, this.size, crowd > 3000 ? Math.min(most, strength) : .5, this.moving ? this.detail : 1);
    this.drawOverlay();
  }

  drawOverlay() {
    const context = this.overlay.getContext("2d");
    const { camera, data, selected } = this;
    const ratio = this.overlay.width / camera.width;
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink"), accent = style.getPropertyValue("--accent"), card = style.getPropertyValue("--card");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    const at = (i) => camera.toScreen(data.places[2 * i], data.places[2 * i + 1]);
    const ring = (i, colour, width, extra) => {
      context.beginPath();
      context.arc(...at(i), (this.size * this.sizes[i]) / 2 + extra, 0, 2 * Math.PI);
      context.strokeStyle = colour; context.lineWidth = width; context.stroke();
    };
    if (selected >= 0) {
      context.beginPath();
      for (const j of data.adjacency.of(selected)) this.spoke(context, at(selected), at(j), selected, j);
      context.strokeStyle = ink; context.globalAlpha = .55; context.lineWidth = 1.4; context.stroke();
      context.globalAlpha = 1;
      for (const j of data.adjacency.of(selected)) { this.mark(context, j, at(j)); ring(j, ink, 1.2, 1.5); }
      this.mark(context, selected, at(selected));
      ring(selected, card, 6, 4); ring(selected, accent, 3, 4);
    }
    for (const i of this.hits) ring(i, accent, 2, 3);
    if (this.marked >= 0) ring(this.marked, accent, 3, 5);
    if (this.hover >= 0) ring(this.hover, ink, 2, 2.5);
    for (const [i, bold] of [[this.marked, false], [selected, true]]) if (i >= 0) this.label(context, i, at(i), ink, card, bold);
  }

  /** A node drawn over the dimmed graph. */
  mark(context, i, [x, y]) {
    if (!this.shown(i)) return;
    const { colour, shape } = look(this.mode.look(this.mode.values[i]));
    tracePoint(context, shape, x, y, (this.size * this.sizes[i]) / 2);
    context.fillStyle = colour;
    context.fill();
  }

  /** A line between two nodes that ends where their marks begin. */
  spoke(context, [x1, y1], [x2, y2], i, j) {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const from = (this.size * this.sizes[i]) / 2 / length, to = 1 - (this.size * this.sizes[j]) / 2 / length;
    if (from >= to) return;
    context.moveTo(x1 + (x2 - x1) * from, y1 + (y2 - y1) * from);
    context.lineTo(x1 + (x2 - x1) * to, y1 + (y2 - y1) * to);
  }

  label(context, i, [x, y], ink, card, bold) {
    context.font = `${bold ? "650 " : ""}13px system-ui, sans-serif`;
    context.lineWidth = 4; context.lineJoin = "round"; context.strokeStyle = card; context.fillStyle = ink;
    const text = shorten(nodeName(this.data, i), 40);
    const place = [x + (this.size * this.sizes[i]) / 2 + 8, y + 4];
    context.strokeText(text, ...place);
    context.fillText(text, ...place);
  }

  /** Bring a node into the middle, near enough to see its neighbours. */
  show(i) {
    const { camera, data } = this;
    const x = data.places[2 * i], y = data.places[2 * i + 1];
    let reach = .02 * (camera.box[2] - camera.box[0]);
    const near = [...data.adjacency.of(i)].map((j) => Math.hypot(data.places[2 * j] - x, data.places[2 * j + 1] - y)).sort((a, b) => a - b);
    if (near.length) reach = Math.max(reach, near[Math.floor(near.length * .7)] * 1.3);
    const scale = Math.min(camera.whole * 60, Math.max(camera.whole, (.42 * Math.min(camera.width, camera.height)) / reach));
    this.glide({ x, y, scale });
  }

  glide(target) {
    cancelAnimationFrame(this.gliding);
    const { camera } = this, from = { x: camera.x, y: camera.y, scale: camera.scale };
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) { Object.assign(camera, target); this.refresh(); return; }
    const began = performance.now();
    const step = (now) => {
      const t = Math.min(1, Math.max(0, (now - began) / 320)), ease = t * t * (3 - 2 * t);
      camera.scale = from.scale * Math.pow(target.scale / from.scale, ease);
      camera.x = from.x + (target.x - from.x) * ease; camera.y = from.y + (target.y - from.y) * ease;
      if (t === 1) Object.assign(camera, target);
      else this.gliding = requestAnimationFrame(step);
      this.move();
    };
    this.gliding = requestAnimationFrame(step);
  }

  fit() {
    const { box, whole } = this.camera;
    this.glide({ x: (box[0] + box[2]) / 2, y: (box[1] + box[3]) / 2, scale: whole });
  }

  zoomBy(factor, x = this.camera.width / 2, y = this.camera.height / 2) {
    cancelAnimationFrame(this.gliding);
    this.camera.zoomAt(factor, x, y);
    this.move();
  }

  pick(x, y) {
    const [gx, gy] = this.camera.toGraph(x, y);
    return this.grid.nearest(gx, gy, (this.size / 2 + 7) / this.camera.scale, this.shown);
  }

  select(i) {
    Object.assign(this, { selected: i, marked: -1 });
    this.canvas.classList.toggle("dimmed", i >= 0);
    this.refresh(false);
  }

  listen() {
    const { canvas } = this;
    let last = null, moved = 0;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      cancelAnimationFrame(this.gliding);
      last = [event.offsetX, event.offsetY]; moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      const { offsetX: x, offsetY: y } = event;
      if (last) {
        moved += Math.abs(x - last[0]) + Math.abs(y - last[1]);
        if (moved > 4) {
          canvas.classList.add("dragging");
          this.camera.pan(x - last[0], y - last[1]);
          this.point(-1);
          this.move();
        }
        last = [x, y];
      } else this.point(this.pick(x, y), x, y);
    });
    const release = (event) => {
      canvas.classList.remove("dragging");
      if (last && moved <= 4 && event.type === "pointerup") this.events.pick(this.pick(event.offsetX, event.offsetY));
      last = null;
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => this.point(-1));
    canvas.addEventListener("wheel", (event) => {
      // Within a report the wheel scrolls the page until the graph has the focus.
      if (document.body.classList.contains("report") && document.activeElement !== canvas) return;
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? .05 : .0016)), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("dblclick", (event) => this.zoomBy(2, event.offsetX, event.offsetY));
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => this.start());
  }

  point(i, x, y) {
    if (i >= 0) this.events.hover(i, x, y);
    else if (this.hover >= 0) this.events.hover(-1);
    if (i === this.hover) return;
    this.hover = i;
    this.canvas.classList.toggle("over", i >= 0);
    this.refresh(false);
  }
}
