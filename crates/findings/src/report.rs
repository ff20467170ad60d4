//! The result of one reviewer: [`Report`].
//!
//! `"findings": []` is a review without findings. `"findings": null` is no review: the report is
//! unusable, covers nothing and cannot support `ready`. The kind of a reviewer decides how far its
//! votes are trusted, so the caller sets the kind, and the text of the reviewer cannot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grade::Grade;
use crate::incomplete::IncompleteReason;
use crate::outcome::{self, TextJudgement};
use crate::read::{self, Envelope, RejectedText, Remarks, Repair};
use crate::usage::ReviewUsage;
use crate::vote::Vote;

/// The kind of a reviewer, which decides the value of an unstated confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReviewerKind {
    /// The built-in rules.
    Rules,
    /// A model with a role.
    Persona,
    /// An external analyser.
    Command,
}

/// The author of a report.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reviewer {
    /// The name, such as `security`.
    pub name: String,
    /// The kind of reviewer.
    pub kind: ReviewerKind,
    /// The family of the reviewer's model; `None` if it is not known.
    pub family: Option<String>,
    /// True if the report attests that a peer model really is another model.
    pub attested: bool,
    /// The worst grade that the reviewer may give; a worse vote is lowered to it. `None` for no
    /// limit.
    #[serde(default)]
    pub cap: Option<Grade>,
}

/// The programs that run peer reviewers, by the last part of the reviewer's name:
/// `adversarial-codex`.
const PEER_PROGRAMS: [&str; 6] = ["codex", "claude", "gemini", "grok", "copilot", "opencode"];

impl Reviewer {
    /// Creates a reviewer of a kind.
    pub fn new(name: impl Into<String>, kind: ReviewerKind) -> Reviewer {
        Reviewer { name: name.into(), kind, family: None, attested: false, cap: None }
    }

    /// Returns the name of the persona, without the peer model that plays it.
    fn persona(&self) -> &str {
        match self.name.rsplit_once('-') {
            Some((persona, peer)) if PEER_PROGRAMS.contains(&peer) => persona,
            _ => &self.name,
        }
    }

    /// Returns the name under which a reviewer agrees with others: its persona, or its own name if
    /// it is a peer model that is not attested.
    pub(crate) fn agreement_name(&self) -> &str {
        if self.is_unattested_peer() { &self.name } else { self.persona() }
    }

    /// Returns true if the reviewer's agreement with others counts.
    pub(crate) fn is_independent(&self) -> bool {
        !self.is_unattested_peer()
    }

    fn is_unattested_peer(&self) -> bool {
        self.persona() != self.name && !self.attested
    }

    /// Returns true if the agreement of two reviewers counts more than either vote alone: they
    /// differ, are not one persona played twice by one model family, and a peer model is attested.
    pub fn is_independent_of(&self, other: &Reviewer) -> bool {
        if self.name == other.name && self.family == other.family {
            return false;
        }
        let same_persona = self.persona() == other.persona();
        let same_family = self.family == other.family;
        !(same_persona && same_family || self.is_unattested_peer() || other.is_unattested_peer())
    }
}

/// The report of one reviewer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The author of the report.
    pub reviewer: Reviewer,
    /// The votes, one for each claim.
    pub votes: Vec<Vote>,
    /// The remarks besides the votes.
    pub remarks: Remarks,
    /// The parts that could not be read.
    pub rejected: Vec<RejectedText>,
    /// The number of findings that could not be read.
    pub lost: usize,
    /// The reasons why the report may have left out a finding. Its findings count, and the absence
    /// of findings on the rest of the change does not.
    #[serde(default)]
    pub incomplete: Vec<IncompleteReason>,
    /// The sentence by which the reviewer rejects the change; `None` if no sentence does. The
    /// review is then incomplete, unless a finding of the reviewer blocks the change, or would
    /// block it and was dismissed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<String>,
    /// The reason why the report has no content; such a report covers nothing. `None` for a usable
    /// report.
    pub unusable: Option<String>,
    /// True if the change cannot be ready without this report.
    pub required: bool,
    /// The number of rules that the user or the configuration left out, in all files or in some.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rules_not_applied: usize,
    /// The cost of the report; `None` if no model was called.
    #[serde(default)]
    pub spent: Option<ReviewUsage>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Report {
    /// Creates an empty report.
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
            rules_not_applied: 0,
            spent: None,
        }
    }

    /// Creates the report of a reviewer that returned nothing usable.
    pub fn unusable(reviewer: Reviewer, reason: impl Into<String>) -> Report {
        Report { unusable: Some(reason.into()), ..Report::new(reviewer) }
    }

    /// Reads a report from a reviewer's text, and salvages as much as possible. `name` is the
    /// reviewer if the text names none.
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
        let TextJudgement { incomplete, rejection, .. } = outcome::judge(text, &reading);
        let mut report = Report::from_envelope(reading.envelope, name);
        (report.incomplete, report.rejection) = (incomplete, rejection);
        report.rejected = reading.rejected;
        report.lost = reading.lost;
        report.remarks.notes.extend(reading.repairs.iter().map(describe_repair));
        match reading.votes {
            Some(votes) => report.votes = votes,
            None => report.unusable = Some("no findings could be read from the report".to_owned()),
        }
        report
    }

    /// Reads a report from a reviewer's bytes, and adds a note if they are not UTF-8.
    pub fn from_bytes(bytes: &[u8], name: &str, root: Option<&str>) -> Report {
        let (text, repair) = read::decode(bytes);
        let mut report = Report::from_text(&text, name, root);
        report.remarks.notes.extend(repair.as_ref().map(describe_repair));
        report
    }

    /// Returns true if all of the report could be read, so that the absence of findings counts.
    pub fn is_whole(&self) -> bool {
        self.unusable.is_none() && self.lost == 0 && self.incomplete.is_empty()
    }

    /// Adds the votes of an earlier answer of the same reviewer that this report does not have.
    pub fn include_votes_of(&mut self, earlier: Report) {
        let missing = read::find_unlisted(earlier.votes, &self.votes);
        self.votes.extend(missing);
    }

    /// Returns the report with another kind of reviewer.
    pub fn of_kind(mut self, kind: ReviewerKind) -> Report {
        self.reviewer.kind = kind;
        self
    }

    /// Reads a list of reports from JSON, which may be broken; any other text is one report.
    pub fn list_from_text(text: &str, root: Option<&str>) -> Vec<Report> {
        let Some(serde_json::Value::Array(values)) = read::repair_json(text) else {
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
        // The kind of a reviewer decides how far it is trusted, so the kind is not read from the
        // reviewer's text.
        let mut reviewer = Reviewer::new(name, ReviewerKind::Persona);
        reviewer.family = envelope.family;
        reviewer.attested = envelope.independence_verified;
        Report { remarks: envelope.remarks, ..Report::new(reviewer) }
    }
}

fn describe_repair(repair: &Repair) -> String {
    format!("repaired: {:?} at byte {}", repair.kind, repair.at)
}
