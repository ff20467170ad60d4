//! Findings of other tools that a review takes from files.

use assay_testkit::Repository;

use crate::{AssayRun, assay_in};

const CODE: &str = "int f(void) {\n    int x = 1;\n    return 0;\n}\n";

fn repository() -> Repository {
    let repository = Repository::new();
    repository.write("old.c", CODE);
    repository.commit("old");
    repository.write("a.c", CODE);
    repository.git(&["add", "a.c"]);
    repository
}

fn review(repository: &Repository, args: &[&str]) -> AssayRun {
    let args = [&["review", "--staged", "--format", "concise"], args].concat();
    assay_in(repository.path(), &args, b"")
}

#[test]
fn findings_of_every_format_are_merged_with_the_rest_and_decide() {
    let repository = repository();
    let sarif = r#"{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "cc"}}, "results": [
        {"ruleId": "unused", "level": "error", "message": {"text": "unused variable"}, "locations": [
        {"physicalLocation": {"artifactLocation": {"uri": "a.c"}, "region": {"startLine": 2}}}]}]}]}"#;
    let rdjson = r#"{"message": "unused variable", "severity": "ERROR", "code": {"value": "unused"},
        "location": {"path": "a.c", "range": {"start": {"line": 2}}}}"#;
    let rdjson = rdjson.replace('\n', "");
    let checkstyle = r#"<checkstyle><file name="a.c"><error line="2" severity="error"
        message="unused variable" source="unused"/></file></checkstyle>"#;
    let lines = "a.c:2:9: error: unused variable [unused]\n    2 |     int x = 1;\n";
    for (format, text) in [
        ("sarif", sarif),
        ("rdjsonl", &rdjson),
        ("rdjson", &format!("{{\"diagnostics\": [{rdjson}]}}")),
        ("checkstyle", checkstyle),
        ("lines", lines),
    ] {
        repository.write(".git/cc.txt", text);
        let ran = review(&repository, &["--import", &format!("{format}=.git/cc.txt")]);
        assert_eq!(ran.code, 1, "{format}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.starts_with("a.c:2:"), "{format}: {}", ran.stdout);
        assert!(ran.stdout.contains("HIGH: unused variable"), "{format}: {}", ran.stdout);
        assert!(ran.stdout.contains("[cc/unused]"), "{format}: {}", ran.stdout);
    }
}

#[test]
fn imported_findings_outside_of_the_change_do_not_block() {
    let repository = repository();
    repository.write(".git/cc.txt", "old.c:2:9: error: unused variable\n");
    let ran = review(&repository, &["--import", "lines=.git/cc.txt"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn an_imported_finding_in_an_unknown_file_makes_the_review_incomplete() {
    let repository = Repository::new();
    repository.write("packages/b/src/index.c", CODE);
    repository.commit("old");
    repository.write("packages/a/src/index.c", CODE);
    repository.git(&["add", "packages/a"]);
    repository.write(".git/cc.txt", "src/index.c:2: error: unused variable\n");
    let ran = review(&repository, &["--import", "lines=.git/cc.txt"]);
    let shown = format!("{}{}", ran.stdout, ran.stderr);
    assert_ne!(ran.code, 0, "{shown}");
    let reason = "the file is not in the repository (`src/index.c:2: unused variable";
    assert!(shown.contains(reason), "{shown}");
}

#[test]
fn an_imported_finding_is_placed_by_the_end_of_its_path_if_only_one_file_has_it() {
    let repository = Repository::new();
    repository.commit("empty");
    repository.write("packages/a/src/index.c", CODE);
    repository.git(&["add", "packages/a"]);
    repository.write(".git/cc.txt", "src/index.c:2: error: unused variable\n");
    let ran = review(&repository, &["--import", "lines=.git/cc.txt"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.starts_with("packages/a/src/index.c:2:"), "{}", ran.stdout);
}

#[test]
fn a_file_that_cannot_be_imported_is_an_error_and_never_a_pass() {
    let repository = repository();
    repository.write(".git/cc.txt", "All good!\n");
    repository.write(".git/rules.txt", "a.c:2: x\n");
    for (import, message) in [
        ("sarif=.git/cc.txt", "cannot import `.git/cc.txt`: the file is not SARIF: `All good!`"),
        ("checkstyle=.git/cc.txt", "is not checkstyle XML"),
        ("rdjson=.git/cc.txt", "is not rdjson"),
        ("rdjsonl=.git/cc.txt", "is not rdjsonl"),
        ("lines=.git/cc.txt", "is not lines"),
        ("sarif=.git/absent", "cannot import `.git/absent`"),
        ("lines=.git/rules.txt", "`rules` is another reviewer"),
        ("sarf=.git/cc.txt", "unknown output format `sarf`"),
        ("results.sarif", "expected FORMAT=FILE"),
    ] {
        let ran = review(&repository, &["--import", import]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{import}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{import}: {}", ran.stderr);
    }
}

#[test]
fn a_damaged_import_is_never_ready() {
    let repository = repository();
    repository.write(".git/cc.txt", "<checkstyle><file name=\"a.c\"><error line=\"2\"");
    let ran = review(&repository, &["--import", "checkstyle=.git/cc.txt"]);
    assert_ne!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn an_empty_list_of_lines_has_no_findings() {
    let repository = repository();
    repository.write(".git/cc.txt", "");
    assert_eq!(review(&repository, &["--import", "lines=.git/cc.txt"]).code, 0);
}

#[test]
fn a_recorded_review_replays_imported_findings() {
    let repository = repository();
    repository.write(".git/cc.txt", "a.c:2:9: error: unused variable [unused]\n");
    let args = ["--import", "lines=.git/cc.txt", "--record", ".git/recording"];
    let recorded = review(&repository, &args);
    let args = ["review", "--replay", ".git/recording", "--format", "concise"];
    let replayed = assay_in(repository.path(), &args, b"");
    assert_eq!(recorded.code, 1, "{}{}", recorded.stdout, recorded.stderr);
    assert_eq!((replayed.code, replayed.stdout), (1, recorded.stdout), "{}", replayed.stderr);
}
