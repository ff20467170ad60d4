//! The shipped templates of findings, on claims of both kinds.

use assay_findings::grade::Grade;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use assay_findings::template::{ClaimFacts, FindingTemplate};
use assay_findings::vote::Vote;
use assay_review::templates::{builtin, failed_examples, read_all};
use assay_rules::Rulebook;
use expect_test::expect;

fn name_of(facts: &ClaimFacts<'_>) -> Option<&'static str> {
    builtin().recognise(facts).map(|(template, _)| template.name.as_str())
}

#[test]
fn every_template_matches_its_examples_and_no_example_of_another_kind() {
    let failed: Vec<String> = builtin()
        .iter()
        .flat_map(|(template, _)| {
            let name = &template.name;
            failed_examples(builtin(), template).into_iter().map(move |why| format!("{name} {why}"))
        })
        .collect();
    assert_eq!(failed, Vec::<String>::new());
}

#[test]
fn every_template_has_examples_of_both_kinds_and_a_link() {
    for (template, _) in builtin().iter() {
        let FindingTemplate { name, examples, .. } = template;
        assert!(examples.matching.len() >= 2 && examples.other.len() >= 2, "{name}");
        assert!(template.link.is_some(), "{name}");
    }
    assert!(builtin().iter().count() >= 20);
}

#[test]
fn the_title_of_a_rule_never_gives_another_template_than_its_id() {
    for rule in Rulebook::builtin().describe().unwrap() {
        let by_title = name_of(&ClaimFacts::of_title(&rule.title));
        let by_id = name_of(&ClaimFacts { rules: vec![&rule.id], ..ClaimFacts::default() });
        assert!(by_title.is_none() || by_title == by_id, "{}: {by_title:?} {by_id:?}", rule.id);
    }
}

#[test]
fn every_exact_rule_of_a_template_that_assay_ships_exists() {
    let rules = Rulebook::builtin().describe().unwrap();
    let languages = Rulebook::languages();
    for (template, _) in builtin().iter() {
        for pattern in template.criteria.rules.iter().cloned().map(String::from) {
            let folder = pattern.split('/').next().unwrap_or_default();
            if languages.iter().any(|language| language.to_lowercase() == folder) {
                assert!(rules.iter().any(|rule| rule.id == pattern), "{pattern}");
            }
        }
    }
}

#[test]
fn claims_of_models_get_the_template_of_their_kind_or_none() {
    let titles = "\
All files stay open until Digest returns
Anybody can refund any order
Back-off header read as seconds instead of tenths
Cancellation is swallowed, closed view leaves an endless busy loop
Counter is read and written without a lock
DELETE does not check the name: path traversal
Documents under legal hold are purged
Each retry sends a new idempotency key, so a card can be charged several times
Failing pg_dump is hidden by the pipe
Goroutine leaks for every timed out or cancelled lookup
Index wraps one too late and leaves the array
Length counts UTF-16 units, not characters
Lock is counted from the first failure, not the fifth
Number of backend calls in flight has no limit
One customer query per order breaks the 300 ms limit
One failing delete stops the whole sweep
SQL injection through the sort parameter
The goroutine blocks forever on its send after a timeout
Two refunds at once overwrite each other
giveBack adds seats without any upper bound";
    let line = |title: &str| {
        let name = name_of(&ClaimFacts::of_title(title)).unwrap_or("-");
        format!("{name}: {title}")
    };
    let lines: Vec<String> = titles.lines().map(line).collect();
    expect![[r#"
        resource-leak: All files stay open until Digest returns
        missing-authorization: Anybody can refund any order
        -: Back-off header read as seconds instead of tenths
        swallowed-error: Cancellation is swallowed, closed view leaves an endless busy loop
        race-condition: Counter is read and written without a lock
        path-traversal: DELETE does not check the name: path traversal
        -: Documents under legal hold are purged
        -: Each retry sends a new idempotency key, so a card can be charged several times
        -: Failing pg_dump is hidden by the pipe
        resource-leak: Goroutine leaks for every timed out or cancelled lookup
        off-by-one: Index wraps one too late and leaves the array
        -: Length counts UTF-16 units, not characters
        -: Lock is counted from the first failure, not the fifth
        unbounded-input: Number of backend calls in flight has no limit
        query-in-loop: One customer query per order breaks the 300 ms limit
        -: One failing delete stops the whole sweep
        sql-injection: SQL injection through the sort parameter
        -: The goroutine blocks forever on its send after a timeout
        race-condition: Two refunds at once overwrite each other
        -: giveBack adds seats without any upper bound"#]]
    .assert_eq(&lines.join("\n"));
}

fn synthesis(reports: &[Report]) -> Synthesis {
    synthesize(reports, &SynthesisInputs { templates: Some(builtin()), ..Default::default() })
}

fn report(reviewer: &str, kind: ReviewerKind, title: &str, rule: Option<&str>) -> Report {
    let mut report = Report::new(Reviewer::new(reviewer, kind));
    let mut vote = Vote::new(title, Grade::from_word("HIGH"));
    vote.rule = rule.map(str::to_owned);
    vote.description = format!("{title} in detail");
    report.votes.push(vote);
    report
}

#[test]
fn findings_of_one_kind_have_one_title_whichever_reviewer_reported_them() {
    let reports = [
        report(
            "rules",
            ReviewerKind::Rules,
            "SQL built from strings",
            Some("python/sql-injection"),
        ),
        report("bandit", ReviewerKind::Command, "Possible vector", Some("bandit/B608")),
        report("security", ReviewerKind::Persona, "SQL injection in search", None),
        report("imported", ReviewerKind::Command, "Taint", Some("x/y (CWE-89)")),
        report("style", ReviewerKind::Persona, "Name is too short", None),
    ];
    let titles: Vec<String> = reports
        .iter()
        .map(|report| {
            let synthesis = synthesis(std::slice::from_ref(report));
            let all = synthesis.findings.iter().chain(&synthesis.held_back);
            let lines: Vec<String> =
                all.map(|finding| format!("{} / {}", finding.heading(), finding.title)).collect();
            lines.join("\n")
        })
        .collect();
    expect![[r#"
        SQL injection / SQL built from strings
        SQL injection / Possible vector
        SQL injection / SQL injection in search
        SQL injection / Taint
        Name is too short / Name is too short"#]]
    .assert_eq(&titles.join("\n"));
}

#[test]
fn a_template_changes_neither_identity_nor_texts_nor_verdict() {
    let reports =
        [report("rules", ReviewerKind::Rules, "SQL built from strings", Some("go/sql-injection"))];
    let plain = synthesize(&reports, &SynthesisInputs::default());
    let mut with = synthesis(&reports);
    assert!(with.findings[0].template.take().is_some());
    assert_eq!(with, plain);
}

#[test]
fn an_invalid_file_is_refused_with_its_name_and_the_reason() {
    let refused = |text: &str| {
        let file = (".assay/templates/a.yml".to_owned(), text.to_owned());
        read_all(std::slice::from_ref(&file)).unwrap_err().to_string()
    };
    let valid = "name: a\ntitle: A\nexplanation: B\nfix: C\nmatch: {cwe: [1]}\n";
    let messages = [
        refused("name: a\n"),
        refused(&format!("{valid}severity: HIGH\n")),
        refused(&valid.replace("cwe: [1]", "claims: ['.. x']")),
        refused(&valid.replace("name: a", "name: A b")),
    ];
    expect![[r#"
        the template `.assay/templates/a.yml` cannot be used: missing field `title` at line 1, column 1
        the template `.assay/templates/a.yml` cannot be used: unknown field `severity`, expected one of name, title, explanation, fix, link, match, examples at line 6, column 1
        the template `.assay/templates/a.yml` cannot be used: invalid pattern `.. x`: `..` must follow a word at line 5, column 18
        the template `.assay/templates/a.yml` cannot be used: invalid name `A b`: expected lower-case letters, digits and hyphens"#]]
    .assert_eq(&messages.join("\n"));
    let twice = [("a.yml", valid), ("b.yml", valid)].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(
        read_all(&twice).unwrap_err().to_string(),
        "the template `b.yml` cannot be used: `a.yml` has the same name `a`"
    );
}
