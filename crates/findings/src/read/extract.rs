//! The search for findings in a text: [`extract`] parses every piece of JSON and collects the
//! findings.

use std::borrow::Cow;

use super::fields::{self, ParsedItem};
use super::json::{self, Json, ParseBudget};
use super::{
    Envelope, MAX_FINDINGS, RejectedText, Repair, RepairKind, placeholder, scan, spelling,
};
use crate::grade::Grade;
use crate::incomplete::{IncompleteKind, IncompleteReason};
use crate::vote::Vote;

/// The keys that hold a list of findings, by rank.
const LIST_KEYS: [&str; 3] = ["findings", "issues", "issues_found"];

/// Lists of a synthesis that hold no open finding. In a reviewer's own report, a finding counts
/// under every name.
const CLOSED_LISTS: [&str; 9] = [
    "pre_existing", "held_back", "dismissed", "resolved", "unseen", "merges", "reports", "verdict",
    "repairs",
];

/// Names of further lists that hold defects as well.
const DEFECT_LISTS: [&str; 9] = [
    "blockers", "critical", "critical_issues", "high", "must_fix", "bugs", "defects",
    "required_changes", "problems",
];

/// Words by which JSON that could not be parsed may be a finding.
const FINDING_SIGNS: [&str; 9] =
    ["severity", "findings", "issues", "P0", "P1", "CRITICAL", "HIGH", "MAJOR", "BLOCKER"];

/// The content of a text.
#[derive(Debug, Default)]
pub(super) struct Extraction {
    pub(super) votes: Option<Vec<Vote>>,
    pub(super) envelope: Envelope,
    pub(super) repairs: Vec<Repair>,
    pub(super) rejected: Vec<RejectedText>,
    /// The number of items that may be findings and could not be read.
    pub(super) lost: usize,
    pub(super) incomplete: Vec<IncompleteReason>,
    pub(super) json_spans: Vec<(usize, usize)>,
}

/// Finds every finding that a text has as JSON, in fences or not.
pub(super) fn extract(text: &str, root: Option<&str>) -> Extraction {
    let bytes = text.as_bytes();
    let mut allowance = ParseBudget::for_text(text);
    let mut gatherer = Extractor::new(root);
    let mut suspects = SuspectRanges::default();
    let mut pos = 0;
    while let Some(at) = bytes.get(pos..).and_then(|rest| memchr::memchr2(b'{', b'[', rest)) {
        let start = pos + at;
        if !may_be_json(bytes, start) {
            pos = start + 1;
            continue;
        }
        let mut parsed = json::parse_at(text, start, &mut allowance);
        let end = parsed.end.max(start + 1);
        if spelling::correct(&mut parsed.value) {
            parsed.repairs.push(Repair { kind: RepairKind::MisspeltKey, at: start });
        }
        if gatherer.gather(&parsed.value, start, &mut parsed.repairs) {
            if goes_on(bytes, end) {
                parsed.repairs.push(Repair { kind: RepairKind::Bracket, at: end });
            }
            gatherer.note_damage(&parsed.repairs);
            gatherer.found.repairs.extend(parsed.repairs);
            gatherer.found.json_spans.push((start, end));
            pos = end;
            continue;
        }
        suspects.add(start, end, &parsed);
        if is_broken_off(bytes, start, &parsed.repairs) {
            gatherer.lose("truncated JSON", &text[start..end]);
        }
        let is_sound = parsed.repairs.iter().all(|repair| repair.kind == RepairKind::MisspeltKey);
        // There may be JSON inside of text that only looks like JSON.
        let look_inside = !is_sound && allowance.rescan(end - start);
        pos = if look_inside { start + 1 } else { end };
    }
    gatherer.finish(text, &suspects)
}

/// Returns true if JSON continues behind the end of a value, which then has a bracket too many
/// inside.
fn goes_on(bytes: &[u8], end: usize) -> bool {
    let next = scan::skip_space(bytes, end);
    match bytes.get(next) {
        Some(b',' | b']' | b'}') => true,
        Some(b'"') => {
            let word = scan::word_end(bytes, next + 1);
            word > next + 1
                && bytes.get(word) == Some(&b'"')
                && scan::colon_follows(bytes, word + 1)
        }
        _ => false,
    }
}

