//! Runs with kept tests in place that are killed: the next run restores every file of the work
//! tree.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use assay_testenv::workspace::target_folder;

use crate::random::Random;
use crate::repository::Repository;
use crate::workspace::{assay, output};

/// The number of kills.
const KILLS: usize = 1_000;

/// A test of the main branch, which takes a moment.
const KEPT: &str = "echo 1..1\nsleep 0.4\ngrep -q hello greeting.txt && echo 'ok 1 - greets' || { echo 'not ok 1 - greets'; exit 1; }\n";

/// The test as the branch changes it.
const CHANGED: &str = "echo 1..1\necho 'ok 1 - greets'\n";

const SPEC: &str = "# Greeting\n\n## Acceptance Criteria\n\n- [ ] `greets` passes\n\n## Verification\n\n**Unit Tests:**\n- `sh tests/run.sh` - All pass\n";

const PLAN: &str = r#"{"feature": "Greeting", "phases": [{"name": "one", "subtasks": [{"id": "1.1", "status": "completed"}]}]}"#;

/// The files of a work tree, each with its mode and content.
type Files = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Runs the suite.
pub(super) fn run(seed: u64) -> anyhow::Result<Vec<(String, bool)>> {
    println!("=== kept, seed {seed}");
    let binary = assay()?;
    let name = format!("{KILLS} runs with kept tests killed");
    let result = killed(&binary, seed);
    match &result {
        Ok(told) => println!("{name}: {told}"),
        Err(error) => println!("{name}: {error:#}"),
    }
    Ok(vec![(name, result.is_ok())])
}

fn killed(binary: &Path, seed: u64) -> anyhow::Result<String> {
    let mut random = Random::new(seed);
    let repository = repository()?;
    let folder = repository.folder();
    let expected = files(folder)?;
    let begun = Instant::now();
    start(binary, folder)?.wait()?;
    let usual = begun.elapsed();
    ensure!(files(folder)? == expected, "even a calm run leaves another tree");
    let mut in_between = 0;
    for kill in 0..KILLS {
        let mut child = start(binary, folder)?;
        let part = u32::try_from(random.below(1_100))?;
        wait(&mut child, usual * part / 1_000)?;
        // A run that has ended cannot be killed any more.
        let _ = child.kill();
        child.wait()?;
        in_between += usize::from(files(folder)? != expected);
        let mut status = Command::new(binary);
        status.args(["qa", "--spec", "001", "--status"]).current_dir(folder);
        output(status)?;
        ensure!(files(folder)? == expected, "kill {kill} left another tree than there was");
    }
    ensure!(in_between > 0, "no run was killed while kept tests were in place");
    Ok(format!("{KILLS} kills, {in_between} of them with kept tests in place; all files came back"))
}

/// Waits until a process ends, or until the time is over.
fn wait(child: &mut Child, time: Duration) -> anyhow::Result<()> {
    let deadline = Instant::now() + time;
    while Instant::now() < deadline && child.try_wait()?.is_none() {
        thread::yield_now();
    }
    Ok(())
}

fn start(binary: &Path, folder: &Path) -> anyhow::Result<Child> {
    Command::new(binary)
        .args(["qa", "--spec", "001", "--resume"])
        .current_dir(folder)
        .env("MAX_QA_ITERATIONS", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("a run could not be started")
}

/// Creates a repository whose branch changes, adds and deletes files of tests.
fn repository() -> anyhow::Result<Repository> {
    let repository = Repository::new(target_folder("soak/kept")?.join("killed"))?;
    repository.write("config/agent-framework.yaml", b"qa:\n  fixer: safe\n")?;
    repository.write("greeting.txt", b"hello\n")?;
    repository.write("tests/run.sh", KEPT.as_bytes())?;
    repository.write("tests/data/deep/gone.txt", b"gone\n")?;
    repository.commit("main")?;
    let mut switch = Command::new("git");
    switch.args(["switch", "--quiet", "--create", "work"]).current_dir(repository.folder());
    output(switch)?;
    repository.write("greeting.txt", b"nothing\n")?;
    repository.write("tests/run.sh", CHANGED.as_bytes())?;
    repository.write("conftest.py", b"new\n")?;
    fs::remove_dir_all(repository.folder().join("tests/data"))?;
    repository.write("specs/001-greeting/spec.md", SPEC.as_bytes())?;
    repository.write("specs/001-greeting/implementation_plan.json", PLAN.as_bytes())?;
    repository.commit("work")?;
    let mode = fs::Permissions::from_mode(0o640);
    fs::set_permissions(repository.folder().join("tests/run.sh"), mode)?;
    Ok(repository)
}

/// Reads the files of a work tree, except those of git and of the loop.
fn files(root: &Path) -> anyhow::Result<Files> {
    let mut found = Files::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let about = fs::symlink_metadata(&path)?;
            let is_own = [".git", ".assay", "specs"].iter().any(|name| path == root.join(name));
            match about.is_dir() {
                _ if is_own => {}
                true => waiting.push(path),
                false => {
                    let content = fs::read(&path)?;
                    found.insert(path, (about.permissions().mode(), content));
                }
            }
        }
    }
    Ok(found)
}
