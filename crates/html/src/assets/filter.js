"use strict";
(() => {
  const form = document.querySelector("[data-filter]");
  if (!form) return;
  const entries = [...document.querySelectorAll("[data-entry]")];
  const search = form.querySelector("[data-filter-text]");
  const boxes = [...form.querySelectorAll("[data-filter-severity]")];
  const status = form.querySelector("[data-filter-status]");
  const texts = new Map(entries.map((entry) => [entry, entry.textContent.toLowerCase()]));
  const listed = () => entries.filter((entry) => !entry.hidden);

  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hidden = new Set(boxes.filter((box) => !box.checked).map((box) => box.dataset.filterSeverity));
    for (const entry of entries) {
      const text = texts.get(entry);
      entry.hidden = hidden.has(entry.dataset.severity) || !words.every((word) => text.includes(word));
    }
    const shown = listed().length;
    status.textContent = shown === entries.length ? "" : `${shown} of ${entries.length} ${status.dataset.filterName}`;
  };

  const unfold = (entry) => {
    for (let part = entry.parentElement; part; part = part.parentElement) {
      if (part instanceof HTMLDetailsElement) part.open = true;
    }
  };

  const go = (step) => {
    const list = listed();
    if (list.length === 0) return;
    const at = list.findIndex((entry) => entry.contains(document.activeElement));
    const next = at < 0 ? (step > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + step, 0), list.length - 1);
    unfold(list[next]);
    list[next].focus();
    list[next].scrollIntoView({ block: "nearest" });
  };

  const fold = () => {
    const entry = document.activeElement;
    if (!entry || !entry.matches("[data-entry]")) return false;
    const part = entry.querySelector("details");
    if (part) part.open = !part.open;
    return part !== null;
  };

  const openTarget = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    target.hidden = false;
    unfold(target);
    target.scrollIntoView();
  };

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", apply);
  window.addEventListener("hashchange", openTarget);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search) {
      if (event.key === "Escape") { search.value = ""; apply(); search.blur(); }
      return;
    }
    if (event.target.matches("input, textarea, select")) return;
    if (event.key === "j") go(1);
    else if (event.key === "k") go(-1);
    else if (event.key === "/") search.focus();
    else if (event.key !== "Enter" || !fold()) return;
    event.preventDefault();
  });
  openTarget();
})();
