//! Notifications for the ticket of a spec: [`LoopNotification`].
//!
//! A notification follows from the state of the loop alone. So a run that resumes after a crash
//! computes the same notification with the same identity, and the sender can deduplicate it.
//! Sending is left to the caller.

use assay_base::text::first_chars;
use assay_findings::write::escape::one_line;
use assay_rules::redact_text;
use jiff::Timestamp;

use crate::ending::Ending;
use crate::loop_state::LoopState;

/// Maximum length of a reason, in characters.
const MAX_REASON_CHARS: usize = 300;

/// A notification of the latest event in a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopNotification {
    /// The event.
    pub kind: NotificationKind,
    /// The deduplication key: the same for the same event, however often it is sent.
    pub identity: [u8; 16],
}

/// An event that followers of a ticket are notified of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotificationKind {
    /// The loop started.
    Started,
    /// A round found issues.
    Rejected {
        /// The number of the round.
        round: u32,
        /// The number of issues that the round found.
        issues: usize,
    },
    /// The implementation is approved.
    Approved {
        /// The number of rounds in the epoch.
        rounds: usize,
        /// The time since the epoch began, in seconds.
        seconds: u64,
    },
    /// The loop was escalated to a person.
    HandedOver {
        /// The number of rounds in the epoch.
        rounds: usize,
        /// The reason of the ending, redacted and on one line.
        reason: String,
    },
}

impl LoopNotification {
    /// Returns the latest notification about a loop on a spec of a repository; `None` if the last
    /// round found no issues and the loop has not ended.
    pub fn of(
        repository: &str,
        spec: &str,
        loop_state: &LoopState,
        ending: Option<&Ending>,
    ) -> Option<LoopNotification> {
        let rounds = loop_state.epoch();
        let last = rounds.iter().rev().find(|round| round.review().is_some());
        let (kind, at) = match (ending, last) {
            (Some(Ending::Approved), _) => {
                let ended = last.map_or(loop_state.begun.as_str(), |round| round.at.as_str());
                let seconds = seconds(&loop_state.begun, ended);
                (NotificationKind::Approved { rounds: rounds.len(), seconds }, ended)
            }
            (Some(ending), _) => {
                let reason = redact_text(&one_line(&ending.reason()));
                let reason = first_chars(&reason, MAX_REASON_CHARS).to_owned();
                let at = rounds.last().map_or(loop_state.begun.as_str(), |round| round.at.as_str());
                (NotificationKind::HandedOver { rounds: rounds.len(), reason }, at)
            }
            (None, None) => (NotificationKind::Started, loop_state.begun.as_str()),
            (None, Some(round)) => {
                let issues = round.review().map_or(0, |review| review.issues.len());
                if issues == 0 {
                    return None;
                }
                (NotificationKind::Rejected { round: round.number, issues }, round.at.as_str())
            }
        };
        let identity = identity(&[repository, spec, kind.word(), at]);
        Some(LoopNotification { kind, identity })
    }

    /// Returns the identity of a spec in a repository.
    pub fn identity_of_spec(repository: &str, spec: &str) -> [u8; 16] {
        identity(&[repository, spec])
    }

    /// Formats the notification for the followers of the ticket.
    pub fn text(&self, spec: &str) -> String {
        let spec = redact_text(&one_line(spec));
        let count = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        };
        match &self.kind {
            NotificationKind::Started => format!("Validation of `{spec}` started."),
            NotificationKind::Rejected { round, issues } => {
                let issues = count(*issues, "issue");
                format!("Validation of `{spec}`, round {round}: rejected, {issues} to fix.")
            }
            NotificationKind::Approved { rounds, seconds } => {
                let (rounds, time) = (count(*rounds, "round"), format_duration(*seconds));
                format!("Validation of `{spec}`: approved after {rounds} and {time}.")
            }
            NotificationKind::HandedOver { rounds, reason } => {
                let rounds = count(*rounds, "round");
                format!(
                    "Validation of `{spec}` needs a person after {rounds}: {reason}. See \
                     `QA_HUMAN_ESCALATION.md` in the folder of the spec."
                )
            }
        }
    }
}

