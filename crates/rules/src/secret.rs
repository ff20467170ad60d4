//! Credentials: kinds that say of themselves what they are, so that a match is no guess.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use assay_change::diff::FileDiff;
use regex::{Regex, RegexSet};

use crate::Hit;

const KEY: &str = "a private key";

/// A kind of credential: its name, and its pattern.
const KINDS: &[(&str, &str)] = &[
    ("an AWS access key", r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b"),
    ("a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36,}\b"),
    ("a GitHub token", r"\bgithub_pat_[A-Za-z0-9_]{50,}\b"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}\b"),
    ("a Slack token", r"\bxox[abprs]-[A-Za-z0-9-]{20,}\b"),
    ("a Stripe key", r"\b[sr]k_live_[A-Za-z0-9]{20,}\b"),
    ("a Google API key", r"\bAIza[A-Za-z0-9_-]{35}\b"),
    ("an Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{30,}\b"),
    ("an OpenAI key", r"\bsk-proj-[A-Za-z0-9_-]{30,}\b"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", r"\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{40,}\b"),
    (KEY, r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"),
];

/// Bits for each character below which a text is no random token.
const MIN_ENTROPY: f64 = 3.0;

static ANY: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(KINDS.iter().map(|(_, pattern)| pattern)).expect("the patterns are valid")
});

static EACH: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    KINDS.iter().map(|(_, pattern)| Regex::new(pattern).expect("the pattern is valid")).collect()
});

pub(crate) fn look(file: &FileDiff) -> Vec<Hit> {
    let mut hits = Vec::new();
    let lines: Vec<(u32, &str)> = file.added().collect();
    for (at, (line, text)) in lines.iter().enumerate() {
        let next = lines.get(at + 1).map_or("", |(_, next)| *next);
        let real =
            found(text).map(|(kind, _)| kind).find(|kind| *kind != KEY || has_body(text, next));
        if let Some(kind) = real {
            // The line is not quoted: it would carry the secret along.
            let note = Some(format!("This is {kind}."));
            hits.push(Hit { line: *line, note, quote: None, deletable: false });
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
fn found(text: &str) -> impl Iterator<Item = (&'static str, std::ops::Range<usize>)> {
    ANY.matches(text).into_iter().flat_map(move |kind| {
        EACH[kind]
            .find_iter(text)
            .filter(|hit| is_real(hit.as_str()))
            .map(move |hit| (KINDS[kind].0, hit.range()))
            .collect::<Vec<_>>()
    })
}

/// Tells a credential from a placeholder for one.
fn is_real(token: &str) -> bool {
    let is_header = token.starts_with("-----");
    is_header
        || (!token.contains("EXAMPLE")
            && !token.contains("example")
            && entropy(token) >= MIN_ENTROPY)
}

/// Gives the bits that each character of a text carries.
fn entropy(text: &str) -> f64 {
    let mut counts: HashMap<char, f64> = HashMap::new();
    for c in text.chars() {
        *counts.entry(c).or_default() += 1.0;
    }
    let total = text.chars().count() as f64;
    -counts.values().map(|count| count / total * (count / total).log2()).sum::<f64>()
}

/// Takes credentials out of a text, leaving enough to recognise them by.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut spans: Vec<std::ops::Range<usize>> =
        found(text).filter(|(kind, _)| *kind != "a private key").map(|(_, span)| span).collect();
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
        let shown = text[span.clone()].char_indices().nth(4).map_or(0, |(at, _)| at);
        out.push_str(&text[span.start..span.start + shown]);
        out.push_str("[redacted]");
        from = span.end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Takes credentials out of a text's lines, the bodies of private keys among them.
pub fn redacted_lines(text: &str) -> Vec<String> {
    let mut inside = false;
    text.lines()
        .map(|line| {
            let opens = line.contains("PRIVATE KEY-----");
            let closes = line.contains("-----END ");
            let body = inside && !closes;
            inside = (inside || opens) && !closes;
            if body || (opens && line.len() > 60) {
                return "[redacted]".to_owned();
            }
            redact(line).into_owned()
        })
        .collect()
}
