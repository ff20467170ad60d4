//! Findings that a review shows and folds, in each output format.

use super::*;

/// Returns the JSON of a review, with the titles that are shown and those that are folded.
fn split(ran: &AssayRun) -> (Value, Vec<String>, Vec<String>) {
    let synthesis = ran.json();
    let titles = |is_shown: bool| {
        let findings = synthesis["findings"].as_array().unwrap().iter();
        let wanted = findings.filter(|finding| finding["shown"] == is_shown);
        wanted.map(|finding| finding["title"].as_str().unwrap().to_owned()).collect()
    };
    let (shown, folded) = (titles(true), titles(false));
    (synthesis, shown, folded)
}

#[test]
fn folded_findings_are_counted_in_every_form_and_one_flag_shows_them() {
    let case = Case::new("");
    let (synthesis, shown, folded) = split(&case.review(&["--format", "json"]));
    assert!(!shown.is_empty() && !folded.is_empty(), "{synthesis:#}");
    assert_eq!(synthesis["counts"]["folded"], folded.len());
    let headings = |ran: &AssayRun, titles: &[String]| {
        titles.iter().filter(|title| ran.stdout.contains(&format!("P2: {title} ("))).count()
    };
    let plain = case.review(&[]);
    assert_eq!((headings(&plain, &shown), headings(&plain, &folded)), (shown.len(), 0));
    let line = format!("{} more findings folded, as less likely or not urgent", folded.len());
    assert!(plain.stdout.contains(&line), "{}", plain.stdout);
    let all = case.review(&["--all-findings"]);
    assert_eq!(headings(&all, &shown) + headings(&all, &folded), shown.len() + folded.len());
    assert!(!all.stdout.contains("more findings folded"), "{}", all.stdout);
    // Each finding that only the flag shows is marked as folded.
    assert_eq!(all.stdout.matches("; folded, worth ").count(), folded.len(), "{}", all.stdout);
    assert_eq!(all.code, plain.code);
    let markdown = case.review(&["--format", "markdown"]).stdout;
    let summary = format!("<details><summary>Folded, as less likely ({})</summary>", folded.len());
    let (before, inside) = markdown.split_once(&summary).expect(&markdown);
    assert!(folded.iter().all(|title| inside.contains(title)), "{markdown}");
    assert!(!folded.iter().any(|title| before.contains(&format!(": {title}\n"))), "{markdown}");
}

#[test]
fn a_setting_says_how_many_findings_are_shown() {
    let review = |shown: &str| {
        let case = Case::new(&format!("review:\n  shown: {shown}\n"));
        case.review(&["--format", "json"])
    };
    let (all, shown, folded) = split(&review("all"));
    assert_eq!((shown.len(), folded.len()), (6, 0));
    let (none, shown, folded) = split(&review("0"));
    assert_eq!((shown.len(), folded.len()), (0, 6));
    assert_eq!(all["verdict"]["state"], none["verdict"]["state"]);
    let refused = review("some");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("a number of findings, 0 or more, or `all`"),
        "{}",
        refused.stderr
    );
}

#[test]
fn risks_and_testing_gaps_are_shown() {
    let case = Case::new("");
    let mut report = report("correctness", &[6]);
    report["residual_risks"] = json!(["two tills may count one coin"]);
    report["testing_gaps"] = json!(["no test has a negative price"]);
    case.trouble(&["`correctness` reviewer"], ModelFaultKind::Says(report.to_string()));
    let plain = case.review(&["--persona", "correctness"]).stdout;
    assert!(plain.contains("risk: two tills may count one coin"), "{plain}");
    assert!(plain.contains("not tested: no test has a negative price"), "{plain}");
    let markdown = case.review(&["--persona", "correctness", "--format", "markdown"]).stdout;
    for (heading, text) in [
        ("Testing gaps", "no test has a negative price"),
        ("Residual risks", "two tills may count one coin"),
    ] {
        let (_, after) = markdown.split_once(heading).expect(&markdown);
        assert!(after.contains(text), "{markdown}");
    }
    let json = case.review(&["--persona", "correctness", "--format", "json"]).json();
    assert_eq!(json["residual_risks"], json!(["two tills may count one coin"]));
    assert_eq!(json["testing_gaps"], json!(["no test has a negative price"]));
}

#[test]
fn every_merge_names_the_rule_that_made_it() {
    for (rule, line) in [("same-place", 6), ("same-claim", 9)] {
        let case = Case::new("");
        let says = |reviewer: &str, findings: Vec<Value>| {
            let report = with_findings(reviewer, findings).to_string();
            case.trouble(&[&format!("`{reviewer}` reviewer")], ModelFaultKind::Says(report));
        };
        let vote = |line: u32, title: &str| {
            let mut vote = finding(title, "P2", ("shop.py", line), "");
            vote["why_it_matters"] = json!(title);
            vote["evidence"] = json!([]);
            vec![vote]
        };
        says("correctness", vote(6, "mean divides by zero for an empty list"));
        says("intent", vote(line, "division by zero in mean when the list is empty"));
        says("testing", Vec::new());
        let synthesis = case.review(&["--format", "json"]).json();
        let merges = synthesis["merges"].as_array().unwrap();
        assert_eq!(merges.len(), 1, "{synthesis:#}");
        assert_eq!(merges[0]["rule"], rule, "{synthesis:#}");
    }
}
