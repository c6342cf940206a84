// Drawing with WebGL: lines and points, two short shaders.

const POINT_VERTEX = `
attribute vec2 place; attribute vec4 colour; attribute vec2 kind;
uniform vec2 middle; uniform vec2 scale; uniform float size;
varying vec4 tint; varying float shape; varying float extent;
void main() {
  gl_Position = vec4((place - middle) * scale, 0.0, 1.0);
  extent = size * kind.y + 2.0;
  gl_PointSize = extent; tint = colour; shape = kind.x;
}`;

const POINT_FRAGMENT = `
precision mediump float;
varying vec4 tint; varying float shape; varying float extent;
float plus(vec2 p) {
  vec2 q = abs(p);
  return min(max(q.x - 0.32, q.y - 0.95), max(q.x - 0.95, q.y - 0.32));
}
float distanceTo(vec2 p) {
  vec2 q = abs(p);
  if (shape < 0.5) return length(p) - 0.9;
  if (shape < 1.5) return max(q.x, q.y) - 0.75;
  if (shape < 2.5) return max(p.y - 0.7, q.x * 0.878 - p.y * 0.479 - 0.455);
  if (shape < 3.5) return (q.x + q.y - 1.0) * 0.707;
  if (shape < 4.5) return max(-p.y - 0.7, q.x * 0.878 + p.y * 0.479 - 0.455);
  if (shape < 5.5) return plus(p);
  if (shape < 6.5) return max(q.x - 0.82, q.x * 0.5 + q.y * 0.866 - 0.82);
  return plus(vec2(p.x + p.y, p.x - p.y) * 0.707);
}
void main() {
  float pixel = 2.0 / extent;
  float d = distanceTo((gl_PointCoord * 2.0 - 1.0) * (1.0 + pixel));
  float inside = 1.0 - smoothstep(-pixel * 0.5, pixel * 0.5, d);
  if (inside <= 0.01) discard;
  float rim = smoothstep(-2.2 * pixel, -1.0 * pixel, d) * step(7.0, extent);
  float alpha = tint.a * inside;
  gl_FragColor = vec4(tint.rgb * (1.0 - 0.35 * rim) * alpha, alpha);
}`;

const LINE_VERTEX = `
attribute vec2 place; attribute vec4 colour;
uniform vec2 middle; uniform vec2 scale; uniform float strength;
varying vec4 tint;
void main() {
  gl_Position = vec4((place - middle) * scale, 0.0, 1.0);
  float alpha = colour.a * strength;
  tint = vec4(colour.rgb * alpha, alpha);
}`;

const LINE_FRAGMENT = `
precision mediump float;
varying vec4 tint;
void main() { gl_FragColor = tint; }`;

/** Whether WebGL is done by the processor. */
function isEmulated() {
  const gl = document.createElement("canvas").getContext("webgl");
  const names = gl?.getExtension("WEBGL_debug_renderer_info");
  const emulated = names ? /swiftshader|llvmpipe|software|basic render/i.test(gl.getParameter(names.UNMASKED_RENDERER_WEBGL)) : false;
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return emulated;
}

class WebGLDrawing {
  /** Null where there is no WebGL. */
  static on(canvas) {
    // Smooth lines cost a graphics card nothing, and a processor that stands in for one most of its time.
    const gl = canvas.getContext("webgl", { antialias: !isEmulated() });
    return gl ? new WebGLDrawing(gl) : null;
  }

  constructor(gl) {
    this.gl = gl; this.kind = "webgl";
    this.points = this.program(POINT_VERTEX, POINT_FRAGMENT, ["place", "colour", "kind"], ["middle", "scale", "size"]);
    this.lines = this.program(LINE_VERTEX, LINE_FRAGMENT, ["place", "colour"], ["middle", "scale", "strength"]);
    this.buffers = {};
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  program(vertex, fragment, attributes, uniforms) {
    const { gl } = this;
    const made = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    const found = { made, attributes: {}, uniforms: {} };
    for (const name of attributes) found.attributes[name] = gl.getAttribLocation(made, name);
    for (const name of uniforms) found.uniforms[name] = gl.getUniformLocation(made, name);
    return found;
  }

  load(name, array) {
    const { gl } = this;
    this.buffers[name] ||= gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, array, gl.STATIC_DRAW);
  }

  setGraph(places, given) {
    const edges = shuffled(given);
    this.edges = edges; this.count = places.length / 2;
    const ends = new Float32Array(edges.length * 2);
    for (let e = 0; e < edges.length; e++) {
      ends[2 * e] = places[2 * edges[e]]; ends[2 * e + 1] = places[2 * edges[e] + 1];
    }
    this.load("places", places);
    this.load("ends", ends);
  }

  /** colours: four bytes per node. kinds: shape and relative size per node. */
  setLooks(colours, kinds) {
    const { edges } = this;
    const words = new Uint32Array(colours.buffer), ends = new Uint32Array(edges.length);
    for (let e = 0; e < edges.length; e += 2) {
      const a = edges[e], b = edges[e + 1];
      // An edge with one end that is filtered out is as faint as that end.
      const alpha = Math.min(colours[4 * a + 3], colours[4 * b + 3]) << 24 >>> 0;
      ends[e] = ((words[a] & 0xffffff) | alpha) >>> 0;
      ends[e + 1] = ((words[b] & 0xffffff) | alpha) >>> 0;
    }
    this.load("colours", colours);
    this.load("kinds", kinds);
    this.load("endColours", ends);
  }

  attribute(program, name, buffer, size, type, normalised) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[buffer]);
    gl.enableVertexAttribArray(program.attributes[name]);
    gl.vertexAttribPointer(program.attributes[name], size, type, normalised, 0, 0);
  }

  use(program, camera) {
    const { gl } = this;
    gl.useProgram(program.made);
    gl.uniform2f(program.uniforms.middle, camera.x, camera.y);
    gl.uniform2f(program.uniforms.scale, (2 * camera.scale) / camera.width, (-2 * camera.scale) / camera.height);
  }

  /** detail: the share of the edges to draw. */
  draw(camera, size, strength, detail) {
    const { gl } = this;
    const ratio = gl.canvas.width / camera.width;
    gl.viewport(0, 0, gl.canvas.width, gl.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    for (let slot = 0; slot < 3; slot++) gl.disableVertexAttribArray(slot);
    this.use(this.lines, camera);
    gl.uniform1f(this.lines.uniforms.strength, strength);
    this.attribute(this.lines, "place", "ends", 2, gl.FLOAT, false);
    this.attribute(this.lines, "colour", "endColours", 4, gl.UNSIGNED_BYTE, true);
    gl.drawArrays(gl.LINES, 0, 2 * Math.ceil((detail * this.edges.length) / 2));
    this.use(this.points, camera);
    gl.uniform1f(this.points.uniforms.size, size * ratio);
    this.attribute(this.points, "place", "places", 2, gl.FLOAT, false);
    this.attribute(this.points, "colour", "colours", 4, gl.UNSIGNED_BYTE, true);
    this.attribute(this.points, "kind", "kinds", 2, gl.FLOAT, false);
    gl.drawArrays(gl.POINTS, 0, this.count);
  }
}

/** The edges in an order in which the first few are a fair sample of all; the same every time. */
function shuffled(edges) {
  const mixed = edges.slice();
  let state = 1;
  for (let e = mixed.length / 2 - 1; e > 0; e--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = state % (e + 1);
    for (const side of [0, 1]) {
      const kept = mixed[2 * e + side];
      mixed[2 * e + side] = mixed[2 * other + side];
      mixed[2 * other + side] = kept;
    }
  }
  return mixed;
}
