// Tells how the fields of forms stand, as the browser judges them.
const MOST = 100;
if (args.selector !== null && !isSelector(args.selector)) return { state: "bad_selector" };
const inside = (element) => args.selector === null || closest(element, args.selector) !== null;
const fields = all("input:not([type=hidden]), textarea, select").filter(inside);
const validity = (element) => {
  const of = FIELD_TYPES.find((it) => element instanceof it);
  const judged = getter(of, "willValidate")(element);
  const valid = getter(of, "validity")(element).valid;
  return { valid: !judged || valid, message: judged && !valid ? tidy(getter(of, "validationMessage")(element), 200) : "" };
};
const tell = (element) => ({
  selector: selectorOf(element),
  type: typeOf(element),
  label: labelOf(element) || tidy(attribute(element, "placeholder")),
  value: typeOf(element) === "password" ? null : tidy(valueOf(element), 200),
  filled: valueOf(element) !== "",
  checked: matches(element, ":checked"),
  required: matches(element, ":required"),
  disabled: isDisabled(element),
  ...validity(element),
});
const told = fields.slice(0, 1000).map(tell);
const bad = told.filter((field) => !field.valid);
return {
  state: "told",
  valid: bad.length === 0,
  invalid: bad.slice(0, MOST).map((field) => ({ selector: field.selector, label: field.label, message: field.message })),
  fields: told.slice(0, MOST),
  left_out: Math.max(fields.length - MOST, 0),
};
