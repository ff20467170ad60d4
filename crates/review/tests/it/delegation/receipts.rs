//! Receipts of reports: how each finding and each second look is read.

use assay_review::delegation::receipt::ReportState;
use assay_review::persona::VALIDATOR;
use expect_test::expect;
use serde_json::Value;

use super::*;

/// Submits a finding of `security`, derived from a valid one, and compares the receipt.
fn check(change: impl Fn(&mut Value), expected: Expect) {
    let case = Case::new();
    case.repository.write("other.py", "def twice(n):\n    return multiply(n, factor=2)\n");
    case.repository.git(&["add", "--intent-to-add", "other.py"]);
    case.start();
    let mut report: Value = serde_json::from_str(&finding(9)).unwrap();
    change(&mut report["findings"][0]);
    let receipt = case.report("security", 1, &report.to_string()).unwrap();
    let lines = receipt.findings.iter().map(|read| {
        let place = read.place.as_deref().unwrap_or("-");
        let (severity, confidence) = (&read.severity, read.confidence);
        format!(
            "{severity} at {confidence}, {place}: {}; quote {}; missing {:?}; {:?}\n",
            read.placement, read.quote, read.missing, read.notes
        )
    });
    expected.assert_eq(&lines.collect::<String>());
}

fn remove(finding: &mut Value, fields: &[&str]) {
    for field in fields {
        finding.as_object_mut().unwrap().remove(*field);
    }
}

