//! Telling a finding again, over rounds and through edits: fingerprints, [`Status`] and
//! [`Dismissal`].

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::alike;
use crate::finding::Finding;
use crate::path::RepoPath;

/// What became of a finding since the last time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It was not there.
    New,
    /// It is still there.
    StillOpen,
    /// It was resolved once and is back.
    Regressed,
}

/// A finding of an earlier round that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resolved {
    /// Its fingerprint.
    pub fingerprint: String,
    /// Its title.
    pub title: String,
    /// The file it stood in.
    pub file: Option<RepoPath>,
}

/// Somebody's decision that a finding is not to be dealt with.
///
/// It covers the code that the fingerprint was taken over: line shifts and renames leave it in
/// force, and an edit of that code ends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dismissal {
    /// The finding's fingerprint.
    pub fingerprint: String,
    /// Who decided.
    pub by: String,
    /// Why.
    pub reason: String,
    /// The last day on which it holds, as `2026-12-31`; for good where there is none.
    #[serde(default)]
    pub until: Option<String>,
}

impl Dismissal {
    /// Says whether it holds on a day.
    pub fn holds_on(&self, today: &str) -> bool {
        self.until.as_deref().is_none_or(|until| today <= until)
    }
}

/// What a fingerprint is taken over: neither file nor line, so that both may move.
pub(crate) struct Features<'a> {
    pub(crate) rule: Option<&'a str>,
    pub(crate) category: &'a str,
    pub(crate) title: &'a str,
    pub(crate) quote: Option<&'a str>,
    pub(crate) surroundings: Option<&'a str>,
}

/// Takes a fingerprint; `ordinal` counts the equal ones before it in the same file.
pub(crate) fn fingerprint(features: &Features<'_>, ordinal: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut part = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    match features.rule {
        Some(rule) => {
            part("rule");
            part(rule);
        }
        None => {
            part("title");
            part(&features.category.to_lowercase());
            part(&alike::fold_title(features.title));
        }
    }
    part(features.quote.or(features.surroundings).unwrap_or(""));
    part(&ordinal.to_string());
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Gives each finding an id that is short and unique within its synthesis.
pub(crate) fn id(fingerprint: &str, file: Option<&RepoPath>) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(fingerprint.as_bytes());
    hasher.update(file.map_or("", RepoPath::as_str).as_bytes());
    hasher.finalize().to_hex()[..12].to_owned()
}

/// What was known before.
#[derive(Debug, Clone, Default)]
pub struct Memory<'a> {
    /// The findings of the last round, whatever was done with them.
    pub findings: Vec<&'a Finding>,
    /// Those that were gone by then.
    pub resolved: &'a [Resolved],
}

impl Memory<'_> {
    /// Sets each finding's status, and gives what is gone, along with what had gone before and
    /// has stayed away.
    pub(crate) fn compare(&self, current: &mut [Finding]) -> Vec<Resolved> {
        let mut known: HashMap<&str, Vec<&Finding>> = HashMap::new();
        for finding in &self.findings {
            known.entry(&finding.fingerprint).or_default().push(finding);
        }
        // Where several findings share a fingerprint, those in the same place belong together,
        // whatever else may match.
        for tie in [Finding::is_in_same_symbol, Finding::is_in_same_file, |_: &_, _: &_| true] {
            for finding in current.iter_mut().filter(|finding| finding.status.is_none()) {
                let Some(candidates) = known.get_mut(finding.fingerprint.as_str()) else {
                    continue;
                };
                if let Some(at) = candidates.iter().position(|other| tie(finding, other)) {
                    candidates.swap_remove(at);
                    finding.status = Some(Status::StillOpen);
                }
            }
        }
        let gone: HashSet<&str> = self.resolved.iter().map(|r| r.fingerprint.as_str()).collect();
        for finding in current.iter_mut().filter(|finding| finding.status.is_none()) {
            let was_gone = gone.contains(finding.fingerprint.as_str());
            finding.status = Some(if was_gone { Status::Regressed } else { Status::New });
        }
        self.resolved_since(&known, current)
    }

    fn resolved_since(
        &self,
        unmatched: &HashMap<&str, Vec<&Finding>>,
        current: &[Finding],
    ) -> Vec<Resolved> {
        let there: HashSet<&str> = current.iter().map(|f| f.fingerprint.as_str()).collect();
        let newly = unmatched.values().flatten().map(|finding| Resolved {
            fingerprint: finding.fingerprint.clone(),
            title: finding.title.clone(),
            file: finding.file.clone(),
        });
        let before = self.resolved.iter().filter(|r| !there.contains(r.fingerprint.as_str()));
        let mut resolved: Vec<Resolved> = newly.chain(before.cloned()).collect();
        resolved.sort_by(|a, b| {
            (&a.file, &a.title, &a.fingerprint).cmp(&(&b.file, &b.title, &b.fingerprint))
        });
        resolved
    }
}

