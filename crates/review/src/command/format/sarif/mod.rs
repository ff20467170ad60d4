//! SARIF 2.1.0.
//!
//! A result is a finding if its kind is `fail`, and it is neither suppressed nor absent. A result
//! with the baseline state `unchanged` existed before the change.

mod location;
mod log;

use std::collections::{BTreeSet, HashMap};

use assay_findings::grade::Grade;
use assay_findings::path::RepoPath;
use assay_findings::vote::Confidence;
use serde::Deserialize;
use serde_json::Value;

use self::log::{Invocation, Notification, Outcome, Properties, Rule, Run, Text};
use super::FormatError;
use super::document::{document, entries};
use crate::command::draft::{Draft, one_line, truncate_at_blank};
use crate::command::report_builder::ReportBuilder;
use crate::command::severity;

/// The maximum number of characters of a message, and of one of its arguments.
const MAX_MESSAGE_CHARS: usize = 8_000;
const MAX_ARGUMENT_CHARS: usize = 1_000;

/// The maximum number of arguments of a message.
const MAX_ARGUMENTS: usize = 32;

pub(super) fn read(text: &str, builder: &mut ReportBuilder<'_>) -> Result<(), FormatError> {
    let fits = |value: &Value| value.get("runs").is_some_and(Value::is_array);
    let log = document(text, fits, builder)?;
    let (mut runs, mut failed) = (0, None);
    for run in entries(&log, "runs") {
        builder.entry(run, |builder, run: Run| {
            runs += 1;
            failed = failed.take().or(take_run(builder, &run));
            Ok(())
        });
    }
    if runs == 0 {
        failed = Some("the log contains no run".to_owned());
    }
    // The findings of a failed run are used; the absence of others proves nothing.
    failed.map_or(Ok(()), |why| Err(FormatError::Failed(why)))
}

/// Adds the results of a run. Returns the reason of the failure if the run failed.
fn take_run(builder: &mut ReportBuilder<'_>, run: &Run) -> Option<String> {
    let rules = Rules::of(run);
    let mut left_out = 0;
    for result in run.results.iter().flatten() {
        builder.entry(result, |builder, outcome: Outcome| {
            if is_finding(&outcome) {
                return take(builder, run, &rules, &outcome);
            }
            left_out += 1;
            Ok(())
        });
    }
    if left_out > 0 {
        builder.note(format!("{left_out} results are suppressed, absent or not failures"));
    }
    let mut failed = None;
    for invocation in &run.invocations {
        failed = failed.or(failure(builder, run, invocation));
    }
    match run.results {
        Some(_) => failed,
        None => failed.or_else(|| Some("the run has no `results` list".to_owned())),
    }
}

fn is_finding(outcome: &Outcome) -> bool {
    let suppressions = outcome.suppressions.as_deref().unwrap_or_default();
    // A suppression that is only requested, or was rejected, does not suppress the result.
    let is_open = suppressions.iter().any(|suppression| {
        matches!(suppression.status.as_deref(), Some("rejected" | "underReview"))
    });
    let is_suppressed = !suppressions.is_empty() && !is_open;
    let is_failure = matches!(outcome.kind.as_deref(), None | Some("fail"));
    let is_gone = outcome.baseline_state.as_deref() == Some("absent");
    is_failure && !is_suppressed && !is_gone
}

/// Adds the files that an invocation could not analyse. Returns the reason if the whole invocation
/// failed.
fn failure(builder: &mut ReportBuilder<'_>, run: &Run, invocation: &Invocation) -> Option<String> {
    let said = |one: &Notification| {
        one.message.text.clone().unwrap_or_else(|| "the analyser gave no message".to_owned())
    };
    let all = invocation
        .tool_execution_notifications
        .iter()
        .chain(&invocation.tool_configuration_notifications);
    let mut errors = Vec::new();
    for notification in all {
        match notification.level.as_deref() {
            Some("error") => {
                let file = notified_file(builder, run, notification);
                builder.not_covered(file.as_ref().map(RepoPath::as_str), &said(notification));
                errors.push(said(notification));
            }
            None | Some("warning") => builder.note(one_line(&said(notification), 300)),
            Some(_) => {}
        }
    }
    if invocation.execution_successful {
        return None;
    }
    let why = invocation.process_start_failure_message.as_deref();
    let why = why.or(invocation.exit_code_description.as_deref());
    let why = why.or(errors.first().map(String::as_str));
    Some(why.unwrap_or("the analyser gave no reason").to_owned())
}

