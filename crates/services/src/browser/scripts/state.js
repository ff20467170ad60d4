// Says how far a page is.
const [navigation] = performance.getEntriesByType("navigation");
return { ready: readyStateOf(document), status: navigation?.responseStatus ?? 0, url: location.href.slice(0, 500) };
