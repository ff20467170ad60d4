//! Updates of a spec's tickets in JIRA and Linear, and their transitions.

use std::path::Path;

use assay_change::state::State;
use assay_testkit::jira::{self, FakeJira};
use assay_testkit::linear::{self, FakeLinear, Fault};
use expect_test::{Expect, expect};
use serde_json::Value;

use super::{FIX, PLAN, QaFixture, SPEC};
use crate::AssayRun;

/// A loop with a ticket in JIRA and an issue in Linear.
struct TrackedLoop {
    fixture: QaFixture,
    jira: FakeJira,
    linear: FakeLinear,
    ticket: String,
}

impl TrackedLoop {
    /// Sets up a spec whose plan names a ticket, with a fixer that prints all of its variables.
    fn with_fixer(script: &str) -> TrackedLoop {
        let (jira, linear) = (FakeJira::cloud(), FakeLinear::default());
        let services = services(&jira.serve().url(), &linear.serve().url());
        TrackedLoop::with(script, &services, jira, linear)
    }

    /// Sets up such a spec with more lines in the configuration, and services that do not answer.
    fn configured(more: &str) -> TrackedLoop {
        let services = services("http://127.0.0.1:1", "http://127.0.0.1:1");
        let more = format!("{more}{services}");
        TrackedLoop::with(FIX, &more, FakeJira::cloud(), FakeLinear::default())
    }

    fn with(script: &str, services: &str, jira: FakeJira, linear: FakeLinear) -> TrackedLoop {
        let ticket = jira.add("Story", "Greeting");
        let fixture = QaFixture::bare();
        let script = format!("env > '{}'\n{script}\n", fixture.aside("variables").display());
        let plan = PLAN.replacen('{', &format!("{{\n  \"jira_key\": \"{ticket}\","), 1);
        fixture.implemented(SPEC, &plan, &script, services);
        TrackedLoop { fixture, jira, linear, ticket }
    }

    fn ends(&self, code: i32, args: &[&str], rounds: &str) -> AssayRun {
        let variables = [
            ("JIRA_USER", jira::USER),
            ("JIRA_API_TOKEN", jira::TOKEN),
            ("LINEAR_API_KEY", linear::KEY),
            ("LINEAR_TEAM_ID", linear::TEAM_KEY),
            ("MAX_QA_ITERATIONS", rounds),
        ];
        let ran = self.fixture.ends_with(code, args, &variables);
        for secret in [jira::TOKEN, linear::KEY] {
            let texts = [&ran.stdout, &ran.stderr, &self.fixture.artifact("qa_journal.jsonl")];
            assert!(!texts.iter().any(|text| text.contains(secret)));
            let seen = std::fs::read_to_string(self.fixture.aside("variables")).unwrap_or_default();
            assert!(!seen.contains(secret), "the fixer saw it");
        }
        ran
    }

    /// Asserts the comments, and the current states of the tickets.
    fn check(&self, expected: Expect) {
        let said = self.jira.comments(&self.ticket);
        let mut texts: Vec<String> =
            said.iter().map(|comment| still(&paragraphs(comment))).collect();
        texts.push(format!("JIRA: {}", self.jira.status(&self.ticket)));
        texts.extend(self.linear.comments().iter().map(|comment| still(comment)));
        let issues = self.linear.issues().into_iter();
        texts.extend(issues.map(|(title, _, state)| format!("Linear: {title} {state}")));
        expected.assert_eq(&(texts.join("\n") + "\n"));
        assert_eq!((self.jira.problems(), self.linear.problems()), (vec![], vec![]));
    }
}

fn services(jira: &str, linear: &str) -> String {
    format!("jira: {{ url: '{jira}' }}\nlinear: {{ url: '{linear}' }}\n")
}

/// Returns the paragraphs of a document as lines.
fn paragraphs(document: &Value) -> String {
    let lines = document["content"].as_array().unwrap().iter().map(|paragraph| {
        let parts = paragraph["content"].as_array().unwrap().iter();
        parts.map(|part| part["text"].as_str().unwrap()).collect::<String>()
    });
    lines.collect::<Vec<_>>().join(" / ")
}

/// Replaces variable parts of a text by fixed words.
fn still(text: &str) -> String {
    let text = match text.split_once("assay:") {
        Some((before, marker)) if marker.len() == 32 => format!("{before}assay:…"),
        _ => text.to_owned(),
    };
    match text.split_once(" and ") {
        Some((before, after)) => {
            let rest = after.split_once('.').map_or("", |(_, rest)| rest);
            format!("{before} and … s.{rest}")
        }
        None => text,
    }
}

