//! The conversion of a JSON object to a vote: [`vote`] knows the field names of all formats.

use std::borrow::Cow;

use super::json::Json;
use super::{Envelope, prose};
use crate::grade::{Grade, NativeSeverity, Scheme};
use crate::path::RepoPath;
use crate::verdict_words::{asks_for_changes, is_rejection};
use crate::vote::{AutofixClass, Confidence, LineRange, Owner, Vote};

const MAX_TITLE_CHARS: usize = 100;

const TITLE_KEYS: [&str; 2] = ["title", "name"];
const DESCRIPTION_KEYS: [&str; 8] = [
    "description", "why_it_matters", "issue", "message", "details", "problem", "explanation",
    "comment",
];
const FILE_KEYS: [&str; 6] = ["file", "path", "filename", "file_path", "filePath", "location"];
const SEVERITY_KEYS: [&str; 4] = ["severity", "level", "priority", "severity_level"];
const VERDICT_KEYS: [&str; 9] = [
    "verdict", "decision", "recommendation", "overall", "conclusion", "outcome", "status",
    "final_verdict", "overall_verdict",
];

/// Further keys that may hold a verdict.
const OTHER_VERDICT_KEYS: [&str; 7] =
    ["state", "result", "review_decision", "action", "event", "assessment", "overall_correctness"];

/// Flags that reject a change if they are false.
const APPROVING_FLAGS: [&str; 9] = [
    "approved", "approve", "passed", "ok", "success", "mergeable", "ready", "ready_to_merge",
    "lgtm",
];

/// Flags that reject a change, or its review, if they are true.
const REJECTING_FLAGS: [&str; 10] = [
    "block", "blocked", "blocking", "needs_fix", "needs_changes", "has_critical_issues",
    "has_major_issues", "has_test_failures", "truncated", "incomplete",
];

/// Members of a report that hold sentences of the reviewer.
const SENTENCE_KEYS: [&str; 10] = [
    "notes", "note", "comment", "message", "reason", "explanation", "analysis", "review",
    "refusal", "error",
];

/// The result of reading one item.
pub(super) struct ParsedItem {
    pub(super) vote: Option<Vote>,
    /// The reason and the text of each part that was refused.
    pub(super) refused: Vec<(String, String)>,
}

/// Returns true if an object has the content of a finding: a text or a severity.
pub(super) fn is_finding(item: &Json<'_>) -> bool {
    has_text(item) || has_severity(item)
}

pub(super) fn has_text(item: &Json<'_>) -> bool {
    let is_text = |key: &str| {
        item.get(key).and_then(Json::as_text).is_some_and(|text| !text.trim().is_empty())
    };
    is_text("title") || DESCRIPTION_KEYS.iter().any(|key| is_text(key))
}

pub(super) fn has_severity(item: &Json<'_>) -> bool {
    severity_word(item).is_some()
}

pub(super) fn has_place(item: &Json<'_>) -> bool {
    FILE_KEYS.iter().any(|key| matches!(item.get(key), Some(Json::Text(_) | Json::Object(_))))
}

fn severity_word<'j>(item: &'j Json<'_>) -> Option<&'j str> {
    let word = |key: &&str| {
        let text = match item.get(key)? {
            // A list of one item counts as that item.
            Json::Array(items) => items.first()?.as_text(),
            other => other.as_text(),
        };
        text.filter(|text| !text.trim().is_empty())
    };
    SEVERITY_KEYS.iter().find_map(word).or_else(|| {
        // `type` is an issue type in one format and a severity in another.
        word(&"type").filter(|word| Grade::is_word(word))
    })
}

/// Returns the worst of the severities that a finding states. A severity of no vocabulary counts as
/// the worst.
fn worst_severity(item: &Json<'_>) -> Option<Grade> {
    let words =
        SEVERITY_KEYS.iter().filter_map(|key| item.get(key)).flat_map(|value| match value {
            Json::Array(items) => items.iter().filter_map(Json::as_text).collect(),
            value => value.as_text().into_iter().collect::<Vec<&str>>(),
        });
    let grades = words.filter(|word| !word.trim().is_empty()).map(Grade::from_word);
    let worst = grades.min_by(|a, b| {
        b.is_unmapped().cmp(&a.is_unmapped()).then_with(|| a.impact().cmp(&b.impact()))
    });
    worst.or_else(|| severity_word(item).map(Grade::from_word))
}

