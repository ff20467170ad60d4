//! Tests of the pages, as a browser without scripts reads them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use assay_store::ledger::FindingOutcome;
use assay_store::ledger::record::{CodeOrigin, Observation, RunCost, RunRecord, VoteRecord};

use super::*;

const HOSTILE: &str = "<script>alert('x')</script>\u{202e}\" onload=\"x";

/// A browser that is signed in.
pub(super) struct Browser<'a> {
    pub(super) server: &'a DashboardServer,
    pub(super) cookie: String,
}

impl Browser<'_> {
    pub(super) fn sign_in(server: &DashboardServer) -> Browser<'_> {
        let answer = server.post("/login", "", &format!("token={TOKEN}&next=%2Fruns"));
        assert_eq!((answer.status, location(&answer).as_str()), (303, "/runs"), "{}", answer.head);
        let cookie = header(&answer, "set-cookie").unwrap();
        assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
        Browser { server, cookie: cookie.split(';').next().unwrap().to_owned() }
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        self.server.send("GET", path, &[("cookie", &self.cookie)], "")
    }

    /// Returns the token of the forms on a page.
    fn form_token(&self, path: &str) -> String {
        let page = self.get(path).body;
        let start = page.split("name=\"form_token\" value=\"").nth(1).expect("the page has a form");
        start.split('"').next().unwrap().to_owned()
    }

    /// Sends a form of a page.
    pub(super) fn submit(&self, page: &str, action: &str, fields: &str) -> Answer {
        let token = self.form_token(page);
        let body = format!("form_token={token}&next={page}&{fields}");
        self.server.post(&format!("/actions/{action}"), &self.cookie, &body)
    }
}

impl DashboardServer {
    fn post(&self, path: &str, cookie: &str, body: &str) -> Answer {
        let origin = format!("http://{}", self.address);
        let form = ("content-type", "application/x-www-form-urlencoded");
        self.send("POST", path, &[("origin", &origin), ("cookie", cookie), form], body)
    }

    /// Records a run with one finding, and returns the id of the finding.
    fn record(&self, title: &str) -> String {
        let run = RunRecord {
            id: "20260501-080000-000".into(),
            at: "2026-05-01T08:00:00Z".parse().unwrap(),
            change: "staged changes".into(),
            branch: Some("topic".into()),
            head: None,
            verdict: "not ready".into(),
            complete: true,
            cost: RunCost { calls: 3, tokens: 900, usd: Some(0.25), ..RunCost::default() },
            reports: Vec::new(),
            models: Vec::new(),
        };
        let hash = assay_base::hash::short_hash(title, 32);
        let id = hash[..12].to_owned();
        let vote = VoteRecord {
            reviewer: "rules".into(),
            number: 0,
            severity: "HIGH".into(),
            confidence: Some(75),
            vote: "{}".into(),
        };
        let observation = Observation {
            id: id.clone(),
            fingerprint: hash,
            file: "src/a.rs".into(),
            origin: CodeOrigin::default(),
            moved_from: None,
            line: Some(7),
            title: title.into(),
            severity: "HIGH".into(),
            impact: 1,
            category: "security".into(),
            rule: None,
            outcome: FindingOutcome::Raised,
            why: None,
            before: None,
            finding: json!({ "description": title, "evidence": [title] }).to_string(),
            votes: vec![vote],
        };
        let state = environment(self.folder.path()).state_of(&self.folder.path().join("tree"));
        let mut ledger = assay_review::ledger::open(&state).unwrap();
        ledger.record(&run, &[observation], &[]).unwrap();
        id
    }
}

fn header(answer: &Answer, name: &str) -> Option<String> {
    let mut fields = answer.head.lines().filter_map(|line| line.split_once(": "));
    fields.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
}

fn location(answer: &Answer) -> String {
    header(answer, "location").unwrap_or_default()
}

#[test]
fn a_browser_without_a_session_is_led_to_the_sign_in_page_and_gets_nothing_else() {
    let server = DashboardServer::start();
    server.push("t1", "Secret plan");
    for path in ["/", "/runs", "/findings?state=all", "/tasks/t1", "/audit", "/api"] {
        let answer = server.send("GET", path, &[], "");
        assert_eq!(answer.status, 303, "{path}");
        assert!(location(&answer).starts_with("/login?next=%2F"), "{}", answer.head);
        assert!(!answer.body.contains("Secret plan"));
        assert_eq!(server.send("GET", path, &[("host", "evil.example")], "").status, 421, "{path}");
    }
    assert_eq!(server.send("GET", "/loops/001/screenshots/1/a.png", &[], "").status, 401);
    assert_eq!(server.send("GET", "/events", &[], "").status, 401);
    let page = server.send("GET", "/login?next=//evil.example", &[], "");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("name=\"next\" value=\"/\""), "{}", page.body);
    let wrong = server.post("/login", "", "token=0123456789abcdeg");
    assert_eq!((wrong.status, header(&wrong, "set-cookie")), (401, None));
    assert!(wrong.body.contains("The token is wrong."));
    let foreign = [("origin", "https://evil.example")];
    assert_eq!(server.send("POST", "/login", &foreign, &format!("token={TOKEN}")).status, 403);
    assert_eq!(server.post("/actions/task.cancel/t1", "", "").status, 401);
}

