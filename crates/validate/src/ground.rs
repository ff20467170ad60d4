//! What a loop works on: [`Ground`], a spec and the tree that it was implemented in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use assay_change::{Bench, Change, GitError, Patch, Scope, Selection};
use assay_checks::check::{CheckKind, CheckOutcome, State};
use assay_checks::coverage::LineRanges;
use assay_checks::discovery::{Discovery, Folder, Framework, discover};
use assay_checks::required::{Required, Risk, required};
use assay_checks::results::Outcome;
use assay_checks::run::Runner;
use assay_rules::redacted_text;
use assay_store::disk::{self, Sure};
use tempfile::TempDir;

use crate::ending::Ending;
use crate::event::{Left, Seen, TreeHash};
use crate::export::{Told, chain};
use crate::issue::Issue;
use crate::own;
use crate::paper::{self, CriterionLine};
use crate::run::{Breakdown, FixMade, Put, Site};
use crate::seen;
use crate::spec::{self, Spec};
use crate::standing::{OpenRound, Standing};
use crate::tryout::{self, App, TryOut};

/// How the name of a bench's folder begins.
const BENCH: &str = "bench-";

/// How many files are named that checks left behind.
const NAMED: usize = 5;

/// Reviews the implementation of a spec.
pub trait Reviews {
    /// Looks at the change on top of a commit and at the criteria, given what the checks said.
    fn review(
        &self,
        base: Option<&str>,
        spec: &Spec,
        checks: &[CheckOutcome],
    ) -> Result<Reviewed, Breakdown>;
}

/// What a review says.
#[derive(Debug)]
pub struct Reviewed {
    /// What keeps the change from being ready.
    pub issues: Vec<Issue>,
    /// Whether each criterion is met.
    pub criteria: Vec<CriterionLine>,
}

/// Fixes what is wrong.
pub trait Fixes {
    /// Works in a folder, a copy of the tree, and says what it did.
    fn fix(&self, errand: &Errand<'_>) -> Result<String, Breakdown>;
}

/// What a fixer is to do.
#[derive(Debug, Clone, Copy)]
pub struct Errand<'a> {
    /// The folder that it works in.
    pub folder: &'a Path,
    /// The commit on top of which the implementation was made.
    pub base: Option<&'a str>,
    /// What is wrong, for whoever reads.
    pub request: &'a str,
    /// What is wrong.
    pub issues: &'a [Issue],
}

/// Hears how a loop goes on.
pub trait Hears {
    /// A round begins.
    fn round(&self, number: u32);
    /// A check is about to be run.
    fn checking(&self, name: &str);
    /// A check was run.
    fn checked(&self, outcome: &CheckOutcome);
    /// Everything else is looked at.
    fn reviewing(&self);
    /// A round was looked at to its end.
    fn reviewed(&self, seen: &Seen);
    /// The fixer begins.
    fn fixing(&self, issues: usize);
    /// The fixer is done, and says this.
    fn said(&self, said: &str);
    /// What the fixer did is in the tree, or it did nothing; what it must not touch was left out.
    fn fixed(&self, files: &[String], left_out: &[String]);
    /// A round broke down.
    fn broke_down(&self, _why: &str) {}
}

/// A spec, the tree that it was implemented in, and everybody who looks and works there.
pub struct Ground<'a> {
    /// The repository's root.
    pub root: PathBuf,
    /// The spec.
    pub spec: Spec,
    /// How much depends on it.
    pub risk: Risk,
    /// The commit on top of which it was implemented.
    pub base: Option<String>,
    /// Ways to run tests that are not known otherwise.
    pub frameworks: Vec<Framework>,
    /// Runs the checks.
    pub runner: Runner,
    /// The app that is tried out, where one is running.
    pub app: Option<App>,
    /// Where the loop keeps what is nobody else's business.
    pub state: PathBuf,
    /// Gives the time, in UTC.
    pub clock: &'a dyn Fn() -> String,
    /// Who reviews.
    pub reviewer: &'a dyn Reviews,
    /// Who fixes.
    pub fixer: &'a dyn Fixes,
    /// Who listens.
    pub listener: &'a dyn Hears,
}

