use assay_findings::grade::Grade;
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::synthesis::{SynthesisInputs, synthesize};
use assay_findings::trace::{TraceRole, TraceStep};
use assay_findings::vote::{Confidence, LineRange, Vote};
use assay_review::run_context::{ContextLine, ContextLineKind, FindingContext};

use super::*;

fn vote(title: &str, confidence: Confidence) -> Vote {
    let mut vote = Vote::new(title, Grade::from_word("HIGH"));
    vote.file = Some(RepoPath::exact("a.py").unwrap());
    vote.lines = LineRange::at(2);
    vote.confidence = Some(confidence);
    vote
}

fn run_of(votes: Vec<Vote>) -> ReviewedRun {
    let mut report = Report::new(Reviewer::new("lint", ReviewerKind::Command));
    report.votes = votes;
    report.remarks.residual_risks = vec!["a <b>risk</b>".to_owned()];
    ReviewedRun {
        id: "20261231-235958-001".to_owned(),
        synthesis: synthesize(&[report], &SynthesisInputs::default()),
        context: None,
        provenance: RunProvenance::default(),
        safe_fixes: BTreeSet::new(),
    }
}

fn with_lines(mut run: ReviewedRun, kinds: &[ContextLineKind]) -> ReviewedRun {
    let lines = (1..).zip(kinds).map(|(number, kind)| ContextLine {
        kind: *kind,
        number,
        text: format!("line {number}"),
    });
    let context = FindingContext {
        finding: run.synthesis.findings[0].id.clone(),
        lines: lines.collect(),
        ..FindingContext::default()
    };
    run.context = Some(RunContext { findings: vec![context], ..RunContext::default() });
    run
}

#[test]
fn a_run_without_code_says_that_code_is_not_available() {
    let run = run_of(vec![vote("A defect", Confidence::CERTAIN)]);
    let page = findings::sections(&run).0;
    assert!(page.contains("The code is not available: an earlier version of assay"), "{page}");
    let page = findings::sections(&with_lines(run, &[])).0;
    assert!(page.contains("The code is not available: the reviewed tree has no such"), "{page}");
}

#[test]
fn a_removed_line_is_marked_only_in_a_deleted_file() {
    use ContextLineKind::{Added, Removed, Same};
    let run = || run_of(vec![vote("A defect", Confidence::CERTAIN)]);
    for (kinds, marked) in [
        (&[Same, Added, Same][..], "<span class=\"l add hit\">"),
        (&[Removed, Removed], "<span class=\"l del hit\">"),
    ] {
        let page = findings::sections(&with_lines(run(), kinds)).0;
        assert_eq!(page.matches(" hit\">").count(), 1, "{page}");
        assert!(page.contains(marked), "{page}");
    }
    let page = findings::sections(&with_lines(run(), &[Same, Removed, Same])).0;
    assert!(!page.contains(" hit\">"), "{page}");
}

#[test]
fn the_way_of_a_value_is_listed_from_source_to_sink() {
    let step = |role, line, code: &str| TraceStep {
        role,
        file: RepoPath::exact("a.py").unwrap(),
        line,
        code: code.to_owned(),
    };
    let mut vote = vote("A defect", Confidence::CERTAIN);
    vote.trace = vec![
        step(TraceRole::Source, 1, "request.args"),
        step(TraceRole::Sink, 2, "execute(\"<b>\")"),
    ];
    let page = findings::sections(&run_of(vec![vote])).0;
    let place = "source <span class=\"mono\">a.py:1</span> <code>request.args</code>";
    assert!(page.contains(place), "{page}");
    assert!(page.contains("<code>execute(&quot;&lt;b&gt;&quot;)</code>"), "{page}");
}

#[test]
fn every_finding_of_a_synthesis_is_on_the_page_once() {
    let titles = ["Sure <i>one</i>", "A wholly different matter"];
    let votes = titles.iter().zip([Confidence::CERTAIN, Confidence::LOW]);
    let run = run_of(votes.map(|(title, confidence)| vote(title, confidence)).collect());
    assert_eq!((run.synthesis.findings.len(), run.synthesis.held_back.len()), (1, 1));
    let page = findings::sections(&run).0;
    assert_eq!(page.matches("<article").count(), 2, "{page}");
    assert!(page.contains("Sure &lt;i&gt;one&lt;/i&gt;"), "{page}");
    assert!(page.contains("Held back as unsure <span class=\"count\">1</span>"), "{page}");
}

#[test]
fn remarks_and_the_time_of_the_run_are_shown() {
    let run = run_of(Vec::new());
    let remarks = overview::remarks(&run.synthesis).0;
    assert!(remarks.contains("a &lt;b&gt;risk&lt;/b&gt;"), "{remarks}");
    assert_eq!(run.time().unwrap(), "2026-12-31 23:59:58 UTC");
    assert!(overview::coverage(&run.synthesis).0.contains("is not known"));
}

#[test]
fn a_ledger_that_is_empty_or_unreadable_is_said_so() {
    assert!(trend::section(&Ok(None)).0.contains("the ledger is empty"));
    let error = trend::section(&Err(anyhow::anyhow!("no <disk>"))).0;
    assert!(error.contains("The history is not available: no &lt;disk&gt;"), "{error}");
}
