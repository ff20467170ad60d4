//! The exit code of a command does not depend on the reader of its output.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::Stdio;

use assay_testenv::not_run;
use assay_testkit::Repository;

use crate::{AssayRun, assay_in, command_in};

/// A command, and the repository that it runs in.
struct Case {
    args: Vec<String>,
    input: &'static str,
    set_up: fn() -> Repository,
}

fn case(set_up: fn() -> Repository, line: &str) -> Case {
    with_input(set_up, line, "")
}

fn with_input(set_up: fn() -> Repository, line: &str, input: &'static str) -> Case {
    Case { args: line.split(' ').map(str::to_owned).collect(), input, set_up }
}

const REPORT: &str = r#"{"reviewer": "a", "findings": [{"title": "t", "severity": "P0",
    "file": "a.py", "line": 1, "confidence": 100, "autofix_class": "manual", "owner": "human",
    "requires_verification": true, "pre_existing": false}], "residual_risks": [], "testing_gaps": []}"#;

const PLAN: &str = "# A plan\n\n## Milestone M1: One\n\nFiles: `a.py`\n";

fn clean() -> Repository {
    let repository = Repository::new();
    repository.write("a.py", "a = 1\n");
    repository.commit("before");
    repository.write("a.py", "a = 2\n");
    repository
}

fn flawed() -> Repository {
    let repository = clean();
    repository
        .write("a.py", "import os\n\n\ndef f(n):\n    breakpoint()\n    os.system(f\"rm {n}\")\n");
    repository
}

/// Returns a repository with a change that was reviewed twice.
fn reviewed() -> Repository {
    let repository = flawed();
    for _ in 0..2 {
        assert_eq!(assay_in(repository.path(), &["review"], b"").code, 1);
    }
    repository
}

/// Returns the ids of the runs of a repository, the oldest first.
fn run_ids(repository: &Repository) -> Vec<String> {
    let runs = std::fs::read_dir(repository.path().join(".assay/runs"));
    let names = runs.into_iter().flatten().map(|entry| entry.unwrap().file_name());
    let mut ids: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    ids.sort();
    ids
}

fn recorded() -> Repository {
    let repository = flawed();
    assert_eq!(assay_in(repository.path(), &["review", "--record", "rec"], b"").code, 1);
    repository
}