/// Hashes each line the way GitHub's code scanning does, so that an alert is told again after
/// lines have moved: a rolling hash over the 100 characters from the line's start on, blanks left
/// out, and a count among equal hashes.
pub fn line_hashes(text: &str) -> Vec<String> {
    const WINDOW: usize = 100;
    const BASE: u64 = 37;
    const END: u16 = 65_535;
    let first_weight = (0..WINDOW).fold(1u64, |weight, _| weight.wrapping_mul(BASE));
    let mut rolling = Rolling {
        window: [0; WINDOW],
        starts: [false; WINDOW],
        index: 0,
        hash: 0,
        base: BASE,
        first_weight,
        counts: HashMap::new(),
        hashes: Vec::new(),
    };
    let mut at_line_start = true;
    let mut after_cr = false;
    for unit in text.encode_utf16().chain([END]) {
        let is_blank = unit == u16::from(b' ') || unit == u16::from(b'\t');
        if is_blank || (after_cr && unit == u16::from(b'\n')) {
            after_cr = false;
            continue;
        }
        after_cr = unit == u16::from(b'\r');
        let unit = if after_cr { u16::from(b'\n') } else { unit };
        rolling.emit_if_due();
        if at_line_start {
            rolling.starts[rolling.index] = true;
        }
        at_line_start = unit == u16::from(b'\n');
        rolling.push(unit);
    }
    for _ in 0..WINDOW {
        rolling.emit_if_due();
        rolling.push(0);
    }
    rolling.hashes
}

struct Rolling {
    window: [u16; 100],
    /// Whether the character at this place of the window is a line's first.
    starts: [bool; 100],
    index: usize,
    hash: u64,
    base: u64,
    first_weight: u64,
    counts: HashMap<u64, u32>,
    hashes: Vec<String>,
}

impl Rolling {
    fn emit_if_due(&mut self) {
        if std::mem::take(&mut self.starts[self.index]) {
            let count = self.counts.entry(self.hash).or_default();
            *count += 1;
            self.hashes.push(format!("{:x}:{count}", self.hash));
        }
    }

    fn push(&mut self, unit: u16) {
        let leaving = u64::from(std::mem::replace(&mut self.window[self.index], unit));
        self.hash = self
            .hash
            .wrapping_mul(self.base)
            .wrapping_add(u64::from(unit))
            .wrapping_sub(self.first_weight.wrapping_mul(leaving));
        self.index = (self.index + 1) % self.window.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_hashes_are_those_of_github() {
        assert_eq!(line_hashes(""), ["c129715d7a2bc9a3:1"]);
        assert_eq!(
            line_hashes(" a\nb\n  \t\tc\n d"),
            ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"]
        );
    }

    #[test]
    fn line_ends_make_no_difference_to_line_hashes() {
        assert_eq!(line_hashes("a\r\nb\rc\n"), line_hashes("a\nb\nc\n"));
    }

    #[test]
    fn a_dismissal_holds_through_its_last_day() {
        let dismissal = Dismissal {
            fingerprint: "f".into(),
            by: "ada".into(),
            reason: "fixture".into(),
            until: Some("2026-12-31".into()),
        };
        assert!(dismissal.holds_on("2026-12-31"));
        assert!(!dismissal.holds_on("2027-01-01"));
    }
}
