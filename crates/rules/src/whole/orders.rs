//! Orders to reviewers in commit messages.

use super::{ChangeCheck, Sighting, Whole};
use crate::text::injection::{self, injection_in};

pub(super) const CHECK: ChangeCheck = ChangeCheck { wording: injection::WORDING, look };

fn look(whole: &Whole<'_>) -> Vec<Sighting> {
    let messages = whole.change.messages();
    let orders = messages.iter().flat_map(|message| injection_in(message));
    let seen = orders.map(|order| Sighting {
        file: None,
        lines: None,
        note: format!("A commit message says `{}`. {}", order.shown, order.about),
        subject: order.shown,
    });
    seen.collect()
}
