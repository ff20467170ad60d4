//! Merging: the votes that become one finding, and the values that it takes from them.

use assay_findings::finding::Finding;
use assay_findings::grade::Grade;
use assay_findings::identity::Suppression;
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use assay_findings::vote::{AutofixClass, Confidence, LineRange, Replacement, Vote};
use expect_test::{Expect, expect};
use serde_json::json;

use crate::memory_tree::MemoryTree;

/// Synthesizes lines `reviewer file:line severity@confidence title | quote`.
fn synthesis(votes: &str) -> Synthesis {
    let mut reports: Vec<serde_json::Value> = Vec::new();
    for line in votes.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (head, quote) = line.split_once(" | ").map_or((line, None), |(h, q)| (h, Some(q)));
        let mut words = head.splitn(4, ' ');
        let mut next = || words.next().unwrap().to_owned();
        let (reviewer, place, weight, title) = (next(), next(), next(), next());
        let (file, line) = place.split_once(':').unwrap();
        let (severity, confidence) = weight.split_once('@').unwrap();
        let rule = title.strip_prefix("rule=").map(|t| t.split(' ').next().unwrap().to_owned());
        let finding = json!({"title": title, "severity": severity, "file": file,
            "line": line.parse::<u32>().unwrap(), "confidence": confidence.parse::<u32>().unwrap(),
            "evidence": quote.map(|q| vec![format!("`{q}`")]).unwrap_or_default(), "rule": rule});
        match reports.iter_mut().find(|report| report["reviewer"] == reviewer.as_str()) {
            Some(report) => report["findings"].as_array_mut().unwrap().push(finding),
            None => reports.push(json!({"reviewer": reviewer, "findings": [finding],
                "residual_risks": [], "testing_gaps": []})),
        }
    }
    let reports = Report::list_from_text(&json!(reports).to_string(), None);
    synthesize(&reports, &SynthesisInputs::default())
}

fn check(votes: &str, expected: Expect) {
    let synthesis = synthesis(votes);
    let mut shown = String::new();
    for (label, list) in [("", &synthesis.findings), ("held back: ", &synthesis.held_back)] {
        for f in list {
            shown += &format!(
                "{label}{} {}@{} {} {:?}\n",
                f.place().unwrap_or_default(),
                f.severity,
                f.confidence.percent(),
                f.title,
                f.reviewers,
            );
        }
    }
    for merge in &synthesis.merges {
        shown += &format!("merged: {:?}\n", merge.rule);
    }
    expected.assert_eq(&shown);
}

