//! Removes list marks from lines, and splits texts into sentences.

use crate::markdown::tick;
use assay_base::text::single_spaced;

/// List marks that people use in addition to those of Markdown.
const MARKS: [char; 14] = ['•', '◦', '▪', '‣', '·', '–', '—', '☐', '☑', '☒', '✓', '✔', '✅', '❌'];

/// Words before a full stop that end no sentence.
const ABBREVIATIONS: [&str; 10] =
    ["e.g", "i.e", "etc", "vs", "no", "resp", "approx", "cf", "incl", "max"];

/// Removes a mark, a number or a check box from the beginning of a line.
pub(super) fn without_mark(line: &str) -> &str {
    let bare = line.trim_start_matches(|c: char| MARKS.contains(&c) || c == '>').trim_start();
    let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits
        .strip_prefix(['.', ')'])
        .filter(|rest| digits.len() < bare.len() && rest.starts_with([' ', '\t']));
    let bulleted = ["- ", "* ", "+ "].iter().find_map(|mark| bare.strip_prefix(mark));
    let bare = numbered.or(bulleted).map_or(bare, str::trim_start);
    tick(bare).1
}

/// Splits a text into its sentences. Text in back-ticks is never split.
pub(crate) fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut current = String::new();
    let mut in_code = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        in_code ^= c == '`';
        current.push(c);
        let is_full_width = matches!(c, '。' | '！' | '？') && chars.peek().is_some();
        let is_stop = matches!(c, '.' | '!' | '?')
            && chars.peek().is_some_and(|next| next.is_whitespace())
            && !is_abbreviated(&current);
        let ends = !in_code && (is_full_width || is_stop);
        if ends {
            sentences.push(single_spaced(&current));
            current.clear();
        }
    }
    sentences.push(single_spaced(&current));
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

fn is_abbreviated(text: &str) -> bool {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    let word = word.trim_start_matches('(').trim_end_matches('.').to_lowercase();
    let is_number = !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
    text.ends_with('.')
        && (ABBREVIATIONS.contains(&word.as_str()) || word.chars().count() == 1 || is_number)
}
