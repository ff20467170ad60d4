//! Looking for findings in a text: [`find`] parses every piece of JSON and takes what is one.

use std::borrow::Cow;

use super::fields::{self, Taken};
use super::json::{self, Allowance, Json};
use super::{Envelope, MAX_FINDINGS, Rejected, Repair, scan};
use crate::vote::Vote;

/// The keys that hold a list of findings, by rank.
const LIST_KEYS: [&str; 3] = ["findings", "issues", "issues_found"];

/// Lists of a review that hold something else, or what was set apart on purpose.
const OTHER_LISTS: [&str; 12] = [
    "evidence", "residual_risks", "testing_gaps", "pre_existing", "held_back", "dismissed",
    "resolved", "unseen", "merges", "reports", "verdict", "repairs",
];

/// How deep a list may be wrapped.
const MAX_WRAPPING: usize = 16;

/// What a text held.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) votes: Option<Vec<Vote>>,
    pub(super) envelope: Envelope,
    pub(super) repairs: Vec<Repair>,
    pub(super) rejected: Vec<Rejected>,
    /// Items that may be findings and could not be taken.
    pub(super) lost: usize,
    pub(super) json_spans: Vec<(usize, usize)>,
}

/// Finds every finding that stands in a text as JSON, in fences or not.
pub(super) fn find(text: &str, root: Option<&str>) -> Found {
    let bytes = text.as_bytes();
    let mut allowance = Allowance::for_text(text);
    let mut gatherer = Gatherer { root, found: Found::default(), surplus: 0 };
    let mut pos = 0;
    while let Some(at) = bytes.get(pos..).and_then(|rest| memchr::memchr2(b'{', b'[', rest)) {
        let start = pos + at;
        if !may_be_json(bytes, start) {
            pos = start + 1;
            continue;
        }
        let parsed = json::parse_at(text, start, &mut allowance);
        let end = parsed.end.max(start + 1);
        if gatherer.gather(&parsed.value) {
            gatherer.found.repairs.extend(parsed.repairs);
            gatherer.found.json_spans.push((start, end));
            pos = end;
        } else if parsed.repairs.is_empty() || !allowance.rescan(end - start) {
            pos = end;
        } else {
            // It only looked like JSON, and the real thing may stand inside.
            pos = start + 1;
        }
    }
    gatherer.finish(text)
}

/// Says whether a bracket may open JSON rather than prose, a link or code.
fn may_be_json(bytes: &[u8], start: usize) -> bool {
    let mut next = scan::skip_space(bytes, start + 1);
    while let Some(end) = scan::comment_end(bytes, next) {
        next = scan::skip_space(bytes, end);
    }
    let Some(&byte) = bytes.get(next) else { return true };
    let quoted = matches!(byte, b'"' | b'\'' | b'`' | 0xe2);
    if bytes[start] == b'[' {
        return quoted
            || matches!(byte, b'{' | b'[' | b']' | b'-' | b'0'..=b'9' | b',')
            || scan::is_literal(&bytes[next..scan::word_end(bytes, next)]);
    }
    let word = scan::word_end(bytes, next);
    quoted
        || matches!(byte, b'}' | b'{' | b',')
        || (word > next
            && matches!(bytes.get(scan::skip_space(bytes, word)), Some(b':' | b'"' | b'=')))
}

struct Gatherer<'r> {
    root: Option<&'r str>,
    found: Found,
    /// Findings beyond the most that one text may hold.
    surplus: usize,
}

