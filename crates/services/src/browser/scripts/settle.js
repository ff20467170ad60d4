// Waits until the page is loaded and a time has gone by in it. The timers stand in the page's own
// queue, so everything that the page wanted to do before that time is done when the last one fires.
// The time is counted in slices: a task that blocks the page counts for one slice at most, so that
// the timers which the task sets are seen as well.
const slices = 5;
return new Promise((done) => {
  const rest = (left) => {
    if (left === 0) done(null);
    else setTimeout(rest, args.milliseconds / slices, left - 1);
  };
  if (readyStateOf(document) === "complete") rest(slices);
  else addEventListener("load", () => rest(slices), { once: true });
});