impl NotificationKind {
    fn word(&self) -> &'static str {
        match self {
            NotificationKind::Started => "started",
            NotificationKind::Rejected { .. } => "rejected",
            NotificationKind::Approved { .. } => "approved",
            NotificationKind::HandedOver { .. } => "handed over",
        }
    }
}

fn identity(parts: &[&str]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let mut identity = [0; 16];
    identity.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    identity
}

fn seconds(from: &str, to: &str) -> u64 {
    let parse = |at: &str| at.parse::<Timestamp>().ok();
    let Some((from, to)) = parse(from).zip(parse(to)) else { return 0 };
    u64::try_from(to.duration_since(from).as_secs()).unwrap_or(0)
}

fn format_duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{EpochReason, Event, ReviewResult};
    use crate::issue::Issue;
    use crate::tree_hash::TreeHash;

    fn after(events: &[(&str, Event)]) -> LoopState {
        let mut loop_state = LoopState::default();
        for (at, event) in events {
            loop_state.apply(at, event).unwrap();
        }
        loop_state
    }

    fn begun() -> Event {
        Event::EpochBegun { why: EpochReason::First, base: None }
    }

    fn review(round: u32) -> Event {
        Event::ReviewBegun { round, tree: TreeHash(format!("t{round}")) }
    }

    fn reviewed(issues: Vec<Issue>) -> Event {
        Event::Reviewed { review: ReviewResult { issues, ..ReviewResult::default() } }
    }

    fn notification_text(loop_state: &LoopState, ending: Option<&Ending>) -> String {
        let news = LoopNotification::of("repository", "001-login", loop_state, ending);
        news.map_or("nothing".to_owned(), |news| news.text("001-login"))
    }

    #[test]
    fn the_notification_follows_from_the_state_of_the_loop() {
        let issue: Issue = serde_json::from_str(
            r#"{"type":"unit_test","title":"a test fails","severity":"high"}"#,
        )
        .unwrap();
        let mut events = vec![("2026-03-01T10:00:00Z", begun())];
        assert_eq!(notification_text(&after(&events), None), "Validation of `001-login` started.");
        events.push(("2026-03-01T10:00:01Z", review(1)));
        events.push(("2026-03-01T10:01:00Z", reviewed(vec![issue])));
        let rejected = after(&events);
        assert_eq!(
            notification_text(&rejected, None),
            "Validation of `001-login`, round 1: rejected, 1 issue to fix."
        );
        let handed_over = notification_text(&rejected, Some(&Ending::NoProgress { rounds: 3 }));
        assert_eq!(
            handed_over,
            "Validation of `001-login` needs a person after 1 round: no progress in 3 rounds. See \
             `QA_HUMAN_ESCALATION.md` in the folder of the spec."
        );
        events.push(("2026-03-01T10:02:00Z", review(2)));
        events.push(("2026-03-01T10:03:05Z", reviewed(Vec::new())));
        let approved = after(&events);
        assert_eq!(notification_text(&approved, None), "nothing");
        assert_eq!(
            notification_text(&approved, Some(&Ending::Approved)),
            "Validation of `001-login`: approved after 2 rounds and 3 min 5 s."
        );
    }

    #[test]
    fn equal_notifications_have_equal_identities_and_others_differ() {
        let first = after(&[("2026-03-01T10:00:00Z", begun())]);
        let later = after(&[("2026-03-02T10:00:00Z", begun())]);
        let identity = |repository, spec, loop_state| {
            LoopNotification::of(repository, spec, loop_state, None).unwrap().identity
        };
        let known = identity("a", "001", &first);
        assert_eq!(identity("a", "001", &first), known);
        assert_ne!(identity("a", "001", &later), known);
        assert_ne!(identity("b", "001", &first), known);
        assert_ne!(identity("a", "002", &first), known);
    }
}
