//! The content of a rule file: [`RuleFile`], with structural rules, rules that follow data and
//! their shared lists.

use ast_grep_config::{SerializableRuleConfig, Severity};

use crate::flow::{FlowLibrary, FlowRule};
use crate::language::Language;
use crate::rule::{FixClass, Metadata, Rule, RuleError, RuleInfo, info};

/// The content of a rule file.
#[derive(Debug, Default)]
pub(crate) struct RuleFile {
    /// The rules, each once for each of its languages.
    pub(crate) rules: Vec<Rule>,
    /// The rules that follow data.
    pub(crate) flow_rules: Vec<FlowRule>,
    /// The shared lists of rules that follow data.
    pub(crate) libraries: Vec<FlowLibrary>,
    /// The ids of the rules that the file switches off.
    pub(crate) off: Vec<String>,
}

/// The kind of a document in a rule file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DocumentKind {
    /// A rule on the structure of the code.
    Structure,
    /// A rule that follows data.
    Flow,
    /// Shared lists of rules that follow data.
    Library,
}

/// Splits a file into its documents, each with its kind.
fn documents(yaml: &str) -> Vec<(DocumentKind, String)> {
    let mut documents = vec![String::new()];
    for line in yaml.split_inclusive('\n') {
        match documents.last_mut() {
            Some(document) if line.trim_end() != "---" => document.push_str(line),
            _ => documents.push(String::new()),
        }
    }
    let has_key = |text: &str, key: &str| text.lines().any(|line| line.starts_with(key));
    let kind = |text: &str| match text {
        _ if has_key(text, "flow:") => DocumentKind::Flow,
        _ if has_key(text, "library:") => DocumentKind::Library,
        _ => DocumentKind::Structure,
    };
    documents.into_iter().map(|text| (kind(&text), text)).collect()
}

/// Returns the structural rules of a file as one text.
fn structural(yaml: &str) -> String {
    let documents = documents(yaml);
    if documents.iter().all(|(kind, _)| *kind == DocumentKind::Structure) {
        return yaml.to_owned();
    }
    let is_rule = |(kind, text): &&(DocumentKind, String)| {
        *kind == DocumentKind::Structure && !text.trim().is_empty()
    };
    let texts: Vec<&str> = documents.iter().filter(is_rule).map(|(_, text)| &**text).collect();
    texts.join("---\n")
}

impl RuleFile {
    /// Parses a file, which may contain several rules. `name` is used in errors.
    pub(crate) fn read(name: &str, yaml: &str) -> Result<RuleFile, RuleError> {
        RuleFile::read_for(name, yaml, |_| true)
    }

    /// Parses the rules of a file for some languages only.
    pub(crate) fn read_for(
        name: &str,
        yaml: &str,
        is_wanted: impl Fn(Language) -> bool,
    ) -> Result<RuleFile, RuleError> {
        let fail = |message: String| RuleError { name: name.to_owned(), message };
        let mut file = RuleFile::default();
        for (kind, text) in documents(yaml) {
            match kind {
                DocumentKind::Flow => {
                    let rules = FlowRule::read(&text).map_err(fail)?.into_iter();
                    file.flow_rules.extend(rules.filter(|rule| is_wanted(rule.language)));
                }
                DocumentKind::Library => {
                    file.libraries.push(FlowLibrary::read(&text).map_err(fail)?);
                }
                DocumentKind::Structure => {}
            }
        }
        let yaml = structural(yaml);
        if yaml.trim().is_empty() && !(file.flow_rules.is_empty() && file.libraries.is_empty()) {
            return Ok(file);
        }
        let stored: Vec<SerializableRuleConfig<Language>> =
            ast_grep_config::from_multiple(&yaml).map_err(|error| fail(error.to_string()))?;
        for stored in stored {
            if stored.severity == Severity::Off {
                file.off.push(stored.id);
                continue;
            }
            let metadata = metadata(&stored).map_err(fail)?;
            let languages = [stored.language].into_iter().chain(metadata.also.iter().copied());
            for language in languages.filter(|language| is_wanted(*language)) {
                let rule = Rule::new(stored.clone(), language, &metadata).map_err(fail)?;
                file.rules.push(rule);
            }
        }
        Ok(file)
    }
}