/// Returns true if an object begins with a key in quotation marks and is never closed.
fn is_broken_off(bytes: &[u8], start: usize, repairs: &[Repair]) -> bool {
    bytes[start] == b'{'
        && bytes.get(scan::skip_space(bytes, start + 1)) == Some(&b'"')
        && repairs.iter().any(|repair| repair.kind == RepairKind::Truncated)
}

/// Pieces of a text that look like JSON with a finding, and contain none that could be read.
#[derive(Default)]
struct SuspectRanges {
    /// Byte ranges in order; no range is inside of another.
    ranges: Vec<(usize, usize)>,
}

impl SuspectRanges {
    fn add(&mut self, start: usize, end: usize, parsed: &json::ParsedJson<'_>) {
        let is_inside = self.ranges.last().is_some_and(|(_, last)| start < *last);
        if !is_inside && (!parsed.repairs.is_empty() || has_severity_value(&parsed.value)) {
            self.ranges.push((start, end));
        }
    }

    /// Returns the pieces that are in no review and that have the words of a finding.
    fn uncovered<'t>(&self, text: &'t str, covered: &[(usize, usize)]) -> Vec<&'t str> {
        let mut found = Vec::new();
        let mut covered = covered.iter().peekable();
        for (start, end) in &self.ranges {
            let mut from = *start;
            while covered.next_if(|(_, last)| *last <= *start).is_some() {}
            while let Some((first, last)) = covered.next_if(|(first, _)| first < end) {
                found.push(&text[from..(*first).max(from)]);
                from = (*last).max(from);
            }
            found.push(&text[from.min(*end)..*end]);
        }
        found.retain(|piece| FINDING_SIGNS.iter().any(|sign| piece.contains(sign)));
        found
    }
}

/// Returns true if a value contains a severity word.
fn has_severity_value(value: &Json<'_>) -> bool {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Json::Text(text) if Grade::is_word(text) => return true,
            Json::Array(items) => waiting.extend(items),
            Json::Object(entries) => waiting.extend(entries.iter().map(|(_, inner)| inner)),
            Json::Text(_) | Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    false
}

/// Returns true if a bracket may open JSON rather than prose, a link or code.
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

/// The reason for rejecting a group of findings by severity.
const GROUP_OF_TEXT: &str = "a group of findings is not a list";

struct Extractor<'r> {
    root: Option<&'r str>,
    found: Extraction,
    /// The number of findings beyond the maximum of one text.
    surplus: usize,
    /// True if an object of the current value has a key twice.
    has_repeated_keys: bool,
    /// True if a list of findings in the current value has texts as items.
    has_listed_texts: bool,
    /// True if a finding is in no list, so that the end of the findings is unknown.
    is_open: bool,
}

