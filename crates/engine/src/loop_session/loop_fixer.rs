//! The fixers of a validation loop: safe fixes first, then a model or a command.

use std::collections::BTreeSet;
use std::path::Path;

use assay_change::{Scope, Selection};
use assay_findings::path::RepoPath;
use assay_review::fixer::{self, FixerError};
use assay_review::persona::Tier;
use assay_rules::redact_text;
use assay_sandbox::{Command, ScratchFolder, Stream};
use assay_validate::ending::MissingFixer;
use assay_validate::environment::{FixRequest, IssueFixer};
use assay_validate::run::StepError;
use assay_validate::spec::Spec;

use super::{LoopDeadline, round_error};
use crate::config::fixer::{ChosenFixer, FixerCommand};
use crate::config::models::ModelsConfig;
use crate::config::qa::LoopFixerChoice;
use crate::environment::Environment;
use crate::models::{self, ModelSession};
use crate::safe_fixes::{describe_edits, safe_fixes};

/// The role in the prompt of a model that fixes.
const BRIEF: &str = "You fix an implementation until its tests pass, the criteria of its spec are \
                     met, and the findings of its review are gone.";

/// The maximum number of concurrent processes of a fixer.
const MAX_PROCESSES: u32 = 1_024;

/// The maximum size of the output of a fixer, in bytes.
const MAX_OUTPUT: usize = 64 << 20;

/// The maximum length of the retained output of a fixer, in characters.
const MAX_REPORTED_CHARS: usize = 4_000;

/// The fixers of a loop.
pub(super) struct LoopFixer<'a> {
    pub(super) environment: &'a Environment,
    pub(super) spec: &'a Spec,
    pub(super) chosen: LoopFixerChoice,
    pub(super) models: &'a ModelsConfig,
    /// The model session; `None` if no model is asked.
    pub(super) model_session: Option<ModelSession>,
    /// The repository's prompt for the fixer.
    pub(super) prompt: Option<&'a str>,
    pub(super) deadline: LoopDeadline,
    /// True if only the branch under review configures a fixer, and that configuration does not
    /// count.
    pub(super) is_only_on_branch: bool,
}

impl IssueFixer for LoopFixer<'_> {
    fn fix(&self, errand: &FixRequest<'_>) -> Result<String, StepError> {
        self.deadline.check()?;
        let mut done = match errand.base {
            Some(base) => safe_fixes(self.environment, errand.folder, base).map_err(round_error)?,
            None => Vec::new(),
        };
        match &self.chosen {
            LoopFixerChoice::SafeOnly => {}
            LoopFixerChoice::Default | LoopFixerChoice::Chosen(ChosenFixer::Model) => {
                if let Some(model_session) = &self.model_session {
                    done.extend(self.fix_by_model(errand, model_session)?);
                }
            }
            LoopFixerChoice::Chosen(ChosenFixer::Command(command)) => {
                done.push(self.fix_by_command(errand, command)?);
            }
        }
        Ok(match done.is_empty() {
            true => "no safe fix applies to the issues".to_owned(),
            false => done.join("\n"),
        })
    }

    fn missing(&self) -> Option<MissingFixer> {
        let why = match (&self.chosen, &self.model_session) {
            (LoopFixerChoice::Chosen(ChosenFixer::Command(_)), _)
            | (LoopFixerChoice::Default | LoopFixerChoice::Chosen(ChosenFixer::Model), Some(_)) => {
                return None;
            }
            (LoopFixerChoice::Default, None) => MissingFixer::NotConfigured,
            (LoopFixerChoice::SafeOnly, _) => MissingFixer::SafeOnly,
            (LoopFixerChoice::Chosen(ChosenFixer::Model), None) => MissingFixer::NoModel,
        };
        Some(if self.is_only_on_branch { MissingFixer::OnlyOnBranch } else { why })
    }
}

