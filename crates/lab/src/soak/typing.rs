//! Random edits through `assay lsp`, compared with a review of the last text.

use assay_testenv::workspace::command;

/// The number of sequences of edits, a fiftieth of which is a test.
const SEQUENCES: usize = 1_000;

/// Runs the test of the binary with the number of sequences of a soak run.
pub(super) fn run(seed: u64) -> anyhow::Result<Vec<(String, bool)>> {
    println!("=== typing, seed {seed}");
    let status = command("cargo", &["test", "--release", "--package", "assay"])
        .args(["--test", "it", "--", "--nocapture", "--exact"])
        .arg("lsp_edits::random_edits_through_the_server_give_the_findings_of_a_review")
        .env("ASSAY_SOAK_SEQUENCES", SEQUENCES.to_string())
        .env("ASSAY_SOAK_SEED", seed.to_string())
        .status()?;
    Ok(vec![(format!("{SEQUENCES} sequences of edits in an editor"), status.success())])
}
