//! Orders to reviewers in commit messages.

use super::{ChangeCheck, ChangeFacts, CheckMatch};
use crate::text::injection::{self, find_injections};

pub(super) const CHECK: ChangeCheck = ChangeCheck { rule_text: injection::RULE_TEXT, find };

fn find(change_facts: &ChangeFacts<'_>) -> Vec<CheckMatch> {
    let messages = change_facts.change.messages();
    let orders = messages.iter().flat_map(|message| find_injections(message));
    let seen = orders.map(|order| CheckMatch {
        file: None,
        lines: None,
        note: format!("A commit message says `{}`. {}", order.shown, order.about),
        subject: order.shown,
    });
    seen.collect()
}
