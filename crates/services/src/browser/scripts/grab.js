// Makes a field ready to be typed into, with all of its text selected; or sets what nobody types.
const fire = (name) => element.dispatchEvent(new Event(name, { bubbles: true, composed: true }));
HTMLElement.prototype.focus.call(element);
if (["date", "time", "datetime-local", "month", "week", "color", "range"].includes(type)) {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(element, args.value);
  fire("input");
  fire("change");
  return { state: "set", what, count };
}
if (isText) {
  (element instanceof HTMLInputElement ? HTMLInputElement : HTMLTextAreaElement).prototype.select.call(element);
} else {
  const range = new Range();
  range.selectNodeContents(element);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}
let active = activeOf(document);
while (active && shadowOf(active)) active = getter(ShadowRoot, "activeElement")(shadowOf(active)) ?? null;
if (active !== element && !(active && contains(element, active))) return unfit("cannot be typed into");
return { state: "grabbed", what, count, empty: valueOf(element) === "" };
