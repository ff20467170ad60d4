//! Tests of parsing the cases of a set.

use assay_eval::set::parse_cases;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let said = match parse_cases(text) {
        Ok(cases) => cases
            .iter()
            .map(|case| {
                format!("{}: {} labels, clean: {}\n", case.id, case.labels.len(), case.is_clean())
            })
            .collect(),
        Err(error) => format!("{error}\n"),
    };
    expected.assert_eq(&said);
}

#[test]
fn a_case_is_a_line() {
    check(
        r#"
{"id": "a", "change": "a.diff", "labels": [{"comment": "wrong sign", "path": "a.py", "line": 3}]}

{"id": "b", "change": "b"}
"#,
        expect![[r#"
            a: 1 labels, clean: false
            b: 0 labels, clean: true
        "#]],
    );
}

#[test]
fn a_set_that_would_mislead_is_refused_with_its_line() {
    check("", expect![["line 1: the set holds no case\n"]]);
    check(
        "{\"id\": \"a\", \"change\": \"a\"}\n{\"id\": \"a\", \"change\": \"b\"}",
        expect![["line 2: the id `a` is used twice\n"]],
    );
    // A misspelt key would make a buggy case a clean one.
    check(
        "{\"id\": \"a\", \"change\": \"a\", \"lables\": []}",
        expect![[r#"
            line 1: unknown field `lables`, expected one of `id`, `title`, `message`, `language`, `change`, `purpose`, `labels`, `rejected`, `source` at line 1 column 35
        "#]],
    );
    for outside in ["../a", "/etc/passwd", "a/../../b", "a//b", "C:\\\\a", ""] {
        for case in [
            format!(r#"{{"id": "{outside}", "change": "a"}}"#),
            format!(r#"{{"id": "a", "change": "{outside}"}}"#),
            format!(r#"{{"id": "a", "change": "a", "purpose": ["{outside}"]}}"#),
        ] {
            let error = parse_cases(&case).expect_err(&case);
            assert!(error.reason.contains("is no path inside of a folder"), "{error}");
        }
    }
    for place in [
        r#""path": "a", "line": 9, "end_line": 3"#,
        r#""line": 9"#,
        r#""path": "a", "end_line": 3"#,
        r#""path": "a", "line": 0"#,
    ] {
        check(
            &format!(r#"{{"id": "a", "change": "a", "labels": [{{"comment": "x", {place}}}]}}"#),
            expect![[r#"
                line 1: the place of the label `x` is not valid: a range needs a path, and ends after its start
            "#]],
        );
    }
}
