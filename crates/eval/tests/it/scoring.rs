//! From comments and labels to counts and figures.

use assay_eval::comment::{Comment, is_same_file, without_repetitions};
use assay_eval::matching::{MatchRule, Verdicts, WordRule};
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
    let comments = vec![comment("x", "a.py", 1), comment("y", "a.py", 1)];
    let judged = |verdicts: &[(usize, usize)]| {
        let verdicts =
            verdicts.iter().map(|(comment, label)| ("a".to_owned(), *comment, *label)).collect();
        let rule = MatchRule { within: None, words: WordRule::Judged(Verdicts(verdicts)) };
        score(&case, comments.clone(), &rule)
    };
    assert_eq!(judged(&[]).counts.hits, 0);
    assert_eq!(judged(&[(1, 0)]).counts.hits, 1);
    let both = judged(&[(0, 0), (1, 0)]);
    assert_eq!((both.counts.hits, both.duplicates), (1, 1));
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
    assert_eq!(without_repetitions(&comments).len(), 2);
}
