//! Derives the checks that a tree requires, and runs them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

use assay_change::{Change, Scope, Selection, StoredFiles};
use assay_checks::check::{CheckKind, CheckOutcome, CheckState};
use assay_checks::check_plan::{PlannedCheck, Risk, plan_checks};
use assay_checks::coverage::LineRanges;
use assay_checks::discovery::{Discovery, ProjectFolder, discover, is_lock_file};
use assay_checks::output_folders::is_output_folder;
use assay_checks::results::TestOutcome;
use assay_checks::run::Runner;
use assay_checks::verification::Verification;
use assay_findings::write::escape::chain;
use assay_rules::redact_text;
use assay_store::durable_fs::{self, Durability};

use super::LocalEnvironment;
use super::git_guard::GitGuard;
use crate::artifacts;
use crate::e2e::{self, E2eRunner};
use crate::file_names;
use crate::loop_files;
use crate::loop_state::OpenRound;
use crate::plan::{self, ImplementationPlan};
use crate::run::{LoopEnvironment, StepError};
use crate::spec::{self, Criterion, Spec};

/// Maximum number of files that an error names.
const MAX_NAMED: usize = 5;

impl LocalEnvironment<'_> {
    /// Runs the required checks that this round has not run yet, and passes each outcome to
    /// `record`.
    pub(super) fn run_checks(
        &self,
        round: &OpenRound,
        record: &mut dyn FnMut(CheckOutcome) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let (all, is_untested) = self.required();
        self.observer.on_round(round.number);
        let by_hand = all.iter().any(|it| matches!(it, PlannedCheck::ByHand { .. }));
        if is_untested || by_hand {
            self.write_manual_plan(&all)?;
        }
        let change = self.change()?;
        let before = self.stamps(Some(&change));
        let runner = self.runner(&change)?;
        let stored = StoredFiles::open(&self.root);
        let stored = stored.map_err(|error| StepError::Round(chain(&error)))?;
        let guard = GitGuard::of(&self.root, &stored)?;
        for required in &all {
            let Some(name) = name_of(required) else { continue };
            if round.checks.iter().any(|done| done.name == name) {
                continue;
            }
            if !matches!(required, PlannedCheck::Unavailable { .. }) {
                self.observer.on_check_started(&name);
            }
            let outcome = match required {
                PlannedCheck::ByHand { .. } => continue,
                PlannedCheck::Unavailable { kind, why } => not_run(*kind, why),
                PlannedCheck::TryOut { flow } => self.e2e_runner(round.number).run(flow),
                PlannedCheck::Run(check) => guard.hold(runner.run(check))?,
            };
            let outcome = without_secrets(outcome);
            self.observer.on_check_finished(&outcome);
            record(outcome)?;
        }
        match self.tree()? == round.tree {
            true => Ok(()),
            false => Err(self.left_by_checks(&before)),
        }
    }

    /// Fails if the spec or its plan changed since the loop started: the round did not judge the
    /// tree by the new text.
    pub(super) fn check_terms_unchanged(&self) -> Result<(), StepError> {
        let read = || -> Option<(Spec, Option<Risk>)> {
            let plan = spec::file(&self.root, &self.spec.folder, plan::NAME).ok()?;
            let plan = ImplementationPlan::read(&plan).ok()?;
            let spec = Spec::read(&self.root, &self.spec.folder, &plan).ok()?;
            Some((spec, plan.risk_level().ok()?))
        };
        match read() {
            Some((spec, risk)) if spec == self.spec && risk == self.said_risk => Ok(()),
            Some(_) | None => Err(StepError::Fatal(
                "the spec or its plan changed while the loop ran; run `assay qa` again".to_owned(),
            )),
        }
    }

    /// Returns true if a person has to sign off the tree.
    pub(super) fn needs_sign_off(&self) -> bool {
        self.required().0.iter().any(|it| matches!(it, PlannedCheck::ByHand { .. }))
    }

    /// Returns true if the project has no tests at all, and the spec names none.
    pub(super) fn has_no_tests(&self) -> bool {
        self.required().1
    }

    /// Returns the requirements on the current tree, and true if the project has no tests at all.
    pub(super) fn required(&self) -> (Vec<PlannedCheck>, bool) {
        let mut found = discover(&ProjectFolder::new(&self.root));
        found.frameworks.extend(self.frameworks.iter().cloned());
        let is_untested = self.is_untested(&found);
        let risk = self.risk.unwrap_or(Risk::Medium);
        let verification =
            Verification { minimum_coverage: self.minimum, ..self.spec.verification.clone() };
        let mut all = plan_checks(risk, &verification, &found);
        all.retain(|it| match it {
            PlannedCheck::Unavailable { kind, .. } => {
                // Inspection replaces tests that do not exist, unless the plan asks for them. If no
                // risk is given, unit tests without integration tests are enough.
                let may_lack =
                    is_untested || (self.risk.is_none() && *kind == CheckKind::Integration);
                !may_lack || self.is_wanted(*kind)
            }
            PlannedCheck::Run(_) | PlannedCheck::ByHand { .. } | PlannedCheck::TryOut { .. } => {
                true
            }
        });
        (all, is_untested)
    }

    fn is_untested(&self, found: &Discovery) -> bool {
        let said = &self.spec.verification;
        let groups = [&said.unit, &said.integration, &said.e2e];
        found.is_without_tests() && groups.iter().all(|group| group.commands.is_empty())
    }

    /// Returns true if the plan requires a kind of test, even if the project has none.
    fn is_wanted(&self, kind: CheckKind) -> bool {
        let said = &self.spec.verification;
        match kind {
            CheckKind::Unit => said.unit.is_required,
            CheckKind::Integration => said.integration.is_required,
            CheckKind::E2e => said.e2e.is_required || self.risk == Some(Risk::Critical),
            CheckKind::Coverage => self.minimum.is_some(),
            CheckKind::FullSuite => said.unit.is_required || said.integration.is_required,
            CheckKind::Smoke | CheckKind::Manual | CheckKind::Criterion => false,
        }
    }

    fn e2e_runner(&self, round: u32) -> E2eRunner<'_> {
        E2eRunner {
            app: self.app.as_ref(),
            root: &self.root,
            spec: &self.spec.folder,
            evidence: e2e::evidence_folder(&self.state, round),
        }
    }

    /// Writes the manual test plan and retains the ticks of the existing one.
    fn write_manual_plan(&self, all: &[PlannedCheck]) -> Result<(), StepError> {
        let fatal = |error: &dyn std::error::Error| StepError::Fatal(chain(error));
        let path = spec::file(&self.root, &self.spec.folder, file_names::MANUAL_PLAN);
        let path = path.map_err(|error| fatal(&error))?;
        let before = durable_fs::read(&path).map_err(|error| fatal(&error))?;
        let before = before.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let steps: BTreeSet<String> = all
            .iter()
            .filter_map(|it| match it {
                PlannedCheck::ByHand { steps, .. } => Some(steps),
                PlannedCheck::Run(_)
                | PlannedCheck::TryOut { .. }
                | PlannedCheck::Unavailable { .. } => None,
            })
            .flatten()
            .map(|steps| steps.join(" → "))
            .collect();
        let steps = steps.into_iter().map(|text| Criterion { text, line: None });
        let cases: Vec<Criterion> = self.spec.criteria.iter().cloned().chain(steps).collect();
        let text = artifacts::render_manual_plan(&cases, before.as_deref());
        if before.as_deref() == Some(&text) {
            return Ok(());
        }
        durable_fs::write(&path, text.as_bytes(), Durability::Fsync).map_err(|error| fatal(&error))
    }

    pub(super) fn change(&self) -> Result<Change, StepError> {
        let scope = Scope::on_top_of(self.base.as_deref());
        let selection = Selection::with_untracked();
        assay_change::open(&self.root, &scope, &selection)
            .map_err(|error| StepError::Fatal(error.to_string()))
    }

    /// Returns a runner that knows the lines that the implementation added.
    pub(super) fn runner(&self, change: &Change) -> Result<Runner, StepError> {
        let files = change.tree().paths().map_err(|error| StepError::Fatal(error.to_string()))?;
        let files = files.into_iter().map(|path| path.to_string());
        let changed = change.files.iter().filter_map(|file| {
            Some((file.new_path.clone()?, file.added().collect::<LineRanges>()))
        });
        let changed: BTreeMap<String, LineRanges> = changed.collect();
        Ok(self.runner.clone().change(files, changed))
    }

    /// Returns the current stamps of the files of the change that an approval covers.
    fn stamps(&self, change: Option<&Change>) -> BTreeMap<String, Option<Stamp>> {
        let paths = change.into_iter().flat_map(|change| &change.files);
        let paths = paths
            .filter_map(|file| file.new_path.clone())
            .filter(|path| !loop_files::is_loop_output(path));
        paths.map(|path| (path.clone(), stamp(&self.root.join(path)))).collect()
    }

    /// Returns the error of a round whose tree changed while the checks ran, with the names of the
    /// changed files. The outcomes of the checks do not apply to the new tree.
    fn left_by_checks(&self, before: &BTreeMap<String, Option<Stamp>>) -> StepError {
        let after = self.stamps(self.change().ok().as_ref());
        let changed = after.iter().filter(|(path, stamp)| before.get(*path) != Some(stamp));
        let changed: Vec<&String> = changed.map(|(path, _)| path).collect();
        let named: Vec<String> =
            changed.iter().map(|path| format!("`{path}`")).take(MAX_NAMED).collect();
        let more = match changed.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = match named.is_empty() {
            true => String::new(),
            false => format!(": {}{more}", named.join(", ")),
        };
        let why = format!("the tree changed while the checks ran{named}");
        // A file that a build generates anew is part of the tree from now on.
        let is_generated = |path: &&String| !before.contains_key(*path) && is_lock_file(path);
        if !changed.is_empty() && changed.iter().all(is_generated) {
            return StepError::Generated(why);
        }
        let tracked = StoredFiles::open(&self.root).and_then(|stored| stored.tracked_files());
        let lines = tracked.map_or_else(|_| Vec::new(), |tracked| ignore_lines(&changed, &tracked));
        if lines.is_empty() {
            let advice = "files that tests write must be committed, or ignored by git";
            return StepError::Round(format!("{why}; {advice}"));
        }
        let lines: Vec<String> = lines.iter().map(|line| format!("`{line}`")).collect();
        StepError::Output(format!(
            "{why}; git does not ignore files that the checks write: add {} to `.gitignore`, \
             commit it, and resume the loop",
            lines.join(", ")
        ))
    }
}

