// Waits until the page is loaded and a time has gone by in it. The timer stands in the page's own
// queue, so everything that the page wanted to do before that time is done when it fires.
return new Promise((done) => {
  const rest = () => setTimeout(done, args.milliseconds, null);
  if (readyStateOf(document) === "complete") rest();
  else addEventListener("load", rest, { once: true });
});
