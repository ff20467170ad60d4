//! Tests of the dashboard and the API on a real address, with a queue on files.

use std::path::Path;
use std::thread::{self, JoinHandle};

use assay_base::shutdown::Shutdown;
use assay_engine::config::agents::AgentSettings;
use assay_engine::environment::Environment;
use assay_store::files::FileQueue;
use assay_store::queue::{Policy, Queue as _, QueuedTask};
use assay_store::task::Task;
use assay_testkit::webhook::{self, Answer};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::hooks::{HookContext, Hooks};
use crate::http_server::{HttpListener, HttpServer};

mod loops;
mod pages;

const TOKEN: &str = "0123456789abcdef";

/// A wait of pages for all of their parts, also on a slow machine.
const LONG_WAIT: Duration = Duration::from_secs(600);

/// Creates the dashboard of a folder, with its state beside the queue.
pub(crate) fn service(
    folder: &Path,
    queue: &Arc<FileQueue>,
    access: &AccessPolicy,
) -> DashboardService {
    let root = folder.join("tree");
    std::fs::create_dir_all(&root).unwrap();
    let environment = environment(folder);
    let dashboard = Dashboard::new(&environment, &root, queue.clone(), "Ann".to_owned()).unwrap();
    let service = DashboardService::new(dashboard, access.clone(), &Clock::system()).unwrap();
    DashboardService { page_wait: LONG_WAIT, ..service }
}

/// Returns an environment whose state home is in a folder, beside the work tree.
fn environment(folder: &Path) -> Environment {
    let home = folder.join("state").to_str().unwrap().to_owned();
    Environment::new([("XDG_STATE_HOME".to_owned(), home)], &Clock::system(), Vec::new)
}

struct DashboardServer {
    folder: TempDir,
    queue: Arc<FileQueue>,
    address: String,
    shutdown: Shutdown,
    thread: Option<JoinHandle<()>>,
}

impl DashboardServer {
    fn start() -> DashboardServer {
        DashboardServer::start_with(LONG_WAIT)
    }

    /// Starts a server whose pages wait for at most this time.
    fn start_with(page_wait: Duration) -> DashboardServer {
        let folder = TempDir::new().unwrap();
        let place = folder.path().join("queue");
        let queue = FileQueue::open(&place, Policy::default(), &Clock::system()).unwrap();
        let queue = Arc::new(queue);
        let token = Token::new(TOKEN, "a test").unwrap();
        let access = AccessPolicy { token: Some(token), hosts: vec!["box.example".into()] };
        let dashboard = service(folder.path(), &queue, &access);
        let dashboard = DashboardService { page_wait, ..dashboard };
        let settings = AgentSettings::on_disk(&Environment::default(), folder.path()).unwrap();
        let log: crate::hooks::Log = Arc::new(|_: &str| ());
        let context = HookContext::from_settings(&settings, queue.clone(), |_| (), log).unwrap();
        let seen = folder.path().join("deliveries");
        let hooks = Hooks::new(context, access.clone(), &seen).unwrap();
        let reviewer = "qa".parse().unwrap();
        let server = HttpServer { hooks, dashboard, queue: queue.clone(), reviewer };
        let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap(), access).unwrap();
        let address = listener.url().replace("http://", "");
        let shutdown = Shutdown::default();
        let requested = shutdown.clone();
        let thread = Some(thread::spawn(move || listener.serve(server, &requested).unwrap()));
        DashboardServer { folder, queue, address, shutdown, thread }
    }

    fn push(&self, id: &str, title: &str) {
        let at = "2026-05-01T08:00:00Z".parse().unwrap();
        let task = Task::new(id.parse().unwrap(), "review".parse().unwrap(), title, at);
        self.queue.push(vec![QueuedTask { queue: "qa".parse().unwrap(), task }]).unwrap();
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        webhook::send(&self.address, method, path, headers, body.as_bytes()).unwrap()
    }

    /// Sends a request with the token.
    fn call(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let bearer = format!("Bearer {TOKEN}");
        let answer = self.send(method, path, &[("authorization", &bearer)], body);
        (answer.status, answer.json())
    }
}