/// Splits an object in which a finding's key occurs twice: two findings that lost the brackets
/// between them. Returns `None` if no such key repeats.
pub(super) fn split_repeated<'a>(entries: &[(Cow<'a, str>, Json<'a>)]) -> Option<Vec<Json<'a>>> {
    /// Keys that a finding has once.
    const UNIQUE_KEYS: [&str; 8] = [
        "title", "severity", "description", "why_it_matters", "file", "line_number", "line",
        "confidence",
    ];
    let mut seen = [false; UNIQUE_KEYS.len()];
    let mut parts: Vec<Vec<(Cow<'a, str>, Json<'a>)>> = vec![Vec::new()];
    for (key, value) in entries {
        if let Some(at) = UNIQUE_KEYS.iter().position(|name| name.eq_ignore_ascii_case(key)) {
            if seen[at] {
                seen = [false; UNIQUE_KEYS.len()];
                parts.push(Vec::new());
            }
            seen[at] = true;
        }
        parts.last_mut()?.push((key.clone(), value.clone()));
    }
    (parts.len() > 1).then(|| parts.into_iter().map(Json::Object).collect())
}

/// Reads an item as a vote. `group` is the name of the list that contains the item.
pub(super) fn vote(item: &Json<'_>, group: Option<&str>, root: Option<&str>) -> ParsedItem {
    let mut reader = ItemReader { item, root, faults: Vec::new(), refused: Vec::new() };
    let vote = match item {
        Json::Object(_) if is_finding(item) => Some(reader.vote(group)),
        Json::Object(_) => {
            reader.refuse("no description, title or severity", &raw(item));
            None
        }
        Json::Text(text) => {
            let line = prose::line_vote(text, root, &mut reader.refused);
            if line.is_none() {
                reader.refuse("an item that is a string without a severity", text);
            }
            line
        }
        _ => {
            reader.refuse("an item that is not an object", &raw(item));
            None
        }
    };
    ParsedItem { vote, refused: reader.refused }
}

/// Creates a vote from a text that names no severity; `None` if the text is empty.
pub(super) fn bare_text(text: &str) -> Option<Vote> {
    if text.trim().is_empty() {
        return None;
    }
    let mut vote = Vote::new(prose::title_of(text, MAX_TITLE_CHARS), Grade::from_word("UNKNOWN"));
    vote.description = text.trim().to_owned();
    vote.faults.push("no severity".to_owned());
    Some(vote)
}

fn raw(item: &Json<'_>) -> String {
    item.to_value().to_string()
}

struct ItemReader<'j, 'a, 'r> {
    item: &'j Json<'a>,
    root: Option<&'r str>,
    faults: Vec<String>,
    refused: Vec<(String, String)>,
}

