// Looks whether an element can be clicked, and where.
const isPartOf = (hit, element) => {
  const above = (at) => (at instanceof ShadowRoot ? getter(ShadowRoot, "host")(at) : parentOf(at));
  for (let at = hit; at; at = above(at)) {
    if (at === element) return true;
    // Through a label its field is clicked.
    if (at instanceof HTMLLabelElement && getter(HTMLLabelElement, "control")(at) === element) return true;
  }
  return false;
};

/** Gives the middle of what is in sight of an element. */
const middle = (element) => {
  for (const rect of rectsOf(element)) {
    const [left, right] = [Math.max(rect.left, 0), Math.min(rect.right, innerWidth)];
    const [top, bottom] = [Math.max(rect.top, 0), Math.min(rect.bottom, innerHeight)];
    if (right - left >= 1 && bottom - top >= 1) return { x: (left + right) / 2, y: (top + bottom) / 2 };
  }
  return null;
};

/** Gives what is hit in the middle, also inside of shadow trees. */
const hitAt = (point) => {
  let hit = Document.prototype.elementFromPoint.call(document, point.x, point.y);
  for (let shadow = hit && shadowOf(hit); shadow; shadow = shadowOf(hit)) {
    const inner = ShadowRoot.prototype.elementFromPoint.call(shadow, point.x, point.y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
};

const found = find(args);
if (found.outcome) return found.outcome;
const { element, what, count } = found;
if (!isVisible(element)) return { state: "hidden", what };
if (isDisabled(element)) return { state: "disabled", what };
let point = middle(element);
let hit = point && hitAt(point);
if (!hit || !isPartOf(hit, element)) {
  scrollIntoView(element, { block: "center", inline: "center", behavior: "instant" });
  point = middle(element);
  hit = point && hitAt(point);
}
if (!point) return { state: "hidden", what };
if (!hit || !isPartOf(hit, element)) {
  // A click that an element lets through is one on what is around it.
  const isOpen = hit && isPartOf(element, hit) && getComputedStyle(element).pointerEvents === "none";
  if (!isOpen) return { state: "covered", what, by: hit ? describe(hit) : "something" };
}
return { state: "ready", what, count, x: point.x, y: point.y };
