//! The result of a command that is interrupted or killed: its findings so far, and no other traces.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use assay_testkit::Repository;
use serde_json::Value;
use tempfile::TempDir;

use crate::{assay_in, command_in};

const FORMATS: [&str; 8] =
    ["terminal", "json", "sarif", "rdjson", "rdjsonl", "markdown", "github", "checklist"];

/// A program that waits, with a child that waits as well. Both hold a pipe open for reading as long
/// as they run, since the places that a command may write to are limited.
const WAITS: &str = "exec 3<\"$ALIVE\"; sleep 600 & wait";

/// The same program with the child in its own session, like daemons and tools of agents.
const WAITS_APART: &str = "exec 3<\"$ALIVE\"; setsid sleep 600 >/dev/null 2>&1 & exec 3<&-; wait";

const SPEC: &str = "# A\n\n## Acceptance Criteria\n\n- [ ] `a` passes\n\n## Verification\n\n**Unit Tests:**\n- `false` - All pass\n";

const PLAN: &str = r#"{"feature": "A", "phases": [{"name": "one", "subtasks": [{"id": "1", "title": "a", "status": "completed"}]}]}"#;

/// A repository, a pipe that the processes of assay hold open, and a folder for temporary files.
struct InterruptFixture {
    repository: Repository,
    fifo: PathBuf,
    temporary: TempDir,
}

impl InterruptFixture {
    /// Sets up a repository with a configuration, in which `{waits}` is a command that waits.
    fn new(configuration: &str) -> InterruptFixture {
        let repository = Repository::new();
        let temporary = tempfile::tempdir().unwrap();
        let fifo = repository.path().join("alive");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        repository.write("waits.sh", with_pipe(WAITS, &fifo));
        let waits = repository.path().join("waits.sh").display().to_string();
        repository.write("config/agent-framework.yaml", configuration.replace("{waits}", &waits));
        repository.write(".gitignore", "alive\n");
        repository.write("a.py", "a = 1\n");
        repository.commit("before");
        InterruptFixture { repository, fifo, temporary }
    }

    /// Returns a program that holds the pipe open.
    fn with_pipe(&self, program: &str) -> String {
        with_pipe(program, &self.fifo)
    }

    /// Writes a file, with a defect or without.
    fn change(self, text: &str) -> InterruptFixture {
        self.repository.write("a.py", text);
        self
    }

    /// Starts assay, and waits until its child process runs.
    fn start(&self, args: &[&str]) -> (Child, File) {
        let mut command = command_in(self.repository.path(), args);
        let child = command.env("TMPDIR", self.temporary.path()).spawn().unwrap();
        (child, self.alive())
    }

    /// Waits until the waiting program runs, and returns the pipe that it reads from.
    fn alive(&self) -> File {
        File::options().write(true).open(&self.fifo).unwrap()
    }

    /// Returns the remaining temporary files, and the work trees that git lists.
    fn left_behind(&self) -> Vec<String> {
        let temporary = fs::read_dir(self.temporary.path()).unwrap();
        let temporary = temporary.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let listed = self.repository.git(&["worktree", "list", "--porcelain"]);
        let trees = listed.lines().filter(|line| line.starts_with("worktree ")).skip(1);
        let state = drafts(&self.repository.path().join(".assay"));
        temporary.chain(trees.map(str::to_owned)).chain(state).collect()
    }

    fn runs(&self) -> Vec<PathBuf> {
        let runs = fs::read_dir(self.repository.path().join(".assay/runs")).into_iter().flatten();
        runs.map(|entry| entry.unwrap().path()).collect()
    }
}

/// Returns the names of the folders of unfinished work below a folder.
fn drafts(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.path().is_dir();
        if is_folder && ["bench", ".draft-", "tree"].iter().any(|it| name.starts_with(it)) {
            found.push(name);
        } else if is_folder {
            found.extend(drafts(&entry.path()));
        }
    }
    found
}

