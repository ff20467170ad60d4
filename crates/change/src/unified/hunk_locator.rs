//! The search for the place of a hunk in a file: [`HunkLocator`].

use std::cell::OnceCell;
use std::collections::HashMap;

use super::patched_line::{Budget, PatchedLine};
use super::{DiffLine, HunkText, LineEnd, MisfitKind};

/// The maximum number of places that are compared to find the reason that a hunk does not fit.
const MAX_COMPARED: usize = 64;

/// The maximum number of reported places where a hunk fits.
const MAX_REPORTED: usize = 4;

/// The lines of a file, indexed for the search of hunks.
pub(super) struct HunkLocator<'b> {
    lines: &'b [PatchedLine],
    /// The positions of each line, by its text.
    index: OnceCell<HashMap<&'b str, Vec<usize>>>,
}

impl<'b> HunkLocator<'b> {
    pub(super) fn new(lines: &'b [PatchedLine]) -> HunkLocator<'b> {
        HunkLocator { lines, index: OnceCell::new() }
    }

    /// Returns the number of lines before a hunk that follows others: at the line in its header, or
    /// else at the only place where it fits.
    pub(super) fn find(
        &self,
        hunk: &HunkText<'_>,
        from: usize,
        budget: &mut Budget,
    ) -> Result<usize, MisfitKind> {
        let wanted: Vec<&DiffLine<'_>> = hunk.before().collect();
        let stated = hunk.old.start;
        if wanted.is_empty() {
            return self.between(stated, from);
        }
        let place = (stated as usize).saturating_sub(1);
        if place >= from && self.fits(&wanted, place, budget) {
            return Ok(place);
        }
        let found = self.find_all(&wanted, from, budget);
        match found[..] {
            _ if budget.is_spent() => Err(MisfitKind::TooMuch),
            [place] => Ok(place),
            [] => Err(self.mismatch(&wanted, place, budget)),
            _ => {
                let fits = found.iter().map(|place| place + 1).collect();
                Err(MisfitKind::Ambiguous { stated, fits })
            }
        }
    }

    /// Returns the place of a hunk that only adds lines and has no context.
    fn between(&self, stated: u32, from: usize) -> Result<usize, MisfitKind> {
        let place = stated as usize;
        match self.lines.len() {
            0 => Ok(0),
            count if place <= count && place >= from => Ok(place),
            count if place > count => Err(MisfitKind::BehindEnd { stated, count }),
            _ => Err(MisfitKind::BeforeOther),
        }
    }

    fn fits(&self, wanted: &[&DiffLine<'_>], at: usize, budget: &mut Budget) -> bool {
        self.count_matching(wanted, at, budget) == wanted.len()
    }

    /// Counts the lines that agree from a place on.
    fn count_matching(&self, wanted: &[&DiffLine<'_>], at: usize, budget: &mut Budget) -> usize {
        let here = self.lines.get(at..).unwrap_or_default();
        let same = here.iter().zip(wanted).take_while(|(line, wanted)| agrees(line, wanted));
        let count = same.count();
        budget.spend(count + 1);
        count
    }

    fn index(&self, budget: &mut Budget) -> &HashMap<&'b str, Vec<usize>> {
        self.index.get_or_init(|| {
            budget.spend(self.lines.len());
            let mut index: HashMap<&str, Vec<usize>> = HashMap::new();
            for (at, line) in self.lines.iter().enumerate() {
                index.entry(line.text()).or_default().push(at);
            }
            index
        })
    }

    /// Returns the first few places where all lines fit, searched by the rarest line.
    fn find_all(&self, wanted: &[&DiffLine<'_>], from: usize, budget: &mut Budget) -> Vec<usize> {
        let index = self.index(budget);
        budget.spend(wanted.len());
        let places = wanted.iter().map(|line| index.get(line.text).map_or(&[][..], Vec::as_slice));
        let Some((nth, places)) = places.enumerate().min_by_key(|(_, places)| places.len()) else {
            return Vec::new();
        };
        let first = places.partition_point(|at| *at < from + nth);
        let mut found = Vec::new();
        for at in &places[first..] {
            if found.len() == MAX_REPORTED || budget.is_spent() {
                break;
            }
            if self.fits(wanted, at - nth, budget) {
                found.push(at - nth);
            }
        }
        found
    }

    /// Returns the reason that lines fit nowhere: the first difference at the place where most of
    /// them fit.
    fn mismatch(&self, wanted: &[&DiffLine<'_>], stated: usize, budget: &mut Budget) -> MisfitKind {
        let index = self.index(budget);
        let same_start = wanted.first().and_then(|line| index.get(line.text));
        let near = same_start.into_iter().flatten().copied().take(MAX_COMPARED);
        let mut best = (stated, self.count_matching(wanted, stated, budget));
        for at in near {
            let count = self.count_matching(wanted, at, budget);
            if count > best.1 {
                best = (at, count);
            }
        }
        let (at, count) = best;
        let Some(line) = wanted.get(count) else { return MisfitKind::TooMuch };
        let (number, text) = (at + count + 1, line.text.to_owned());
        match self.lines.get(at + count) {
            None => MisfitKind::FileEnds { count: self.lines.len(), at: line.at, wanted: text },
            Some(here) if here.text() == line.text => {
                MisfitKind::LineBreak { number, has_break: here.has_end(), at: line.at }
            }
            Some(here) => {
                let found = here.text().to_owned();
                MisfitKind::Differs { number, found, at: line.at, wanted: text }
            }
        }
    }
}

/// Returns true if a line equals that of a hunk. Carriage returns at the end are ignored: diffs are
/// mostly written without them.
fn agrees(line: &PatchedLine, wanted: &DiffLine<'_>) -> bool {
    line.text() == wanted.text && line.has_end() == (wanted.end != LineEnd::None)
}
