//! A throw-away repository with a flawed change, its own home folder, and a check of what is left
//! behind.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use assay_testenv::workspace::{target, target_folder};
use serde_json::{Value, json};

use crate::repository::Repository;
use crate::workspace::all_files_below;

/// The file that is changed.
pub(super) const FILE: &str = "src/auth.rs";

/// The variable that identifies the processes of a run.
const MARK: &str = "ASSAY_CONFORMANCE_RUN";

/// The time that a terminated process may take to exit.
const GRACE: Duration = Duration::from_secs(2);

/// The model that assay uses, and the environment.
pub(super) struct AgentSetup {
    /// The folders of programs that are searched first.
    pub(super) path: String,
    /// The name of the model in the configuration.
    pub(super) name: &'static str,
    /// The configuration of the model.
    pub(super) entry: Value,
    /// The time limit of one answer, in seconds.
    pub(super) seconds: u64,
    /// The variables of assay's environment.
    pub(super) variables: Vec<(&'static str, String)>,
    /// The files in the home folder.
    pub(super) files: Vec<(&'static str, String)>,
}

/// A repository with a change, and the environment of assay.
pub(super) struct AgentFixture {
    repository: Repository,
    home: PathBuf,
    mark: String,
    variables: Vec<(&'static str, String)>,
    path: String,
}

/// The output, the exit code and the duration of a run of assay.
pub(super) struct ReviewRun {
    pub(super) code: i32,
    pub(super) time: Duration,
    stdout: String,
    stderr: String,
}

impl AgentFixture {
    /// Creates the repository, with a committed configuration and an uncommitted flawed change.
    pub(super) fn new(name: &str, setting: &AgentSetup) -> anyhow::Result<AgentFixture> {
        let folder = target_folder("conformance/agents")?.join(name);
        let home = folder.join("home");
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        for folder in ["tmp", ".codex", ".claude"] {
            fs::create_dir_all(home.join(folder))?;
        }
        for (path, text) in &setting.files {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&home))?;
            fs::write(path, text)?;
        }
        let repository = Repository::new(folder.join("repository"))?;
        let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
        let mark = format!("{name}-{}-{}", std::process::id(), since.as_nanos());
        let mut entry = setting.entry.clone();
        entry["env"][MARK] = json!(mark);
        let config = json!({
            "review": { "each_persona": true },
            "models": {
                "use": { setting.name: entry }, "seconds": setting.seconds, "at_a_time": 2,
            },
        });
        // JSON is valid YAML.
        repository.write("config/agent-framework.yaml", format!("{config:#}\n").as_bytes())?;
        repository.write(FILE, b"pub fn level(token: &str) -> u8 {\n    0\n}\n")?;
        repository.commit("add levels")?;
        let flawed = "pub fn level(token: &str) -> u8 {\n    token.parse().unwrap()\n}\n";
        repository.write(FILE, flawed.as_bytes())?;
        let (variables, path) = (setting.variables.clone(), setting.path.clone());
        Ok(AgentFixture { repository, home, mark, variables, path })
    }

    /// Appends a line to the change.
    pub(super) fn append(&self, line: &str) -> anyhow::Result<()> {
        let path = self.repository.folder().join(FILE);
        let mut file = fs::OpenOptions::new().append(true).open(path)?;
        Ok(file.write_all(line.as_bytes())?)
    }

    /// Writes a file that is not part of the change into the home folder.
    pub(super) fn write_private(&self, text: &str) -> anyhow::Result<PathBuf> {
        let path = self.home.join("private.txt");
        fs::write(&path, text)?;
        Ok(path)
    }

    /// Runs a review of the change, without variables of the current environment.
    pub(super) fn review(&self, args: &[&str]) -> anyhow::Result<ReviewRun> {
        let before = self.files()?;
        let built = if cfg!(debug_assertions) { "debug" } else { "release" };
        let path = std::env::var("PATH").unwrap_or_default();
        let started = Instant::now();
        let output = Command::new(target().join(built).join("assay"))
            .args(["review", "--format", "json"])
            .args(args)
            .current_dir(self.repository.folder())
            .env_clear()
            .env("PATH", format!("{}:{path}", self.path))
            .env("HOME", &self.home)
            .env("TMPDIR", self.home.join("tmp"))
            .env(MARK, &self.mark)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .context("could not start `assay`")?;
        let time = started.elapsed();
        ensure!(self.files()? == before, "something was written into the repository");
        Ok(ReviewRun {
            code: output.status.code().context("assay was killed")?,
            time,
            stdout: String::from_utf8(output.stdout)?,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Reads all files except those of git and of assay.
    fn files(&self) -> anyhow::Result<BTreeMap<PathBuf, Vec<u8>>> {
        let root = self.repository.folder();
        let mut files = BTreeMap::new();
        for path in all_files_below(root)? {
            let name = path.strip_prefix(root)?;
            if !name.starts_with(".git") && !name.starts_with(".assay") {
                files.insert(name.to_owned(), fs::read(&path)?);
            }
        }
        Ok(files)
    }

    /// Returns the folder of the only stored run.
    pub(super) fn only_run(&self) -> anyhow::Result<PathBuf> {
        let runs = self.repository.folder().join(".assay/runs");
        let runs: Vec<_> = fs::read_dir(runs)?.collect::<Result<_, _>>()?;
        let [run] = runs.as_slice() else { bail!("{} runs were kept", runs.len()) };
        for name in ["synthesis.json", "verdict.json", "made-with.json", "log"] {
            ensure!(run.path().join(name).is_file(), "the run has no `{name}`");
        }
        Ok(run.path())
    }

    /// Returns true if any file of assay's state contains a text.
    pub(super) fn stores_text(&self, text: &str) -> anyhow::Result<bool> {
        for path in all_files_below(&self.repository.folder().join(".assay"))? {
            if String::from_utf8_lossy(&fs::read(path)?).contains(text) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Checks that no process and no folder of the run is left.
    pub(super) fn check_left_clean(&self) -> anyhow::Result<()> {
        let until = Instant::now() + GRACE;
        let mut left = processes_with(&self.mark);
        while !left.is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50));
            left = processes_with(&self.mark);
        }
        ensure!(left.is_empty(), "it left processes behind: {}", left.join("; "));
        let folders = fs::read_dir(self.home.join("tmp"))?.flatten();
        let ours = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let ours: Vec<String> = ours.filter(|name| name.starts_with("assay-")).collect();
        ensure!(ours.is_empty(), "it left folders behind: {}", ours.join(", "));
        Ok(())
    }
}

/// Returns the pids and command lines of the processes with a word in their environment.
fn processes_with(word: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let shown = |path: &Path| {
        let environment = fs::read(path.join("environ")).ok()?;
        // A zombie has no environment.
        if !String::from_utf8_lossy(&environment).contains(word) {
            return None;
        }
        let line = fs::read(path.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        Some(format!("{} {}", path.file_name()?.to_string_lossy(), line.trim()))
    };
    entries.filter_map(|entry| shown(&entry.path())).collect()
}

impl ReviewRun {
    /// Parses stdout as JSON.
    pub(super) fn json(&self) -> anyhow::Result<Value> {
        serde_json::from_str(&self.stdout)
            .with_context(|| format!("no JSON: {}", self.output_text()))
    }

    /// Returns stdout and stderr.
    pub(super) fn output_text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Returns the reasons of the verdict.
    pub(super) fn why(&self) -> anyhow::Result<String> {
        let result = self.json()?;
        let because = result["verdict"]["because"].as_array().cloned().unwrap_or_default();
        let texts = because.iter().filter_map(|reason| reason["text"].as_str());
        Ok(texts.collect::<Vec<_>>().join(" / "))
    }

    /// Returns the result as a line.
    pub(super) fn line(&self) -> String {
        let why = self.why().unwrap_or_else(|error| error.to_string());
        format!("exit code {} after {:.1} s: {why}", self.code, self.time.as_secs_f64())
    }
}
