//! Mutation tests of the scorer: the table [`ROWS`] holds for the real scorer, and each fault
//! breaks a row.
//!
//! A second scorer, which is written simply and searches all matchings, can be given one [`Fault`].
//! Without a fault the second scorer agrees with the real one on random cases; with any fault, at
//! least one row of the table fails.

use assay_eval::comment::{Comment, deduplicate, is_same_file, normalize_path};
use assay_eval::matching::{MatchRule, WordRule};
use assay_eval::score::{CaseResult, Counts, score_case};
use assay_eval::set::{Case, Label, parse_cases};
use assay_findings::claim_similarity::ComparedTexts;
use proptest::prelude::*;

/// A fault of a scorer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The greatest weight is taken first, whatever is lost by it.
    GreedyMatching,
    /// Each comment takes the best label that is left, in the order of the comments.
    MatchingInOrder,
    /// Each comment that fits a label is a hit.
    DuplicatesAreHits,
    /// A comment names all labels that it fits.
    OneCommentNamesMany,
    /// Repeated comments count each time.
    RepetitionsCount,
    /// Duplicates do not count against precision.
    DuplicatesAreFree,
    /// Paths are compared letter by letter.
    PathsAsWritten,
    /// A file is identified by the end of its path alone.
    PathsByTheirEnd,
    /// A comment may be one line farther away.
    OneLineMore,
    /// A comment must be one line nearer.
    OneLineLess,
    /// A range is its first line.
    FirstLineOnly,
    /// A comment without a line fits every line.
    NoLineFits,
    /// A label without a location is never named.
    PlacelessLabelsAreLost,
    /// Locations do not matter.
    PlacesIgnored,
    /// Words do not matter.
    WordsIgnored,
    /// Words must be the same.
    WordsExact,
    /// A similarity equal to the minimum is below the minimum.
    BarExcluded,
    /// A ratio of zero to zero is one.
    NothingIsOne,
    /// A ratio of zero to zero is zero.
    NothingIsZero,
    /// Precision is reported as recall, and recall as precision.
    SharesSwapped,
    /// F is the arithmetic mean.
    MeanInsteadOfF,
}

const FAULTS: [Fault; 21] = [
    Fault::GreedyMatching,
    Fault::MatchingInOrder,
    Fault::DuplicatesAreHits,
    Fault::OneCommentNamesMany,
    Fault::RepetitionsCount,
    Fault::DuplicatesAreFree,
    Fault::PathsAsWritten,
    Fault::PathsByTheirEnd,
    Fault::OneLineMore,
    Fault::OneLineLess,
    Fault::FirstLineOnly,
    Fault::NoLineFits,
    Fault::PlacelessLabelsAreLost,
    Fault::PlacesIgnored,
    Fault::WordsIgnored,
    Fault::WordsExact,
    Fault::BarExcluded,
    Fault::NothingIsOne,
    Fault::NothingIsZero,
    Fault::SharesSwapped,
    Fault::MeanInsteadOfF,
];

/// The factor of nearness in a weight.
const TIE_BREAK: f64 = 1e-4;

