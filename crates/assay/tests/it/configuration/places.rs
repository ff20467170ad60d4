//! The files of the configuration: their places, their order, and the commands that show and check
//! them.

use std::fs;

use assay_engine::config::configuration_file::PATHS;
use assay_testkit::Repository;

use crate::{AssayRun, assay_in, assay_with};

const STRICT: &str = "review:\n  fail_on: LOW\n";

/// Code with one LOW finding, which blocks only with a strict configuration.
const CODE: &str = "fn main() {\n    dbg!(1);\n}\n";

/// Returns a repository with a configuration, and staged code.
fn configured(path: &str, text: &str) -> Repository {
    let repository = Repository::new();
    repository.write(path, text);
    repository.commit("configured");
    repository.write("main.rs", CODE);
    repository.git(&["add", "main.rs"]);
    repository
}

fn review(repository: &Repository, args: &[&str]) -> AssayRun {
    assay_in(repository.path(), &[&["review", "--staged"], args].concat(), b"")
}

/// Runs assay with a file of the user.
fn with_user_file(repository: &Repository, text: &str, args: &[&str]) -> AssayRun {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("assay")).unwrap();
    fs::write(home.path().join("assay/config.yaml"), text).unwrap();
    let home_path = home.path().to_str().unwrap();
    let mut ran = assay_with(repository.path(), args, b"", &[("XDG_CONFIG_HOME", home_path)]);
    ran.stdout = ran.stdout.replace(home_path, "HOME");
    ran.stderr = ran.stderr.replace(home_path, "HOME");
    ran
}

#[test]
fn a_configuration_is_read_from_every_place() {
    for path in PATHS {
        let ran = review(&configured(path, STRICT), &[]);
        assert_eq!(ran.code, 1, "{path}: {}{}", ran.stdout, ran.stderr);
    }
    assert_eq!(review(&configured("other.yaml", STRICT), &[]).code, 0);
}

