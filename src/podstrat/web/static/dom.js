// Elements from names, attributes and texts. Texts become text nodes, never markup: nothing of an input can be an element.

import { shown } from "/shown.js";

/** An element: el("li", { class: "finding" }, "text", other). An attribute that is false or null is left out. */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, shown(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false).map(node));
  return made;
}

const node = (child) => (child instanceof Node ? child : document.createTextNode(shown(child)));

/** Puts children in the place of whatever an element has. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat().filter(Boolean).map(node));
}

export const byId = (id) => document.getElementById(id);
