//! `assay serve`, as GitHub, JIRA and builds call it.

use std::fs;
use std::path::Path;

use assay_testkit::Repository;
use assay_testkit::collector::{CollectorBehaviour, FakeCollector};
use assay_testkit::storm::{self, Server, StormSize};
use assay_testkit::webhook::{self, Answer, Connection, commit, pull_request, signature};

use super::{AssayRun, assay_with};

const SECRET: &str = "It's a Secret to Everybody";
const TOKEN: &str = "jira-0123456789-word";

const CONFIGURATION: &str = "safeguards: { max_queue_size: 3 }\ngithub: { repositories: [o/r] }\n";

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_assay"))
}

fn repository(configuration: &str) -> Repository {
    let repository = Repository::new();
    repository.write("config/agent-framework.yaml", configuration);
    repository
}

fn start(repository: &Repository) -> Server {
    start_with(repository, &[])
}

fn start_with(repository: &Repository, variables: &[(&str, &str)]) -> Server {
    let own = [
        ("GITHUB_WEBHOOK_SECRET", SECRET),
        ("JIRA_WEBHOOK_TOKEN", TOKEN),
        ("XDG_STATE_HOME", crate::state_home()),
    ];
    let variables: Vec<_> = own.iter().chain(variables).copied().collect();
    let args = ["--listen", "127.0.0.1:0"];
    Server::start(program(), repository.path(), &args, &variables).unwrap()
}

fn opened(server: &Server, id: &str, number: u64) -> Answer {
    let body = pull_request("opened", "o/r", number, &commit(1)).to_string();
    let mut connection = Connection::open(server.address()).unwrap();
    webhook::deliver(&mut connection, SECRET, id, "pull_request", body.as_bytes()).unwrap()
}

fn tasks(repository: &Repository) -> Vec<String> {
    let folder = repository.path().join(".agent-communication/queues/qa");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    names.filter(|name| !name.starts_with('.')).collect()
}

#[test]
fn a_delivery_is_queued_once_even_after_a_restart() {
    let repository = repository(CONFIGURATION);
    let server = start(&repository);
    let first = opened(&server, "72d3162e-cc78-11e3-81ab-4c9367dc0958", 7);
    assert_eq!((first.status, &first.json()["state"]), (202, &"queued".into()));
    let again = opened(&server, "72d3162e-cc78-11e3-81ab-4c9367dc0958", 7);
    assert_eq!((again.status, &again.json()["state"]), (200, &"already_there".into()));
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    let line = format!(
        "github: 202 queued: review-o.r-7-main-{} (delivery 72d3162e-cc78-11e3-81ab-4c9367dc0958)",
        commit(1)
    );
    assert!(said.contains(&line), "{said}");
    let server = start(&repository);
    assert_eq!(opened(&server, "72d3162e-cc78-11e3-81ab-4c9367dc0958", 7).status, 200);
    assert_eq!(opened(&server, "another", 7).status, 200);
    let task = format!("review-o.r-7-main-{}.json", commit(1));
    assert_eq!(tasks(&repository), [task]);
    let ignored = fs::read_to_string(repository.path().join(".assay/.gitignore")).unwrap();
    assert!(ignored.lines().any(|line| line == "/*"), "{ignored}");
}

