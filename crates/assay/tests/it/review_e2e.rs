//! The review end to end: findings, fixes, dismissals and decisions.

use std::fs;

use assay_testkit::Repository;

use crate::{AssayRun, assay_in};

fn run(repository: &Repository, args: &[&str]) -> AssayRun {
    assay_in(repository.path(), args, b"")
}

/// Returns the findings as `file:line rule`, in order.
fn reported_findings(repository: &Repository, args: &[&str]) -> Vec<String> {
    let ran = run(repository, &[&["review", "--format", "json"], args].concat());
    list(&ran.json()["findings"])
}

fn list(findings: &serde_json::Value) -> Vec<String> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
    let findings = findings.as_array().unwrap().iter();
    findings.map(|f| format!("{}:{} {}", text(&f["file"]), f["line"], text(&f["rule"]))).collect()
}

fn read(repository: &Repository, path: &str) -> String {
    fs::read_to_string(repository.path().join(path)).unwrap()
}

const SHELL: &str = "import os\n\n\ndef clean(name):\n    os.system(f\"rm -r {name}\")\n";

/// Returns a repository with a change that has five defects in four files.
fn flawed() -> Repository {
    let repository = Repository::new();
    repository.write("shop.py", "def find(db, name):\n    return db.execute(\"SELECT 1\")\n");
    repository.write("cart.test.js", "it('adds', () => {\n  expect(1).toBe(1);\n});\n");
    repository.write("rates.rs", "pub fn rate() -> u32 {\n    19\n}\n");
    repository.commit("before");
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    let token = ["ghp_", "q7R2mXc9Vb4Nz8Kp1Lw6Ty3Hd5Jf0Gs2AeUo"].concat();
    repository.write("settings.py", format!("TOKEN = \"{token}\"\n"));
    repository.write(
        "shop.py",
        "def find(db, name):\n    print(\"DEBUG\", name)\n    return db.execute(f\"SELECT * FROM users WHERE name = '{name}'\")\n",
    );
    repository.write("cart.test.js", "it.only('adds', () => {\n  expect(1).toBe(1);\n});\n");
    repository.write(
        "rates.rs",
        "pub fn rate() -> u32 {\n<<<<<<< HEAD\n    19\n=======\n    21\n>>>>>>> next\n}\n",
    );
    repository.commit("after");
    repository
}

#[test]
fn five_flaws_are_found_on_their_lines_and_the_safe_one_is_fixed_alone() {
    let repository = flawed();
    let ran = run(&repository, &["review", "--format", "json"]);
    assert_eq!(ran.code, 1);
    let flaws = [
        "rates.rs:2 change/conflict-marker",
        "settings.py:1 secret/leaked-credential",
        "cart.test.js:1 javascript/focused-test",
        "shop.py:3 python/sql-injection",
        "shop.py:2 python/debug-print",
    ];
    assert_eq!(list(&ran.json()["findings"]), flaws);
    let before = ["cart.test.js", "rates.rs", "settings.py"].map(|path| read(&repository, path));
    let check = run(&repository, &["fix", "--check"]);
    assert_eq!((check.code, read(&repository, "shop.py").contains("DEBUG")), (1, true));
    assert_eq!(run(&repository, &["fix"]).code, 0);
    assert_eq!(
        read(&repository, "shop.py"),
        "def find(db, name):\n    return db.execute(f\"SELECT * FROM users WHERE name = '{name}'\")\n"
    );
    let after = ["cart.test.js", "rates.rs", "settings.py"].map(|path| read(&repository, path));
    assert_eq!(before, after);
    let again = run(&repository, &["fix"]);
    assert!(again.stdout.contains("has changed since the review"), "{}", again.stdout);
}