/// Returns `.gitignore` lines that cover the untracked files among `paths`, each once: the
/// outermost folder without a tracked file, or else the file.
fn ignore_lines(paths: &[&String], tracked: &BTreeSet<String>) -> Vec<String> {
    let holds_tracked = |folder: &str| {
        let start = format!("{folder}/");
        tracked.range(start.clone()..).next().is_some_and(|path| path.starts_with(&start))
    };
    let untracked = paths.iter().filter(|path| !tracked.contains(**path) && !is_lock_file(path));
    let lines: BTreeSet<String> = untracked
        .map(|path| {
            let ends = path.match_indices('/').map(|(at, _)| &path[..at]);
            let folder = ends.into_iter().find(|folder| !holds_tracked(folder));
            match folder {
                Some(folder) => {
                    let name = folder.rsplit('/').next().unwrap_or(folder);
                    if is_output_folder(name) { format!("{name}/") } else { format!("/{folder}/") }
                }
                None => format!("/{path}"),
            }
        })
        .collect();
    lines.into_iter().collect()
}

/// Returns the name of the check outcome of a requirement; `None` for manual steps.
fn name_of(required: &PlannedCheck) -> Option<String> {
    match required {
        PlannedCheck::ByHand { .. } => None,
        PlannedCheck::Unavailable { kind, .. } => Some(kind.name().to_owned()),
        PlannedCheck::TryOut { flow } => Some(e2e::check_name(flow)),
        PlannedCheck::Run(check) => Some(check.name.clone()),
    }
}

