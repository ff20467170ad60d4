"use strict";
(() => {
  // Times that have passed. The clock of the server counts, from the moment at which the page was made.
  const made = document.querySelector("[data-now]");
  const age = (seconds) => {
    if (seconds < 120) return `${seconds} s`;
    if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
    if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
    return `${Math.floor(seconds / 86400)} days`;
  };
  const tell = () => {
    const now = Date.parse(made.dataset.now) + performance.now();
    for (const time of document.querySelectorAll("time[data-age]")) {
      const text = age(Math.max(0, Math.floor((now - Date.parse(time.dateTime)) / 1000)));
      if (time.textContent !== text) time.textContent = text;
    }
  };
  if (made) setInterval(tell, 5000);

  const main = document.querySelector("[data-mark]");
  if (!main || !window.EventSource) return;
  const status = document.querySelector("[data-live-status]");
  let mark = main.dataset.mark;
  let isBehind = false;

  const say = (text, on) => {
    if (!status) return;
    status.textContent = text;
    status.classList.toggle("on", on);
  };

  // A part with the focus stays as it is until the focus leaves.
  const replace = (fresh) => {
    isBehind = false;
    for (const part of document.querySelectorAll("[data-live]")) {
      const next = fresh.getElementById(part.id);
      const busy = document.activeElement !== document.body && part.contains(document.activeElement);
      if (busy) isBehind = true;
      else if (next) part.replaceWith(document.importNode(next, true));
    }
  };

  const refresh = async () => {
    const answer = await fetch(location.href, { credentials: "same-origin" });
    if (!answer.ok || answer.redirected) return;
    replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
  };

  const update = () => refresh().catch(() => say("not live", false));

  document.addEventListener("focusout", (event) => {
    const part = event.target.closest("[data-live]");
    if (isBehind && part && !part.contains(event.relatedTarget)) update();
  });

  const source = new EventSource("/events");
  source.addEventListener("mark", (event) => {
    say("live", true);
    if (event.data === mark) return;
    mark = event.data;
    update();
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) say("not live", false);
  });
})();
