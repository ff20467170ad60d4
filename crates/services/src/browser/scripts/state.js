// Says how far a page is. `responseStatus` is there since Chrome 109.
const [navigation] = performance.getEntriesByType("navigation");
return { ready: readyStateOf(document), status: navigation?.responseStatus ?? 0, url: location.href.slice(0, 500) };
