//! Second looks: [`second_looks`] asks a model about important findings again before they are
//! reported.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;

use assay_change::Change;
use assay_findings::finding::{Consequence, Finding};
use assay_findings::grade::Scheme;
use assay_findings::grounding::Tree;
use assay_findings::path::RepoPath;
use assay_findings::read::repair_json;
use assay_findings::second_look::{Opinion, SecondLookAnswer, select_for_second_look};
use assay_models::{Failure, FailureClass, Prompt};
use assay_rules::{
    RedactedTree, find_injections_in_file, redact_text, without_injections,
    without_injections_in_file,
};
use serde_json::Value;

use super::context::PersonaContext;
use super::conversation::{Conversation, PlacedQuestion};
use super::reading::OpenQuestion;
use super::{Persona, VALIDATOR};
use crate::exchange::{Exchange, TranscriptAnswer};
use crate::prompt::parts::Part;
use crate::prompt::{self, Task};
use crate::sanitize::{names, unsafe_name_reason};

/// The number of lines around a finding that are shown if the change does not show it.
const CONTEXT_LINES: u32 = 40;

/// The maximum number of findings in one question.
const MAX_FINDINGS_PER_QUESTION: usize = 40;

/// The opinions on findings, and the requests that they needed.
#[derive(Debug, Default)]
pub struct SecondLooks {
    /// The opinions.
    pub opinions: Vec<Opinion>,
    /// The requests to the model.
    pub exchanges: Vec<Exchange>,
    /// The questions that have no answer yet.
    pub(crate) open: Vec<OpenQuestion>,
    /// For each question, the opinions on its findings, in the order of the findings.
    pub(crate) answered: Vec<Vec<Opinion>>,
}

/// Findings that are judged together, and the part of the change that shows them.
struct SecondLookQuestion<'f> {
    part: Part,
    findings: Vec<&'f Finding>,
}

/// The outcome of one question.
struct QuestionOutcome {
    opinions: Vec<Opinion>,
    exchanges: Vec<Exchange>,
    /// The prompt, if it has no answer yet.
    open: Option<Prompt>,
}

/// Asks a persona about findings again: all findings of a part of the change in one question, and
/// `at_a_time` questions at a time. If that fails, the findings stay as they are and are marked.
pub fn second_looks(
    change: &Change,
    findings: &[Finding],
    validator: &Persona,
    context: &PersonaContext,
    at_a_time: usize,
) -> SecondLooks {
    let picked = select_for_second_look(findings);
    let look = SecondLookContext { change, validator, context };
    let (addressed, asked): (Vec<&Finding>, Vec<&Finding>) =
        picked.into_iter().partition(|finding| look.is_addressed(finding));
    let why = "text near the finding addresses a reviewer, so no model was asked";
    let mut looks = SecondLooks {
        opinions: addressed.into_iter().map(|finding| missing_opinion(finding, why)).collect(),
        ..SecondLooks::default()
    };
    if asked.is_empty() {
        return looks;
    }
    let questions = questions(asked, context.parts(validator, &Task::default(), change).parts);
    let waiting = Mutex::new(questions.iter().enumerate());
    let looked: Mutex<Vec<(usize, QuestionOutcome)>> = Mutex::default();
    let next = || waiting.lock().unwrap_or_else(|broken| broken.into_inner()).next();
    let work = || {
        while let Some((at, question)) = next() {
            // A panic in one question does not affect the others.
            let result = catch_unwind(AssertUnwindSafe(|| look.ask(question, at + 1)))
                .unwrap_or_else(|_| {
                    QuestionOutcome::not_asked(
                        question,
                        "the reviewer crashed; this is a bug in assay",
                    )
                });
            let mut looked = looked.lock().unwrap_or_else(|broken| broken.into_inner());
            looked.push((at, result));
        }
    };
    let span = tracing::Span::current();
    thread::scope(|scope| {
        for _ in 0..at_a_time.clamp(1, questions.len().max(1)) {
            scope.spawn(|| span.in_scope(work));
        }
    });
    let mut looked = looked.into_inner().unwrap_or_else(|broken| broken.into_inner());
    looked.sort_by_key(|(at, _)| *at);
    for (at, QuestionOutcome { opinions, exchanges, open }) in looked {
        looks.answered.push(opinions.clone());
        looks.opinions.extend(opinions);
        looks.exchanges.extend(exchanges);
        let place = (at + 1, questions.len());
        let findings: Vec<String> =
            questions[at].findings.iter().map(|it| transcript_title(it)).collect();
        looks.open.extend(open.map(|prompt| OpenQuestion { place, prompt, again: None, findings }));
    }
    looks
}

/// Returns the name under which the report of a second look is submitted, by its number.
pub(crate) fn second_look_name(number: usize) -> String {
    match number {
        1 => VALIDATOR.to_owned(),
        number => format!("{VALIDATOR}-{number}"),
    }
}

/// Returns the title of a finding for transcripts.
fn transcript_title(finding: &Finding) -> String {
    redact_text(&finding.title)
}

