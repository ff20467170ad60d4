//! Renders the status of a spec, for people and for machines: [`StatusReport`].

use assay_findings::write::escape;
use serde::Serialize;

use super::SignOffLine;
use super::escaping::line;
use crate::issue::Issue;
use crate::plan::{HistoryEntry, Signoff, SignoffStatus};

/// The status of a spec.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatusReport {
    /// The spec's name.
    pub spec: String,
    /// The status word, such as `approved`.
    pub status: &'static str,
    /// The number of rounds.
    pub qa_sessions: u32,
    /// The time of the last round; `None` if there was no round.
    pub last_check: Option<String>,
    /// The reason why a person has to act; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub escalation_reason: Option<String>,
    /// The open issues.
    pub issues_found: Vec<Issue>,
    /// The sign-offs and decisions of persons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sign_offs: Vec<SignOffLine>,
    /// The outcomes of the rounds.
    pub iteration_history: Vec<StatusRound>,
}

/// The outcome of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusRound {
    /// The number of the round.
    pub iteration: u32,
    /// The status word of the round.
    pub status: String,
    /// The time of the round.
    pub timestamp: String,
    /// The number of issues in the round.
    pub issues: usize,
}

impl StatusReport {
    /// Builds the status from the exported keys of a spec.
    pub fn of(spec: &str, signoff: &Signoff, history: &[HistoryEntry]) -> StatusReport {
        let round = |entry: &HistoryEntry| StatusRound {
            iteration: entry.iteration,
            status: entry.status.clone(),
            timestamp: entry.timestamp.clone(),
            issues: entry.issues.len(),
        };
        StatusReport {
            spec: spec.to_owned(),
            status: signoff.status.name(),
            qa_sessions: signoff.qa_session,
            last_check: Some(signoff.timestamp.clone()).filter(|at| !at.trim().is_empty()),
            escalation_reason: signoff.escalation_reason.clone(),
            issues_found: signoff.issues_found.clone(),
            sign_offs: Vec::new(),
            iteration_history: history.iter().map(round).collect(),
        }
    }

    /// Sets the sign-offs and decisions of persons.
    pub fn with_sign_offs(self, sign_offs: Vec<SignOffLine>) -> StatusReport {
        StatusReport { sign_offs, ..self }
    }

    /// Appends a sentence to the reason why a person has to act.
    pub fn with_reason(self, more: &str) -> StatusReport {
        let before = self.escalation_reason.map(|reason| format!("{reason}; "));
        let reason = format!("{}{more}", before.unwrap_or_default());
        StatusReport { escalation_reason: Some(reason), ..self }
    }

    /// Returns a pending status in place of an approval that is void, with the reason.
    pub fn void(self, why: &str) -> StatusReport {
        StatusReport {
            status: SignoffStatus::Pending.name(),
            escalation_reason: Some(why.to_owned()),
            ..self
        }
    }

    /// Returns true if the status is `approved`.
    pub fn is_approved(&self) -> bool {
        self.status == SignoffStatus::Approved.name()
    }

    /// Formats the status as JSON.
    pub fn json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("where a spec stands is JSON");
        escape::escape_json(text) + "\n"
    }

    /// Formats the status as text for people.
    pub fn text(&self) -> String {
        let mut out = format!(
            "Spec: {}\n\nQA Status: {}\nQA Sessions: {}\nLast Check: {}\n",
            line(&self.spec),
            self.status.to_uppercase(),
            self.qa_sessions,
            self.last_check.as_deref().map_or("never".to_owned(), line),
        );
        if let Some(reason) = &self.escalation_reason {
            out.push_str(&format!("Reason: {}\n", line(reason)));
        }
        if !self.issues_found.is_empty() {
            out.push_str("\nIssues Found:\n");
            out.extend(self.issues_found.iter().map(issue));
        }
        if !self.sign_offs.is_empty() {
            out.push_str("\nSign-offs:\n");
            out.extend(self.sign_offs.iter().map(sign_off));
        }
        if !self.iteration_history.is_empty() {
            out.push_str("\nIteration History:\n");
            out.extend(self.iteration_history.iter().map(round));
        }
        out
    }
}

fn issue(issue: &Issue) -> String {
    format!("- {} ({}, {})\n", line(&issue.title), issue.kind.name(), issue.severity.name())
}

fn sign_off(sign_off: &SignOffLine) -> String {
    let about = sign_off.about.as_deref().map_or("the whole tree".to_owned(), line);
    let because = sign_off.because.as_deref().map(|why| format!(" - {}", line(why)));
    let void = if sign_off.is_void { " (void: the tree changed since)" } else { "" };
    format!("- {}: {about}{}{void}\n", line(&sign_off.by), because.unwrap_or_default())
}

fn round(round: &StatusRound) -> String {
    let StatusRound { iteration, status, timestamp, issues } = round;
    let count = match issues {
        0 => String::new(),
        1 => " - 1 issue".to_owned(),
        more => format!(" - {more} issues"),
    };
    format!("  Iteration {iteration} ({}): {}{count}\n", clock(timestamp), capital(status))
}

/// Returns hour and minute of a timestamp such as `2026-02-12T09:00:00Z`; another text is returned
/// on one line.
fn clock(timestamp: &str) -> String {
    let clock = timestamp.split_once('T').and_then(|(_, clock)| clock.get(..5));
    let is_clock = |clock: &&str| {
        clock.bytes().enumerate().all(|(at, byte)| match at {
            2 => byte == b':',
            _ => byte.is_ascii_digit(),
        })
    };
    clock.filter(is_clock).map_or_else(|| line(timestamp), str::to_owned)
}

/// Formats a word such as `fixes_applied` as `Fixes applied`.
fn capital(word: &str) -> String {
    let word = line(word).replace('_', " ");
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