/// Returns a repository with a review by a model, which is stored for a replay.
fn recorded_run() -> Repository {
    let repository = Repository::new();
    let report =
        r#"{"reviewer": "correctness", "findings": [], "residual_risks": [], "testing_gaps": []}"#;
    repository.write(
        "config/agent-framework.yaml",
        format!(
            "models:\n  use:\n    own:\n      api: command\n      model: any\n      \
             run: [echo, '{report}']\n      answer: text\n"
        ),
    );
    repository.write("shop.py", "def total(prices):\n    return 0\n");
    repository.commit("a shop");
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    repository.write("shop.py", "def total(prices):\n    return sum(prices)\n");
    repository.commit("prices add up");
    let ran = assay_in(repository.path(), &["review", "--models", "--persona", "correctness"], b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    repository
}

fn with_gate() -> Repository {
    let repository = clean();
    repository.write("plan.md", PLAN);
    let decompose = ["gate", "decompose", "--phase", "plan-structure", "--plan", "plan.md"];
    assert_eq!(assay_in(repository.path(), &decompose, b"").code, 0);
    repository
}

fn with_report() -> Repository {
    let repository = clean();
    repository.write("report.json", REPORT);
    repository
}

fn with_plan() -> Repository {
    let repository = clean();
    repository.write("plan.md", PLAN);
    repository
}

fn with_bad_configuration() -> Repository {
    let repository = clean();
    repository.write("config/agent-framework.yaml", "nonsense: true\n");
    repository
}

fn with_spec() -> Repository {
    let repository = clean();
    repository.write("specs/001-a/spec.md", "# A\n\n## Acceptance Criteria\n\n- [ ] `a` passes\n");
    repository.write("specs/001-a/implementation_plan.json", r#"{"feature": "A", "phases": []}"#);
    repository
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let formats =
        ["terminal", "json", "sarif", "rdjson", "rdjsonl", "markdown", "github", "checklist"];
    for format in formats {
        cases.push(case(flawed, &format!("review --format {format}")));
    }
    cases.extend([
        case(clean, "review"),
        case(flawed, "review --mode headless"),
        case(flawed, "review --roster"),
        case(flawed, "review --dry-run"),
        case(with_report, "findings synthesize report.json"),
        with_input(clean, "findings parse", "CRITICAL: it breaks\nREQUEST_CHANGES"),
        with_input(clean, "findings parse", ""),
        with_input(clean, "findings validate", r#"{"reviewer": 1}"#),
        with_input(clean, "findings render --as sarif", r#"{"findings": []}"#),
        with_input(clean, "findings recurring", r#"{"current": [], "history": []}"#),
        case(reviewed, "findings list"),
        case(with_plan, "gate decompose --phase plan-structure --plan plan.md"),
        case(with_gate, "gate verify --phase plan-structure"),
        case(with_gate, "gate verify --phase plan-structure --format json"),
        case(with_gate, "gate run --phase plan-structure"),
        case(with_gate, "gate status"),
        case(with_gate, "gate status --phase plan-structure --format json"),
        case(with_gate, "gate guide --phase plan-structure"),
        case(with_plan, "gate reconcile --plan plan.md"),
        case(with_spec, "qa --status --spec 001"),
        case(clean, "queue list"),
        case(clean, "queue stats"),
        case(clean, "agent status --json"),
        case(clean, "agent status --once"),
        case(with_bad_configuration, "doctor"),
        case(reviewed, "fix --check"),
        case(reviewed, "fix"),
        case(reviewed, "report {last} --html page.html"),
        case(reviewed, "diff {first} {last}"),
        case(recorded, "review --replay rec"),
        case(recorded_run, "replay {last}"),
        case(clean, "schema persona"),
        case(clean, "init"),
        case(clean, "completions bash"),
        case(clean, "man"),
        case(clean, "--help"),
        case(clean, "--version"),
    ]);
    cases
}

impl Case {
    fn run(&self, stdout: impl Into<Stdio>) -> AssayRun {
        let repository = (self.set_up)();
        let ids = run_ids(&repository);
        let id = |id: Option<&String>| id.cloned().unwrap_or_default();
        let named = |arg: &String| {
            arg.replace("{first}", &id(ids.first())).replace("{last}", &id(ids.last()))
        };
        let args: Vec<String> = self.args.iter().map(named).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut child = command_in(repository.path(), &args).stdout(stdout).spawn().unwrap();
        // A command that needs no input may have exited already.
        let _ = child.stdin.take().unwrap().write_all(self.input.as_bytes());
        let output = child.wait_with_output().unwrap();
        AssayRun {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap(),
        }
    }
}

/// Returns the writing end of a pipe without a reader.
fn unread() -> io::PipeWriter {
    io::pipe().unwrap().1
}

fn each(check: impl Fn(&Case, &AssayRun) + Sync) {
    let cases = cases();
    std::thread::scope(|scope| {
        for part in cases.chunks(cases.len().div_ceil(4)) {
            let check = &check;
            scope.spawn(move || {
                for case in part {
                    let read = case.run(Stdio::piped());
                    assert!(
                        !read.stdout.is_empty(),
                        "{:?} prints nothing: {}",
                        case.args,
                        read.stderr
                    );
                    check(case, &read);
                }
            });
        }
    });
}

#[test]
fn a_closed_stdout_does_not_change_the_exit_code() {
    each(|case, read| {
        let unread = case.run(unread());
        assert_eq!(unread.code, read.code, "{:?}: {}", case.args, unread.stderr);
        assert!(!unread.stderr.contains("stdout"), "{:?}: {}", case.args, unread.stderr);
    });
}

#[test]
fn output_that_cannot_be_written_is_never_a_success() {
    if !Path::new("/dev/full").exists() {
        not_run::record("this system has no device that is always full");
        return;
    }
    each(|case, read| {
        let full = case.run(File::options().write(true).open("/dev/full").unwrap());
        let expected = if read.code == 0 { 3 } else { read.code };
        assert_eq!(full.code, expected, "{:?}: {}", case.args, full.stderr);
        assert!(
            full.stderr.contains("error: cannot write to stdout: No space left on device"),
            "{:?}: {}",
            case.args,
            full.stderr
        );
    });
}

#[test]
fn a_file_of_output_that_cannot_be_written_is_never_a_success() {
    if !Path::new("/dev/full").exists() {
        not_run::record("this system has no device that is always full");
        return;
    }
    let (ready, flawed) = (clean(), clean());
    ready.write("a.py", "x = 2\n");
    flawed.write(
        "a.py",
        "import subprocess\nsubprocess.run(input(), shell=True)\npassword = \"kT9vQ2mX7pLw\"\n",
    );
    for (repository, code) in [(&ready, 3), (&flawed, 1)] {
        for option in [["-o", "/dev/full"], ["--format", "json=/dev/full"]] {
            let ran = assay_in(repository.path(), &["review", option[0], option[1]], b"");
            assert_eq!(ran.code, code, "{option:?}: {}", ran.stderr);
            let error = "error: cannot write to `/dev/full`: No space left on device";
            assert!(ran.stderr.contains(error), "{option:?}: {}", ran.stderr);
        }
    }
    let missing = assay_in(ready.path(), &["review", "-o", "nowhere/a.txt"], b"");
    assert_eq!(missing.code, 2, "{}", missing.stderr);
}

#[test]
fn a_watching_command_exits_when_its_stdout_is_closed() {
    let repository = clean();
    let push = ["queue", "push", "--title", "a", "--type", "review", "--queue", "qa"];
    assert_eq!(assay_in(repository.path(), &push, b"").code, 0);
    let watch = command_in(repository.path(), &["queue", "watch"]).stdout(unread()).output();
    assert_eq!(watch.unwrap().status.code(), Some(0));
}