impl<'j, 'a> ItemReader<'j, 'a, '_> {
    fn vote(&mut self, group: Option<&str>) -> Vote {
        let grade = self.grade(group);
        let (title, description) = self.texts();
        let mut vote = Vote::new(title, grade);
        vote.description = description;
        (vote.file, vote.lines) = self.place();
        vote.category = self.category();
        vote.suggested_fix = self.fix();
        vote.replacement = self
            .item
            .get("replacement")
            .and_then(|replacement| serde_json::from_value(replacement.to_value()).ok());
        vote.confidence = self.confidence();
        vote.evidence = self.evidence();
        vote.is_compact = self.is_compact();
        vote.autofix_class = self.word_of("autofix_class", AutofixClass::from_word);
        vote.owner = self.word_of("owner", Owner::from_word);
        vote.requires_verification = self.flag("requires_verification");
        vote.pre_existing = self.flag("pre_existing");
        vote.fires_on_base = self.flag("fires_on_base");
        vote.rule = self.first_text(&["rule", "rule_id", "ruleId"]);
        vote.settled_conflict = self.first_text(&["settled_conflict"]);
        vote.faults = std::mem::take(&mut self.faults);
        vote
    }

    fn refuse(&mut self, reason: &str, raw: &str) {
        self.refused.push((reason.to_owned(), raw.to_owned()));
    }

    fn text_of(&self, key: &str) -> Option<&'j str> {
        self.item.get(key).and_then(Json::as_text).map(str::trim).filter(|text| !text.is_empty())
    }

    fn first_text(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.text_of(key)).map(str::to_owned)
    }

    fn grade(&mut self, group: Option<&str>) -> Grade {
        let stated = worst_severity(self.item);
        let grouped = || group.map(Grade::from_word).filter(|grade| !grade.is_unmapped());
        let grade = stated.or_else(grouped).unwrap_or_else(|| {
            self.faults.push("no severity".to_owned());
            Grade::from_word("UNKNOWN")
        });
        match severity_word(self.item) {
            Some(_) if grade.is_unmapped() => {
                self.faults.push(format!("unknown severity `{}`", grade.word()));
            }
            Some(word) if Grade::is_synonym(word) => {
                self.faults.push(format!("severity `{}` read as {}", word.trim(), grade.word()));
            }
            _ => {}
        }
        self.native_grade(&grade).unwrap_or(grade)
    }

    /// Restores the original severity word of a grade that was written in another vocabulary.
    fn native_grade(&self, shown: &Grade) -> Option<Grade> {
        let native: NativeSeverity =
            serde_json::from_value(self.item.get("native_severity")?.to_value()).ok()?;
        let grade = match native.scheme {
            Scheme::Unknown => Grade::from_word(&native.word),
            scheme => Grade::in_scheme(scheme, &native.word)?,
        };
        let scheme = shown.native()?.scheme;
        (grade.word_in_scheme(scheme) == shown.word()).then_some(grade)
    }

    fn texts(&mut self) -> (String, String) {
        let title = self.first_text(&TITLE_KEYS);
        let description =
            self.first_text(&DESCRIPTION_KEYS).or_else(|| title.clone()).unwrap_or_else(|| {
                self.faults.push("no description".to_owned());
                String::new()
            });
        let title = title.unwrap_or_else(|| prose::title_of(&description, MAX_TITLE_CHARS));
        (title, description)
    }

    // ---- place

    fn place(&mut self) -> (Option<RepoPath>, Option<LineRange>) {
        let (file, named_lines) = self.file();
        let lines = self.lines().or(named_lines);
        (file, lines)
    }

    fn file(&mut self) -> (Option<RepoPath>, Option<LineRange>) {
        let mut found = (None, None);
        for key in FILE_KEYS {
            found = match self.item.get(key) {
                Some(Json::Text(text)) if !text.trim().is_empty() => self.file_text(text),
                Some(object @ Json::Object(_)) => self.file_object(object),
                _ => continue,
            };
            if found.0.is_some() {
                break;
            }
        }
        found
    }

    fn file_text(&mut self, text: &str) -> (Option<RepoPath>, Option<LineRange>) {
        let (path, lines) = prose::split_place(text);
        match RepoPath::parse(path, self.root) {
            Ok(path) => (Some(path), lines),
            Err(error) => {
                self.faults.push(error.to_string());
                self.refuse(&error.to_string(), text);
                (None, None)
            }
        }
    }

    fn file_object(&mut self, object: &Json<'a>) -> (Option<RepoPath>, Option<LineRange>) {
        let text = FILE_KEYS.iter().find_map(|key| object.get(key).and_then(Json::as_text));
        let (path, lines) = text.map_or((None, None), |text| self.file_text(text));
        (path, lines_of(object).or(lines))
    }

    fn lines(&mut self) -> Option<LineRange> {
        let lines = lines_of(self.item);
        let named = LINE_KEYS.iter().find_map(|key| self.item.get(key));
        if lines.is_none() && named.is_some_and(|value| *value != Json::Null) {
            let shown = named.map(raw).unwrap_or_default();
            self.faults.push(format!("`{shown}` is not a line number"));
        }
        lines
    }

    // ---- other fields

    fn category(&mut self) -> Option<String> {
        self.first_text(&["category", "kind"]).or_else(|| {
            self.text_of("type").filter(|word| !Grade::is_word(word)).map(str::to_owned)
        })
    }

    fn fix(&self) -> Option<String> {
        const FIX_KEYS: [&str; 6] =
            ["suggested_fix", "fix", "fix_required", "suggestion", "recommendation", "remediation"];
        FIX_KEYS.iter().find_map(|key| match self.item.get(key)? {
            Json::Text(text) => (!text.trim().is_empty()).then(|| text.to_string()),
            value @ (Json::Array(_) | Json::Object(_)) => Some(raw(value)),
            Json::Null | Json::Bool(_) | Json::Number(_) => None,
        })
    }

    fn confidence(&mut self) -> Option<Confidence> {
        let (percent, shown) = match self.item.get("confidence")? {
            Json::Number(text) => (as_percent(text.parse().ok()?), (*text).to_owned()),
            Json::Text(text) => match confidence_word(text) {
                Some(percent) => (percent, text.to_string()),
                None => {
                    self.faults.push(format!("confidence `{text}` is not a number"));
                    return None;
                }
            },
            Json::Null => return None,
            _ => {
                self.faults.push("confidence is not a number".to_owned());
                return None;
            }
        };
        let anchor = Confidence::at_or_below(percent);
        if shown != anchor.percent().to_string() {
            self.faults.push(format!("confidence `{shown}` taken as {}", anchor.percent()));
        }
        Some(anchor)
    }

    fn evidence(&mut self) -> Vec<String> {
        match self.item.get("evidence") {
            Some(Json::Array(items)) => items
                .iter()
                .filter_map(|item| match item {
                    Json::Text(text) => Some(text.to_string()),
                    Json::Null => None,
                    // A finding that is here because of a lost bracket is a vote of its own.
                    Json::Object(_) if has_text(item) && has_severity(item) => None,
                    other => Some(raw(other)),
                })
                .collect(),
            Some(Json::Text(text)) => {
                self.faults.push("evidence is a string, not a list".to_owned());
                vec![text.to_string()]
            }
            _ => ["first_evidence", "quote", "code_snippet", "snippet"]
                .iter()
                .find_map(|key| self.text_of(key))
                .map(|text| vec![text.to_owned()])
                .unwrap_or_default(),
        }
    }

    /// Returns true if the item has the fields of a compact persona report, and none of those that
    /// only the full report has.
    fn is_compact(&self) -> bool {
        let has = |key: &str| self.item.get(key).is_some();
        has("confidence") && has("autofix_class") && !has("evidence") && !has("why_it_matters")
    }

    fn word_of<T>(&mut self, key: &str, from_word: impl Fn(&str) -> Option<T>) -> Option<T> {
        let word = self.text_of(key)?;
        let known = from_word(word);
        if known.is_none() {
            self.faults.push(format!("unknown {key} `{word}`"));
        }
        known
    }

    fn flag(&mut self, key: &str) -> bool {
        match self.item.get(key) {
            Some(Json::Bool(flag)) => *flag,
            Some(Json::Text(text)) => {
                self.faults.push(format!("{key} is a string"));
                text.trim().eq_ignore_ascii_case("true")
            }
            _ => false,
        }
    }
}

