//! Tests of the statistics of loops, computed from their journals.

use assay_checks::check::CheckKind;
use assay_validate::ending::Ending;
use assay_validate::event::{ArtifactDigests, EpochReason, Event, ReviewResult};
use assay_validate::issue::{Issue, IssueKind};
use assay_validate::journal::{Entry, Journal};
use assay_validate::metrics::Metrics;
use expect_test::expect;

use crate::loop_simulation::{hash, issue, outcome, patch};

/// Writes a journal line by line: `SECOND WORD …`. The words are `review`, `check`, `reject TITLE,
/// TITLE`, `approve`, `fix`, `fixed`, `hand over` and `end`.
fn journal(text: &str) -> Vec<Entry> {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(folder.path(), &folder.path().join("state/seal")).unwrap();
    let mut round = 0;
    let at = |second: &str| format!("2026-01-01T00:00:{second}Z");
    journal.add(&at("00.000"), Event::EpochBegun { why: EpochReason::First, base: None }).unwrap();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (second, said) = line.split_once(' ').unwrap();
        let (word, rest) = said.split_once(' ').unwrap_or((said, ""));
        let event = match word {
            "review" => {
                round += 1;
                Event::ReviewBegun { round, tree: hash(round) }
            }
            "check" => Event::Checked { outcome: Box::new(outcome("u", CheckKind::Unit, true)) },
            "reject" => Event::Reviewed { review: review(rest.split(", ").map(typed).collect()) },
            "approve" => Event::Reviewed { review: review(Vec::new()) },
            "fix" => Event::FixBegun { tree: hash(round), request: "r".to_owned() },
            "made" => Event::FixMade { patch: patch(round, round + 1), summary: "done".to_owned() },
            "fixed" => Event::Fixed { tree: hash(round + 1) },
            "ends" => {
                let ending = match rest {
                    "approved" => Ending::Approved,
                    _ => Ending::NoProgress { rounds: 3 },
                };
                Event::EndBegun { ending, artifacts: ArtifactDigests::default(), tree: None }
            }
            "ended" => Event::Ended,
            other => panic!("`{other}`"),
        };
        journal.add(&at(second), event).unwrap();
    }
    journal.entries().to_vec()
}

fn review(issues: Vec<Issue>) -> ReviewResult {
    ReviewResult { issues, ..ReviewResult::default() }
}

/// Creates an issue; a title that begins with `test` makes it an issue of a unit test.
fn typed(title: &str) -> Issue {
    let kind = match title.starts_with("test") {
        true => IssueKind::UnitTest,
        false => IssueKind::CodeQuality,
    };
    Issue { kind, ..issue(title) }
}

#[test]
fn rounds_fixes_and_times_are_added_up() {
    let in_two = journal(
        "01.000 review\n02.500 check\n03.000 reject test a, nit b, test c\n03.000 fix
         07.000 made\n07.000 fixed\n08.000 review\n08.500 check\n09.000 reject test c\n09.000 fix
         10.000 made\n10.000 fixed\n11.000 review\n11.000 check\n12.000 approve
         12.000 ends approved\n12.000 ended",
    );
    let at_once =
        journal("01.000 review\n02.000 check\n02.250 approve\n03.000 ends approved\n03.000 ended");
    let handed_over = journal("01.000 review\n02.000 reject nit\n03.000 ends\n03.000 ended");
    let metrics = Metrics::of(&[in_two, Vec::new(), at_once, handed_over]);
    expect![[r#"
        Specs: 3
        Approved: 2
        Handed over: 1

        Rounds to approval:
          Median: 1
          95th percentile: 3

        Fixed by the next round:
          code_quality: 1 of 1 (100%)
          unit_test: 2 of 3 (66%)

        Time:
          checks: 3.0 s
          fix: 5.0 s
          review: 3.2 s
    "#]]
    .assert_eq(&metrics.text());
    expect![[r#"
        {
          "specs": 3,
          "approvals": 2,
          "handed_over": 1,
          "rounds_to_approval": {
            "median": 1,
            "p95": 3
          },
          "fixes_by_type": {
            "code_quality": {
              "tried": 1,
              "fixed": 1
            },
            "unit_test": {
              "tried": 3,
              "fixed": 2
            }
          },
          "seconds_by_stage": {
            "checks": 3.0,
            "fix": 5.0,
            "review": 3.25
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&metrics).unwrap());
}

#[test]
fn metrics_without_journals_are_zero() {
    expect![[r#"
        Specs: 0
        Approved: 0
        Handed over: 0
    "#]]
    .assert_eq(&Metrics::of(&[]).text());
}
