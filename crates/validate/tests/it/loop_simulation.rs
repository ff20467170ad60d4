//! A simulated loop: its tree is a number, and each test provides the reviewer and the fixer.
//!
//! The simulation is stricter than the real environment: no document is written whose digest the
//! journal does not have.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assay_change::Patch;
use assay_checks::check::{CheckKind, CheckOutcome, CheckState};
use assay_validate::artifacts::render_fix_request;
use assay_validate::ending::{Ending, Limits};
use assay_validate::event::{ArtifactDigests, ReviewResult};
use assay_validate::file_names::{ESCALATION, FIX_REQUEST};
use assay_validate::issue::{Issue, IssueKind, IssueSeverity, Remedy};
use assay_validate::issues;
use assay_validate::journal::Journal;
use assay_validate::loop_state::{LoopState, OpenRound};
use assay_validate::loop_status::LoopStatus;
use assay_validate::plan::ImplementationPlan;
use assay_validate::resume::{ResumeAction, ResumeInput, decide_resume};
use assay_validate::run::{ApplyResult, EpochStart, FixMade, LoopEnvironment, StepError, run};
use assay_validate::spec::Spec;
use assay_validate::tree_hash::TreeHash;
use serde_json::json;
use tempfile::TempDir;

pub(crate) fn issue(title: &str) -> Issue {
    Issue {
        title: title.to_owned(),
        kind: IssueKind::CodeQuality,
        severity: IssueSeverity::High,
        file: None,
        line: None,
        description: None,
        fix: None,
        key: None,
        remedy: Remedy::Fix,
    }
}

/// Returns a patch that leads from one tree to another.
pub(crate) fn patch(start: u32, end: u32) -> Patch {
    let ends = json!({ "start": start.to_string(), "end": end.to_string() });
    serde_json::from_value(ends).unwrap()
}

fn ends(patch: &Patch) -> (u32, u32) {
    let ends = serde_json::to_value(patch).unwrap();
    let number = |key: &str| ends[key].as_str().unwrap().parse().unwrap();
    (number("start"), number("end"))
}

pub(crate) fn hash(tree: u32) -> TreeHash {
    TreeHash(tree.to_string())
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

pub(crate) fn outcome(name: &str, kind: CheckKind, passes: bool) -> CheckOutcome {
    let why = "it exits with 1".to_owned();
    CheckOutcome {
        name: name.to_owned(),
        kind,
        also: Vec::new(),
        command: format!("run {name}"),
        folder: String::new(),
        state: if passes { CheckState::Passed } else { CheckState::Failed { why } },
        exit_code: Some(i32::from(!passes)),
        duration_ms: 0,
        output_digest: String::new(),
        output_bytes: 0,
        tail: String::new(),
        tests: None,
        coverage: None,
        notes: Vec::new(),
    }
}

/// The arguments of a reviewer or fixer: the round, the number of the call in this run, and the
/// tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepCall {
    pub(crate) round: u32,
    pub(crate) time: u32,
    pub(crate) tree: u32,
}

/// A reviewer, which returns issues in addition to those of the checks.
pub(crate) type ReviewFn<'a> = dyn Fn(StepCall) -> Result<Vec<Issue>, StepError> + 'a;

/// A fixer, which returns the new tree.
pub(crate) type FixFn<'a> = dyn Fn(StepCall) -> Result<u32, StepError> + 'a;

/// The stored state between runs: a tree, and the folder of a spec with its journal and documents.
pub(crate) struct LoopStorage {
    folder: TempDir,
    pub(crate) tree: Cell<u32>,
}

/// The state of a world at some point.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) tree: u32,
    pub(crate) files: BTreeMap<PathBuf, Vec<u8>>,
}

/// The path of the spec's folder, from the root.
pub(crate) const SPEC: &str = "specs/001-stage";

/// The path of this machine's seal, from the root.
pub(crate) const SEAL: &str = "state/seal";

impl LoopStorage {
    pub(crate) fn new() -> LoopStorage {
        LoopStorage::of(&Snapshot { tree: 0, files: BTreeMap::new() })
    }