impl<'r> Extractor<'r> {
    fn new(root: Option<&'r str>) -> Extractor<'r> {
        Extractor {
            root,
            found: Extraction::default(),
            surplus: 0,
            has_repeated_keys: false,
            has_listed_texts: false,
            is_open: false,
        }
    }

    /// Collects all findings of a value; returns true if the value has a review.
    fn gather(&mut self, value: &Json<'_>, at: usize, repairs: &mut Vec<Repair>) -> bool {
        let mut held = false;
        let mut waiting = vec![(value, 0)];
        while let Some((value, depth)) = waiting.pop() {
            match value {
                Json::Object(entries) => {
                    if LIST_KEYS.iter().any(|key| value.get(key).is_some()) {
                        self.envelope_of(value);
                        held |= self.review(entries);
                        // A bracket that closes the list too early leaves a finding here.
                        if fields::has_text(value) && fields::has_severity(value) {
                            held |= self.one_item(value, None);
                        }
                        let is_synthesis = is_synthesis(value);
                        let others = entries.iter().rev().filter(|(key, _)| {
                            let is_closed = is_synthesis && is_one_of(&CLOSED_LISTS, key);
                            !is_closed && !is_one_of(&LIST_KEYS, key)
                        });
                        for (key, inner) in others {
                            match inner {
                                Json::Array(items) if is_one_of(&DEFECT_LISTS, key) => {
                                    held |= self.defect_list(key, items);
                                }
                                inner => waiting.push((inner, depth + 1)),
                            }
                        }
                    } else if is_bare_finding(value) {
                        self.is_open |= depth == 0;
                        held |= self.item(value, None);
                    } else {
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
                    } else {
                        waiting.extend(items.iter().rev().map(|inner| (inner, depth + 1)));
                    }
                }
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
            }
        }
        if std::mem::take(&mut self.has_repeated_keys) {
            repairs.push(Repair { kind: RepairKind::RepeatedKey, at });
        }
        // Two texts of a list that lost the mark between them are one text.
        let has_texts = std::mem::take(&mut self.has_listed_texts);
        if has_texts && repairs.iter().any(|repair| repair.kind != RepairKind::ExtraComma) {
            repairs.push(Repair { kind: RepairKind::Skipped, at });
        }
        held
    }

    /// Records that findings may have been lost in repairing JSON.
    fn note_damage(&mut self, repairs: &[Repair]) {
        let Some(worst) = repairs.iter().find(|repair| repair.kind.may_lose()) else { return };
        let cut = repairs.iter().find(|repair| repair.kind == RepairKind::Truncated);
        let reason = match cut {
            Some(Repair { at, .. }) => IncompleteReason::new(
                IncompleteKind::OpenList,
                format!("the JSON is truncated at byte {at}"),
            ),
            None => IncompleteReason::new(
                IncompleteKind::Damaged,
                format!("the JSON is damaged at byte {}: {}", worst.at, worst.kind.in_words()),
            ),
        };
        self.found.incomplete.push(reason);
    }

    /// Reads a further list whose name states that it holds defects. An item without a severity has
    /// that of the name, or blocks.
    fn defect_list(&mut self, name: &str, items: &[Json<'_>]) -> bool {
        let take = |gatherer: &mut Self, item: &Json<'_>| match item {
            Json::Text(_) | Json::Array(_) => gatherer.listed_item(item),
            item => gatherer.item(item, Some(name)),
        };
        items.iter().filter(|item| take(self, item)).count() > 0
    }

    /// Reads every list of findings of a review.
    fn review(&mut self, entries: &[(Cow<'_, str>, Json<'_>)]) -> bool {
        let lists = entries.iter().filter(|(key, _)| is_one_of(&LIST_KEYS, key));
        lists.fold(false, |held, (_, list)| self.list(list) || held)
    }

    /// Reads the value of a list's key, which may be a list of any form.
    fn list(&mut self, list: &Json<'_>) -> bool {
        match list {
            Json::Array(items) if items.is_empty() => {
                self.found.votes.get_or_insert_default();
                true
            }
            Json::Array(items) => {
                // Every item is read, whether or not an earlier one was a finding.
                items.iter().filter(|item| self.listed_item(item)).count() > 0
            }
            Json::Object(_) if fields::is_finding(list) => self.item(list, None),
            Json::Object(groups) => {
                let mut held = false;
                for (name, group) in groups {
                    match group {
                        Json::Array(items) => held |= self.items(items, Some(name)),
                        Json::Object(_) => held |= self.item(group, Some(name)),
                        Json::Text(text) if !text.trim().is_empty() => {
                            self.lose(GROUP_OF_TEXT, text)
                        }
                        Json::Number(count) if *count != "0" => self.lose(GROUP_OF_TEXT, count),
                        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
                    }
                }
                held
            }
            Json::Text(text) if text.trim().is_empty() => false,
            Json::Text(text) => {
                self.lose("the list of findings is a string", text);
                false
            }
            Json::Number(count) => {
                self.lose("the list of findings is a number", count);
                false
            }
            Json::Null | Json::Bool(_) => false,
        }
    }

    /// Rejects a piece that may be a finding.
    fn lose(&mut self, reason: &str, raw: &str) {
        self.reject(reason, raw);
        self.found.lost += 1;
    }

    /// Reads an item of a list that is named as one of findings: there, even a bare text is a
    /// finding.
    fn listed_item(&mut self, item: &Json<'_>) -> bool {
        self.has_listed_texts |= matches!(item, Json::Text(_));
        match item {
            Json::Text(text) if placeholder::is_placeholder(text) => {
                self.lose("the list of findings contains a placeholder", text);
                false
            }
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
        // Every item is read, whether or not an earlier one was a finding.
        items.iter().filter(|item| self.item(item, group)).count() > 0
    }

    /// Reads one item, and the findings inside of it; `group` is the name of the list that contains
    /// the item, which may be a severity.
    fn item(&mut self, item: &Json<'_>, group: Option<&str>) -> bool {
        let Json::Object(entries) = item else { return self.one_item(item, group) };
        let Some(parts) = fields::split_repeated(entries) else {
            let held = self.one_item(item, group);
            return self.nested_items(entries) || held;
        };
        self.has_repeated_keys = true;
        // Every part is read, whether or not an earlier one was a finding.
        parts.iter().filter(|part| self.item(part, group)).count() > 0
    }

    /// Reads the findings inside of the members of another finding, where a lost bracket leaves
    /// them.
    fn nested_items(&mut self, entries: &[(Cow<'_, str>, Json<'_>)]) -> bool {
        let mut held = false;
        let mut waiting: Vec<&Json<'_>> = entries.iter().rev().map(|(_, inner)| inner).collect();
        while let Some(value) = waiting.pop() {
            match value {
                Json::Object(_) if fields::has_text(value) && fields::has_severity(value) => {
                    held |= self.item(value, None);
                }
                Json::Object(entries) => {
                    waiting.extend(entries.iter().rev().map(|(_, inner)| inner));
                }
                Json::Array(items) => waiting.extend(items.iter().rev()),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
            }
        }
        held
    }

    fn one_item(&mut self, item: &Json<'_>, group: Option<&str>) -> bool {
        let ParsedItem { vote, refused } = fields::vote(item, group, self.root);
        for (reason, raw) in refused {
            self.reject(reason, &raw);
        }
        let Some(vote) = vote else {
            self.found.lost += usize::from(matches!(item, Json::Object(_) | Json::Text(_)));
            return false;
        };
        if placeholder::is_placeholder(&vote.title)
            && placeholder::is_placeholder(&vote.description)
        {
            self.lose("the list of findings contains a placeholder", &vote.title);
        }
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
            self.found.rejected.push(RejectedText::new(reason, raw));
        }
    }

    fn envelope_of(&mut self, review: &Json<'_>) {
        fields::fill_envelope(review, &mut self.found.envelope);
        self.verdict_of(review);
    }

    fn verdict_of(&mut self, object: &Json<'_>) {
        let verdict = &mut self.found.envelope.verdict;
        *verdict = fields::verdict_word(object, verdict.take());
    }

    fn finish(mut self, text: &str, suspects: &SuspectRanges) -> Extraction {
        if self.found.votes.is_none() && is_empty_list(text) {
            self.found.votes = Some(Vec::new());
        }
        if self.is_open {
            self.found.incomplete.push(super::no_list());
        }
        for piece in suspects.uncovered(text, &self.found.json_spans) {
            self.lose("JSON that may contain a finding could not be parsed", piece);
        }
        if self.surplus > 0 {
            let reason = format!("{} findings beyond the {MAX_FINDINGS} of one text", self.surplus);
            self.reject(reason, "");
        }
        self.found
    }
}

/// Returns true if a review is a synthesis that assay itself wrote.
fn is_synthesis(review: &Json<'_>) -> bool {
    matches!(review.get("version"), Some(Json::Number(_)))
        && ["verdict", "counts"].iter().all(|key| matches!(review.get(key), Some(Json::Object(_))))
}

fn is_one_of(names: &[&str], key: &str) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(key))
}

/// Returns true if a lone object is a finding: it has a text, and a severity or a place.
fn is_bare_finding(value: &Json<'_>) -> bool {
    fields::has_text(value) && (fields::has_severity(value) || fields::has_place(value))
}

/// Returns true if the whole answer is `[]`, in a fence or not.
fn is_empty_list(text: &str) -> bool {
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && scan::fence_at(line.as_bytes(), 0).is_none());
    lines.next() == Some("[]") && lines.next().is_none()
}