#[test]
fn unauthenticated_or_invalid_requests_are_refused_and_no_secret_is_logged() {
    let repository = repository(CONFIGURATION);
    let server = start(&repository);
    let body = pull_request("opened", "o/r", 7, &commit(1)).to_string();
    let good = signature(SECRET, body.as_bytes());
    let wrong = signature("another secret of theirs", body.as_bytes());
    let send = |path: &str, headers: &[(&str, &str)], body: &str| {
        let answer = webhook::send(server.address(), "POST", path, headers, body.as_bytes());
        answer.unwrap().status
    };
    let json = ("content-type", "application/json");
    let event = ("x-github-event", "pull_request");
    let github = "/webhooks/github";
    assert_eq!(send(github, &[json, event], &body), 401);
    assert_eq!(send(github, &[json, event, ("x-hub-signature-256", &wrong)], &body), 401);
    assert_eq!(send(github, &[json, event, ("x-hub-signature-256", &good[..20])], &body), 401);
    assert_eq!(send(github, &[json, event, ("x-hub-signature", &good)], &body), 401);
    assert_eq!(send(github, &[event, ("x-hub-signature-256", &good)], &body), 415);
    assert_eq!(send(github, &[json, ("x-hub-signature-256", &good)], &body), 400);
    assert_eq!(send(github, &[("content-length", "5242881")], ""), 413);
    assert_eq!(send("/webhooks/jira", &[], "{}"), 401);
    assert_eq!(send("/webhooks/jira?token=jira-0123456789-w0rd", &[], "{}"), 401);
    assert_eq!(send("/webhooks/jira", &[("x-assay-token", TOKEN)], "{}"), 400);
    assert_eq!(send("/queue", &[], r#"{"agent_id":"qa","pr":"7"}"#), 401);
    let token = fs::read_to_string(repository.path().join(".assay/serve/token")).unwrap();
    let bearer = format!("Bearer {}", token.trim());
    // No service for pull requests is configured.
    let asked = send("/queue", &[("authorization", &bearer)], r#"{"agent_id":"qa","pr":"7"}"#);
    assert_eq!(asked, 503);
    let slow = send(&format!("/webhooks/jira?token={TOKEN}"), &[], r#"{"key":"PROJ-1"}"#);
    assert_eq!(slow, 503);
    assert_eq!(tasks(&repository), [""; 0]);
    let (_, said) = server.stop();
    for secret in [SECRET, TOKEN, token.trim(), "jira-0123456789-w0rd", &good[7..], &wrong[7..]] {
        assert!(!said.contains(secret), "{said}");
    }
    assert!(said.contains("jira: 503 refused: not configured: "), "{said}");
}

#[test]
fn without_webhook_secrets_every_delivery_is_answered_with_503() {
    let repository = repository(CONFIGURATION);
    let args = ["--listen", "127.0.0.1:0"];
    let server = Server::start(program(), repository.path(), &args, &[]).unwrap();
    let github = opened(&server, "d", 7);
    assert_eq!(github.status, 503);
    assert!(github.body.contains("the secret of the GitHub webhook is missing"), "{github:?}");
    let jira = webhook::send(server.address(), "POST", "/webhooks/jira?token=", &[], b"{}");
    assert_eq!(jira.unwrap().status, 503);
}

#[test]
fn a_full_queue_answers_503_and_accepts_again_once_a_task_is_cancelled() {
    let repository = repository(CONFIGURATION);
    let server = start(&repository);
    for number in 1..=3 {
        assert_eq!(opened(&server, "d", number).status, 202);
    }
    let full = opened(&server, "d", 4);
    assert_eq!(full.status, 503);
    assert!(full.head.contains("retry-after: 10"), "{}", full.head);
    assert!(full.body.contains("queue `qa` is full"), "{}", full.body);
    let cancelled = format!("review-o.r-1-main-{}", commit(1));
    let ran = assay_with(repository.path(), &["queue", "cancel", &cancelled], b"", &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(opened(&server, "d", 4).status, 202);
}

#[test]
fn invalid_server_options_and_configuration_are_refused_at_start() {
    let fine = repository(CONFIGURATION);
    let check =
        |repository: &Repository, args: &[&str], variables: &[(&str, &str)], expected: &str| {
            let args: Vec<&str> = ["serve"].iter().chain(args).copied().collect();
            let ran = assay_with(repository.path(), &args, b"", variables);
            assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
            assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
        };
    check(&fine, &["--listen", "0.0.0.0:0"], &[], "--allow-host");
    check(&fine, &["--token-env", "NOT_SET"], &[], "`NOT_SET` is not set");
    let short = [("GITHUB_WEBHOOK_SECRET", "hunter2")];
    check(&fine, &[], &short, "the secret in `GITHUB_WEBHOOK_SECRET` is too short");
    let odd = repository("github: { repositories: [owner] }\n");
    check(&odd, &[], &[], "invalid repository \"owner\"");
    let slip = repository("jira: { webhook_secret_env: X }\n");
    check(&slip, &[], &[], "webhook_secret_env");
    let taken = start(&fine);
    check(&fine, &["--listen", taken.address()], &[], "cannot listen on");
}

/// A fiftieth of `cargo xtask soak webhooks`.
#[test]
fn every_acknowledged_delivery_is_queued_once_even_if_the_server_is_killed() {
    let repository = repository(storm::CONFIGURATION);
    let size = StormSize { deliveries: 200, in_flight: 8, kills: 2 };
    let outcome = storm::storm(program(), repository.path(), size, 1).unwrap();
    assert_eq!(storm::check(repository.path(), size, &outcome), Ok(180));
}

mod on_postgres {
    use assay_testenv::postgres::{PrivatePostgres, ServerDurability};

    use super::*;

    #[test]
    fn an_unreachable_database_is_reported_and_no_delivery_is_lost() {
        let mut database =
            PrivatePostgres::start(&std::env::temp_dir(), ServerDurability::No).unwrap();
        let repository =
            repository(&format!("{CONFIGURATION}queue: {{ url: \"${{QUEUE_URL}}\" }}\n"));
        let url = database.url();
        let variables = [("QUEUE_URL", url.as_str())];
        let run =
            |args: &[&str]| -> AssayRun { assay_with(repository.path(), args, b"", &variables) };
        assert_eq!(run(&["queue", "migrate"]).code, 0);
        let server = start_with(&repository, &variables);
        let get =
            |path: &str| webhook::send(server.address(), "GET", path, &[], b"").unwrap().status;
        assert_eq!(opened(&server, "one", 1).status, 202);
        assert_eq!((get("/healthz"), get("/readyz")), (200, 200));
        database.kill().unwrap();
        let away = opened(&server, "two", 2);
        assert_eq!(away.status, 503, "{}", away.body);
        assert!(away.head.contains("retry-after: 10"), "{}", away.head);
        assert!(away.body.contains("database"), "{}", away.body);
        assert_eq!((get("/healthz"), get("/readyz")), (200, 503));
        database.resume().unwrap();
        // The task may be queued by now: a write that waits for the database goes on after the
        // request is answered with 503.
        assert!([200, 202].contains(&opened(&server, "two", 2).status));
        assert_eq!(opened(&server, "two", 2).status, 200);
        let listed = run(&["queue", "list", "--json"]);
        for number in [1, 2] {
            let task = format!("\"review-o.r-{number}-main-{}\"", commit(1));
            assert!(listed.stdout.contains(&task), "{}{}", listed.stdout, listed.stderr);
        }
        let (code, said) = server.stop();
        assert_eq!(code, Some(0), "{said}");
        assert!(!said.contains("not-a-secret"), "{said}");
    }
}

#[test]
fn a_request_is_a_span_below_that_of_the_client_and_metrics_count_the_spans() {
    let collector = FakeCollector::start(CollectorBehaviour::Accepts);
    let repository = repository(CONFIGURATION);
    let url = collector.url();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*url),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1"),
    ];
    let server = start_with(&repository, &variables);
    let token = fs::read_to_string(repository.path().join(".assay/serve/token")).unwrap();
    let bearer = format!("Bearer {}", token.trim());
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let headers = [("authorization", &*bearer), ("traceparent", parent)];
    let get = |path: &str, headers: &[(&str, &str)]| {
        webhook::send(server.address(), "GET", path, headers, b"").unwrap()
    };
    assert_eq!(get("/runs/20260101-000000?token=secret-word", &headers).status, 404);
    let spans = collector.wait_for_spans(1);
    assert_eq!(get("/nowhere/7", &[]).status, 404);
    let later = collector.wait_for_spans(2);
    let metrics = get("/metrics", &headers).body;
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(collector.problems(), [""; 0]);
    assert_eq!(spans[0].name, "GET /runs/{id}");
    assert_eq!(spans[0].trace, "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(spans[0].parent.as_deref(), Some("00f067aa0ba902b7"));
    assert_eq!(spans[0].attribute("http.response.status_code").as_deref(), Some("404"));
    assert_eq!(spans[0].attribute("url.path").as_deref(), Some("/runs/20260101-000000"));
    assert_eq!((&*later[1].name, &later[1].parent), ("GET", &None));
    assert!(metrics.contains("assay_trace_spans_total{outcome=\"sent\"}"), "{metrics}");
    assert!(!format!("{later:?}").contains("secret-word"));
}
