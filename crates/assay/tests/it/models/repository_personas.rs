//! Personas that a repository defines.

use super::*;

fn reviewers(ran: &AssayRun) -> Vec<String> {
    let synthesis = ran.json();
    let reports = synthesis["reports"].as_array().unwrap().iter();
    reports.map(|report| report["reviewer"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_repository_adds_personas_and_replaces_others() {
    let case = Case::new("");
    case.commit_before(".assay/personas/house.md", &persona("house", "cap: P3"));
    case.commit_before(".assay/personas/intent.md", &persona("intent", "required: true"));
    let ran = case.review(&["--format", "json"]);
    assert_eq!(reviewers(&ran), ["correctness", "house", "intent", "rules", "testing"]);
    // The persona reports the finding of `correctness`, so its cap shows only if it reads alone.
    let synthesis = case.review(&["--format", "json", "--persona", "house"]).json();
    let findings = synthesis["findings"].as_array().unwrap();
    let own = findings.iter().find(|it| it["title"] == "house doubts line 6");
    assert_eq!(own.map(|it| &it["severity"]), Some(&json!("P3")), "no worse than its cap");
    let is_new = |name: &str| {
        let asks = format!("You are the `{name}` reviewer");
        let body = case.server.requests().into_iter().map(|it| String::from_utf8(it.body).unwrap());
        body.filter(|body| body.contains(&asks)).all(|body| body.contains("looks at prices"))
    };
    assert!(is_new("intent") && is_new("house") && !is_new("testing"));
    // The repository makes `intent` required, so its failure leaves the review incomplete.
    case.trouble(&["`intent` reviewer"], ModelFaultKind::Fault(Fault::Refusal));
    fs::remove_dir_all(case.repository.path().join(".assay/cache")).unwrap();
    assert_eq!(case.review(&[]).code, 3);
}

#[test]
fn an_invalid_persona_is_reported_with_its_file() {
    for (text, told) in [
        ("You look at prices.\n".to_owned(), "missing front matter"),
        (persona("House Rules", ""), "invalid name `House Rules`"),
        (persona("house", "cap: P9"), "invalid `cap` `P9`: expected a severity"),
        (persona("house", "model: best"), "unknown field `model`"),
    ] {
        let case = Case::new("");
        case.commit_before(".assay/personas/house.md", &text);
        let ran = case.review(&[]);
        assert_eq!((ran.code, ran.stdout.as_str(), case.asked()), (2, "", 0), "{told}");
        let file = "the persona `.assay/personas/house.md` cannot be used";
        assert!(ran.stderr.contains(file), "{}", ran.stderr);
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
}

#[test]
fn a_change_does_not_choose_its_reviewers() {
    let case = Case::new("");
    case.repository.write(".assay/personas/house.md", persona("house", ""));
    case.repository.write(".assay/personas/correctness.md", persona("correctness", ""));
    case.repository.commit("personas of our own");
    let ran = case.review(&["--format", "json"]);
    assert!(!reviewers(&ran).contains(&"house".to_owned()), "{}", ran.stdout);
    let bodies = case.server.requests().into_iter().map(|it| String::from_utf8(it.body).unwrap());
    let mut told = bodies.filter(|body| body.contains("You are the `correctness` reviewer"));
    assert!(told.all(|body| body.contains("You read code the way")), "it is the shipped one");
    let ran = case.review(&[]);
    assert!(
        ran.stdout.contains("the change modifies the repository's personas;"),
        "{}",
        ran.stdout
    );
    let ran = case.run(&["review", "--persona", "house"]);
    assert_eq!(ran.code, 2);
}