impl Ground<'_> {
    /// Gives what is required of the tree as it is, and whether it has no tests at all.
    fn required(&self) -> (Vec<Required>, bool) {
        let mut found = discover(&Folder::new(&self.root));
        found.frameworks.extend(self.frameworks.iter().cloned());
        let is_untested = self.is_untested(&found);
        let mut all = required(self.risk, &self.spec.verification, &found);
        if is_untested {
            // Whoever inspects stands in for tests that nobody wrote, unless the plan wants them.
            all.retain(|it| match it {
                Required::Unavailable { kind, .. } => self.is_wanted(*kind),
                Required::Run(_) | Required::ByHand { .. } | Required::TryOut { .. } => true,
            });
        }
        (all, is_untested)
    }

    fn is_untested(&self, found: &Discovery) -> bool {
        let said = &self.spec.verification;
        let groups = [&said.unit, &said.integration, &said.e2e];
        found.is_without_tests() && groups.iter().all(|group| group.commands.is_empty())
    }

    fn try_out(&self, round: u32) -> TryOut<'_> {
        TryOut {
            app: self.app.as_ref(),
            root: &self.root,
            spec: &self.spec.folder,
            evidence: self.state.join(format!("e2e/round-{round}")),
        }
    }

    /// Says whether the plan wants a kind of test, whatever the project has.
    fn is_wanted(&self, kind: CheckKind) -> bool {
        let said = &self.spec.verification;
        match kind {
            CheckKind::Unit => said.unit.is_required,
            CheckKind::Integration => said.integration.is_required,
            CheckKind::E2e => said.e2e.is_required || self.risk == Risk::Critical,
            CheckKind::Coverage => said.minimum_coverage.is_some(),
            CheckKind::FullSuite => said.unit.is_required || said.integration.is_required,
            CheckKind::Smoke | CheckKind::Manual => false,
        }
    }

    /// Writes the plan for whoever tries it by hand; ticks that are there stay.
    fn write_manual_plan(&self) -> Result<(), Breakdown> {
        let fatal = |error: &dyn std::error::Error| Breakdown::Fatal(chain(error));
        let path = spec::file(&self.root, &self.spec.folder, paper::MANUAL_PLAN);
        let path = path.map_err(|error| fatal(&error))?;
        let before = disk::read(&path).map_err(|error| fatal(&error))?;
        let before = before.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = paper::manual_plan(&self.spec.criteria, before.as_deref());
        if before.as_deref() == Some(&text) {
            return Ok(());
        }
        disk::write(&path, text.as_bytes(), Sure::OnDisk).map_err(|error| fatal(&error))
    }

    fn change(&self) -> Option<Change> {
        let scope = self.base.clone().map_or(Scope::Automatic, Scope::Against);
        let selection = Selection { untracked: true, ..Selection::default() };
        // Where it cannot be opened the review says so, and nothing is approved without it.
        assay_change::open(&self.root, &scope, &selection).ok()
    }

    /// Gives a runner that knows which lines the implementation added.
    fn runner(&self, change: Option<&Change>) -> Runner {
        let Some(change) = change else { return self.runner.clone() };
        let files = change.tree().paths().into_iter().map(|path| path.to_string());
        let changed = change.files.iter().filter_map(|file| {
            Some((file.new_path.clone()?, file.added().collect::<LineRanges>()))
        });
        let changed: BTreeMap<String, LineRanges> = changed.collect();
        self.runner.clone().change(files, changed)
    }

    /// Lays out a bench, and takes away those of runs that were killed. Each has a folder of its
    /// own: what such a run had started may still be at work in the one before.
    fn lay_out(&self) -> Result<(Bench, TempDir), Breakdown> {
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
        Ok((bench, folder))
    }

    /// Gives the files of the change as they are, as far as somebody may approve them.
    fn stamps(&self, change: Option<&Change>) -> BTreeMap<String, Option<Stamp>> {
        let paths = change.into_iter().flat_map(|change| &change.files);
        let paths =
            paths.filter_map(|file| file.new_path.clone()).filter(|path| !own::is_own(path));
        paths.map(|path| (path.clone(), stamp(&self.root.join(path)))).collect()
    }

    /// Says which files checks left behind, or somebody wrote meanwhile: what they saw is of a tree
    /// that is no more.
    fn left_by_checks(&self, before: &BTreeMap<String, Option<Stamp>>) -> Breakdown {
        let after = self.stamps(self.change().as_ref());
        let changed = after.iter().filter(|(path, stamp)| before.get(*path) != Some(stamp));
        let changed: Vec<String> =
            changed.map(|(path, _)| format!("`{path}`")).take(NAMED).collect();
        let named = match changed.is_empty() {
            true => String::new(),
            false => format!(": {}", changed.join(", ")),
        };
        Breakdown::Round(format!(
            "the tree changed while the checks ran{named}; what tests write has to be committed, or ignored by git"
        ))
    }

    fn told<'b>(&'b self, standing: &'b Standing) -> Told<'b> {
        Told { spec: &self.spec, standing }
    }
}

