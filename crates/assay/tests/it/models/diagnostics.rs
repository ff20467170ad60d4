//! Events on stderr: the model, command or reviewer that a run waits for, and no credential.

use assay_testkit::model::{Fault, Pause};
use serde_json::json;

use super::{Case, KEY, ModelFaultKind};
use crate::assay_with;
use crate::mcp::call;

/// Returns the lines that contain all words, without their timestamps.
fn lines<'a>(stderr: &'a str, words: &[&str]) -> Vec<&'a str> {
    let has_all = |line: &&str| words.iter().all(|word| line.contains(word));
    stderr.lines().filter(has_all).map(|line| line.split_once(' ').unwrap().1).collect()
}

#[test]
fn the_log_identifies_a_hung_model_as_called_and_not_answered() {
    let case = Case::new("  stall_seconds: 1\n  seconds: 600\n  cache: false\n");
    case.trouble(&["`intent` reviewer"], ModelFaultKind::Fault(Fault::Hang(Pause::BeforeHead)));
    let ran = case.run_with(&["review", "--models"], &[("ASSAY_LOG", "debug")]);
    let asked = lines(&ran.stderr, &["calling the model", "intent"]);
    assert!(asked.len() == 2 && asked[0].contains("fake-1"), "{}", ran.stderr);
    assert_eq!(lines(&ran.stderr, &["the model answered", "intent"]), [""; 0]);
    let retries = lines(&ran.stderr, &["WARN", "retrying the model call", "intent", "attempt=1"]);
    assert_eq!(retries.len(), 1, "{}", ran.stderr);
    assert_eq!(lines(&ran.stderr, &["the model answered", "correctness"]).len(), 1);
}

#[test]
fn no_event_shows_the_key_or_the_question() {
    let case = Case::new("");
    let ran = case.run_with(&["review", "--models"], &[("ASSAY_LOG", "trace")]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(ran.stderr.contains("calling the model"), "{}", ran.stderr);
    assert!(!ran.stderr.contains(KEY), "{}", ran.stderr);
    assert!(!ran.stderr.contains("You are the `"), "{}", ran.stderr);
}

#[test]
fn the_options_choose_how_much_is_printed() {
    let case = Case::new("  cache: false\n");
    let quiet = case.review(&[]);
    assert_eq!(quiet.stderr, "");
    let info = case.review(&["-v"]);
    assert_eq!(lines(&info.stderr, &["INFO", "the reviewer starts", "\"rules\""]).len(), 1);
    assert_eq!(lines(&info.stderr, &["DEBUG"]), [""; 0]);
    let debug = case.review(&["-vv"]);
    assert_eq!(lines(&debug.stderr, &["DEBUG", "matched the rules", "\"shop.py\""]).len(), 1);
    assert_eq!(quiet.stdout, debug.stdout);
}

#[test]
fn a_filter_names_the_crates_whose_events_are_printed() {
    let case = Case::new("");
    let of_models = [("ASSAY_LOG", "assay_models=debug")];
    let ran = case.run_with(&["review", "--models", "-vv"], &of_models);
    assert!(ran.stderr.contains("calling the model"), "{}", ran.stderr);
    assert!(ran.stderr.lines().all(|line| line.contains(" assay_models::")), "{}", ran.stderr);
    let unreadable = case.run_with(&["review"], &[("ASSAY_LOG", "assay_models=loud")]);
    assert_eq!(unreadable.code, 2);
    assert!(unreadable.stderr.contains("is not a filter; use a level"), "{}", unreadable.stderr);
}

#[test]
fn no_event_of_a_dependency_is_printed() {
    let case = Case::new("");
    let call = call(1, "start_review", &json!({ "scope": "a word of the caller" }));
    let args = ["mcp", "review"];
    let variables = [("ASSAY_LOG", "trace")];
    let folder = case.repository.path();
    let ran = assay_with(folder, &args, format!("{call}\n").as_bytes(), &variables);
    assert!(ran.stderr.contains("calling the tool"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("a word of the caller"), "{}", ran.stderr);
    assert!(ran.stderr.lines().all(|line| line.contains(" assay_")), "{}", ran.stderr);
}
