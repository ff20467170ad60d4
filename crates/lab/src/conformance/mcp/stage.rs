//! Where a server is tried: a throw-away repository, and the server for it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};
use assay_testenv::workspace::{target, target_folder};
use serde_json::Value;

use crate::peers;
use crate::repository::Repository;
use crate::workspace::all_files_below;

/// A repository with a file to have findings about, and a home for whoever wants one.
pub(super) struct Stage {
    repository: Repository,
    home: PathBuf,
}

impl Stage {
    pub(super) fn new(name: &str) -> anyhow::Result<Stage> {
        let folder = target_folder("conformance/mcp")?.join(name);
        let home = folder.join("home");
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        fs::create_dir_all(&home)?;
        let repository = Repository::new(folder.join("repository"))?;
        repository.write("src/a.rs", b"fn a() {\n    b().unwrap();\n}\n")?;
        repository.commit("add a")?;
        Ok(Stage { repository, home })
    }

    pub(super) fn folder(&self) -> &Path {
        self.repository.folder()
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// Prepares a program to be run in the repository, with nothing of the environment that this
    /// runs in.
    pub(super) fn command(&self, program: &Path) -> anyhow::Result<Command> {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command
            .current_dir(self.folder())
            .env_clear()
            .env("PATH", format!("{}:{path}", peers::node()?.display()))
            .env("HOME", &self.home)
            .stdin(Stdio::null());
        Ok(command)
    }

    /// Gives the tasks that are there, waiting or not.
    pub(super) fn tasks(&self) -> anyhow::Result<Vec<Value>> {
        let kept = self.kept()?;
        let tasks = kept.iter().filter(|(path, _)| path.contains("/queues/"));
        tasks.map(|(_, text)| Ok(serde_json::from_str(text)?)).collect()
    }

    /// Gives everything that tells of a task, a report or a change: all files but git's own, the
    /// token, and what the queue keeps beside its tasks to find them faster.
    pub(super) fn kept(&self) -> anyhow::Result<Vec<(String, String)>> {
        let mut kept = Vec::new();
        for path in all_files_below(self.folder())? {
            let name = path.strip_prefix(self.folder())?.to_string_lossy().into_owned();
            let is_other = name.starts_with(".git")
                || name.starts_with(".agent-communication/.index")
                || name.ends_with(".lock")
                || name.ends_with(".gitignore")
                || name.ends_with(".token");
            if !is_other {
                let bytes = fs::read(&path)?;
                kept.push((format!("/{name}"), String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
        Ok(kept)
    }
}

/// The program that is tried.
pub(super) fn assay() -> PathBuf {
    target().join(if cfg!(debug_assertions) { "debug" } else { "release" }).join("assay")
}

/// A server at an address; it ends with this.
pub(super) struct Served {
    child: Child,
    pub(super) url: String,
    /// What requests have to carry, if anything.
    pub(super) token: Option<String>,
}

impl Served {
    /// Serves a repository, to whoever has the token.
    pub(super) fn start(stage: &Stage) -> anyhow::Result<Served> {
        let mut served = Served::start_with(stage, &[])?;
        let token = stage.folder().join(".assay/mcp/task-queue.token");
        served.token = Some(fs::read_to_string(token)?.trim().to_owned());
        Ok(served)
    }

    /// Serves a repository to everybody on this machine, for clients that can send no token.
    pub(super) fn to_everybody(stage: &Stage) -> anyhow::Result<Served> {
        Served::start_with(stage, &["--no-token"])
    }

    fn start_with(stage: &Stage, args: &[&str]) -> anyhow::Result<Served> {
        let child = stage
            .command(&assay())?
            .args(["mcp", "task-queue", "--http", "127.0.0.1:0"])
            .args(args)
            .stderr(Stdio::piped())
            .spawn()
            .context("could not start `assay`")?;
        let mut served = Served { child, url: String::new(), token: None };
        let stderr = served.child.stderr.take().context("its messages are piped")?;
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        let url = lines.find_map(|line| Some(line.strip_prefix("listening on ")?.to_owned()));
        served.url = url.context("the server did not start")?;
        Ok(served)
    }

    /// Gives the header that requests have to carry.
    pub(super) fn authorization(&self) -> String {
        format!("Bearer {}", self.token.as_deref().unwrap_or_default())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a program printed and how it ended.
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ran {
    /// Runs a program to its end.
    pub(super) fn of(mut command: Command) -> anyhow::Result<Ran> {
        let shown = command.get_program().to_string_lossy().into_owned();
        let output = command.output().with_context(|| format!("could not start `{shown}`"))?;
        Ok(Ran {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Gives what was printed where all went well.
    pub(super) fn good(self) -> anyhow::Result<String> {
        let said = format!("{}\n{}", self.stdout, self.stderr);
        let last: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = &last[last.len().saturating_sub(8)..];
        ensure!(self.code == Some(0), "it ended with {:?}: {}", self.code, last.join(" / "));
        Ok(self.stdout)
    }
}
