//! `assay review` on real repositories.

use assay_testkit::Repository;

use crate::{AssayRun, assay_in};

fn review(repository: &Repository, args: &[&str]) -> AssayRun {
    assay_in(repository.path(), &[&["review"], args].concat(), b"")
}

/// Returns the findings as `file:line severity rule`, in order.
fn reported_findings(ran: &AssayRun) -> Vec<String> {
    let synthesis = ran.json();
    let findings = synthesis["findings"].as_array().unwrap();
    findings
        .iter()
        .map(|f| {
            let text = |key: &str| f[key].as_str().unwrap_or("-").to_owned();
            format!("{}:{} {} {}", text("file"), f["line"], text("severity"), text("rule"))
        })
        .collect()
}

fn token() -> String {
    ["ghp_", "q7R2mXc9Vb4Nz8Kp1Lw6Ty3Hd5Jf0Gs2AeUo"].concat()
}

#[test]
fn a_flawed_change_is_not_ready_and_every_flaw_has_its_line() {
    let repository = Repository::new();
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    repository.write("a.py", format!("x = 1\nTOKEN = \"{}\"\nprint('DEBUG', x)\n", token()));
    repository.write("a.test.ts", "it.only('works', () => {});\n");
    repository.write("b.rs", "<<<<<<< ours\n1\n=======\n2\n>>>>>>> theirs\n");
    repository.commit("second");
    let ran = review(&repository, &["--format", "json"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert_eq!(
        reported_findings(&ran),
        [
            "a.py:2 CRITICAL secret/leaked-credential",
            "b.rs:1 CRITICAL change/conflict-marker",
            "a.test.ts:1 HIGH javascript/focused-test",
            "a.py:3 LOW python/debug-print",
        ]
    );
}

#[test]
fn a_clean_change_is_ready() {
    let repository = Repository::new();
    repository.write("a.py", "x = 1\n");
    repository.commit("second");
    let ran = review(&repository, &[]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("Review of the last commit (1 file)"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nready (rules only"), "{}", ran.stdout);
}

#[test]
fn a_secret_is_found_and_never_shown() {
    let repository = Repository::new();
    repository.write("a.py", format!("TOKEN = \"{}\"\n", token()));
    repository.commit("second");
    for format in
        ["terminal", "json", "sarif", "rdjson", "rdjsonl", "markdown", "github", "checklist"]
    {
        let ran = review(&repository, &["--format", format]);
        assert_eq!(ran.code, 1, "{format}");
        assert!(ran.stdout.contains("GitHub token"), "{format}: {}", ran.stdout);
        assert!(!ran.stdout.contains(&token()), "{format}: {}", ran.stdout);
    }
}

#[test]
fn each_scope_shows_its_own_change() {
    let repository = Repository::new();
    repository.write("committed.rs", "dbg!(1);\n");
    repository.commit("second");
    repository.write("staged.rs", "dbg!(2);\n");
    repository.git(&["add", "--all"]);
    repository.write("committed.rs", "dbg!(1);\ndbg!(3);\n");
    repository.write("untracked.rs", "dbg!(4);\n");
    let reported_findings = |args: &[&str]| {
        reported_findings(&review(&repository, &[args, &["--format", "json"]].concat()))
    };
    assert_eq!(
        reported_findings(&[]),
        ["committed.rs:2 LOW rust/dbg-in-expression", "staged.rs:1 LOW rust/dbg-in-expression"]
    );
    assert_eq!(reported_findings(&["--staged"]), ["staged.rs:1 LOW rust/dbg-in-expression"]);
    assert_eq!(
        reported_findings(&["--commit", "HEAD"]),
        ["committed.rs:1 LOW rust/dbg-in-expression"]
    );
    assert_eq!(
        reported_findings(&["--commit", "HEAD^..HEAD"]),
        ["committed.rs:1 LOW rust/dbg-in-expression"]
    );
    assert_eq!(
        reported_findings(&["--base", "HEAD", "staged.rs"]),
        ["staged.rs:1 LOW rust/dbg-in-expression"]
    );
    assert_eq!(
        reported_findings(&["--untracked", "untracked.rs"]),
        ["untracked.rs:1 LOW rust/dbg-in-expression"]
    );
}

#[test]
fn untracked_files_that_are_not_reviewed_are_reported() {
    let repository = Repository::new();
    repository.write("a.py", "x = 1\n");
    repository.commit("second");
    repository.write("a.py", "x = 2\n");
    repository.write("new.py", "y = 1\n");
    let ran = review(&repository, &[]);
    assert!(ran.stdout.contains("1 untracked file not reviewed"), "{}", ran.stdout);
}

#[test]
fn a_change_with_only_minified_code_is_incomplete() {
    let repository = Repository::new();
    repository.write("a.min.js", format!("{};\n", "x".repeat(2_000)));
    repository.commit("second");
    let ran = review(&repository, &["--commit", "HEAD"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stdout.contains("1 hunk: 1 left out (minified)"), "{}", ran.stdout);
}

#[test]
fn fail_on_sets_the_severity_from_which_findings_block() {
    let repository = Repository::new();
    repository.write("a.rs", "dbg!(1);\n");
    repository.commit("second");
    assert_eq!(review(&repository, &[]).code, 0);
    assert_eq!(review(&repository, &["--fail-on", "low"]).code, 1);
    assert_eq!(review(&repository, &["--fail-on", "medium"]).code, 0);
    let ran = review(&repository, &["--fail-on", "odd"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("expected one of CRITICAL"), "{}", ran.stderr);
}

#[test]
fn wrong_usage_is_named_with_exit_code_two() {
    let folder = tempfile::tempdir().unwrap();
    let ran = assay_in(folder.path(), &["review"], b"");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("is not in a git repository"), "{}", ran.stderr);
    let repository = Repository::new();
    for args in [["--base", "nowhere"], ["--commit", "--output=x"], ["--commit", "a..b"]] {
        let ran = review(&repository, &args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.stderr.contains("error: "), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn hooks_and_filters_of_a_repository_are_not_run() {
    let repository = Repository::new();
    let mark = repository.path().join("ran");
    let script = format!("touch '{}'; cat", mark.display());
    repository.git(&["config", "diff.evil.textconv", &script]);
    repository.git(&["config", "diff.external", &script]);
    repository.git(&["config", "core.fsmonitor", &script]);
    repository.git(&["config", "filter.evil.clean", &script]);
    repository.git(&["config", "filter.evil.smudge", &script]);
    repository.git(&["config", "filter.evil.required", "true"]);
    repository.write(".gitattributes", "*.txt diff=evil filter=evil\n");
    repository.write("a.txt", "one\n");
    repository.commit("second");
    repository.write("a.txt", "two\n");
    std::fs::remove_file(&mark).ok();
    assert_eq!(review(&repository, &[]).code, 0);
    assert!(!mark.exists());
}

#[test]
fn escapes_in_names_and_code_do_not_reach_the_terminal() {
    let repository = Repository::new();
    repository.write("a\u{1b}[31m.rs", "dbg!(1); // \u{1b}]0;owned\u{7}\n");
    repository.commit("second");
    let ran = review(&repository, &[]);
    assert!(!ran.stdout.contains('\u{1b}'), "{:?}", ran.stdout);
}

#[test]
fn files_with_unusual_names_are_reviewed() {
    for name in ["a\nb.py", "a\tb.py", " lead.py", "tick`.py", "back\\slash.py", "ünï.py"] {
        let repository = Repository::new();
        repository.write(name, format!("TOKEN = \"{}\"\n", token()));
        repository.commit("second");
        let ran = review(&repository, &["--format", "json"]);
        assert_eq!(ran.code, 1, "{name:?}: {}", ran.stdout);
        assert_eq!(ran.json()["findings"][0]["file"], name);
    }
}

#[test]
fn attributes_and_nul_bytes_do_not_hide_code() {
    let repository = Repository::new();
    repository.write(".gitattributes", "*.py binary\n");
    repository.write("a.py", format!("TOKEN = \"{}\"\n", token()));
    repository.write("b.txt", "fine\n");
    repository.commit("second");
    assert_eq!(review(&repository, &[]).code, 1);
    repository.write("a.py", "x = 1 # \0\n");
    repository.write("b.txt", "still fine\n");
    let ran = review(&repository, &[]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert!(ran.stdout.contains("1 failed (source that is not text)"), "{}", ran.stdout);
}

#[test]
fn paths_are_resolved_in_the_current_folder() {
    let repository = Repository::new();
    repository.write("sub/a.rs", "dbg!(1);\n");
    repository.write("b.rs", "dbg!(2);\n");
    repository.commit("second");
    let inside = repository.path().join("sub");
    let ran = assay_in(&inside, &["review", "--format", "json", "a.rs"], b"");
    assert_eq!(reported_findings(&ran), ["sub/a.rs:1 LOW rust/dbg-in-expression"]);
    let ran = assay_in(&inside, &["review", "nothing.rs"], b"");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("unknown path `nothing.rs`"), "{}", ran.stderr);
}

#[test]
fn a_range_excludes_changes_of_the_other_branch() {
    let repository = Repository::new();
    repository.git(&["branch", "topic"]);
    repository.write("main.rs", "dbg!(1);\n");
    repository.commit("on main");
    repository.git(&["switch", "--quiet", "topic"]);
    repository.write("topic.rs", "dbg!(2);\n");
    repository.commit("on topic");
    for range in ["main..topic", "main...topic"] {
        let ran = review(&repository, &["--commit", range, "--format", "json"]);
        assert_eq!(reported_findings(&ran), ["topic.rs:1 LOW rust/dbg-in-expression"], "{range}");
        assert_eq!(ran.json()["coverage"]["reviewed"]["rules"], 1, "{range}");
    }
}

#[test]
fn a_secret_in_another_finding_or_a_key_is_not_shown() {
    let repository = Repository::new();
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKB";
    let key = format!("-----BEGIN {} KEY-----\n{body}\n", "PRIVATE");
    repository.write("key.pem", &key);
    repository.write("a.js", format!("console.debug('{}');\n", token()));
    repository.commit("second");
    for format in ["terminal", "json", "sarif", "markdown", "checklist"] {
        let ran = review(&repository, &["--format", format]);
        assert_eq!(ran.code, 1, "{format}");
        assert!(!ran.stdout.contains(&token()) && !ran.stdout.contains(body), "{format}");
    }
}
