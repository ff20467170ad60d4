//! Second looks: [`second_looks`] has each finding of weight looked at afresh before it leaves the
//! machine.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;

use assay_change::Change;
use assay_findings::finding::Finding;
use assay_findings::ground::Tree;
use assay_findings::path::RepoPath;
use assay_findings::read::mended_json;
use assay_findings::validation::{Answer, Opinion, to_validate};
use assay_models::{Answered, Class, Failure, Prompt};
use assay_rules::{
    Redacted, injection_in_file, redacted_text, without_injections, without_injections_in_file,
};
use serde_json::Value;

use super::Persona;
use super::desk::Desk;
use super::reading::OpenQuestion;
use crate::prompt;
use crate::prompt::briefing::not_to_be_named;
use crate::prompt::names;
use crate::reviewer::Exchange;

/// So many lines are shown around a finding where the change does not show it.
const AROUND: u32 = 40;

/// The opinions on findings, and what they took.
#[derive(Debug, Default)]
pub struct SecondLooks {
    /// What they came to.
    pub opinions: Vec<Opinion>,
    /// What was asked.
    pub exchanges: Vec<Exchange>,
    /// What nobody has answered: the finding's number among those looked at, from one, of how many.
    pub(crate) open: Vec<OpenQuestion>,
}

/// What one look came to.
struct Looked {
    opinion: Opinion,
    exchange: Option<Exchange>,
    /// The question, where nobody has answered it.
    open: Option<Prompt>,
}

/// Has findings looked at again by a persona, so many at a time. Where that fails, the finding
/// stays as it is and is marked.
pub fn second_looks(
    change: &Change,
    findings: &[Finding],
    validator: &Persona,
    desk: &Desk,
    at_a_time: usize,
) -> SecondLooks {
    let picked = to_validate(findings);
    let waiting = Mutex::new(picked.iter().enumerate());
    let looked: Mutex<Vec<(usize, Looked)>> = Mutex::default();
    let next = || waiting.lock().unwrap_or_else(|broken| broken.into_inner()).next();
    let work = || {
        while let Some((at, finding)) = next() {
            let look = Look { change, validator, desk };
            // One that breaks down costs only itself.
            let result = catch_unwind(AssertUnwindSafe(|| look.at(finding)))
                .unwrap_or_else(|_| Looked::not(finding, "it crashed; this is a bug in assay"));
            let mut looked = looked.lock().unwrap_or_else(|broken| broken.into_inner());
            looked.push((at, result));
        }
    };
    thread::scope(|scope| {
        for _ in 0..at_a_time.clamp(1, picked.len().max(1)) {
            scope.spawn(work);
        }
    });
    let mut looked = looked.into_inner().unwrap_or_else(|broken| broken.into_inner());
    looked.sort_by_key(|(at, _)| *at);
    let mut looks = SecondLooks::default();
    for (at, Looked { opinion, exchange, open }) in looked {
        looks.opinions.push(opinion);
        looks.exchanges.extend(exchange);
        let place = (at + 1, picked.len());
        looks.open.extend(open.map(|prompt| OpenQuestion { place, prompt, again: None }));
    }
    looks
}

impl Looked {
    /// Nobody was asked.
    fn not(finding: &Finding, why: &str) -> Looked {
        Looked { opinion: missing(finding, why), exchange: None, open: None }
    }
}

/// One look.
#[derive(Clone, Copy)]
struct Look<'a> {
    change: &'a Change,
    validator: &'a Persona,
    desk: &'a Desk,
}

