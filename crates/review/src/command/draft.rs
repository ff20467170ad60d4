//! A finding as parsed from the output of an analyser: [`Draft`], before it is checked against the
//! checkout.

use assay_findings::grade::Grade;
use assay_findings::path::RepoPath;
use assay_findings::vote::{Confidence, LineRange};

use super::edit::Edit;

/// The maximum number of characters of a title.
const MAX_TITLE_CHARS: usize = 120;

/// The maximum number of characters of a description.
const MAX_DESCRIPTION_CHARS: usize = 8_000;

/// A finding in a form that all formats share.
pub(crate) struct Draft {
    /// The tool that reports the finding; `None` if it is the reviewer itself.
    pub(crate) tool: Option<String>,
    /// The analyser's name for the rule.
    pub(crate) code: Option<String>,
    /// The message of the analyser.
    pub(crate) message: String,
    /// Further texts of the analyser, one for each paragraph.
    pub(crate) help: Vec<String>,
    pub(crate) file: Option<RepoPath>,
    pub(crate) lines: Option<LineRange>,
    pub(crate) grade: Grade,
    pub(crate) category: String,
    pub(crate) confidence: Option<Confidence>,
    pub(crate) fix: Option<Fix>,
    pub(crate) fires_on_base: bool,
    /// Problems with the format of the entry.
    pub(crate) faults: Vec<String>,
}

/// The fix that an analyser proposes.
pub(crate) struct Fix {
    /// The fix in words.
    pub(crate) words: Option<String>,
    /// The fix as edits of the file.
    pub(crate) edits: Vec<Edit>,
    /// True if the analyser considers its edits safe to apply.
    pub(crate) trusted: bool,
}

impl Draft {
    /// Creates a finding without a location.
    pub(crate) fn new(message: impl Into<String>, grade: Grade, category: &str) -> Draft {
        Draft {
            tool: None,
            code: None,
            message: message.into(),
            help: Vec::new(),
            file: None,
            lines: None,
            grade,
            category: category.to_owned(),
            confidence: None,
            fix: None,
            fires_on_base: false,
            faults: Vec::new(),
        }
    }

    /// Returns the title: the first sentence of the message, on one line.
    pub(crate) fn title(&self) -> String {
        match title(&self.message) {
            empty if empty.is_empty() => self.code.clone().unwrap_or_else(|| "finding".to_owned()),
            title => title,
        }
    }

    /// Returns the whole message and the further texts.
    pub(crate) fn description(&self) -> String {
        let more = self.help.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
        let mut paragraphs: Vec<&str> = vec![self.message.trim()];
        for text in more {
            if !paragraphs.contains(&text) {
                paragraphs.push(text);
            }
        }
        truncate_at_blank(&paragraphs.join("\n\n"), MAX_DESCRIPTION_CHARS)
    }

    /// Returns true if the finding is about a password, a key or a similar secret, which must not
    /// be repeated.
    pub(crate) fn is_about_a_secret(&self) -> bool {
        const WORDS: [&str; 8] = [
            "password", "passwd", "secret", "credential", "api key", "api_key", "api-key",
            "private key",
        ];
        let code = self.code.as_deref().unwrap_or_default();
        let text = format!("{code} {}", self.message).to_lowercase();
        // Parsers speak of tokens as well.
        let is_token = self.category == "security" && text.contains("token");
        is_token || WORDS.iter().any(|word| text.contains(word))
    }

    /// Redacts a possible secret: removes the quoted part of the message, and the fix.
    pub(crate) fn redact(&mut self) {
        self.fix = None;
        let quoted = self.message.split(['\'', '"']).count() - 1;
        if quoted < 2 {
            return;
        }
        let start = self.message.find(['\'', '"']);
        let end = self.message.rfind(['\'', '"']);
        if let Some((start, end)) = start.zip(end) {
            self.message.replace_range(start + 1..end, "…");
        }
    }
}

/// Returns the first sentence of a text on one line, truncated at a word if it is long.
pub(crate) fn title(message: &str) -> String {
    let line: String = message.trim().lines().next().unwrap_or_default().to_owned();
    let line = assay_base::text::single_spaced(&line);
    let sentence = &line[..sentence_end(&line)];
    let sentence = sentence.trim_end_matches(['.', ':', ';']).trim_end();
    truncate_at_blank(if sentence.is_empty() { &line } else { sentence }, MAX_TITLE_CHARS)
}

/// Returns the end of the first sentence: a full stop before a blank and a capital, outside of
/// code.
fn sentence_end(line: &str) -> usize {
    let mut in_code = false;
    for (at, c) in line.char_indices() {
        match c {
            '`' => in_code = !in_code,
            '.' if !in_code => {
                let mut after = line[at + 1..].chars();
                let starts_sentence = |c: char| c.is_uppercase() || c == '`';
                if after.next() == Some(' ') && after.next().is_some_and(starts_sentence) {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    line.len()
}

/// Truncates a text to a number of characters, at a blank if there is one near.
pub(crate) fn truncate_at_blank(text: &str, chars: usize) -> String {
    let Some((cut, _)) = text.char_indices().nth(chars) else { return text.to_owned() };
    let (keep, _) = text[..cut].char_indices().next_back().unwrap_or((0, ' '));
    let keep = match text[..keep].rfind(char::is_whitespace) {
        Some(blank) if blank > keep / 2 => blank,
        _ => keep,
    };
    format!("{}…", text[..keep].trim_end())
}

/// Formats the output of a program for one line of a message.
pub(crate) fn one_line(text: &str, chars: usize) -> String {
    let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    truncate_at_blank(visible.trim(), chars)
}
