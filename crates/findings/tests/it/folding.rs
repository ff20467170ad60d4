//! Shown and folded findings, in every output format.

use assay_findings::finding::Consequence;
use assay_findings::grade::Grade;
use assay_findings::grounding::ChangedLines;
use assay_findings::path::RepoPath;
use assay_findings::post::check_run;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::second_look::{Opinion, SecondLookAnswer};
use assay_findings::shown_limit::ShownLimit;
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use assay_findings::vote::{Confidence, LineRange, Vote};
use assay_findings::write::{self, FindingsDocument, OutputFormat};

const TITLES: [&str; 8] = [
    "cache entries outlive their tenants",
    "query runs without an index",
    "retry ignores the deadline",
    "rounding drops a cent",
    "header parsed twice",
    "unused lock around the counter",
    "locale decides the separator",
    "temporary folder stays behind",
];

/// Returns the report of a reviewer on some defects, each on a line of its own.
fn report(name: &str, kind: ReviewerKind, severity: &str, defects: &[usize]) -> Report {
    let mut report = Report::new(Reviewer::new(name, kind));
    report.votes = defects
        .iter()
        .map(|at| {
            let mut vote = Vote::new(TITLES[*at], Grade::from_word(severity));
            vote.file = Some(RepoPath::exact("a.rs").unwrap());
            vote.lines = LineRange::at(100 * (*at as u32 + 1));
            vote.confidence = Some(Confidence::HIGH);
            vote
        })
        .collect();
    report
}

fn shown(synthesis: &Synthesis) -> Vec<&str> {
    let shown = synthesis.findings.iter().filter(|finding| finding.shown);
    shown.map(|finding| finding.title.as_str()).collect()
}

fn with(reports: &[Report], shown: ShownLimit) -> Synthesis {
    synthesize(reports, &SynthesisInputs { shown, ..SynthesisInputs::default() })
}

#[test]
fn the_likeliest_findings_are_shown_and_the_others_folded_and_counted() {
    let reports = [
        report("one", ReviewerKind::Persona, "P3", &[0, 1, 2]),
        report("two", ReviewerKind::Persona, "P3", &[0, 3, 4]),
        report("three", ReviewerKind::Persona, "P3", &[0, 5, 6]),
    ];
    let synthesis = with(&reports, ShownLimit::default());
    assert_eq!(synthesis.findings.len(), 7);
    // Three of three readers agree on the first; the others have odds of 5 to 9.
    assert_eq!(shown(&synthesis)[0], TITLES[0]);
    assert_eq!(shown(&synthesis).len(), 1);
    assert_eq!(synthesis.counts.folded, 6);
    let worth = |title: &str| synthesis.findings.iter().find(|f| f.title == title).unwrap().worth;
    assert_eq!((worth(TITLES[0]), worth(TITLES[1])), (Some(0.868), Some(0.357)));
}

#[test]
fn a_higher_limit_shows_more_findings_and_all_shows_every_one() {
    let reports = [report("one", ReviewerKind::Persona, "P3", &[0, 1, 2, 3, 4, 5])];
    for (limit, expected) in [
        (ShownLimit::AtMost(0), 0),
        (ShownLimit::AtMost(1), 0),
        (ShownLimit::AtMost(5), 2),
        (ShownLimit::AtMost(12), 5),
        (ShownLimit::All, 6),
    ] {
        let synthesis = with(&reports, limit);
        assert_eq!(shown(&synthesis).len(), expected, "{limit:?}");
        assert_eq!(synthesis.findings.len(), 6, "nothing is dropped");
        assert_eq!(synthesis.verdict, with(&reports, ShownLimit::All).verdict);
    }
}

#[test]
fn blocking_findings_and_findings_of_rules_are_never_folded() {
    let all: Vec<usize> = (0..TITLES.len()).collect();
    for (kind, severity) in [(ReviewerKind::Persona, "P1"), (ReviewerKind::Rules, "P3")] {
        let synthesis = with(&[report("one", kind, severity, &all)], ShownLimit::AtMost(0));
        assert_eq!(shown(&synthesis).len(), TITLES.len(), "{kind:?}");
    }
}

/// Returns the number of findings that are shown, of eight findings of one persona in a change of
/// `lines` lines, after a second look gave each the same answer.
fn shown_after(
    severity: &str,
    lines: u32,
    answer: SecondLookAnswer,
    consequence: Consequence,
) -> usize {
    let all: Vec<usize> = (0..TITLES.len()).collect();
    let reports = [report("one", ReviewerKind::Persona, severity, &all)];
    let mut changed = ChangedLines::default();
    changed.insert(RepoPath::exact("a.rs").unwrap(), vec![LineRange::range(1, lines).unwrap()]);
    let opinion = |fingerprint: &str| Opinion {
        fingerprint: fingerprint.to_owned(),
        file: Some(RepoPath::exact("a.rs").unwrap()),
        answer,
        why: String::new(),
        quote: None,
        quoted_file: None,
        consequence: Some(consequence),
    };
    let first = with(&reports, ShownLimit::All);
    let opinions: Vec<Opinion> = first.findings.iter().map(|f| opinion(&f.fingerprint)).collect();
    let around = SynthesisInputs {
        changed: Some(&changed),
        opinions: &opinions,
        ..SynthesisInputs::default()
    };
    let synthesis = synthesize(&reports, &around);
    assert_eq!(synthesis.findings.len() + synthesis.held_back.len(), TITLES.len());
    shown(&synthesis).len()
}

