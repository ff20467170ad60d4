// Gives an overview of what can be seen.
const MOST = 60;
const list = (selector, tell) => {
  const seen = all(selector).filter(isVisible);
  return { items: seen.slice(0, MOST).map(tell), left_out: Math.max(seen.length - MOST, 0) };
};
const field = (element) => ({
  selector: selectorOf(element),
  type: typeOf(element),
  label: labelOf(element),
  placeholder: tidy(attribute(element, "placeholder")),
  value: typeOf(element) === "password" ? "" : tidy(valueOf(element)),
  checked: matches(element, ":checked"),
  required: matches(element, ":required"),
  disabled: isDisabled(element),
});
return {
  url: location.href.slice(0, 500),
  title: tidy(titleOf(document), 200),
  headings: list("h1, h2, h3, h4, h5, h6, [role=heading]", (it) => ({ level: tagOf(it), text: nameOf(it) })),
  buttons: list("button, summary, input[type=submit], input[type=button], input[type=reset], [role=button], [role=tab], [role=menuitem]", (it) => ({
    text: nameOf(it), selector: selectorOf(it), disabled: isDisabled(it),
  })),
  links: list("a[href]", (it) => ({ text: nameOf(it), href: tidy(attribute(it, "href"), 200), selector: selectorOf(it) })),
  fields: list(FIELDS, field),
  lists: list("select", (it) => ({
    selector: selectorOf(it),
    label: labelOf(it),
    options: Array.from(getter(HTMLSelectElement, "options")(it)).slice(0, 30).map((option) => tidy(rawTextOf(option))),
  })),
  dialogs: list("dialog[open], [role=dialog], [role=alertdialog]", (it) => ({ text: tidy(textOf(it), 200), selector: selectorOf(it) })),
  text: tidy(bodyOf(document) ? textOf(bodyOf(document)) : "", 2000),
};
