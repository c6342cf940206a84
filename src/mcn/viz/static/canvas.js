// Drawing without WebGL: slower, the same picture.

const MOST_LINES = 20000; // per frame; beyond it every n-th edge is drawn

class CanvasDrawing {
  constructor(canvas) {
    this.context = canvas.getContext("2d"); this.kind = "canvas";
  }

  setGraph(places, edges) { this.places = places; this.edges = edges; }
  setLooks(colours, kinds) { this.colours = colours; this.kinds = kinds; }

  draw(camera, size, strength, detail) {
    const { context, places, edges, colours } = this;
    const ratio = context.canvas.width / camera.width;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    const every = 2 * Math.max(1, Math.ceil(edges.length / 2 / (MOST_LINES * detail)));
    context.lineWidth = 1;
    context.strokeStyle = `rgb(128 128 128 / ${Math.min(1, strength * 1.2).toFixed(3)})`;
    context.beginPath();
    for (let e = 0; e < edges.length; e += every) {
      if (Math.min(colours[4 * edges[e] + 3], colours[4 * edges[e + 1] + 3]) < 128) continue;
      context.moveTo(...camera.toScreen(places[2 * edges[e]], places[2 * edges[e] + 1]));
      context.lineTo(...camera.toScreen(places[2 * edges[e + 1]], places[2 * edges[e + 1] + 1]));
    }
    context.stroke();
    for (let i = 0; i < places.length / 2; i++) this.point(camera, i, size);
  }

  point(camera, i, size) {
    const { context, colours } = this;
    const [x, y] = camera.toScreen(this.places[2 * i], this.places[2 * i + 1]);
    const r = (size * this.kinds[2 * i + 1]) / 2;
    if (x < -r || y < -r || x > camera.width + r || y > camera.height + r) return;
    context.fillStyle = `rgb(${colours[4 * i]} ${colours[4 * i + 1]} ${colours[4 * i + 2]} / ${colours[4 * i + 3] / 255})`;
    tracePoint(context, this.kinds[2 * i], x, y, r);
    context.fill();
  }
}

/** The outline of a node's mark. */
function tracePoint(context, shape, x, y, r) {
  const corners = POLYGONS[shape];
  context.beginPath();
  if (corners) corners.forEach(([a, b], n) => (n ? context.lineTo(x + a * r, y + b * r) : context.moveTo(x + a * r, y + b * r)));
  else context.arc(x, y, r * .9, 0, 2 * Math.PI);
}