    pub(crate) fn of(snapshot: &Snapshot) -> LoopStorage {
        // A loop syncs every line, which is slow on a disk that other processes use too.
        let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        fs::create_dir_all(folder.path().join(SPEC)).unwrap();
        for (path, bytes) in &snapshot.files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        LoopStorage { folder, tree: Cell::new(snapshot.tree) }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut files = BTreeMap::new();
        for folder in [Path::new(SPEC), Path::new("state")] {
            for entry in fs::read_dir(self.root().join(folder)).into_iter().flatten() {
                let path = folder.join(entry.unwrap().file_name());
                let bytes = fs::read(self.root().join(&path)).unwrap();
                files.insert(path, bytes);
            }
        }
        Snapshot { tree: self.tree.get(), files }
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn artifact_path(&self, name: &str) -> PathBuf {
        self.root().join(SPEC).join(name)
    }

    pub(crate) fn journal(&self) -> Journal {
        Journal::open(&self.root().join(SPEC), &self.root().join(SEAL)).unwrap()
    }

    /// Returns the state of the loop, as computed from the journal.
    pub(crate) fn loop_state(&self) -> LoopState {
        let entries = Journal::read(&self.root().join(SPEC)).unwrap();
        LoopState::of(&entries).unwrap()
    }

    /// Returns how a run would take up the loop.
    pub(crate) fn opening(&self, resumes: bool) -> ResumeAction {
        let journal = self.journal();
        let loop_state = LoopState::of(journal.entries()).unwrap();
        decide_resume(ResumeInput {
            root: self.root(),
            spec: &spec(),
            loop_state: &loop_state,
            tree: &hash(self.tree.get()),
            is_own: journal.is_own(),
            resumes,
        })
        .unwrap()
    }
}

fn spec() -> Spec {
    let plan = ImplementationPlan::parse("{}".to_owned()).unwrap();
    Spec::parse(Path::new(SPEC), "", &plan).unwrap()
}

/// A simulated environment whose checks fail as long as the tree is below ten.
pub(crate) struct SimulatedLoop<'a> {
    pub(crate) storage: &'a LoopStorage,
    pub(crate) needs_sign_off: bool,
    pub(crate) limits: Limits,
    pub(crate) reviews: Cell<u32>,
    pub(crate) fixes: Cell<u32>,
    /// The number of check runs.
    pub(crate) checks: Cell<u32>,
    /// The number of patches that were applied, without those that were applied already.
    pub(crate) puts: Cell<u32>,
    /// The exported status words, without repetitions in a row.
    pub(crate) exported: RefCell<Vec<&'static str>>,
    /// True if a snapshot of the world is taken before each line of the journal.
    pub(crate) is_kept: bool,
    pub(crate) snapshots: RefCell<Vec<Snapshot>>,
    pub(crate) review: &'a ReviewFn<'a>,
    pub(crate) fix: &'a FixFn<'a>,
}

impl<'a> SimulatedLoop<'a> {
    pub(crate) fn new(
        storage: &'a LoopStorage,
        review: &'a ReviewFn<'a>,
        fix: &'a FixFn<'a>,
    ) -> SimulatedLoop<'a> {
        let zero = || Cell::new(0);
        SimulatedLoop {
            storage,
            needs_sign_off: false,
            limits: Limits::default(),
            reviews: zero(),
            fixes: zero(),
            checks: zero(),
            puts: zero(),
            exported: RefCell::default(),
            is_kept: false,
            snapshots: RefCell::default(),
            review,
            fix,
        }
    }

    /// Runs the loop, even if it waits for a person.
    pub(crate) fn run(&self, begin: Option<EpochStart>) -> (Ending, LoopState) {
        self.try_run(begin).unwrap()
    }

    pub(crate) fn try_run(
        &self,
        begin: Option<EpochStart>,
    ) -> Result<(Ending, LoopState), StepError> {
        let mut journal = self.storage.journal();
        let done = run(self, &mut journal, &self.limits, begin)?;
        assert_eq!(LoopState::of(journal.entries()).unwrap(), done.1, "the journal says all");
        Ok(done)
    }

    /// Takes the loop up like a normal run.
    pub(crate) fn take_up(&self) -> Ending {
        match self.storage.opening(false) {
            ResumeAction::Approved => Ending::Approved,
            ResumeAction::Wait(ending) => ending,
            ResumeAction::Continue => self.run(None).0,
            ResumeAction::BeginEpoch(begin) => self.run(Some(begin)).0,
        }
    }

    fn request(&self, loop_state: &LoopState, ending: Option<&Ending>) -> Option<String> {
        let is_open = match ending {
            Some(ending) => *ending != Ending::Approved,
            None => loop_state.fixing.is_some(),
        };
        is_open.then(|| {
            render_fix_request(
                &loop_state.issues(),
                &loop_state.remarks(),
                loop_state.round,
                &spec(),
            )
        })
    }

    /// Writes a document whose digest the journal has, and leaves a file alone that a person wrote.
    fn write(&self, name: &str, text: Option<String>, loop_state: &LoopState) {
        let path = self.storage.artifact_path(name);
        let there = fs::read(&path).ok();
        if there.as_ref().is_some_and(|there| !loop_state.knows_artifact(&digest(there))) {
            return;
        }
        match text {
            Some(text) => {
                assert!(
                    loop_state.knows_artifact(&digest(text.as_bytes())),
                    "`{name}` is not known"
                );
                fs::write(path, text).unwrap();
            }
            None if there.is_some() && matches!(loop_state.state, LoopStatus::Approved(_)) => {
                fs::remove_file(path).unwrap();
            }
            None => {}
        }
    }
}