fn notified_file(
    builder: &ReportBuilder<'_>,
    run: &Run,
    notification: &Notification,
) -> Option<RepoPath> {
    let place = notification.locations.iter().find_map(|one| one.physical_location.as_ref())?;
    location::file(builder, run, place.artifact_location.as_ref()?).ok()
}

// ---- rules

/// The rules of a run: those of the driver, then those of each extension.
struct Rules {
    components: Vec<(String, Vec<Rule>)>,
    /// The component and the index in it, by id.
    by_id: HashMap<String, (usize, usize)>,
}

impl Rules {
    fn of(run: &Run) -> Rules {
        let all = std::iter::once(&run.tool.driver).chain(&run.tool.extensions);
        let rule = |value: &Value| Rule::deserialize(value).unwrap_or_default();
        let components: Vec<(String, Vec<Rule>)> =
            all.map(|part| (part.name.clone(), part.rules.iter().map(rule).collect())).collect();
        let mut by_id = HashMap::new();
        for (number, (_, rules)) in components.iter().enumerate() {
            for (at, rule) in rules.iter().enumerate() {
                by_id.entry(rule.id.clone()).or_insert((number, at));
            }
        }
        Rules { components, by_id }
    }

    /// Returns the rule of a result: by its index, else by its id or the part before the last `/`.
    fn find(&self, outcome: &Outcome) -> Option<&Rule> {
        let reference = outcome.rule.as_ref();
        let component = reference.and_then(|rule| rule.tool_component.as_ref());
        let number = match component {
            None => 0,
            Some(part) => match (part.index, &part.name) {
                (Some(index), _) => usize::try_from(index).ok()?.checked_add(1)?,
                (None, Some(name)) => self.components.iter().position(|(n, _)| n == name)?,
                (None, None) => 0,
            },
        };
        let index = outcome.rule_index.or(reference.and_then(|rule| rule.index));
        let by_index =
            self.components.get(number).and_then(|(_, rules)| location::at(rules, index));
        by_index.or_else(|| {
            let id = rule_id(outcome)?;
            let general = || self.by_id.get(id.rsplit_once('/')?.0);
            let (number, at) = *self.by_id.get(id).or_else(general)?;
            self.components.get(number)?.1.get(at)
        })
    }
}

fn rule_id(outcome: &Outcome) -> Option<&str> {
    let by_reference = outcome.rule.as_ref().and_then(|rule| rule.id.as_deref());
    outcome.rule_id.as_deref().or(by_reference)
}

// ---- results

fn take(
    builder: &mut ReportBuilder<'_>,
    run: &Run,
    rules: &Rules,
    outcome: &Outcome,
) -> Result<(), String> {
    let none = Rule::default();
    let rule = rules.find(outcome).unwrap_or(&none);
    let message = message(&outcome.message, rule).ok_or("the result has no message")?;
    let level = level(outcome, rule);
    let (grade, is_scored) = grade(outcome, rule, level);
    let is_security = is_scored || has_tag(&rule.properties) || has_tag(&outcome.properties);
    let category = match level {
        _ if is_security => "security",
        "note" | "none" => "style",
        _ => "correctness",
    };
    let mut draft = Draft::new(message, grade, category);
    draft.tool = Some(tool_name(&run.tool.driver.name)).filter(|name| !name.is_empty());
    let code = rule_id(outcome).unwrap_or(&rule.id);
    draft.code = Some(code.to_owned()).filter(|code| !code.is_empty());
    draft.confidence = precision(&outcome.properties).or_else(|| precision(&rule.properties));
    draft.help = help(rule);
    draft.help.extend(cwe_names(&[&rule.properties, &outcome.properties]));
    draft.fires_on_base = outcome.baseline_state.as_deref() == Some("unchanged");
    if let Some(at) = outcome.locations.iter().find_map(|one| one.physical_location.as_ref()) {
        let location = at.artifact_location.as_ref().ok_or("the location has no file")?;
        let file = location::file(builder, run, location)?;
        draft.lines = at.region.and_then(location::lines);
        draft.fix = location::fix(builder, run, outcome, &file);
        draft.file = Some(file);
    }
    builder.take(draft);
    Ok(())
}

