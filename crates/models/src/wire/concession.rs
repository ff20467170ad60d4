//! Features that a provider turns out not to accept: [`Concessions`]. Many servers are only roughly
//! compatible with an API.

use std::collections::BTreeSet;

use super::Dialect;

/// A feature of a request that is dropped or rephrased after the provider rejected it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Concession {
    /// The limit of the answer is sent under its older name.
    OldLimit,
    /// The schema is part of the system prompt.
    NoSchema,
    /// The usage is not requested.
    NoUsage,
    /// The model decides how much to think.
    AdaptiveThinking,
    /// Thinking is not requested.
    NoThinking,
    /// The tool is offered, not forced.
    FreeTool,
    /// The tools of the prompt are not offered; earlier calls and their results are sent as text.
    NoTools,
}

/// The concessions that were made so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Concessions(BTreeSet<Concession>);

/// Words of a rejection, and the concession that they lead to, the smallest first.
const ANTHROPIC: [(&str, Concession); 6] = [
    ("tool_choice", Concession::FreeTool),
    ("tool", Concession::NoTools),
    ("thinking", Concession::AdaptiveThinking),
    ("thinking", Concession::NoThinking),
    ("input_schema", Concession::NoSchema),
    // The schema is sent as a tool.
    ("tool", Concession::NoSchema),
];
const CHAT: [(&str, Concession); 7] = [
    ("tool", Concession::NoTools),
    ("function", Concession::NoTools),
    ("max_completion_tokens", Concession::OldLimit),
    ("response_format", Concession::NoSchema),
    ("json_schema", Concession::NoSchema),
    ("stream_options", Concession::NoUsage),
    ("reasoning", Concession::NoThinking),
];
const RESPONSES: [(&str, Concession); 5] = [
    ("tool", Concession::NoTools),
    ("function", Concession::NoTools),
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

    /// Returns the next concession to a provider that rejected a request with these words. Each is
    /// made once. Tools are given up only by a prompt that offers some, or carries earlier calls.
    pub(crate) fn next(
        &self,
        dialect: Dialect,
        refusal: &str,
        has_tools: bool,
    ) -> Option<Concession> {
        let refusal = refusal.to_lowercase();
        let known: &[(&str, Concession)] = match dialect {
            Dialect::Anthropic => &ANTHROPIC,
            Dialect::Chat => &CHAT,
            Dialect::Responses => &RESPONSES,
        };
        let fitting = known.iter().filter(|(words, _)| refusal.contains(words));
        let is_new = |concession: &Concession| {
            !self.contains(*concession) && (has_tools || *concession != Concession::NoTools)
        };
        fitting.map(|(_, concession)| *concession).find(is_new)
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
            let next = made.next(Dialect::Anthropic, refusal, true);
            assert_eq!(next, expected);
            next.into_iter().for_each(|next| made.insert(next));
        }
    }

    #[test]
    fn tools_are_given_up_before_the_schema_and_only_by_a_prompt_that_has_some() {
        let refusal = "This model does not support Tools with response_format";
        let mut made = Concessions::default();
        assert_eq!(made.next(Dialect::Chat, refusal, false), Some(Concession::NoSchema));
        assert_eq!(made.next(Dialect::Chat, refusal, true), Some(Concession::NoTools));
        made.insert(Concession::NoTools);
        assert_eq!(made.next(Dialect::Chat, refusal, true), Some(Concession::NoSchema));
        let mut made = Concessions::default();
        for expected in [Some(Concession::NoTools), Some(Concession::NoSchema), None] {
            let next = made.next(Dialect::Anthropic, "tools: Extra inputs", true);
            assert_eq!(next, expected);
            next.into_iter().for_each(|next| made.insert(next));
        }
    }

    #[test]
    fn nothing_is_conceded_to_other_words() {
        let made = Concessions::default();
        assert_eq!(made.next(Dialect::Chat, "no such model", true), None);
        assert_eq!(
            made.next(Dialect::Chat, "unknown field `max_completion_tokens`", true),
            Some(Concession::OldLimit)
        );
    }
}
