//! The network activity of a page, as DevTools report it: [`Network`].
//!
//! The type records which requests are in flight, when the page last loaded something, and the HTTP
//! status of each document. The status comes from `Network.responseReceived`, since pages in Chrome
//! before 109 do not know it.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::untrusted::truncate_line;

/// The maximum number of requests that are tracked at a time; a page with more of them counts as
/// busy.
const MAX_IN_FLIGHT: usize = 4096;

/// The maximum number of documents whose status is stored, the latest ones.
const MAX_DOCUMENTS: usize = 64;

/// The maximum number of requests that are named if a page does not become idle.
const MAX_NAMED: usize = 3;

/// Kinds of requests that may stay open for as long as the page does, or that the page does not
/// wait for.
const NOT_AWAITED: [&str; 5] = ["EventSource", "WebSocket", "Media", "Ping", "CSPViolationReport"];

/// Schemes of documents that no server answers for, whatever status DevTools report.
const WITHOUT_SERVER: [&str; 5] = ["file:", "data:", "blob:", "about:", "chrome-error:"];

/// Returns true if a server answers for documents with this address.
pub(super) fn has_server(url: &str) -> bool {
    !WITHOUT_SERVER.iter().any(|scheme| url.starts_with(scheme))
}

/// The network activity of a page.
#[derive(Debug, Default)]
pub(super) struct Network {
    /// The frame whose documents have a status here; `None` until the page is attached to.
    main_frame: Option<String>,
    in_flight: HashMap<String, Request>,
    /// The statuses of documents by their loader, the oldest first.
    documents: VecDeque<(String, u16)>,
    activity: u64,
}

/// A request that has not ended yet.
#[derive(Debug)]
struct Request {
    loader: String,
    url: String,
}

impl Network {
    /// Records an event of DevTools; events of other domains are ignored.
    pub(super) fn observe(&mut self, method: &str, params: &Value) {
        let id = params["requestId"].as_str().unwrap_or_default();
        match method {
            "Network.requestWillBeSent" => self.start(id, params),
            "Network.responseReceived" => self.note_status(params),
            "Network.loadingFinished" | "Network.loadingFailed" => self.end(id),
            "Page.frameNavigated" if params["frame"]["parentId"].is_null() => {
                self.change_document(params["frame"]["loaderId"].as_str().unwrap_or_default());
            }
            _ => {}
        }
    }

    fn start(&mut self, id: &str, params: &Value) {
        let kind = params["type"].as_str().unwrap_or_default();
        if NOT_AWAITED.contains(&kind) {
            return;
        }
        self.activity += 1;
        if self.in_flight.len() < MAX_IN_FLIGHT {
            let text = |value: &Value| truncate_line(value.as_str().unwrap_or_default());
            let request =
                Request { loader: text(&params["loaderId"]), url: text(&params["request"]["url"]) };
            self.in_flight.insert(truncate_line(id), request);
        }
    }

    fn end(&mut self, id: &str) {
        let was_awaited = self.in_flight.remove(id).is_some();
        self.activity += u64::from(was_awaited);
    }

    fn note_status(&mut self, params: &Value) {
        let response = &params["response"];
        let url = response["url"].as_str().unwrap_or_default();
        let status = response["status"].as_u64().and_then(|status| u16::try_from(status).ok());
        let (Some(loader), Some(status)) = (params["loaderId"].as_str(), status) else { return };
        let is_document = params["type"] == "Document"
            && self.main_frame.as_deref().is_none_or(|frame| params["frameId"] == frame);
        if !is_document || status == 0 || !has_server(url) {
            return;
        }
        self.documents.retain(|(known, _)| known != loader);
        if self.documents.len() == MAX_DOCUMENTS {
            self.documents.pop_front();
        }
        self.documents.push_back((truncate_line(loader), status));
    }

    /// Removes requests of documents that the page has left: their end is not always reported.
    fn change_document(&mut self, loader: &str) {
        self.activity += 1;
        self.in_flight.retain(|_, request| request.loader == loader);
    }

    /// Sets the frame whose documents are the page itself, and not only parts of it.
    pub(super) fn set_main_frame(&mut self, frame: &str) {
        self.main_frame = Some(frame.to_owned());
    }

