//! Tests of parsing the outputs of review tools.

use assay_eval::formats::parse_output;
use assay_eval::score::CaseResult;
use assay_findings::grade::Grade;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::shown_limit::ShownLimit;
use assay_findings::synthesis::{SynthesisInputs, synthesize};
use assay_findings::vote::{Confidence, Vote};
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let said = match parse_output(text) {
        Err(error) => format!("error: {error}\n"),
        Ok(result) => {
            let mut said = format!("blocks: {}\n", result.blocks);
            for comment in &result.comments {
                let path = comment.path.as_deref().unwrap_or("-");
                let lines = comment.lines.map_or("-".to_owned(), |(a, b)| format!("{a}-{b}"));
                let severity = comment.severity.as_deref().unwrap_or("-");
                let confidence = comment.confidence.map_or("-".to_owned(), |it| it.to_string());
                let text = comment.text.replace('\n', " | ");
                said +=
                    &format!("{path}:{lines} {severity} {confidence} {}: {text}\n", comment.blocks);
            }
            said
        }
    };
    expected.assert_eq(&said);
}

#[test]
fn sarif_results_are_comments_unless_suppressed_or_passed() {
    check(
        r#"{"version": "2.1.0", "runs": [{"results": [
            {"level": "error", "message": {"text": "wrong sign"}, "locations": [{"physicalLocation":
              {"artifactLocation": {"uri": "src/a.py"}, "region": {"startLine": 3, "endLine": 5}}}]},
            {"level": "note", "message": {"text": "seen"}, "suppressions": [{"kind": "inSource"}]},
            {"kind": "pass", "message": {"text": "fine"}}
        ]}]}"#,
        expect![[r#"
            blocks: true
            src/a.py:3-5 error - true: wrong sign
        "#]],
    );
}

#[test]
fn the_fix_is_part_of_the_words_of_a_comment() {
    check(
        r#"{"findings": [{"file": "a.py", "line": 3, "severity": "HIGH", "title": "Wrong sign",
            "description": "The total grows.", "suggested_fix": "Subtract the discount."}]}"#,
        expect![[r#"
            blocks: true
            a.py:3-3 HIGH - true: Wrong sign | The total grows. | Subtract the discount.
        "#]],
    );
}

