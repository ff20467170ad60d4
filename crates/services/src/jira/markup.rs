//! Text as people and models write it, in parts: [`parse`] finds paragraphs, lists, code and links.
//!
//! It knows as much of Markdown as comments have. What it does not know stays as it is written.

use assay_base::text::{first_chars, split_chars};

/// The most characters of a text that are sent: JIRA takes 32,767, with what markup adds.
const MOST: usize = 28_000;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Lines that belong together.
    Paragraph(Vec<Vec<Inline>>),
    /// A heading of a level from 1 to 6.
    Heading(u8, Vec<Inline>),
    /// Items, each a line.
    Bullets(Vec<Vec<Inline>>),
    /// Code as it is, with its language if that is said.
    Code {
        /// The language.
        language: Option<String>,
        /// The code.
        text: String,
    },
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inline {
    /// Words.
    Text(String),
    /// Words that matter.
    Strong(String),
    /// Code within a line.
    Code(String),
    /// Words that lead somewhere.
    Link {
        /// The words.
        text: String,
        /// Where to.
        url: String,
    },
}

/// Takes a text apart. A text that is too long is cut, and says so.
pub fn parse(text: &str) -> Vec<Block> {
    let clean: String =
        text.chars().filter(|c| *c == '\n' || *c == '\t' || !c.is_control()).collect();
    let (kept, rest) = split_chars(&clean, MOST);
    let mut blocks = blocks(kept);
    if !rest.is_empty() {
        let note = "… (the rest is left out: it is too long for JIRA)".to_owned();
        blocks.push(Block::Paragraph(vec![vec![Inline::Text(note)]]));
    }
    blocks
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = text.lines();
    let mut is_open = false;
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        if let Some(rest) = trimmed.strip_prefix("```") {
            let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
            let fence = "`".repeat(ticks);
            let code: Vec<&str> =
                lines.by_ref().take_while(|line| !line.trim_start().starts_with(&fence)).collect();
            let language = rest.trim_start_matches('`').trim();
            let is_word = |c: char| c.is_ascii_alphanumeric() || "+#-_".contains(c);
            let language = (!language.is_empty() && language.chars().all(is_word))
                .then(|| language.to_owned());
            blocks.push(Block::Code { language, text: code.join("\n") });
            is_open = false;
        } else if trimmed.is_empty() {
            is_open = false;
        } else if let Some((level, rest)) = heading(trimmed) {
            blocks.push(Block::Heading(level, inlines(rest)));
            is_open = false;
        } else if let Some(item) = trimmed.strip_prefix("- ").or(trimmed.strip_prefix("* ")) {
            let item = inlines(item.trim());
            match blocks.last_mut() {
                Some(Block::Bullets(items)) if is_open => items.push(item),
                _ => blocks.push(Block::Bullets(vec![item])),
            }
            is_open = true;
        } else {
            match blocks.last_mut() {
                Some(Block::Paragraph(lines)) if is_open => lines.push(inlines(trimmed.trim_end())),
                _ => blocks.push(Block::Paragraph(vec![inlines(trimmed.trim_end())])),
            }
            is_open = true;
        }
    }
    blocks
}

fn heading(line: &str) -> Option<(u8, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let words = rest.strip_prefix(' ')?.trim();
    ((1..=6).contains(&level) && !words.is_empty()).then_some((u8::try_from(level).ok()?, words))
}

/// Takes a line apart. It is read once, from its beginning.
fn inlines(line: &str) -> Vec<Inline> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let found = match first {
            '`' => between(rest, "`").map(|(text, after)| (Inline::Code(text), after)),
            '*' => between(rest, "**").map(|(text, after)| (Inline::Strong(text), after)),
            '[' => named_link(rest),
            'h' => bare_link(rest),
            _ => None,
        };
        match found {
            Some((part, after)) => {
                if !plain.is_empty() {
                    parts.push(Inline::Text(std::mem::take(&mut plain)));
                }
                parts.push(part);
                rest = after;
            }
            None => {
                plain.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    if !plain.is_empty() {
        parts.push(Inline::Text(plain));
    }
    parts
}

/// The most characters that are looked through for the end of a part, so that a line is read in time.
const REACH: usize = 2_000;

fn between<'a>(text: &'a str, mark: &str) -> Option<(String, &'a str)> {
    let inside = text.strip_prefix(mark)?;
    let end = within_reach(inside).find(mark)?;
    let words = &inside[..end];
    let is_whole = !words.trim().is_empty() && words.trim() == words;
    is_whole.then(|| (words.to_owned(), &inside[end + mark.len()..]))
}

fn named_link(text: &str) -> Option<(Inline, &str)> {
    let inside = text.strip_prefix('[')?;
    let reach = within_reach(inside);
    let middle = reach.find("](")?;
    let end = middle + 2 + reach[middle + 2..].find(')')?;
    let (words, url) = (inside[..middle].trim(), &inside[middle + 2..end]);
    let is_one = is_url(url) && !words.is_empty() && !words.contains('[');
    is_one
        .then(|| (Inline::Link { text: words.to_owned(), url: url.to_owned() }, &inside[end + 1..]))
}

fn bare_link(text: &str) -> Option<(Inline, &str)> {
    let reach = within_reach(text);
    let is_end = |c: char| c.is_whitespace() || "<>\"'`|{}[]".contains(c);
    let url = &reach[..reach.find(is_end).unwrap_or(reach.len())];
    // What ends a sentence is no part of an address.
    let url = url.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
    let link = || Inline::Link { text: url.to_owned(), url: url.to_owned() };
    is_url(url).then(|| (link(), &text[url.len()..]))
}

fn within_reach(text: &str) -> &str {
    first_chars(text, REACH)
}

/// Says whether a text is an address of the web. Other schemes, such as `javascript`, are none.
fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_fit = |c: char| !c.is_whitespace() && !c.is_control() && !"<>\"|{}[]".contains(c);
    rest.is_some_and(|rest| rest.len() > 1 && rest.chars().all(is_fit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_never_ends_what_it_begins_is_text() {
        for odd in
            ["**", "`", "[a](", "[a](javascript:alert(1))", "****", "http://", "h", "** a **"]
        {
            assert_eq!(inlines(odd), [Inline::Text(odd.to_owned())], "{odd}");
        }
        let long = "[".repeat(100_000);
        assert_eq!(inlines(&long), [Inline::Text(long.clone())]);
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_and_says_so() {
        let blocks = parse(&"ä".repeat(MOST + 1));
        assert_eq!(blocks.len(), 2);
        assert!(matches!(&blocks[1], Block::Paragraph(lines) if lines.len() == 1));
        assert_eq!(parse(&"ä".repeat(MOST)).len(), 1);
    }
}