fn kill(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

fn with_pipe(program: &str, fifo: &Path) -> String {
    program.replace("$ALIVE", &fifo.display().to_string())
}

/// Waits until no process holds the pipe. No process reads from it, so it stays full until then.
fn wait_until_gone(mut alive: File) {
    while alive.write_all(&[0; 4096]).is_ok() {}
}

const ANALYSER: &str =
    "review:\n  commands:\n    - name: slow\n      run: [sh, '{waits}']\n      form: sarif\n";

const AGENT: &str = "models:\n  use:\n    slow:\n      api: command\n      run: [sh, '{waits}']\n      \
                     answer: text\n  attempts: 1\n";

const FLAWED: &str = "import os\n\n\ndef f(n):\n    os.system(f\"rm {n}\")\n";

#[test]
fn an_interrupted_review_shows_and_stores_the_findings_so_far() {
    for signal in ["-INT", "-TERM"] {
        for (text, state, code) in [(FLAWED, "not_ready", 1), ("a = 2\n", "incomplete", 3)] {
            let fixture = InterruptFixture::new(ANALYSER).change(text);
            let (child, alive) = fixture.start(&["review", "--format", "json"]);
            kill(signal, &child);
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{signal} {text}");
            let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(shown["verdict"]["state"], state);
            let why = shown["verdict"]["because"].to_string();
            assert!(why.contains("`slow`") && why.contains("interrupted"), "{why}");
            let rules = shown["findings"].as_array().unwrap().len();
            assert_eq!(rules, usize::from(text == FLAWED), "what the rules found is there");
            let run = fixture.runs().pop().expect("the run is kept");
            let verdict = fs::read_to_string(run.join("verdict.json")).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&verdict).unwrap(), shown["verdict"]);
            let log = fs::read_to_string(run.join("log")).unwrap();
            assert!(log.contains("interrupted: slow"), "{log}");
            wait_until_gone(alive);
            assert_eq!(fixture.left_behind(), Vec::<String>::new());
        }
    }
}

#[test]
fn an_interrupted_agent_is_stopped_and_named() {
    let fixture = InterruptFixture::new(AGENT).change(FLAWED);
    let args = ["review", "--models", "--persona", "correctness", "--format", "json"];
    let (child, alive) = fixture.start(&args);
    kill("-INT", &child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["verdict"]["incomplete"], true);
    let why = shown["verdict"]["because"].to_string();
    assert!(why.contains("`correctness`") && why.contains("interrupted"), "{why}");
    wait_until_gone(alive);
    assert_eq!(fixture.left_behind(), Vec::<String>::new());
}

#[test]
fn an_interrupted_review_is_shown_in_every_form() {
    for format in FORMATS {
        let fixture = InterruptFixture::new(ANALYSER).change(FLAWED);
        let (child, _alive) = fixture.start(&["review", "--format", format]);
        kill("-INT", &child);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{format}");
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(shown.contains("shell"), "{format}: {shown}");
    }
}

#[test]
fn a_second_interrupt_ends_at_once() {
    let fixture = InterruptFixture::new(ANALYSER).change(FLAWED);
    let (mut child, _alive) = fixture.start(&["review"]);
    // Both signals are pending when the process continues.
    let mut stdout = child.stdout.take().unwrap();
    kill("-STOP", &child);
    kill("-INT", &child);
    kill("-TERM", &child);
    kill("-CONT", &child);
    let status = child.wait().unwrap();
    let mut shown = Vec::new();
    stdout.read_to_end(&mut shown).unwrap();
    assert_eq!(status.code(), Some(130), "{}", String::from_utf8_lossy(&shown));
    assert_eq!(fixture.left_behind(), Vec::<String>::new());
}

