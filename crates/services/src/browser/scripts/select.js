// Chooses an option of a list.
const found = find(args);
if (found.outcome) return found.outcome;
const { element, what, count } = found;
if (!(element instanceof HTMLSelectElement)) return { state: "unfit", what, why: "is not a list with options" };
if (!isVisible(element)) return { state: "hidden", what };
if (isDisabled(element)) return { state: "disabled", what };
const options = Array.from(getter(HTMLSelectElement, "options")(element)).slice(0, MOST_ELEMENTS);
const valueOfOption = getter(HTMLOptionElement, "value");
const name = (option) => tidy(getter(HTMLOptionElement, "label")(option) || rawTextOf(option), 200);
const chosen =
  args.value !== null
    ? options.find((option) => valueOfOption(option) === args.value)
    : options.find((option) => name(option) === tidy(args.text, 200)) ??
      options.find((option) => same(name(option), args.text));
if (!chosen) return { state: "no_option", what, there: options.slice(0, 200).map((it) => [args.value !== null ? valueOfOption(it).slice(0, 80) : name(it), `"${name(it)}"`]) };
if (isDisabled(chosen)) return { state: "disabled", what: `the option "${name(chosen)}" of ${what}` };
HTMLElement.prototype.focus.call(element);
Object.getOwnPropertyDescriptor(HTMLOptionElement.prototype, "selected").set.call(chosen, true);
element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
element.dispatchEvent(new Event("change", { bubbles: true, composed: true }));
return { state: "chosen", what, count, option: name(chosen), value: valueOfOption(chosen).slice(0, 200) };