/// An entry of a rule file that is parsed and not compiled.
#[derive(Debug)]
pub(crate) enum RuleEntry {
    /// The id of a rule that the file switches off.
    Off(String),
    /// A rule on the structure of the code.
    Structure { about: RuleInfo, languages: Vec<Language>, fix: Option<FixClass> },
    /// A rule that follows data.
    Flow { about: RuleInfo, languages: Vec<Language> },
}

impl RuleEntry {
    /// Parses the entries of a file. `name` is used in errors.
    pub(crate) fn read(name: &str, yaml: &str) -> Result<Vec<RuleEntry>, RuleError> {
        let fail = |message: String| RuleError { name: name.to_owned(), message };
        let mut entries = Vec::new();
        for (_, text) in documents(yaml).iter().filter(|(kind, _)| *kind == DocumentKind::Flow) {
            let rules = FlowRule::read(text).map_err(fail)?;
            let languages = rules.iter().map(|rule| rule.language).collect();
            let about = rules.into_iter().next().map(|rule| rule.about);
            entries.extend(about.map(|about| RuleEntry::Flow { about, languages }));
        }
        let yaml = structural(yaml);
        if yaml.trim().is_empty() {
            return Ok(entries);
        }
        let stored: Vec<SerializableRuleConfig<Language>> =
            ast_grep_config::from_multiple(&yaml).map_err(|error| fail(error.to_string()))?;
        for stored in stored {
            entries.push(RuleEntry::of(stored).map_err(fail)?);
        }
        Ok(entries)
    }

    fn of(stored: SerializableRuleConfig<Language>) -> Result<RuleEntry, String> {
        if stored.severity == Severity::Off {
            return Ok(RuleEntry::Off(stored.id));
        }
        let metadata = metadata(&stored)?;
        let about = info(&stored, &metadata)?;
        let fix = stored.fix.is_some().then(|| metadata.fix.unwrap_or(FixClass::Gated));
        let languages = [stored.language].into_iter().chain(metadata.also).collect();
        Ok(RuleEntry::Structure { about, languages, fix })
    }

    /// Returns the id of the rule.
    pub(crate) fn into_id(self) -> String {
        match self {
            RuleEntry::Off(id) => id,
            RuleEntry::Structure { about, .. } | RuleEntry::Flow { about, .. } => about.id,
        }
    }
}

/// The definition of a rule in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleDefinition {
    /// The name of the file.
    pub file: String,
    /// The language of the rule, as rule files write it.
    pub language: String,
    /// True if the file switches the rule off.
    pub is_off: bool,
}

impl RuleDefinition {
    /// Returns the definition of a rule in a file; `None` if the file does not define the rule.
    pub(crate) fn find(file: &str, yaml: &str, id: &str) -> Option<RuleDefinition> {
        if !yaml.contains(id) {
            return None;
        }
        let flow_rules =
            documents(yaml).into_iter().filter(|(kind, _)| *kind == DocumentKind::Flow);
        let flow_rules = flow_rules.filter_map(|(_, text)| FlowRule::read(&text).ok());
        let mut flow_rules = flow_rules.filter_map(|rules| rules.into_iter().next());
        if let Some(rule) = flow_rules.rfind(|rule| rule.about.id == id) {
            let language = rule.language.to_string();
            return Some(RuleDefinition { file: file.to_owned(), language, is_off: false });
        }
        let yaml = structural(yaml);
        let stored: Vec<SerializableRuleConfig<Language>> =
            ast_grep_config::from_multiple(&yaml).ok()?;
        let rule = stored.into_iter().rfind(|rule| rule.id == id)?;
        let is_off = rule.severity == Severity::Off;
        Some(RuleDefinition { file: file.to_owned(), language: rule.language.to_string(), is_off })
    }
}

fn metadata(stored: &SerializableRuleConfig<Language>) -> Result<Metadata, String> {
    let Some(metadata) = &stored.metadata else { return Ok(Metadata::default()) };
    let value = serde_json::to_value(metadata).map_err(|error| error.to_string())?;
    serde_json::from_value(value).map_err(|error| format!("metadata: {error}"))
}
