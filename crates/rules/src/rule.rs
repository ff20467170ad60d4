//! A rule: [`Rule`], parsed from YAML in the format of ast-grep with metadata of assay.

use std::fmt;

use assay_findings::grade::{Grade, Scheme};
use ast_grep_config::{GlobalRules, RuleConfig, SerializableRuleConfig, Severity};
use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use crate::language::{self, Language};

/// The reason that a rule cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the rule `{name}` cannot be used: {message}")]
pub struct RuleError {
    /// The name of the rule's file.
    pub name: String,
    /// The text of the error.
    pub message: String,
}

/// The description of a rule.
#[derive(Debug, Clone)]
pub(crate) struct RuleInfo {
    /// The id of the rule, such as `python/sql-injection`.
    pub(crate) id: String,
    /// The defect in a few words.
    pub(crate) title: String,
    /// The consequence of the defect.
    pub(crate) message: String,
    /// The advice for a fix.
    pub(crate) advice: Option<String>,
    /// The grade of the defect.
    pub(crate) grade: Grade,
    /// The category of the defect, such as `security`.
    pub(crate) category: String,
}

/// A structural rule, compiled for the syntax trees of one language.
pub(crate) struct Rule {
    pub(crate) about: RuleInfo,
    pub(crate) language: Language,
    pub(crate) fix: Option<FixClass>,
    selection: FileSelection,
    files: Option<GlobSet>,
    ignores: Option<GlobSet>,
    pub(crate) config: RuleConfig<Language>,
}

/// The safety of a rule's rewrite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FixClass {
    /// The rewrite preserves the intended meaning, and may be applied without a review.
    Safe,
    /// A person has to agree to the rewrite.
    Gated,
}

/// The files that a rule applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FileSelection {
    #[default]
    Anywhere,
    /// All files except tests.
    Code,
    /// Tests only.
    Tests,
}

/// The metadata of assay, in addition to that of ast-grep.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Metadata {
    grade: Option<String>,
    category: Option<String>,
    advice: Option<String>,
    fix: Option<FixClass>,
    /// Further languages with equal syntax trees.
    also: Vec<Language>,
    r#in: FileSelection,
}

/// The content of a rule file.
#[derive(Debug, Default)]
pub(crate) struct RuleFile {
    /// The rules, each once for each of its languages.
    pub(crate) rules: Vec<Rule>,
    /// The ids of the rules that the file switches off.
    pub(crate) off: Vec<String>,
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
        let stored: Vec<SerializableRuleConfig<Language>> =
            ast_grep_config::from_multiple(yaml).map_err(|error| fail(error.to_string()))?;
        let mut file = RuleFile::default();
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
    /// A rule.
    Rule { about: RuleInfo, languages: Vec<Language>, fix: Option<FixClass> },
}

impl RuleEntry {
    /// Parses the entries of a file. `name` is used in errors.
    pub(crate) fn read(name: &str, yaml: &str) -> Result<Vec<RuleEntry>, RuleError> {
        let fail = |message: String| RuleError { name: name.to_owned(), message };
        let stored: Vec<SerializableRuleConfig<Language>> =
            ast_grep_config::from_multiple(yaml).map_err(|error| fail(error.to_string()))?;
        stored.into_iter().map(|stored| RuleEntry::of(stored).map_err(fail)).collect()
    }

    fn of(stored: SerializableRuleConfig<Language>) -> Result<RuleEntry, String> {
        if stored.severity == Severity::Off {
            return Ok(RuleEntry::Off(stored.id));
        }
        let metadata = metadata(&stored)?;
        let about = info(&stored, &metadata)?;
        let languages = [stored.language].into_iter().chain(metadata.also).collect();
        let fix = stored.fix.is_some().then(|| metadata.fix.unwrap_or(FixClass::Gated));
        Ok(RuleEntry::Rule { about, languages, fix })
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
        let stored: Vec<SerializableRuleConfig<Language>> =
            ast_grep_config::from_multiple(yaml).ok()?;
        let rule = stored.into_iter().rfind(|rule| rule.id == id)?;
        let is_off = rule.severity == Severity::Off;
        Some(RuleDefinition { file: file.to_owned(), language: rule.language.to_string(), is_off })
    }
}

