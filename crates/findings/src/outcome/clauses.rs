//! The split of a line into clauses: [`clauses`].

use crate::grade::Grade;

/// The maximum number of bytes of a sentence that are read before a clause.
const MAX_LOOK_BACK: usize = 400;

/// A part of a line that states one thought.
pub(super) struct Clause<'l> {
    pub(super) text: &'l str,
    /// The offset of the clause in the line, in bytes.
    pub(super) at: usize,
    pub(super) is_question: bool,
    /// True if the clause follows a colon.
    pub(super) follows_colon: bool,
    /// The sentence of the clause, up to the end of the clause.
    pub(super) sentence: &'l str,
    /// The text of the sentence before the clause, since the last border that ends a thought.
    pub(super) thought_before: &'l str,
    /// The text of the line behind the clause.
    pub(super) after: &'l str,
}

/// Splits a line at the ends of its thoughts: at the end of sentences, at commas that separate no
/// list, before "but", and at the given separators.
pub(super) fn clauses<'l>(line: &'l str, separators: &[&str]) -> Vec<Clause<'l>> {
    let mut found = Vec::new();
    let mut here = Position::default();
    let mut at = 0;
    while let Some(&byte) = line.as_bytes().get(at) {
        let Some(border) = Border::at(line, at, separators) else {
            at += 1;
            continue;
        };
        found.push(here.clause(line, at, byte == b'?'));
        at += border.width;
        here.step(at, &border);
    }
    found.push(here.clause(line, line.len(), false));
    found
}

/// The offsets at which a clause, its thought and its sentence start.
#[derive(Default)]
struct Position {
    clause: usize,
    thought: usize,
    sentence: usize,
    follows_colon: bool,
}

impl Position {
    fn clause<'l>(&self, line: &'l str, end: usize, is_question: bool) -> Clause<'l> {
        Clause {
            text: &line[self.clause..end],
            at: self.clause,
            is_question,
            follows_colon: self.follows_colon,
            sentence: &line[self.bounded_start(line, self.sentence)..end],
            thought_before: &line[self.bounded_start(line, self.thought)..self.clause],
            after: &line[end..],
        }
    }

    /// Bounds the text before a clause that is read, so that the work stays linear.
    fn bounded_start(&self, line: &str, start: usize) -> usize {
        start.max(line.floor_char_boundary(self.clause.saturating_sub(MAX_LOOK_BACK)))
    }

    fn step(&mut self, at: usize, border: &Border) {
        self.clause = at;
        self.follows_colon = border.is_colon;
        if border.turns {
            self.thought = at;
        }
        if border.ends_sentence {
            self.sentence = at;
        }
    }
}

/// The separator of two clauses.
struct Border {
    width: usize,
    ends_sentence: bool,
    /// True if a negation before the border does not apply behind it.
    turns: bool,
    is_colon: bool,
}

impl Border {
    fn at(line: &str, at: usize, separators: &[&str]) -> Option<Border> {
        let bytes = line.as_bytes();
        let spaced = bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
        let ends = matches!(bytes[at], b';' | b'!' | b'?') || (bytes[at] == b'.' && spaced);
        let parts = bytes[at] == b',' && spaced && !continues_list(&line[at + 1..]);
        if ends || parts {
            return Some(Border { width: 1, ends_sentence: ends, turns: ends, is_colon: false });
        }
        let separator = separators.iter().chain(&[" but "]).find(|separator| {
            bytes[at] == separator.as_bytes()[0] && line[at..].starts_with(**separator)
        })?;
        Some(Border {
            width: separator.len(),
            ends_sentence: false,
            turns: !matches!(*separator, " and " | " so " | " therefore "),
            is_colon: *separator == ": ",
        })
    }
}

/// Returns true if a comma only separates the members of one list: `no CRITICAL, HIGH or MAJOR`.
fn continues_list(rest: &str) -> bool {
    let next = rest.split_whitespace().next().unwrap_or("");
    let next = next.trim_matches(|c: char| !c.is_alphanumeric());
    matches!(next, "or" | "and" | "nor" | "failed") || Grade::is_word(next)
}
