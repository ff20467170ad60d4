//! The set of this repository, `examples/eval`, with its recordings.

use std::path::Path;

use serde_json::{Value, json};

use crate::assay_in;

/// Changes with a defect and clean ones, alternating, in several languages. The whole set takes
/// minutes.
const CASES: [&str; 8] = [
    "py-late-fee", "ts-order-list", "java-quiet-hours", "php-login-throttle", "cs-trash-sweep",
    "py-webhook-verify", "rs-sparse-index", "c-tick-timers",
];

/// Returns the score of a recording of the set on these cases.
fn score(recording: &str) -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let set = root.join("examples/eval");
    let elsewhere = tempfile::tempdir().unwrap();
    let reviewer = format!("recorded={recording}");
    let mut args = vec!["eval", set.to_str().unwrap(), "--reviewers", &reviewer];
    args.extend(["--format", "json"]);
    args.extend(CASES.iter().flat_map(|case| ["--case", case]));
    let ran = assay_in(elsewhere.path(), &args, b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let reviewers = ran.json()["reviewers"].as_array().unwrap().clone();
    reviewers.into_iter().find(|it| it["name"] == json!(reviewer)).unwrap()
}

/// The current questions must be those that were answered: an answer to another question is not
/// replayed.
#[test]
fn the_recorded_review_of_the_set_names_the_defects_and_blocks_no_clean_change() {
    let score = score("reader");
    assert_eq!(
        score["origin"],
        json!([
            "15 answers replayed from a recording",
            "15 of them given to an earlier wording of the question"
        ])
    );
    assert_eq!(score["summary"]["counts"]["hits"], json!(6));
    assert_eq!(score["summary"]["blocked_for_a_label"], json!([5, 5]));
    assert_eq!(score["summary"]["clean"], json!([0, 3]));
}

#[test]
fn the_recorded_plain_question_is_replayed_and_scored() {
    let score = score("question");
    assert_eq!(
        score["origin"],
        json!([
            "8 answers replayed from a recording",
            "8 of them given to an earlier wording of the question"
        ])
    );
    assert_eq!(score["summary"]["counts"]["labels"], json!(6));
}