/// A row: the maximum number of lines between comment and label (`any` if locations do not matter),
/// the minimum similarity, labels, comments, and `hits labels comments duplicates precision recall
/// F`.
type Row = (&'static str, f64, &'static [&'static str], &'static [&'static str], &'static str);

const ROWS: [Row; 26] = [
    // One-to-one, of greatest weight: the first comment fits both labels, the second one alone.
    ("3", 0.0, &["a.py:10 x", "a.py:12 x"], &["a.py:10 y", "a.py:7 z"], "2 2 2 0 1.00 1.00 1.00"),
    ("3", 0.0, &["a.py:10 x", "a.py:13 x"], &["a.py:11 y", "a.py:10 z"], "2 2 2 0 1.00 1.00 1.00"),
    ("3", 0.0, &["a.py:10 x", "a.py:11 x"], &["a.py:10 y"], "1 2 1 0 1.00 0.50 0.67"),
    ("3", 0.0, &["a.py:10 x"], &["a.py:10 y", "a.py:11 z"], "1 1 2 1 0.50 1.00 0.67"),
    // Repetitions, with one path written in different ways.
    ("3", 0.0, &["a.py:10 x"], &["a.py:10 y", "./a.py:10 Y"], "1 1 1 0 1.00 1.00 1.00"),
    ("3", 0.0, &["a.py:10 x"], &["b.py:1 y", "b/b.py:1 y"], "0 1 1 0 0.00 0.00 0.00"),
    ("3", 0.0, &["a.py:10 x"], &["./a.py:10 y"], "1 1 1 0 1.00 1.00 1.00"),
    ("3", 0.0, &["src/a.py:10 x"], &["b/src/a.py:10 y"], "1 1 1 0 1.00 1.00 1.00"),
    ("3", 0.0, &["src/a.py:10 x"], &["test/src/a.py:10 y"], "0 1 1 0 0.00 0.00 0.00"),
    // The line rule at its bounds.
    ("0", 0.0, &["a.py:10 x"], &["a.py:10 y"], "1 1 1 0 1.00 1.00 1.00"),
    ("0", 0.0, &["a.py:10 x"], &["a.py:11 y"], "0 1 1 0 0.00 0.00 0.00"),
    ("1", 0.0, &["a.py:10 x"], &["a.py:9 y"], "1 1 1 0 1.00 1.00 1.00"),
    ("3", 0.0, &["a.py:10 x"], &["a.py:13 y"], "1 1 1 0 1.00 1.00 1.00"),
    ("3", 0.0, &["a.py:10 x"], &["a.py:14 y"], "0 1 1 0 0.00 0.00 0.00"),
    ("10", 0.0, &["a.py:30 x"], &["a.py:20 y"], "1 1 1 0 1.00 1.00 1.00"),
    ("0", 0.0, &["a.py:10-20 x"], &["a.py:15 y"], "1 1 1 0 1.00 1.00 1.00"),
    ("0", 0.0, &["a.py:15 x"], &["a.py:10-20 y"], "1 1 1 0 1.00 1.00 1.00"),
    ("3", 0.0, &["a.py:10 x"], &["a.py y"], "0 1 1 0 0.00 0.00 0.00"),
    // Words.
    ("3", 0.24, &["- lost update"], &["a.py:1 lost update"], "1 1 1 0 1.00 1.00 1.00"),
    ("3", 0.24, &["a.py:1 lost update"], &["a.py:1 unused import"], "0 1 1 0 0.00 0.00 0.00"),
    ("any", 0.24, &["a.py:1 lost update"], &["b.py:9 an update is lost"], "1 1 1 0 1.00 1.00 1.00"),
    ("3", 0.24, &["a.py:1 lost update"], &["b.py:1 lost update"], "0 1 1 0 0.00 0.00 0.00"),
    ("3", 1.0, &["a.py:1 update"], &["a.py:1 updates"], "1 1 1 0 1.00 1.00 1.00"),
    // Ratios of zero to zero.
    ("3", 0.0, &[], &[], "0 0 0 0 - - -"),
    ("3", 0.0, &[], &["a.py:1 y"], "0 0 1 0 0.00 - 0.00"),
    ("3", 0.0, &["a.py:1 x"], &[], "0 1 0 0 - 0.00 0.00"),
];

/// The counts and figures of one case.
#[derive(Debug, Clone, PartialEq)]
struct Observed {
    counts: Counts,
    duplicates: usize,
    precision: Option<f64>,
    recall: Option<f64>,
    f: Option<f64>,
}

impl Observed {
    fn told(&self) -> String {
        let Counts { hits, labels, comments } = self.counts;
        let figure = |value: Option<f64>| value.map_or("-".to_owned(), |it| format!("{it:.2}"));
        let figures = [self.precision, self.recall, self.f].map(figure).join(" ");
        format!("{hits} {labels} {comments} {} {figures}", self.duplicates)
    }
}

/// Parses `PATH:START-END WORDS`; `-` means no path.
fn placed(text: &str) -> (Option<String>, Option<(u32, u32)>, String) {
    let (place, words) = text.split_once(' ').expect("a place and words");
    let (path, lines) = place.split_once(':').unwrap_or((place, ""));
    let (start, end) = lines.split_once('-').unwrap_or((lines, lines));
    let lines = start.parse().ok().zip(end.parse().ok());
    (Some(path.to_owned()).filter(|path| path != "-"), lines, words.to_owned())
}

fn comment(text: &str) -> Comment {
    let (path, lines, text) = placed(text);
    Comment { text, path, lines, ..Comment::default() }
}

fn label(text: &str) -> Label {
    let (path, lines, comment) = placed(text);
    let (line, end_line) = lines.unzip();
    Label { comment, path, line, end_line, ..Label::default() }
}

fn case(labels: Vec<Label>) -> Case {
    let mut case = parse_cases(r#"{"id": "a", "change": "a.diff"}"#).expect("a case").remove(0);
    case.labels = labels;
    case
}

fn rule(within: &str, at_least: f64) -> MatchRule {
    let words = match at_least > 0.0 {
        true => WordRule::Lexical { at_least },
        false => WordRule::Ignored,
    };
    MatchRule { within: within.parse().ok(), words }
}

/// Scores with the real scorer.
fn real(labels: &[Label], comments: &[Comment], rule: &MatchRule) -> Observed {
    let result = CaseResult { comments: comments.to_vec(), ..CaseResult::default() };
    let score = score_case(&case(labels.to_vec()), &result, rule);
    let counts = score.counts;
    let (precision, recall, f) = (counts.precision(), counts.recall(), counts.f(1.0));
    Observed { counts, duplicates: score.duplicates, precision, recall, f }
}

/// Scores with the simple scorer, with a fault if there is one.
fn plain(
    labels: &[Label],
    comments: &[Comment],
    rule: &MatchRule,
    fault: Option<Fault>,
) -> Observed {
    let has = |it: Fault| fault == Some(it);
    let comments = match has(Fault::RepetitionsCount) {
        true => comments.to_vec(),
        false => deduplicate(comments),
    };
    let said = comments.iter().map(|comment| comment.text.as_str());
    let texts = ComparedTexts::of(said.chain(labels.iter().map(|label| label.comment.as_str())));
    let weights: Vec<Vec<f64>> = (0..comments.len())
        .map(|at| {
            let weight = |label: usize| {
                let cosine = texts.cosine(at, comments.len() + label);
                fit(&comments[at], &labels[label], rule, cosine, fault)
            };
            (0..labels.len()).map(weight).collect()
        })
        .collect();
    let fits = |row: &Vec<f64>| row.iter().any(|weight| *weight > 0.0);
    let fitting = weights.iter().filter(|row| fits(row)).count();
    let named = (0..labels.len()).filter(|at| weights.iter().any(|row| row[*at] > 0.0)).count();
    let matched = match fault {
        Some(Fault::GreedyMatching) => greedy(&weights),
        Some(Fault::MatchingInOrder) => in_order(&weights),
        _ => best(&weights, 0, &mut vec![false; labels.len()]).1,
    };
    let hits = match fault {
        Some(Fault::DuplicatesAreHits) => fitting,
        Some(Fault::OneCommentNamesMany) => named,
        _ => matched,
    };
    let duplicates = fitting.saturating_sub(hits);
    let counted = comments.len() - if has(Fault::DuplicatesAreFree) { duplicates } else { 0 };
    let counts = Counts { hits, labels: labels.len(), comments: counted };
    figures(counts, duplicates, fault)
}

fn figures(counts: Counts, duplicates: usize, fault: Option<Fault>) -> Observed {
    let of_nothing = match fault {
        Some(Fault::NothingIsOne) => Some(1.0),
        Some(Fault::NothingIsZero) => Some(0.0),
        _ => None,
    };
    let share = |part: usize, whole: usize| match whole {
        0 => of_nothing,
        _ => Some(part as f64 / whole as f64),
    };
    let (hits, labels, comments) = (counts.hits, counts.labels, counts.comments);
    let (mut precision, mut recall) = (share(hits, comments), share(hits, labels));
    if fault == Some(Fault::SharesSwapped) {
        std::mem::swap(&mut precision, &mut recall);
    }
    let f = match fault {
        Some(Fault::MeanInsteadOfF) => {
            precision.zip(recall).map(|(precision, recall)| (precision + recall) / 2.0)
        }
        _ => share(2 * hits, labels + comments),
    };
    Observed { counts, duplicates, precision, recall, f }
}

/// Returns the weight of a match between a comment and a label; zero if they do not match.
fn fit(
    comment: &Comment,
    label: &Label,
    rule: &MatchRule,
    cosine: f64,
    fault: Option<Fault>,
) -> f64 {
    let has = |it: Fault| fault == Some(it);
    let near = match (rule.within, &label.path) {
        (Some(_), None) if has(Fault::PlacelessLabelsAreLost) => return 0.0,
        _ if has(Fault::PlacesIgnored) => 1.0,
        (None, _) | (_, None) => 0.0,
        (Some(within), Some(_)) => match lines_apart(comment, label, fault) {
            None => return 0.0,
            Some(lines) => {
                let allowed = match fault {
                    Some(Fault::OneLineMore) => i64::from(within) + 1,
                    Some(Fault::OneLineLess) => i64::from(within) - 1,
                    _ => i64::from(within),
                };
                if i64::from(lines) > allowed {
                    return 0.0;
                }
                TIE_BREAK / (1.0 + f64::from(lines))
            }
        },
    };
    let is_alike = match (&rule.words, fault) {
        (WordRule::Ignored, _) => near > 0.0,
        (_, Some(Fault::WordsIgnored)) => true,
        (_, Some(Fault::WordsExact)) => comment.text == label.comment,
        (WordRule::Lexical { at_least }, Some(Fault::BarExcluded)) => cosine > *at_least + 1e-9,
        (WordRule::Lexical { at_least }, _) => cosine >= *at_least,
        (WordRule::Judged(_), _) => unreachable!("no judge is asked here"),
    };
    match (is_alike, &rule.words) {
        (false, _) => 0.0,
        (true, WordRule::Ignored) => 1.0 + near + cosine * TIE_BREAK,
        (true, _) => near + cosine.max(TIE_BREAK),
    }
}

fn lines_apart(comment: &Comment, label: &Label, fault: Option<Fault>) -> Option<u32> {
    let (a, b) = (comment.path.as_deref()?, label.path.as_deref()?);
    let is_same = match fault {
        Some(Fault::PathsAsWritten) => a == b,
        Some(Fault::PathsByTheirEnd) => normalize_path(a).ends_with(&normalize_path(b)),
        _ => is_same_file(a, b),
    };
    if !is_same {
        return None;
    }
    let Some(start) = label.line else { return Some(0) };
    let Some((first, last)) = comment.lines else {
        return (fault == Some(Fault::NoLineFits)).then_some(0);
    };
    let end = label.end_line.unwrap_or(start);
    if fault == Some(Fault::FirstLineOnly) {
        return Some(first.abs_diff(start));
    }
    Some(first.saturating_sub(end).max(start.saturating_sub(last)))
}

/// Returns the greatest sum of weights and its number of matches, by an exhaustive search.
fn best(weights: &[Vec<f64>], row: usize, used: &mut Vec<bool>) -> (f64, usize) {
    if row == weights.len() {
        return (0.0, 0);
    }
    let mut found = best(weights, row + 1, used);
    for column in 0..weights[row].len() {
        if !used[column] && weights[row][column] > 0.0 {
            used[column] = true;
            let (sum, matches) = best(weights, row + 1, used);
            used[column] = false;
            if sum + weights[row][column] > found.0 {
                found = (sum + weights[row][column], matches + 1);
            }
        }
    }
    found
}

fn greedy(weights: &[Vec<f64>]) -> usize {
    let mut cells: Vec<(f64, usize, usize)> = Vec::new();
    for (row, of_row) in weights.iter().enumerate() {
        cells.extend(of_row.iter().enumerate().map(|(column, weight)| (*weight, row, column)));
    }
    cells.retain(|(weight, _, _)| *weight > 0.0);
    cells.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    for (_, row, column) in cells {
        if !rows.contains(&row) && !columns.contains(&column) {
            rows.push(row);
            columns.push(column);
        }
    }
    rows.len()
}

fn in_order(weights: &[Vec<f64>]) -> usize {
    let mut used = Vec::new();
    for row in weights {
        let left = (0..row.len()).filter(|column| row[*column] > 0.0 && !used.contains(column));
        used.extend(left.max_by(|a, b| row[*a].total_cmp(&row[*b])));
    }
    used.len()
}

fn rows_broken_by(score: impl Fn(&[Label], &[Comment], &MatchRule) -> Observed) -> Vec<String> {
    let mut broken = Vec::new();
    for (within, at_least, labels, comments, expected) in ROWS {
        let known: Vec<Label> = labels.iter().map(|text| label(text)).collect();
        let said: Vec<Comment> = comments.iter().map(|text| comment(text)).collect();
        let told = score(&known, &said, &rule(within, at_least)).told();
        if told != expected {
            broken.push(format!("{labels:?} {comments:?}: {told} instead of {expected}"));
        }
    }
    broken
}

#[test]
fn the_table_holds_for_the_scorer() {
    assert_eq!(rows_broken_by(real), Vec::<String>::new());
    assert_eq!(rows_broken_by(|a, b, c| plain(a, b, c, None)), Vec::<String>::new());
}

#[test]
fn each_broken_scorer_is_caught_by_the_table() {
    for fault in FAULTS {
        let broken =
            rows_broken_by(|labels, comments, rule| plain(labels, comments, rule, Some(fault)));
        assert!(!broken.is_empty(), "{fault:?} is not caught");
    }
}

proptest! {
    #[test]
    fn the_scorer_agrees_with_the_plain_one_on_random_cases(
        labels in prop::collection::vec((0..2usize, 1..12u32, 0..4u32, 0..4usize), 0..4),
        comments in prop::collection::vec((0..3usize, 1..12u32, 0..4u32, 0..4usize), 0..5),
        within in 0..4usize,
        at_least in 0..2usize,
    ) {
        const PATHS: [&str; 3] = ["a.py", "b.py", "./a.py"];
        const WORDS: [&str; 4] =
            ["lost update", "an update is lost", "unused import of json", "import is not used"];
        let place = |(path, start, length, words): (usize, u32, u32, usize)| {
            format!("{}:{start}-{} {}", PATHS[path], start + length, WORDS[words])
        };
        let labels: Vec<Label> = labels.into_iter().map(|it| label(&place(it))).collect();
        let comments: Vec<Comment> = comments.into_iter().map(|it| comment(&place(it))).collect();
        let rule = rule(["0", "1", "3", "any"][within], [0.0, 0.24][at_least]);
        prop_assert_eq!(
            real(&labels, &comments, &rule).told(),
            plain(&labels, &comments, &rule, None).told()
        );
    }
}
