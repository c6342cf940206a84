// Elements are built from text and attributes only; nothing in the page is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const byId = (id) => document.getElementById(id);

/** A text in at most `most` characters, cut between code points. */
function shorten(text, most) {
  if (text.length <= most) return text;
  return Array.from(text.slice(0, most + 4)).slice(0, most - 1).join("") + "…";
}

const percent = (value, digits = 1) => (100 * value).toFixed(digits) + " %";
const whole = (value) => value.toLocaleString("en-US");

/** A horizontal bar that shows a share of 1. */
function track(share, colour) {
  const bar = el("div", { class: "fill" });
  bar.style.width = (100 * Math.min(1, Math.max(0, share))).toFixed(2) + "%";
  if (colour) bar.style.background = colour;
  return el("div", { class: "track" }, bar);
}

/** Buttons of which one is pressed. */
function switcher(label, names, pressed, choose) {
  const group = el("div", { class: "switch", role: "group", "aria-label": label });
  names.forEach((name, i) => {
    group.append(el("button", { type: "button", "aria-pressed": String(i === pressed), onclick: () => {
      [...group.children].forEach((other, j) => other.setAttribute("aria-pressed", String(i === j)));
      choose(i);
    } }, name));
  });
  return group;
}
