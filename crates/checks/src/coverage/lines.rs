//! Lines of a file, as ranges: [`LineRanges`].
//!
//! A report may claim billions of lines in a few bytes, so lines are never stored one by one.

use std::fmt;

use assay_findings::vote::LineRange;
use serde::{Deserialize, Serialize};

/// Lines of a file: sorted ranges that neither overlap nor touch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct LineRanges(Vec<(u32, u32)>);

/// The error for a text that names no lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid line ranges `{0}`: expected a list such as `1-3, 5`")]
pub struct LineRangesError(String);

impl LineRanges {
    /// Creates a set of lines from ranges in any order; those that overlap or touch are merged.
    pub(crate) fn new(mut ranges: Vec<(u32, u32)>) -> LineRanges {
        ranges.retain(|(first, last)| *first > 0 && first <= last);
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::new();
        for (first, last) in ranges {
            match merged.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                Some(_) | None => merged.push((first, last)),
            }
        }
        LineRanges(merged)
    }

    /// Returns the number of lines.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(first, last)| u64::from(last - first) + 1).sum()
    }

    /// Returns true if there are no lines.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the ranges, each as its first and its last line.
    pub fn ranges(&self) -> impl Iterator<Item = (u32, u32)> {
        self.0.iter().copied()
    }

    /// Returns the union of two sets of lines.
    pub(crate) fn with(&self, other: &LineRanges) -> LineRanges {
        LineRanges::new([&self.0[..], &other.0[..]].concat())
    }

    /// Returns the intersection of two sets of lines.
    pub(crate) fn within(&self, other: &LineRanges) -> LineRanges {
        let (mut one, mut two) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some(&&(a, b)), Some(&&(c, d))) = (one.peek(), two.peek()) {
            if a.max(c) <= b.min(d) {
                both.push((a.max(c), b.min(d)));
            }
            if b < d {
                one.next();
            } else {
                two.next();
            }
        }
        LineRanges(both)
    }

    /// Returns the lines that are not in `other`.
    pub(crate) fn without(&self, other: &LineRanges) -> LineRanges {
        let mut rest = Vec::new();
        let mut others = other.0.iter().peekable();
        for &(first, last) in &self.0 {
            let mut from = Some(first);
            while let (Some(start), Some(&&(c, d))) = (from, others.peek()) {
                if c > last {
                    break;
                }
                if c > start {
                    rest.push((start, c - 1));
                }
                from = d.checked_add(1).map(|next| next.max(start)).filter(|next| *next <= last);
                // A range that ends after this one may overlap the next.
                if d > last {
                    break;
                }
                others.next();
            }
            if let Some(start) = from {
                rest.push((start, last));
            }
        }
        LineRanges(rest)
    }
}

impl FromIterator<u32> for LineRanges {
    fn from_iter<I: IntoIterator<Item = u32>>(lines: I) -> LineRanges {
        LineRanges::new(lines.into_iter().map(|line| (line, line)).collect())
    }
}

impl FromIterator<LineRange> for LineRanges {
    fn from_iter<I: IntoIterator<Item = LineRange>>(lines: I) -> LineRanges {
        LineRanges::new(lines.into_iter().map(|lines| (lines.start(), lines.end())).collect())
    }
}

impl fmt::Display for LineRanges {
    /// Formats the lines as `1-3, 5, 7-9`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{first}")?;
            if last > first {
                write!(f, "-{last}")?;
            }
        }
        Ok(())
    }
}

impl From<LineRanges> for String {
    fn from(lines: LineRanges) -> String {
        lines.to_string()
    }
}

impl TryFrom<String> for LineRanges {
    type Error = LineRangesError;

    fn try_from(text: String) -> Result<LineRanges, LineRangesError> {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
        };
        let parts = text.split(',').filter(|part| !part.trim().is_empty());
        let ranges: Option<Vec<(u32, u32)>> = parts.map(range).collect();
        ranges.map(LineRanges::new).ok_or(LineRangesError(text))
    }
}