    /// Returns the HTTP status of the document of a loader. Returns `None` if no server answered,
    /// or if the document was loaded before the page was attached to.
    pub(super) fn status_of(&self, loader: &str) -> Option<u16> {
        self.documents.iter().find(|(known, _)| known == loader).map(|(_, status)| *status)
    }

    /// Returns true if no request is in flight.
    pub(super) fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Returns a number that grows whenever a request starts or ends, or the document changes.
    pub(super) fn activity(&self) -> u64 {
        self.activity
    }

    /// Returns the addresses of some requests that are in flight.
    pub(super) fn pending(&self) -> Vec<String> {
        let mut urls: Vec<&str> = self.in_flight.values().map(|it| it.url.as_str()).collect();
        urls.sort_unstable();
        urls.dedup();
        urls.into_iter().take(MAX_NAMED).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn start(network: &mut Network, id: &str, kind: &str) {
        let request = json!({ "url": format!("http://localhost/{id}") });
        network.observe(
            "Network.requestWillBeSent",
            &json!({ "requestId": id, "loaderId": "L", "type": kind, "request": request }),
        );
    }

    fn answer(network: &mut Network, loader: &str, url: &str, status: u16) {
        let response = json!({ "url": url, "status": status });
        let params = json!({
            "frameId": "F", "loaderId": loader, "type": "Document", "response": response,
        });
        network.observe("Network.responseReceived", &params);
    }

    #[test]
    fn the_network_is_idle_when_every_awaited_request_has_ended() {
        let mut network = Network::default();
        for kind in NOT_AWAITED {
            start(&mut network, kind, kind);
        }
        assert!(network.is_idle());
        start(&mut network, "a", "Fetch");
        // A redirect keeps the id of the request.
        start(&mut network, "a", "Fetch");
        start(&mut network, "b", "Image");
        assert_eq!(network.pending(), ["http://localhost/a", "http://localhost/b"]);
        network.observe("Network.loadingFinished", &json!({ "requestId": "a" }));
        network.observe("Network.loadingFailed", &json!({ "requestId": "b" }));
        assert!(network.is_idle());
    }

    #[test]
    fn pending_requests_are_dropped_when_the_main_frame_navigates() {
        let mut network = Network::default();
        start(&mut network, "a", "Fetch");
        let inner = json!({ "frame": { "parentId": "F", "loaderId": "M" } });
        network.observe("Page.frameNavigated", &inner);
        assert!(!network.is_idle());
        network.observe("Page.frameNavigated", &json!({ "frame": { "loaderId": "M" } }));
        assert!(network.is_idle());
    }

    #[test]
    fn a_document_has_its_http_status_and_a_file_has_none() {
        let mut network = Network::default();
        answer(&mut network, "a", "http://localhost/", 404);
        answer(&mut network, "b", "file:///index.html", 200);
        answer(&mut network, "c", "data:text/html,x", 200);
        answer(&mut network, "d", "app://index.html", 500);
        let statuses = ["a", "b", "c", "d", "e"].map(|loader| network.status_of(loader));
        assert_eq!(statuses, [Some(404), None, None, Some(500), None]);
        network.set_main_frame("G");
        answer(&mut network, "a", "http://localhost/inner", 200);
        let script = json!({
            "frameId": "G", "loaderId": "a", "type": "Script",
            "response": { "url": "http://localhost/x.js", "status": 200 },
        });
        network.observe("Network.responseReceived", &script);
        assert_eq!(network.status_of("a"), Some(404));
    }

    #[test]
    fn a_page_with_endless_requests_uses_bounded_memory() {
        let mut network = Network::default();
        for id in 0..3 * MAX_IN_FLIGHT {
            start(&mut network, &id.to_string(), "Fetch");
            answer(&mut network, &id.to_string(), "http://localhost/", 200);
        }
        assert_eq!(network.in_flight.len(), MAX_IN_FLIGHT);
        assert_eq!((network.documents.len(), network.pending().len()), (MAX_DOCUMENTS, MAX_NAMED));
    }

    #[test]
    fn malformed_events_are_accepted() {
        let mut network = Network::default();
        for method in
            ["Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFinished"]
        {
            for params in [json!(null), json!([]), json!({ "requestId": 7, "response": 3 })] {
                network.observe(method, &params);
            }
        }
        assert_eq!(network.status_of(""), None);
    }
}
