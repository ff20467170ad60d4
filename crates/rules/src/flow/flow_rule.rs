//! Rules that follow data: [`FlowRule`], and the shared lists of a framework, [`FlowLibrary`].

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;

use super::pattern::CallPattern;
use crate::language::Language;
use crate::rule::{Metadata, RuleHead, RuleInfo, RuleScope};

/// A rule that follows data from sources to sinks.
#[derive(Debug, Clone)]
pub(crate) struct FlowRule {
    pub(crate) about: RuleInfo,
    pub(crate) language: Language,
    pub(crate) scope: RuleScope,
    /// The kinds of sources: names of shared lists, and the id of the rule for its own sources.
    pub(super) kinds: Vec<String>,
    pub(super) own_sources: Vec<SourcePattern>,
    pub(super) sinks: Vec<CallPattern>,
    /// The names of shared lists of sinks.
    pub(super) sink_lists: Vec<String>,
    /// The labels of sanitizers: names of shared lists, and the id of the rule for its own ones.
    pub(super) labels: Vec<String>,
    pub(super) own_sanitizers: Vec<CallPattern>,
    pub(super) own_propagators: Vec<CallPattern>,
    /// The calls after which the rule reports nothing.
    pub(super) unless: Vec<CallPattern>,
    /// The text that the code of the sink, or of a place on the way to it, must have.
    pub(super) text: Option<Regex>,
    /// The structural rules for the same defect. If one of them fires at the same place, its
    /// finding gets the trace, and this rule adds no second finding.
    pub(crate) covers: Vec<String>,
}

/// The shared lists of a framework.
#[derive(Debug)]
pub(crate) struct FlowLibrary {
    pub(super) languages: Vec<Language>,
    pub(super) sources: BTreeMap<String, Vec<SourcePattern>>,
    pub(super) sinks: BTreeMap<String, Vec<CallPattern>>,
    pub(super) sanitizers: BTreeMap<String, Vec<CallPattern>>,
    pub(super) validators: Vec<CallPattern>,
    pub(super) propagators: Vec<CallPattern>,
    /// The types of the results of calls, by pattern.
    pub(super) types: Vec<(CallPattern, String)>,
}

/// A source of data.
#[derive(Debug, Clone)]
pub(super) enum SourcePattern {
    /// The result of a call, or an attribute.
    Call(CallPattern),
    /// A parameter with one of these annotations.
    Annotated(Vec<String>),
    /// All parameters of a function with one of these decorators.
    Decorated(Vec<String>),
}

/// A rule document with a section `flow`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowRuleDocument {
    id: String,
    language: Language,
    message: String,
    note: Option<String>,
    severity: Option<String>,
    #[serde(default)]
    metadata: Metadata,
    files: Option<Vec<String>>,
    ignores: Option<Vec<String>>,
    flow: FlowSection,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowSection {
    #[serde(default)]
    sources: Vec<String>,
    sinks: Vec<String>,
    #[serde(default)]
    sanitizers: Vec<String>,
    #[serde(default)]
    propagators: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
    text: Option<String>,
    #[serde(default)]
    covers: Vec<String>,
}

/// A document with shared lists.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowLibraryDocument {
    #[serde(rename = "library")]
    _name: String,
    language: Language,
    /// Further languages with the same lists.
    #[serde(default)]
    also: Vec<Language>,
    #[serde(default)]
    sources: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    sinks: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    sanitizers: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    validators: Vec<String>,
    #[serde(default)]
    propagators: Vec<String>,
    #[serde(default)]
    types: BTreeMap<String, String>,
}

