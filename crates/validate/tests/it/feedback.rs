//! Tests of parsing a person's feedback into items.

use assay_validate::artifacts;
use assay_validate::feedback;
use expect_test::{Expect, expect};
use proptest::prelude::*;

use crate::artifacts::{issue, spec};

fn check(text: &str, expected: Expect) {
    let items = feedback::read(text).into_iter().map(|item| {
        let tick = if item.is_ticked { " (ticked)" } else { "" };
        let about = item.about.map(|about| format!(" [{about}]")).unwrap_or_default();
        format!("{}{tick}{about}: {:?}\n", item.line, item.text)
    });
    expected.assert_eq(&items.collect::<String>());
}

#[test]
fn list_items_are_feedback_items() {
    check(
        "- a\n  goes on\n\n  and on\n- [ ] b\n  - b1\n    - b2\n- [x] c\n1. d\n   ```\n   code\n   ```\n",
        expect![[r#"
            1: "a\ngoes on\n\nand on"
            5: "b\n  - b1\n    - b2"
            8 (ticked): "c"
            9: "d\n   ```\n   code\n   ```"
        "#]],
    );
}

#[test]
fn paragraphs_are_feedback_items() {
    check(
        "The login page\nis slow.\n\n> as Jo said\n\nIt also crashes:\n\n    trace\n",
        expect![[r#"
            1: "The login page\nis slow.\nas Jo said"
            6: "It also crashes:\n    trace"
        "#]],
    );
}

#[test]
fn headings_and_introductions_are_the_topic_of_their_list_items() {
    check(
        "# Login\n\nPlease fix these:\n\n- a\n- b\n\nAnd the footer.\n\n# Search\n- c\n",
        expect![[r#"
            5 [Login / Please fix these:]: "a"
            6 [Login / Please fix these:]: "b"
            8 [Login]: "And the footer."
            11 [Search]: "c"
        "#]],
    );
}

#[test]
fn a_section_with_a_numbered_heading_is_one_item() {
    check(
        "## Issues\n\n### 1. Login fails\n- **Problem**: x\n- **Fix**: y\n\n#### Why\n\nz\n\n\
         ### Issue 2: slow\n\nw\n\n## Else\n- v\n",
        expect![[r#"
            3: "1. Login fails\n- **Problem**: x\n- **Fix**: y\nWhy\nz"
            11: "Issue 2: slow\nw"
            16 [Else]: "v"
        "#]],
    );
}

#[test]
fn a_heading_without_content_is_an_item() {
    check(
        "# Fix the crash\n\n# Feedback\n\n## Make it fast\n\n## Make it small\n",
        expect![[r#"
            1: "Fix the crash"
            5 [Feedback]: "Make it fast"
            7 [Feedback]: "Make it small"
        "#]],
    );
}

#[test]
fn generated_text_of_a_fix_request_is_not_feedback() {
    let request =
        artifacts::render_fix_request(&[issue("Login fails")], &[], 2, &spec("001-login"));
    let edited = request + "- Do not touch the database.\n\nThe footer is wrong, too.\n";
    check(
        &edited,
        expect![[r#"
            11: "1. Login fails\n- Type: acceptance_criteria\n- Severity: high\n- Place: src/api/client.py:42\n- Description: A lost connection ends the program.\nIt should be tried again.\n- Fix: Handle `ConnectionError`"
            27: "Do not touch the database."
            29: "The footer is wrong, too."
        "#]],
    );
}

#[test]
fn an_empty_file_has_no_feedback_items() {
    check("", expect![""]);
    check("\u{feff}\r\n \r\n<!-- nothing -->\r\n", expect![""]);
}

#[test]
fn the_topic_above_many_items_is_truncated() {
    let text = format!("# {}\n{}", "a".repeat(100_000), "- b\n".repeat(100_000));
    let items = feedback::read(&text);
    assert_eq!(items.len(), 100_000);
    assert!(items.iter().all(|item| item.about.as_ref().unwrap().len() == 200));
}

proptest! {
    #[test]
    fn no_word_of_feedback_is_lost(pieces in proptest::collection::vec(
        proptest::sample::select(&[
            "\n", "\n\n", "# ", "## ", "### 2. ", "- ", "  - ", "1. ", "> ", "```\n", "word", ":", "    ",
            "\r\n", "---\n", "[x] ", "\t",
        ][..]), 0..30))
    {
        let mut words = Vec::new();
        let text: String = pieces.iter().enumerate().map(|(at, piece)| {
            if *piece != "word" {
                return (*piece).to_owned();
            }
            words.push(format!("word{at}."));
            format!("word{at}.")
        }).collect();
        let items = feedback::read(&text);
        for word in words {
            let is_kept = items.iter().any(|item| {
                item.text.contains(&word) || item.about.as_ref().is_some_and(|it| it.contains(&word))
            });
            prop_assert!(is_kept, "{} of {:?} in {:?}", word, text, items);
        }
        prop_assert!(items.iter().all(|item| !item.text.trim().is_empty()));
    }
}
