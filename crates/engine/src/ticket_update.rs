//! The updates of a JIRA ticket: one table of events, with the text and the transition of each.

use assay_agents::change_event::{ChangeEvent, RenderedReview};
use assay_rules::redact;
use assay_validate::notification::{LoopNotification, NotificationKind};

use crate::config::jira::StepNames;

/// An event that a ticket is updated for.
pub(crate) enum TicketEvent<'a> {
    /// An event of a change that agents work on.
    Change {
        /// The event.
        event: &'a ChangeEvent,
        /// The review; `None` if the event is not about a review.
        review: Option<&'a RenderedReview>,
        /// True if the task named a pull request before the event.
        had_pull: bool,
    },
    /// An event of the loop on a spec.
    Loop {
        /// The event.
        news: &'a LoopNotification,
        /// The name of the spec.
        spec: &'a str,
    },
}

/// A comment on a ticket, and its transition.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TicketUpdate {
    /// The kind of event, in a word.
    pub(crate) kind: &'static str,
    /// The comment, redacted.
    pub(crate) text: String,
    /// The transition; `None` if the ticket keeps its status.
    pub(crate) transition: Option<String>,
}

impl TicketEvent<'_> {
    /// Returns the update, with the names that the workflow has for its steps.
    pub(crate) fn update(&self, names: StepNames) -> TicketUpdate {
        let StepNames { code_review, approved, changes_requested } = names;
        let (kind, text, transition) = match self {
            TicketEvent::Change { event, review, had_pull } => {
                let reviewed = |summary: &str| {
                    review.map_or_else(|| summary.to_owned(), |review| review.ticket.clone())
                };
                match event {
                    ChangeEvent::ReadyForReview { branch, pull } => {
                        let text = match pull {
                            Some(pull) if *had_pull => {
                                format!("New commits were pushed to the pull request: {}", pull.url)
                            }
                            Some(pull) => format!("Pull request created: {}", pull.url),
                            None => format!("`{branch}` is ready to be reviewed"),
                        };
                        ("code-review", text, Some(code_review))
                    }
                    ChangeEvent::Approved { summary } => {
                        ("approved", reviewed(summary), Some(approved))
                    }
                    ChangeEvent::NothingToReview { summary } => {
                        ("nothing-to-review", reviewed(summary), None)
                    }
                    ChangeEvent::ChangesRequested { summary } => {
                        ("changes-requested", reviewed(summary), Some(changes_requested))
                    }
                    ChangeEvent::Escalated { reason } => {
                        ("escalated", format!("A person must decide: {reason}"), None)
                    }
                }
            }
            TicketEvent::Loop { news, spec } => {
                let text = news.text(spec);
                match news.kind {
                    NotificationKind::Started => ("loop-started", text, Some(code_review)),
                    NotificationKind::Rejected { .. } => ("loop-rejected", text, None),
                    NotificationKind::Approved { .. } => ("loop-approved", text, Some(approved)),
                    NotificationKind::HandedOver { .. } => {
                        ("loop-handed-over", text, Some(changes_requested))
                    }
                }
            }
        };
        TicketUpdate { kind, text: redact(&text).into_owned(), transition }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> StepNames {
        StepNames {
            code_review: "In Review".to_owned(),
            approved: "Ready".to_owned(),
            changes_requested: "In Work".to_owned(),
        }
    }

    /// Returns the kind, the transition or `stays`, and the text.
    fn update_text(event: &TicketEvent<'_>) -> String {
        let TicketUpdate { kind, text, transition } = event.update(names());
        format!("{kind}, {}: {text}", transition.unwrap_or_else(|| "stays".to_owned()))
    }

    #[test]
    fn each_event_of_a_change_has_its_text_and_transition() {
        let summary = || "1 high".to_owned();
        let review =
            RenderedReview { draft: None, ticket: "The review".to_owned(), resolutions: None };
        let events = [
            (ChangeEvent::ReadyForReview { branch: "topic".to_owned(), pull: None }, None),
            (ChangeEvent::Approved { summary: summary() }, None),
            (ChangeEvent::NothingToReview { summary: summary() }, None),
            (ChangeEvent::ChangesRequested { summary: summary() }, Some(&review)),
            (ChangeEvent::Escalated { reason: "no end".to_owned() }, None),
        ];
        let update_texts = events.each_ref().map(|(event, review)| {
            update_text(&TicketEvent::Change { event, review: *review, had_pull: false })
        });
        let expected = [
            "code-review, In Review: `topic` is ready to be reviewed",
            "approved, Ready: 1 high",
            "nothing-to-review, stays: 1 high",
            "changes-requested, In Work: The review",
            "escalated, stays: A person must decide: no end",
        ];
        assert_eq!(update_texts, expected);
    }

    #[test]
    fn each_event_of_a_loop_has_its_text_and_transition() {
        let events = [
            NotificationKind::Started,
            NotificationKind::Rejected { round: 1, issues: 2 },
            NotificationKind::Approved { rounds: 2, seconds: 5 },
            NotificationKind::HandedOver { rounds: 3, reason: "no progress".to_owned() },
        ];
        let update_texts = events.map(|kind| {
            update_text(&TicketEvent::Loop {
                news: &LoopNotification { kind, identity: [0; 16] },
                spec: "001",
            })
        });
        let expected = [
            "loop-started, In Review: Validation of `001` started.",
            "loop-rejected, stays: Validation of `001`, round 1: rejected, 2 issues to fix.",
            "loop-approved, Ready: Validation of `001`: approved after 2 rounds and 5 s.",
            "loop-handed-over, In Work: Validation of `001` needs a person after 3 rounds: no \
             progress. See `QA_HUMAN_ESCALATION.md` in the folder of the spec.",
        ];
        assert_eq!(update_texts, expected);
    }
}
