//! The local environment of a loop: [`LocalEnvironment`], a spec and the work tree of its
//! implementation.
//!
//! The submodules run checks, find issues of the tree and its surroundings, and run kept tests.
//! Reviewers, fixers and observers are traits that the caller implements.

mod base_issues;
mod converted_files;
mod git_guard;
mod kept_files;
mod kept_test_runs;
mod lost_tests;
mod nested_repositories;
mod required_checks;
mod roles;
mod surroundings;

use std::path::PathBuf;

use assay_change::{GitError, Patch, ScratchWorktree, StoredFiles};
use assay_checks::check::CheckOutcome;
use assay_checks::check_plan::Risk;
use assay_checks::discovery::Framework;
use assay_checks::run::Runner;
use assay_findings::write::escape::chain;
use assay_rules::redact_text;
use assay_store::durable_fs;
use tempfile::TempDir;

use self::git_guard::GitGuard;
pub use self::kept_test_runs::recover_work_tree;
pub use self::roles::{FixRequest, IssueFixer, LoopObserver, ReviewReport, SpecReviewer};
use crate::artifacts;
use crate::e2e::App;
use crate::ending::{Ending, MissingFixer};
use crate::event::{ArtifactDigests, ReviewResult};
use crate::export::Exporter;
use crate::issue::Issue;
use crate::issues;
use crate::kept_tests::{self as kept_tests, KeptTestRun};
use crate::loop_files;
use crate::loop_state::{LoopState, OpenRound};
use crate::requirements::Requirements;
use crate::run::{ApplyResult, FixMade, LoopEnvironment, StepError};
use crate::spec::Spec;
use crate::surroundings::Surroundings;
use crate::tree_hash::TreeHash;

/// The prefix of the names of scratch work tree folders.
const SCRATCH_PREFIX: &str = "bench-";

/// The environment of a loop: a spec, the work tree of its implementation, and the reviewer, fixer
/// and observer.
pub struct LocalEnvironment<'a> {
    /// The root of the repository.
    pub root: PathBuf,
    /// The spec that the loop validates.
    pub spec: Spec,
    /// The risk level of the implementation; if `None`, only the checks that the project has are
    /// required.
    pub risk: Option<Risk>,
    /// The risk level that the plan itself names; `None` if it names none.
    pub said_risk: Option<Risk>,
    /// The minimum coverage, in percent: the highest value that any round required; `None` if no
    /// coverage is required.
    pub minimum: Option<f64>,
    /// An issue for each requirement that spec or plan lowered, for a person to decide.
    pub lowered: Vec<Issue>,
    /// The commit that the implementation is based on; `None` if there is none.
    pub base: Option<String>,
    /// Test frameworks that discovery does not know.
    pub frameworks: Vec<Framework>,
    /// Paths, from the root, of files in the tree that this process writes its output to.
    pub outputs: Vec<String>,
    /// The runner of the checks.
    pub runner: Runner,
    /// The running app for end-to-end tests; `None` if no app is running.
    pub app: Option<App>,
    /// The folder of the loop's private state.
    pub state: PathBuf,
    /// Returns the current time, in UTC.
    pub clock: &'a dyn Fn() -> String,
    /// The reviewer of the implementation.
    pub reviewer: &'a dyn SpecReviewer,
    /// The fixer of issues.
    pub fixer: &'a dyn IssueFixer,
    /// The observer of the loop's progress.
    pub observer: &'a dyn LoopObserver,
}

impl LocalEnvironment<'_> {
    /// Creates a scratch work tree and removes those of killed runs. Each one has a new folder:
    /// processes of a killed run may still write to the old one.
    fn create_scratch(&self) -> Result<(TempDir, ScratchWorktree), StepError> {
        let broken = |error: &dyn std::error::Error| StepError::Round(chain(error));
        durable_fs::make_folder(&self.state).map_err(|error| broken(&error))?;
        for name in durable_fs::list_dir(&self.state).map_err(|error| broken(&error))? {
            if name.starts_with(SCRATCH_PREFIX) {
                ScratchWorktree::remove(&self.root, &self.state.join(name))
                    .map_err(|error| broken(&error))?;
            }
        }
        let folder = tempfile::Builder::new().prefix(SCRATCH_PREFIX).tempdir_in(&self.state);
        let folder = folder.map_err(|error| broken(&error))?;
        let bench =
            ScratchWorktree::create(&self.root, folder.path()).map_err(|error| broken(&error))?;
        Ok((folder, bench))
    }

    fn exporter<'b>(&'b self, loop_state: &'b LoopState) -> Exporter<'b> {
        Exporter { spec: &self.spec, loop_state }
    }
}

/// Returns true if a file configures git: such files decide which files git, and so the loop, sees.
fn configures_git(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".gitignore", ".gitattributes", ".gitmodules"].contains(&name)
}

