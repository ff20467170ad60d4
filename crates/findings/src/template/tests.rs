use super::*;

fn template(name: &str, criteria: MatchCriteria) -> FindingTemplate {
    FindingTemplate {
        name: name.to_owned(),
        title: name.to_uppercase(),
        explanation: "An explanation.".to_owned(),
        fix: "A fix.".to_owned(),
        link: None,
        criteria,
        examples: TemplateExamples::default(),
    }
}

fn by_claim(name: &str, claim: &str) -> FindingTemplate {
    let claims = vec![ClaimPattern::try_from(claim.to_owned()).unwrap()];
    template(name, MatchCriteria { claims, ..MatchCriteria::default() })
}

fn by_rule(name: &str, rule: &str) -> FindingTemplate {
    let rules = vec![RulePattern::try_from(rule.to_owned()).unwrap()];
    template(name, MatchCriteria { rules, ..MatchCriteria::default() })
}

fn by_cwe(name: &str, number: u32) -> FindingTemplate {
    template(name, MatchCriteria { cwe: vec![number], ..MatchCriteria::default() })
}

fn name_for(set: &TemplateSet, facts: &ClaimFacts<'_>) -> Option<String> {
    set.recognise(facts)
        .map(|(template, method)| format!("{} by {}", template.name, method.as_str()))
}

#[test]
fn the_rule_precedes_the_words_of_the_title() {
    let set = TemplateSet::new([by_rule("a", "x/a"), by_claim("b", "race condition")], []);
    let facts = ClaimFacts { rules: vec!["x/a"], ..ClaimFacts::of_title("Race condition") };
    assert_eq!(name_for(&set, &facts).as_deref(), Some("a by rule"));
    let facts = ClaimFacts::of_title("Race condition in `claim`");
    assert_eq!(name_for(&set, &facts).as_deref(), Some("b by words of the title"));
}

#[test]
fn two_templates_that_match_in_the_same_way_give_none() {
    let set = TemplateSet::new([by_claim("a", "deadlock"), by_claim("b", "timeout")], []);
    assert_eq!(name_for(&set, &ClaimFacts::of_title("Deadlock after a timeout")), None);
}

#[test]
fn a_template_of_the_repository_precedes_and_replaces_a_built_in_one() {
    let set = TemplateSet::new([by_claim("a", "deadlock")], [by_claim("own", "deadlock")]);
    let found = name_for(&set, &ClaimFacts::of_title("Deadlock in the pool"));
    assert_eq!(found.as_deref(), Some("own by words of the title"));
    let set = TemplateSet::new([by_claim("a", "deadlock")], [by_claim("a", "livelock")]);
    assert_eq!(name_for(&set, &ClaimFacts::of_title("Deadlock in the pool")), None);
}

#[test]
fn a_cwe_id_is_read_from_any_text_of_a_vote() {
    let set = TemplateSet::new([by_cwe("sql", 89), by_cwe("xss", 79)], []);
    let found = |text| {
        let facts = ClaimFacts { texts: vec![text], ..ClaimFacts::default() };
        name_for(&set, &facts)
    };
    assert_eq!(found("See CWE-89: Improper Neutralization").as_deref(), Some("sql by CWE id"));
    assert_eq!(found("external/cwe/cwe-079").as_deref(), Some("xss by CWE id"));
    assert_eq!(found("CWE-890"), None);
    assert_eq!(found("CWE-89 or CWE-79"), None);
    assert_eq!(found("cwe-"), None);
}

#[test]
fn a_faulty_template_is_refused_with_the_reason() {
    let valid = by_cwe("a", 1);
    assert_eq!(valid.fault(), None);
    let fault = |change: fn(&mut FindingTemplate)| {
        let mut template = valid.clone();
        change(&mut template);
        template.fault().unwrap_or_default()
    };
    assert_eq!(
        fault(|template| template.name = "A b".to_owned()),
        "invalid name `A b`: expected lower-case letters, digits and hyphens"
    );
    assert_eq!(
        fault(|template| template.title = " ".to_owned()),
        "`title` must have 1 to 80 characters"
    );
    assert_eq!(
        fault(|template| template.link = Some("javascript:alert(1)".to_owned())),
        "`link` must be an address that begins with `https://`"
    );
    assert_eq!(
        fault(|template| template.criteria = MatchCriteria::default()),
        "`match` must have at least one of `rules`, `cwe`, `categories` and `claims`"
    );
}