impl FlowRule {
    /// Parses a rule. Returns the rule for each of its languages.
    pub(crate) fn read(yaml: &str) -> Result<Vec<FlowRule>, String> {
        let stored: FlowRuleDocument =
            ast_grep_config::from_str(yaml).map_err(|error| error.to_string())?;
        let languages: Vec<Language> =
            [stored.language].into_iter().chain(stored.metadata.also.iter().copied()).collect();
        if let Some(language) = languages.iter().find(|own| !super::is_followed(**own)) {
            return Err(format!("assay follows no data in {language}"));
        }
        let about = RuleInfo::new(
            &RuleHead {
                id: &stored.id,
                message: &stored.message,
                note: stored.note.as_deref(),
                severity_grade: severity_grade(stored.severity.as_deref())?,
            },
            &stored.metadata,
        )?;
        let scope =
            RuleScope::new(&stored.metadata, stored.files.as_ref(), stored.ignores.as_ref())?;
        let flow = stored.flow;
        let (mut kinds, sources): (Vec<String>, Vec<String>) =
            flow.sources.into_iter().partition(|text| is_list_name(text));
        let (mut labels, sanitizers): (Vec<String>, Vec<String>) =
            flow.sanitizers.into_iter().partition(|text| is_list_name(text));
        let (sink_lists, sinks): (Vec<String>, Vec<String>) =
            flow.sinks.into_iter().partition(|text| is_list_name(text));
        let sinks = patterns(&sinks)?;
        if sinks.is_empty() && sink_lists.is_empty() {
            return Err("missing `sinks`".to_owned());
        }
        kinds.push(stored.id.clone());
        labels.push(stored.id);
        let text = flow.text.as_deref().map(Regex::new).transpose();
        let rule = FlowRule {
            about,
            language: stored.language,
            scope,
            kinds,
            own_sources: sources.iter().map(|text| source(text)).collect::<Result<_, _>>()?,
            sinks,
            sink_lists,
            labels,
            own_sanitizers: patterns(&sanitizers)?,
            own_propagators: patterns(&flow.propagators)?,
            unless: patterns(&flow.unless)?,
            text: text.map_err(|error| format!("`text`: {error}"))?,
            covers: flow.covers,
        };
        let of = |language: &Language| FlowRule { language: *language, ..rule.clone() };
        Ok(languages.iter().map(of).collect())
    }
}

impl FlowLibrary {
    /// Parses the shared lists of a framework.
    pub(crate) fn read(yaml: &str) -> Result<FlowLibrary, String> {
        let stored: FlowLibraryDocument =
            ast_grep_config::from_str(yaml).map_err(|error| error.to_string())?;
        let mut sources = BTreeMap::new();
        for (kind, texts) in stored.sources {
            let read: Result<Vec<_>, _> = texts.iter().map(|text| source(text)).collect();
            sources.insert(kind, read?);
        }
        let mut sinks = BTreeMap::new();
        for (name, texts) in stored.sinks {
            sinks.insert(name, patterns(&texts)?);
        }
        let mut sanitizers = BTreeMap::new();
        for (label, texts) in stored.sanitizers {
            sanitizers.insert(label, patterns(&texts)?);
        }
        let types = stored.types.into_iter();
        let types = types.map(|(text, name)| Ok((CallPattern::parse(&text)?, name)));
        Ok(FlowLibrary {
            languages: [stored.language].into_iter().chain(stored.also).collect(),
            sources,
            sinks,
            sanitizers,
            validators: patterns(&stored.validators)?,
            propagators: patterns(&stored.propagators)?,
            types: types.collect::<Result<_, String>>()?,
        })
    }
}

fn severity_grade(severity: Option<&str>) -> Result<&'static str, String> {
    Ok(match severity {
        Some("error") => "HIGH",
        Some("warning") => "MEDIUM",
        Some("info") => "LOW",
        Some("hint") | None => "SUGGESTION",
        Some(other) => return Err(format!("unknown severity `{other}`")),
    })
}

/// Returns true if an entry names a shared list and is no pattern.
fn is_list_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

fn patterns(texts: &[String]) -> Result<Vec<CallPattern>, String> {
    texts.iter().map(|text| CallPattern::parse(text)).collect()
}

fn source(text: &str) -> Result<SourcePattern, String> {
    let names = |text: &str| text.split('|').map(|name| name.trim().to_owned()).collect();
    if let Some(rest) = text.strip_prefix("def @") {
        return Ok(SourcePattern::Decorated(names(rest)));
    }
    match text.strip_prefix('@') {
        Some(rest) => Ok(SourcePattern::Annotated(names(rest))),
        None => CallPattern::parse(text).map(SourcePattern::Call),
    }
}