/// Groups findings into questions. All findings of a change are compared with each other in one
/// question, together with the change or, if it has several parts, with the code at their
/// locations. There are several questions only if there are many findings.
fn questions(findings: Vec<&Finding>, mut parts: Vec<Part>) -> Vec<SecondLookQuestion<'_>> {
    let question = |findings: &[&'_ Finding]| {
        let places: Vec<(&RepoPath, Option<u32>)> =
            findings.iter().filter_map(|f| Some((f.file.as_ref()?, f.line))).collect();
        Part::select(&parts, &places)
    };
    if findings.len() <= MAX_FINDINGS_PER_QUESTION && parts.len() <= 1 {
        return vec![SecondLookQuestion { part: parts.pop().unwrap_or_default(), findings }];
    }
    findings
        .chunks(MAX_FINDINGS_PER_QUESTION)
        .map(|some| SecondLookQuestion { part: question(some), findings: some.to_vec() })
        .collect()
}

impl QuestionOutcome {
    /// Returns the outcome of a question that no model was asked.
    fn not_asked(question: &SecondLookQuestion<'_>, why: &str) -> QuestionOutcome {
        let opinions =
            question.findings.iter().map(|finding| missing_opinion(finding, why)).collect();
        QuestionOutcome { opinions, exchanges: Vec::new(), open: None }
    }
}

/// The context of second looks.
#[derive(Clone, Copy)]
struct SecondLookContext<'a> {
    change: &'a Change,
    validator: &'a Persona,
    context: &'a PersonaContext,
}

impl SecondLookContext<'_> {
    /// Asks the question with a number, counted from 1.
    fn ask(self, question: &SecondLookQuestion<'_>, number: usize) -> QuestionOutcome {
        let part = &question.part;
        let told = question.findings.iter().zip(1..).map(|(finding, number)| {
            let is_shown = finding.file.as_ref().is_none_or(|file| part.shows(file, finding.line));
            let code = if is_shown { String::new() } else { self.code(finding) };
            format!("{}{code}\n", format_finding(finding, number))
        });
        let briefing = self.context.briefing(self.change);
        let room = self.context.answer_limits(self.validator);
        let prompt =
            prompt::second_look(self.validator.role(), briefing, part, told.collect(), room);
        let prompt = self.context.with_lookups(self.validator, prompt);
        let can_be_read = |text: &str| !answers(text).is_empty();
        let asked = TranscriptAnswer {
            reader: second_look_name(number),
            part: 1,
            findings: question.findings.iter().map(|it| transcript_title(it)).collect(),
            ..TranscriptAnswer::default()
        };
        let asked = PlacedQuestion { asked, prompt };
        let Conversation { outcome, prompt, exchanges, .. } =
            self.context.converse(self.validator, self.change, asked, can_be_read, &|_| {});
        let is_open =
            matches!(&outcome, Err(failure) if failure.class == FailureClass::NotRecorded);
        let none = |why: &str| QuestionOutcome::not_asked(question, why).opinions;
        let opinions = match outcome {
            Ok(reply) if self.context.contains_canary(&reply) => {
                none("the answer obeyed instructions in the text under review")
            }
            Ok(reply) => opinions(&question.findings, &reply.text),
            Err(Failure { message, .. }) => none(&message),
        };
        QuestionOutcome { opinions, exchanges, open: is_open.then_some(prompt) }
    }

    /// Returns true if the file of a finding addresses reviewers. A finding in such a file may be
    /// dictated by the file.
    fn is_addressed(self, finding: &Finding) -> bool {
        let Some(file) = &finding.file else { return false };
        // The content of a file that cannot be read is unknown.
        let Ok(text) = self.change.tree().read(file) else { return true };
        let text = text.unwrap_or_default();
        unsafe_name_reason(file.as_str()).is_some()
            || !find_injections_in_file(file.as_str(), &text).is_empty()
    }

    /// Returns the code around a finding: as the change shows it, or else from the tree.
    fn code(self, finding: &Finding) -> String {
        let Some(file) = &finding.file else { return String::new() };
        let line = finding.line.unwrap_or(1);
        let excerpts = &self.context.briefing(self.change).excerpts;
        let shown = excerpts.iter().find(|excerpt| excerpt.path == *file);
        let number = format!("{line:>5} ");
        let unit = shown.and_then(|excerpt| {
            let has_line = |unit: &&crate::prompt::excerpt::Unit| {
                unit.lines.iter().any(|line| line.text.starts_with(&number))
            };
            let unit = excerpt.units.iter().find(has_line)?;
            let lines = unit.lines.iter().map(|line| format!("{}\n", line.text));
            Some(format!("{}\n{}", excerpt.heading, lines.collect::<String>()))
        });
        unit.unwrap_or_else(|| self.tree_excerpt(file, line))
    }

    fn tree_excerpt(self, file: &RepoPath, line: u32) -> String {
        // The reviewer may have been led to a file that git does not track, which must not be shown
        // to a model.
        let is_changed = self.change.files.iter().any(|diff| diff.path() == file.as_str());
        if !is_changed && !self.change.base().exists(file).unwrap_or(false) {
            return String::new();
        }
        let text = RedactedTree(self.change.tree()).read(file).ok().flatten().unwrap_or_default();
        let text = without_injections_in_file(file.as_str(), &text);
        let first = line.saturating_sub(CONTEXT_LINES).max(1);
        let lines = text.lines().zip(1u32..).skip(first as usize - 1);
        let lines = lines.take_while(|(_, number)| *number <= line + CONTEXT_LINES);
        let lines = lines.map(|(text, number)| (names::replace_line_breaks(text), number));
        let lines = lines.map(|(text, number)| format!("{number:>5}   {text}\n"));
        format!("### FILE {file}\n{}", lines.collect::<String>())
    }
}

