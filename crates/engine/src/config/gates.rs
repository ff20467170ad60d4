//! The `gates` section of the configuration: `GateConfig`.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use assay_gates::blocking_policy::{BlockingPolicy, ChecklistPolicy, ReaderPolicy};
use assay_gates::command::{AnswerForm, CommandVerifier};
use assay_gates::item::Severity;
use assay_gates::phase::Phase;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fixer::{ChosenFixer, FixerConfig, gate_fixer};
use super::value_schemas;

/// The default time limit of a command, in seconds.
const DEFAULT_SECONDS: u64 = 600;

/// The `gates` section as written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GateConfig {
    /// The values of `may_until` and `should_until` if they are not set. With `strict`, every
    /// failed item blocks in every iteration.
    preset: Preset,
    /// The last iteration in which a failed MAY blocks.
    ///
    /// Default: 2; with the preset `strict`, every iteration.
    may_until: Option<u32>,
    /// The last iteration in which a failed SHOULD blocks. A MUST always blocks.
    ///
    /// Default: 4; with the preset `strict`, every iteration.
    should_until: Option<u32>,
    /// The iteration after whose failure a person decides.
    ceiling: NonZeroU32,
    /// The number of failures that an item may have. An item that fails more often goes to a person
    /// (MUST) or is accepted (SHOULD, MAY).
    fails_per_item: NonZeroU32,
    /// True if a list without the built-in checklist can pass.
    allow_only_items: bool,
    /// True if a change can pass that no model and no person judged.
    allow_not_judged: bool,
    /// True if models verify items that code cannot verify, as with `--models`.
    pub models: bool,
    /// The fixer of `assay gate run`: `model`, or a command.
    #[schemars(schema_with = "gate_fixer")]
    fixer: Option<FixerConfig>,
    /// Commands that verify items.
    verifiers: Vec<VerifierConfig>,
}

impl Default for GateConfig {
    fn default() -> GateConfig {
        let BlockingPolicy { ceiling, fails_per_item, .. } = BlockingPolicy::DEFAULT;
        let not_zero = |limit| NonZeroU32::new(limit).expect("a default limit is not zero");
        GateConfig {
            preset: Preset::default(),
            may_until: None,
            should_until: None,
            ceiling: not_zero(ceiling),
            fails_per_item: not_zero(fails_per_item),
            allow_only_items: false,
            allow_not_judged: false,
            models: false,
            fixer: None,
            verifiers: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Preset {
    /// Severities block up to an iteration.
    #[default]
    Seed,
    /// Every failed item blocks in every iteration.
    Strict,
}

/// A command that verifies one item.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VerifierConfig {
    /// The name of the verifier, unique.
    name: String,
    /// The phases whose gates get the item.
    #[schemars(length(min = 1))]
    phases: Vec<Phase>,
    /// The program and its arguments.
    #[schemars(schema_with = "value_schemas::command")]
    run: Vec<String>,
    /// The sentence that the command verifies.
    #[schemars(length(min = 1))]
    check: String,
    /// The severity of the item if it fails.
    #[serde(default = "default_severity")]
    severity: Severity,
    /// The part of the result that decides: `exit` is the exit code, `text` is the printed PASS or
    /// FAIL.
    #[serde(default)]
    answer: AnswerConfig,
    /// The timeout of one run, in seconds.
    #[serde(default = "default_seconds")]
    seconds: NonZeroU64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum AnswerConfig {
    /// The exit code decides: 0 is a pass.
    #[default]
    Exit,
    /// The command prints PASS or FAIL.
    Text,
}

fn default_severity() -> Severity {
    Severity::Must
}

fn default_seconds() -> NonZeroU64 {
    NonZeroU64::new(DEFAULT_SECONDS).expect("the default timeout is not zero")
}

impl GateConfig {
    /// Fails if a value of the section cannot be used.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.fixer()?;
        self.verifiers(Path::new("."))?;
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
            ceiling: self.ceiling.get(),
            fails_per_item: self.fails_per_item.get(),
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
                    "`gates.verifiers` in the configuration: `{name}` has an empty `run`, `phases` or `check`"
                );
            }
            if verifiers.iter().any(|verifier| verifier.name == *name) {
                bail!("`gates.verifiers` in the configuration: duplicate verifier `{name}`");
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
                time: Duration::from_secs(stored.seconds.get()),
                folder: folder.to_owned(),
            });
        }
        Ok(verifiers)
    }
}
