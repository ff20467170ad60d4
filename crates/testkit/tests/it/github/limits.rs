//! Rate limits, and the record of the peak load.

use std::time::Duration;

use assay_testkit::github::{GitHub, PeakLoad};
use serde_json::{Value, json};

use super::{REPO, ask, ask_with, github};

fn write(github: &GitHub) -> u16 {
    ask(github, "POST", "/issues/1/comments", json!({ "body": "x" })).0
}

#[test]
fn more_than_eighty_writes_a_minute_are_refused() {
    let github = github();
    let half_a_second = || github.clock().advance(Duration::from_millis(500));
    for _ in 0..80 {
        assert_eq!(write(&github), 201);
        half_a_second();
    }
    let mut ways = Vec::new();
    for _ in 0..30 {
        ways.push(write(&github));
        ask(&github, "GET", "/pulls", Value::Null);
    }
    ways.sort_unstable();
    ways.dedup();
    assert_eq!(ways, [403, 422, 429]);
    assert_eq!(github.comments(REPO, 1).len(), 80);
    let busiest = github.busiest();
    assert_eq!((busiest.minute, busiest.hour), (110, 110));
    // The first refused write got the request to wait; all later ones ignored it.
    assert_eq!((busiest.gap, busiest.impatient), (Some(Duration::ZERO), 29));
    github.clock().advance(Duration::from_secs(60));
    assert_eq!(write(&github), 201);
    assert_eq!(github.busiest(), PeakLoad { hour: 111, ..busiest });
}

#[test]
fn more_than_five_hundred_writes_an_hour_are_refused() {
    let github = github();
    for _ in 0..500 {
        assert_eq!(write(&github), 201);
        github.clock().advance(Duration::from_secs(2));
    }
    assert_ne!(write(&github), 201);
    assert_eq!(
        github.busiest(),
        PeakLoad { minute: 30, hour: 501, gap: Some(Duration::from_secs(2)), impatient: 0 },
    );
    github.clock().advance(Duration::from_secs(3600));
    assert_eq!(write(&github), 201);
}

#[test]
fn refused_writes_count_towards_the_limit() {
    let github = github();
    for _ in 0..80 {
        assert_eq!(ask(&github, "POST", "/issues/1/comments", json!({})).0, 422);
    }
    assert_ne!(write(&github), 201);
    assert_eq!(github.busiest().minute, 81);
}

#[test]
fn requests_beyond_the_hourly_limit_are_refused_until_the_reset() {
    let github = github();
    let path = format!("/repos/{REPO}/git/ref/heads/main");
    let get = || ask_with(&github, &path, &[]);
    let field = |name: &str| get().header(name).unwrap().parse::<u64>().unwrap();
    assert_eq!(field("x-ratelimit-limit"), 5_000);
    assert_eq!(get().header("date"), Some("Mon, 01 Jun 2026 00:00:00 GMT"));
    github.limit_requests(4);
    github.clock().advance(Duration::from_secs(60));
    assert_eq!(field("x-ratelimit-remaining"), 1);
    assert_eq!(field("x-ratelimit-reset"), 1_780_272_000 + 3600);
    let refused = get();
    assert_eq!((refused.status, refused.header("x-ratelimit-remaining")), (403, Some("0")));
    github.clock().advance(Duration::from_secs(3540));
    assert_eq!(get().status, 200);
}

#[test]
fn graphql_has_an_hourly_limit_of_its_own() {
    let github = github();
    github.limit_requests(1);
    let query = json!({ "query": "query Me { viewer { login } }" });
    let ask = || github.ask("t-rev", "POST", "/graphql", &query);
    assert_eq!(ask().1["data"]["viewer"]["login"], "rev");
    let (status, body) = ask();
    assert_eq!((status, &body["errors"][0]["type"]), (200, &json!("RATE_LIMITED")));
    assert_eq!(super::ask(&github, "GET", "/pulls", Value::Null).0, 200);
    assert_eq!(github.busiest().minute, 0);
}
