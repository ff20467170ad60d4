//! Findings that a reviewer names in prose and leaves out of its list: [`find_unlisted`].

use std::collections::HashSet;

use crate::title_similarity::{self, ComparedTitle, fold_title};
use crate::vote::Vote;

/// The maximum number of comparisons of titles, word by word; beyond it, only places and equal
/// titles are compared.
const MAX_COMPARISONS: usize = 10_000;

/// Returns the votes of `lines` that no listed vote covers. A listed vote covers a vote that is not
/// worse and is at the same place or alike.
pub(crate) fn find_unlisted(lines: Vec<Vote>, listed: &[Vote]) -> Vec<Vote> {
    if lines.is_empty() {
        return lines;
    }
    // A vote that is set apart, or not sure enough, covers no line.
    let listed: Vec<&Vote> = listed.iter().filter(|vote| vote.counts()).collect();
    let places: HashSet<(&str, u32, u8)> = listed
        .iter()
        .filter_map(|vote| {
            let file = vote.file.as_ref()?.as_str();
            Some((file, vote.line()?, vote.grade.impact().level()))
        })
        .collect();
    let titles: HashSet<(String, u8)> = listed
        .iter()
        .flat_map(|vote| {
            let level = vote.grade.impact().level();
            [(fold_title(&vote.title), level), (fold_title(&vote.description), level)]
        })
        .collect();
    let compares = lines.len().saturating_mul(listed.len()) <= MAX_COMPARISONS;
    let is_listed = |line: &Vote| {
        let level = line.grade.impact().level();
        let at_place = |level: u8| {
            let (Some(file), Some(lines)) = (&line.file, line.lines) else { return false };
            (lines.start()..=lines.end().min(lines.start().saturating_add(100)))
                .any(|number| places.contains(&(file.as_str(), number, level)))
        };
        let is_titled = |level: u8| titles.contains(&(fold_title(&line.title), level));
        (0..=level).any(|level| at_place(level) || is_titled(level))
            || compares && listed.iter().any(|vote| is_as_bad(vote, line) && is_alike(vote, line))
    };
    let mut found: Vec<Vote> = Vec::new();
    for line in lines {
        // A line without words is a heading; the outcome judges the words below it.
        if !line.title.trim().is_empty() && !is_listed(&line) {
            found.push(line);
        }
    }
    super::drop_repeated(&mut found);
    found
}

fn is_as_bad(vote: &Vote, line: &Vote) -> bool {
    vote.grade.impact() <= line.grade.impact()
}

fn is_alike(vote: &Vote, line: &Vote) -> bool {
    if matches!((&vote.file, &line.file), (Some(a), Some(b)) if a != b) {
        return false;
    }
    let subject = |title, vote: &Vote| ComparedTitle { title, file: None, line: vote.line() };
    let is_same = |title| {
        title_similarity::compare(subject(title, vote), subject(&line.title, line)).is_same()
    };
    is_same(&vote.title) || is_same(&vote.description)
}
