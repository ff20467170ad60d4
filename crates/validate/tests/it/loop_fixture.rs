//! A loop on a real tree for tests: a repository, commands that run, and a fixer that each test
//! provides.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_change::{Scope, Selection};
use assay_checks::check::CheckOutcome;
use assay_checks::run::{CheckLimits, Runner};
use assay_store::durable_fs::fault::{self, Fault};
use assay_testkit::Repository;
use assay_validate::ending::{Ending, Limits};
use assay_validate::environment::{
    FixRequest, IssueFixer, LocalEnvironment, LoopObserver, ReviewReport, SpecReviewer,
};
use assay_validate::event::{Event, ReviewResult};
use assay_validate::issue::Issue;
use assay_validate::issues;
use assay_validate::journal::Journal;
use assay_validate::loop_files;
use assay_validate::loop_state::LoopState;
use assay_validate::plan::{self, ImplementationPlan};
use assay_validate::resume::{ResumeAction, ResumeInput, decide_resume};
use assay_validate::run::{StepError, run};
use assay_validate::spec::Spec;
use tempfile::TempDir;

/// The path of the spec's folder, from the root.
pub(crate) const SPEC: &str = "specs/001-add";

const SPEC_TEXT: &str = "# Add

## Acceptance Criteria

- [ ] It `adds two numbers`
- [ ] `docs/add.md` exists

## Verification

**Unit Tests:**
- `sh tests/run.sh` - All pass

**Integration Tests:**
- `sh tests/run.sh` - All pass
";

const PLAN: &str = r#"{
  "feature": "add",
  "phases": [{ "subtasks": [{ "id": "1", "status": "completed" }] }]
}
"#;

const SUITE: &str = r#". src/add.sh
echo 1..2
failed=0
try() {
  if [ "$(add "$3" "$4")" = "$5" ]; then echo "ok $1 - $2"; else echo "not ok $1 - $2"; failed=1; fi
}
try 1 "adds two numbers" 1 2 3
try 2 "adds nothing" 0 0 0
exit $failed
"#;

pub(crate) const WRONG: &str = "add() { echo $(($1 - $2)); }\n";
pub(crate) const RIGHT: &str = "add() { echo $(($1 + $2)); }\n";

/// A repository with an incomplete implementation of a spec.
pub(crate) struct LoopFixture {
    pub(crate) repository: Repository,
    state: TempDir,
    /// The commit before the implementation.
    base: String,
    /// Further findings of the review.
    pub(crate) findings: RefCell<Vec<Issue>>,
    pub(crate) reviews: Cell<u32>,
    pub(crate) fixes: Cell<u32>,
    /// The requests to the fixer, in order.
    pub(crate) requests: RefCell<Vec<String>>,
    /// The line of the journal, counted from now, before which the run is killed; `None` for no
    /// kill.
    pub(crate) killed_at: Cell<Option<u32>>,
    /// The files of the fixer's patch that were left out.
    pub(crate) left_out: RefCell<Vec<String>>,
}

/// A fixer, which works in the given folder.
pub(crate) type FixFn<'a> = dyn Fn(&Path) + 'a;

