//! What is left when a review is cut off while it writes.

use std::fs;
use std::path::Path;
use std::process::Command;

use assay_fakes::Repository;

/// The files that every run has.
const FILES: [&str; 5] =
    ["fixes.json", "log", "reviewer-rules.json", "synthesis.json", "verdict.json"];

/// Runs a review that may write files of so many blocks only, and is killed at the first block
/// more.
fn review_within(folder: &Path, blocks: u32) -> Option<i32> {
    let script = format!("ulimit -c 0; ulimit -f {blocks}; exec \"$0\" review");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_assay")]).current_dir(folder);
    command.output().unwrap().status.code()
}

#[test]
fn a_run_that_is_cut_off_at_any_write_leaves_no_half_of_it() {
    let repository = Repository::new();
    let flaws: String =
        (0..12).map(|n| format!("def f{n}(a):\n    breakpoint()\n    return a\n\n")).collect();
    repository.write("a.py", &flaws);
    repository.commit("after");
    let runs = repository.path().join(".assay/runs");
    let mut cut_off = 0;
    for blocks in [0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 200] {
        cut_off += usize::from(review_within(repository.path(), blocks) != Some(1));
        let Ok(entries) = fs::read_dir(&runs) else { continue };
        for run in entries.map(|entry| entry.unwrap()) {
            let name = run.file_name().into_string().unwrap();
            if name.starts_with('.') {
                continue;
            }
            for file in FILES {
                let path = run.path().join(file);
                let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{blocks}: {e}"));
                let whole =
                    file == "log" || serde_json::from_str::<serde_json::Value>(&text).is_ok();
                assert!(whole, "{blocks}: {}", path.display());
            }
        }
    }
    assert!(cut_off >= 3, "only {cut_off} reviews were cut off");
    assert_eq!(review_within(repository.path(), 2000), Some(1), "and the next review goes well");
}
