//! Formats the headline of an item: [`headline`].

use assay_base::text::truncate;
use assay_findings::write::escape::one_line;

use crate::item::{Item, ItemResult, Scope};

/// Maximum number of characters of a headline.
const MAX_HEADLINE: usize = 200;

/// Returns the defect of an item in a few words: the first sentence of its finding, with the
/// milestone or decision of its scope. For an item that has not failed, returns the text of the
/// check.
pub fn headline(item: &Item) -> String {
    let ItemResult::Fail(finding) = &item.result else { return one_line(&item.check) };
    let finding = one_line(finding);
    let headline = first_sentence(&finding).trim_end_matches('.').trim();
    let headline = truncate(headline, MAX_HEADLINE);
    match &item.scope {
        Scope::Milestone(id) | Scope::Decision(id) if !has_word(&headline, id) => {
            headline + " for " + &one_line(id)
        }
        Scope::All
        | Scope::Milestone(_)
        | Scope::Decision(_)
        | Scope::File { .. }
        | Scope::Other(_) => headline,
    }
}

/// Returns the first sentence of a text, which ends with a full stop, a blank and a capital letter.
fn first_sentence(text: &str) -> &str {
    let ends = text.match_indices(". ");
    let end = ends.map(|(at, _)| at).find(|at| text[at + 2..].starts_with(char::is_uppercase));
    end.map_or(text, |end| &text[..end])
}

fn has_word(text: &str, word: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_inside) && !text[at + word.len()..].starts_with(is_inside)
    })
}