impl Site for Ground<'_> {
    fn now(&self) -> String {
        (self.clock)()
    }

    fn base(&self) -> Option<String> {
        self.base.clone()
    }

    fn tree(&self) -> Result<TreeHash, Breakdown> {
        own::tree_hash(&self.root).map_err(|error| Breakdown::Fatal(chain(&error)))
    }

    fn check(
        &self,
        round: &OpenRound,
        tell: &mut dyn FnMut(CheckOutcome) -> Result<(), Breakdown>,
    ) -> Result<(), Breakdown> {
        let (all, is_untested) = self.required();
        self.listener.round(round.number);
        let by_hand = all.iter().any(|it| matches!(it, Required::ByHand { .. }));
        if is_untested || by_hand {
            self.write_manual_plan()?;
        }
        let change = self.change();
        let before = self.stamps(change.as_ref());
        let runner = self.runner(change.as_ref());
        for required in &all {
            let Some(name) = name_of(required) else { continue };
            if round.checks.iter().any(|done| done.name == name) {
                continue;
            }
            if !matches!(required, Required::Unavailable { .. }) {
                self.listener.checking(&name);
            }
            let outcome = match required {
                Required::ByHand { .. } => continue,
                Required::Unavailable { kind, why } => not_run(*kind, why),
                Required::TryOut { flow } => self.try_out(round.number).try_out(flow),
                Required::Run(check) => runner.run(check),
            };
            let outcome = without_secrets(outcome);
            self.listener.checked(&outcome);
            tell(outcome)?;
        }
        match self.tree()? == round.tree {
            true => Ok(()),
            false => Err(self.left_by_checks(&before)),
        }
    }

    fn review(&self, standing: &Standing) -> Result<Seen, Breakdown> {
        self.listener.reviewing();
        let checks = standing.open.as_ref().map(|open| open.checks.as_slice()).unwrap_or_default();
        let minimum = self.spec.verification.minimum_coverage;
        let mut issues = seen::of_checks(checks, standing.compared(), minimum);
        let reviewed = self.reviewer.review(standing.base.as_deref(), &self.spec, checks)?;
        issues.extend(reviewed.issues);
        issues.extend(seen::of_criteria(&reviewed.criteria));
        let (required, _) = self.required();
        let seen = Seen {
            issues,
            tests_passed: seen::tests_passed(checks),
            criteria: reviewed.criteria,
            needs_sign_off: required.iter().any(|it| matches!(it, Required::ByHand { .. })),
        };
        self.listener.reviewed(&seen);
        Ok(seen)
    }

    fn fix(&self, issues: &[Issue], standing: &Standing) -> Result<FixMade, Breakdown> {
        self.listener.fixing(issues.len());
        let broken = |error: GitError| Breakdown::Round(chain(&error));
        let (bench, _folder) = self.lay_out()?;
        let request = paper::fix_request(issues, standing.round, &self.spec);
        let said = self.fixer.fix(&Errand {
            folder: bench.path(),
            base: standing.base.as_deref(),
            request: &request,
            issues,
        })?;
        let said = redacted_text(&said);
        self.listener.said(&said);
        Ok(FixMade { patch: bench.patch().map_err(broken)?, said })
    }

    fn put_in(&self, patch: &Patch, tree: &TreeHash) -> Result<Put, Breakdown> {
        let leave_out = |path: &str| self.spec.owns(path);
        let put = |put: Result<(), GitError>| match put {
            Ok(()) => Ok(Put::Done),
            Err(GitError::Moved { .. }) => Ok(Put::TreeMoved),
            Err(error) => Err(Breakdown::Fatal(chain(&error))),
        };
        // Whoever began to put it in may not have come to the end.
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
        self.told(standing).write(&self.root, ending)
    }
}

/// Names what comes of what is required; nothing comes of what is for a person.
fn name_of(required: &Required) -> Option<String> {
    match required {
        Required::ByHand { .. } => None,
        Required::Unavailable { kind, .. } => Some(kind.name().to_owned()),
        Required::TryOut { flow } => Some(tryout::name(flow)),
        Required::Run(check) => Some(check.name.clone()),
    }
}

/// When a file was written, and how long it is.
type Stamp = (Option<SystemTime>, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let found = path.symlink_metadata().ok()?;
    Some((found.modified().ok(), found.len()))
}

/// Takes out what must not be kept: journals and papers lie in the repository.
fn without_secrets(mut outcome: CheckOutcome) -> CheckOutcome {
    outcome.tail = redacted_text(&outcome.tail);
    for test in outcome.tests.iter_mut().flat_map(|tests| &mut tests.results) {
        if let Outcome::Failed { message } = &mut test.outcome {
            *message = redacted_text(message);
        }
    }
    if let State::Failed { why } | State::NotRun { why } = &mut outcome.state {
        *why = redacted_text(why);
    }
    outcome
}

/// Tells of a check that there is nothing to run for.
fn not_run(kind: CheckKind, why: &str) -> CheckOutcome {
    CheckOutcome {
        name: kind.name().to_owned(),
        kind,
        also: Vec::new(),
        command: String::new(),
        folder: String::new(),
        state: State::NotRun { why: why.to_owned() },
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
