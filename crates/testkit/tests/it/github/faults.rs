//! Injected faults, with and without an effect of the request.

use std::fmt::Write as _;
use std::time::Duration;

use assay_testkit::github::{Fault, FaultTiming, GitHub};
use assay_testkit::web::{Answer, ServiceRequest};
use expect_test::expect;
use serde_json::{Value, json};

use super::{REPO, ask, github};

fn post(github: &GitHub) -> Option<Answer> {
    let fields = [("user-agent", "test"), ("authorization", "Bearer t-rev")];
    github.answer(&ServiceRequest {
        method: "POST".to_owned(),
        target: format!("/repos/{REPO}/issues/1/comments"),
        headers: fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        body: json!({ "body": "x" }).to_string().into_bytes(),
    })
}

#[test]
fn each_fault_gives_its_status_body_and_effect() {
    use FaultTiming::{AfterEffect, BeforeEffect};
    let faults = [
        Fault::Invalid,
        Fault::ServerError,
        Fault::BadGateway(BeforeEffect),
        Fault::BadGateway(AfterEffect),
        Fault::Unavailable,
        Fault::SecondaryLimit { retry_after: Some(30) },
        Fault::SecondaryLimit { retry_after: None },
        Fault::Abuse,
        Fault::TooManyRequests { retry_after: Some(5) },
        Fault::Cut(BeforeEffect),
        Fault::Cut(AfterEffect),
        Fault::Unauthorized,
        Fault::NotFound,
        Fault::Slow(Duration::from_secs(9)),
        Fault::Html(BeforeEffect),
        Fault::Html(AfterEffect),
        Fault::Truncated,
    ];
    let mut seen = String::new();
    for fault in faults {
        let github = github();
        let before = github.clock().now();
        github.fail_next("POST /comments", fault);
        assert_eq!(ask(&github, "GET", "/issues/1/comments", Value::Null).0, 200);
        let answer = post(&github);
        let took = (github.clock().now() - before).as_secs();
        let done = github.comments(REPO, 1).len();
        assert_eq!(github.log()[1].took_effect, done == 1);
        assert_eq!(github.log()[1].status, answer.as_ref().map(|answer| answer.status));
        write!(seen, "{fault:?}: ").unwrap();
        match &answer {
            None => seen += "cut",
            Some(answer) => {
                let body: Result<Value, _> = serde_json::from_slice(&answer.body);
                let kind = if body.is_ok() { "JSON" } else { "no JSON" };
                write!(seen, "{} {kind}", answer.status).unwrap();
                if let Some(seconds) = answer.header("retry-after") {
                    write!(seen, ", wait {seconds}").unwrap();
                }
            }
        }
        writeln!(seen, ", {done} done, {took} s").unwrap();
        assert_eq!(post(&github).unwrap().status, 201, "a fault comes once");
    }
    expect![[r#"
        Invalid: 422 JSON, 0 done, 0 s
        ServerError: 500 JSON, 0 done, 0 s
        BadGateway(BeforeEffect): 502 no JSON, 0 done, 0 s
        BadGateway(AfterEffect): 502 no JSON, 1 done, 0 s
        Unavailable: 503 JSON, 0 done, 0 s
        SecondaryLimit { retry_after: Some(30) }: 403 JSON, wait 30, 0 done, 0 s
        SecondaryLimit { retry_after: None }: 403 JSON, 0 done, 0 s
        Abuse: 422 JSON, 0 done, 0 s
        TooManyRequests { retry_after: Some(5) }: 429 JSON, wait 5, 0 done, 0 s
        Cut(BeforeEffect): cut, 0 done, 0 s
        Cut(AfterEffect): cut, 1 done, 0 s
        Unauthorized: 401 JSON, 0 done, 0 s
        NotFound: 404 JSON, 0 done, 0 s
        Slow(9s): 201 JSON, 1 done, 9 s
        Html(BeforeEffect): 200 no JSON, 0 done, 0 s
        Html(AfterEffect): 200 no JSON, 1 done, 0 s
        Truncated: 201 no JSON, 1 done, 0 s
    "#]]
    .assert_eq(&seen);
}

#[test]
fn random_faults_repeat_for_the_same_seed() {
    let run = |seed: u64| {
        let github = github();
        github.fail_at_random(seed, 3, &[Fault::ServerError, Fault::Unavailable]);
        let statuses: Vec<u16> =
            (0..60).map(|_| ask(&github, "GET", "/pulls", Value::Null).0).collect();
        github.stop_failing();
        assert_eq!(ask(&github, "GET", "/pulls", Value::Null).0, 200);
        statuses
    };
    let first = run(7);
    assert_eq!(first, run(7));
    assert_ne!(first, run(8));
    assert!([200, 500, 503].iter().all(|status| first.contains(status)));
}

#[test]
fn a_request_before_retry_after_has_passed_counts_as_impatient() {
    let github = github();
    github.fail_next("POST", Fault::SecondaryLimit { retry_after: Some(30) });
    assert_eq!(post(&github).unwrap().status, 403);
    github.clock().advance(Duration::from_secs(29));
    post(&github);
    assert_eq!(github.busiest().impatient, 1);
    github.clock().advance(Duration::from_secs(1));
    post(&github);
    assert_eq!(github.busiest().impatient, 1);
}
