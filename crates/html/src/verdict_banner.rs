//! The verdict of a review at the top of a page: [`VerdictBanner`].

use assay_findings::verdict::VerdictState;
use assay_findings::write::escape::capitalize;
use maud::{Markup, html};

/// A verdict with its reasons.
pub struct VerdictBanner<'a> {
    /// The state of the change.
    pub state: VerdictState,
    /// The limits of the verdict, in a few words.
    pub caveat: Option<&'a str>,
    /// The reasons, the deciding one first.
    pub reasons: Vec<Markup>,
}

impl VerdictBanner<'_> {
    /// Renders the banner, with the verdict as the first heading of the page.
    pub fn render(&self) -> Markup {
        html! {
            section.verdict.(class(self.state)) aria-labelledby="verdict" {
                p.label { "Verdict" }
                h1 #verdict {
                    span.sign aria-hidden="true" { (sign(self.state)) } " "
                    (capitalize(self.state.in_words()))
                    @if let Some(caveat) = self.caveat { " " small { "(" (caveat) ")" } }
                }
                @if !self.reasons.is_empty() {
                    ul.reasons { @for reason in &self.reasons { li { (reason) } } }
                }
            }
        }
    }
}

fn class(state: VerdictState) -> &'static str {
    match state {
        VerdictState::Ready => "good",
        VerdictState::ReadyWithFixes | VerdictState::NothingToReview => "medium",
        VerdictState::NotReady | VerdictState::Incomplete => "critical",
    }
}

fn sign(state: VerdictState) -> &'static str {
    match state {
        VerdictState::Ready => "✓",
        VerdictState::ReadyWithFixes => "✓",
        VerdictState::NothingToReview => "–",
        VerdictState::NotReady => "✕",
        VerdictState::Incomplete => "?",
    }
}