impl Rule {
    fn new(
        mut stored: SerializableRuleConfig<Language>,
        language: Language,
        metadata: &Metadata,
    ) -> Result<Rule, String> {
        if !language::has_grammar(language) {
            return Err(format!("assay has no grammar for {language}"));
        }
        stored.language = language;
        let about = info(&stored, metadata)?;
        let files = globs(stored.files.as_ref())?;
        let ignores = globs(stored.ignores.as_ref())?;
        let config = RuleConfig::try_from(stored, &GlobalRules::default())
            .map_err(|error| with_causes(&error))?;
        let fix = (!config.fixer.is_empty()).then(|| metadata.fix.unwrap_or(FixClass::Gated));
        Ok(Rule { about, language, fix, selection: metadata.r#in, files, ignores, config })
    }

    /// Returns true if the rule applies to a file.
    pub(crate) fn applies_to(&self, path: &str) -> bool {
        let placed = match self.selection {
            FileSelection::Anywhere => true,
            FileSelection::Code => !language::is_test(path),
            FileSelection::Tests => language::is_test(path),
        };
        placed
            && !language::is_fixture(path)
            && self.files.as_ref().is_none_or(|globs| globs.is_match(path))
            && !self.ignores.as_ref().is_some_and(|globs| globs.is_match(path))
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule")
            .field("id", &self.about.id)
            .field("language", &self.language)
            .finish()
    }
}

fn metadata(stored: &SerializableRuleConfig<Language>) -> Result<Metadata, String> {
    let Some(metadata) = &stored.metadata else { return Ok(Metadata::default()) };
    let value = serde_json::to_value(metadata).map_err(|error| error.to_string())?;
    serde_json::from_value(value).map_err(|error| format!("metadata: {error}"))
}

fn info(
    stored: &SerializableRuleConfig<Language>,
    metadata: &Metadata,
) -> Result<RuleInfo, String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.');
    if stored.id.is_empty() || !stored.id.chars().all(is_word) {
        return Err(format!("invalid id `{}`: expected an id such as `python/no-eval`", stored.id));
    }
    if stored.message.trim().is_empty() {
        return Err("missing `message`, the title of findings".to_owned());
    }
    // A rule without a grade of assay gets one from the severity of ast-grep.
    let word = metadata.grade.as_deref().unwrap_or(match stored.severity {
        Severity::Error => "HIGH",
        Severity::Warning => "MEDIUM",
        Severity::Info => "LOW",
        Severity::Hint | Severity::Off => "SUGGESTION",
    });
    let grade = Grade::in_scheme(Scheme::Qa7, word).ok_or_else(|| {
        format!(
            "unknown grade `{word}`: expected CRITICAL, HIGH, MAJOR, MEDIUM, LOW, MINOR or \
             SUGGESTION"
        )
    })?;
    Ok(RuleInfo {
        id: stored.id.clone(),
        title: stored.message.trim().to_owned(),
        message: stored.note.as_deref().unwrap_or(&stored.message).trim().to_owned(),
        advice: metadata.advice.clone(),
        grade,
        category: metadata.category.clone().unwrap_or_else(|| "general".to_owned()),
    })
}

/// Compiles the globs of a rule, which are texts or texts with options in ast-grep.
fn globs<T: serde::Serialize>(globs: Option<&Vec<T>>) -> Result<Option<GlobSet>, String> {
    let Some(globs) = globs else { return Ok(None) };
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let value = serde_json::to_value(glob).map_err(|error| error.to_string())?;
        let word = value.as_str().or_else(|| value["glob"].as_str()).unwrap_or_default();
        set.add(Glob::new(word).map_err(|error| error.to_string())?);
    }
    set.build().map(Some).map_err(|error| error.to_string())
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
