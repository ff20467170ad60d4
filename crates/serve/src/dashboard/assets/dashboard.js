"use strict";
(() => {
  const main = document.querySelector("[data-mark]");
  if (!main || !window.EventSource) return;
  const status = document.querySelector("[data-live-status]");
  let mark = main.dataset.mark;

  const say = (text, on) => {
    if (!status) return;
    status.textContent = text;
    status.classList.toggle("on", on);
  };

  const replace = (fresh) => {
    for (const part of document.querySelectorAll("[data-live]")) {
      const next = fresh.getElementById(part.id);
      const busy = document.activeElement !== document.body && part.contains(document.activeElement);
      if (next && !busy) part.replaceWith(document.importNode(next, true));
    }
  };

  const refresh = async () => {
    const answer = await fetch(location.href, { credentials: "same-origin" });
    if (!answer.ok || answer.redirected) return;
    replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
  };

  const source = new EventSource("/events");
  source.addEventListener("mark", (event) => {
    say("live", true);
    if (event.data === mark) return;
    mark = event.data;
    refresh().catch(() => say("not live", false));
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) say("not live", false);
  });
})();
