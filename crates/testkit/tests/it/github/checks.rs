//! Check runs and uploads.

use assay_testkit::github::{GitHub, sha};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{REPO, answer_text, github};

fn as_app(github: &GitHub, method: &str, below: &str, body: &Value) -> (u16, Value) {
    github.ask("t-app", method, &format!("/repos/{REPO}{below}"), body)
}

fn annotation() -> Value {
    json!({
        "path": "src/a.rs", "start_line": 2, "end_line": 2, "annotation_level": "warning",
        "message": "Hm.",
    })
}

fn run(annotations: usize) -> Value {
    let output = json!({
        "title": "assay", "summary": "Some.", "annotations": vec![annotation(); annotations],
    });
    json!({ "name": "assay", "head_sha": sha("head"), "output": output })
}

#[test]
fn annotations_of_a_check_run_accumulate_over_updates() {
    let github = github();
    let (status, made) = as_app(&github, "POST", "/check-runs", &run(50));
    assert_eq!((status, &made["status"]), (201, &json!("queued")));
    let path = format!("/check-runs/{}", made["id"]);
    let mut more = run(7);
    more.as_object_mut().unwrap().remove("head_sha");
    more["conclusion"] = json!("failure");
    let (status, made) = as_app(&github, "PATCH", &path, &more);
    assert_eq!((status, &made["status"]), (200, &json!("completed")));
    assert_eq!(made["output"]["annotations_count"], 57);
    assert_eq!(github.check_runs(REPO)[0]["annotations"].as_array().unwrap().len(), 57);
    for reference in [sha("head").as_str(), "topic", "heads/topic"] {
        let (_, all) =
            as_app(&github, "GET", &format!("/commits/{reference}/check-runs"), &Value::Null);
        assert_eq!((&all["total_count"], &all["check_runs"][0]), (&json!(1), &made));
    }
    let (_, none) = as_app(&github, "GET", "/commits/main/check-runs", &Value::Null);
    assert_eq!(none["total_count"], 0);
}

/// Changes one field of a valid check run, and checks the error.
#[track_caller]
fn refused(at: &str, value: Value, why: &str) {
    let github = github();
    let mut body = run(1);
    let (parent, name) = at.rsplit_once('/').unwrap();
    body.pointer_mut(parent).unwrap()[name] = value;
    let answer_text = answer_text(&as_app(&github, "POST", "/check-runs", &body));
    assert!(answer_text.starts_with("422") && answer_text.contains(why), "{answer_text}");
    assert!(github.check_runs(REPO).is_empty());
}

#[test]
fn a_check_run_beyond_the_limits_is_refused() {
    refused("/head_sha", json!(sha("other")), "No commit found for SHA");
    refused("/status", json!("completed"), "\"conclusion\" wasn't supplied");
    refused("/conclusion", json!("stale"), "is not a member of");
    refused("/output/summary", json!("x".repeat(65_536)), "Only 65535 characters are allowed");
    refused("/output/text", json!("x".repeat(65_536)), "Only 65535 characters are allowed");
    refused("/output/annotations", json!(vec![annotation(); 51]), "No more than 50 items");
    refused("/output/annotations", json!([{}]), "\"path\" wasn't supplied");
    refused("/actions", json!([{}, {}, {}, {}]), "No more than 3 items");
    let action = json!([{ "label": "x".repeat(21), "description": "d", "identifier": "i" }]);
    refused("/actions", action, "For 'label', 20 characters are the most");
}

#[test]
fn an_annotation_beyond_the_limits_is_refused() {
    let wrong = |name: &str, value: Value, why: &str| {
        let mut annotation = annotation();
        annotation[name] = value;
        refused("/output/annotations", json!([annotation]), why);
    };
    wrong("end_line", json!(1), "end_line must not be before start_line");
    wrong("start_line", json!(0), "\"start_line\" wasn't supplied");
    wrong("annotation_level", json!("error"), "is not a member of");
    wrong("message", json!("x".repeat(64 * 1024 + 1)), "64 KB are the most");
    wrong("raw_details", json!("x".repeat(64 * 1024 + 1)), "64 KB are the most");
    wrong("title", json!("x".repeat(256)), "255 characters are the most");
    let several = json!([{
        "path": "a", "start_line": 1, "end_line": 2, "start_column": 1,
        "annotation_level": "notice", "message": "x",
    }]);
    refused("/output/annotations", several, "columns are only for annotations on one line");
}

#[test]
fn a_user_cannot_create_check_runs() {
    let github = github();
    let got = github.ask("t-rev", "POST", &format!("/repos/{REPO}/check-runs"), &run(1));
    assert_eq!(answer_text(&got), "403 You must authenticate via a GitHub App.");
}

/// Returns a text as gzip with a checksum and without compression.
fn packed(text: &str, checksum: u32) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap();
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&(!length).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes.extend_from_slice(&u32::from(length).to_le_bytes());
    bytes
}

#[test]
fn an_uploaded_sarif_file_is_decompressed_and_checked() {
    let github = github();
    let upload = |sarif: &[u8]| {
        let body = json!({
            "commit_sha": sha("head"), "ref": "refs/pull/1/head", "sarif": STANDARD.encode(sarif),
        });
        answer_text(&github.ask(
            "t-rev",
            "POST",
            &format!("/repos/{REPO}/code-scanning/sarifs"),
            &body,
        ))
    };
    // The output of `gzip -9`, once with dynamic and once with fixed Huffman codes.
    let squeezed = STANDARD.decode(include_str!("sarif.gz.base64").replace('\n', "")).unwrap();
    assert_eq!(upload(&squeezed), "202");
    assert_eq!(github.sarifs(REPO)[0].document["runs"].as_array().unwrap().len(), 12);
    let small = "H4sIAAAAAAACA6tWKkstKs7Mz1OyUjLSM9QzUNJRKirNK1ayio6tBQBSlZKzHQAAAA==";
    assert_eq!(upload(&STANDARD.decode(small).unwrap()), "202");
    let text = r#"{"version":"2.1.0","runs":[]}"#;
    assert_eq!(upload(&packed(text, 0xb392_9552)), "202");
    assert_eq!(upload(&packed(text, 1)), "400 sarif is not gzip");
    assert_eq!(upload(text.as_bytes()), "400 sarif is not gzip");
    assert_eq!(upload(&squeezed[..squeezed.len() - 9]), "400 sarif is not gzip");
    assert_eq!(upload(&vec![0; 10 * 1024 * 1024 + 1]), "413 Payload Too Large");
    assert_eq!(github.sarifs(REPO).len(), 3);
}