#[test]
fn every_page_is_readable_without_scripts_and_has_a_strict_policy() {
    let server = DashboardServer::start();
    server.push("t1", "Review the change");
    let id = server.record("Unchecked input");
    let browser = Browser::sign_in(&server);
    let finding = format!("/findings/{id}");
    for (path, text) in [
        ("/", "Review the change"),
        ("/", "Unchecked input"),
        ("/runs", "20260501-080000-000"),
        ("/runs/20260501-080000-000", "Unchecked input"),
        ("/findings", "Unchecked input"),
        ("/findings?state=all&severity=HIGH&file=src%2Fa.rs", "Unchecked input"),
        (finding.as_str(), "Why is this finding not to be fixed?"),
        ("/loops", "There is no spec"),
        ("/gates", "There is no gate"),
        ("/reviewers", "rules"),
        ("/reviewers", "No evaluation is stored"),
        ("/spend", "$0.25"),
        ("/tasks/t1", "Review the change"),
        ("/audit", "No action was requested yet."),
        ("/api", "/api/v1/findings/{id}/dismiss"),
    ] {
        let answer = browser.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(answer.body.contains(text), "{path}: {}", answer.body);
        assert!(answer.body.len() < 100 << 10, "{path}: {} bytes", answer.body.len());
        assert!(
            answer.body.contains("<html lang=\"en\">") && answer.body.contains("<h1"),
            "{path}"
        );
        assert!(
            !answer.body.contains("src=\"http") && !answer.body.contains("href=\"http"),
            "{path}"
        );
        let policy = header(&answer, "content-security-policy").unwrap();
        for part in ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(header(&answer, "cache-control").as_deref(), Some("no-store"), "{path}");
        assert_eq!(header(&answer, "referrer-policy").as_deref(), Some("same-origin"), "{path}");
    }
    assert_eq!(browser.get("/findings/abc").status, 404);
    assert_eq!(browser.get("/findings?state=closed").status, 400);
    assert_eq!(browser.get("/loops/001").status, 404);
    assert_eq!(browser.get("/gates/impl-code").status, 404);
    assert_eq!(browser.get("/loops/001/screenshots/1/a.png").status, 404);
    assert_eq!(browser.get("/api/v1/queues").status, 200);
}

#[test]
fn text_of_tasks_and_findings_is_escaped_on_every_page() {
    let server = DashboardServer::start();
    server.push("t1", &HOSTILE.replace('\u{202e}', ""));
    let id = server.record(HOSTILE);
    let browser = Browser::sign_in(&server);
    let finding = format!("/findings/{id}");
    let run = "/runs/20260501-080000-000";
    for path in
        ["/", "/findings", &finding, run, "/tasks/t1", "/findings?file=%3Cscript%3Ealert('x')"]
    {
        let body = browser.get(path).body;
        assert!(!body.contains("<script>alert") && !body.contains("\" onload"), "{path}: {body}");
        assert!(!body.contains('\u{202e}'), "{path}");
    }
}

#[test]
fn a_finding_is_dismissed_and_reopened_by_forms() {
    let server = DashboardServer::start();
    let id = server.record("Unchecked input");
    let browser = Browser::sign_in(&server);
    let page = format!("/findings/{id}");
    let refused = browser.submit(&page, &format!("finding.dismiss/{id}"), "reason=ok");
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("invalid `reason`"), "{}", refused.body);
    let done = browser.submit(&page, &format!("finding.dismiss/{id}"), "reason=a+test+fixture");
    assert_eq!((done.status, location(&done)), (303, page.clone()), "{}", done.body);
    assert!(browser.get(&page).body.contains("a test fixture"));
    assert!(!browser.get("/findings").body.contains("Unchecked input"));
    let done = browser.submit(&page, &format!("finding.reopen/{id}"), "");
    assert_eq!(done.status, 303, "{}", done.body);
    assert!(browser.get("/findings").body.contains("Unchecked input"));
    let audit = browser.get("/audit").body;
    assert!(audit.contains("finding.dismiss") && audit.contains("finding.reopen"), "{audit}");
}

