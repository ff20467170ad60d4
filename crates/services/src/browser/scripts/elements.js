// Tells of buttons and fields what helps to find out why they do not do what they should.
const MOST = 60;
const wanted = args.selector ?? `${INTERACTIVE}, ${FIELDS}`;
if (!isSelector(wanted)) return { state: "bad_selector" };
const elements = all(wanted);
const tell = (element) => {
  const rect = rectOf(element);
  const round = (number) => Math.round(Math.max(-1e6, Math.min(1e6, number)));
  const [x, y] = [rect.left + rect.width / 2, rect.top + rect.height / 2];
  const hit = Document.prototype.elementFromPoint.call(document, x, y);
  const isHit = hit && (contains(element, hit) || contains(hit, element) || shadowOf(hit));
  return {
    selector: selectorOf(element),
    tag: tagOf(element),
    type: typeOf(element),
    text: nameOf(element),
    label: labelOf(element),
    class: tidy(attribute(element, "class")),
    role: tidy(attribute(element, "role")),
    visible: isVisible(element),
    disabled: isDisabled(element),
    covered_by: hit && !isHit ? describe(hit) : null,
    place: [round(rect.left), round(rect.top), round(rect.width), round(rect.height)],
  };
};
return { state: "told", elements: elements.slice(0, MOST).map(tell), left_out: Math.max(elements.length - MOST, 0) };
