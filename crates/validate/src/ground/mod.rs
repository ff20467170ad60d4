//! The local environment of a loop: [`Ground`], a spec and the work tree of its implementation.
//!
//! The submodules run checks, find issues of the tree and its surroundings, and run kept tests.
//! Reviewers, fixers and observers are traits that the caller implements.

mod base;
mod checking;
mod converted;
mod git_guard;
mod kept;
mod kept_files;
mod lost;
mod nested;
mod surroundings;
mod who;

use std::path::PathBuf;

use assay_change::{Bench, GitError, Patch, StoredFiles};
use assay_checks::check::CheckOutcome;
use assay_checks::discovery::Framework;
use assay_checks::required::Risk;
use assay_checks::run::Runner;
use assay_findings::write::escape::chain;
use assay_rules::redacted_text;
use assay_store::disk;
use tempfile::TempDir;

use self::git_guard::GitGuard;
pub use self::kept::recover_work_tree;
pub use self::who::{Errand, Fixes, Hears, Reviewed, Reviews};
use crate::bar::Bar;
use crate::ending::{Ending, MissingFixer};
use crate::event::{Left, Seen};
use crate::export::Told;
use crate::issue::Issue;
use crate::kept::{self as kept_tests, KeptRun};
use crate::own;
use crate::paper;
use crate::run::{Breakdown, FixMade, Put, Site};
use crate::seen;
use crate::spec::Spec;
use crate::standing::{OpenRound, Standing};
use crate::surroundings::Surroundings;
use crate::tree_hash::TreeHash;
use crate::tryout::App;

/// The prefix of the names of scratch work tree folders.
const BENCH: &str = "bench-";

/// The environment of a loop: a spec, the work tree of its implementation, and the reviewer, fixer
/// and observer.
pub struct Ground<'a> {
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
    pub reviewer: &'a dyn Reviews,
    /// The fixer of issues.
    pub fixer: &'a dyn Fixes,
    /// The observer of the loop's progress.
    pub listener: &'a dyn Hears,
}

impl Ground<'_> {
    /// Creates a scratch work tree and removes those of killed runs. Each one has a new folder:
    /// processes of a killed run may still write to the old one.
    fn lay_out(&self) -> Result<(TempDir, Bench), Breakdown> {
        let broken = |error: &dyn std::error::Error| Breakdown::Round(chain(error));
        disk::make_folder(&self.state).map_err(|error| broken(&error))?;
        for name in disk::names(&self.state).map_err(|error| broken(&error))? {
            if name.starts_with(BENCH) {
                Bench::clear(&self.root, &self.state.join(name)).map_err(|error| broken(&error))?;
            }
        }
        let folder = tempfile::Builder::new().prefix(BENCH).tempdir_in(&self.state);
        let folder = folder.map_err(|error| broken(&error))?;
        let bench = Bench::lay_out(&self.root, folder.path()).map_err(|error| broken(&error))?;
        Ok((folder, bench))
    }

    fn told<'b>(&'b self, standing: &'b Standing) -> Told<'b> {
        Told { spec: &self.spec, standing }
    }
}

/// Returns true if a file decides which files git, and so the loop, sees.
fn decides_what_counts(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".gitignore", ".gitattributes", ".gitmodules"].contains(&name)
}

