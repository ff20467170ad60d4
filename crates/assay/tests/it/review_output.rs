//! The outputs of `assay review`: formats, files, colours, and the options before a command.

use std::fs;

use assay_testkit::Repository;

use crate::{AssayRun, assay, assay_in, assay_with};

const FLAWED: &str = "def f(a):\n    x = \"é\"; breakpoint()\n    return a\n";

fn flawed() -> Repository {
    let repository = Repository::new();
    repository.write("src/a.py", FLAWED);
    repository.commit("second");
    repository
}

fn review(repository: &Repository, args: &[&str]) -> AssayRun {
    assay_in(repository.path(), &[&["review", "--commit", "HEAD"], args].concat(), b"")
}

fn read(repository: &Repository, file: &str) -> String {
    fs::read_to_string(repository.path().join(file)).unwrap()
}

#[test]
fn a_concise_review_has_a_line_for_each_finding_and_the_verdict() {
    let ran = review(&flawed(), &["--format", "concise"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let [finding, verdict] = lines[..] else { panic!("{}", ran.stdout) };
    assert!(finding.starts_with("src/a.py:2:15: "), "{finding}");
    assert!(finding.ends_with(" [python/debugger]"), "{finding}");
    assert_eq!(verdict, "not ready (rules only)");
}

#[test]
fn several_formats_are_written_to_files_beside_stdout() {
    let repository = flawed();
    let args = ["--format", "sarif=a.sarif", "--format", "markdown=a.md", "--format", "concise"];
    let ran = review(&repository, &args);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("src/a.py:2:15: "), "{}", ran.stdout);
    assert!(read(&repository, "a.md").starts_with("## Not ready"));
    let sarif: serde_json::Value = serde_json::from_str(&read(&repository, "a.sarif")).unwrap();
    let region = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startColumn"], 14, "columns of SARIF are counted in UTF-16");
}

#[test]
fn a_format_with_a_file_leaves_the_terminal_output_on_stdout() {
    let repository = flawed();
    let ran = review(&repository, &["--format", "json=a.json"]);
    assert!(ran.stdout.starts_with("Review of "), "{}", ran.stdout);
    assert!(read(&repository, "a.json").contains("\"verdict\""));
}

#[test]
fn an_explanation_that_findings_share_is_printed_once() {
    let repository = flawed();
    repository.write("src/b.py", FLAWED);
    repository.commit("third");
    let ran = assay_in(repository.path(), &["review", "--commit", "HEAD~2..HEAD"], b"");
    let text = &ran.stdout;
    assert_eq!(text.matches("Breakpoint left in the code (python/debugger)").count(), 2, "{text}");
    assert_eq!(text.matches("waits for a command from a terminal").count(), 1, "{text}");
    assert_eq!(text.matches("fix: Take the breakpoint out.").count(), 1, "{text}");
    assert!(text.contains("explained above, at src/a.py:2\n"), "{text}");
}

#[test]
fn output_goes_to_a_file_instead_of_stdout() {
    let repository = flawed();
    for (args, start) in [(&["-o", "out"][..], "Review of "), (&["-o", "out", "--json"], "{")] {
        let ran = review(&repository, args);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
        let written = read(&repository, "out");
        assert!(written.starts_with(start), "{written}");
        assert!(!written.contains('\u{1b}'), "{written}");
    }
}

#[test]
fn a_quiet_review_prints_nothing_and_keeps_its_exit_code() {
    let repository = flawed();
    let ran = review(&repository, &["-q", "--format", "concise=out"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (1, "", ""));
    assert!(read(&repository, "out").starts_with("src/a.py:2:15: "));
}

#[test]
fn json_is_short_for_its_format() {
    let repository = flawed();
    let ran = review(&repository, &["--json"]);
    assert_eq!(ran.json()["verdict"]["state"], "not_ready");
}

#[test]
fn two_formats_on_stdout_are_an_error() {
    let repository = flawed();
    for args in [&["--json", "--format", "sarif"][..], &["--format", "sarif", "--format", "json"]] {
        let ran = review(&repository, args);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains("several formats for stdout"), "{}", ran.stderr);
    }
}

#[test]
fn a_wrong_format_is_an_error_that_lists_the_formats() {
    let repository = flawed();
    for value in ["sarf", "sarf=a.sarif"] {
        let ran = review(&repository, &["--format", value]);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains("invalid value 'sarf'"), "{}", ran.stderr);
        assert!(ran.stderr.contains("concise, json, sarif"), "{}", ran.stderr);
    }
    let ran = review(&repository, &["--format", "sarif="]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("missing file after `sarif=`"), "{}", ran.stderr);
}

#[test]
fn an_output_file_that_cannot_be_written_is_an_error() {
    let repository = flawed();
    for args in [["-o", "absent/out"], ["--format", "sarif=absent/out"]] {
        let ran = review(&repository, &args);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains("cannot write `absent/out`"), "{}", ran.stderr);
    }
}

#[test]
fn a_mode_with_its_own_output_refuses_another_place() {
    let repository = flawed();
    for args in [&["--mode", "headless", "-q"][..], &["--mode", "headless", "-o", "out"]] {
        assert_eq!(review(&repository, args).code, 2);
    }
}

#[test]
fn a_credential_is_redacted_in_every_output_file() {
    let token = ["ghp_", "q7R2mXc9Vb4Nz8Kp1Lw6Ty3Hd5Jf0Gs2AeUo"].concat();
    let repository = Repository::new();
    repository.write("a.py", format!("TOKEN = \"{token}\"\n"));
    repository.commit("second");
    for format in ["terminal", "concise", "json", "sarif", "rdjson", "markdown", "github"] {
        let ran = review(&repository, &["--format", &format!("{format}=out"), "-q"]);
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        assert!(!read(&repository, "out").contains(&token), "{format}");
    }
}

#[test]
fn colours_are_used_as_requested() {
    let repository = flawed();
    let run = |args: &[&str]| assay_with(repository.path(), args, b"", &[("NO_COLOR", "1")]);
    assert!(run(&["review", "--color", "always"]).stdout.contains('\u{1b}'));
    assert!(run(&["--color=always", "review"]).stdout.contains('\u{1b}'));
    for args in [&["review"][..], &["review", "--color", "never"], &["review", "--color", "auto"]] {
        assert!(!run(args).stdout.contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn a_command_runs_in_the_folder_before_it() {
    let repository = flawed();
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = repository.path().to_str().unwrap();
    let ran = assay_in(elsewhere.path(), &["-C", folder, "review", "--json", "src"], b"");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let ran = assay_in(elsewhere.path(), &["-C", "absent", "review"], b"");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("cannot change to the folder `absent`"), "{}", ran.stderr);
}

#[test]
fn the_long_version_has_commit_and_target() {
    let short = assay(&["-V"], "").stdout;
    assert_eq!(short, format!("assay {}\n", env!("CARGO_PKG_VERSION")));
    let long = assay(&["--version"], "").stdout;
    assert!(long.starts_with(short.trim_end()), "{long}");
    assert!(long.contains(std::env::consts::ARCH), "{long}");
}
