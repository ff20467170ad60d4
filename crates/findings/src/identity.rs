//! Recognises a finding over rounds and through edits: fingerprints, [`FindingStatus`] and
//! [`Dismissal`].
//!
//! A fingerprint is a hash of the rule or the title and the quoted code. It contains neither file
//! nor line, so moving the code leaves it unchanged, and editing the code changes it. A finding of
//! an earlier round that is not found again is resolved only if all reports of this round could be
//! read; otherwise the finding is unseen and stays open.

use std::collections::{BTreeMap, HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::{Finding, FindingStatus};
use crate::path::RepoPath;
use crate::title_similarity;

/// A finding of an earlier round that was not found again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Resolved")]
pub struct ResolvedFinding {
    /// The file of the finding.
    pub file: Option<RepoPath>,
    /// The symbol that contained the finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The title of the finding.
    pub title: String,
    /// The fingerprint of the finding.
    pub fingerprint: String,
}

/// A user's decision that a finding is not to be fixed.
///
/// A dismissal covers the code that the fingerprint is computed from: shifted lines leave the
/// dismissal in force, and an edit of that code ends it. A dismissal follows a file that the change
/// under review renames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dismissal {
    /// The finding's fingerprint.
    pub fingerprint: String,
    /// The file of the finding. The same code in another file is not covered. Without a file, all
    /// files are covered.
    #[serde(default)]
    pub file: Option<RepoPath>,
    /// The name of the user who decided.
    pub by: String,
    /// The reason of the decision.
    pub reason: String,
    /// The last day on which the dismissal is in force; null if it never expires.
    #[serde(default)]
    pub until: Option<Day>,
}

/// A comment in the code that asks to ignore the findings of a rule on a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    /// The rule.
    pub rule: String,
    /// The file.
    pub file: RepoPath,
    /// The line that the comment applies to, from 1.
    pub line: u32,
    /// The reason; there is no suppression without a reason.
    pub reason: String,
}

impl Suppression {
    pub(crate) fn covers(&self, finding: &Finding) -> bool {
        let last = finding.end_line.or(finding.line);
        let here = finding.line.is_some_and(|first| first <= self.line) && last >= Some(self.line);
        finding.rule.as_ref() == Some(&self.rule)
            && finding.file.as_ref() == Some(&self.file)
            && here
    }
}

/// A day, as `2026-12-31`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct Day(String);

impl TryFrom<String> for Day {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('-').collect();
        let number = |part: &str, digits: usize| -> Option<u32> {
            (part.len() == digits).then(|| part.parse().ok())?
        };
        let valid = match parts[..] {
            [year, month, day] => {
                number(year, 4).is_some()
                    && number(month, 2).is_some_and(|month| (1..=12).contains(&month))
                    && number(day, 2).is_some_and(|day| (1..=31).contains(&day))
            }
            _ => false,
        };
        if valid {
            Ok(Day(text))
        } else {
            Err(format!("invalid date `{text}`: expected a day such as 2026-12-31"))
        }
    }
}

impl Day {
    /// Returns the day as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Day> for String {
    fn from(day: Day) -> String {
        day.0
    }
}

impl Dismissal {
    /// Returns true if the dismissal is in force on a day.
    pub fn is_in_force_on(&self, today: &Day) -> bool {
        self.until.as_ref().is_none_or(|until| today <= until)
    }

    /// Returns true if the dismissal applies to a finding: the same fingerprint in the same file.
    pub fn covers(&self, finding: &Finding) -> bool {
        let is_here = |file: &RepoPath| finding.file.as_ref() == Some(file);
        self.fingerprint == finding.fingerprint && self.file.as_ref().is_none_or(is_here)
    }

    /// Returns the dismissal with the current name of its file. Only a rename changes the file: a
    /// file that is gone without a rename stays.
    pub fn following(
        self,
        renames: &BTreeMap<RepoPath, RepoPath>,
        exists: impl Fn(&RepoPath) -> bool,
    ) -> Dismissal {
        let gone = self.file.as_ref().filter(|file| !exists(file));
        match gone.and_then(|file| renames.get(file)) {
            Some(name) => Dismissal { file: Some(name.clone()), ..self },
            None => self,
        }
    }
}

/// The input of a fingerprint: neither file nor line, so that both may change.
///
/// The code in a fingerprint is the first of `subject`, `quote` and `surroundings` that is known.
/// An edit of that code changes the fingerprint, so a dismissed finding is reported again.
pub(crate) struct FingerprintInputs<'a> {
    pub(crate) rule: Option<&'a str>,
    pub(crate) category: &'a str,
    pub(crate) title: &'a str,
    /// The code that a rule matched, without whitespace; see `Vote::subject`.
    pub(crate) subject: Option<&'a str>,
    /// The code that the reviewer quotes, as it is in the file.
    pub(crate) quote: Option<&'a str>,
    /// The lines around the place of the finding.
    pub(crate) surroundings: Option<&'a str>,
}

/// Computes a fingerprint; `ordinal` is the number of equal ones before it in the same file.
pub(crate) fn fingerprint(features: &FingerprintInputs<'_>, ordinal: usize) -> String {
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
            part(&title_similarity::fold_title(features.title));
        }
    }
    part(features.subject.or(features.quote).or(features.surroundings).unwrap_or(""));
    part(&ordinal.to_string());
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Returns an id that is short and unique within a synthesis.
pub(crate) fn id(fingerprint: &str, file: Option<&RepoPath>) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(fingerprint.as_bytes());
    hasher.update(file.map_or("", RepoPath::as_str).as_bytes());
    hasher.finalize().to_hex()[..12].to_owned()
}

