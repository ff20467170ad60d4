//! Concurrent writers on one gate, and writers that are killed: no update is lost, and the state is
//! always readable.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use assay_gates::item::{ItemId, ItemResult};
use assay_gates::list::List;
use assay_gates::phase::Phase;
use assay_testenv::workspace::target_folder;

use crate::random::Random;
use crate::repository::Repository;
use crate::workspace::{assay, output};

/// The number of concurrent writers.
const WRITERS: usize = 32;

/// The number of rounds with all writers.
const RUNS: usize = 100;

/// The number of kills.
const KILLS: usize = 1_000;

const PHASE: [&str; 4] = ["--phase", "plan-structure", "--state-dir", "state"];

/// Runs the suite.
pub(super) fn run(seed: u64) -> anyhow::Result<Vec<(String, bool)>> {
    println!("=== gates, seed {seed}");
    let binary = assay()?;
    let mut outcomes = Vec::new();
    for (name, result) in [
        (format!("{WRITERS} writers at once, {RUNS} times"), many_writers(&binary)),
        (format!("{KILLS} writers killed"), killed_writers(&binary, seed)),
    ] {
        match &result {
            Ok(told) => println!("{name}: {told}"),
            Err(error) => println!("{name}: {error:#}"),
        }
        outcomes.push((name, result.is_ok()));
    }
    Ok(outcomes)
}

/// Creates a repository with a gate whose items are all verified by hand.
fn gate(binary: &Path, name: &str) -> anyhow::Result<Repository> {
    let repository = Repository::new(target_folder("soak/gates")?.join(name))?;
    let item = |number| format!(r#"{{"id": "i-{number}", "scope": "*", "check": "c"}}"#);
    let items: Vec<String> = (0..WRITERS).map(item).collect();
    repository.write("items.json", format!("[{}]", items.join(",")).as_bytes())?;
    repository.write("plan.md", b"# Plan\n")?;
    let mut decompose = Command::new(binary);
    decompose.args(["gate", "decompose", "--plan", "plan.md", "--items", "items.json"]);
    decompose.arg("--only-items").args(PHASE).current_dir(repository.folder());
    output(decompose)?;
    Ok(repository)
}

fn writer(binary: &Path, folder: &Path, item: usize, finding: &str) -> anyhow::Result<Child> {
    Command::new(binary)
        .args(["gate", "update-item", &format!("i-{item}"), "--status", "FAIL"])
        .args(["--finding", finding])
        .args(PHASE)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("a writer could not be started")
}

/// Returns the finding of each item of the list.
fn findings(folder: &Path) -> anyhow::Result<Vec<Option<String>>> {
    let path = folder.join("state").join(format!("qr-{}.json", Phase::PlanStructure));
    let list = List::read(Phase::PlanStructure, &std::fs::read_to_string(path)?)?;
    let finding = |number: usize| -> anyhow::Result<Option<String>> {
        let id: ItemId = format!("i-{number}").parse()?;
        let item = list.get(&id).context("an item is gone")?;
        Ok(match &item.result {
            ItemResult::Fail(finding) => Some(finding.clone()),
            ItemResult::Todo | ItemResult::Pass => None,
        })
    };
    (0..WRITERS).map(finding).collect()
}

fn many_writers(binary: &Path) -> anyhow::Result<String> {
    let repository = gate(binary, "writers")?;
    for run in 0..RUNS {
        let told = |item: usize| format!("{run} by {item}");
        let writers: Vec<Child> = (0..WRITERS)
            .map(|item| writer(binary, repository.folder(), item, &told(item)))
            .collect::<anyhow::Result<_>>()?;
        for mut writer in writers {
            ensure!(writer.wait()?.success(), "a writer failed in run {run}");
        }
        let expected: Vec<Option<String>> = (0..WRITERS).map(|item| Some(told(item))).collect();
        ensure!(findings(repository.folder())? == expected, "an update was lost in run {run}");
    }
    Ok(format!("{} updates, none lost", WRITERS * RUNS))
}

fn killed_writers(binary: &Path, seed: u64) -> anyhow::Result<String> {
    let repository = gate(binary, "killed")?;
    let mut random = Random::new(seed);
    let longest = longest(binary, repository.folder())?;
    let mut known = findings(repository.folder())?;
    let mut written = 0;
    for kill in 0..KILLS {
        let item = random.below(WRITERS);
        let told = format!("{kill}");
        let mut writer = writer(binary, repository.folder(), item, &told)?;
        std::thread::sleep(Duration::from_micros(random.below(longest) as u64));
        let _ = writer.kill();
        writer.wait()?;
        let now = findings(repository.folder())?;
        if now[item].as_ref() == Some(&told) {
            written += 1;
            known[item] = Some(told);
        }
        ensure!(now == known, "kill {kill} left something that was neither before nor after");
    }
    ensure!(written > 0 && written < KILLS, "{written} of {KILLS} were killed after they wrote");
    Ok(format!("{written} of {KILLS} wrote before they died, the others not, and nothing between"))
}

/// Returns the duration of an undisturbed writer, in microseconds: kills within that time occur
/// before, during and after its write.
fn longest(binary: &Path, folder: &Path) -> anyhow::Result<usize> {
    let mut longest = Duration::ZERO;
    for item in 0..8 {
        let begun = Instant::now();
        ensure!(writer(binary, folder, item, "first")?.wait()?.success(), "a writer failed");
        longest = longest.max(begun.elapsed());
    }
    Ok(usize::try_from(longest.as_micros())? * 3 / 2)
}
