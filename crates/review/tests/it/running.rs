//! Reviewers that run side by side, and stored runs.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::thread;

use assay_base::shutdown::Shutdown;
use assay_change::state as work_tree;
use assay_change::{Change, Scope, Selection};
use assay_findings::coverage::{HunkOutcome, ReviewerCoverage};
use assay_findings::report::{self, Report, ReviewerKind};
use assay_findings::synthesis::Synthesis;
use assay_findings::verdict::VerdictState;
use assay_review::runs::{self, RunContent};
use assay_review::{
    Concurrency, OnProgress, ReadDecision, Review, ReviewObserver, ReviewPolicy, Reviewer,
    ReviewerAnswer, RuleReviewer, StartOrder, run_until,
};
use assay_rules::Rulebook;
use assay_testkit::Repository;

/// A reviewer with a scripted behaviour.
struct Stub {
    name: &'static str,
    required: bool,
    does: StubAction,
}

#[derive(PartialEq)]
enum StubAction {
    Read,
    Rest,
    Crash,
    Hang,
}

impl Reviewer for Stub {
    fn name(&self) -> &str {
        self.name
    }

    fn kind(&self) -> ReviewerKind {
        ReviewerKind::Command
    }

    fn is_required(&self) -> bool {
        self.required
    }

    fn interest(&self, _change: &Change) -> ReadDecision {
        match self.does {
            StubAction::Rest => ReadDecision::Skips("it is tired".into()),
            StubAction::Read | StubAction::Crash | StubAction::Hang => {
                ReadDecision::Reads("it is told to".into())
            }
        }
    }

    fn review(&self, change: &Change, _on_progress: OnProgress<'_>) -> ReviewerAnswer {
        assert!(self.does != StubAction::Crash, "as told");
        if self.does == StubAction::Hang {
            loop {
                thread::park();
            }
        }
        ReviewerAnswer {
            report: Report::new(report::Reviewer::new(self.name, self.kind())),
            looks: ReviewerCoverage {
                reviewer: self.name.to_owned(),
                kind: self.kind(),
                required: self.required,
                hunks: vec![HunkOutcome::Reviewed; change.hunks()],
            },
            suppressions: Vec::new(),
            exchanges: Vec::new(),
        }
    }
}

struct NullObserver;

impl ReviewObserver for NullObserver {
    fn on_progress(&self, _reviewer: &str, _chars: usize) {}

    fn on_start(&self, _reviewers: &[&str]) {}
    fn on_answer(&self, _answer: &ReviewerAnswer) {}
}

/// Returns a repository with a small change in its work tree.
fn repository() -> (Repository, Arc<Change>) {
    let repository = Repository::new();
    repository.write("a.py", "a = 1\n");
    repository.commit("before");
    repository.write("a.py", "a = 2\n");
    let change =
        assay_change::open(repository.path(), &Scope::Automatic, &Selection::default()).unwrap();
    (repository, Arc::new(change))
}

fn review(change: &Arc<Change>, stubs: Vec<Stub>) -> (Review, Synthesis) {
    review_until(&Shutdown::default(), &NullObserver, change, stubs)
}

/// Runs a review that can be interrupted.
fn review_until(
    shutdown: &Shutdown,
    watch: &dyn ReviewObserver,
    change: &Arc<Change>,
    stubs: Vec<Stub>,
) -> (Review, Synthesis) {
    let mut reviewers: Vec<Box<dyn Reviewer>> = vec![Box::new(RuleReviewer(Rulebook::builtin()))];
    reviewers.extend(stubs.into_iter().map(|stub| Box::new(stub) as Box<dyn Reviewer>));
    let at_a_time = Concurrency { local: 2, models: 2, order: StartOrder::AllAtOnce };
    let review = run_until(shutdown, change, &reviewers.into(), at_a_time, watch);
    let synthesis = review.synthesis(change, &ReviewPolicy::default());
    (review, synthesis)
}

fn record<'a>(change: &'a Change, review: &'a Review, synthesis: &'a Synthesis) -> RunContent<'a> {
    RunContent {
        change,
        reports: &review.reports,
        synthesis,
        log: &[],
        version: "0",
        provenance: BTreeMap::new(),
        exchanges: &[],
        recording: None,
        replies: None,
    }
}

fn told(synthesis: &Synthesis) -> String {
    let coverage = synthesis.coverage.as_ref().unwrap();
    format!("{}; {coverage}", synthesis.verdict.state.in_words())
}

#[test]
fn reviewers_that_run_are_named_and_skipped_ones_are_not() {
    let (_repository, change) = repository();
    let reads = Stub { name: "lint", required: false, does: StubAction::Read };
    let rests = Stub { name: "sleeper", required: true, does: StubAction::Rest };
    let (review, synthesis) = review(&change, vec![rests, reads]);
    let names: Vec<&str> = review.reports.iter().map(|r| r.reviewer.name.as_str()).collect();
    assert_eq!(names, ["rules", "lint"]);
    assert_eq!(told(&synthesis), "ready; 1 hunk: 1 by rules and lint");
}

/// Interrupts the review as soon as the rules have answered.
struct ShutdownAfterRules(Shutdown);

impl ReviewObserver for ShutdownAfterRules {
    fn on_progress(&self, _reviewer: &str, _chars: usize) {}

    fn on_start(&self, _reviewers: &[&str]) {}

    fn on_answer(&self, answer: &ReviewerAnswer) {
        if answer.report.reviewer.name == "rules" {
            self.0.request();
        }
    }
}