impl LoopFixture {
    pub(crate) fn new() -> LoopFixture {
        let repository = Repository::new();
        let base = repository.git(&["rev-parse", "HEAD"]);
        repository.write(format!("{SPEC}/spec.md"), SPEC_TEXT);
        repository.write(format!("{SPEC}/{}", plan::NAME), PLAN);
        repository.write("tests/run.sh", SUITE);
        repository.write("src/add.sh", WRONG);
        let state = TempDir::new().unwrap();
        let (findings, requests) = (RefCell::default(), RefCell::default());
        let (reviews, fixes) = (Cell::new(0), Cell::new(0));
        let (killed_at, left_out) = (Cell::new(None), RefCell::default());
        LoopFixture {
            repository,
            state,
            base,
            findings,
            reviews,
            fixes,
            requests,
            killed_at,
            left_out,
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.repository.path()
    }

    pub(crate) fn artifact_path(&self, name: &str) -> PathBuf {
        self.root().join(SPEC).join(name)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    fn seal(&self) -> PathBuf {
        self.state.path().join("seal")
    }

    pub(crate) fn journal(&self) -> Journal {
        Journal::open(&self.root().join(SPEC), &self.seal()).unwrap()
    }

    pub(crate) fn loop_state(&self) -> LoopState {
        LoopState::of(&Journal::read(&self.root().join(SPEC)).unwrap()).unwrap()
    }

    /// Records a sign-off of the current tree.
    pub(crate) fn sign(&self) {
        let tree = loop_files::tree_hash(self.root()).unwrap();
        let signed = Event::SignedOff { by: "Jo".to_owned(), tree };
        self.journal().add("2026-01-01T00:00:00Z", signed).unwrap();
    }

    /// Returns the titles of the issues, round by round.
    pub(crate) fn rounds(&self) -> Vec<String> {
        let titles = |review: &ReviewResult| -> String {
            review.issues.iter().map(|it| it.title.as_str()).collect::<Vec<_>>().join("; ")
        };
        let history = self.loop_state().history;
        history.iter().map(|round| round.review().map_or("error".to_owned(), titles)).collect()
    }

    pub(crate) fn take_up(&self, work: &FixFn<'_>) -> Ending {
        self.try_take_up(work).unwrap()
    }

    /// Returns the time. The loop asks for it right before it writes a line, so a kill is simulated
    /// here.
    fn now(&self) -> String {
        let left = self.killed_at.get().map(|left| left - 1);
        self.killed_at.set(left.filter(|left| *left > 0));
        if left == Some(0) {
            fault::inject(1, Fault::Full);
        }
        "2026-01-01T00:00:00Z".to_owned()
    }

    /// Takes up the loop, and leaves the state of a kill before a line of the journal.
    pub(crate) fn kill_before(&self, line: u32, work: &FixFn<'_>) {
        self.killed_at.set(Some(line));
        let killed = self.try_take_up(work);
        fault::clear();
        assert!(matches!(killed, Err(StepError::Journal(_))), "{killed:?}");
    }

    /// Takes the loop up like a normal run.
    pub(crate) fn try_take_up(&self, work: &FixFn<'_>) -> Result<Ending, StepError> {
        let plan = ImplementationPlan::read(&self.artifact_path(plan::NAME))
            .map_err(|error| StepError::Fatal(error.to_string()))?;
        let spec = Spec::read(self.root(), Path::new(SPEC), &plan).unwrap();
        let mut journal = self.journal();
        let opens = decide_resume(ResumeInput {
            root: self.root(),
            spec: &spec,
            loop_state: &LoopState::of(journal.entries()).unwrap(),
            tree: &loop_files::tree_hash(self.root()).unwrap(),
            is_own: journal.is_own(),
            resumes: false,
        });
        let begin = match opens.unwrap() {
            ResumeAction::Approved => return Ok(Ending::Approved),
            ResumeAction::Wait(ending) => return Ok(ending),
            ResumeAction::Continue => None,
            ResumeAction::BeginEpoch(begin) => Some(begin),
        };
        let fixer = Fixer { fixture: self, work };
        let time = Duration::from_secs(120);
        let ground = LocalEnvironment {
            root: self.root().to_owned(),
            risk: plan.risk_level().unwrap(),
            said_risk: plan.risk_level().unwrap(),
            minimum: spec.verification.minimum_coverage,
            lowered: Vec::new(),
            spec,
            base: Some(self.base.clone()),
            frameworks: Vec::new(),
            outputs: Vec::new(),
            app: None,
            runner: Runner::new(self.root())
                .limits(CheckLimits { time, ..CheckLimits::default() })
                .search_path(std::env::var_os("PATH").unwrap()),
            state: self.state.path().join("loop"),
            clock: &|| self.now(),
            reviewer: self,
            fixer: &fixer,
            observer: self,
        };
        let (ending, loop_state) = run(&ground, &mut journal, &Limits::default(), begin)?;
        assert_eq!(LoopState::of(journal.entries()).unwrap(), loop_state, "the journal says all");
        Ok(ending)
    }
}

/// A reviewer that judges criteria only by tests and files.
impl SpecReviewer for LoopFixture {
    fn review(
        &self,
        base: Option<&str>,
        spec: &Spec,
        checks: &[CheckOutcome],
    ) -> Result<ReviewReport, StepError> {
        self.reviews.set(self.reviews.get() + 1);
        let scope = Scope::Against(base.unwrap().to_owned());
        let selection = Selection { untracked: true, ..Selection::default() };
        let change = assay_change::open(self.root(), &scope, &selection).unwrap();
        let criteria = issues::judge_criteria(spec, checks, change.tree(), None);
        let criteria = criteria.map_err(StepError::Round)?;
        Ok(ReviewReport { issues: self.findings.borrow().clone(), remarks: Vec::new(), criteria })
    }
}

struct Fixer<'a> {
    fixture: &'a LoopFixture,
    work: &'a FixFn<'a>,
}

impl IssueFixer for Fixer<'_> {
    fn fix(&self, request: &FixRequest<'_>) -> Result<String, StepError> {
        self.fixture.fixes.set(self.fixture.fixes.get() + 1);
        self.fixture.requests.borrow_mut().push(request.request.to_owned());
        (self.work)(request.folder);
        Ok("Everything is perfect.".to_owned())
    }
}

impl LoopObserver for LoopFixture {
    fn on_round(&self, _: u32) {}
    fn on_check_started(&self, _: &str) {}
    fn on_check_finished(&self, _: &CheckOutcome) {}
    fn on_review_started(&self) {}
    fn on_review_finished(&self, _: &ReviewResult) {}
    fn on_fix_started(&self, _: usize) {}
    fn on_fix_finished(&self, _: &str) {}
    fn on_fix_applied(&self, _: &[String], left_out: &[String]) {
        self.left_out.borrow_mut().extend(left_out.iter().cloned());
    }
}

/// Writes a file into a folder.
pub(crate) fn put(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Completes the implementation.
pub(crate) fn apply_correct_fix(folder: &Path) {
    put(folder, "src/add.sh", RIGHT);
    put(folder, "docs/add.md", "# Add\n");
}