#[test]
fn confirmed_findings_that_can_wait_are_shown_by_the_size_of_the_change() {
    for (lines, expected) in [(849, 5), (40, 0), (99, 1), (100, 2), (10_000, 5)] {
        let shown = shown_after("P1", lines, SecondLookAnswer::Confirm, Consequence::Later);
        assert_eq!(shown, expected, "{lines} lines");
    }
    for (answer, consequence) in [
        (SecondLookAnswer::Unsure, Consequence::Later),
        (SecondLookAnswer::Confirm, Consequence::Ignore),
    ] {
        assert_eq!(shown_after("P1", 10_000, answer, consequence), 0, "{answer:?} {consequence:?}");
    }
}

#[test]
fn a_finding_that_a_second_look_confirms_as_blocking_is_shown() {
    assert_eq!(shown_after("P2", 10, SecondLookAnswer::Confirm, Consequence::Block), TITLES.len());
}

#[test]
fn folded_findings_appear_in_every_output_format() {
    let reports = [report("one", ReviewerKind::Persona, "P3", &[0, 1, 2, 3, 4, 5])];
    let synthesis = with(&reports, ShownLimit::default());
    let document = FindingsDocument {
        findings: Some(&synthesis.findings),
        synthesis: Some(&synthesis),
        ..FindingsDocument::default()
    };
    for (form, name) in write::OUTPUT_FORMATS {
        let text = write::write(form, &document);
        for title in &TITLES[..6] {
            assert!(text.contains(title), "{name} lacks {title}:\n{text}");
        }
    }
    let markdown = write::write(OutputFormat::Markdown, &document);
    assert!(markdown.contains("<summary>Folded, as less likely (4)</summary>"), "{markdown}");
    let sarif = write::write(OutputFormat::Sarif, &document);
    assert_eq!(sarif.matches("\"shown\": false").count(), 4, "{sarif}");
    let lines = write::write(OutputFormat::Rdjsonl, &document);
    assert_eq!(lines.matches("[folded, worth 0.455]").count(), 4, "{lines}");
}

#[test]
fn a_check_run_annotates_shown_findings_and_folds_the_rest() {
    let reports = [report("one", ReviewerKind::Persona, "P3", &[0, 1, 2, 3, 4, 5])];
    let run = check_run(&with(&reports, ShownLimit::default()), None);
    assert_eq!(run.batches.iter().map(Vec::len).sum::<usize>(), 2);
    assert!(
        run.summary.contains("<summary>Folded, as less likely (4)</summary>"),
        "{}",
        run.summary
    );
    assert!(run.summary.contains("**6 findings**"), "{}", run.summary);
}

#[test]
fn a_reviewer_that_did_not_cover_a_file_lowers_the_worth_less_than_a_silent_one() {
    let read = report("one", ReviewerKind::Persona, "P3", &[0]);
    let mut other = report("two", ReviewerKind::Persona, "P3", &[]);
    let worth = |other: &Report| {
        with(&[read.clone(), other.clone()], ShownLimit::All).findings[0].worth.unwrap()
    };
    let silent = worth(&other);
    other.remarks.not_covered.push("a.rs".to_owned());
    assert!(worth(&other) > silent);
}

#[test]
fn a_doubtful_vote_does_not_change_the_verdict_of_a_sure_one() {
    let sure = report("one", ReviewerKind::Persona, "P1", &[0]);
    let mut doubtful = report("two", ReviewerKind::Persona, "P0", &[0]);
    doubtful.votes[0].confidence = Some(Confidence::LOW);
    let state = |reports: &[Report]| synthesize(reports, &SynthesisInputs::default()).verdict.state;
    let alone = state(std::slice::from_ref(&sure));
    assert_eq!(state(&[sure, doubtful]), alone);
}

#[test]
fn a_doubtful_worse_grade_keeps_a_change_from_being_ready() {
    let mut sure = report("one", ReviewerKind::Persona, "P3", &[0]);
    sure.votes[0].autofix_class = Some(assay_findings::vote::AutofixClass::Advisory);
    let mut doubtful = report("two", ReviewerKind::Persona, "P0", &[0]);
    doubtful.votes[0].confidence = Some(Confidence::LOW);
    doubtful.votes[0].autofix_class = Some(assay_findings::vote::AutofixClass::Advisory);
    let verdict = synthesize(&[sure, doubtful], &SynthesisInputs::default()).verdict;
    assert_eq!(
        verdict.state,
        assay_findings::verdict::VerdictState::ReadyWithFixes,
        "{verdict:#?}"
    );
}
