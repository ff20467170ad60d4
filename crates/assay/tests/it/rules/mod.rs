//! `assay rules`: the list of rules, their explanations, and tests of a repository's own rules.

mod index;
mod selection;

use assay_testkit::Repository;
use serde_json::Value;

use crate::{AssayRun, assay_in};

const OWN_RULE: &str = "id: house/no-floats
language: Python
message: Money as a floating point number
note: Sums come out a cent off.
metadata:
  grade: HIGH
  category: correctness
  advice: Use Decimal.
rule:
  pattern: float($PRICE)
";

const OWN_EXAMPLES: &str = "id: house/no-floats
valid:
  - total = Decimal(price)
invalid:
  - total = float(price)
";

fn rules(repository: &Repository, args: &[&str]) -> AssayRun {
    assay_in(repository.path(), &[&["rules"], args].concat(), b"")
}

fn with_own_rule(examples: &str) -> Repository {
    let repository = Repository::new();
    repository.write(".assay/rules/no-floats.yml", OWN_RULE);
    repository.write(".assay/rules/no-floats.test.yml", examples);
    repository
}

fn ids(ran: &AssayRun) -> Vec<String> {
    let document = ran.json();
    let rules = document["rules"].as_array().unwrap();
    rules.iter().map(|rule| rule["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_list_has_rules_of_every_kind_and_those_of_the_repository() {
    let repository = with_own_rule(OWN_EXAMPLES);
    let ran = rules(&repository, &["list", "--json"]);
    let ids = ids(&ran);
    for id in [
        "python/assert-tuple",
        "secret/leaked-credential",
        "agent-surface/prompt-injection",
        "change/untested",
        "change/ignored-without-reason",
        "house/no-floats",
    ] {
        assert!(ids.iter().any(|known| known == id), "{id}: {ids:?}");
    }
    let printed = rules(&repository, &["list"]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    assert!(printed.stdout.starts_with("RULE "), "{}", printed.stdout);
    assert!(printed.stdout.contains("house/no-floats "), "{}", printed.stdout);
}

#[test]
fn the_rules_are_listed_by_language() {
    let repository = with_own_rule(OWN_EXAMPLES);
    let python = ids(&rules(&repository, &["list", "--language", "py", "--json"]));
    assert!(python.contains(&"house/no-floats".to_owned()));
    assert!(python.contains(&"secret/leaked-credential".to_owned()));
    assert!(!python.iter().any(|id| id.starts_with("go/")), "{python:?}");
    let ran = rules(&repository, &["list", "--language", "pyton"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("unknown language `pyton`; did you mean `python`?"),
        "{}",
        ran.stderr
    );
}

#[test]
fn rules_outside_of_a_repository_are_the_built_in_ones() {
    let folder = tempfile::tempdir().unwrap();
    let ran = assay_in(folder.path(), &["rules", "show", "go/debug-print"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn a_rule_is_shown_with_all_its_examples() {
    let ran = rules(&with_own_rule(OWN_EXAMPLES), &["show", "house/no-floats"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    expect_test::expect![[r#"
        house/no-floats: Money as a floating point number
          severity   HIGH
          category   correctness
          languages  python
          kind       structural rule, on syntax trees
          source     .assay/rules/no-floats.yml
          message    Sums come out a cent off.
          advice     Use Decimal.
          fix        no rewrite: the code has to be changed by hand

        finds:
            total = float(price)

        does not find:
            total = Decimal(price)
    "#]]
    .assert_eq(&ran.stdout);
}

#[test]
fn every_rule_is_explained() {
    let repository = with_own_rule(OWN_EXAMPLES);
    for id in ["house/no-floats", "change/untested", "agent-surface/prompt-injection"] {
        let ran = rules(&repository, &["explain", id]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        for part in ["\nbad:\n", "\ngood:\n", "\nhow to fix:\n", "\nhow to ignore:\n"] {
            assert!(ran.stdout.contains(part), "{id} has no {part:?}:\n{}", ran.stdout);
        }
        let comment = ran.stdout.contains("assay: ignore");
        assert_eq!(comment, id != "agent-surface/prompt-injection", "{}", ran.stdout);
    }
}

#[test]
fn an_unknown_rule_is_an_error_with_the_nearest_ids() {
    let repository = Repository::new();
    for command in ["show", "explain"] {
        let ran = rules(&repository, &[command, "pyhton/debug-prnt"]);
        assert_eq!(ran.code, 2);
        assert_eq!(
            ran.stderr,
            "error: no rule `pyhton/debug-prnt`; did you mean `python/debug-print`? \
             (`assay rules list` lists all rules)\n"
        );
    }
}

#[test]
fn a_rule_that_the_repository_switches_off_is_listed_as_off() {
    let repository = Repository::new();
    let off = "id: python/debug-print\nlanguage: Python\nseverity: off\nmessage: Off\nrule:\n  pattern: f()\n";
    repository.write(".assay/rules/off.yml", off);
    let document = rules(&repository, &["show", "python/debug-print", "--json"]).json();
    assert_eq!(document["rules"][0]["off"], Value::Bool(true));
}

#[test]
fn the_examples_of_a_rule_pass() {
    let ran = rules(&with_own_rule(OWN_EXAMPLES), &["test"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(
        ran.stdout,
        "passed   .assay/rules/no-floats.yml (1 invalid, 1 valid)\n\
         1 passed, 0 failed, 0 without examples\n"
    );
}

#[test]
fn an_example_that_does_not_hold_fails_with_its_code() {
    let wrong = OWN_EXAMPLES.replace("Decimal(price)", "float(price)");
    let repository = with_own_rule(&wrong);
    repository.write(".assay/rules/other.yml", OWN_RULE.replace("no-floats", "other"));
    for args in [&["test"][..], &["test", ".assay/rules"]] {
        let ran = rules(&repository, args);
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        assert!(ran.stdout.contains("finding in valid code:"), "{}", ran.stdout);
        assert!(ran.stdout.contains("total = float(price)"), "{}", ran.stdout);
        assert!(ran.stdout.ends_with("0 passed, 1 failed, 1 without examples\n"), "{}", ran.stdout);
    }
}

#[test]
fn a_path_without_rules_is_an_error() {
    let repository = Repository::new();
    repository.write("empty/readme.md", "nothing\n");
    let ran = rules(&repository, &["test", "empty"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("no rule files in "), "{}", ran.stderr);
    assert_eq!(rules(&repository, &["test", "absent"]).code, 2);
}