impl Site for Ground<'_> {
    fn now(&self) -> String {
        (self.clock)()
    }

    fn base(&self) -> Option<String> {
        self.base.clone()
    }

    fn bar(&self) -> Bar {
        Bar::of(&self.spec, self.said_risk)
    }

    fn tree(&self) -> Result<TreeHash, Breakdown> {
        own::tree_hash_without(&self.root, &self.outputs)
            .map_err(|error| Breakdown::Fatal(chain(&error)))
    }

    fn check(
        &self,
        round: &OpenRound,
        tell: &mut dyn FnMut(CheckOutcome) -> Result<(), Breakdown>,
    ) -> Result<(), Breakdown> {
        self.hold_terms()?;
        self.run_checks(round, tell)
    }

    fn keep_tests(&self) -> Result<Option<String>, Breakdown> {
        self.keep_first_tests()
    }

    fn surroundings(&self) -> Result<Surroundings, Breakdown> {
        self.look_around()
    }

    fn check_kept(&self, standing: &Standing) -> Result<Vec<KeptRun>, Breakdown> {
        self.run_kept(standing)
    }

    fn review(&self, standing: &Standing) -> Result<Seen, Breakdown> {
        self.listener.reviewing();
        let checks = standing.open.as_ref().map(|open| open.checks.as_slice()).unwrap_or_default();
        let kept = standing.open.as_ref().map(|open| open.kept.as_slice()).unwrap_or_default();
        let mut issues = seen::of_checks(checks, standing.compared(), self.minimum);
        issues.retain(|issue| !kept_tests::explains(kept, issue));
        issues.extend(kept_tests::of_kept(kept));
        issues.extend(self.lowered.iter().cloned());
        issues.extend(self.issues_around(standing)?);
        if let Some(open) = &standing.open {
            issues.extend(standing.refused_fix(&open.tree));
            issues.extend(seen::of_same_tree(&open.tree, &open.checks, &standing.history));
        }
        let reviewed = self.reviewer.review(standing.base.as_deref(), &self.spec, checks)?;
        issues.extend(standing.unheard());
        issues.extend(reviewed.issues);
        issues.extend(seen::of_criteria(&reviewed.criteria, self.reviewer.has_judge()));
        issues.extend(seen::of_unread(&self.spec.not_understood));
        let seen = Seen {
            issues,
            tests_passed: seen::tests_passed(checks),
            remarks: reviewed.remarks,
            criteria: reviewed.criteria,
            no_test_project: self.is_without_tests(),
            needs_sign_off: self.needs_sign_off(),
        };
        self.hold_terms()?;
        let tree = standing.open.as_ref().map(|open| &open.tree);
        let decided = tree.map(|tree| standing.with_decisions(&seen, tree));
        self.listener.reviewed(decided.as_ref().unwrap_or(&seen));
        Ok(seen)
    }

    fn missing_fixer(&self) -> Option<MissingFixer> {
        self.fixer.missing()
    }

    fn fix(&self, issues: &[Issue], standing: &Standing) -> Result<FixMade, Breakdown> {
        self.listener.fixing(issues.len());
        let broken = |error: GitError| Breakdown::Round(chain(&error));
        // The scratch work tree is dropped before its folder, or git would retain a record of it.
        let (_folder, bench) = self.lay_out()?;
        let remarks = standing.remarks();
        let request = paper::fix_request(&standing.issues(), &remarks, standing.round, &self.spec);
        let stored = StoredFiles::open(&self.root).map_err(broken)?;
        let guard = GitGuard::of(&self.root, &stored)?;
        let said = self.fixer.fix(&Errand {
            folder: bench.path(),
            base: standing.base.as_deref(),
            request: &request,
            issues,
        });
        let changed = guard.put_back()?;
        if !changed.is_empty() {
            let changed = changed.join(", ");
            return Err(Breakdown::Round(format!(
                "the fixer changed {changed}, which was put back, and its work is not taken"
            )));
        }
        let said = redacted_text(&said?);
        self.listener.said(&said);
        Ok(FixMade { patch: bench.patch().map_err(broken)?, said })
    }

    fn put_in(&self, patch: &Patch, tree: &TreeHash) -> Result<Put, Breakdown> {
        let leave_out = |path: &str| self.spec.owns(path) || decides_what_counts(path);
        let put = |put: Result<(), GitError>| match put {
            Ok(()) => Ok(Put::Done),
            Err(GitError::Moved { .. }) => Ok(Put::TreeMoved),
            Err(error) => Err(Breakdown::Round(chain(&error))),
        };
        // A run that had begun to apply the patch may have been killed.
        if put(patch.take_out(&self.root, &leave_out))? == Put::TreeMoved || self.tree()? != *tree {
            return Ok(Put::TreeMoved);
        }
        let done = put(patch.put_in(&self.root, &leave_out))?;
        let files = patch.files(&self.root).map_err(|error| Breakdown::Fatal(chain(&error)))?;
        let (left_out, files): (Vec<String>, Vec<String>) =
            files.into_iter().partition(|path| leave_out(path));
        self.listener.fixed(&files, &left_out);
        Ok(done)
    }

    fn failed(&self, why: &str) {
        self.listener.broke_down(why);
    }

    fn papers(&self, standing: &Standing, ending: Option<&Ending>) -> Left {
        self.told(standing).papers(ending)
    }

    fn export(&self, standing: &Standing, ending: Option<&Ending>) -> Result<(), Breakdown> {
        self.told(standing).write(&self.root, ending)?;
        self.listener.stands(standing, ending);
        Ok(())
    }

    fn taken_up(&self, standing: &Standing) {
        self.listener.stands(standing, None);
    }
}