/// The findings of earlier rounds.
#[derive(Debug, Clone, Default)]
pub struct EarlierFindings<'a> {
    /// The findings of the last round, whatever was done with them.
    pub findings: Vec<&'a Finding>,
    /// The findings that the last round could not look for, so that they count as open.
    pub unseen: &'a [ResolvedFinding],
    /// The findings that were resolved before.
    pub resolved: &'a [ResolvedFinding],
}

/// The findings of earlier rounds that this round did not find again.
#[derive(Debug, Default)]
pub(crate) struct MissingFindings {
    /// The findings that are gone.
    pub(crate) resolved: Vec<ResolvedFinding>,
    /// The findings that this round could not look for.
    pub(crate) unseen: Vec<ResolvedFinding>,
}

impl EarlierFindings<'_> {
    /// Sets the status of each current finding, and returns the earlier findings that are not among
    /// them. They are resolved only if every required reviewer completed its review.
    pub(crate) fn compare(&self, current: &mut [Finding], all_complete: bool) -> MissingFindings {
        let mut known: HashMap<&str, Vec<ResolvedFinding>> = HashMap::new();
        let open = self.findings.iter().map(|finding| ResolvedFinding::from(*finding));
        let open: Vec<ResolvedFinding> = open.chain(self.unseen.iter().cloned()).collect();
        for finding in &open {
            known.entry(&finding.fingerprint).or_default().push(finding.clone());
        }
        // If several findings share a fingerprint, those in the same place belong together first.
        for tie in
            [ResolvedFinding::is_in_symbol_of, ResolvedFinding::is_in_file_of, |_: &_, _: &_| true]
        {
            for finding in current.iter_mut().filter(|finding| finding.status.is_none()) {
                let Some(candidates) = known.get_mut(finding.fingerprint.as_str()) else {
                    continue;
                };
                if let Some(at) = candidates.iter().position(|other| tie(other, finding)) {
                    candidates.swap_remove(at);
                    finding.status = Some(FindingStatus::StillOpen);
                }
            }
        }
        let gone: HashSet<&str> = self.resolved.iter().map(|r| r.fingerprint.as_str()).collect();
        for finding in current.iter_mut().filter(|finding| finding.status.is_none()) {
            let was_gone = gone.contains(finding.fingerprint.as_str());
            finding.status =
                Some(if was_gone { FindingStatus::Regressed } else { FindingStatus::New });
        }
        let missing: Vec<ResolvedFinding> = known.into_values().flatten().collect();
        let there: HashSet<&str> = current.iter().map(|f| f.fingerprint.as_str()).collect();
        let before = self.resolved.iter().filter(|r| !there.contains(r.fingerprint.as_str()));
        let mut past = MissingFindings { resolved: before.cloned().collect(), unseen: Vec::new() };
        if all_complete { &mut past.resolved } else { &mut past.unseen }.extend(missing);
        past.resolved.sort();
        past.unseen.sort();
        past
    }
}

impl From<&Finding> for ResolvedFinding {
    fn from(finding: &Finding) -> ResolvedFinding {
        ResolvedFinding {
            file: finding.named_file().cloned(),
            symbol: finding.symbol.clone(),
            title: finding.title.clone(),
            fingerprint: finding.fingerprint.clone(),
        }
    }
}

impl ResolvedFinding {
    fn is_in_file_of(&self, finding: &Finding) -> bool {
        self.file.as_ref() == finding.named_file()
    }

    fn is_in_symbol_of(&self, finding: &Finding) -> bool {
        self.is_in_file_of(finding) && self.symbol == finding.symbol
    }
}

/// Hashes each line as GitHub's code scanning does, so that an alert is recognised after lines have
/// moved: a rolling hash over the 100 characters from the line's start on, without whitespace, and
/// a count among equal hashes.
pub fn line_hashes(text: &str) -> Vec<String> {
    const WINDOW: usize = 100;
    const BASE: u64 = 37;
    const END: u16 = 65_535;
    let first_weight = (0..WINDOW).fold(1u64, |weight, _| weight.wrapping_mul(BASE));
    let mut rolling = RollingHash {
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

struct RollingHash {
    window: [u16; 100],
    /// True at each index of the window whose character is the first of a line.
    starts: [bool; 100],
    index: usize,
    hash: u64,
    base: u64,
    first_weight: u64,
    counts: HashMap<u64, u32>,
    hashes: Vec<String>,
}

impl RollingHash {
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

    fn day(text: &str) -> Result<Day, String> {
        Day::try_from(text.to_owned())
    }

    #[test]
    fn a_dismissal_holds_through_its_last_day() {
        let dismissal = Dismissal {
            fingerprint: "f".into(),
            file: None,
            by: "ada".into(),
            reason: "fixture".into(),
            until: Some(day("2026-12-31").unwrap()),
        };
        assert!(dismissal.is_in_force_on(&day("2026-12-31").unwrap()));
        assert!(!dismissal.is_in_force_on(&day("2027-01-01").unwrap()));
        for text in ["31.12.2020", "never", "2026-13-01", "2026-1-1", ""] {
            assert!(day(text).is_err(), "{text}");
        }
    }
}
