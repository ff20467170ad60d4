//! Agents that are killed while their commands run: no orphan process, no foreign byte in a commit.

use assay_testenv::workspace::command;

/// The number of kills.
const KILLS: usize = 200;

/// Runs the test of the binary with the number of kills of a soak run.
pub(super) fn run(seed: u64) -> anyhow::Result<Vec<(String, bool)>> {
    println!("=== agents, seed {seed}");
    let status = command("cargo", &["test", "--release", "--package", "assay"])
        .args(["--test", "it", "--", "--nocapture", "--exact"])
        .arg("agents::orphans::agents_killed_with_running_commands_leave_no_process_and_no_stray_write")
        .env("ASSAY_SOAK_KILLS", KILLS.to_string())
        .env("ASSAY_SOAK_SEED", seed.to_string())
        .status()?;
    Ok(vec![(format!("{KILLS} agents killed with running commands"), status.success())])
}
