//! The result of one reviewer: [`Report`].
//!
//! `"findings": []` is a review that found nothing. `"findings": null` is no review: the report is
//! unusable, covers nothing and cannot support `ready`. The kind of a reviewer decides how far its
//! votes are believed, so the caller sets the kind, and the text of the reviewer cannot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grade::Grade;
use crate::incomplete::IncompleteReason;
use crate::outcome::{self, Judgement};
use crate::read::{self, Envelope, Rejected, Remarks, Repair};
use crate::spent::Spent;
use crate::vote::Vote;

/// What kind of reviewer casts votes; it decides what an unstated confidence counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReviewerKind {
    /// The built-in rules.
    Rules,
    /// A model with a role.
    Persona,
    /// An outside analyser.
    Command,
}

/// Who wrote a report.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reviewer {
    /// Its name, such as `security`.
    pub name: String,
    /// Its kind.
    pub kind: ReviewerKind,
    /// The family of the model behind it.
    pub family: Option<String>,
    /// Whether somebody vouches that a peer model really is another one.
    pub attested: bool,
    /// The worst grade that it may give; a vote that is worse counts as this.
    #[serde(default)]
    pub cap: Option<Grade>,
}

/// The programs that stand behind peer reviewers, as their names end: `adversarial-codex`.
const PEERS: [&str; 6] = ["codex", "claude", "gemini", "grok", "copilot", "opencode"];

impl Reviewer {
    /// Names a reviewer of a kind.
    pub fn new(name: impl Into<String>, kind: ReviewerKind) -> Reviewer {
        Reviewer { name: name.into(), kind, family: None, attested: false, cap: None }
    }

    /// Gives the persona, without the peer model that plays it.
    fn persona(&self) -> &str {
        match self.name.rsplit_once('-') {
            Some((persona, peer)) if PEERS.contains(&peer) => persona,
            _ => &self.name,
        }
    }

    /// Returns the name under which a reviewer agrees with others: its persona, unless a peer model
    /// plays it that is not vouched for.
    pub(crate) fn voice(&self) -> &str {
        if self.is_unattested_peer() { &self.name } else { self.persona() }
    }

    /// Returns true if the reviewer's agreement with others counts.
    pub(crate) fn is_independent(&self) -> bool {
        !self.is_unattested_peer()
    }

    fn is_unattested_peer(&self) -> bool {
        self.persona() != self.name && !self.attested
    }

    /// Says whether the agreement of two reviewers is worth more than either alone: they differ,
    /// are not one persona played twice by one model family, and a peer model is vouched for.
    pub fn is_independent_of(&self, other: &Reviewer) -> bool {
        if self.name == other.name && self.family == other.family {
            return false;
        }
        let same_persona = self.persona() == other.persona();
        let same_family = self.family == other.family;
        !(same_persona && same_family || self.is_unattested_peer() || other.is_unattested_peer())
    }
}

/// One reviewer's return.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Who wrote it.
    pub reviewer: Reviewer,
    /// What it claims.
    pub votes: Vec<Vote>,
    /// What it says besides.
    pub remarks: Remarks,
    /// What of it could not be read.
    pub rejected: Vec<Rejected>,
    /// How many findings of it could not be read.
    pub lost: usize,
    /// Why the report may have left out a finding: its findings count, and its silence about the
    /// rest of the change does not.
    #[serde(default)]
    pub incomplete: Vec<IncompleteReason>,
    /// The sentence by which the reviewer rejects the change, if it does. The change is not ready
    /// then, whatever becomes of the findings that are meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<String>,
    /// Why it says nothing, where it does: such a report covered nothing.
    pub unusable: Option<String>,
    /// Whether the change cannot be ready without it.
    pub required: bool,
    /// What it cost, where a model was asked for it.
    #[serde(default)]
    pub spent: Option<Spent>,
}

