//! Blocks that a change adds twice.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use assay_findings::vote::Lines;

use super::{Check, Sighting, Whole};
use crate::wording::Wording;

/// Fewer equal lines are chance.
const MIN_LINES: usize = 15;

/// So many of them must differ from each other.
const MIN_DISTINCT: usize = 12;

pub(super) const CHECK: Check = Check {
    wording: Wording {
        id: "shape/duplicate-block",
        grade: "MINOR",
        category: "maintainability",
        title: "The same block added twice",
        message: "A mistake in it has to be mended in both places, and one of them will be missed.",
        advice: "Put it into one function and call it from both.",
    },
    look,
};

/// An added line that says something: where it stands, and its text without blanks.
struct Line {
    file: usize,
    number: u32,
    text: String,
}

fn look(whole: &Whole<'_>) -> Vec<Sighting> {
    let files: Vec<_> = whole.code().collect();
    let mut lines: Vec<Line> = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let Some(text) = whole.after(file) else { continue };
        let all: Vec<&str> = text.lines().collect();
        let added = file.added().flat_map(|lines| lines.start()..=lines.end());
        lines.extend(added.filter_map(|number| {
            let text: String = all.get(number as usize - 1)?.split_whitespace().collect();
            // Closing brackets and blanks make nothing alike.
            (text.chars().filter(|c| c.is_alphanumeric()).count() > 2).then_some(Line {
                file: at,
                number,
                text,
            })
        }));
    }
    repeated(&lines)
        .into_iter()
        .filter_map(|(first, second, count)| {
            let (from, to) = (&lines[second], &lines[second + count - 1]);
            let other = &lines[first];
            Some(Sighting {
                file: files[from.file].new_path.clone(),
                lines: Some(Lines::range(from.number, to.number)?),
                note: format!(
                    "{count} lines are those from {}:{} on.",
                    files[other.file].path(),
                    other.number
                ),
                subject: from.text.clone(),
            })
        })
        .collect()
}

/// Finds stretches of lines that stand in the list twice: where each starts, and how long it is.
fn repeated(lines: &[Line]) -> Vec<(usize, usize, usize)> {
    let mut seen: HashMap<u64, usize> = HashMap::new();
    let mut found = Vec::new();
    let mut at = 0;
    while at + MIN_LINES <= lines.len() {
        let window = &lines[at..at + MIN_LINES];
        // A block lies in one file, and lines that repeat themselves are a table, no block.
        if window[0].file != window[MIN_LINES - 1].file || distinct(window) < MIN_DISTINCT {
            at += 1;
            continue;
        }
        let mut hasher = DefaultHasher::new();
        window.iter().for_each(|line| line.text.hash(&mut hasher));
        match seen.entry(hasher.finish()) {
            Entry::Occupied(first) if *first.get() + MIN_LINES <= at => {
                let first = *first.get();
                let count = equal_lines(lines, first, at);
                if count >= MIN_LINES {
                    found.push((first, at, count));
                    at += count;
                    continue;
                }
            }
            Entry::Occupied(_) => {}
            Entry::Vacant(new) => {
                new.insert(at);
            }
        }
        at += 1;
    }
    found
}

fn distinct(lines: &[Line]) -> usize {
    lines.iter().map(|line| line.text.as_str()).collect::<HashSet<_>>().len()
}

fn equal_lines(lines: &[Line], first: usize, second: usize) -> usize {
    let pairs = lines[first..second].iter().zip(&lines[second..]);
    let (a, b) = (lines[first].file, lines[second].file);
    pairs.take_while(|(x, y)| x.text == y.text && x.file == a && y.file == b).count()
}
