//! State on disk after a review is killed while it writes, or while it waits.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use assay_testkit::Repository;

/// The files of every run.
const FILES: [&str; 5] =
    ["fixes.json", "log", "reviewer-rules.json", "synthesis.json", "verdict.json"];

/// Runs a review that may write files of at most `blocks` blocks, and is killed at the next block.
fn review_within(folder: &Path, blocks: u32) -> Option<i32> {
    let script = format!("ulimit -c 0; ulimit -f {blocks}; exec \"$0\" review");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_assay")]).current_dir(folder);
    command.env("XDG_STATE_HOME", crate::state_home());
    command.output().unwrap().status.code()
}

#[test]
fn a_write_that_fails_at_any_point_leaves_no_partial_run() {
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

#[test]
fn interrupting_assay_stops_its_analyser() {
    let repository = Repository::new();
    let fifo = repository.path().join("alive");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // The pipe stays open as long as the analyser or its child runs.
    let analyser = "exec 3>\"$ALIVE\"; echo started >&3; sleep 600 & wait";
    repository.write(
        "config/agent-framework.yaml",
        format!(
            "review:\n  commands:\n    - name: slow\n      run: [sh, -c, '{analyser}']\n      form: sarif\n      env: {{ ALIVE: \"{}\" }}\n",
            fifo.display()
        ),
    );
    repository.write(".gitignore", "alive\n");
    repository.commit("set up");
    repository.write("a.py", "a = 1\n");
    repository.git(&["add", "a.py"]);
    let mut assay = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["review", "--staged"])
        .current_dir(repository.path())
        .env("XDG_STATE_HOME", crate::state_home())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut alive = BufReader::new(File::open(&fifo).unwrap());
    let mut line = String::new();
    alive.read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    let pid = assay.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert!(!assay.wait().unwrap().success());
    // The read ends once no process holds the pipe.
    assert_eq!(alive.read_to_string(&mut line).unwrap(), 0);
}
