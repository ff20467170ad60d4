//! Blocks that a change adds twice.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use assay_change::diff::FileDiff;
use assay_findings::vote::LineRange;

use super::{ChangeCheck, ChangeFacts, CheckMatch};
use crate::rule_text::RuleText;

/// The minimum number of equal lines; fewer are chance.
const MIN_LINES: usize = 15;

/// The maximum number of reported blocks, longest first: an author who copies more knows it.
const MAX_REPORTED: usize = 5;

/// The minimum number of distinct lines in a block.
const MIN_DISTINCT: usize = 12;

pub(super) const CHECK: ChangeCheck = ChangeCheck {
    rule_text: RuleText {
        id: "shape/duplicate-block",
        grade: "MINOR",
        category: "maintainability",
        title: "The same block added twice",
        message: "A defect must be fixed in both places, and one of them is easily missed.",
        advice: "Move the block into one function and call the function from both places.",
    },
    find,
};

/// An added line with content: its file, its number, and the hash of its text.
#[derive(Clone, Copy)]
struct Line {
    file: usize,
    number: u32,
    hash: u64,
}

/// Two runs of equal lines: the index of each, and their length.
struct Repeat {
    first: usize,
    second: usize,
    count: usize,
}

fn find(change_facts: &ChangeFacts<'_>) -> Vec<CheckMatch> {
    let files: Vec<&FileDiff> = change_facts.reviewed_files().map(|(file, _)| file).collect();
    let lines: Vec<Line> = change_facts
        .reviewed_files()
        .enumerate()
        .flat_map(|(file, (_, facts))| {
            facts.added_lines.iter().map(move |(number, hash)| Line {
                file,
                number: *number,
                hash: *hash,
            })
        })
        .collect();
    let mut repeats = repeats(&lines);
    repeats.sort_by_key(|repeat| std::cmp::Reverse(repeat.count));
    let seen = repeats.into_iter().take(MAX_REPORTED).filter_map(|repeat| {
        let (from, to) = (lines[repeat.second], lines[repeat.second + repeat.count - 1]);
        let other = lines[repeat.first];
        let there = files[other.file].path();
        Some(CheckMatch {
            file: files[from.file].new_path.clone(),
            lines: Some(LineRange::range(from.number, to.number)?),
            note: format!("{} lines are those from {there}:{} on.", repeat.count, other.number),
            subject: format!("{:x}", from.hash),
        })
    });
    seen.collect()
}

fn repeats(lines: &[Line]) -> Vec<Repeat> {
    let mut seen: HashMap<u64, usize> = HashMap::new();
    let mut found = Vec::new();
    let mut at = 0;
    while at + MIN_LINES <= lines.len() {
        let window = &lines[at..at + MIN_LINES];
        let count = match seen.entry(hash_of(window)) {
            _ if !is_block(window) => 0,
            Entry::Vacant(new) => {
                new.insert(at);
                0
            }
            Entry::Occupied(first) if *first.get() + MIN_LINES > at => 0,
            Entry::Occupied(first) => {
                let first = *first.get();
                let count = equal_lines(lines, first, at);
                if count >= MIN_LINES {
                    found.push(Repeat { first, second: at, count });
                }
                count
            }
        };
        at += count.max(1);
    }
    found
}

/// Returns true if lines are a block: they are in one file, and are not a table of repeated lines.
fn is_block(window: &[Line]) -> bool {
    let distinct: HashSet<u64> = window.iter().map(|line| line.hash).collect();
    window[0].file == window[window.len() - 1].file && distinct.len() >= MIN_DISTINCT
}

fn hash_of(window: &[Line]) -> u64 {
    let mut hasher = DefaultHasher::new();
    window.iter().for_each(|line| line.hash.hash(&mut hasher));
    hasher.finish()
}

fn equal_lines(lines: &[Line], first: usize, second: usize) -> usize {
    let pairs = lines[first..second].iter().zip(&lines[second..]);
    let (a, b) = (lines[first].file, lines[second].file);
    pairs.take_while(|(x, y)| x.hash == y.hash && x.file == a && y.file == b).count()
}