#[test]
fn two_configurations_are_an_error_that_names_both() {
    let repository = configured("assay.yaml", STRICT);
    repository.write(".assay.yaml", STRICT);
    let ran = review(&repository, &[]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(
        ran.stderr.contains("two configuration files, `assay.yaml` and `.assay.yaml`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_change_does_not_configure_its_own_review_from_any_place() {
    for before in PATHS {
        for added in PATHS {
            let repository = configured(before, STRICT);
            repository.write(added, "review:\n  ignore: [\"**\"]\n");
            repository.git(&["add", "--force", added]);
            let ran = review(&repository, &[]);
            assert_eq!(ran.code, 1, "{before}, {added}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stdout.contains("the change modifies the configuration"), "{}", ran.stdout);
        }
    }
}

#[test]
fn the_file_of_the_user_applies_unless_the_repository_sets_the_key() {
    let plain = configured("other.yaml", "");
    assert_eq!(with_user_file(&plain, STRICT, &["review", "--staged"]).code, 1);
    let lax = configured("assay.yaml", "review:\n  fail_on: HIGH\n");
    assert_eq!(with_user_file(&lax, STRICT, &["review", "--staged"]).code, 0);
    let other_key = configured("assay.yaml", "review:\n  at_a_time: 2\n");
    let shown = with_user_file(&other_key, STRICT, &["config", "show", "--origin"]);
    assert!(
        shown.stdout.contains("review.fail_on: LOW  # HOME/assay/config.yaml:2\n"),
        "{}",
        shown.stdout
    );
    assert!(shown.stdout.contains("review.at_a_time: 2  # assay.yaml:2\n"), "{}", shown.stdout);
    assert!(shown.stdout.contains("review.max_file_kib: 1024  # default\n"), "{}", shown.stdout);
}

#[test]
fn the_file_of_the_user_cannot_hide_findings_or_configure_shared_work() {
    let repository = configured("other.yaml", "");
    for (text, key) in [
        ("review:\n  shown: 3\n  ignore: [x]\n", "line 3: `review.ignore`"),
        ("review: {rules: {rust/dbg-left: off}}\n", "line 1: `review.rules`"),
        ("coverage:\n  require: none\n", "line 1: `coverage`"),
        ("queue:\n  url: postgres://x@y/z\n", "line 1: `queue`"),
    ] {
        let ran = with_user_file(&repository, text, &["review", "--staged"]);
        assert_eq!(ran.code, 2, "{text}: {}", ran.stdout);
        let message = format!(
            "`HOME/assay/config.yaml`, {key} can only be set in the configuration of a repository"
        );
        assert!(ran.stderr.contains(&message), "{}", ran.stderr);
    }
}

#[test]
fn the_file_of_the_user_is_refused_in_the_work_tree_where_a_change_can_edit_it() {
    let repository = configured("other.yaml", "");
    repository.write("home/assay/config.yaml", "review:\n  commands: [ruff]\n");
    let inside = repository.file("home");
    let link = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(&inside, link.path().join("home")).unwrap();
    for home in [inside, link.path().join("home")] {
        let variables = [("XDG_CONFIG_HOME", home.to_str().unwrap())];
        let ran = assay_with(repository.path(), &["review", "--staged"], b"", &variables);
        assert_eq!(ran.code, 2, "{}", ran.stdout);
        assert!(
            ran.stderr.contains("is in the work tree, where a change can edit it"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn a_configuration_named_by_an_option_is_told_in_the_output_and_in_the_run() {
    let repository = configured("assay.yaml", "review:\n  fail_on: HIGH\n");
    repository.write("try.yaml", STRICT);
    let ran = review(&repository, &["--config", "try.yaml"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let note = "using the configuration `try.yaml` of `--config`, and not that of the repository";
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
    let runs = fs::read_dir(repository.file(".assay/runs")).unwrap();
    let runs: Vec<_> = runs.map(|run| run.unwrap().path()).filter(|run| run.is_dir()).collect();
    let [run] = &runs[..] else { panic!("{runs:?}") };
    let log = fs::read_to_string(run.join("log")).unwrap();
    assert!(log.contains(note), "{log}");
    let missing = review(&repository, &["--config", "absent.yaml"]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("cannot read `absent.yaml`"), "{}", missing.stderr);
}

#[test]
fn the_values_are_printed_as_json_with_their_origins() {
    let repository = configured("assay.yaml", "review:\n  fail_on: LOW\n  commands: [ruff]\n");
    let ran = assay_in(repository.path(), &["config", "show", "--json"], b"");
    let json = ran.json();
    assert_eq!(json["files"], serde_json::json!(["assay.yaml"]));
    let values = json["values"].as_array().unwrap();
    let of = |key: &str| values.iter().find(|value| value["key"] == key).unwrap();
    let origin = serde_json::json!({ "file": "assay.yaml", "line": 3 });
    assert_eq!(
        (&of("review.commands")["value"][0], &of("review.commands")["origin"]),
        (&"ruff".into(), &origin)
    );
    assert_eq!(of("review.at_a_time")["origin"], "default");
}

#[test]
fn a_value_from_a_variable_is_shown_as_it_is_written() {
    let repository = configured("assay.yaml", "github:\n  repositories: [\"${ORG}/shop\"]\n");
    let ran = assay_with(repository.path(), &["config", "show"], b"", &[("ORG", "acme")]);
    assert!(
        ran.stdout.contains("github.repositories: [\"${ORG}/shop\"]\n"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

#[test]
fn an_error_names_file_line_key_value_and_the_nearest_right_one() {
    let repository = configured("other.yaml", "");
    for (text, message) in [
        (
            "review:\n  fail_onn: LOW\n",
            "`x.yaml`, line 2 (`fail_onn`): unknown key `fail_onn`, expected one of ",
        ),
        ("review:\n  fail_onn: LOW\n", "; did you mean `fail_on`?"),
        ("reviews: {}\n", "; did you mean `review`?"),
        ("review:\n  nothing_to_review: passs\n", "; did you mean `pass`?"),
        ("review:\n  at_a_time: many\n", "line 2 (`at_a_time`): expected a number, found `many`"),
        ("review:\n  ignore: 3\n", "expected a list, found `3`"),
        ("review: 3\n", "expected a map, found `3`"),
        ("review:\n  models: maybe # ?\n", "expected true or false, found `maybe`"),
        ("review:\n  rules: {rust/dbg-lef: off}\n", "`rust/dbg-left`"),
        ("review:\n  fail_on: LOWW\n", "invalid value of `review.fail_on`"),
        ("review:\n  at_a_time: 2\n  fail_on: LOWW\n", "`x.yaml`, line 3 (`fail_on`)"),
        ("review:\n  fail_on: LOWW\n", "`LOWW`: expected one of"),
        ("review:\n  fail_on: LOWW\n", "; did you mean `LOW`?"),
        ("review:\n  analysers: [ruff]\n", "expected a word, found `[ruff]`"),
        ("review:\n  commands: [rufff]\n", "; did you mean `ruff`?"),
        ("review:\n  rules:\n    go/*: of\n", "line 3 (`go/*`): invalid value: `of`"),
    ] {
        repository.write("x.yaml", text);
        let ran = assay_in(repository.path(), &["config", "check", "x.yaml"], b"");
        assert_eq!(ran.code, 2, "{text}: {}", ran.stdout);
        assert!(ran.stderr.contains(message), "{text}: {}", ran.stderr);
        for kind in ["usize", "u64", "struct", "sequence", "NonZero", "Config", "enum", "variant"] {
            assert!(!ran.stderr.contains(kind), "{text}: {}", ran.stderr);
        }
    }
    repository.write("x.yaml", STRICT);
    let ran = assay_in(repository.path(), &["config", "check", "x.yaml"], b"");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "x.yaml is valid\n"), "{}", ran.stderr);
    let none = assay_in(repository.path(), &["config", "check"], b"");
    assert_eq!(none.stdout, "no configuration; every key has its default\n");
}

#[test]
fn init_writes_the_schema_that_its_file_names_and_no_second_configuration() {
    let repository = Repository::new();
    assert_eq!(assay_in(repository.path(), &["init"], b"").code, 0);
    let text = fs::read_to_string(repository.file(PATHS[0])).unwrap();
    let named = text.lines().next().unwrap().split_once("$schema=").unwrap().1;
    let schema = fs::read_to_string(repository.file("config").join(named)).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    assert_eq!(schema, super::schema());
    assert_eq!(repository.git(&["status", "--porcelain", ".assay/configuration.schema.json"]), "");
    for path in PATHS {
        let repository = Repository::new();
        repository.write(path, STRICT);
        let ran = assay_in(repository.path(), &["init"], b"");
        let kept = format!("{path} already exists and was not changed\n");
        assert!(ran.stdout.starts_with(&kept), "{}{}", ran.stdout, ran.stderr);
        let found = PATHS.iter().filter(|path| repository.file(path).exists()).count();
        assert_eq!(found, 1, "{path}");
    }
}

#[test]
fn init_replaces_a_link_of_the_repository_and_does_not_write_through_it() {
    let repository = Repository::new();
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("profile");
    fs::write(&target, "mine").unwrap();
    let link = repository.file(".assay/configuration.schema.json");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let ran = assay_in(repository.path(), &["init"], b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
    assert!(link.symlink_metadata().unwrap().is_file());
}

#[test]
fn the_schema_of_both_commands_is_the_same() {
    let one = crate::assay(&["config", "schema"], "");
    assert_eq!(one.stdout, crate::assay(&["schema", "configuration"], "").stdout);
}
