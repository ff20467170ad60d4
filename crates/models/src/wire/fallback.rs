//! Features that a provider turns out not to accept: [`Fallbacks`]. Many servers are only roughly
//! compatible with an API.

use std::collections::BTreeSet;

use super::Dialect;

/// A feature of a request that is dropped or rephrased after the provider rejected it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fallback {
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
pub(crate) struct Fallbacks(BTreeSet<Fallback>);

/// Words of a rejection, and the concession that they lead to, the smallest first.
const ANTHROPIC: [(&str, Fallback); 6] = [
    ("tool_choice", Fallback::FreeTool),
    ("tool", Fallback::NoTools),
    ("thinking", Fallback::AdaptiveThinking),
    ("thinking", Fallback::NoThinking),
    ("input_schema", Fallback::NoSchema),
    // The schema is sent as a tool.
    ("tool", Fallback::NoSchema),
];
const CHAT: [(&str, Fallback); 7] = [
    ("tool", Fallback::NoTools),
    ("function", Fallback::NoTools),
    ("max_completion_tokens", Fallback::OldLimit),
    ("response_format", Fallback::NoSchema),
    ("json_schema", Fallback::NoSchema),
    ("stream_options", Fallback::NoUsage),
    ("reasoning", Fallback::NoThinking),
];
const RESPONSES: [(&str, Fallback); 5] = [
    ("tool", Fallback::NoTools),
    ("function", Fallback::NoTools),
    ("text.format", Fallback::NoSchema),
    ("json_schema", Fallback::NoSchema),
    ("reasoning", Fallback::NoThinking),
];

impl Fallbacks {
    pub(crate) fn contains(&self, fallback: Fallback) -> bool {
        self.0.contains(&fallback)
    }

    pub(crate) fn insert(&mut self, fallback: Fallback) {
        self.0.insert(fallback);
    }

    /// Returns the next concession to a provider that rejected a request with these words. Each is
    /// made once. Tools are given up only by a prompt that offers some, or carries earlier calls.
    pub(crate) fn next(
        &self,
        dialect: Dialect,
        refusal: &str,
        has_tools: bool,
    ) -> Option<Fallback> {
        let refusal = refusal.to_lowercase();
        let known: &[(&str, Fallback)] = match dialect {
            Dialect::Anthropic => &ANTHROPIC,
            Dialect::Chat => &CHAT,
            Dialect::Responses => &RESPONSES,
        };
        let fitting = known.iter().filter(|(words, _)| refusal.contains(words));
        let is_new = |fallback: &Fallback| {
            !self.contains(*fallback) && (has_tools || *fallback != Fallback::NoTools)
        };
        fitting.map(|(_, fallback)| *fallback).find(is_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fallback_is_chosen_once() {
        let mut made = Fallbacks::default();
        let refusal = "thinking.type.enabled is not supported";
        for expected in [Some(Fallback::AdaptiveThinking), Some(Fallback::NoThinking), None] {
            let next = made.next(Dialect::Anthropic, refusal, true);
            assert_eq!(next, expected);
            next.into_iter().for_each(|next| made.insert(next));
        }
    }

    #[test]
    fn tools_are_dropped_before_the_schema_and_only_if_the_prompt_has_tools() {
        let refusal = "This model does not support Tools with response_format";
        let mut made = Fallbacks::default();
        assert_eq!(made.next(Dialect::Chat, refusal, false), Some(Fallback::NoSchema));
        assert_eq!(made.next(Dialect::Chat, refusal, true), Some(Fallback::NoTools));
        made.insert(Fallback::NoTools);
        assert_eq!(made.next(Dialect::Chat, refusal, true), Some(Fallback::NoSchema));
        let mut made = Fallbacks::default();
        for expected in [Some(Fallback::NoTools), Some(Fallback::NoSchema), None] {
            let next = made.next(Dialect::Anthropic, "tools: Extra inputs", true);
            assert_eq!(next, expected);
            next.into_iter().for_each(|next| made.insert(next));
        }
    }

    #[test]
    fn an_unrelated_error_gives_no_fallback() {
        let made = Fallbacks::default();
        assert_eq!(made.next(Dialect::Chat, "no such model", true), None);
        assert_eq!(
            made.next(Dialect::Chat, "unknown field `max_completion_tokens`", true),
            Some(Fallback::OldLimit)
        );
    }
}