/// The modification time and the size in bytes of a file.
type Stamp = (Option<SystemTime>, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let found = path.symlink_metadata().ok()?;
    Some((found.modified().ok(), found.len()))
}

/// Redacts credentials in a check outcome: the journal and the documents are in the repository.
pub(super) fn without_secrets(mut outcome: CheckOutcome) -> CheckOutcome {
    outcome.tail = redact_text(&outcome.tail);
    for test in outcome.tests.iter_mut().flat_map(|tests| &mut tests.results) {
        if let TestOutcome::Failed { message } = &mut test.outcome {
            *message = redact_text(message);
        }
    }
    if let CheckState::Failed { why } | CheckState::NotRun { why } = &mut outcome.state {
        *why = redact_text(why);
    }
    outcome
}

/// Returns the outcome of a check that has no command to run.
fn not_run(kind: CheckKind, why: &str) -> CheckOutcome {
    CheckOutcome {
        name: kind.name().to_owned(),
        kind,
        also: Vec::new(),
        command: String::new(),
        folder: String::new(),
        state: CheckState::NotRun { why: why.to_owned() },
        exit_code: None,
        duration_ms: 0,
        output_digest: String::new(),
        output_bytes: 0,
        tail: String::new(),
        tests: None,
        coverage: None,
        notes: Vec::new(),
    }
}
