// Looks whether a text can be read in the page, and whether anything can.
const words = (text) => text.replace(/\s+/g, " ").trim();
const readable = (root) => {
  if (root === document) return bodyOf(document) ? innerTextOf(bodyOf(document)) : "";
  return Array.from(root.children).filter((it) => it instanceof HTMLElement).map((it) => innerTextOf(it)).join(" ");
};
const text = words(roots().map(readable).join("\n"));
return { found: args.text !== null && text.includes(words(args.text)), any: text !== "", begin: text.slice(0, 200) };
