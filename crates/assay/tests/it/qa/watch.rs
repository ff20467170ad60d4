//! `--watch`: a spec is validated as soon as its last subtask is completed.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;

use super::{FIX, PLAN, QaFixture, SPEC};

/// Starts to watch, and waits for the line about what is watched.
fn watching(
    fixture: &QaFixture,
    args: &[&str],
    told: &str,
) -> (Child, impl Iterator<Item = String> + use<>) {
    let (mut child, lines) = fixture.spawn(&[&["--watch"], args].concat());
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(told) {
        line.clear();
        assert_ne!(errors.read_line(&mut line).unwrap(), 0, "it ended without `{told}`");
    }
    // Drains stderr, so that the process does not block on a full pipe.
    std::thread::spawn(move || errors.read_to_end(&mut Vec::new()));
    (child, lines)
}

fn unfinished() -> String {
    let (before, after) = PLAN.rsplit_once("\"completed\"").unwrap();
    format!("{before}\"pending\"{after}")
}

const AT: &str = "specs/001-greeting/implementation_plan.json";

#[test]
fn a_spec_is_validated_once_its_last_subtask_is_completed() {
    let fixture = QaFixture::with(SPEC, &unfinished(), FIX, "");
    let pending = "`1.2` (Say goodbye) is pending";
    let (mut child, lines) = watching(&fixture, &["--spec", "001"], pending);
    assert!(!fixture.has_artifact("qa_journal.jsonl"));
    fixture.repository.write(AT, PLAN);
    let told: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{told:#?}");
    assert!(told.iter().any(|line| line.starts_with("APPROVED after 2 rounds")), "{told:#?}");
    fixture.is_approved();
}

#[test]
fn a_partially_written_plan_is_read_again() {
    let fixture = QaFixture::with(SPEC, &PLAN[..40], FIX, "");
    let (mut child, lines) =
        watching(&fixture, &["--spec", "001"], "cannot parse the plan as JSON");
    fixture.repository.write(AT, PLAN);
    let told: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{told:#?}");
    fixture.is_approved();
}

#[test]
fn without_a_named_spec_every_spec_is_watched() {
    let fixture = QaFixture::with(SPEC, &unfinished(), FIX, "");
    let pending = "`1.2` (Say goodbye) is pending";
    let (mut child, mut lines) = watching(&fixture, &[], pending);
    fixture.repository.write(AT, PLAN);
    assert!(lines.any(|line| line.starts_with("APPROVED after 2 rounds")));
    // A spec that is added later is found, too.
    fixture.repository.write("specs/002-parting/spec.md", SPEC);
    fixture.repository.write("specs/002-parting/implementation_plan.json", PLAN);
    assert!(lines.any(|line| line.starts_with("APPROVED after 1 round")));
    child.kill().unwrap();
    child.wait().unwrap();
}
