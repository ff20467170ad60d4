//! The size limit of one answer: [`AnswerBudget`] counts the bytes that are left, so that no client
//! truncates the answer.

use serde::Serialize;

/// The maximum number of characters of one answer. Agents truncate the answer of a tool at 30,000.
pub(super) const MAX_ANSWER: usize = 28_000;

/// The bytes of an answer that are reserved for names of fields and for `next`.
const RESERVED_BYTES: usize = 3_000;

/// The number of bytes that are left in an answer, counted as JSON. An answer has no more
/// characters than bytes.
#[derive(Debug)]
pub(super) struct AnswerBudget(usize);

impl AnswerBudget {
    /// Returns the budget of a whole answer.
    pub(super) fn new() -> AnswerBudget {
        AnswerBudget(MAX_ANSWER - RESERVED_BYTES)
    }

    /// Reserves the bytes of a value. Returns false and reserves nothing if the value does not fit.
    pub(super) fn take<T: Serialize + ?Sized>(&mut self, value: &T) -> bool {
        let bytes = json_bytes(value);
        let fits = bytes <= self.0;
        self.0 -= if fits { bytes } else { 0 };
        fits
    }

    /// Reserves the bytes of a value that is part of the answer in any case.
    pub(super) fn charge<T: Serialize + ?Sized>(&mut self, value: &T) {
        self.0 = self.0.saturating_sub(json_bytes(value));
    }

    /// Returns the first values that fit, and the number of the others.
    pub(super) fn list<T: Serialize>(&mut self, values: Vec<T>) -> (Vec<T>, usize) {
        let all = values.len();
        let fitting: Vec<T> = values.into_iter().take_while(|value| self.take(value)).collect();
        let more = all - fitting.len();
        (fitting, more)
    }

    /// Moves a part of the budget into a new one.
    pub(super) fn split(&mut self, bytes: usize) -> AnswerBudget {
        let bytes = bytes.min(self.0);
        self.0 -= bytes;
        AnswerBudget(bytes)
    }

    /// Returns the end of the longest piece of a text that starts at an offset and fits. The piece
    /// ends at the end of a line if it contains one.
    pub(super) fn end_of_piece(&self, text: &str, offset: usize) -> usize {
        let rest = &text[offset..];
        let mut left = self.0;
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            let bytes = json_bytes(c.encode_utf8(&mut [0; 4])).saturating_sub(PUNCTUATION);
            if bytes > left {
                end = at;
                break;
            }
            left -= bytes;
        }
        if end < rest.len() {
            end = rest[..end].rfind('\n').map_or(end, |line| line + 1);
        }
        offset + end
    }
}

/// The quotes around a text and the comma after it.
const PUNCTUATION: usize = 3;

fn json_bytes<T: Serialize + ?Sized>(value: &T) -> usize {
    serde_json::to_string(value).map_or(usize::MAX / 2, |text| text.len() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_list_is_truncated_to_the_budget() {
        let mut budget = AnswerBudget(100);
        let (taken, more) = budget.list(vec!["x".repeat(30), "x".repeat(30), "x".repeat(60)]);
        assert_eq!((taken.len(), more), (2, 1));
    }

    proptest! {
        #[test]
        fn the_pieces_of_a_text_fit_the_budget_and_concatenate_to_the_text(
            text in "([a-z\\n\"\u{1}é]{0,9}|[ -~]{0,40}){0,60}",
            budget in 20usize..300,
        ) {
            let budget = AnswerBudget(budget);
            let (mut offset, mut whole) = (0, String::new());
            while offset < text.len() {
                let end = budget.end_of_piece(&text, offset);
                prop_assert!(end > offset);
                prop_assert!(json_bytes(&text[offset..end]) <= budget.0 + PUNCTUATION);
                whole.push_str(&text[offset..end]);
                offset = end;
            }
            prop_assert_eq!(whole, text);
        }
    }
}