impl Report {
    /// Makes a report with nothing in it yet.
    pub fn new(reviewer: Reviewer) -> Report {
        Report {
            reviewer,
            votes: Vec::new(),
            remarks: Remarks::default(),
            rejected: Vec::new(),
            lost: 0,
            incomplete: Vec::new(),
            rejection: None,
            unusable: None,
            required: true,
            spent: None,
        }
    }

    /// Makes the report of a reviewer that gave nothing usable.
    pub fn unusable(reviewer: Reviewer, reason: impl Into<String>) -> Report {
        Report { unusable: Some(reason.into()), ..Report::new(reviewer) }
    }

    /// Reads a report from a reviewer's text, salvaging what can be. `name` stands in where the
    /// text does not say who wrote it.
    pub fn from_text(text: &str, name: &str, root: Option<&str>) -> Report {
        let is_no_object =
            serde_json::from_str::<serde_json::Value>(text).is_ok_and(|value| !value.is_object());
        if is_no_object {
            let reviewer = Reviewer::new(name, ReviewerKind::Persona);
            let mut report = Report::unusable(reviewer, "the report is not a JSON object");
            report.rejected.extend(read::read(text, root).rejected);
            return report;
        }
        let reading = read::read(text, root);
        let Judgement { incomplete, rejection, .. } = outcome::judge(text, &reading);
        let mut report = Report::from_envelope(reading.envelope, name);
        (report.incomplete, report.rejection) = (incomplete, rejection);
        report.rejected = reading.rejected;
        report.lost = reading.lost;
        report.remarks.notes.extend(reading.repairs.iter().map(note));
        match reading.votes {
            Some(votes) => report.votes = votes,
            None => report.unusable = Some("no findings could be read from it".to_owned()),
        }
        report
    }

    /// Reads a report from a reviewer's bytes, noting where they are not UTF-8.
    pub fn from_bytes(bytes: &[u8], name: &str, root: Option<&str>) -> Report {
        let (text, repair) = read::decode(bytes);
        let mut report = Report::from_text(&text, name, root);
        report.remarks.notes.extend(repair.as_ref().map(note));
        report
    }

    /// Returns true if all of the report could be read, and its silence counts.
    pub fn is_whole(&self) -> bool {
        self.unusable.is_none() && self.lost == 0 && self.incomplete.is_empty()
    }

    /// Adds the votes of an earlier answer of the same reviewer that this report does not have.
    pub fn include_votes_of(&mut self, earlier: Report) {
        let missing = read::unlisted(earlier.votes, &self.votes);
        self.votes.extend(missing);
    }

    /// Takes the report for one of another kind of reviewer.
    pub fn of_kind(mut self, kind: ReviewerKind) -> Report {
        self.reviewer.kind = kind;
        self
    }

    /// Reads a list of reports from JSON, which may be broken; anything but a list is one report.
    pub fn list_from_text(text: &str, root: Option<&str>) -> Vec<Report> {
        let Some(serde_json::Value::Array(values)) = read::mended_json(text) else {
            return vec![Report::from_text(text, "report-1", root)];
        };
        values
            .iter()
            .zip(1..)
            .map(|(value, number)| {
                Report::from_text(&value.to_string(), &format!("report-{number}"), root)
            })
            .collect()
    }

    fn from_envelope(envelope: Envelope, name: &str) -> Report {
        let stated = envelope.reviewer.filter(|stated| !stated.trim().is_empty());
        let name = stated.unwrap_or_else(|| name.to_owned());
        // What kind of reviewer it is decides how far it is believed, so it is not taken from what
        // it says of itself.
        let mut reviewer = Reviewer::new(name, ReviewerKind::Persona);
        reviewer.family = envelope.family;
        reviewer.attested = envelope.independence_verified;
        Report { remarks: envelope.remarks, ..Report::new(reviewer) }
    }
}

fn note(repair: &Repair) -> String {
    format!("repaired: {:?} at byte {}", repair.kind, repair.at)
}