impl LoopEnvironment for LocalEnvironment<'_> {
    fn now(&self) -> String {
        (self.clock)()
    }

    fn base(&self) -> Option<String> {
        self.base.clone()
    }

    fn requirements(&self) -> Requirements {
        Requirements::of(&self.spec, self.said_risk)
    }

    fn tree(&self) -> Result<TreeHash, StepError> {
        loop_files::tree_hash_without(&self.root, &self.outputs)
            .map_err(|error| StepError::Fatal(chain(&error)))
    }

    fn check(
        &self,
        round: &OpenRound,
        record: &mut dyn FnMut(CheckOutcome) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        self.check_terms_unchanged()?;
        self.run_checks(round, record)
    }

    fn store_tests(&self) -> Result<Option<String>, StepError> {
        self.keep_first_tests()
    }

    fn surroundings(&self) -> Result<Surroundings, StepError> {
        self.scan_surroundings()
    }

    fn run_kept_tests(&self, loop_state: &LoopState) -> Result<Vec<KeptTestRun>, StepError> {
        self.run_all_kept_tests(loop_state)
    }

    fn review(&self, loop_state: &LoopState) -> Result<ReviewResult, StepError> {
        self.observer.on_review_started();
        let checks =
            loop_state.open.as_ref().map(|open| open.checks.as_slice()).unwrap_or_default();
        let kept = loop_state.open.as_ref().map(|open| open.kept.as_slice()).unwrap_or_default();
        let mut issues = issues::from_checks(checks, loop_state.comparable_rounds(), self.minimum);
        issues.retain(|issue| !kept_tests::explains(kept, issue));
        issues.extend(kept_tests::weakened_test_issues(kept));
        issues.extend(self.lowered.iter().cloned());
        issues.extend(self.surroundings_issues(loop_state)?);
        if let Some(open) = &loop_state.open {
            issues.extend(loop_state.refused_fix(&open.tree));
            issues.extend(issues::from_flaky_checks(&open.tree, &open.checks, &loop_state.history));
        }
        let reviewed = self.reviewer.review(loop_state.base.as_deref(), &self.spec, checks)?;
        issues.extend(loop_state.unhandled_feedback());
        issues.extend(reviewed.issues);
        issues.extend(issues::from_criteria(&reviewed.criteria, self.reviewer.has_judge()));
        issues.extend(issues::from_unread(&self.spec.not_understood));
        let review = ReviewResult {
            issues,
            tests_passed: issues::tests_passed(checks),
            remarks: reviewed.remarks,
            criteria: reviewed.criteria,
            no_test_project: self.has_no_tests(),
            needs_sign_off: self.needs_sign_off(),
        };
        self.check_terms_unchanged()?;
        let tree = loop_state.open.as_ref().map(|open| &open.tree);
        let decided = tree.map(|tree| loop_state.with_decisions(&review, tree));
        self.observer.on_review_finished(decided.as_ref().unwrap_or(&review));
        Ok(review)
    }

    fn missing_fixer(&self) -> Option<MissingFixer> {
        self.fixer.missing()
    }

    fn fix(&self, issues: &[Issue], loop_state: &LoopState) -> Result<FixMade, StepError> {
        self.observer.on_fix_started(issues.len());
        let broken = |error: GitError| StepError::Round(chain(&error));
        // The scratch work tree is dropped before its folder, or git would retain a record of it.
        let (_folder, bench) = self.create_scratch()?;
        let remarks = loop_state.remarks();
        let request = artifacts::render_fix_request(
            &loop_state.issues(),
            &remarks,
            loop_state.round,
            &self.spec,
        );
        let stored = StoredFiles::open(&self.root).map_err(broken)?;
        let guard = GitGuard::of(&self.root, &stored)?;
        let summary = self.fixer.fix(&FixRequest {
            folder: bench.path(),
            base: loop_state.base.as_deref(),
            request: &request,
            issues,
        });
        let changed = guard.put_back()?;
        if !changed.is_empty() {
            let changed = changed.join(", ");
            return Err(StepError::Round(format!(
                "the fixer changed {changed}, which assay restored; its other changes were \
                 discarded"
            )));
        }
        let summary = redact_text(&summary?);
        self.observer.on_fix_finished(&summary);
        Ok(FixMade { patch: bench.patch().map_err(broken)?, summary })
    }

    fn apply_patch(&self, patch: &Patch, tree: &TreeHash) -> Result<ApplyResult, StepError> {
        let leave_out = |path: &str| self.spec.owns(path) || configures_git(path);
        let to_result = |done: Result<(), GitError>| match done {
            Ok(()) => Ok(ApplyResult::Done),
            Err(GitError::Moved { .. }) => Ok(ApplyResult::TreeMoved),
            Err(error) => Err(StepError::Round(chain(&error))),
        };
        // A run that had begun to apply the patch may have been killed.
        if to_result(patch.revert(&self.root, &leave_out))? == ApplyResult::TreeMoved
            || self.tree()? != *tree
        {
            return Ok(ApplyResult::TreeMoved);
        }
        let done = to_result(patch.apply(&self.root, &leave_out))?;
        let files = patch.files(&self.root).map_err(|error| StepError::Fatal(chain(&error)))?;
        let (left_out, files): (Vec<String>, Vec<String>) =
            files.into_iter().partition(|path| leave_out(path));
        self.observer.on_fix_applied(&files, &left_out);
        Ok(done)
    }

    fn on_error(&self, why: &str) {
        self.observer.on_error(why);
    }

    fn artifact_digests(&self, loop_state: &LoopState, ending: Option<&Ending>) -> ArtifactDigests {
        self.exporter(loop_state).artifact_digests(ending)
    }

    fn export(&self, loop_state: &LoopState, ending: Option<&Ending>) -> Result<(), StepError> {
        self.exporter(loop_state).write(&self.root, ending)?;
        self.observer.on_state(loop_state, ending);
        Ok(())
    }

    fn on_resume(&self, loop_state: &LoopState) {
        self.observer.on_state(loop_state, None);
    }
}
