//! The pipelines in `examples/ci`, whose scripts are run with the variables of their services.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_testkit::Repository;
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_assay");

/// The requirement by which an example installs the wheel of this version.
const WHEEL: &str = concat!("assay-gate==", env!("CARGO_PKG_VERSION"));

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ci")
}

fn text(name: &str) -> String {
    fs::read_to_string(examples().join(name)).unwrap()
}

fn example(name: &str) -> Value {
    serde_saphyr::from_str(&text(name)).unwrap()
}

/// A clone in which a pull request adds a file to `main`, with programs that stand for those that
/// install the wheel.
struct Pipeline {
    repository: Repository,
    programs: PathBuf,
}

impl Pipeline {
    fn new(added: &str) -> Pipeline {
        let repository = Repository::new();
        repository.write("a.py", "x = 1\n");
        repository.commit("before");
        repository.git(&["branch", "-M", "main"]);
        repository.git(&["remote", "add", "origin", "."]);
        repository.git(&["fetch", "--quiet", "origin"]);
        repository.git(&["checkout", "--quiet", "-b", "topic"]);
        repository.write("b.py", added);
        repository.commit("the pull request");
        let programs = repository.file(".git/programs");
        fs::create_dir_all(&programs).unwrap();
        symlink(BINARY, programs.join("assay")).unwrap();
        let own = programs.display();
        // The program `python3 -m venv FOLDER` makes a folder with pip.
        let venv = format!(
            "mkdir -p \"$3/bin\"; ln -s {own}/pip \"$3/bin/pip\"; ln -s {BINARY} \"$3/bin/assay\""
        );
        for (name, script) in [("pip", "echo \"$@\" >> \"$0.log\""), ("python3", venv.as_str())] {
            let path = programs.join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Pipeline { repository, programs }
    }

    /// Runs a script as a service does. Returns its output and exit code.
    fn run(&self, script: &str, variables: &[(&str, &str)]) -> (String, i32) {
        let path = std::env::var("PATH").unwrap();
        let output = Command::new("bash")
            .args(["-e", "-c", script])
            .current_dir(self.repository.path())
            .env_clear()
            .env("PATH", format!("{}:{path}", self.programs.display()))
            .env("HOME", self.programs.join("home"))
            .env("XDG_STATE_HOME", crate::state_home())
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (String::from_utf8_lossy(&said).into_owned(), output.status.code().unwrap())
    }
}

/// Returns the lines of a script as one text.
fn joined(lines: &Value) -> String {
    let lines = lines.as_array().unwrap();
    lines.iter().map(|line| line.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Checks that a script fails on a flawed pull request, passes otherwise, and writes SARIF.
fn check(script: &str, sarif: &str, variables: &[(&str, &str)]) {
    for (added, code) in [("breakpoint()\n", 1), ("y = 2\n", 0)] {
        let pipeline = Pipeline::new(added);
        let folder = pipeline.repository.file(".git/temp");
        fs::create_dir_all(&folder).unwrap();
        let folder = folder.display().to_string();
        let temporary = [("AGENT_TEMPDIRECTORY", folder.as_str())];
        let (said, actual) = pipeline.run(script, &[variables, &temporary].concat());
        assert_eq!(actual, code, "{said}");
        let written = pipeline.repository.file(sarif);
        let log: Value = serde_json::from_str(&fs::read_to_string(written).unwrap()).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap().len();
        assert_eq!(results, usize::try_from(code).unwrap(), "{said}");
    }
}

#[test]
fn the_pipeline_of_bitbucket_fails_on_the_verdict_and_writes_sarif() {
    let example = example("bitbucket-pipelines.yml");
    let step = &example["pipelines"]["pull-requests"]["**"][0]["step"];
    assert_eq!(step["clone"]["depth"], "full");
    assert_eq!(step["artifacts"][0], "assay.sarif");
    let script = joined(&step["script"]);
    check(&script, "assay.sarif", &[("BITBUCKET_PR_DESTINATION_BRANCH", "main")]);
}

#[test]
fn the_pipeline_of_azure_fails_on_the_verdict_and_writes_sarif() {
    let example = example("azure-pipelines.yml");
    let steps = example["steps"].as_array().unwrap();
    assert_eq!(steps[0]["fetchDepth"], 0);
    let scripts: Vec<&str> = steps.iter().filter_map(|step| step["script"].as_str()).collect();
    let script = scripts.join("\n");
    let target = ("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main");
    check(&script, ".git/temp/assay.sarif", &[target]);
}

#[test]
fn each_example_installs_the_wheel_of_this_version() {
    for name in ["bitbucket-pipelines.yml", "azure-pipelines.yml"] {
        assert!(text(name).contains(WHEEL), "{name}");
    }
    let gitlab = example("gitlab-ci.yml");
    assert_eq!(gitlab["assay"]["variables"]["ASSAY_VERSION"], env!("CARGO_PKG_VERSION"));
    let installation = joined(&gitlab["assay"]["before_script"]);
    assert!(installation.contains("\"assay-gate==$ASSAY_VERSION\""), "{installation}");
    let commands = example("github-commands.yml");
    assert_eq!(commands["jobs"]["command"]["env"]["ASSAY_VERSION"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_workflow_for_commands_reads_the_event_that_started_it() {
    let example = example("github-commands.yml");
    assert_eq!(example["on"]["issue_comment"]["types"], serde_json::json!(["created"]));
    let steps = example["jobs"]["command"]["steps"].as_array().unwrap();
    let scripts: Vec<&str> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
    let pipeline = Pipeline::new("y = 2\n");
    pipeline.repository.write(
        ".git/event.json",
        r#"{"action": "created", "issue": {"number": 7, "pull_request": {}}, "comment": {"id": 1,
            "body": "> /assay review", "user": {"login": "ann"}},
            "repository": {"full_name": "o/r"}}"#,
    );
    let event = pipeline.repository.file(".git/event.json").display().to_string();
    let temporary = pipeline.repository.file(".git/temp").display().to_string();
    let variables = [
        ("GITHUB_EVENT_PATH", event.as_str()),
        ("RUNNER_TEMP", &temporary),
        ("ASSAY_VERSION", env!("CARGO_PKG_VERSION")),
    ];
    let (said, code) = pipeline.run(&scripts.join("\n"), &variables);
    assert!(said.ends_with("nothing to do: the comment has no command\n"), "{said}");
    assert_eq!(code, 0, "{said}");
}
