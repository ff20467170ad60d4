//! The state of findings after fixes, decided by the tree.

use std::collections::BTreeSet;

use assay_review::delegation::fix_verification;
use expect_test::expect;

use super::*;

const BROKEN: &str = "def find(db, name:\n    ((\n";

/// Reviews with one finding of a persona, changes the file, and compares the state of all findings.
fn check_fix(after: &str, expected: Expect) {
    check_fix_of(&finding(9), after, expected);
}

fn check_fix_of(report: &str, after: &str, expected: Expect) {
    let case = Case::new();
    case.start();
    case.report("correctness", 1, report).unwrap();
    case.report("security", 1, NOTHING).unwrap();
    case.close();
    case.repository.write("shop.py", after);
    let finished = fix_verification::open_finished(&case.state(), &id()).unwrap();
    let (scope, _) = finished.scope().unwrap();
    let change = case.opened(&scope);
    let since = finished.check_fixes(&change, rules(), 1);
    let next = since.next_fix(&BTreeSet::new());
    let mut lines: Vec<String> = Vec::new();
    for finding in &finished.synthesis().findings {
        let verified = since.verify(&finding.id).unwrap();
        lines.push(format!("{}: {:?}, {}", finding.title, verified.status, verified.because));
    }
    lines.push(format!("next: {:?}", next.next.map(|finding| finding.title.as_str())));
    let new: Vec<&str> = since.new_findings().iter().map(|f| f.title.as_str()).collect();
    lines.push(format!("new: {new:?}"));
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn findings_in_unchanged_code_are_still_there() {
    check_fix(
        AFTER,
        expect![[r#"
        SQL query built from a request: StillThere, the finding is reported again at shop.py:5
        line 9 breaks on an empty list: StillThere, the quoted code is still in `shop.py`
        next: Some("SQL query built from a request")
        new: []"#]],
    );
}

#[test]
fn a_rule_finding_is_fixed_once_the_rules_no_longer_report_it() {
    let safe = "return db.execute(\"SELECT * FROM users WHERE name = ?\", (request.GET['name'],))";
    let unsafe_line =
        "return db.execute(f\"SELECT * FROM users WHERE name = {request.GET['name']}\")";
    check_fix(
        &AFTER.replace(unsafe_line, safe),
        expect![[r#"
            SQL query built from a request: Fixed, `shop.py` was reviewed again by rules, and the finding is no longer reported
            line 9 breaks on an empty list: StillThere, the quoted code is still in `shop.py`
            next: Some("line 9 breaks on an empty list")
            new: []"#]],
    );
}

#[test]
fn a_finding_of_a_rule_and_a_persona_is_not_verified_by_the_rules_alone() {
    let too =
        finding(5).replace("line 5 breaks on an empty list", "SQL query built from a request");
    let safe = "return db.execute(\"SELECT * FROM users WHERE name = ?\", (request.GET['name'],))";
    let unsafe_line =
        "return db.execute(f\"SELECT * FROM users WHERE name = {request.GET['name']}\")";
    check_fix_of(
        &too,
        &AFTER.replace(unsafe_line, safe),
        expect![[r#"
        SQL query built from a request: NotVerified, rules no longer reports the finding, but correctness reported it too and was not run again; start a new review
        next: None
        new: []"#]],
    );
}

#[test]
fn a_fix_in_a_file_that_does_not_parse_is_not_verified() {
    check_fix(
        BROKEN,
        expect![[r#"
        SQL query built from a request: NotVerified, `shop.py` was not reviewed again: does not parse
        line 9 breaks on an empty list: NotVerified, the quoted code is no longer in `shop.py`; start a new review
        next: None
        new: []"#]],
    );
}

#[test]
fn a_rule_finding_in_a_reverted_file_is_fixed() {
    check_fix(
        BEFORE,
        expect![[r#"
        SQL query built from a request: Fixed, `shop.py` is the same as before the change
        line 9 breaks on an empty list: NotVerified, the quoted code is no longer in `shop.py`; start a new review
        next: None
        new: []"#]],
    );
}

#[test]
fn a_persona_finding_is_not_verified_by_changing_its_code() {
    check_fix(
        &AFTER.replace("len(prices)", "max(1, len(prices))"),
        expect![[r#"
        SQL query built from a request: StillThere, the finding is reported again at shop.py:5
        line 9 breaks on an empty list: NotVerified, the quoted code is no longer in `shop.py`; start a new review
        next: Some("SQL query built from a request")
        new: []"#]],
    );
}

#[test]
fn a_rule_finding_in_rewritten_code_is_still_there() {
    check_fix(
        &AFTER.replace("{name}", "{name.strip()}"),
        expect![[r#"
            SQL query built from a request: StillThere, the finding is reported again at shop.py:5
            line 9 breaks on an empty list: StillThere, the quoted code is still in `shop.py`
            next: Some("SQL query built from a request")
            new: []"#]],
    );
}

#[test]
fn a_suppression_comment_does_not_fix_a_finding() {
    let hidden = AFTER.replace(
        "    return db.execute(",
        "    # assay: ignore python/sql-from-request it is fine\n    return db.execute(",
    );
    check_fix(
        &hidden,
        expect![[r#"
        SQL query built from a request: StillThere, the finding is reported again at shop.py:6, and suppressed: it is fine (a comment)
        line 9 breaks on an empty list: StillThere, the quoted code is still in `shop.py`
        next: Some("SQL query built from a request")
        new: []"#]],
    );
}

#[test]
fn fix_verification_of_an_unfinished_review_is_refused() {
    let case = Case::new();
    case.start();
    let error = fix_verification::open_finished(&case.state(), &id()).err().unwrap();
    assert_eq!(
        error.to_string(),
        format!("the review `{ID}` is not finished; finish it with `finish_review`")
    );
}
