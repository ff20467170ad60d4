//! A throw-away repository, and an MCP server for it.

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

/// A repository with a file for findings, and a home folder for programs that need one.
pub(super) struct McpFixture {
    repository: Repository,
    home: PathBuf,
}

impl McpFixture {
    pub(super) fn new(name: &str) -> anyhow::Result<McpFixture> {
        let folder = target_folder("conformance/mcp")?.join(name);
        let home = folder.join("home");
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        fs::create_dir_all(&home)?;
        let repository = Repository::new(folder.join("repository"))?;
        repository.write("src/a.rs", b"fn a() {\n    b().unwrap();\n}\n")?;
        repository.commit("add a")?;
        Ok(McpFixture { repository, home })
    }

    pub(super) fn folder(&self) -> &Path {
        self.repository.folder()
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// Prepares a program to run in the repository, without variables of the current environment.
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

    /// Returns all tasks, waiting or not.
    pub(super) fn tasks(&self) -> anyhow::Result<Vec<Value>> {
        let kept = self.stored_files()?;
        let tasks = kept.iter().filter(|(path, _)| path.contains("/queues/"));
        tasks.map(|(_, text)| Ok(serde_json::from_str(text)?)).collect()
    }

    /// Returns all files with tasks, reports and changes: all except those of git, locks, tokens,
    /// and the queue's index.
    pub(super) fn stored_files(&self) -> anyhow::Result<Vec<(String, String)>> {
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

/// Returns the path of the `assay` binary.
pub(super) fn assay() -> PathBuf {
    target().join(if cfg!(debug_assertions) { "debug" } else { "release" }).join("assay")
}

/// A server at an address, which ends when the value is dropped.
pub(super) struct McpServer {
    child: Child,
    pub(super) url: String,
    /// The token that requests need; `None` if they need none.
    pub(super) token: Option<String>,
}

impl McpServer {
    /// Serves a repository; requests need the token.
    pub(super) fn start(fixture: &McpFixture) -> anyhow::Result<McpServer> {
        let mut served = McpServer::start_with(fixture, &[])?;
        let token = fixture.folder().join(".assay/mcp/task-queue.token");
        served.token = Some(fs::read_to_string(token)?.trim().to_owned());
        Ok(served)
    }

    /// Serves a repository to all local users, for clients that cannot send a token.
    pub(super) fn start_without_token(fixture: &McpFixture) -> anyhow::Result<McpServer> {
        McpServer::start_with(fixture, &["--no-token"])
    }

    fn start_with(fixture: &McpFixture, args: &[&str]) -> anyhow::Result<McpServer> {
        let child = fixture
            .command(&assay())?
            .args(["mcp", "task-queue", "--http", "127.0.0.1:0"])
            .args(args)
            .stderr(Stdio::piped())
            .spawn()
            .context("could not start `assay`")?;
        let mut served = McpServer { child, url: String::new(), token: None };
        let stderr = served.child.stderr.take().context("its messages are piped")?;
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        let url = lines.find_map(|line| Some(line.strip_prefix("listening on ")?.to_owned()));
        served.url = url.context("the server did not start")?;
        Ok(served)
    }

    /// Returns the authorization header for requests.
    pub(super) fn authorization(&self) -> String {
        format!("Bearer {}", self.token.as_deref().unwrap_or_default())
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        // The server may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The output and the exit code of a program.
pub(super) struct ProgramRun {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl ProgramRun {
    /// Runs a program to its end.
    pub(super) fn of(mut command: Command) -> anyhow::Result<ProgramRun> {
        let shown = command.get_program().to_string_lossy().into_owned();
        let output = command.output().with_context(|| format!("could not start `{shown}`"))?;
        Ok(ProgramRun {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Returns the output. Fails if the exit code is not 0.
    pub(super) fn good(self) -> anyhow::Result<String> {
        let said = format!("{}\n{}", self.stdout, self.stderr);
        let last: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = &last[last.len().saturating_sub(8)..];
        ensure!(self.code == Some(0), "it ended with {:?}: {}", self.code, last.join(" / "));
        Ok(self.stdout)
    }
}
