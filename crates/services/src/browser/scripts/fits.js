// Looks whether an element can be filled.
const found = find(args);
if (found.outcome) return found.outcome;
const { element, what, count } = found;
const type = typeOf(element);
const unfit = (why) => ({ state: "unfit", what, why });
const isText = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
if (element instanceof HTMLSelectElement) return unfit("is a list: use `select_option`");
if (["checkbox", "radio", "submit", "button", "reset", "image"].includes(type)) {
  return unfit("is clicked, not filled");
}
if (type === "file") return unfit("expects a file, which is not supported");
if (!isText && !getter(HTMLElement, "isContentEditable")(element)) return unfit("is not a field");
if (isText && matches(element, ":read-only") && !isDisabled(element)) return unfit("is read-only");
if (isDisabled(element)) return { state: "disabled", what };
