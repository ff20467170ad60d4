//! Where a hunk fits in a file: [`Places`].

use std::cell::OnceCell;
use std::collections::HashMap;

use super::patched_line::{Budget, Written};
use super::{End, Hunk, Line};
use crate::quote::quoted;

/// So many places where a hunk nearly fits are compared for telling why it does not.
const MAX_NEAR: usize = 64;

/// So many places where a hunk fits are told.
const MAX_TOLD: usize = 4;

/// The words once there was too much to compare.
const TOO_MUCH: &str = "there is too much to look through for its place";

/// The lines of a file, for looking up where a hunk fits.
pub(super) struct Places<'b> {
    lines: &'b [Written],
    /// Where each line stands, by what it says.
    index: OnceCell<HashMap<&'b str, Vec<usize>>>,
}

impl<'b> Places<'b> {
    pub(super) fn new(lines: &'b [Written]) -> Places<'b> {
        Places { lines, index: OnceCell::new() }
    }

    /// Returns how many lines stand before a hunk that follows others: as it says, or else where
    /// alone it fits. If it fits nowhere, or in several places, it says why.
    pub(super) fn find(
        &self,
        hunk: &Hunk<'_>,
        from: usize,
        budget: &mut Budget,
    ) -> Result<usize, String> {
        let wanted: Vec<&Line<'_>> = hunk.before().collect();
        let start = hunk.old.start as usize;
        if wanted.is_empty() {
            return self.between(start, from);
        }
        let stated = start.saturating_sub(1);
        if stated >= from && self.fits(&wanted, stated, budget) {
            return Ok(stated);
        }
        let found = self.all(&wanted, from, budget);
        match found[..] {
            _ if budget.is_spent() => Err(TOO_MUCH.to_owned()),
            [place] => Ok(place),
            [] => Err(self.why(&wanted, stated, budget)),
            _ => {
                let at: Vec<String> = found.iter().map(|at| (at + 1).to_string()).collect();
                Err(format!(
                    "it does not fit at line {start}, and elsewhere it fits more than once: \
                             at lines {}",
                    at.join(", ")
                ))
            }
        }
    }

    /// Takes the place of a hunk that only adds and shows nothing around it.
    fn between(&self, stated: usize, from: usize) -> Result<usize, String> {
        match self.lines.len() {
            0 => Ok(0),
            count if stated <= count && stated >= from => Ok(stated),
            count if stated > count => {
                Err(format!("it is to stand behind line {stated}, and the file has {count} lines"))
            }
            _ => Err("it shows no line around it and stands before the hunk above it".to_owned()),
        }
    }

    fn fits(&self, wanted: &[&Line<'_>], at: usize, budget: &mut Budget) -> bool {
        self.matching(wanted, at, budget) == wanted.len()
    }

    /// Counts the lines that agree from a place on.
    fn matching(&self, wanted: &[&Line<'_>], at: usize, budget: &mut Budget) -> usize {
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
                index.entry(line.said()).or_default().push(at);
            }
            index
        })
    }

    /// Returns the first few places where lines fit, by the rarest of them.
    fn all(&self, wanted: &[&Line<'_>], from: usize, budget: &mut Budget) -> Vec<usize> {
        let index = self.index(budget);
        budget.spend(wanted.len());
        let places = wanted.iter().map(|line| index.get(line.text).map_or(&[][..], Vec::as_slice));
        let Some((nth, places)) = places.enumerate().min_by_key(|(_, places)| places.len()) else {
            return Vec::new();
        };
        let first = places.partition_point(|at| *at < from + nth);
        let mut found = Vec::new();
        for at in &places[first..] {
            if found.len() == MAX_TOLD || budget.is_spent() {
                break;
            }
            if self.fits(wanted, at - nth, budget) {
                found.push(at - nth);
            }
        }
        found
    }

    /// Says why lines fit nowhere: which of them differs where most of them fit.
    fn why(&self, wanted: &[&Line<'_>], stated: usize, budget: &mut Budget) -> String {
        let index = self.index(budget);
        let same_start = wanted.first().and_then(|line| index.get(line.text));
        let near = same_start.into_iter().flatten().copied().take(MAX_NEAR);
        let mut best = (stated, self.matching(wanted, stated, budget));
        for at in near {
            let count = self.matching(wanted, at, budget);
            if count > best.1 {
                best = (at, count);
            }
        }
        let (at, count) = best;
        let Some(line) = wanted.get(count) else { return TOO_MUCH.to_owned() };
        let place = at + count;
        match self.lines.get(place) {
            None => format!(
                "{} says {}, and the file ends at line {}",
                line.at,
                quoted(line.text),
                self.lines.len()
            ),
            Some(here) if here.said() == line.text => format!(
                "line {} of the file {}, and {} says otherwise",
                place + 1,
                if here.has_end() { "ends with a line break" } else { "ends without a line break" },
                line.at,
            ),
            Some(here) => format!(
                "line {} of the file says {}, and {} {}",
                place + 1,
                quoted(here.said()),
                line.at,
                quoted(line.text)
            ),
        }
    }
}

/// Returns true if a line is the one that a hunk shows. Returns at the end make no difference: plans
/// are mostly written without.
fn agrees(line: &Written, wanted: &Line<'_>) -> bool {
    line.said() == wanted.text && line.has_end() == (wanted.end != End::None)
}