#[test]
fn a_clean_change_is_ready_and_exits_with_zero() {
    let repository = Repository::new();
    repository.write("shop.py", "def total(prices):\n    return sum(prices)\n");
    repository.commit("after");
    let ran = run(&repository, &["review"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("\nready (rules only)\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\n1 hunk: 1 by rules\n"), "{}", ran.stdout);
}

fn fingerprints(repository: &Repository) -> Vec<(String, String)> {
    let ran = run(repository, &["review", "--format", "json"]);
    let synthesis = ran.json();
    let findings = synthesis["findings"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let mut all: Vec<(String, String)> =
        findings.map(|f| (text(&f["rule"]), text(&f["fingerprint"]))).collect();
    all.sort();
    all
}

#[test]
fn a_finding_keeps_its_fingerprint_through_edits_around_it() {
    let repository = Repository::new();
    let other = "def other(a, b):\n    return a + b\n";
    repository.write("clean.py", format!("{SHELL}\n\n{other}"));
    let before = {
        repository.commit("after");
        fingerprints(&repository)
    };
    assert_eq!(before.len(), 1);
    for (what, path, text) in [
        (
            "lines above",
            "clean.py",
            format!("\"\"\"Cleans.\"\"\"\n\nimport sys\n{SHELL}\n\n{other}"),
        ),
        (
            "reformatting",
            "clean.py",
            format!(
                "import os\n\n\ndef clean(\n    name,\n):\n    os.system(\n        f\"rm -r {{name}}\",\n    )\n\n\n{other}"
            ),
        ),
        ("reordering", "clean.py", format!("import os\n\n\n{other}\n\n{}", &SHELL[11..])),
        ("renaming", "sweep.py", format!("{SHELL}\n\n{other}")),
    ] {
        let repository = Repository::new();
        repository.write(path, &text);
        repository.commit("after");
        assert_eq!(fingerprints(&repository), before, "{what}");
    }
}

#[test]
fn identical_defects_on_one_line_are_separate_findings() {
    let repository = Repository::new();
    repository.write(
        "a.py",
        "import os\n\n\ndef f(a):\n    return os.system(f\"rm {a}\"), os.system(f\"rm {a}\"), os.system(f\"ls {a}\")\n",
    );
    repository.commit("after");
    let mut prints = fingerprints(&repository);
    assert_eq!(prints.len(), 3, "{prints:?}");
    prints.dedup();
    assert_eq!(prints.len(), 3, "{prints:?}");
}

#[test]
fn an_ignore_comment_suppresses_a_finding_only_with_a_reason() {
    let repository = Repository::new();
    let with = |comment: &str| SHELL.replace("\")\n", &format!("\")  # {comment}\n"));
    repository.write("a.py", with("assay: ignore python/shell-injection names are our own"));
    repository.write("b.py", with("assay: ignore python/shell-injection"));
    repository.write("c.py", with("assay: ignore python/eval-of-input another rule"));
    repository.commit("after");
    assert_eq!(
        reported_findings(&repository, &[]),
        [
            "b.py:5 python/shell-injection",
            "c.py:5 python/shell-injection",
            "b.py:5 change/ignored-without-reason",
        ]
    );
    let ran = run(&repository, &["review"]);
    assert!(ran.stdout.contains("suppressed: "), "{}", ran.stdout);
    assert!(ran.stdout.contains("names are our own (a comment)"), "{}", ran.stdout);
}

#[test]
fn a_baseline_entry_follows_moved_code_and_ends_when_the_code_changes() {
    let repository = Repository::new();
    repository.write("a.py", SHELL);
    repository.git(&["add", "--all"]);
    assert_eq!(run(&repository, &["review", "--accept", ""]).code, 2, "a reason is needed");
    let ran = run(&repository, &["review", "--staged", "--accept", "until spring"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(run(&repository, &["review", "--staged"]).code, 0);
    repository.git(&["add", ".assay/baseline.json"]);
    let ran = run(&repository, &["review", "--staged"]);
    assert_eq!(ran.code, 1, "a change does not accept its own flaws");
    assert!(ran.stdout.contains("the change modifies the baseline;"), "{}", ran.stdout);
    repository.git(&["commit", "--quiet", "--message", "baseline"]);
    repository.write("a.py", format!("import sys\n\n{SHELL}"));
    repository.git(&["mv", "a.py", "b.py"]);
    repository.git(&["add", "--all"]);
    assert_eq!(
        reported_findings(&repository, &["--staged", "b.py"]),
        Vec::<String>::new(),
        "it moved"
    );
    let sweep = "def sweep(name):\n    os.system(f\"rm -r {name}\")\n";
    repository.write("b.py", format!("{SHELL}\n\n{sweep}"));
    repository.git(&["add", "--all"]);
    let copies = reported_findings(&repository, &["--staged", "b.py"]);
    assert_eq!(copies, ["b.py:9 python/shell-injection"], "a copy is a defect of its own");
    repository.write("b.py", SHELL.replace("rm -r", "rm -rf"));
    repository.git(&["add", "--all"]);
    assert_eq!(
        reported_findings(&repository, &["--staged", "b.py"]),
        ["b.py:5 python/shell-injection"]
    );
    repository.write(".assay/baseline.json", "{}");
    let ran = run(&repository, &["review", "--staged"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("is not a valid baseline"), "{}", ran.stderr);
}

#[test]
fn a_baseline_entry_of_a_deleted_file_does_not_apply_to_another_file() {
    let repository = Repository::new();
    repository.write("lib/x.py", SHELL);
    repository.git(&["add", "--all"]);
    assert_eq!(run(&repository, &["review", "--staged", "--accept", "a fixture"]).code, 0);
    repository.commit("accepted");
    repository.remove("lib/x.py");
    repository.commit("gone");
    repository.write("prod.py", format!("import sys\n\n{SHELL}"));
    repository.commit("the same again");
    assert_eq!(
        reported_findings(&repository, &["--commit", "HEAD"]),
        ["prod.py:7 python/shell-injection"]
    );
}

const RULE: &str = "id: house/no-floats\nlanguage: Python\nmessage: Money as a float\nseverity: error\nrule:\n  pattern: float($X)\n";

#[test]
fn a_repository_can_add_its_own_rules() {
    let repository = Repository::new();
    repository.write(".assay/rules/no-floats.yml", RULE);
    repository.commit("rules");
    repository.write("a.py", "x = float(y)\n");
    repository.commit("after");
    assert_eq!(reported_findings(&repository, &[]), ["a.py:1 house/no-floats"]);
    repository.write(".assay/rules/no-floats.yml", "id: x\nlanguage: Klingon\n");
    let ran = run(&repository, &["review", "--commit", "HEAD"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("no-floats.yml"), "{}", ran.stderr);
}

#[test]
fn a_change_does_not_decide_how_it_is_reviewed() {
    let repository = Repository::new();
    repository.write(".assay/rules/no-floats.yml", RULE);
    repository.commit("rules");
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    repository.write("a.py", "x = float(y)\n");
    repository.write(".assay/rules/no-floats.yml", RULE.replace("error", "off"));
    repository.write(
        "config/agent-framework.yaml",
        "review:\n  ignore: [\"**\"]\n  commands:\n    - name: evil\n      run: [\"touch\", \"marker\"]\n      form: sarif\n",
    );
    repository.write(".gitattributes", "* linguist-generated\n");
    repository.commit("after");
    let ran = run(&repository, &["review"]);
    assert!(ran.stdout.contains("(house/no-floats)"), "{}", ran.stdout);
    assert!(ran.stdout.contains("the change modifies the configuration;"), "{}", ran.stdout);
    assert!(ran.stdout.contains("the change modifies the repository's rules;"), "{}", ran.stdout);
    assert!(!repository.path().join("marker").exists());
}

#[test]
fn excluded_files_are_counted_by_reason() {
    let repository = Repository::new();
    repository.write("config/agent-framework.yaml", "review:\n  ignore: [\"vendor/**\"]\n");
    repository.write(".gitattributes", "*.gen.py linguist-generated\n");
    repository.commit("configuration");
    repository.write("vendor/a.py", SHELL);
    repository.write("b.gen.py", SHELL);
    repository.write("Cargo.lock", "version = 4\n");
    repository.write("c.min.js", format!("x({})\n", "1,".repeat(200)));
    repository.write("big.py", "x = 1\n".repeat(200_000));
    repository.write("d.py", "x = 1\n");
    repository.commit("after");
    let ran = run(&repository, &["review"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(
        ran.stdout.contains(
            "6 hunks: 1 by rules, 1 left out (generated), 1 left out (ignored by `vendor/**`), \
             1 left out (larger than 1024 KiB), 1 left out (lock file), 1 left out (minified)"
        ),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_file_that_was_not_reviewed_is_named() {
    let repository = Repository::new();
    repository.write("a.py", "x = 1\n");
    repository.write("b.lock/Cargo.lock", "version = 4\n");
    repository.commit("after");
    let ran = run(&repository, &["review"]);
    let line = "not reviewed: b.lock/Cargo.lock (lock file)";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    repository.git(&["update-index", "--chmod=+x", "a.py"]);
    repository.git(&["commit", "--quiet", "--message", "mode"]);
    let ran = run(&repository, &["review", "--commit", "HEAD"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(ran.stdout.contains("\nnothing to review\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("1 left out (mode only)"), "{}", ran.stdout);
}

#[test]
fn untracked_files_are_reviewed_if_nothing_else_is_new() {
    let repository = Repository::new();
    repository.write("evil.py", SHELL);
    let ran = run(&repository, &["review"]);
    assert!(ran.stdout.starts_with("Review of untracked files (1 file)"), "{}", ran.stdout);
    assert_eq!(ran.code, 1);
}

#[test]
fn files_with_quoted_or_non_utf_8_names_are_reviewed() {
    use std::os::unix::ffi::OsStrExt;
    let repository = Repository::new();
    let code = "def f(a):\n    breakpoint()\n    return 1\n";
    for name in [&b"\"q\".py"[..], b"bad\xff.py", b"a b.py"] {
        repository.write(std::ffi::OsStr::from_bytes(name), code);
    }
    repository.commit("after");
    assert_eq!(reported_findings(&repository, &[]).len(), 3);
}

#[test]
fn nothing_is_written_through_a_link_out_of_the_repository() {
    let outside = tempfile::tempdir().unwrap();
    let repository = flawed();
    std::os::unix::fs::symlink(outside.path(), repository.path().join(".assay")).unwrap();
    let ran = run(&repository, &["review"]);
    assert_eq!(ran.code, 1, "the review is told all the same");
    assert!(ran.stdout.contains("python/sql-injection"), "{}", ran.stdout);
    assert!(ran.stderr.contains("cannot store the review"), "{}", ran.stderr);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    std::os::unix::fs::symlink("/etc/hostname", repository.file("config/agent-framework.yaml"))
        .unwrap();
    let ran = run(&repository, &["review", "--commit", "HEAD"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("is not a text file of this repository"), "{}", ran.stderr);
}

#[test]
fn a_secret_appears_in_no_output_and_no_stored_file() {
    let repository = Repository::new();
    let token = ["ghp_", "q7R2mXc9Vb4Nz8Kp1Lw6Ty3Hd5Jf0Gs2AeUo"].concat();
    repository.write(
        ".assay/rules/a.yml",
        format!("id: house/a\nlanguage: Python\nmessage: found {token} here\nseverity: error\nrule:\n  pattern: float($X)\n"),
    );
    repository.commit("rules");
    repository.write(
        "a.py",
        format!("x = float(y)\n\n\ndef f(a):\n    breakpoint()  # assay: ignore python/debugger {token}\n    return a\n"),
    );
    repository.commit("after");
    for format in
        ["terminal", "json", "sarif", "rdjson", "rdjsonl", "markdown", "github", "checklist"]
    {
        let ran = run(&repository, &["review", "--format", format]);
        assert!(!ran.stdout.contains(&token), "{format}: {}", ran.stdout);
    }
    run(&repository, &["review", "--accept", &format!("because of {token}")]);
    let mut waiting =
        vec![repository.path().join(".assay/runs"), repository.path().join(".assay/baseline.json")];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let text = fs::read_to_string(&path).unwrap();
            assert!(!text.contains(&token), "{}", path.display());
        }
    }
}

#[test]
fn the_exit_code_is_unchanged_if_the_reader_closes_the_pipe() {
    let repository = flawed();
    let script = "\"$0\" review | true; exit ${PIPESTATUS[0]}";
    let status = std::process::Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_assay")])
        .current_dir(repository.path())
        .env("XDG_STATE_HOME", crate::state_home())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_form_that_lists_findings_says_when_the_review_is_incomplete() {
    let repository = Repository::new();
    repository.write("a.py", b"x = 1\n\0");
    repository.commit("after");
    for (format, expected) in [
        ("github", "::error title=The review is incomplete::"),
        ("checklist", "**The review is incomplete**"),
        ("sarif", "\"executionSuccessful\": false"),
    ] {
        let ran = run(&repository, &["review", "--format", format]);
        assert_eq!(ran.code, 3);
        assert!(ran.stdout.contains(expected), "{format}: {}", ran.stdout);
    }
}

#[test]
fn a_built_in_rule_can_be_switched_off() {
    let repository = Repository::new();
    repository.write(
        ".assay/rules/off.yml",
        "id: python/debugger\nlanguage: Python\nmessage: off\nseverity: \"off\"\nrule:\n  pattern: x\n",
    );
    repository.commit("rules");
    repository.write("a.py", "def f(a):\n    breakpoint()\n    return 1\n");
    repository.commit("after");
    assert_eq!(reported_findings(&repository, &[]), Vec::<String>::new());
}

#[test]
fn coverage_can_be_required() {
    let repository = Repository::new();
    repository.write("config/agent-framework.yaml", "coverage:\n  require: structural\n");
    repository.commit("configuration");
    repository.write("a.txt", "hello\n");
    repository.commit("after");
    let ran = run(&repository, &["review"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stdout.contains("coverage.require: structural"), "{}", ran.stdout);
}

#[test]
fn the_mode_decides_what_a_review_writes_and_prints() {
    let repository = flawed();
    run(&repository, &["review", "--mode", "report-only"]);
    assert!(!repository.path().join(".assay").exists(), "report-only writes nothing");
    // The file with the conflict markers does not parse, so the change was not read completely.
    let ran = run(&repository, &["review", "--mode", "headless"]);
    assert_eq!(ran.stdout.lines().last(), Some("degraded"));
    let ran = run(&repository, &["review", "--mode", "headless", "shop.py"]);
    assert_eq!(ran.stdout.lines().last(), Some("complete"));
    let ran = run(&repository, &["review", "--mode", "autofix"]);
    assert!(!ran.stdout.contains("python/debug-print"), "{}", ran.stdout);
    assert!(!read(&repository, "shop.py").contains("DEBUG"));
    let ran = run(&repository, &["review", "--mode", "interactive"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("requires a terminal"), "{}", ran.stderr);
}

#[test]
fn the_roster_lists_reviewers_with_reasons_and_reviews_nothing() {
    let repository = flawed();
    let ran = run(&repository, &["review", "--roster"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.starts_with("lite roster: "), "{}", ran.stdout);
    assert!(ran.stdout.contains("reads  rules: always on"), "{}", ran.stdout);
    assert!(!repository.path().join(".assay").exists());
    let ran = run(&repository, &["review", "--dry-run"]);
    assert!(ran.stdout.contains("nothing is spent"), "{}", ran.stdout);
}

#[test]
fn a_configuration_error_is_reported_with_its_key_or_value() {
    let repository = Repository::new();
    for (text, expected) in [
        ("review:\n  ignored: []\n", "ignored"),
        ("review:\n  fail_on: odd\n", "review.fail_on"),
        ("review:\n  ignore: [\"[\"]\n", "invalid glob `[`"),
        ("review:\n  commands: [nothing-known]\n", "unknown analyser `nothing-known`"),
        ("review:\n  commands: [ruff, ruff]\n", "duplicate reviewer `ruff`"),
        ("review:\n  commands:\n    - name: x\n      run: [x]\n", "missing `form`"),
        ("review: [\n", "cannot read `config"),
        ("review:\n  ignore: [\"${NOT_SET_ANYWHERE}\"]\n", "`NOT_SET_ANYWHERE` is not set"),
    ] {
        repository.write("config/agent-framework.yaml", text);
        let ran = run(&repository, &["review", "--commit", "HEAD"]);
        assert_eq!(ran.code, 2, "{text}: {}", ran.stdout);
        assert!(ran.stderr.contains(expected), "{text}: {}", ran.stderr);
        assert_eq!(run(&repository, &["doctor"]).code, 2, "{text}");
    }
}

#[test]
fn the_configuration_that_init_writes_is_accepted_without_warnings() {
    let repository = Repository::new();
    assert_eq!(run(&repository, &["init"]).code, 0);
    let text = read(&repository, "config/agent-framework.yaml");
    assert!(text.contains("${CARGO_HOME}"), "{text}");
    let ran = run(&repository, &["review", "--commit", "HEAD"]);
    assert_eq!(ran.stderr, "");
}

#[test]
fn the_doctor_finds_an_analyser_of_the_repository_and_does_not_run_it() {
    let repository = Repository::new();
    repository.write("config/agent-framework.yaml", "review:\n  commands: [eslint]\n");
    let ran = run(&repository, &["doctor"]);
    assert!(ran.stdout.contains("bad  eslint is configured, but not installed"), "{}", ran.stdout);
    let path = repository.file("node_modules/.bin/eslint");
    fs::write(&path, "#!/bin/sh\ntouch marker\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&path, executable).unwrap();
    let ran = run(&repository, &["doctor"]);
    let line = "ok   eslint is configured: node_modules/.bin/eslint";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    assert!(!repository.path().join("marker").exists());
}

#[test]
fn completions_and_the_man_page_are_printed() {
    let repository = Repository::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&repository, &["completions", shell]);
        assert!(ran.code == 0 && ran.stdout.contains("review"), "{shell}");
    }
    let page = run(&repository, &["man"]).stdout;
    assert!(page.contains(".TH ASSAY 1"), "{page}");
    let page = run(&repository, &["man", "review"]).stdout;
    assert!(page.contains("fail\\-on"), "{page}");
}

#[test]
fn a_partial_review_does_not_use_rules_added_by_the_rest_of_the_change() {
    let repository = Repository::new();
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    let off = "id: python/shell-injection\nlanguage: Python\nmessage: Fine\nseverity: off\nrule:\n  pattern: os.system($X)\n";
    repository.write(".assay/rules/off.yml", off);
    repository.write("a.py", SHELL);
    repository.commit("switches a rule off");
    let found = ["a.py:5 python/shell-injection"];
    assert_eq!(reported_findings(&repository, &[])[..1], found, "all of it is asked for");
    assert_eq!(reported_findings(&repository, &["a.py"]), found, "a part of it is");
    let ran = run(&repository, &["review", "a.py"]);
    assert!(ran.stdout.contains("may belong to the change"), "{}", ran.stdout);
}