const LINE_KEYS: [&str; 7] =
    ["line_number", "line", "lines", "start_line", "startLine", "lineNumber", "line_start"];
const END_KEYS: [&str; 4] = ["end_line", "line_end", "endLine", "lineEnd"];

fn lines_of(object: &Json<'_>) -> Option<LineRange> {
    let lines = LINE_KEYS.iter().filter_map(|key| object.get(key)).find_map(lines_value)?;
    let end = END_KEYS.iter().filter_map(|key| object.get(key)).find_map(lines_value);
    match end {
        Some(end) if end.start() >= lines.start() => LineRange::range(lines.start(), end.start()),
        _ => Some(lines),
    }
}

fn lines_value(value: &Json<'_>) -> Option<LineRange> {
    match value {
        Json::Number(text) => LineRange::at(parse_whole(text)?),
        Json::Text(text) => prose::parse_lines(text),
        Json::Array(items) => match items.as_slice() {
            [first, .., last] => {
                LineRange::range(lines_value(first)?.start(), lines_value(last)?.end())
            }
            [only] => lines_value(only),
            [] => None,
        },
        Json::Object(_) => lines_value(value.get("start")?),
        Json::Null | Json::Bool(_) => None,
    }
}

fn parse_whole(text: &str) -> Option<u32> {
    text.parse().ok().or_else(|| {
        let number: f64 = text.parse().ok()?;
        (number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number))
            .then_some(number as u32)
    })
}