impl DashboardServer {
    fn stop(&mut self) {
        self.shutdown.request();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for DashboardServer {
    fn drop(&mut self) {
        self.stop();
    }
}

#[test]
fn requests_without_the_token_or_from_elsewhere_are_refused() {
    let server = DashboardServer::start();
    server.push("t1", "Review");
    let bearer = format!("Bearer {TOKEN}");
    let own = format!("http://{}", server.address);
    let large = "x".repeat(api::MAX_BODY + 1);
    let paths = ["/api/v1/queues", "/api/v1/findings", "/api/v1/openapi.json", "/metrics"];
    for path in paths {
        let get = |headers: &[(&str, &str)]| server.send("GET", path, headers, "").status;
        assert_eq!(get(&[]), 401, "{path}");
        assert_eq!(get(&[("authorization", "Bearer 0123456789abcdeF")]), 401, "{path}");
        assert_eq!(get(&[("authorization", TOKEN)]), 401, "{path}");
        assert_eq!(get(&[("cookie", &format!("assay_session={TOKEN}"))]), 401, "{path}");
        let token = ("authorization", bearer.as_str());
        assert_eq!(get(&[token, ("origin", "https://evil.example")]), 403, "{path}");
        assert_eq!(get(&[token, ("origin", "null")]), 403, "{path}");
        assert_eq!(get(&[token, ("host", "evil.example")]), 421, "{path}");
        assert_eq!(get(&[token, ("host", &server.address), ("host", "evil.example")]), 421);
        assert_eq!(get(&[token, ("origin", &own)]), 200, "{path}");
        assert_eq!(server.send("DELETE", path, &[token], "").status, 405, "{path}");
    }
    let token = ("authorization", bearer.as_str());
    let cancel = "/api/v1/tasks/t1/cancel";
    assert_eq!(server.send("POST", cancel, &[], "").status, 401);
    assert_eq!(
        server.send("POST", cancel, &[token, ("origin", "http://localhost:1")], "").status,
        403
    );
    assert_eq!(server.send("GET", cancel, &[token], "").status, 405);
    assert_eq!(server.send("POST", cancel, &[token], &large).status, 413);
    assert_eq!(server.send("POST", cancel, &[token], r#"{"force":true}"#).status, 400);
    assert_eq!(server.send("POST", "/api/v1/tasks/t9/cancel", &[token], "").status, 404);
    assert_eq!(server.send("GET", "/api/v1/nothing", &[token], "").status, 404);
    let refused = server.send("GET", "/api/v1/queues", &[], "");
    assert_eq!(refused.json()["error"], "unauthorized");
    assert!(refused.head.contains("www-authenticate: Bearer"), "{}", refused.head);
    let task = server.queue.get(&"t1".parse().unwrap()).unwrap();
    assert_eq!(task.task.status.as_str(), "pending");
}

#[test]
fn tasks_are_read_cancelled_and_retried_and_the_actions_are_recorded() {
    let server = DashboardServer::start();
    server.push("t1", "Review <script>alert(1)</script>");
    let (status, tasks) = server.call("GET", "/api/v1/tasks?queue=qa&limit=1", "");
    assert_eq!((status, tasks["tasks"][0]["id"].as_str()), (200, Some("t1")));
    assert_eq!(tasks["has_more"], false);
    let (status, done) = server.call("POST", "/api/v1/tasks/t1/cancel", "");
    assert_eq!((status, done), (200, json!({ "action": "task.cancel", "target": "t1" })));
    let (status, refused) = server.call("POST", "/api/v1/tasks/t1/cancel", "{}");
    assert_eq!((status, refused["error"].as_str()), (409, Some("conflict")));
    assert_eq!(server.call("POST", "/api/v1/tasks/t1/retry", "").0, 200);
    assert_eq!(server.call("GET", "/api/v1/tasks/t1", "").1["status"], "pending");
    let (_, audit) = server.call("GET", "/api/v1/audit", "");
    let entries = audit["entries"].as_array().unwrap();
    let lines: Vec<String> = entries
        .iter()
        .map(|entry| format!("{} {} {}", entry["by"], entry["via"], entry["action"]))
        .collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line.starts_with("\"Ann\" \"api\" \"task.")), "{lines:?}");
}

#[test]
fn wrong_parameters_are_refused_with_their_name() {
    let server = DashboardServer::start();
    let message = |path: &str| {
        let (status, answer) = server.call("GET", path, "");
        (status, answer["message"].as_str().unwrap().to_owned())
    };
    for (path, expected) in [
        ("/api/v1/findings?state=closed", "invalid `state`"),
        ("/api/v1/findings?severity=bad", "invalid `severity`"),
        ("/api/v1/findings?page=2", "invalid parameters: unknown field `page`"),
        ("/api/v1/runs?limit=0", "invalid `limit`"),
        ("/api/v1/runs?after=x", "invalid `after`"),
        ("/api/v1/tasks?status=x", "invalid `status`"),
        ("/api/v1/tasks?queue=a%2Fb", "invalid `queue`"),
        ("/api/v1/statistics?by=x", "invalid `by`"),
        ("/api/v1/queues?x=1", "invalid parameters: unknown field `x`"),
        ("/api/v1/tasks?queue=", "the parameter \"queue\" has no value"),
        ("/api/v1/statistics?since=4000000000w", "invalid `since`: the time is too far"),
    ] {
        let (status, message) = message(path);
        assert_eq!(status, 400, "{path}");
        assert!(message.starts_with(expected), "{path}: {message}");
    }
    assert_eq!(message("/api/v1/runs/nothing").0, 404);
    assert_eq!(message("/api/v1/findings/abc").0, 404);
}

#[test]
fn every_operation_answers_and_the_description_names_it() {
    let server = DashboardServer::start();
    let (status, description) = server.call("GET", "/api/v1/openapi.json", "");
    assert_eq!((status, &description["openapi"]), (200, &json!("3.1.0")));
    for (path, methods) in description["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let (status, answer) =
                server.call(&method.to_uppercase(), &path.replace("{id}", "x"), "");
            assert!([200, 400, 404].contains(&status), "{method} {path}: {status} {answer}");
        }
    }
}

#[test]
fn answers_match_their_schemas_in_the_description() {
    let server = DashboardServer::start();
    server.push("t1", "Review");
    let (_, description) = server.call("GET", "/api/v1/openapi.json", "");
    for path in [
        "/runs", "/findings", "/queues", "/tasks", "/agents", "/loops", "/gates", "/calibration",
        "/statistics", "/audit",
    ] {
        let path = format!("/api/v1{path}");
        let operation = &description["paths"][&path]["get"];
        let mut schema =
            operation["responses"]["200"]["content"]["application/json"]["schema"].clone();
        schema["components"] = description["components"].clone();
        let (_, answer) = server.call("GET", &path, "");
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&answer).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{path}: {errors:?}");
    }
}

#[test]
fn metrics_have_the_tasks_of_each_queue_and_the_findings() {
    let server = DashboardServer::start();
    server.push("t1", "Review");
    let bearer = format!("Bearer {TOKEN}");
    let answer = server.send("GET", "/metrics", &[("authorization", &bearer)], "");
    assert!(answer.head.contains("text/plain; version=0.0.4"), "{}", answer.head);
    for line in [
        "# TYPE assay_queue_tasks gauge",
        "assay_queue_tasks{queue=\"qa\",state=\"ready\"} 1",
        "assay_findings{state=\"open\"} 0",
        "assay_reviews_total{complete=\"true\"} 0",
    ] {
        assert!(answer.body.lines().any(|own| own == line), "{line}: {}", answer.body);
    }
}