/// Formats a finding for a second look.
fn format_finding(finding: &Finding, number: usize) -> String {
    let place = finding.place().unwrap_or_else(|| "the change as a whole".to_owned());
    let quote = finding.evidence.first().map(|quote| format!("Quote: {quote}\n"));
    let text = format!(
        "### FINDING {number}: {}\nSeverity: {}\nPlace: {place}\n{}What breaks: {}\n",
        finding.title,
        finding.grade.word_in_scheme(Scheme::P),
        quote.unwrap_or_default(),
        finding.description
    );
    names::normalize_line_breaks(&without_injections(&redact_text(&text))).into_owned()
}

fn missing_opinion(finding: &Finding, why: &str) -> Opinion {
    Opinion {
        fingerprint: finding.fingerprint.clone(),
        file: finding.file.clone(),
        answer: SecondLookAnswer::Missing,
        why: why.to_owned(),
        quote: None,
        quoted_file: None,
        consequence: None,
    }
}

/// Parses the opinions on findings from an answer. A finding that the answer does not mention has
/// none.
fn opinions(findings: &[&Finding], text: &str) -> Vec<Opinion> {
    let answers = answers(text);
    let why = match answers.is_empty() {
        true if repair_json(text).is_none() => "the answer could not be read",
        true => "invalid answer: expected confirm, refute or unsure",
        false => "the answer does not mention this finding",
    };
    let opinion = |(finding, number): (&&Finding, usize)| {
        let answer = answers.iter().find(|(of, _)| *of == number);
        answer.map_or_else(
            || missing_opinion(finding, why),
            |(_, value)| parse_opinion(finding, value),
        )
    };
    findings.iter().zip(1..).map(opinion).collect()
}

/// Returns the numbers of the findings that an answer mentions.
pub(crate) fn numbers(text: &str) -> Vec<usize> {
    answers(text).into_iter().map(|(number, _)| number).collect()
}

/// Returns the entries of an answer that have an opinion, each with the number of its finding.
pub(crate) fn answers(text: &str) -> Vec<(usize, Value)> {
    let Some(value) = repair_json(text) else { return Vec::new() };
    let entries = match &value {
        Value::Array(entries) => entries.clone(),
        Value::Object(fields) => {
            let list = ["looks", "answers", "findings"].iter().find_map(|key| fields.get(*key));
            match list {
                Some(Value::Array(entries)) => entries.clone(),
                _ => vec![value.clone()],
            }
        }
        _ => Vec::new(),
    };
    let number = |entry: &Value| {
        let number = &entry["finding"];
        let number = number.as_u64().or_else(|| number.as_str()?.trim().parse().ok());
        // An answer to a single finding may leave out its number.
        number.or((entries.len() == 1).then_some(1)).map(|number| number as usize)
    };
    let read = entries.iter().filter(|entry| parse_answer(entry).is_some());
    read.filter_map(|entry| Some((number(entry)?, entry.clone()))).collect()
}

fn parse_opinion(finding: &Finding, value: &Value) -> Opinion {
    let word = |key: &str| value[key].as_str().map(redact_text);
    let Some(answer) = parse_answer(value) else {
        return missing_opinion(finding, "invalid answer: expected confirm, refute or unsure");
    };
    let quoted_file = word("file").and_then(|file| RepoPath::parse(&file, None).ok());
    Opinion {
        answer,
        why: word("why").unwrap_or_default(),
        quote: word("quote").filter(|quote| !quote.trim().is_empty()),
        quoted_file,
        consequence: value["consequence"].as_str().and_then(Consequence::from_word),
        ..missing_opinion(finding, "")
    }
}

/// Parses the answer of a second look; `None` for an unknown word.
fn parse_answer(value: &Value) -> Option<SecondLookAnswer> {
    match value["answer"].as_str()?.to_ascii_lowercase().as_str() {
        "confirm" | "confirmed" => Some(SecondLookAnswer::Confirm),
        "refute" | "refuted" => Some(SecondLookAnswer::Refute),
        "unsure" => Some(SecondLookAnswer::Unsure),
        _ => None,
    }
}