impl Gatherer<'_> {
    /// Takes all findings of a value; says whether it held a review.
    fn gather(&mut self, value: &Json<'_>) -> bool {
        let mut held = false;
        let mut waiting = vec![(value, 0)];
        while let Some((value, depth)) = waiting.pop() {
            match value {
                Json::Object(entries) => {
                    if LIST_KEYS.iter().any(|key| value.get(key).is_some()) {
                        self.envelope_of(value);
                        held |= self.review(entries);
                        // What a review lists under names of its own counts as well.
                        let others = entries.iter().rev().filter(|(key, _)| !is_known_list(key));
                        waiting.extend(others.map(|(_, inner)| (inner, depth + 1)));
                    } else if is_bare_finding(value) {
                        held |= self.item(value, None);
                    } else if depth < MAX_WRAPPING {
                        let inner = entries.iter().rev().map(|(_, inner)| (inner, depth + 1));
                        waiting.extend(inner);
                        if self.found.votes.is_some() || depth == 0 {
                            self.verdict_of(value);
                        }
                    }
                }
                Json::Array(items) => {
                    let is_list = match depth {
                        0 => items.iter().any(fields::is_finding),
                        _ => items.iter().any(is_bare_finding),
                    };
                    if is_list {
                        held |= self.items(items, None);
                    } else if depth < MAX_WRAPPING {
                        waiting.extend(items.iter().rev().map(|inner| (inner, depth + 1)));
                    }
                }
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
            }
        }
        held
    }

    /// Takes every list of findings that a review has.
    fn review(&mut self, entries: &[(Cow<'_, str>, Json<'_>)]) -> bool {
        let lists = entries.iter().filter(|(key, _)| is_one_of(&LIST_KEYS, key));
        lists.fold(false, |held, (_, list)| self.list(list) || held)
    }

    /// Takes what stands under a list's key, which may be a list of any make.
    fn list(&mut self, list: &Json<'_>) -> bool {
        match list {
            Json::Array(items) if items.is_empty() => {
                self.found.votes.get_or_insert_default();
                true
            }
            Json::Array(items) => {
                // Every item is taken, whether or not one before it was.
                items.iter().filter(|item| self.listed_item(item)).count() > 0
            }
            Json::Object(_) if fields::is_finding(list) => self.item(list, None),
            Json::Object(groups) => {
                let mut held = false;
                for (name, group) in groups {
                    match group {
                        Json::Array(items) => held |= self.items(items, Some(name)),
                        Json::Object(_) => held |= self.item(group, Some(name)),
                        _ => {}
                    }
                }
                held
            }
            Json::Text(text) if text.trim().is_empty() => false,
            Json::Text(text) => {
                self.reject("the list of findings is a text", text);
                self.found.lost += 1;
                false
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => false,
        }
    }

    /// Takes an item of a list that is named one of findings: there even a bare text is one.
    fn listed_item(&mut self, item: &Json<'_>) -> bool {
        match item {
            Json::Text(text) if fields::vote(item, None, self.root).vote.is_none() => {
                let Some(vote) = fields::bare_text(text) else { return false };
                self.found.votes.get_or_insert_default().push(vote);
                true
            }
            Json::Array(inner) => self.flat_items(inner, None),
            item => self.item(item, None),
        }
    }

    fn items(&mut self, items: &[Json<'_>], group: Option<&str>) -> bool {
        let mut held = false;
        for item in items {
            held |= match item {
                // A list inside the list is one bracket too many.
                Json::Array(inner) => self.flat_items(inner, group),
                item => self.item(item, group),
            };
        }
        held
    }

    fn flat_items(&mut self, items: &[Json<'_>], group: Option<&str>) -> bool {
        // Every item is taken, whether or not one before it was.
        items.iter().filter(|item| self.item(item, group)).count() > 0
    }

    /// Takes one item; `group` is the name of the list it stands in, which may be a severity.
    fn item(&mut self, item: &Json<'_>, group: Option<&str>) -> bool {
        let Taken { vote, refused } = fields::vote(item, group, self.root);
        for (reason, raw) in refused {
            self.reject(reason, &raw);
        }
        let Some(vote) = vote else {
            self.found.lost += usize::from(matches!(item, Json::Object(_) | Json::Text(_)));
            return false;
        };
        let votes = self.found.votes.get_or_insert_default();
        if votes.len() < MAX_FINDINGS {
            votes.push(vote);
        } else {
            self.surplus += 1;
        }
        true
    }

    fn reject(&mut self, reason: impl Into<String>, raw: &str) {
        if self.found.rejected.len() < 1_000 {
            self.found.rejected.push(Rejected::new(reason, raw));
        }
    }

    fn envelope_of(&mut self, review: &Json<'_>) {
        fields::envelope(review, &mut self.found.envelope);
        self.verdict_of(review);
    }

    fn verdict_of(&mut self, object: &Json<'_>) {
        if self.found.envelope.verdict.is_none() {
            self.found.envelope.verdict = fields::verdict_word(object);
        }
    }

    fn finish(mut self, text: &str) -> Found {
        if self.found.votes.is_none() && is_empty_list(text) {
            self.found.votes = Some(Vec::new());
        }
        if self.surplus > 0 {
            let reason = format!("{} findings beyond the {MAX_FINDINGS} of one text", self.surplus);
            self.reject(reason, "");
        }
        self.found
    }
}

fn is_known_list(key: &str) -> bool {
    is_one_of(&LIST_KEYS, key) || is_one_of(&OTHER_LISTS, key)
}

fn is_one_of(names: &[&str], key: &str) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(key))
}

/// Says whether a lone object is a finding: it has a text, and a severity or a place.
fn is_bare_finding(value: &Json<'_>) -> bool {
    fields::has_text(value) && (fields::has_severity(value) || fields::has_place(value))
}

/// Says whether the whole answer is `[]`, in a fence or not.
fn is_empty_list(text: &str) -> bool {
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && scan::fence_at(line.as_bytes(), 0).is_none());
    lines.next() == Some("[]") && lines.next().is_none()
}