#[test]
fn an_interrupted_review_keeps_the_finished_reports_and_never_passes() {
    let (_repository, change) = repository();
    for required in [true, false] {
        let shutdown = Shutdown::default();
        let hangs = Stub { name: "lint", required, does: StubAction::Hang };
        let watch = ShutdownAfterRules(shutdown.clone());
        let (review, synthesis) = review_until(&shutdown, &watch, &change, vec![hangs]);
        assert_eq!(review.interrupted, ["lint"]);
        assert_eq!(synthesis.verdict.state, VerdictState::Incomplete);
        let why: Vec<&str> = synthesis.verdict.because.iter().map(|it| it.text.as_str()).collect();
        assert!(
            why.iter().any(|why| why.contains("`lint`") && why.contains("interrupted")),
            "{why:?}"
        );
        assert!(synthesis.reports.iter().any(|it| it.reviewer == "rules" && it.unusable.is_none()));
    }
}

#[test]
fn the_rules_are_not_interrupted_even_if_the_shutdown_precedes_the_review() {
    let (_repository, change) = repository();
    let shutdown = Shutdown::default();
    shutdown.request();
    let hangs = Stub { name: "lint", required: false, does: StubAction::Hang };
    let (review, synthesis) = review_until(&shutdown, &NullObserver, &change, vec![hangs]);
    assert_eq!(review.interrupted, ["lint"]);
    assert_eq!(synthesis.verdict.state, VerdictState::Incomplete);
}

#[test]
fn a_crashed_reviewer_does_not_affect_the_others() {
    let (_repository, change) = repository();
    let crashes = Stub { name: "lint", required: false, does: StubAction::Crash };
    let (_, synthesis) = review(&change, vec![crashes]);
    assert_eq!(told(&synthesis), "ready; 1 hunk: 1 by rules");
    let report = synthesis.reports.iter().find(|report| report.reviewer == "lint").unwrap();
    assert!(report.unusable.is_some(), "it is told all the same");
}

#[test]
fn a_crashed_required_reviewer_leaves_the_review_incomplete() {
    let (_repository, change) = repository();
    let crashes = Stub { name: "lint", required: true, does: StubAction::Crash };
    let (_, synthesis) = review(&change, vec![crashes]);
    assert_eq!(synthesis.verdict.state, VerdictState::Incomplete);
    assert!(
        told(&synthesis).contains("1 failed (lint: the reviewer crashed"),
        "{}",
        told(&synthesis)
    );
}

fn state(repository: &Repository) -> work_tree::State {
    work_tree::State::new(repository.path(), Some(repository.state_home()))
}

#[test]
fn a_run_changed_by_another_program_is_refused_and_not_skipped() {
    let (repository, change) = repository();
    let (review, synthesis) = review(&change, Vec::new());
    let record = record(&change, &review, &synthesis);
    let first = record.save(&state(&repository), "1").unwrap();
    record.save(&state(&repository), "2").unwrap();
    fs::write(first.with_file_name("2").join("fixes.json"), "forged").unwrap();
    let told = runs::find(&state(&repository), None).unwrap_err().to_string();
    assert!(
        told.starts_with("`.assay/runs/2` is not used: another program changed the state"),
        "{told}"
    );
    fs::create_dir(first.with_file_name("3")).unwrap();
    let told = runs::find(&state(&repository), None).unwrap_err().to_string();
    assert!(told.starts_with("`.assay/runs/3` is not used: assay did not write"), "{told}");
    assert_eq!(runs::find(&state(&repository), Some("1")).unwrap(), first);
}

#[test]
fn a_run_is_stored_completely_or_not_at_all() {
    let (repository, change) = repository();
    let (review, synthesis) = review(&change, Vec::new());
    let record = record(&change, &review, &synthesis);
    let folder = record.save(&state(&repository), "1").unwrap();
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "context.json", "fixes.json", "log", "made-with.json", "reviewer-rules.compact.json",
            "reviewer-rules.json", "synthesis.json", "verdict.json",
        ]
    );
    assert_eq!(runs::find(&state(&repository), None).unwrap(), folder);
    // With the same id, the existing run stays, and no draft is left next to it.
    record.save(&state(&repository), "1").unwrap_err();
    let kept = fs::read_dir(folder.parent().unwrap()).unwrap().count();
    assert_eq!(kept, 1);
    // Git does not see the stored runs.
    repository.git(&["add", "--all"]);
    let staged = assay_change::open(repository.path(), &Scope::Staged, &Selection::default());
    let paths: Vec<String> =
        staged.unwrap().files.iter().map(|file| file.path().to_owned()).collect();
    assert_eq!(paths, ["a.py"]);
}

#[test]
fn the_oldest_runs_are_deleted_when_there_are_too_many() {
    let (repository, change) = repository();
    let (review, synthesis) = review(&change, Vec::new());
    let record = record(&change, &review, &synthesis);
    let first = record.save(&state(&repository), "000").unwrap();
    for id in 1..100 {
        fs::create_dir(first.with_file_name(format!("{id:03}"))).unwrap();
    }
    assert!(first.exists(), "a hundred are kept");
    record.save(&state(&repository), "100").unwrap();
    assert!(!first.exists());
    assert!(first.with_file_name("001").exists());
}

#[test]
fn an_unknown_run_is_reported_with_the_existing_runs() {
    let (repository, change) = repository();
    assert_eq!(
        runs::find(&state(&repository), None).unwrap_err().to_string(),
        "no review has been run yet; run `assay review`"
    );
    let (review, synthesis) = review(&change, Vec::new());
    let record = record(&change, &review, &synthesis);
    record.save(&state(&repository), "1").unwrap();
    assert_eq!(
        runs::find(&state(&repository), Some("2")).unwrap_err().to_string(),
        "unknown run `2`; `.assay/runs/` has: 1"
    );
}
