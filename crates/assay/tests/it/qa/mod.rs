//! The validation loop from the command line: specs in real repositories, with checks that run,
//! fixers that work, and decisions of people.

mod adversaries;
mod attacks;
mod contained;
mod coverage;
mod criteria;
mod criteria_forms;
mod decisions;
mod e2e;
mod endings;
mod errors;
mod flow;
mod kept_tests_killed;
mod models;
#[cfg(unix)]
mod on_chromium;
mod options;
mod output;
mod people;
mod refused;
mod requirements;
mod runners;
#[cfg(unix)]
mod seed;
mod sign_off;
mod surroundings;
mod toolchains;
mod traces;
mod tracking;
mod watch;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use assay_testkit::Repository;
use serde_json::Value;
use tempfile::TempDir;

use crate::{AssayRun, assay_with};

/// The path of the configuration.
const CONFIG: &str = "config/agent-framework.yaml";

/// A spec with two criteria, each decided by a test.
const SPEC: &str = "\
# Greeting

## Acceptance Criteria

- [ ] `greets` passes
- [ ] `leaves` passes

## Verification

**Unit Tests:**
- `sh test.sh` - All pass

**Integration Tests:**
- `sh test.sh` - All pass
";

/// The plan of the spec with all subtasks completed.
const PLAN: &str = r#"{
  "feature": "Greeting",
  "phases": [
    {"name": "one", "subtasks": [
      {"id": "1.1", "title": "Say hello", "status": "completed"},
      {"id": "1.2", "title": "Say goodbye", "status": "completed"}
    ]}
  ]
}
"#;

/// A runner with two tests, which prints TAP: one requires a hello, one a goodbye.
const RUNNER: &str = "\
failed=0
look() {
    if grep -q \"$3\" greeting.txt; then
        echo \"ok $1 - $2\"
    else
        echo \"not ok $1 - $2\"
        failed=1
    fi
}
echo 1..2
look 1 greets hello
look 2 leaves goodbye
exit $failed
";

/// A fix that makes both tests pass.
const FIX: &str = "echo goodbye >> greeting.txt; echo 'said goodbye'";

/// A repository with an implemented spec, and a folder for scripts.
struct QaFixture {
    repository: Repository,
    /// A folder for scripts and pipes, outside of the repository.
    aside: TempDir,
}

impl QaFixture {
    /// Sets up a spec with one failing test, and a script that fixes.
    fn with_fixer(script: &str) -> QaFixture {
        QaFixture::with(SPEC, PLAN, &format!("{script}\n"), "")
    }

    /// Sets up a spec with its plan, a script that fixes, and more lines for `qa` in the
    /// configuration, each with two blanks in front.
    fn with(spec: &str, plan: &str, script: &str, more: &str) -> QaFixture {
        let fixture = QaFixture::bare();
        fixture.implemented(spec, plan, script, more);
        fixture
    }

    /// Writes a spec with its plan, which is implemented except for one test.
    fn implemented(&self, spec: &str, plan: &str, script: &str, more: &str) {
        self.configure(script, more);
        self.repository.write("test.sh", RUNNER);
        self.repository.commit("how it is tested");
        self.repository.write("specs/001-greeting/spec.md", spec);
        self.repository.write("specs/001-greeting/implementation_plan.json", plan);
        self.repository.write("greeting.txt", "hello\n");
    }

    /// Sets up an empty repository.
    fn bare() -> QaFixture {
        QaFixture { repository: Repository::new(), aside: tempfile::tempdir().unwrap() }
    }

    /// Configures a script as the fixer, and more keys of `qa`.
    fn configure(&self, script: &str, more: &str) {
        self.has_fixer(script);
        let path = self.aside("fixer.sh");
        let fixer = format!("qa:\n  fixer: {{ run: [sh, '{}'] }}\n", path.display());
        self.repository.write(CONFIG, format!("{fixer}{more}"));
    }

    /// Replaces the script of the fixer.
    fn has_fixer(&self, script: &str) {
        fs::write(self.aside("fixer.sh"), script).unwrap();
    }

    /// Returns the path of a file outside of the repository.
    fn aside(&self, name: &str) -> PathBuf {
        self.aside.path().join(name)
    }

