//! The same question is not paid for twice.

use super::*;

/// Returns the output without the lines about expenses, and the total expenses. Only one model was
/// asked, so its line has the same figures.
fn parted(ran: &AssayRun) -> (Vec<&str>, &str) {
    let is_spent = |line: &&str| line.contains(" tokens, ");
    let (spent, rest): (Vec<&str>, Vec<&str>) = ran.stdout.lines().partition(is_spent);
    let [all, model] = spent[..] else { panic!("{}", ran.stdout) };
    assert_eq!(model, format!("  fake/fake-1: {all}"));
    (rest, all)
}

#[test]
fn the_same_change_is_not_paid_for_twice() {
    let case = Case::new("");
    let first = case.review(&[]);
    let asked = case.asked();
    let second = case.review(&[]);
    assert_eq!(case.asked(), asked, "nobody is asked");
    assert_eq!((first.code, parted(&first).0), (second.code, parted(&second).0));
    assert_eq!(parted(&second).1, "0 calls, 4 answers reused, 0 tokens, $0.0000");
}

#[test]
fn only_the_persona_with_changed_text_is_called_again() {
    let case = Case::new("");
    case.review(&[]);
    let asked = case.asked();
    case.commit_before(".assay/personas/testing.md", &persona("testing", "cap: P2"));
    let ran = case.review(&["--format", "json"]);
    assert_eq!(titles(&ran.json()), found_without(&[]), "{}", ran.stdout);
    let requests = case.server.requests();
    assert_eq!(requests.len(), asked + 1);
    let last = String::from_utf8_lossy(&requests[asked].body).into_owned();
    assert!(last.contains("You are the `testing` reviewer"), "{last}");
    assert!(last.contains("somebody who looks at prices"), "{last}");
}

#[test]
fn an_unusable_answer_is_not_cached() {
    let case = Case::new("  attempts: 1\n");
    for what in [ModelFaultKind::Fault(Fault::WrongSchema), ModelFaultKind::Fault(Fault::CutOff)] {
        case.only_trouble(&["`correctness` reviewer"], what);
        assert_eq!(case.review(&["--persona", "correctness"]).code, 3);
    }
    case.no_trouble();
    let ran = case.review(&["--persona", "correctness", "--format", "json"]);
    assert_eq!((ran.code, titles(&ran.json()).len()), (0, 2), "{}", ran.stdout);
}

#[test]
fn answers_are_not_cached_if_the_cache_is_disabled() {
    let case = Case::new("  cache: false\n");
    case.review(&[]);
    case.review(&[]);
    assert_eq!(case.asked(), 8);
    assert!(!case.repository.path().join(".assay/cache").exists());
}