/// Returns the name of a tool as one word, for the prefix of a rule.
fn tool_name(name: &str) -> String {
    name.trim().to_lowercase().split_whitespace().collect::<Vec<_>>().join("-")
}

/// Returns the text of a message, from the texts of the rule if the message only has an id.
fn message(message: &Text, rule: &Rule) -> Option<String> {
    let by_id = || rule.message_strings.get(message.id.as_deref()?)?.text.as_deref();
    let text = message.text.as_deref().or_else(by_id).or(message.markdown.as_deref())?;
    let mut text = truncate_at_blank(text, MAX_MESSAGE_CHARS);
    for (number, argument) in message.arguments.iter().enumerate().take(MAX_ARGUMENTS) {
        text = text
            .replace(&format!("{{{number}}}"), &truncate_at_blank(argument, MAX_ARGUMENT_CHARS));
        text = truncate_at_blank(&text, MAX_MESSAGE_CHARS);
    }
    Some(text).filter(|text| !text.trim().is_empty())
}

fn level<'o>(outcome: &'o Outcome, rule: &'o Rule) -> &'o str {
    let by_rule = rule.default_configuration.as_ref().and_then(|c| c.level.as_deref());
    outcome.level.as_deref().or(by_rule).unwrap_or("warning")
}

/// Returns the grade by the security score if there is one, else by the level; and true for a
/// score.
fn grade(outcome: &Outcome, rule: &Rule, level: &str) -> (Grade, bool) {
    let score = score(&outcome.properties).or_else(|| score(&rule.properties));
    match score.and_then(severity::grade_of_score) {
        Some(grade) => (grade, true),
        None => (severity::grade(level), false),
    }
}

fn score(properties: &Properties) -> Option<f64> {
    match &properties.security_severity {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_f64(),
    }
}

fn precision(properties: &Properties) -> Option<Confidence> {
    properties.precision.as_str().and_then(severity::confidence)
}

fn has_tag(properties: &Properties) -> bool {
    let tags = properties.tags.as_array().into_iter().flatten().filter_map(Value::as_str);
    tags.into_iter().any(|tag| tag.eq_ignore_ascii_case("security"))
}

/// Returns the weaknesses that tags such as `external/cwe/cwe-089` name, as `CWE-89`.
fn cwe_names(properties: &[&Properties]) -> Vec<String> {
    let tags = properties.iter().filter_map(|properties| properties.tags.as_array()).flatten();
    let tags = tags.filter_map(Value::as_str).map(str::to_lowercase);
    let numbers = tags.filter_map(|tag| {
        let (_, rest) = tag.rsplit_once("cwe-")?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    });
    let numbers: BTreeSet<u32> = numbers.collect();
    numbers.into_iter().map(|number| format!("CWE-{number}")).collect()
}

fn help(rule: &Rule) -> Vec<String> {
    let text = |text: &Option<Text>| text.as_ref().and_then(|text| text.text.clone());
    let name = rule.name.clone().filter(|name| *name != rule.id);
    [
        name.map(|name| format!("Rule: {name}")),
        text(&rule.full_description).or_else(|| text(&rule.short_description)),
        text(&rule.help),
        rule.help_uri.clone(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
