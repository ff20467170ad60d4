//! A rule: [`Rule`], parsed from YAML in the format of ast-grep with metadata of assay.

use std::fmt;

use assay_findings::grade::{Grade, Scheme};
use assay_findings::tier::EvidenceTier;
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
    /// The tier of a match without known data; `None` if the pattern is certain by itself.
    pub(crate) tier: Option<EvidenceTier>,
}

/// A structural rule, compiled for the syntax trees of one language.
pub(crate) struct Rule {
    pub(crate) about: RuleInfo,
    pub(crate) language: Language,
    pub(crate) fix: Option<FixClass>,
    pub(crate) unit: ReportUnit,
    pub(crate) scope: RuleScope,
    pub(crate) config: RuleConfig<Language>,
}

/// The files that a rule is limited to.
#[derive(Debug, Clone)]
pub(crate) struct RuleScope {
    selection: FileSelection,
    files: Option<GlobSet>,
    ignores: Option<GlobSet>,
}

/// The texts at the head of a rule.
pub(crate) struct RuleHead<'a> {
    pub(crate) id: &'a str,
    pub(crate) message: &'a str,
    pub(crate) note: Option<&'a str>,
    /// The grade that the severity of the rule stands for.
    pub(crate) severity_grade: &'static str,
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

/// The unit of code that gets one finding of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReportUnit {
    /// Each place that matches.
    #[default]
    Place,
    /// Each function: its places have one cause.
    Function,
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

/// The tier of a pattern: whether a match without known data is a defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PatternTier {
    /// A match is a defect.
    #[default]
    Certain,
    /// A match is a place to look, unless the data is known.
    Lead,
}

/// The metadata of assay, in addition to that of ast-grep.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Metadata {
    grade: Option<String>,
    category: Option<String>,
    advice: Option<String>,
    pub(crate) fix: Option<FixClass>,
    /// Further languages with equal syntax trees.
    pub(crate) also: Vec<Language>,
    r#in: FileSelection,
    once: ReportUnit,
    tier: PatternTier,
}

impl Rule {
    /// Compiles a rule for one language.
    pub(crate) fn new(
        mut stored: SerializableRuleConfig<Language>,
        language: Language,
        metadata: &Metadata,
    ) -> Result<Rule, String> {
        if !language::has_grammar(language) {
            return Err(format!("assay has no grammar for {language}"));
        }
        stored.language = language;
        let about = info(&stored, metadata)?;
        let scope = RuleScope::new(metadata, stored.files.as_ref(), stored.ignores.as_ref())?;
        let config = RuleConfig::try_from(stored, &GlobalRules::default())
            .map_err(|error| with_causes(&error))?;
        let fix = (!config.fixer.is_empty()).then(|| metadata.fix.unwrap_or(FixClass::Gated));
        Ok(Rule { about, language, fix, unit: metadata.once, scope, config })
    }
}

impl RuleScope {
    /// Creates the scope from the globs of a rule, which are texts or texts with options.
    pub(crate) fn new<T: serde::Serialize>(
        metadata: &Metadata,
        files: Option<&Vec<T>>,
        ignores: Option<&Vec<T>>,
    ) -> Result<RuleScope, String> {
        let (files, ignores) = (globs(files)?, globs(ignores)?);
        Ok(RuleScope { selection: metadata.r#in, files, ignores })
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

/// Returns the description of a structural rule.
pub(crate) fn info(
    stored: &SerializableRuleConfig<Language>,
    metadata: &Metadata,
) -> Result<RuleInfo, String> {
    // A rule without a grade of assay gets one from the severity of ast-grep.
    let severity_grade = match stored.severity {
        Severity::Error => "HIGH",
        Severity::Warning => "MEDIUM",
        Severity::Info => "LOW",
        Severity::Hint | Severity::Off => "SUGGESTION",
    };
    let head = RuleHead {
        id: &stored.id,
        message: &stored.message,
        note: stored.note.as_deref(),
        severity_grade,
    };
    RuleInfo::new(&head, metadata)
}

impl RuleInfo {
    /// Creates the description of a rule from its head and its metadata.
    pub(crate) fn new(head: &RuleHead<'_>, metadata: &Metadata) -> Result<RuleInfo, String> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.');
        if head.id.is_empty() || !head.id.chars().all(is_word) {
            return Err(format!(
                "invalid id `{}`: expected an id such as `python/no-eval`",
                head.id
            ));
        }
        if head.message.trim().is_empty() {
            return Err("missing `message`, the title of findings".to_owned());
        }
        let word = metadata.grade.as_deref().unwrap_or(head.severity_grade);
        let grade = Grade::in_scheme(Scheme::Qa7, word).ok_or_else(|| {
            format!(
                "unknown grade `{word}`: expected CRITICAL, HIGH, MAJOR, MEDIUM, LOW, MINOR or \
                 SUGGESTION"
            )
        })?;
        Ok(RuleInfo {
            id: head.id.to_owned(),
            title: head.message.trim().to_owned(),
            message: head.note.unwrap_or(head.message).trim().to_owned(),
            advice: metadata.advice.clone(),
            grade,
            category: metadata.category.clone().unwrap_or_else(|| "general".to_owned()),
            tier: (metadata.tier == PatternTier::Lead).then_some(EvidenceTier::Lead),
        })
    }
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
