//! What a provider turns out not to take: [`Concessions`]. Many speak a dialect almost.

use std::collections::BTreeSet;

use super::Dialect;

/// Something that is left out or said otherwise, because a provider refused it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Concession {
    /// The longest answer goes by its older name.
    OldLimit,
    /// The schema goes in words.
    NoSchema,
    /// What was used is not asked for.
    NoUsage,
    /// How much to think is left to the model.
    AdaptiveThinking,
    /// Thinking is not asked for.
    NoThinking,
    /// The tool is offered, not forced.
    FreeTool,
}

/// What was conceded so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Concessions(BTreeSet<Concession>);

/// The words of a refusal, and what can be conceded in answer, the least first.
const ANTHROPIC: [(&str, Concession); 4] = [
    ("tool_choice", Concession::FreeTool),
    ("thinking", Concession::AdaptiveThinking),
    ("thinking", Concession::NoThinking),
    ("input_schema", Concession::NoSchema),
];
const CHAT: [(&str, Concession); 5] = [
    ("max_completion_tokens", Concession::OldLimit),
    ("response_format", Concession::NoSchema),
    ("json_schema", Concession::NoSchema),
    ("stream_options", Concession::NoUsage),
    ("reasoning", Concession::NoThinking),
];
const RESPONSES: [(&str, Concession); 3] = [
    ("text.format", Concession::NoSchema),
    ("json_schema", Concession::NoSchema),
    ("reasoning", Concession::NoThinking),
];

impl Concessions {
    pub(crate) fn contains(&self, concession: Concession) -> bool {
        self.0.contains(&concession)
    }

    pub(crate) fn insert(&mut self, concession: Concession) {
        self.0.insert(concession);
    }

    /// Gives what else can be conceded to a provider that refused with these words. Each is
    /// conceded once.
    pub(crate) fn next(&self, dialect: Dialect, refusal: &str) -> Option<Concession> {
        let known: &[(&str, Concession)] = match dialect {
            Dialect::Anthropic => &ANTHROPIC,
            Dialect::Chat => &CHAT,
            Dialect::Responses => &RESPONSES,
        };
        let fitting = known.iter().filter(|(words, _)| refusal.contains(words));
        fitting.map(|(_, concession)| *concession).find(|concession| !self.contains(*concession))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_is_conceded_once() {
        let mut made = Concessions::default();
        let refusal = "thinking.type.enabled is not supported";
        for expected in [Some(Concession::AdaptiveThinking), Some(Concession::NoThinking), None] {
            let next = made.next(Dialect::Anthropic, refusal);
            assert_eq!(next, expected);
            next.into_iter().for_each(|next| made.insert(next));
        }
    }

    #[test]
    fn nothing_is_conceded_to_other_words() {
        let made = Concessions::default();
        assert_eq!(made.next(Dialect::Chat, "no such model"), None);
        assert_eq!(
            made.next(Dialect::Chat, "unknown field `max_completion_tokens`"),
            Some(Concession::OldLimit)
        );
    }
}