#[test]
fn child_processes_end_when_assay_is_killed() {
    let fixer = "qa:\n  fixer:\n    run: [sh, '{waits}']\n";
    let gate = "gates:\n  fixer:\n    run: [sh, '{waits}']\n";
    let (qa, run_gate) = (
        ["qa", "--spec", "001"],
        ["gate", "run", "--phase", "plan-structure", "--plan", "plan.md"],
    );
    let models = ["review", "--models", "--persona", "correctness"];
    let cases: [(&str, &[&str], &str); 5] = [
        (ANALYSER, &["review"], "false"),
        (AGENT, &models, "false"),
        (fixer, &qa, "false"),
        ("", &qa, "sh waits.sh"),
        (gate, &run_gate, "false"),
    ];
    for (configuration, args, check) in cases {
        for waits in [WAITS, WAITS_APART] {
            let fixture = InterruptFixture::new(configuration).change(FLAWED);
            fixture
                .repository
                .write("specs/001-a/spec.md", SPEC.replace("`false`", &format!("`{check}`")));
            fixture.repository.write("specs/001-a/implementation_plan.json", PLAN);
            fixture.repository.write("plan.md", "# A\n\n## Milestone M1: One\n\nFiles: `a.py`\n");
            fixture.repository.write("waits.sh", fixture.with_pipe(waits));
            let (mut child, alive) = fixture.start(args);
            kill("-KILL", &child);
            child.wait().unwrap();
            // The wait ends once the program and its child are gone.
            wait_until_gone(alive);
        }
    }
}

#[test]
fn an_interrupted_command_leaves_no_folder_behind() {
    let qa = "qa:\n  fixer:\n    run: [sh, '{waits}']\n";
    let gate = "gates:\n  fixer:\n    run: [sh, '{waits}']\n";
    let set_up = |fixture: &InterruptFixture| {
        fixture.repository.write("specs/001-a/spec.md", SPEC);
        fixture.repository.write("specs/001-a/implementation_plan.json", PLAN);
        fixture.repository.write("plan.md", "# A\n\n## Milestone M1: One\n\nFiles: `a.py`\n");
    };
    let mut seen = BTreeSet::new();
    for (configuration, args) in [
        (qa, &["qa", "--spec", "001"][..]),
        (gate, &["gate", "run", "--phase", "plan-structure", "--plan", "plan.md"]),
        (ANALYSER, &["review", "--commit", "HEAD"]),
    ] {
        for signal in ["-INT", "-TERM", "-HUP"] {
            let fixture = InterruptFixture::new(configuration).change("a = 2\n");
            set_up(&fixture);
            if args[0] == "review" {
                fixture.repository.commit("a change that is laid out in a folder");
            }
            let (child, alive) = fixture.start(args);
            seen.extend(fixture.left_behind());
            kill(signal, &child);
            let output = child.wait_with_output().unwrap();
            assert!(!output.status.success(), "{args:?}");
            wait_until_gone(alive);
            assert_eq!(fixture.left_behind(), Vec::<String>::new(), "{args:?} {signal}");
        }
    }
    assert!(seen.len() > 2, "folders are in use before the interrupt: {seen:?}");
}

#[test]
fn an_interrupt_before_the_change_is_read_is_incomplete() {
    let fixture = InterruptFixture::new(ANALYSER).change(FLAWED);
    // Git waits for the process at the other end of this pipe.
    let folder = tempfile::tempdir().unwrap();
    let git = folder.path().join("git");
    fs::write(
        &git,
        format!("#!/bin/sh\n{}\n", WAITS.replace("$ALIVE", &fixture.fifo.display().to_string())),
    )
    .unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&git).status().unwrap().success());
    for format in FORMATS {
        let mut command = command_in(fixture.repository.path(), &["review", "--format", format]);
        let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
        let child = command.env("PATH", path).stdout(Stdio::piped()).spawn().unwrap();
        let alive = fixture.alive();
        kill("-INT", &child);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{format}");
        if format == "json" {
            let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(shown["verdict"]["state"], "incomplete");
        }
        wait_until_gone(alive);
    }
    assert_eq!(
        assay_in(fixture.repository.path(), &["review", "--no-models", "--roster"], b"").code,
        0
    );
}

/// A model that answers as `correctness`, and waits as `security` while the file `waits` exists.
/// Without that file, it answers as `security` alone.
const HALF_ANSWERED: &str = "prompt=$(cat)
answer='{\"reviewer\": \"x\", \"findings\": [], \"residual_risks\": [], \"testing_gaps\": []}'
case \"$prompt\" in
  *'You are the `security` reviewer'*) if [ -e .git/waits ]; then exec 3<\"$ALIVE\"; sleep 600 & wait; fi ;;
  *) [ -e .git/waits ] || exit 1 ;;