    /// Creates a pipe outside of the repository: a process that reads it waits for one that writes
    /// it.
    fn pipe(&self, name: &str) -> PathBuf {
        let path = self.aside(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    /// Runs the loop of the only spec.
    fn qa(&self, args: &[&str]) -> AssayRun {
        self.qa_with(args, &[])
    }

    /// Runs the loop of the only spec, with variables.
    fn qa_with(&self, args: &[&str], variables: &[(&str, &str)]) -> AssayRun {
        let args = [&["qa", "--spec", "001"], args].concat();
        assay_with(self.repository.path(), &args, b"", variables)
    }

    /// Runs the loop, and checks its exit code.
    fn ends(&self, code: i32, args: &[&str]) -> AssayRun {
        self.ends_with(code, args, &[])
    }

    /// Runs the loop with variables, and checks its exit code.
    fn ends_with(&self, code: i32, args: &[&str], variables: &[(&str, &str)]) -> AssayRun {
        let ran = self.qa_with(args, variables);
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
        ran
    }

    /// Starts `assay qa`, and returns its output line by line.
    fn spawn(&self, args: &[&str]) -> (Child, impl Iterator<Item = String> + use<>) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_assay"))
            .arg("qa")
            .args(args)
            .current_dir(self.repository.path())
            .env("XDG_STATE_HOME", crate::state_home())
            .env("NO_COLOR", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        (child, lines.map(Result::unwrap))
    }

    /// Reads a file of the spec's folder.
    fn artifact(&self, name: &str) -> String {
        let path = self.artifact_path(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Returns true if the spec's folder has a file.
    fn has_artifact(&self, name: &str) -> bool {
        self.artifact_path(name).exists()
    }

    fn artifact_path(&self, name: &str) -> PathBuf {
        let specs = fs::read_dir(self.repository.path().join("specs")).unwrap();
        let first = specs.map(|entry| entry.unwrap().path()).min().unwrap();
        first.join(name)
    }

    /// Reads the plan as the loop left it.
    fn plan(&self) -> Value {
        serde_json::from_str(&self.artifact("implementation_plan.json")).unwrap()
    }

    /// Returns all events of the journal.
    fn events(&self) -> Vec<Value> {
        let entry = |line: &str| serde_json::from_str::<Value>(line).unwrap()["event"].clone();
        self.artifact("qa_journal.jsonl").lines().map(entry).collect()
    }

    /// Returns the events of a kind.
    fn events_of(&self, kind: &str) -> Vec<Value> {
        let mut events = self.events();
        events.retain(|event| event["kind"] == kind);
        events
    }

    /// Returns the last ending of the loop, from the journal.
    fn ending(&self) -> Value {
        self.events_of("end_begun").last().map(|event| event["ending"].clone()).unwrap_or_default()
    }

    /// Returns the issues of the sign-off, each with its kind, in order.
    fn issues(&self) -> Vec<(String, String)> {
        issues(&self.plan()["qa_signoff"]["issues_found"])
    }

    /// Asserts that the loop was handed over for a reason, with all artifacts for a person.
    fn is_handed_over(&self, ending: &str, reason: &str) {
        assert_eq!(self.ending()["ending"], ending, "{}", self.ending());
        let plan = self.plan();
        assert_eq!(plan["qa_signoff"]["status"], "human_escalation");
        let said = plan["qa_signoff"]["escalation_reason"].as_str().unwrap();
        assert!(said.contains(reason), "{said}");
        let artifact = self.artifact("QA_HUMAN_ESCALATION.md");
        let beginning: String = said.chars().take(250).collect();
        assert!(artifact.contains(&format!("The loop stopped here: {beginning}")), "{artifact}");
        assert!(artifact.contains("assay qa --spec 001-greeting --resume"), "{artifact}");
        assert!(self.has_artifact("QA_FIX_REQUEST.md"));
    }

    /// Asserts that the tree is approved, and that no artifact for a person is left.
    fn is_approved(&self) {
        assert_eq!(self.ending()["ending"], "approved");
        assert_eq!(self.plan()["qa_signoff"]["status"], "approved");
        assert!(
            !self.has_artifact("QA_FIX_REQUEST.md") && !self.has_artifact("QA_HUMAN_ESCALATION.md")
        );
        assert!(self.artifact("qa_report.md").contains("- Verdict: APPROVED\n"));
    }
}

/// Returns exported issues, each with its kind, in order.
fn issues(list: &Value) -> Vec<(String, String)> {
    let text = |issue: &Value, key: &str| issue[key].as_str().unwrap_or_default().to_owned();
    let list = list.as_array().into_iter().flatten();
    let mut all: Vec<_> = list.map(|issue| (text(issue, "type"), text(issue, "title"))).collect();
    all.sort();
    all
}