#[test]
fn one_title_within_ten_lines_is_one_defect() {
    check(
        "security a.rs:10 P1@75 Unchecked index
         correctness a.rs:13 P2@75 unchecked  index.
         testing a.rs:14 P1@75 Unchecked index",
        expect![[r#"
            a.rs:10 P1@100 Unchecked index ["correctness", "security", "testing"]
            merged: SameClaim
            merged: SameClaim
        "#]],
    );
}

#[test]
fn rephrased_claims_on_one_line_or_on_adjacent_lines_are_merged() {
    check(
        "security a.py:10 P1@75 Order details readable by any active user
         correctness a.py:10 P1@75 Order details are not authorized per order
         reliability b.rb:7 P2@75 TopicUser.find_by(...) returns nil
         correctness b.rb:8 P2@75 find_by which can return nil
         reliability c.rb:7 P2@75 null check missing on line 157
         correctness c.rb:7 P2@75 Null check is missing at line 12",
        expect![[r#"
            a.py:10 P1@100 Order details are not authorized per order ["correctness", "security"]
            b.rb:7 P2@100 TopicUser.find_by(...) returns nil ["correctness", "reliability"]
            c.rb:7 P2@100 Null check is missing at line 12 ["correctness", "reliability"]
            merged: SamePlace
            merged: SameClaim
            merged: SamePlace
        "#]],
    );
}

#[test]
fn claims_that_differ_in_one_point_stay_apart_on_one_line() {
    for (a, b) in [
        ("returns null", "does not return null"),
        ("criterion 1 not met", "criterion 2 not met"),
        ("timeout of 30 seconds is too long", "timeout of 60 seconds is too long"),
        ("`parse_all` ignores its error", "`parse_one` ignores its error"),
        ("SQL injection in login", "XSS injection in login"),
        ("`copy(src, dst)` arguments swapped", "`copy(dst, src)` arguments swapped"),
        ("passes `width` where `height` is expected", "passes `height` where `width` is expected"),
        ("Lock is released before write", "Write happens before the lock is released"),
        (
            "`total_count` is returned instead of `page_count`",
            "`page_count` is recorded rather than `total_count`",
        ),
    ] {
        let votes = format!("security a.rs:10 P1@75 {a}\ncorrectness a.rs:10 P1@75 {b}");
        assert_eq!(synthesis(&votes).findings.len(), 2, "{a} / {b}");
    }
}

#[test]
fn a_vote_is_compared_with_all_votes_of_a_group() {
    // The third vote is alike to the second, and has no word in common with the first.
    let votes = "a x.rs:5 P1@75 cache entry of tenants outlives eviction
         b x.rs:5 P1@75 stale tenants cache survives logout sessions
         c x.rs:5 P1@75 logout sessions survive";
    let synthesis = synthesis(votes);
    assert_eq!(synthesis.findings.len(), 2, "{:#?}", synthesis.findings);
}

#[test]
fn alike_claims_in_other_files_or_far_apart_in_other_functions_stay_apart() {
    let text = format!("{}{}", "x\n".repeat(30), "y\n".repeat(30));
    let tree = MemoryTree::new(&[("a.rs", &text), ("b.rs", &text)])
        .with_symbol("a.rs", "load", (1, 29))
        .with_symbol("a.rs", "store", (31, 60));
    let finding = |file: &str, line: u32| json!({"title": "lock never released on errors", "severity": "HIGH", "file": file, "line": line, "description": "lock never released on errors"});
    let reports = json!([
        {"reviewer": "one", "findings": [finding("a.rs", 4)]},
        {"reviewer": "two", "findings": [finding("a.rs", 44)]},
        {"reviewer": "three", "findings": [finding("b.rs", 4)]},
    ]);
    let reports = Report::list_from_text(&reports.to_string(), None);
    let around = SynthesisInputs { tree: Some(&tree), ..SynthesisInputs::default() };
    assert_eq!(synthesize(&reports, &around).findings.len(), 3);
}

#[test]
fn alike_findings_of_one_reviewer_without_a_place_are_merged() {
    let finding = |title: &str| {
        json!({"title": title, "severity": "P1", "description": title,
        "confidence": 75, "evidence": ["`let rows = db.run(sql);`"]})
    };
    let reports = json!([{"reviewer": "one", "findings": [
        finding("Missing error handling of the query"),
        finding("No error handling for the failing query"),
        finding("The second header is never closed"),
    ]}]);
    let reports = Report::list_from_text(&reports.to_string(), None);
    let synthesis = synthesize(&reports, &SynthesisInputs::default());
    assert_eq!(synthesis.findings.len(), 2, "{:#?}", synthesis.findings);
}

#[test]
fn votes_of_a_model_do_not_merge_two_findings_of_a_rule() {
    let vote = |title: &str, line: u32, rule: Option<&str>| {
        let grade = Grade::from_word("HIGH");
        let mut vote = Vote::new(title, grade);
        vote.file = Some(RepoPath::exact("a.py").unwrap());
        vote.lines = LineRange::at(line);
        vote.rule = rule.map(str::to_owned);
        vote.confidence = Some(Confidence::CERTAIN);
        vote
    };
    let title = "A shell runs what comes from outside";
    let mut rules = Report::new(Reviewer::new("rules", ReviewerKind::Rules));
    rules.votes = [11, 12].map(|line| vote(title, line, Some("python/shell-injection"))).into();
    let mut persona = Report::new(Reviewer::new("security", ReviewerKind::Persona));
    persona.votes = [10, 11].map(|line| vote(title, line, None)).into();
    let suppressions = [Suppression {
        rule: "python/shell-injection".to_owned(),
        file: RepoPath::exact("a.py").unwrap(),
        line: 11,
        reason: "names are our own".to_owned(),
    }];
    let around = SynthesisInputs { suppressions: &suppressions, ..SynthesisInputs::default() };
    for reports in [vec![rules.clone()], vec![rules.clone(), persona.clone()], vec![persona, rules]]
    {
        let synthesis = synthesize(&reports, &around);
        let open = |f: &&Finding| f.line == Some(12) && f.rule.is_some();
        assert!(synthesis.findings.iter().any(|f| open(&f)), "{:#?}", synthesis.findings);
        assert_eq!(synthesis.dismissed.len(), 1);
    }
}

#[test]
fn alike_titles_on_one_quoted_line_are_one_defect() {
    check(
        "security a.rs:10 P1@50 Missing error handling | let rows = db.run(sql);
         reliability a.rs:90 P1@50 No error handling for the query | let rows = db.run(sql);",
        expect![[r#"
            a.rs:90 P1@75 No error handling for the query ["reliability", "security"]
            merged: SamePlace
        "#]],
    );
}

#[test]
fn claims_that_are_not_alike_stay_apart() {
    check(
        "security a.rs:10 P1@75 SQL built from input | let rows = db.run(sql);
         reliability a.rs:10 P1@75 The query has no timeout | let rows = db.run(sql);
         security b.rs:10 P1@75 SQL built from input",
        expect![[r#"
            a.rs:10 P1@75 SQL built from input ["security"]
            a.rs:10 P1@75 The query has no timeout ["reliability"]
            b.rs:10 P1@75 SQL built from input ["security"]
        "#]],
    );
}

#[test]
fn different_rules_and_votes_of_one_reviewer_on_different_lines_are_not_merged() {
    check(
        "rules a.rs:10 P1@75 rule=a/x same words here
         command a.rs:10 P1@75 rule=a/y same words here
         security a.rs:20 P1@75 Unchecked index
         security a.rs:21 P1@75 Unchecked index",
        expect![[r#"
            a.rs:10 P1@75 rule=a/x same words here ["rules"]
            a.rs:10 P1@75 rule=a/y same words here ["command"]
            a.rs:20 P1@75 Unchecked index ["security"]
            a.rs:21 P1@75 Unchecked index ["security"]
        "#]],
    );
}

#[test]
fn agreement_raises_the_confidence_only_among_votes_of_the_kept_grade() {
    check(
        "security a.rs:1 P0@50 t
         correctness a.rs:1 P3@100 t
         security b.rs:1 P0@50 t | let a = load(b);
         correctness b.rs:1 P0@50 t | let a = load(b);",
        expect![[r#"
            b.rs:1 P0@75 t ["correctness", "security"]
            a.rs:1 P0@50 t ["correctness", "security"]
            merged: SamePlace
            merged: SamePlace
        "#]],
    );
}

#[test]
fn doubtful_votes_without_quotes_do_not_raise_the_confidence_of_each_other() {
    check(
        "security b.rs:1 P1@50 t
         correctness b.rs:1 P1@50 t
         security c.rs:1 P1@50 t | let a = load(b);
         correctness c.rs:1 P1@50 t",
        expect![[r#"
            held back: b.rs:1 P1@50 t ["correctness", "security"]
            held back: c.rs:1 P1@50 t ["correctness", "security"]
            merged: SamePlace
            merged: SamePlace
        "#]],
    );
}

#[test]
fn in_one_symbol_alike_titles_are_one_defect() {
    let tree = MemoryTree::new(&[("a.rs", &"x\n".repeat(40))]).with_symbol("a.rs", "load", (1, 30));
    let finding = |title: &str, line: u32| json!({"title": title, "severity": "HIGH", "file": "a.rs", "line": line, "description": title});
    let reports = json!([
        {"reviewer": "one", "findings": [finding("lock is not released on error", 4)]},
        {"reviewer": "two", "findings": [finding("Lock never released on errors", 9)]},
        {"reviewer": "three", "findings": [finding("Lock never released on errors", 35)]},
    ]);
    let reports = Report::list_from_text(&reports.to_string(), None);
    let around = SynthesisInputs { tree: Some(&tree), ..SynthesisInputs::default() };
    let reviewers: Vec<Vec<String>> =
        synthesize(&reports, &around).findings.into_iter().map(|f| f.reviewers).collect();
    assert_eq!(reviewers, [vec!["one", "two"], vec!["three"]]);
}

/// Merges votes on one line, given as kind, class and the text of the rewrite, and returns class
/// and rewrite of the finding.
fn merged_fix(votes: &[(ReviewerKind, &str, &str)]) -> String {
    let reports = votes.iter().enumerate().map(|(at, (kind, class, text))| {
        let mut vote = Vote::new("eval runs the code of a caller", Grade::from_word("HIGH"));
        vote.file = RepoPath::exact("a.py").ok();
        vote.lines = LineRange::at(2);
        vote.confidence = Some(Confidence::at_or_below(75.0 + 5.0 * at as f64));
        vote.autofix_class = AutofixClass::from_word(class);
        vote.replacement = Some(Replacement::new(LineRange::at(2).unwrap(), *text));
        let mut report = Report::new(Reviewer::new(format!("reviewer-{at}"), *kind));
        report.votes.push(vote);
        report
    });
    let synthesis = synthesize(&reports.collect::<Vec<_>>(), &SynthesisInputs::default());
    let all = synthesis.findings.iter().chain(&synthesis.held_back);
    let shown = all.map(|finding| {
        let rewrite = finding.replacement.as_ref().map_or("", Replacement::text);
        format!("{} {rewrite}", finding.autofix_class.as_str())
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_rewrite_is_safe_only_if_a_rule_made_it_and_calls_it_safe() {
    use ReviewerKind::{Command, Persona, Rules};
    for (votes, expected) in [
        (&[(Rules, "safe_auto", "rule")][..], "safe_auto rule"),
        (&[(Rules, "gated_auto", "rule")], "gated_auto rule"),
        (&[(Persona, "safe_auto", "model")], "gated_auto model"),
        (&[(Command, "safe_auto", "analyser")], "gated_auto analyser"),
        (&[(Rules, "safe_auto", "rule"), (Persona, "safe_auto", "model")], "safe_auto rule"),
        (&[(Rules, "safe_auto", "rule"), (Persona, "none", "model")], "safe_auto rule"),
        (&[(Rules, "safe_auto", "rule"), (Persona, "manual", "model")], "manual rule"),
        (&[(Persona, "safe_auto", "model"), (Command, "safe_auto", "tool")], "gated_auto model"),
    ] {
        assert_eq!(merged_fix(votes), expected, "{votes:?}");
    }
}
