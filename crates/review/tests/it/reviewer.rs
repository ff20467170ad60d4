//! Analysers that are run, replaced by small scripts.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use assay_findings::grounding::ChangedLines;
use assay_findings::path::RepoPath;
use assay_findings::vote::LineRange;
use assay_review::command::format::AnalyserFormat;
use assay_review::command::known_analysers;
use assay_review::command::{CommandReviewer, FILES_PLACEHOLDER};
use assay_review::globs::Globs;
use expect_test::{Expect, expect};
use tempfile::TempDir;

use crate::flawed::{MemoryTree, path_of, shown};

const RUFF: &str = r#"[
    {"code": "F401", "message": "`os` imported but unused", "filename": "a.py", "location": {"row": 1, "column": 8}},
    {"code": "F841", "message": "`x` is never used", "filename": "a.py", "location": {"row": 2, "column": 1}}
]"#;

/// A folder to run in, a script that replaces the analyser, and a tree with a changed file.
struct ReviewerFixture {
    folder: TempDir,
    tree: MemoryTree,
    files: Vec<RepoPath>,
    changed: ChangedLines,
}

impl ReviewerFixture {
    fn new() -> ReviewerFixture {
        let mut changed = ChangedLines::default();
        changed.insert(path_of("a.py"), vec![LineRange::at(1).unwrap()]);
        ReviewerFixture {
            folder: tempfile::tempdir().unwrap(),
            tree: MemoryTree::new(&[("a.py", "import os\nx = 1\n"), ("b.txt", "text\n")]),
            files: vec![path_of("a.py"), path_of("b.txt"), path_of("gone.py")],
            changed,
        }
    }

    /// Writes a shell script, in which `OUT` is replaced by the path of a file with the given text.
    fn script(&self, script: &str, out: &str) -> PathBuf {
        let path = self.folder.path().join("tool");
        let text = self.folder.path().join("out");
        fs::write(&text, out).unwrap();
        let script = script.replace("OUT", &format!("'{}'", text.display()));
        fs::write(&path, script).unwrap();
        path
    }

    fn reviewer(&self, form: AnalyserFormat, script: &str, out: &str) -> CommandReviewer {
        let script = self.script(script, out);
        let mut reviewer = CommandReviewer::new("ruff", "sh", form);
        reviewer.args = vec![script.to_str().unwrap().to_owned(), FILES_PLACEHOLDER.to_owned()];
        reviewer.files = Globs::new(["*.py"]).unwrap();
        reviewer
    }

    fn review(&self, reviewer: &CommandReviewer) -> String {
        let root = self.folder.path();
        shown(&reviewer.review_in(root, &self.files, &self.tree, &self.changed))
    }
}

fn check(script: &str, out: &str, expected: Expect) {
    let fixture = ReviewerFixture::new();
    let reviewer = fixture.reviewer(AnalyserFormat::Ruff, script, out);
    expected.assert_eq(&fixture.review(&reviewer));
}

