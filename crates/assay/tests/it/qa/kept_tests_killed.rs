//! Runs that are killed while kept tests replace files of the work tree: the files are restored.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread;

use super::{PLAN, QaFixture};

const SPEC: &str = "# Work\n\n## Acceptance Criteria\n\n- [ ] `greets` passes\n\n## Verification\n\n**Unit Tests:**\n- `sh tests/run.sh` - All pass\n";

/// Sets up a branch that changes, adds and deletes files of tests. The test of the main branch
/// waits at a pipe until the pipe is written to.
fn fixture() -> (QaFixture, PathBuf) {
    let fixture = QaFixture::bare();
    let pipe = fixture.pipe("waits");
    let waits = format!("echo 1..1; read -r word < '{}'; echo 'ok 1 - greets'\n", pipe.display());
    change_tests(&fixture, &waits, "");
    (fixture, pipe)
}

/// Sets up a branch that changes, adds and deletes files of tests, with the test of the main branch
/// and more lines of the configuration.
fn change_tests(fixture: &QaFixture, test: &str, more: &str) {
    fixture.configure("true\n", more);
    let repository = &fixture.repository;
    repository.write("tests/run.sh", test);
    repository.write("tests/data/deep/gone.txt", "gone\n");
    repository.commit("main");
    repository.git(&["switch", "--quiet", "--create", "work"]);
    repository.write("tests/run.sh", "echo 1..1; echo 'ok 1 - greets'\n");
    fs::remove_dir_all(repository.file("tests/data")).unwrap();
    repository.write("conftest.py", "new\n");
    repository.write("greeting.txt", "hello\n");
    repository.write("specs/001-work/spec.md", SPEC);
    repository.write("specs/001-work/implementation_plan.json", PLAN);
    repository.commit("work");
    let mode = fs::Permissions::from_mode(0o640);
    fs::set_permissions(repository.file("tests/run.sh"), mode).unwrap();
}

/// Reads the files of the work tree, except those of git and of the loop.
fn files(fixture: &QaFixture) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let root = fixture.repository.path().to_owned();
    let (mut found, mut waiting) = (BTreeMap::new(), vec![root.clone()]);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let about = fs::symlink_metadata(&path).unwrap();
            let is_own = [".git", ".assay", "specs"].iter().any(|name| path == root.join(name));
            match about.is_dir() {
                _ if is_own => {}
                true => {
                    found.insert(path.clone(), (about.permissions().mode(), Vec::new()));
                    waiting.push(path);
                }
                false => {
                    let content = fs::read(&path).unwrap();
                    found.insert(path, (about.permissions().mode(), content));
                }
            }
        }
    }
    found
}

/// Starts a run, and returns when the kept test waits at the pipe.
fn until_it_waits(fixture: &QaFixture, pipe: &PathBuf) -> (Child, File) {
    let (child, _) = fixture.spawn(&["--spec", "001", "--resume"]);
    let opened = OpenOptions::new().write(true).open(pipe).unwrap();
    (child, opened)
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
}

#[test]
fn the_next_run_restores_the_files_of_a_killed_run() {
    let (fixture, pipe) = fixture();
    let before = files(&fixture);
    let (mut child, opened) = until_it_waits(&fixture, &pipe);
    assert_ne!(files(&fixture), before, "kept tests are in place");
    // Another command does not move the files of a running loop.
    fixture.ends(0, &["--status"]);
    assert_ne!(files(&fixture), before, "they still are");
    signal(&child, "KILL");
    child.wait().unwrap();
    drop(opened);
    assert_ne!(files(&fixture), before, "a kill leaves no time to move them back");
    let status = fixture.ends(0, &["--status"]);
    assert_eq!(files(&fixture), before, "{}", status.stderr);
    assert_eq!(status.stderr, "");
}

/// A small version of the suite `soak kept`: kills the run after each line of its output, with a
/// delay of scheduler turns from a fixed seed. The test above shows that kept tests are in place
/// when a run is killed.
#[test]
fn the_next_run_restores_the_files_after_a_kill_at_any_point() {
    let fixture = QaFixture::bare();
    // The run is never approved, so that each further run starts again.
    let test = "echo 1..1; grep -q goodbye greeting.txt && echo 'ok 1 - greets' || { echo 'not ok 1 - greets'; exit 1; }\n";
    change_tests(&fixture, test, "  max_iterations: 1\n");
    let before = files(&fixture);
    let args = ["--spec", "001", "--resume"];
    let (mut child, lines) = fixture.spawn(&args);
    let printed = lines.count();
    child.wait().unwrap();
    assert!(printed > 3 && files(&fixture) == before, "a calm run prints {printed} lines");
    let mut seed = 19_u64;
    for line in 0..printed {
        let (mut child, mut lines) = fixture.spawn(&args);
        let _ = lines.nth(line);
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (0..(seed >> 50)).for_each(|_| thread::yield_now());
        // A run that has ended cannot be killed any more.
        let _ = child.kill();
        child.wait().unwrap();
        fixture.ends(0, &["--status"]);
        assert_eq!(files(&fixture), before, "killed behind line {line}");
    }
}

#[test]
fn a_run_that_is_interrupted_moves_its_files_back() {
    let (fixture, pipe) = fixture();
    let before = files(&fixture);
    for name in ["TERM", "INT", "HUP"] {
        let (mut child, opened) = until_it_waits(&fixture, &pipe);
        assert_ne!(files(&fixture), before, "kept tests are in place");
        signal(&child, name);
        child.wait().unwrap();
        drop(opened);
        assert_eq!(files(&fixture), before, "{name}");
    }
}

#[test]
fn a_file_edited_during_a_killed_run_is_not_lost() {
    let (fixture, pipe) = fixture();
    let before = files(&fixture);
    let (mut child, opened) = until_it_waits(&fixture, &pipe);
    fixture.repository.write("tests/run.sh", "edited meanwhile\n");
    signal(&child, "KILL");
    child.wait().unwrap();
    drop(opened);
    let status = fixture.ends(0, &["--status"]);
    assert_eq!(files(&fixture), before);
    let named = status.stderr.split('`').nth(1).unwrap_or_default().to_owned();
    assert_eq!(fs::read_to_string(&named).unwrap(), "edited meanwhile\n", "{}", status.stderr);
}

#[test]
fn a_check_that_changes_git_metadata_fails_and_the_change_is_undone() {
    let fixture = QaFixture::with_fixer("true");
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    let config = fs::read(fixture.repository.file(".git/config")).unwrap();
    for attack in [
        "git config core.hooksPath /tmp/hooks",
        "echo 'exit 0' > .git/hooks/pre-commit",
        "mkdir -p .git/info; echo '*.py' >> .git/info/exclude",
    ] {
        let script = format!("{attack}\n{}", super::RUNNER);
        fixture.repository.write("test.sh", script);
        fixture.repository.git(&["add", "test.sh"]);
        fixture.repository.git(&["commit", "--quiet", "--message", "tests", "test.sh"]);
        let args = ["--resume", "--base", "HEAD"];
        let ran = fixture.ends_with(4, &args, &[("MAX_QA_ITERATIONS", "1")]);
        assert!(ran.stdout.contains("the check changed `.git/"), "{attack}: {}", ran.stdout);
        assert_eq!(fs::read(fixture.repository.file(".git/config")).unwrap(), config, "{attack}");
        assert!(!fixture.repository.file(".git/hooks/pre-commit").exists(), "{attack}");
        let exclude = fs::read_to_string(fixture.repository.file(".git/info/exclude"));
        assert!(!exclude.unwrap_or_default().contains("*.py"), "{attack}");
    }
}
