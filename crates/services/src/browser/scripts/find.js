// Finds elements, the best first.
const same = (a, b) => tidy(a, MOST_TEXT).toLowerCase() === tidy(b, MOST_TEXT).toLowerCase();
const has = (a, b) => tidy(a, MOST_TEXT).toLowerCase().includes(tidy(b, MOST_TEXT).toLowerCase());

/** Sorts what fits: the very words before words that contain them. */
const fitting = (elements, textOf, wanted) => {
  const exact = elements.filter((element) => same(textOf(element), wanted));
  return exact.length > 0 ? exact : elements.filter((element) => has(textOf(element), wanted));
};

/** Finds what holds a text, even if it is spread over a few elements. */
const holding = (wanted, test) => {
  const found = [];
  let seen = 0;
  for (const root of roots()) {
    const walker = Document.prototype.createTreeWalker.call(document, root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node && seen < MOST_ELEMENTS; node = walker.nextNode(), seen++) {
      const part = tidy(rawTextOf(node), MOST_TEXT);
      if (part === "") continue;
      let element = parentOf(node);
      for (let up = 0; up < 3 && element instanceof Element; up++, element = parentOf(element)) {
        const isLong = rawTextOf(element).length > 2 * wanted.length + 200;
        if (up > 0 && isLong) break;
        if (matches(element, "script, style, template, noscript")) break;
        if (test(up === 0 && isLong ? part : textOf(element), wanted)) {
          found.push(closest(element, INTERACTIVE) ?? element);
          break;
        }
      }
    }
  }
  return [...new Set(found)];
};

const byText = (wanted) => {
  const interactive = all(INTERACTIVE);
  const exact = interactive.filter((element) => namesOf(element).some((name) => same(name, wanted)));
  // A label stands for its field, and a button that says the same is more likely meant.
  if (exact.length > 0) return exact.sort((a, b) => matches(a, "label") - matches(b, "label"));
  const inside = holding(wanted, same);
  if (inside.length > 0) return inside;
  const parts = interactive.filter((element) => namesOf(element).some((name) => has(name, wanted)));
  return parts.length > 0 ? parts : holding(wanted, has);
};

const finders = {
  selector: (wanted) => roots().flatMap((root) => queryAll(root, wanted)),
  text: byText,
  placeholder: (wanted) => fitting(all(FIELDS), (it) => attribute(it, "placeholder"), wanted),
  label: (wanted) => fitting(all(FIELDS), labelOf, wanted),
};

/** Names what is there instead. */
const shown = (selector) => all(selector).filter(isVisible).slice(0, 200);
const candidates = {
  selector: () => shown(`${INTERACTIVE}, ${FIELDS}, [id]`).map((it) => [selectorOf(it), describe(it)]),
  text: () => shown(INTERACTIVE).map((it) => [nameOf(it), `"${nameOf(it)}"`]),
  placeholder: () =>
    shown(FIELDS).map((it) => [tidy(attribute(it, "placeholder")) || labelOf(it), describe(it)]),
  label: () => shown(FIELDS).map((it) => [labelOf(it), describe(it)]),
};

const find = ({ by, wanted }) => {
  if (by === "selector" && !isSelector(wanted)) return { outcome: { state: "bad_selector" } };
  const found = finders[by](wanted);
  if (found.length === 0) {
    const there = candidates[by]().filter(([name]) => name !== "");
    return { outcome: { state: "missing", there } };
  }
  const seen = found.filter(isVisible);
  const element = seen[0] ?? found[0];
  return { element, what: describe(element), count: Math.max(seen.length, 1) };
};