/// Returns a fraction as a percentage: no reviewer states a confidence of one per cent.
fn as_percent(number: f64) -> f64 {
    if (0.0..=1.0).contains(&number) { number * 100.0 } else { number }
}

fn confidence_word(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        return percent.trim().parse().ok();
    }
    match text.to_ascii_lowercase().as_str() {
        "certain" | "very high" => Some(100.0),
        "high" => Some(75.0),
        "medium" | "moderate" => Some(50.0),
        "low" => Some(25.0),
        number => number.parse().ok().map(as_percent),
    }
}

/// Fills the empty fields of an envelope from a review object.
pub(super) fn fill_envelope(review: &Json<'_>, envelope: &mut Envelope) {
    let text = |key: &str| review.get(key).and_then(Json::as_text).map(str::to_owned);
    let fill = |slot: &mut Option<String>, key: &str| {
        if slot.is_none() {
            *slot = text(key);
        }
    };
    fill(&mut envelope.reviewer, "reviewer");
    fill(&mut envelope.family, "model_family");
    fill(&mut envelope.summary, "summary");
    envelope.words.extend(SENTENCE_KEYS.iter().flat_map(|key| text_list(review.get(key))));
    envelope.independence_verified |=
        review.get("independence_verified") == Some(&Json::Bool(true));
    for (list, key) in [
        (&mut envelope.remarks.residual_risks, "residual_risks"),
        (&mut envelope.remarks.testing_gaps, "testing_gaps"),
        (&mut envelope.remarks.unmet_requirements, "unmet_requirements"),
        (&mut envelope.remarks.failed_checks, "failed_checks"),
        (&mut envelope.remarks.not_covered, "not_covered"),
    ] {
        list.extend(text_list(review.get(key)));
    }
    if envelope.reviewer.is_some() {
        for key in ["residual_risks", "testing_gaps"] {
            if !matches!(review.get(key), Some(Json::Array(_))) {
                envelope.remarks.notes.push(format!("`{key}` is missing and taken as empty"));
            }
        }
    }
}

fn text_list(value: Option<&Json<'_>>) -> Vec<String> {
    match value {
        Some(Json::Array(items)) => items
            .iter()
            .map(|item| item.as_text().map_or_else(|| raw(item), str::to_owned))
            .collect(),
        Some(Json::Text(text)) if !text.trim().is_empty() => vec![text.to_string()],
        _ => Vec::new(),
    }
}

/// Returns the verdict of a review object, or the verdict `before` of another object. Of several
/// words, one that asks for changes counts: a verdict counts against a report.
pub(super) fn verdict_word(object: &Json<'_>, before: Option<String>) -> Option<String> {
    let words = VERDICT_KEYS.iter().filter_map(|key| object.get(key).and_then(Json::as_text));
    // Other keys hold other words as well, so only a plain rejection counts there.
    let rejecting =
        OTHER_VERDICT_KEYS.iter().filter_map(|key| object.get(key).and_then(Json::as_text));
    let rejecting = rejecting.filter(|word| is_rejection(word));
    let is = |key: &str, flag: bool| object.get(key) == Some(&Json::Bool(flag));
    let refuses = APPROVING_FLAGS.iter().any(|key| is(key, false))
        || REJECTING_FLAGS.iter().any(|key| is(key, true));
    let all: Vec<String> = before
        .into_iter()
        .chain(refuses.then(|| "REQUEST_CHANGES".to_owned()))
        .chain(words.chain(rejecting).map(str::to_owned))
        .chain(is("approved", true).then(|| "APPROVED".to_owned()))
        .collect();
    let refusing = all.iter().find(|word| asks_for_changes(word));
    refusing.or(all.first()).cloned()
}
