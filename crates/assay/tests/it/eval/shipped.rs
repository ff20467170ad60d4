//! The set of the repository, `examples/eval`.

use std::path::Path;

use serde_json::Value;

use crate::assay_in;

/// The least F1 and the most comments for each change of a recorded review of the set.
const MIN_F1: f64 = 0.4;
const MAX_COMMENTS: f64 = 2.5;

/// The most bytes of a recording, which goes with every copy of the repository.
const MAX_RECORDING: u64 = 400_000;

#[test]
fn recordings_of_the_repositorys_set_leave_no_question_open_and_keep_their_figures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let set = root.join("examples/eval");
    let elsewhere = tempfile::tempdir().unwrap();
    let args = ["eval", set.to_str().unwrap(), "--reviewers", "recorded", "--format", "json"];
    let ran = assay_in(elsewhere.path(), &args, b"");
    if !set.join("recordings").is_dir() {
        assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("the set has no folder `recordings/`"), "{}", ran.stderr);
        return;
    }
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for reviewer in ran.json()["reviewers"].as_array().unwrap() {
        let name = reviewer["name"].as_str().unwrap();
        assert_eq!(reviewer["missing"].as_object().map(|it| it.len()), Some(0), "{name}");
        assert_eq!(reviewer["incomplete"], Value::Null, "{name}");
        // The plain question is there to be beaten.
        if name != "recorded=question" {
            let f = reviewer["summary"]["f"]["value"].as_f64().unwrap();
            let comments = reviewer["summary"]["comments_per_change"]["value"].as_f64().unwrap();
            assert!(f >= MIN_F1 && comments <= MAX_COMMENTS, "{name}: {f} {comments}");
        }
        let folder = set.join("recordings").join(name.trim_start_matches("recorded="));
        if let Ok(kept) = folder.join("answers.jsonl").metadata() {
            assert!(kept.len() <= MAX_RECORDING, "{name}: {} bytes", kept.len());
        }
    }
}