#[test]
fn a_rejected_and_then_approved_loop_is_reported_to_the_trackers_step_by_step() {
    let followed = TrackedLoop::with_fixer(FIX);
    let ran = followed.ends(0, &[], "9");
    assert_eq!(ran.stderr, "");
    let expected = expect![[r#"
        Validation of 001-greeting started. / assay:…
        Validation of 001-greeting, round 1: rejected, 2 issues to fix. / assay:…
        Validation of 001-greeting: approved after 2 rounds and … s. / assay:…
        JIRA: Approved
        Validation of `001-greeting` started.
        Validation of `001-greeting`, round 1: rejected, 2 issues to fix.
        Validation of `001-greeting`: approved after 2 rounds and … s.
        Linear: 001-greeting Done
    "#]];
    followed.check(expected);
    let asked = (followed.jira.asked().len(), followed.linear.asked().len());
    followed.ends(0, &[], "9");
    assert_eq!((followed.jira.asked().len(), followed.linear.asked().len()), asked);
}

#[test]
fn an_escalated_loop_reports_the_reason_and_its_continuation_to_the_trackers() {
    let followed = TrackedLoop::with_fixer("true");
    followed.ends(4, &[], "1");
    followed.check(expect![[r#"
        Validation of 001-greeting started. / assay:…
        Validation of 001-greeting, round 1: rejected, 2 issues to fix. / assay:…
        Validation of 001-greeting needs a person after 1 round: the limit of 1 round is reached. See QA_HUMAN_ESCALATION.md in the folder of the spec. / assay:…
        JIRA: Changes Requested
        Validation of `001-greeting` started.
        Validation of `001-greeting`, round 1: rejected, 2 issues to fix.
        Validation of `001-greeting` needs a person after 1 round: the limit of 1 round is reached. See `QA_HUMAN_ESCALATION.md` in the folder of the spec.
        Linear: 001-greeting In Progress
    "#]]);
    followed.fixture.has_fixer(FIX);
    followed.ends(0, &["--resume"], "9");
    assert_eq!(followed.jira.status(&followed.ticket), "Approved");
    assert_eq!(followed.linear.comments().len(), 6);
}

#[test]
fn unreachable_trackers_cause_only_warnings() {
    let followed = TrackedLoop::configured("");
    let ran = followed.ends(0, &[], "9");
    followed.fixture.is_approved();
    assert!(
        ran.stderr.contains("cannot update JIRA: JIRA at `http://127.0.0.1:1/`"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("the message is stored, and a later run sends it"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("cannot update Linear: "), "{}", ran.stderr);
    assert!(!ran.stdout.contains("cannot update"));
}

/// Moves the next attempt of all stored messages into the past.
fn make_due(followed: &TrackedLoop) {
    let home = Path::new(crate::state_home()).join("assay");
    let state = State::new(followed.fixture.repository.path(), Some(&home));
    let folder = state.home_folder("outbox").unwrap().join(format!("ticket-{}", followed.ticket));
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut message: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        message["not_before"] = Value::Null;
        std::fs::write(path, message.to_string()).unwrap();
    }
}

#[test]
fn messages_that_jira_did_not_receive_are_sent_once_by_the_next_run() {
    let followed = TrackedLoop::with_fixer(FIX);
    (0..200).for_each(|_| followed.jira.fail("/rest/api", jira::Fault::Before(503)));
    let ran = followed.ends(0, &[], "9");
    let kept = "; the message is stored, and a later run sends it";
    assert_eq!(ran.stderr.matches(kept).count(), 1, "{}", ran.stderr);
    assert_eq!(followed.jira.comments(&followed.ticket).len(), 0);
    followed.jira.recover();
    make_due(&followed);
    // The loop does not run again, and the stored messages are sent.
    let ran = followed.ends(0, &[], "9");
    assert_eq!(ran.stderr, "");
    assert_eq!(followed.jira.comments(&followed.ticket).len(), 3);
    assert_eq!(followed.jira.status(&followed.ticket), "Approved");
    let asked = followed.jira.asked().len();
    followed.ends(0, &[], "9");
    assert_eq!(followed.jira.asked().len(), asked);
}

#[test]
fn an_update_that_a_tracker_rejects_causes_a_warning() {
    let followed = TrackedLoop::with_fixer(FIX);
    followed.jira.set(&followed.ticket, "status", "Done".into());
    followed.linear.fail("AssayCreateIssue", Fault::Before(500));
    let ran = followed.ends(0, &[], "9");
    let warned = "cannot update JIRA: cannot move `PROJ-1` to `Code Review`: its status is `Done`; \
                  available transitions: none";
    assert!(ran.stderr.contains(warned), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("cannot update Linear: Linear refused `POST /graphql`"),
        "{}",
        ran.stderr
    );
    // All messages that could be sent were sent.
    assert_eq!(followed.jira.comments(&followed.ticket).len(), 3);
    assert_eq!(followed.linear.comments().len(), 2);
}

#[test]
fn a_lost_response_causes_no_duplicate_comment() {
    let followed = TrackedLoop::with_fixer(FIX);
    followed.jira.fail("POST /rest/api/3/issue/PROJ-1/comment", jira::Fault::CutAfter);
    followed.linear.fail("AssayComment", Fault::CutAfter);
    followed.linear.fail("AssayCreateIssue", Fault::CutAfter);
    let ran = followed.ends(0, &[], "9");
    assert_eq!(ran.stderr, "");
    assert_eq!(followed.jira.comments(&followed.ticket).len(), 3);
    assert_eq!((followed.linear.comments().len(), followed.linear.issues().len()), (3, 1));
}

#[test]
fn with_tracking_disabled_unreachable_trackers_cause_no_warning() {
    let ran = TrackedLoop::configured("  tracking: false\n").ends(0, &[], "9");
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_key_in_the_configuration_is_refused() {
    let fixture =
        QaFixture::with(SPEC, PLAN, FIX, "jira: { url: 'https://j.example', token: abc }\n");
    let ran = fixture.ends(2, &[]);
    assert!(ran.stderr.contains("`jira.token`") && !ran.stderr.contains("abc"), "{}", ran.stderr);
}
