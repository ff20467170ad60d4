//! The `gates` section of the configuration: `GateConfig`.

use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use assay_gates::blocking_policy::{BlockingPolicy, ChecklistPolicy, ReaderPolicy};
use assay_gates::command::{AnswerForm, CommandVerifier};
use assay_gates::item::Severity;
use assay_gates::phase::Phase;
use serde::Deserialize;

use super::PATH;
use super::fixer::{ChosenFixer, FixerConfig};

/// The default time limit of a command, in seconds.
const DEFAULT_SECONDS: u64 = 600;

/// The `gates` section as written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GateConfig {
    preset: Preset,
    may_until: Option<u32>,
    should_until: Option<u32>,
    ceiling: Option<u32>,
    fails_per_item: Option<u32>,
    /// True if a list without the built-in checklist can pass.
    allow_only_items: bool,
    /// True if a change can pass that no reader judged.
    allow_not_judged: bool,
    /// True if models are asked even if the user does not request one.
    pub models: bool,
    fixer: Option<FixerConfig>,
    verifiers: Vec<VerifierConfig>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Preset {
    #[default]
    Seed,
    Strict,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VerifierConfig {
    name: String,
    phases: Vec<Phase>,
    run: Vec<String>,
    check: String,
    #[serde(default = "default_severity")]
    severity: Severity,
    #[serde(default)]
    answer: AnswerConfig,
    seconds: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AnswerConfig {
    #[default]
    Exit,
    Text,
}

fn default_severity() -> Severity {
    Severity::Must
}

impl GateConfig {
    /// Fails if a value of the section cannot be used.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.fixer()?;
        self.verifiers(Path::new("."))?;
        let BlockingPolicy { ceiling, fails_per_item, .. } = self.blocking_policy();
        if ceiling == 0 || fails_per_item == 0 {
            bail!("`gates.ceiling` and `gates.fails_per_item` in `{PATH}` must be at least 1");
        }
        Ok(())
    }

    /// Returns the blocking policy: the preset, with the keys that override it.
    pub(crate) fn blocking_policy(&self) -> BlockingPolicy {
        let preset = match self.preset {
            Preset::Seed => BlockingPolicy::DEFAULT,
            Preset::Strict => BlockingPolicy::STRICT,
        };
        BlockingPolicy {
            may_until: self.may_until.unwrap_or(preset.may_until),
            should_until: self.should_until.unwrap_or(preset.should_until),
            ceiling: self.ceiling.unwrap_or(preset.ceiling),
            fails_per_item: self.fails_per_item.unwrap_or(preset.fails_per_item),
            built_in: match self.allow_only_items {
                true => ChecklistPolicy::Optional,
                false => ChecklistPolicy::Required,
            },
            reader: match self.allow_not_judged {
                true => ReaderPolicy::Optional,
                false => ReaderPolicy::Required,
            },
        }
    }

    /// Returns the configured fixer; `None` if there is none.
    pub(crate) fn fixer(&self) -> anyhow::Result<Option<ChosenFixer>> {
        let fixer = self.fixer.as_ref();
        fixer.map(|fixer| fixer.validate("gates.fixer", DEFAULT_SECONDS)).transpose()
    }

    /// Returns the configured verifier commands, which run in `folder`.
    pub(crate) fn verifiers(&self, folder: &Path) -> anyhow::Result<Vec<CommandVerifier>> {
        let mut verifiers: Vec<CommandVerifier> = Vec::new();
        for stored in &self.verifiers {
            let name = &stored.name;
            if stored.run.is_empty() || stored.phases.is_empty() || stored.check.trim().is_empty() {
                bail!(
                    "`gates.verifiers` in `{PATH}`: `{name}` has an empty `run`, `phases` or `check`"
                );
            }
            if verifiers.iter().any(|verifier| verifier.name == *name) {
                bail!("`gates.verifiers` in `{PATH}`: duplicate verifier `{name}`");
            }
            verifiers.push(CommandVerifier {
                name: name.clone(),
                phases: stored.phases.clone(),
                check: stored.check.clone(),
                severity: stored.severity,
                command: stored.run.clone(),
                answer: match stored.answer {
                    AnswerConfig::Exit => AnswerForm::Exit,
                    AnswerConfig::Text => AnswerForm::Text,
                },
                time: Duration::from_secs(stored.seconds.unwrap_or(DEFAULT_SECONDS)),
                folder: folder.to_owned(),
            });
        }
        Ok(verifiers)
    }
}