#[test]
fn a_form_of_another_session_or_origin_does_nothing() {
    let server = DashboardServer::start();
    server.push("t1", "Review");
    let (mine, other) = (Browser::sign_in(&server), Browser::sign_in(&server));
    let path = "/actions/task.cancel/t1";
    let (token, theirs) = (mine.form_token("/"), other.form_token("/"));
    assert_ne!(token, theirs);
    let body = |token: &str| format!("form_token={token}&next=%2F");
    assert_eq!(server.post(path, &mine.cookie, &body(&theirs)).status, 403);
    assert_eq!(server.post(path, &mine.cookie, "next=%2F").status, 403);
    let cookie = ("cookie", mine.cookie.as_str());
    // A request without an origin is not a form of a browser.
    assert_eq!(server.send("POST", path, &[cookie], &body(&token)).status, 403);
    let foreign = ("origin", "https://evil.example");
    assert_eq!(server.send("POST", path, &[cookie, foreign], &body(&token)).status, 403);
    // A session alone does not authorize a change through the API.
    assert_eq!(server.post("/api/v1/tasks/t1/cancel", &mine.cookie, "").status, 401);
    assert_eq!(server.queue.get(&"t1".parse().unwrap()).unwrap().task.status.as_str(), "pending");
    assert_eq!(server.post(path, &mine.cookie, &body(&token)).status, 303);
    assert_eq!(server.queue.get(&"t1".parse().unwrap()).unwrap().task.status.as_str(), "cancelled");
    let ended = server.post("/logout", &mine.cookie, "");
    assert!(header(&ended, "set-cookie").unwrap().contains("Max-Age=0"));
}

#[test]
fn a_page_that_cannot_wait_says_that_its_parts_are_being_read() {
    let server = DashboardServer::start_with(Duration::ZERO);
    server.push("t1", "Review");
    server.record("Shell command");
    let browser = Browser::sign_in(&server);
    let page = browser.get("/");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("The queue is being read."), "{}", page.body);
    assert!(!page.body.contains("No task is waiting"), "{}", page.body);
    // The server may have read the ledger in the meantime.
    let either = |path: &str, pending: &str, content: &str| {
        let body = browser.get(path).body;
        assert!(body.contains(pending) || body.contains(content), "{path}: {body}");
    };
    either("/", "The ledger is being read.", "Shell command");
    either("/", "being computed", "1 high");
    either("/findings", "The ledger is being read.", "Shell command");
    either("/reviewers", "The statistics are being computed.", "rules");
    either("/spend", "The statistics are being computed.", "$0.25");
}

#[test]
fn an_event_follows_each_change_and_the_stream_ends_with_the_server() {
    let mut server = DashboardServer::start();
    let browser = Browser::sign_in(&server);
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let request = format!(
        "GET /events HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\n\r\n",
        server.address, browser.cookie
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut mark =
        || lines.by_ref().find_map(|line| line.strip_prefix("data: ").map(str::to_owned));
    let page = browser.get("/").body;
    let shown = page.split("data-mark=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    // The stream may begin before the statistics are computed.
    while mark().unwrap() != shown {}
    server.push("t1", "Review");
    assert_ne!(mark().unwrap(), shown);
    server.stop();
    assert_eq!(mark(), None);
}

#[test]
fn an_unknown_address_is_a_page_for_a_browser_and_an_error_for_a_program() {
    let server = DashboardServer::start();
    let browser = Browser::sign_in(&server);
    let accept = ("accept", "text/html,application/xhtml+xml");
    let get = |path: &str, headers: &[(&str, &str)]| server.send("GET", path, headers, "");
    let page = get("/nowhere/%3Cb%3E", &[accept, ("cookie", &browser.cookie)]);
    assert_eq!(page.status, 404);
    assert!(page.body.contains("there is nothing at the address `/nowhere/%3Cb%3E`"));
    assert!(page.body.contains("href=\"/findings\""), "{}", page.body);
    let signed_out = get("/nowhere", &[accept]);
    assert_eq!(signed_out.status, 404);
    assert!(!signed_out.body.contains("href=\"/findings\""));
    assert_eq!(get("/nowhere", &[accept, ("host", "evil.example")]).status, 421);
    for method in ["GET", "POST"] {
        let answer = server.send(method, "/api/v1/nowhere", &[], "");
        assert_eq!(answer.status, 404);
        assert_eq!(answer.json()["error"], "unknown");
    }
}
