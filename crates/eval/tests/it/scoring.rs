//! Tests of counts and figures that are computed from comments and labels.

use std::collections::BTreeMap;

use assay_eval::comment::{Comment, deduplicate, is_same_file};
use assay_eval::limits::{breaches, regressions};
use assay_eval::matching::{MatchRule, Verdicts, WordRule};
use assay_eval::report::{ReviewerResults, compare, evaluate};
use assay_eval::score::{CaseResult, CaseScore, Counts, score_case};
use assay_eval::set::{Case, Label, parse_cases};
use assay_eval::summary::{SetSummary, SummaryOptions};

fn comment(text: &str, path: &str, line: u32) -> Comment {
    Comment {
        text: text.to_owned(),
        path: Some(path.to_owned()),
        lines: Some((line, line)),
        ..Comment::default()
    }
}

fn label(text: &str, path: &str, line: u32) -> Label {
    Label {
        comment: text.to_owned(),
        path: Some(path.to_owned()),
        line: Some(line),
        ..Label::default()
    }
}

fn case(labels: Vec<Label>) -> Case {
    let mut case = parse_cases(r#"{"id": "a", "change": "a.diff"}"#).expect("a case").remove(0);
    case.labels = labels;
    case
}

fn score(case: &Case, comments: Vec<Comment>, rule: &MatchRule) -> CaseScore {
    let result = CaseResult { comments, ..CaseResult::default() };
    score_case(case, &result, rule)
}

fn by_place(within: u32) -> MatchRule {
    MatchRule { within: Some(within), words: WordRule::Ignored }
}

#[test]
fn nothing_of_nothing_is_no_figure() {
    let none = Counts::default();
    assert_eq!((none.precision(), none.recall(), none.f(1.0)), (None, None, None));
    let silent = Counts { hits: 0, labels: 2, comments: 0 };
    assert_eq!((silent.precision(), silent.recall(), silent.f(1.0)), (None, Some(0.0), Some(0.0)));
    let summary = SetSummary::of(
        &[score(&case(Vec::new()), Vec::new(), &by_place(3))],
        SummaryOptions::default(),
    );
    assert_eq!((summary.precision, summary.recall, summary.f), (None, None, None));
    assert_eq!(summary.blocked_clean.unwrap().value, 0.0);
}

#[test]
fn recall_counts_beta_times_as_much() {
    let counts = Counts { hits: 1, labels: 1, comments: 3 };
    assert_eq!(counts.f(1.0), Some(0.5));
    assert!(counts.f(2.0) > counts.f(1.0) && counts.f(1.0) > counts.f(0.5));
}

#[test]
fn one_comment_names_one_label_and_one_label_is_named_once() {
    let case = case(vec![label("wrong sign", "a.py", 3), label("lost update", "a.py", 4)]);
    let both = score(&case, vec![comment("x", "a.py", 3)], &by_place(3));
    assert_eq!(both.counts, Counts { hits: 1, labels: 2, comments: 1 });
    let case = self::case(vec![label("wrong sign", "a.py", 3)]);
    let twice = vec![comment("wrong sign", "a.py", 3), comment("the sign is wrong", "a.py", 4)];
    let scored = score(&case, twice, &by_place(3));
    assert_eq!((scored.counts.hits, scored.duplicates), (1, 1));
}

#[test]
fn lines_count_up_to_the_distance_and_overlap_is_none() {
    let mut ranged = label("wrong sign", "a.py", 10);
    ranged.end_line = Some(12);
    let case = case(vec![ranged]);
    for (line, within, hits) in [
        (10, 0, 1),
        (12, 0, 1),
        (13, 0, 0),
        (13, 1, 1),
        (9, 1, 1),
        (6, 3, 0),
        (7, 3, 1),
        (22, 10, 1),
    ] {
        let scored = score(&case, vec![comment("x", "a.py", line)], &by_place(within));
        assert_eq!(scored.counts.hits, hits, "line {line} within {within}");
    }
    assert_eq!(score(&case, vec![comment("x", "b.py", 10)], &by_place(9)).counts.hits, 0);
}

#[test]
fn words_have_to_fit_where_the_rule_asks_for_words() {
    let case = case(vec![label("the discount is added instead of subtracted", "a.py", 3)]);
    let rule = MatchRule::default();
    let right = comment("discount added rather than subtracted from the total", "a.py", 4);
    let wrong = comment("unused import of decimal", "a.py", 3);
    assert_eq!(score(&case, vec![right], &rule).counts.hits, 1);
    assert_eq!(score(&case, vec![wrong], &rule).counts.hits, 0);
}

#[test]
fn a_judge_decides_alone_and_its_record_names_comment_and_label() {
    let mut place_less = label("race", "a.py", 1);
    (place_less.path, place_less.line) = (None, None);
    let case = case(vec![place_less]);
    let comments = vec![comment("x is\nso", "a.py", 1), comment("y", "a.py", 1)];
    let judged = |verdicts: &str| {
        let verdicts = Verdicts::parse(verdicts).expect("verdicts");
        let rule = MatchRule { within: None, words: WordRule::Judged(verdicts) };
        score(&case, comments.clone(), &rule)
    };
    let x = r#"{"case": "a", "comment": "x  is", "label": "race"}"#;
    let whole = r#"{"case": "a", "comment": "x is so", "label": "race"}"#;
    let y = r#"{"case": "a", "comment": "y", "label": "race"}"#;
    assert_eq!(judged("").counts.hits, 0);
    assert_eq!(judged(r#"{"case": "b", "comment": "y", "label": "race"}"#).counts.hits, 0);
    for one in [x, whole, y] {
        assert_eq!(judged(one).counts.hits, 1, "{one}");
    }
    let both = judged(&format!("{x}\n\n{y}\n"));
    assert_eq!((both.counts.hits, both.duplicates), (1, 1));
    assert!(Verdicts::parse("{}\n").unwrap_err().starts_with("line 1: "));
}

#[test]
fn a_rejected_comment_is_no_hit_and_is_counted() {
    let mut case = case(vec![label("wrong sign", "a.py", 3)]);
    case.rejected = vec![label("rename the variable total", "a.py", 40)];
    let comments =
        vec![comment("wrong sign", "a.py", 3), comment("rename variable total", "a.py", 41)];
    let scored = score(&case, comments, &MatchRule::default());
    assert_eq!((scored.counts.hits, scored.rejected_hits), (1, 1));
}

#[test]
fn anchors_are_told_of_comments_that_fit_by_their_words() {
    let case = case(vec![label("the discount is added twice", "a.py", 3)]);
    let far = comment("discount added twice", "a.py", 8);
    let scored = score(&case, vec![far], &MatchRule::default());
    assert_eq!((scored.counts.hits, scored.anchors), (0, (1, [0, 0, 0, 1])));
}

#[test]
fn blocked_clean_changes_are_counted_apart() {
    let blocked = |case: &Case, blocks: bool| {
        let result = CaseResult { blocks, ..CaseResult::default() };
        score_case(case, &result, &by_place(3))
    };
    let clean = case(Vec::new());
    let buggy = case(vec![label("wrong sign", "a.py", 3)]);
    let scores = [blocked(&clean, true), blocked(&clean, false), blocked(&buggy, true)];
    let summary = SetSummary::of(&scores, SummaryOptions::default());
    assert_eq!((summary.clean, summary.blocked_for_a_label), ((1, 2), (0, 1)));
    assert_eq!(summary.figure("blocked_clean"), Some(0.5));
}

#[test]
fn paths_are_compared_as_diffs_and_tools_write_them() {
    for (a, b) in [
        ("a/src/x.rs", "src/x.rs"),
        ("./src/x.rs", "src/x.rs"),
        ("src\\x.rs", "src/x.rs"),
        ("/home/me/shop/src/x.rs", "src/x.rs"),
        ("C:\\shop\\src\\x.rs", "src/x.rs"),
        ("file:///home/me/shop/src/x.rs", "src/x.rs"),
        ("/src/x.rs", "src/x.rs"),
    ] {
        assert!(is_same_file(a, b), "{a} {b}");
    }
    for (a, b) in
        [("a/x.rs", "b/x.rs"), ("src/x.rs", "x.rs"), ("/shop/max.rs", "x.rs"), ("/shop", "")]
    {
        assert!(!is_same_file(a, b), "{a} {b}");
    }
}

#[test]
fn the_same_words_at_the_same_place_are_one_comment() {
    let comments = [
        comment("Wrong sign", "a.py", 3),
        comment("wrong  sign", "./a.py", 3),
        comment("wrong sign", "a.py", 4),
    ];
    assert_eq!(deduplicate(&comments).len(), 2);
}

#[test]
fn a_case_without_a_result_counts_as_missed_and_is_named() {
    let cases = [case(vec![label("wrong sign", "a.py", 3)])];
    let results = BTreeMap::from([("a".to_owned(), Err("no answer".to_owned()))]);
    let reviewer =
        ReviewerResults { name: "one".to_owned(), results, ..ReviewerResults::default() };
    let report = evaluate("set", &cases, &[reviewer], by_place(3), SummaryOptions::default());
    let score = &report.reviewers[0];
    assert_eq!(score.missing, BTreeMap::from([("a".to_owned(), "no answer".to_owned())]));
    assert_eq!(score.summary.counts, Counts { hits: 0, labels: 1, comments: 0 });
}

#[test]
fn runs_that_differ_are_told_by_verdict_and_labels() {
    let cases = [case(vec![label("wrong sign", "a.py", 3), label("lost update", "a.py", 30)])];
    let run = |lines: &[u32], blocks: bool| {
        let comments = lines.iter().map(|line| comment("x", "a.py", *line)).collect();
        let result = CaseResult { comments, blocks, ..CaseResult::default() };
        BTreeMap::from([("a".to_owned(), Ok(result))])
    };
    let reviewer = ReviewerResults {
        name: "one".to_owned(),
        results: run(&[3, 30], true),
        repeats: vec![run(&[3], true), run(&[3], false)],
        ..ReviewerResults::default()
    };
    let report = evaluate("set", &cases, &[reviewer], by_place(3), SummaryOptions::default());
    let stability = report.reviewers[0].stability.clone().expect("there are repeats");
    assert_eq!(stability.f, [Some(1.0), Some(2.0 / 3.0), Some(2.0 / 3.0)]);
    assert_eq!(stability.comments, [Some(2.0), Some(1.0), Some(1.0)]);
    assert_eq!((stability.same_verdict, stability.same_labels), (Some(0.0), Some(0.5)));
}

#[test]
fn a_comparison_tells_labels_and_not_counts() {
    let cases = [case(vec![label("wrong sign", "a.py", 3), label("lost update", "a.py", 30)])];
    let reviewer = |name: &str, line: u32| {
        let result =
            CaseResult { comments: vec![comment("x", "a.py", line)], ..CaseResult::default() };
        let results = BTreeMap::from([("a".to_owned(), Ok(result))]);
        ReviewerResults { name: name.to_owned(), results, ..ReviewerResults::default() }
    };
    let both = [reviewer("one", 3), reviewer("two", 30)];
    let report = evaluate("set", &cases, &both, by_place(3), SummaryOptions::default());
    let compared = compare(&report.reviewers[0], &report.reviewers[1], SummaryOptions::default());
    let one = BTreeMap::from([("a".to_owned(), 1)]);
    assert_eq!(compared.only, (one.clone(), one));
    assert_eq!(compared.differences["f1"].difference.value, 0.0);
}

#[test]
fn a_comment_that_names_a_label_does_not_count_as_rejected() {
    let mut case = case(vec![label("wrong sign", "a.py", 3)]);
    case.rejected = vec![label("wrong sign", "a.py", 3)];
    let scored = score(&case, vec![comment("wrong sign", "a.py", 3)], &MatchRule::default());
    assert_eq!((scored.counts.hits, scored.rejected_hits), (1, 0));
}

#[test]
fn a_limit_holds_up_to_its_value_and_an_undefined_figure_keeps_none() {
    let reviewer = |comments: Vec<Comment>| {
        let cases = [case(vec![label("wrong sign", "a.py", 3)])];
        let result = CaseResult { comments, ..CaseResult::default() };
        let results = BTreeMap::from([("a".to_owned(), Ok(result))]);
        let reviewer =
            ReviewerResults { name: "one".to_owned(), results, ..ReviewerResults::default() };
        evaluate("set", &cases, &[reviewer], by_place(3), SummaryOptions::default())
    };
    let half = reviewer(vec![comment("x", "a.py", 3), comment("y", "b.py", 3)]);
    let silent = reviewer(Vec::new());
    for (report, limit, keeps_least, keeps_most) in [
        (&half, "precision=0.5", true, true),
        (&half, "precision=0.4", true, false),
        (&half, "precision=0.6", false, true),
        (&silent, "precision=0", false, false),
        (&silent, "noise=1", false, false),
    ] {
        let limit = vec![limit.parse().expect("a limit")];
        let least = breaches(&report.reviewers[0], &limit, &[]).is_empty();
        let most = breaches(&report.reviewers[0], &[], &limit).is_empty();
        assert_eq!((least, most), (keeps_least, keeps_most), "{limit:?}");
    }
    let worse = regressions(&half, &reviewer(vec![comment("x", "a.py", 3)]), 0.0);
    let figures: Vec<&str> = worse.iter().map(|breach| breach.figure.as_str()).collect();
    assert_eq!(figures, ["f1", "comments"]);
    assert_eq!(regressions(&half, &half, 0.0), []);
}
