"use strict";
// What follows runs in a world of its own: whatever the page did to its prototypes is not seen here.
// But names of elements hide what `document` and forms offer, so that is taken from the prototypes.
const getter = (of, name) => {
  const get = Object.getOwnPropertyDescriptor(of.prototype, name).get;
  return (it) => get.call(it);
};
const method = (of, name) => {
  const call = of.prototype[name];
  return (it, ...args) => call.apply(it, args);
};
/** Gives a method, or null where the browser is too old to have it. */
const newerMethod = (of, name) => (name in of.prototype ? method(of, name) : null);
const attribute = method(Element, "getAttribute");
const matches = method(Element, "matches");
const closest = method(Element, "closest");
// Since Chrome 105.
const checkVisibility = newerMethod(Element, "checkVisibility");
const rectOf = method(Element, "getBoundingClientRect");
const rectsOf = method(Element, "getClientRects");
const scrollIntoView = method(Element, "scrollIntoView");
const contains = method(Node, "contains");
const shadowOf = getter(Element, "shadowRoot");
const parentOf = getter(Node, "parentNode");
const rawTextOf = getter(Node, "textContent");
const childrenOf = getter(Node, "childNodes");
const innerTextOf = getter(HTMLElement, "innerText");
const bodyOf = getter(Document, "body");
const titleOf = getter(Document, "title");
const readyStateOf = getter(Document, "readyState");
const activeOf = getter(Document, "activeElement");

/** How many elements of a page are looked at. */
const MOST_ELEMENTS = 50000;

/** How much of one text is looked at. */
const MOST_TEXT = 20000;

const INTERACTIVE =
  "button, a[href], summary, label, input[type=submit], input[type=button], " +
  "input[type=reset], input[type=image], [role=button], [role=link], [role=tab], " +
  "[role=menuitem], [role=option], [role=checkbox], [role=radio], [role=switch], [onclick]";

const FIELDS =
  "input:not([type=hidden]), textarea, select, [contenteditable]:not([contenteditable=false])";

const queryAll = (root, selector) => {
  const of = root instanceof Document ? Document : DocumentFragment;
  return Array.from(of.prototype.querySelectorAll.call(root, selector));
};

/** Says whether a text is a CSS selector that this browser knows. */
const isSelector = (text) => {
  try {
    queryAll(new DocumentFragment(), text);
    return true;
  } catch (error) {
    if (error instanceof DOMException && error.name === "SyntaxError") return false;
    throw error;
  }
};

/** Gives the document and all open shadow trees in it. */
const roots = () => {
  const found = [document];
  let seen = 0;
  for (let at = 0; at < found.length; at++) {
    for (const element of queryAll(found[at], "*")) {
      if (++seen > MOST_ELEMENTS) return found;
      const shadow = shadowOf(element);
      if (shadow) found.push(shadow);
    }
  }
  return found;
};

const all = (selector) =>
  roots().flatMap((root) => queryAll(root, selector)).slice(0, MOST_ELEMENTS);

const tidy = (text, most = 80) => {
  const words = String(text ?? "").slice(0, MOST_TEXT).replace(/\s+/g, " ").trim();
  return words.length > most ? words.slice(0, most) + "…" : words;
};

const tagOf = (element) => getter(Element, "tagName")(element).toLowerCase();
const typeOf = (element) =>
  element instanceof HTMLInputElement ? getter(HTMLInputElement, "type")(element) : tagOf(element);

const FIELD_TYPES = [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement];

const valueOf = (element) => {
  for (const of of FIELD_TYPES) {
    if (element instanceof of) return getter(of, "value")(element);
  }
  return textOf(element);
};

/** Gives what can be read in an element. */
const textOf = (element) => {
  const raw = rawTextOf(element) ?? "";
  if (raw.length > MOST_TEXT || !(element instanceof HTMLElement)) return raw.slice(0, MOST_TEXT);
  return innerTextOf(element);
};

const isButtonInput = (element) =>
  element instanceof HTMLInputElement &&
  matches(element, "[type=submit], [type=button], [type=reset]");

/** Gives what people may call an element, what can be read first. */
const namesOf = (element) => {
  const words = isButtonInput(element) ? valueOf(element) : textOf(element);
  const told = ["aria-label", "title", "alt"].map((name) => attribute(element, name));
  return [words, ...told].map((text) => tidy(text)).filter((text) => text !== "");
};
const nameOf = (element) => namesOf(element)[0] ?? "";

const labelOf = (element) => {
  const of = FIELD_TYPES.find((it) => element instanceof it);
  const labels = of ? Array.from(getter(of, "labels")(element) ?? []) : [];
  const by = (attribute(element, "aria-labelledby") ?? "").split(/\s+/).filter((id) => id !== "");
  const named = by.flatMap((id) => queryAll(document, "#" + CSS.escape(id)));
  const words = [...labels, ...named].map((label) => tidy(textOf(label)));
  return words.find((text) => text !== "") ?? tidy(attribute(element, "aria-label"));
};

const isVisible = (element) => {
  if (checkVisibility && !checkVisibility(element, { visibilityProperty: true })) return false;
  if (getComputedStyle(element).visibility !== "visible") return false;
  return Array.from(rectsOf(element)).some((rect) => rect.width > 0 && rect.height > 0);
};

const isDisabled = (element) =>
  matches(element, ":disabled") || closest(element, "[aria-disabled=true]") !== null;

/** Names an element so that people and programs find it again. */
const selectorOf = (element) => {
  const id = attribute(element, "id");
  if (id) return "#" + CSS.escape(id.slice(0, 80));
  const name = attribute(element, "name");
  if (name) return `${tagOf(element)}[name="${CSS.escape(name.slice(0, 80))}"]`;
  const parts = [];
  for (let at = element; at instanceof Element && parts.length < 4; at = parentOf(at)) {
    const own = attribute(at, "id");
    if (own) {
      parts.unshift("#" + CSS.escape(own.slice(0, 80)));
      break;
    }
    const tag = tagOf(at);
    const around = parentOf(at) ? Array.from(childrenOf(parentOf(at))).slice(0, 5000) : [];
    const alike = around.filter((it) => it instanceof Element && tagOf(it) === tag);
    parts.unshift(alike.length > 1 ? `${tag}:nth-of-type(${alike.indexOf(at) + 1})` : tag);
  }
  return parts.join(" > ");
};

const describe = (element) => {
  const name = matches(element, FIELDS)
    ? tidy(attribute(element, "placeholder")) || labelOf(element)
    : nameOf(element);
  return "`" + selectorOf(element) + "`" + (name ? ` "${name}"` : "");
};