esac
echo \"$answer\"";

#[test]
fn a_resumed_review_asks_only_for_the_answers_that_are_missing() {
    let configuration = "models:\n  use:\n    half:\n      api: command\n      run: [sh, '{waits}']\n      \
                         answer: text\n  attempts: 1\n  at_a_time: 1\n  cache: false\n\
                         review:\n  second_looks: false\n  lookups: false\n";
    let fixture = InterruptFixture::new(configuration);
    let script = with_pipe(HALF_ANSWERED, &fixture.fifo)
        .replace(".git/waits", &fixture.repository.path().join(".git/waits").display().to_string());
    fixture.repository.write("waits.sh", script);
    fixture.repository.write(".git/waits", "");
    fixture.repository.commit("the model");
    let fixture = fixture.change("a = 2\n");
    let review = ["review", "--models", "--persona", "correctness,security", "--format", "json"];
    let resume = [&review[..], &["--resume"]].concat();
    let nothing = assay_in(fixture.repository.path(), &resume, b"");
    assert_eq!(nothing.code, 2, "{}", nothing.stdout);
    assert!(nothing.stderr.contains("no review has been run yet"), "{}", nothing.stderr);

    let (child, alive) = fixture.start(&review);
    kill("-INT", &child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    wait_until_gone(alive);
    fs::remove_file(fixture.repository.path().join(".git/waits")).unwrap();

    // The model answers as `correctness` no more, so that answer is the one of the first run.
    let resumed = assay_in(fixture.repository.path(), &resume, b"");
    assert_eq!(resumed.code, 0, "{}{}", resumed.stdout, resumed.stderr);
    let reports = resumed.json()["reports"].as_array().unwrap().clone();
    assert!(reports.iter().all(|report| report["unusable"].is_null()), "{reports:#?}");

    let again = assay_in(fixture.repository.path(), &resume, b"");
    assert_eq!(again.code, 2, "{}", again.stdout);
    assert!(again.stderr.contains("was not interrupted"), "{}", again.stderr);
}

#[test]
fn an_interrupted_review_of_another_change_is_not_resumed() {
    let fixture = InterruptFixture::new(AGENT).change("a = 2\n");
    let review = ["review", "--models", "--persona", "correctness"];
    let (child, alive) = fixture.start(&review);
    kill("-INT", &child);
    child.wait_with_output().unwrap();
    wait_until_gone(alive);
    fixture.repository.write("a.py", "a = 3\n");
    let resumed = assay_in(fixture.repository.path(), &[&review[..], &["--resume"]].concat(), b"");
    assert_eq!(resumed.code, 2, "{}", resumed.stdout);
    assert!(resumed.stderr.contains("another change"), "{}", resumed.stderr);
    let plain = assay_in(fixture.repository.path(), &["review", "--resume"], b"");
    assert!(plain.stderr.contains("no model reads this change"), "{}", plain.stderr);
}

#[test]
fn a_watched_change_is_reviewed_again_when_a_file_changes() {
    let repository = Repository::new();
    repository.write("a.py", "def f():\n    return 1\n");
    repository.commit("before");
    repository.write("a.py", "def f():\n    breakpoint()\n    return 1\n");
    let mut command = command_in(repository.path(), &["review", "--watch", "--format", "concise"]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut verdict = || {
        let found = lines.find(|line| !line.as_ref().unwrap().starts_with("a.py"));
        found.expect("a review").unwrap()
    };
    assert_eq!(verdict(), "not ready (rules only)");
    repository.write("a.py", "def f():\n    return 22\n");
    assert_eq!(verdict(), "ready (rules only)");
    repository.git(&["commit", "--quiet", "--all", "--message", "after"]);
    repository.write("a.py", "def f():\n    breakpoint()\n    return 22\n");
    // A review may also run between the commit and the edit.
    while verdict() != "not ready (rules only)" {}
    child.kill().unwrap();
    child.wait().unwrap();
}
