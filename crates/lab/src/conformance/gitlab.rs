//! The fake GitLab of the tests, used through a client of others: python-gitlab. A request that the
//! client makes for the real GitLab must be accepted, and its answer must be understood.

use std::process::Command;

use anyhow::bail;
use assay_testkit::gitlab::{FakeGitLab, NewMergeRequest, PROJECT, TOKEN};

use super::{Check, Outcome};
use crate::peers;

/// The version of `python-gitlab`.
const PYTHON_GITLAB: &str = "8.6.0";

const SCRIPT: &str = include_str!("gitlab.py");

const HEAD: &str = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";

const DIFF: &str = "diff --git a/b.txt b/b.txt\nnew file mode 100644\n--- /dev/null\n+++ b/b.txt\n\
                    @@ -0,0 +1,3 @@\n+one\n+two\n+three\n";

pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    let name = "python-gitlab on the fake of the tests".to_owned();
    let outcome = match peers::pip("python-gitlab", PYTHON_GITLAB) {
        Ok(python) => Outcome::of(use_client(Command::new(python))),
        Err(error) => Outcome::unavailable(&error),
    };
    Ok(vec![(name, outcome)])
}

fn use_client(mut python: Command) -> anyhow::Result<()> {
    let gitlab = FakeGitLab::new();
    gitlab.open(&NewMergeRequest { head: HEAD.to_owned(), diff: DIFF.to_owned() });
    let url = gitlab.serve().url();
    let output = python.args(["-c", SCRIPT, &url, TOKEN, PROJECT, HEAD]).output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}