fn escalation(ending: Option<&Ending>) -> Option<String> {
    ending.filter(|ending| **ending != Ending::Approved).map(Ending::reason)
}

impl LoopEnvironment for SimulatedLoop<'_> {
    fn now(&self) -> String {
        if self.is_kept {
            self.snapshots.borrow_mut().push(self.storage.snapshot());
        }
        "2026-01-01T00:00:00Z".to_owned()
    }

    fn base(&self) -> Option<String> {
        Some("base".to_owned())
    }

    fn tree(&self) -> Result<TreeHash, StepError> {
        Ok(hash(self.storage.tree.get()))
    }

    fn check(
        &self,
        round: &OpenRound,
        record: &mut dyn FnMut(CheckOutcome) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        for (name, kind) in [("unit", CheckKind::Unit), ("integration", CheckKind::Integration)] {
            if round.checks.iter().all(|done| done.name != name) {
                self.checks.set(self.checks.get() + 1);
                record(outcome(name, kind, self.storage.tree.get() >= 10))?;
            }
        }
        Ok(())
    }

    fn review(&self, loop_state: &LoopState) -> Result<ReviewResult, StepError> {
        self.reviews.set(self.reviews.get() + 1);
        let checks = &loop_state.open.as_ref().unwrap().checks;
        assert_eq!(checks.len(), 2, "every check was run once on this tree");
        let asked = StepCall {
            round: loop_state.round,
            time: self.reviews.get(),
            tree: self.storage.tree.get(),
        };
        let mut issues = (self.review)(asked)?;
        issues.extend(issues::from_checks(checks, loop_state.comparable_rounds(), None));
        let tests_passed = issues::tests_passed(checks);
        let needs_sign_off = self.needs_sign_off;
        Ok(ReviewResult { issues, tests_passed, needs_sign_off, ..ReviewResult::default() })
    }

    fn fix(&self, issues: &[Issue], loop_state: &LoopState) -> Result<FixMade, StepError> {
        assert_eq!(issues, loop_state.issues());
        self.fixes.set(self.fixes.get() + 1);
        let tree = self.storage.tree.get();
        let asked = StepCall { round: loop_state.round, time: self.fixes.get(), tree };
        let summary = "All tests pass, everything is perfect.".to_owned();
        Ok(FixMade { patch: patch(tree, (self.fix)(asked)?), summary })
    }

    fn apply_patch(&self, patch: &Patch, tree: &TreeHash) -> Result<ApplyResult, StepError> {
        let (start, end) = ends(patch);
        let now = self.storage.tree.get();
        if now != end && hash(now) != *tree {
            return Ok(ApplyResult::TreeMoved);
        }
        assert_eq!(hash(start), *tree);
        self.puts.set(self.puts.get() + u32::from(now != end));
        self.storage.tree.set(end);
        Ok(ApplyResult::Done)
    }

    fn artifact_digests(&self, loop_state: &LoopState, ending: Option<&Ending>) -> ArtifactDigests {
        // While the loop runs, documents are only asked for if there are issues.
        let request = match ending {
            None => Some(render_fix_request(
                &loop_state.issues(),
                &loop_state.remarks(),
                loop_state.round,
                &spec(),
            )),
            Some(_) => self.request(loop_state, ending),
        };
        let digest = |text: String| digest(text.as_bytes());
        ArtifactDigests { request: request.map(digest), escalation: escalation(ending).map(digest) }
    }

    fn export(&self, loop_state: &LoopState, ending: Option<&Ending>) -> Result<(), StepError> {
        let mut exported = self.exported.borrow_mut();
        exported.push(loop_state.signoff_status().name());
        exported.dedup();
        self.write(FIX_REQUEST, self.request(loop_state, ending), loop_state);
        self.write(ESCALATION, escalation(ending), loop_state);
        Ok(())
    }
}