#[test]
fn a_complete_finding_is_accepted_unchanged() {
    check(
        |_| {},
        expect![[r#"
            P1 at 100, shop.py:9: as named; quote found; missing []; []
        "#]],
    );
}

#[test]
fn a_finding_on_the_wrong_line_moves_to_its_quote() {
    check(
        |finding| finding["line"] = json!(2),
        expect![[r#"
            P1 at 100, shop.py:9: moved from shop.py:2, by its quote; quote found; missing []; []
        "#]],
    );
}

#[test]
fn a_quote_that_is_not_found_lowers_the_confidence() {
    check(
        |finding| finding["evidence"] = json!(["`return prices.average()`"]),
        expect![[r#"
            P1 at 50, shop.py:9: as named; quote not_found; missing []; ["confidence 100 counts as 50"]
        "#]],
    );
}

#[test]
fn a_quote_from_another_file_is_reported_with_its_location() {
    check(
        |finding| finding["evidence"] = json!(["`return multiply(n, factor=2)`"]),
        expect![[r#"
            P1 at 50, shop.py:9: as named; quote found elsewhere at other.py:2; missing []; ["confidence 100 counts as 50"]
        "#]],
    );
}

#[test]
fn a_file_outside_of_the_change_is_looked_up_at_the_end() {
    check(
        |finding| finding["file"] = json!("lib/none.py"),
        expect![[r#"
            P1 at 25, lib/none.py:9: the file is not in the change; the place is checked when the review ends; quote found elsewhere at shop.py:9; missing []; ["confidence 100 counts as 25", "the finding is not on a changed line"]
        "#]],
    );
}

#[test]
fn a_finding_without_a_location_is_located_by_assay_or_stays_without_one() {
    check(
        |finding| remove(finding, &["file", "line"]),
        expect![[r#"
            P1 at 50, shop.py:9: placed by assay; quote found elsewhere at shop.py:9; missing ["file", "line"]; ["confidence 100 counts as 50"]
        "#]],
    );
    check(
        |finding| {
            remove(finding, &["file", "line", "evidence"]);
            finding["title"] = json!("it is bad");
            finding["why_it_matters"] = json!("really");
        },
        expect![[r#"
            P1 at 50, -: no place; quote none; missing ["file", "line", "evidence"]; ["confidence 100 counts as 50"]
        "#]],
    );
}

#[test]
fn missing_required_fields_are_listed() {
    check(
        |finding| {
            let fields = ["why_it_matters", "evidence", "confidence", "autofix_class", "owner"];
            remove(finding, &fields);
            remove(finding, &["requires_verification", "pre_existing", "severity"]);
        },
        expect![[r#"
            P2 at 75, shop.py:9: as named; quote none; missing ["severity", "why_it_matters", "evidence", "confidence", "autofix_class", "owner", "requires_verification", "pre_existing"]; ["no severity"]
        "#]],
    );
}

#[test]
fn severities_are_converted_to_the_scale_of_the_brief() {
    for (word, severity) in [("CRITICAL", "P0"), ("high", "P1"), ("MEDIUM", "P2"), ("nit", "P3")] {
        let case = Case::new();
        case.start();
        let report = finding(9).replace("\"P1\"", &format!("\"{word}\""));
        let receipt = case.report("security", 1, &report).unwrap();
        assert_eq!(receipt.findings[0].severity, severity, "{word}");
    }
}

/// Starts second looks at three findings, on the lines 5, 9 and 13.
fn looked_at() -> Case {
    let case = Case { second_looks: true, ..Case::new() };
    case.start();
    let mut report: Value = serde_json::from_str(&finding(9)).unwrap();
    let more: Value = serde_json::from_str(&finding(13)).unwrap();
    report["findings"].as_array_mut().unwrap().push(more["findings"][0].clone());
    case.report("correctness", 1, &report.to_string()).unwrap();
    case.report("security", 1, NOTHING).unwrap();
    let now = case.change();
    let closing = case.open().close(Some(case.present(&now))).unwrap();
    assert!(matches!(closing, CloseResult::SecondLooks(_)));
    case
}

#[test]
fn the_receipt_of_a_second_look_states_the_effect_of_each_answer() {
    let case = looked_at();
    let report = json!({ "looks": [
        { "finding": 1, "answer": "refute", "why": "no", "quote": "sorted(prices)[0]", "consequence": "ignore" },
        { "finding": 2, "answer": "refute", "why": "no", "quote": "stands nowhere at all" },
        { "finding": 9, "answer": "confirm", "why": "yes" },
    ] });
    let receipt = case.report(VALIDATOR, 1, &report.to_string()).unwrap();
    assert_eq!(receipt.state, ReportState::Accepted);
    let lines = receipt.looks.iter().map(|look| {
        let consequence = look.consequence.unwrap_or("-");
        let (number, answer, title) = (look.finding, look.answer, &look.title);
        format!("{number} {answer} {title}: quote {}, {consequence}, {}\n", look.quote, look.effect)
    });
    expect![[r#"
        1 refute SQL query built from a request: quote found, ignore, the finding stays and is marked as disputed
        2 refute line 9 breaks on an empty list: quote not_found, -, counts as unsure: the quote was not found
        3 missing line 13 breaks on an empty list: quote none, -, the finding is unchanged: the answer does not mention this finding
    "#]]
    .assert_eq(&lines.collect::<String>());
    assert_eq!(receipt.not_read, ["there is no finding 9"]);
}

#[test]
fn an_unreadable_second_look_is_refused() {
    let case = looked_at();
    let receipt = case.report(VALIDATOR, 1, "who knows").unwrap();
    let ReportState::Refused { why } = receipt.state else { panic!("{receipt:?}") };
    assert_eq!(why, "the answer could not be read");
    assert!(receipt.looks.is_empty());
}

#[test]
fn second_looks_are_split_into_numbered_validators_and_not_into_parts() {
    let lines =
        (0..50).map(|at| format!("def average_{at}(prices):\n    return sum_{at}(prices)\n"));
    let case = Case { second_looks: true, ..Case::new() };
    case.repository.write("shop.py", lines.collect::<String>());
    case.start();
    let findings: Vec<Value> = (0..50)
        .map(|at| {
            let mut finding: Value = serde_json::from_str(&finding(9)).unwrap();
            finding["findings"][0]["title"] = json!(format!("average_{at} breaks"));
            finding["findings"][0]["line"] = json!(2 * at + 2);
            finding["findings"][0]["evidence"] = json!([format!("`return sum_{at}(prices)`")]);
            finding["findings"][0].clone()
        })
        .collect();
    let report = json!({ "reviewer": "x", "findings": findings }).to_string();
    case.report("correctness", 1, &report).unwrap();
    case.report("security", 1, NOTHING).unwrap();
    let now = case.change();
    let CloseResult::SecondLooks(briefs) = case.open().close(Some(case.present(&now))).unwrap()
    else {
        panic!()
    };
    let names: Vec<(&str, usize, usize)> =
        briefs.iter().map(|brief| (brief.persona.as_str(), brief.part, brief.of)).collect();
    assert_eq!(names, [("validator", 1, 1), ("validator-2", 1, 1)]);
    assert!(briefs[1].task.contains("### FINDING 1:"), "findings are numbered in each brief");
    let confirm = json!({ "looks": [{ "finding": 1, "answer": "confirm", "why": "so it is" }] });
    let receipt = case.report("validator-2", 1, &confirm.to_string()).unwrap();
    assert_eq!(receipt.looks[0].answer, "confirm");
    assert_eq!(receipt.looks[1].answer, "missing");
    refused(
        case.report("validator-2", 1, &confirm.to_string()),
        expect![
            "`validator-2` already reported on part 1; the first report counts, and this report was ignored"
        ],
    );
    refused(
        case.report("validator", 2, &confirm.to_string()),
        expect!["`validator` reads part 1 of the change, and there is no part 2"],
    );
}

#[test]
fn a_second_look_brief_repeats_the_change_and_is_marked_accordingly() {
    let case = looked_at();
    let briefs = case.open().briefs();
    assert_eq!(briefs.len(), 1, "one brief for all findings");
    assert!(briefs[0].repeats_change);
    assert!(
        briefs[0].full_text().contains("return sum(prices) / len(prices)"),
        "it is in the brief"
    );
}