impl LoopFixer<'_> {
    fn fix_by_model(
        &self,
        errand: &FixRequest<'_>,
        model_session: &ModelSession,
    ) -> Result<Vec<String>, StepError> {
        let fixer =
            models::open_fixer(self.models, Tier::Default, model_session).map_err(round_error)?;
        let brief = [Some(BRIEF), self.prompt].into_iter().flatten().collect::<Vec<_>>().join("\n");
        let files = self.files(errand);
        let errand_of_model =
            fixer::FixerRequest { brief: &brief, findings: errand.request, files: &files };
        match fixer.fix(errand.folder, &errand_of_model) {
            Ok(mended) => Ok(describe_edits(mended)),
            Err(FixerError::NothingToShow) => Ok(Vec::new()),
            Err(_) if model_session.is_exhausted() => {
                Err(StepError::Budget(model_session.spending_text()))
            }
            Err(error) => Err(StepError::Round(error.to_string())),
        }
    }

    /// Returns the files that a model may have to change: those that issues name, and those of the
    /// implementation.
    fn files(&self, errand: &FixRequest<'_>) -> Vec<RepoPath> {
        let mut names: BTreeSet<String> =
            errand.issues.iter().filter_map(|issue| issue.file.clone()).collect();
        let (scope, selection) = (Scope::on_top_of(errand.base), Selection::with_untracked());
        // If the change cannot be opened, the review reports the error.
        if let Ok(change) = assay_change::open(errand.folder, &scope, &selection) {
            names.extend(change.files.iter().filter_map(|file| file.new_path.clone()));
        }
        names.retain(|name| !self.spec.owns(name));
        names.iter().filter_map(|name| RepoPath::exact(name).ok()).collect()
    }

    /// Runs the command that fixes. The command reads the request from stdin. It can write to its
    /// copy of the tree and to temporary folders, and nowhere else.
    fn fix_by_command(
        &self,
        errand: &FixRequest<'_>,
        command: &FixerCommand,
    ) -> Result<String, StepError> {
        let FixerCommand { program, args, env, time } = command;
        let scratch =
            ScratchFolder::new("assay-fixer-").map_err(|error| round_error(error.into()))?;
        let input = [self.prompt, Some(errand.request)].into_iter().flatten();
        let input = input.collect::<Vec<_>>().join("\n");
        let command = Command::new(program)
            .args(args)
            .folder(errand.folder)
            .time(self.deadline.within(*time))
            .output(MAX_OUTPUT)
            .processes(MAX_PROCESSES)
            .writable([errand.folder, scratch.path(), Path::new("/dev")])
            .env("TMPDIR", scratch.path())
            .env("ASSAY_QA_SPEC", &self.spec.name)
            .input(input.into_bytes());
        // The command gets no keys except the variables that the configuration names.
        let given = env.iter().filter_map(|name| Some((name, self.environment.variable(name)?)));
        let command = given.fold(command, |command, (name, value)| command.env(name, value));
        // Background processes of the command are ended with it: the loop does not wait for a
        // server that the command started.
        let (mut printed, mut complained) = (Vec::new(), Vec::new());
        let status = command.watch(|stream, piece| match stream {
            Stream::Stdout => printed.extend_from_slice(piece),
            Stream::Stderr => complained.extend_from_slice(piece),
        });
        let status = status.map_err(|error| {
            StepError::Round(format!("the fixer did not finish: {:#}", anyhow::Error::from(error)))
        })?;
        let report = |bytes: &[u8]| last_chars(&redact_text(&String::from_utf8_lossy(bytes)));
        if !status.success() {
            let why = report(&complained);
            return Err(StepError::Round(format!("the fixer ended with {status}: {why}")));
        }
        Ok(report(&printed))
    }
}

/// Returns the last `MAX_REPORTED_CHARS` characters of a text.
fn last_chars(text: &str) -> String {
    let text = text.trim();
    let skipped = text.chars().count().saturating_sub(MAX_REPORTED_CHARS);
    text.chars().skip(skipped).collect()
}