#[test]
fn a_finding_outside_the_changed_lines_is_marked_as_existing() {
    check(
        "cat OUT; exit 1",
        RUFF,
        expect![[r#"
        ruff/F401 a.py:1 LOW style | `os` imported but unused
            quotes `import os`
        ruff/F841 a.py:2 MEDIUM correctness | `x` is never used
            quotes `x = 1`
            fires on base
    "#]],
    );
}

#[test]
fn an_analyser_gets_the_changed_files_that_match_its_patterns_and_still_exist() {
    let mut fixture = ReviewerFixture::new();
    fixture.tree = MemoryTree::new(&[("a.py", ""), ("-rf.py", ""), ("x y.py", ""), ("b.txt", "")]);
    fixture.files = ["a.py", "-rf.py", "x y.py", "b.txt", "gone.py"].map(path_of).to_vec();
    let script = r#"for a in "$@"; do printf '{"message": "got <%s>"}\n' "$a"; done"#;
    let reviewer = fixture.reviewer(AnalyserFormat::Rdjsonl, script, "");
    expect![[r#"
        - - MEDIUM correctness | got <a.py>
        - - MEDIUM correctness | got <./-rf.py>
        - - MEDIUM correctness | got <x y.py>
    "#]]
    .assert_eq(&fixture.review(&reviewer));
}

#[test]
fn a_missing_program_is_reported_with_its_install_command() {
    let fixture = ReviewerFixture::new();
    let mut reviewer = fixture.reviewer(AnalyserFormat::Ruff, "", "");
    reviewer.program = "no-such-ruff".to_owned();
    expect![[r#"
        unusable: no-such-ruff is not installed or not on PATH; install it with `pip install ruff`
    "#]]
    .assert_eq(&fixture.review(&reviewer));
    reviewer.name = "mine".to_owned();
    expect![[r#"
        unusable: no-such-ruff is not installed or not on PATH
    "#]]
    .assert_eq(&fixture.review(&reviewer));
}

#[test]
fn a_program_without_execute_permission_is_reported() {
    let fixture = ReviewerFixture::new();
    let mut reviewer = fixture.reviewer(AnalyserFormat::Ruff, "", "");
    reviewer.program = reviewer.args[0].clone();
    let shown = fixture.review(&reviewer).replace(&reviewer.program, "tool");
    expect![[r#"
        unusable: tool cannot be started: Permission denied (os error 13)
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_crash_is_reported_with_the_exit_code_and_the_last_line_of_stderr() {
    let script = "echo Traceback >&2; echo 'ValueError: boom' >&2; echo >&2; exit 2";
    check(
        script,
        "",
        expect![[r#"
        unusable: ruff exited with code 2: ValueError: boom
    "#]],
    );
    check(
        "exit 2",
        "",
        expect![[r#"
        unusable: ruff exited with code 2 and printed nothing, which is not ruff JSON
    "#]],
    );
    check(
        "kill -9 $$",
        "",
        expect![[r#"
        unusable: ruff was killed by a signal and printed nothing, which is not ruff JSON
    "#]],
    );
    check(
        "echo '[]'; exit 1",
        "",
        expect![[r#"
        unusable: ruff exited with code 1 and reported no finding
    "#]],
    );
}

#[test]
fn a_line_that_names_an_error_is_reported_instead_of_the_last_line() {
    let script = "echo 'ruff failed' >&2; echo '  Cause: Failed to parse ruff.toml' >&2; \
                  echo '  | x = [' >&2; exit 2";
    check(
        script,
        "",
        expect![[r#"
        unusable: ruff exited with code 2: Cause: Failed to parse ruff.toml
    "#]],
    );
    let script = "echo \"error: unexpected argument '-x'\" >&2; echo \"Try '--help'.\" >&2; exit 2";
    check(
        script,
        "",
        expect![[r#"
        unusable: ruff exited with code 2: error: unexpected argument '-x'
    "#]],
    );
}

#[test]
fn files_excluded_by_the_ruff_configuration_are_not_covered() {
    let script = "echo '[]'; echo 'warning: No Python files found under the given path(s)' >&2";
    check(
        script,
        "",
        expect![[r#"
        not covered: ruff found none of its files: the ruff configuration excludes them
    "#]],
    );
}

#[test]
fn a_program_of_the_project_is_preferred_to_the_one_on_the_path() {
    let fixture = ReviewerFixture::new();
    let mut reviewer = fixture.reviewer(AnalyserFormat::Rdjsonl, "", "");
    reviewer.own_folder = Some("bin".to_owned());
    let own = fixture.folder.path().join("bin");
    fs::create_dir(&own).unwrap();
    std::os::unix::fs::symlink("/bin/echo", own.join("sh")).unwrap();
    reviewer.args = vec![r#"{"message": "said by the project's own"}"#.to_owned()];
    expect![[r#"
        - - MEDIUM correctness | said by the project's own
    "#]]
    .assert_eq(&fixture.review(&reviewer));
}

#[test]
fn findings_of_a_crashed_analyser_are_kept_but_its_report_is_unusable() {
    check(
        "cat OUT; echo 'out of memory' >&2; exit 2",
        RUFF,
        expect![[r#"
        ruff/F401 a.py:1 LOW style | `os` imported but unused
            quotes `import os`
        ruff/F841 a.py:2 MEDIUM correctness | `x` is never used
            quotes `x = 1`
            fires on base
        unusable: ruff exited with code 2: out of memory
    "#]],
    );
}

#[test]
fn the_error_of_eslint_is_reported_instead_of_its_advice() {
    let fixture = ReviewerFixture::new();
    let out = "\nOops! Something went wrong! :(\n\nESLint: 10.14.0\n\nNo files matching the \
               pattern \"x.js\" were found.\nPlease check for typing mistakes in the pattern.\n";
    let reviewer = fixture.reviewer(AnalyserFormat::Eslint, "cat OUT >&2; exit 2", out);
    expect![[r#"
        unusable: ruff exited with code 2: No files matching the pattern "x.js" were found.
    "#]]
    .assert_eq(&fixture.review(&reviewer));
}

#[test]
fn output_in_an_unknown_format_is_quoted() {
    check(
        "echo 'All good!'",
        "",
        expect![[r#"
        unusable: ruff printed output that is not ruff JSON: `All good!`
    "#]],
    );
}

#[test]
fn an_empty_output_is_no_clean_report() {
    check(
        "exit 0",
        "",
        expect![[r#"
        unusable: ruff printed nothing, which is not ruff JSON
    "#]],
    );
}

#[test]
fn empty_rdjsonl_output_is_a_clean_report_only_if_the_analyser_succeeded() {
    let fixture = ReviewerFixture::new();
    let clean = fixture.reviewer(AnalyserFormat::Rdjsonl, "exit 0", "");
    expect![[""]].assert_eq(&fixture.review(&clean));
    let failed = fixture.reviewer(AnalyserFormat::Rdjsonl, "echo 'no config' >&2; exit 3", "");
    expect![[r#"
        unusable: ruff exited with code 3: no config
    "#]]
    .assert_eq(&fixture.review(&failed));
}

#[test]
fn an_exit_code_with_findings_is_accepted_unless_it_means_a_signal() {
    let fixture = ReviewerFixture::new();
    for code in [4, 137] {
        let script = format!("cat OUT; exit {code}");
        let reviewer =
            fixture.reviewer(AnalyserFormat::Rdjsonl, &script, "{\"message\": \"found\"}\n");
        let is_usable = !fixture.review(&reviewer).contains("unusable");
        assert_eq!(is_usable, code == 4, "{code}");
    }
}

#[test]
fn an_analyser_that_is_too_slow_is_stopped() {
    let fixture = ReviewerFixture::new();
    let mut reviewer = fixture.reviewer(AnalyserFormat::Ruff, "exec sleep 600", "");
    reviewer.time = Duration::from_millis(50);
    expect![[r#"
        unusable: ruff ran longer than 50ms and was stopped
    "#]]
    .assert_eq(&fixture.review(&reviewer));
}

#[test]
fn an_analyser_that_floods_is_stopped() {
    check(
        "exec yes",
        "",
        expect![[r#"
        unusable: ruff printed more than 64 MiB and was stopped
    "#]],
    );
}

#[test]
fn output_that_is_not_utf8_is_noted() {
    let script = r#"printf '[{"code": "F401", "message": "caf\351", "filename": "a.py", "location": {"row": 1, "column": 8}}]'; exit 1"#;
    check(
        script,
        "",
        expect![[r#"
        ruff/F401 a.py:1 LOW style | caf�
            quotes `import os`
        note: the output is not UTF-8 at byte 33
    "#]],
    );
}

#[test]
fn an_analyser_that_could_not_read_any_file_is_unusable() {
    let fixture = ReviewerFixture::new();
    let out = r#"{"errors": [{"filename": "a.py", "reason": "syntax error"}], "results": []}"#;
    let reviewer = fixture.reviewer(AnalyserFormat::Bandit, "cat OUT", out);
    expect![[r#"
        not covered: a.py: syntax error
        unusable: ruff could not read any of its files (a.py: syntax error)
    "#]]
    .assert_eq(&fixture.review(&reviewer));
}

#[test]
fn clippy_reports_compiler_errors_as_findings_and_is_unusable_without_a_project() {
    let fixture = ReviewerFixture::new();
    let out = r#"{"reason":"compiler-message","message":{"message":"mismatched types","level":"error","code":{"code":"E0308"},"spans":[]}}
{"reason":"build-finished","success":false}"#;
    let broken = fixture.reviewer(AnalyserFormat::Clippy, "cat OUT; exit 101", out);
    expect![[r#"
        rustc/E0308 - HIGH correctness | mismatched types
        not covered: the build failed; code that needs the build was not checked
    "#]]
    .assert_eq(&fixture.review(&broken));
    let script = "echo 'error: could not find `Cargo.toml`' >&2; exit 101";
    let lost = fixture.reviewer(AnalyserFormat::Clippy, script, "");
    expect![[r#"
        unusable: ruff exited with code 101: error: could not find `Cargo.toml`
    "#]]
    .assert_eq(&fixture.review(&lost));
}

#[test]
fn an_analyser_without_matching_files_is_not_run() {
    let mut fixture = ReviewerFixture::new();
    fixture.files = vec![path_of("b.txt")];
    let reviewer = fixture.reviewer(AnalyserFormat::Ruff, "exit 9", "");
    expect![[r#"
        note: no changed file matches `files` of ruff
    "#]]
    .assert_eq(&fixture.review(&reviewer));
}

#[test]
fn many_files_are_split_into_several_runs_with_one_report() {
    let mut fixture = ReviewerFixture::new();
    let names: Vec<String> =
        (0..3_000).map(|n| format!("folder/of/many/files/{n:05}.py")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    fixture.tree = MemoryTree::new(&files);
    fixture.files = names.iter().map(|name| path_of(name)).collect();
    let script = r#"printf '{"message": "%s files from %s"}\n' $# "$1""#;
    let reviewer = fixture.reviewer(AnalyserFormat::Rdjsonl, script, "");
    expect![[r#"
        - - MEDIUM correctness | 2048 files from folder/of/many/files/00000.py
        - - MEDIUM correctness | 952 files from folder/of/many/files/02048.py
    "#]]
    .assert_eq(&fixture.review(&reviewer));
}

#[test]
fn an_absolute_path_is_recognised_if_the_folder_is_a_symbolic_link() {
    let fixture = ReviewerFixture::new();
    let script = r#"printf '{"message": "m", "location": {"path": "%s/a.py"}}\n' "$(pwd -P)""#;
    let reviewer = fixture.reviewer(AnalyserFormat::Rdjsonl, script, "");
    let links = tempfile::tempdir().unwrap();
    let link = links.path().join("link");
    std::os::unix::fs::symlink(fixture.folder.path(), &link).unwrap();
    let report = reviewer.review_in(&link, &fixture.files, &fixture.tree, &fixture.changed);
    expect![[r#"
        - a.py MEDIUM correctness | m
    "#]]
    .assert_eq(&shown(&report));
}

#[test]
fn a_missing_folder_is_not_reported_as_a_missing_program() {
    let fixture = ReviewerFixture::new();
    let reviewer = known_analysers::find("ruff").unwrap().reviewer();
    let gone = fixture.folder.path().join("gone");
    let report = reviewer.review_in(&gone, &fixture.files, &fixture.tree, &fixture.changed);
    expect![[r#"
        unusable: the folder to run the analyser in does not exist
    "#]]
    .assert_eq(&shown(&report));
}
