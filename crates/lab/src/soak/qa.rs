//! A validation loop that is killed repeatedly: the next run resumes it, and the result is the
//! same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use assay_testenv::workspace::{root, target_folder};
use serde_json::Value;

use crate::random::Random;
use crate::repository::Repository;
use crate::workspace::{assay, output};

/// The number of kills.
const KILLS: usize = 1_000;

/// The maximum number of kills of a loop; a loop that does not end by then is stuck.
const MAX_KILLS_PER_LOOP: usize = 400;

/// Runs the suite.
pub(super) fn run(seed: u64) -> anyhow::Result<Vec<(String, bool)>> {
    println!("=== qa, seed {seed}");
    let binary = assay()?;
    let name = format!("{KILLS} runs of the validation loop killed");
    let result = killed(&binary, seed);
    match &result {
        Ok(told) => println!("{name}: {told}"),
        Err(error) => println!("{name}: {error:#}"),
    }
    Ok(vec![(name, result.is_ok())])
}

/// The result of a loop: its visible outcome, and the resulting tree.
#[derive(Debug, PartialEq)]
struct LoopEnd {
    status: Option<i32>,
    history: Vec<String>,
    code: String,
    papers: Vec<String>,
}

fn killed(binary: &Path, seed: u64) -> anyhow::Result<String> {
    let mut random = Random::new(seed);
    let calm = spec("calm")?;
    let begun = Instant::now();
    let status = start(binary, calm.folder())?.wait()?.code();
    let usual = begun.elapsed();
    let expected = read_end(calm.folder(), status)?;
    ensure!(expected.status == Some(0), "even a calm loop is not approved: {expected:?}");
    let (mut kills, mut loops) = (0, 0);
    while kills < KILLS {
        let repository = spec("killed")?;
        let status = run_to_end(binary, repository.folder(), usual, &mut random, &mut kills)?;
        let came_out = read_end(repository.folder(), status)?;
        ensure!(
            came_out == expected,
            "after {kills} kills a loop ended otherwise: {came_out:?} instead of {expected:?}"
        );
        loops += 1;
    }
    Ok(format!("{kills} kills in {loops} loops, all of which ended as a calm one does"))
}

/// Starts runs and kills them, each after a short time, until one completes.
fn run_to_end(
    binary: &Path,
    folder: &Path,
    usual: Duration,
    random: &mut Random,
    kills: &mut usize,
) -> anyhow::Result<Option<i32>> {
    for _ in 0..MAX_KILLS_PER_LOOP {
        let mut child = start(binary, folder)?;
        // Most kills are early, so that a loop is killed many times before it ends.
        let part = random.below(1_000) as u32;
        let deadline = Instant::now() + usual * part / 1_500;
        while Instant::now() < deadline {
            if let Some(status) = child.try_wait()? {
                return Ok(status.code());
            }
            thread::yield_now();
        }
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        child.kill()?;
        child.wait()?;
        *kills += 1;
    }
    bail!("a loop was killed {MAX_KILLS_PER_LOOP} times and did not end")
}

fn start(binary: &Path, folder: &Path) -> anyhow::Result<Child> {
    let log = fs::File::create(folder.with_extension("log"))?;
    Command::new(binary)
        .args(["qa", "--spec", "001"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .context("a run could not be started")
}

/// Creates a repository with the spec of the manual, implemented with defects.
fn spec(name: &str) -> anyhow::Result<Repository> {
    let repository = Repository::new(target_folder("soak/qa")?.join(name))?;
    let example = root().join("examples/qa");
    let copy = |path: &str| -> anyhow::Result<()> {
        let mut text = fs::read_to_string(example.join(path))?;
        if path.ends_with(".json") {
            text = text.replace("in_progress", "completed");
        }
        repository.write(path, text.as_bytes())
    };
    copy("config/agent-framework.yaml")?;
    copy("fix.sh")?;
    repository.commit("Who fixes")?;
    git(repository.folder(), &["switch", "--quiet", "--create", "greeting"])?;
    let folder = "specs/001-greeting";
    let files = [
        "greet.sh".to_owned(),
        "tests/run.sh".to_owned(),
        format!("{folder}/spec.md"),
        format!("{folder}/implementation_plan.json"),
    ];
    files.iter().try_for_each(|path| copy(path))?;
    repository.commit("A greeting")?;
    Ok(repository)
}

fn git(folder: &Path, args: &[&str]) -> anyhow::Result<()> {
    let mut git = Command::new("git");
    git.args(args).current_dir(folder);
    output(git).map(|_| ())
}

fn read_end(folder: &Path, status: Option<i32>) -> anyhow::Result<LoopEnd> {
    let spec: PathBuf = folder.join("specs/001-greeting");
    let plan: Value = serde_json::from_slice(&fs::read(spec.join("implementation_plan.json"))?)?;
    let rounds = plan["qa_iteration_history"].as_array().context("there is no history")?;
    let history = rounds.iter().map(|round| {
        let issues = round["issues"].as_array().map_or(0, Vec::len);
        format!("{} {} with {issues} issues", round["iteration"], round["status"])
    });
    let mut papers: Vec<String> = fs::read_dir(&spec)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<anyhow::Result<_>>()?;
    papers.sort();
    Ok(LoopEnd {
        status,
        history: history.collect(),
        code: fs::read_to_string(folder.join("greet.sh"))?,
        papers,
    })
}
