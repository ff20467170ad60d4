//! Credentials: what is left in the code by mistake, and taking it out of what is shown.

mod key;
mod kinds;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

use self::key::Keys;
use self::kinds::{KEY, KINDS};
use super::Added;
use crate::hit::Hit;

/// Bits for each character below which a text is no random token.
const MIN_ENTROPY: f64 = 3.0;

/// A text as long as this can lose four characters and is still none the less secret.
const MIN_TOKEN: usize = 24;

/// What stands in the place of a credential in examples.
const PLACEHOLDERS: [&str; 9] =
    ["example", "xxxx", "0000", "your", "placeholder", "changeme", "dummy", "redacted", "password"];

static MARKS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::new(KINDS.iter().map(|kind| kind.mark)).expect("the marks are few and short")
});

/// The patterns, each made when a line first has its mark.
static PATTERNS: LazyLock<Vec<OnceLock<Regex>>> =
    LazyLock::new(|| KINDS.iter().map(|_| OnceLock::new()).collect());

fn pattern(kind: usize) -> &'static Regex {
    PATTERNS[kind].get_or_init(|| {
        // Credentials are ASCII, and Unicode's word ends would make for a slow search.
        let pattern = KINDS[kind].pattern.replace(r"\b", r"(?-u:\b)");
        Regex::new(&pattern).expect("a test tries every pattern")
    })
}

pub(crate) fn look(added: &Added<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let lines = &added.lines;
    for (at, (line, text)) in lines.iter().enumerate() {
        let next = lines.get(at + 1).map_or("", |(_, next)| *next);
        let real = found(text).into_iter().filter(|(kind, _)| *kind != KEY || has_body(text, next));
        for (kind, span) in real {
            let hit = Hit::on_line(*line, &text[span.clone()]);
            hits.extend(hit.map(|hit| Hit {
                column: Some(span.start as u32 + 1),
                note: Some(format!("This is {kind}.")),
                is_secret: true,
                ..hit
            }));
        }
    }
    hits
}

/// Says whether a key follows its header, here or on the next line, and not just talk of one.
fn has_body(line: &str, next: &str) -> bool {
    let after = line.split("-----").last().unwrap_or("").trim_start_matches(['\\', 'n', '"', '\'']);
    is_key_text(after) || is_key_text(next)
}

fn is_key_text(text: &str) -> bool {
    let text = text.trim().trim_matches(|c: char| matches!(c, '"' | '\'' | '+' | ',' | ' '));
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let length = text.chars().take_while(|c| is_base64(*c)).count();
    length >= 40 || text.starts_with("Proc-Type:")
}

/// Finds the credentials of a text, with their kinds.
pub(super) fn found(text: &str) -> Vec<(&'static str, Range<usize>)> {
    let mut kinds: Vec<usize> =
        MARKS.find_overlapping_iter(text).map(|mark| mark.pattern().as_usize()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut found = Vec::new();
    for kind in kinds {
        for groups in pattern(kind).captures_iter(text) {
            let Some(whole) = groups.get(0) else { continue };
            let hit = groups.get(1).unwrap_or(whole);
            if KINDS[kind].name == KEY || is_real(hit.as_str()) {
                found.push((KINDS[kind].name, hit.range()));
            }
        }
    }
    found
}

/// Tells a credential from a placeholder for one.
fn is_real(token: &str) -> bool {
    !is_placeholder(token) && entropy(token) >= MIN_ENTROPY
}

/// Says whether a text stands in the place of a credential.
pub(super) fn is_placeholder(text: &str) -> bool {
    let folded = text.to_ascii_lowercase();
    PLACEHOLDERS.iter().any(|word| folded.contains(word))
}

/// Gives the bits that each character of a text carries.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts: HashMap<char, f64> = HashMap::new();
    for c in text.chars() {
        *counts.entry(c).or_default() += 1.0;
    }
    let total = text.chars().count() as f64;
    -counts.values().map(|count| count / total * (count / total).log2()).sum::<f64>()
}

/// Gives the credentials of a text themselves, but for keys, which are told by where they stand.
pub(crate) fn values(text: &str) -> Vec<&str> {
    let tokens = found(text).into_iter().filter(|(kind, _)| *kind != KEY);
    tokens.map(|(_, span)| &text[span]).collect()
}

/// Takes credentials out of a text, leaving enough to recognise them by.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut spans: Vec<Range<usize>> =
        found(text).into_iter().filter(|(kind, _)| *kind != KEY).map(|(_, span)| span).collect();
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    spans.sort_by_key(|span| span.start);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        if span.start < from {
            continue;
        }
        out.push_str(&text[from..span.start]);
        // The beginning of a token says of which kind it is; that of a password says too much.
        let is_token = span.len() >= MIN_TOKEN;
        let start = text[span.clone()].char_indices().nth(4).map_or(0, |(at, _)| at);
        let shown = if is_token { start } else { 0 };
        out.push_str(&text[span.start..span.start + shown]);
        out.push_str("[redacted]");
        from = span.end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Takes credentials out of a text's lines, the bodies of private keys among them.
pub fn redacted_lines(text: &str) -> Vec<String> {
    let mut keys = Keys::default();
    text.lines().map(|line| redact(&keys.take_out(line)).into_owned()).collect()
}