impl Look<'_> {
    fn at(self, finding: &Finding) -> Looked {
        if self.is_addressed(finding) {
            let why = "text beside it addresses a reviewer, so nobody was asked";
            return Looked::not(finding, why);
        }
        let code = self.code(finding);
        let told = told(finding);
        let room = self.desk.room(self.validator);
        let prompt = prompt::second_look(self.validator, &told, &code, room);
        let can_be_read =
            |text: &str| mended_json(text).is_some_and(|value| answer(&value).is_some());
        let Answered { outcome, source, attempts, spent, .. } =
            self.desk.ask(self.validator, &prompt, can_be_read, &|_| {});
        let exchange = Exchange {
            reviewer: self.validator.name.clone(),
            model: self.desk.model(self.validator).id().to_string(),
            prompt: prompt.hash(),
            source,
            attempts,
            tokens: spent.tokens.total(),
            failure: outcome.as_ref().err().map(|failure| failure.message.clone()),
            class: outcome.as_ref().err().map(|failure| failure.class),
        };
        let is_open = matches!(&outcome, Err(failure) if failure.class == Class::NotRecorded);
        let opinion = match outcome {
            Ok(reply) if self.desk.took_orders(&reply) => {
                missing(finding, "the answer took orders from the text under review")
            }
            Ok(reply) => opinion(finding, &reply.text),
            Err(Failure { message, .. }) => missing(finding, &message),
        };
        Looked { opinion, exchange: Some(exchange), open: is_open.then_some(prompt) }
    }

    /// Says whether the finding's file talks to reviewers. What is said of such a file may have
    /// been put into the model's mouth.
    fn is_addressed(self, finding: &Finding) -> bool {
        let Some(file) = &finding.file else { return false };
        // What a file that cannot be read says is not known.
        let Ok(text) = self.change.tree().read(file) else { return true };
        let text = text.unwrap_or_default();
        not_to_be_named(file.as_str()).is_some()
            || !injection_in_file(file.as_str(), &text).is_empty()
    }

    /// Gives the code around a finding: as the change shows it, or else as it stands.
    fn code(self, finding: &Finding) -> String {
        let Some(file) = &finding.file else { return String::new() };
        let line = finding.line.unwrap_or(1);
        let excerpts = &self.desk.briefing(self.change).excerpts;
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
        unit.unwrap_or_else(|| self.as_it_stands(file, line))
    }

    fn as_it_stands(self, file: &RepoPath, line: u32) -> String {
        // Whoever found it may have been led to a file that is nobody else's business.
        let is_changed = self.change.files.iter().any(|diff| diff.path() == file.as_str());
        if !is_changed && !self.change.base().exists(file).unwrap_or(false) {
            return String::new();
        }
        let text = Redacted(self.change.tree()).read(file).ok().flatten().unwrap_or_default();
        let text = without_injections_in_file(file.as_str(), &text);
        let first = line.saturating_sub(AROUND).max(1);
        let lines = text.lines().zip(1u32..).skip(first as usize - 1);
        let lines = lines.take_while(|(_, number)| *number <= line + AROUND);
        let lines = lines.map(|(text, number)| (names::on_one_line(text), number));
        let lines = lines.map(|(text, number)| format!("{number:>5}   {text}\n"));
        format!("### FILE {file}\n{}", lines.collect::<String>())
    }
}

/// Tells of a finding as whoever looks at it again needs it.
fn told(finding: &Finding) -> String {
    let place = finding.place().unwrap_or_else(|| "the change as a whole".to_owned());
    let text = format!(
        "Finding: {}\nSeverity: {}\nPlace: {place}\nWhat breaks: {}\n",
        finding.title, finding.severity, finding.description
    );
    names::with_plain_lines(&without_injections(&redacted_text(&text))).into_owned()
}

fn missing(finding: &Finding, why: &str) -> Opinion {
    Opinion {
        fingerprint: finding.fingerprint.clone(),
        file: finding.file.clone(),
        answer: Answer::Missing,
        why: why.to_owned(),
        quote: None,
        quoted_file: None,
    }
}

/// Reads an opinion; what cannot be read is none.
fn opinion(finding: &Finding, text: &str) -> Opinion {
    let Some(value) = mended_json(text).filter(Value::is_object) else {
        return missing(finding, "the answer could not be read");
    };
    let word = |key: &str| value[key].as_str().map(redacted_text);
    let Some(answer) = answer(&value) else {
        return missing(finding, "the answer is none of confirm, refute and unsure");
    };
    let quoted_file = word("file").and_then(|file| RepoPath::parse(&file, None).ok());
    Opinion {
        answer,
        why: word("why").unwrap_or_default(),
        quote: word("quote"),
        quoted_file,
        ..missing(finding, "")
    }
}

/// Gives the word that a second look came to, if it is one.
fn answer(value: &Value) -> Option<Answer> {
    match value["answer"].as_str()?.to_ascii_lowercase().as_str() {
        "confirm" | "confirmed" => Some(Answer::Confirm),
        "refute" | "refuted" => Some(Answer::Refute),
        "unsure" => Some(Answer::Unsure),
        _ => None,
    }
}