#[test]
fn rdjson_is_read_as_a_document_and_as_lines() {
    check(
        r#"{"source": {"name": "x"}, "severity": "WARNING", "diagnostics": [
            {"message": "wrong sign", "location": {"path": "./a.py", "range": {"start": {"line": 3}}}},
            {"message": "lost update", "severity": "ERROR", "location": {"path": "a.py"}}]}"#,
        expect![[r#"
            blocks: true
            a.py:3-3 WARNING - false: wrong sign
            a.py:- ERROR - true: lost update
        "#]],
    );
    check(
        "{\"message\": \"wrong sign\", \"severity\": 2, \"location\": {\"path\": \"a.py\"}}\n{\"message\": \"b\"}\n",
        expect![[r#"
            blocks: false
            a.py:- WARNING - false: wrong sign
            -:- - - false: b
        "#]],
    );
}

#[test]
fn a_session_of_claude_is_read_with_its_cost() {
    let session = r#"{"type": "result", "subtype": "success", "is_error": false, "duration_ms": 2500, "num_turns": 3,
        "result": "{\"findings\": [{\"file\": \"a.py\", \"line\": 3, \"severity\": \"HIGH\", \"title\": \"wrong sign\", \"description\": \"d\"}]}",
        "total_cost_usd": 0.25, "usage": {"input_tokens": 10, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 5, "output_tokens": 1}}"#;
    let messages = format!(r#"[{{"type": "system"}}, {session}]"#);
    for text in [session, &messages] {
        check(
            text,
            expect![[r#"
                blocks: true
                a.py:3-3 HIGH - true: wrong sign | d
            "#]],
        );
        let effort = parse_output(text).unwrap().effort;
        assert_eq!((effort.calls, effort.tokens), (3, 20));
        assert_eq!((effort.dollars, effort.seconds), (0.25, 2.5));
    }
}

#[test]
fn a_session_of_claude_that_failed_is_no_review_without_findings() {
    check(
        r#"{"type": "result", "subtype": "error_max_turns", "is_error": true, "result": "{\"findings\": []}"}"#,
        expect![[r#"
            error: the output looks like the result of claude, and cannot be read: the session ended in an error: {"findings": []}
        "#]],
    );
    check(
        r#"{"type": "result", "subtype": "error_max_turns", "is_error": false}"#,
        expect![[r#"
            error: the output looks like the result of claude, and cannot be read: the session has no answer (`error_max_turns`)
        "#]],
    );
}

#[test]
fn replies_on_github_are_no_comments_of_a_reviewer() {
    check(
        r#"[{"id": 1, "body": "wrong sign", "path": "a.py", "line": null, "original_line": 7, "original_start_line": 5},
            {"id": 2, "body": "fixed", "path": "a.py", "line": 7, "in_reply_to_id": 1}]"#,
        expect![[r#"
            blocks: false
            a.py:5-7 - - false: wrong sign
        "#]],
    );
}

#[test]
fn a_review_of_codex_states_priority_and_confidence() {
    check(
        r#"{"findings": [{"title": "[P1] Wrong sign", "body": "It adds.", "confidence_score": 0.9, "priority": 1,
             "code_location": {"absolute_file_path": "a.py", "line_range": {"start": 3, "end": 4}}}],
            "overall_correctness": "patch is incorrect", "overall_confidence_score": 0.8}"#,
        expect![[r#"
            blocks: true
            a.py:3-4 P1 0.9 true: [P1] Wrong sign | It adds.
        "#]],
    );
    check(
        r#"{"findings": [], "overall_correctness": "patch is correct"}"#,
        expect![["blocks: false\n"]],
    );
}

#[test]
fn the_answer_of_a_model_is_read_as_findings_are() {
    check(
        "Here is my review:\n```json\n{\"findings\": [{\"file\": \"a.py\", \"line\": 3, \"severity\": \"HIGH\", \"title\": \"Wrong sign\", \"description\": \"It adds.\"}]}\n```",
        expect![[r#"
            blocks: true
            a.py:3-3 HIGH - true: Wrong sign | It adds.
        "#]],
    );
    check(r#"{"findings": []}"#, expect![["blocks: false\n"]]);
}

#[test]
fn an_output_without_a_review_is_an_error_and_not_an_empty_review() {
    check(
        " \n",
        expect![[r#"
        error: the output is empty; a review without findings has to say so, for example by an empty list
    "#]],
    );
    check(
        "Segmentation fault",
        expect![[r#"
        error: the output holds no findings in a form that is known: it begins with `Segmentation fault`
    "#]],
    );
    check(
        r#"{"runs": [{"results": [{"level": "error"}]}]}"#,
        expect![[r#"
        error: the output looks like SARIF, and cannot be read: missing field `message`
    "#]],
    );
}

#[test]
fn what_a_review_folds_is_no_comment() {
    let mut report = Report::new(Reviewer::new("reader", ReviewerKind::Persona));
    let mut vote = Vote::new("the name could be shorter", Grade::from_word("P2"));
    vote.confidence = Some(Confidence::HIGH);
    report.votes.push(vote);
    let comments = |shown: ShownLimit| {
        let around = SynthesisInputs { shown, ..SynthesisInputs::default() };
        let synthesis = synthesize(std::slice::from_ref(&report), &around);
        assert_eq!(synthesis.findings.len(), 1);
        let kept = serde_json::to_string(&synthesis).expect("a synthesis can be written");
        assert_eq!(parse_output(&kept), Ok(CaseResult::from(&synthesis)));
        CaseResult::from(&synthesis).comments.len()
    };
    assert_eq!((comments(ShownLimit::All), comments(ShownLimit::AtMost(0))), (1, 0));
}
