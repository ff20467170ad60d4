//! Arbitrary output of an analyser results in a report.

use std::path::Path;

use assay_review::command::Checkout;
use assay_review::command::format::AnalyserFormat;
use proptest::prelude::*;

use crate::flawed::{MemoryTree, ROOT};

const FIXTURES: [(AnalyserFormat, &str); 12] = [
    (AnalyserFormat::Ruff, include_str!("../fixtures/ruff.json")),
    (AnalyserFormat::Bandit, include_str!("../fixtures/bandit.json")),
    (AnalyserFormat::Semgrep, include_str!("../fixtures/semgrep.json")),
    (AnalyserFormat::Eslint, include_str!("../fixtures/eslint.json")),
    (AnalyserFormat::Checkstyle, include_str!("../fixtures/shellcheck.xml")),
    (AnalyserFormat::Clippy, include_str!("../fixtures/clippy.jsonl")),
    (AnalyserFormat::GolangciLint, include_str!("../fixtures/golangci-lint.json")),
    (AnalyserFormat::Pyright, include_str!("../fixtures/pyright.json")),
    (AnalyserFormat::Rdjson, include_str!("../fixtures/ruff.rdjson")),
    (AnalyserFormat::Rdjsonl, include_str!("../fixtures/ruff.rdjsonl")),
    (AnalyserFormat::Sarif, include_str!("../fixtures/ruff.sarif")),
    (AnalyserFormat::Sarif, include_str!("../fixtures/semgrep.sarif")),
];

/// Returns the number of votes, and true if the report is marked as incomplete.
fn answer(form: AnalyserFormat, output: &[u8]) -> (usize, bool) {
    let tree = MemoryTree::flawed();
    let report = form.read(output, "tool", &Checkout::new(Path::new(ROOT), &tree));
    assert!(report.rejected.len() <= report.lost);
    for vote in &report.votes {
        assert!(!vote.title.contains('\n') && vote.title.chars().count() <= 120, "{}", vote.title);
    }
    (report.votes.len(), !report.is_whole())
}

proptest! {
    #[test]
    fn any_bytes_give_a_report(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        for form in AnalyserFormat::ALL {
            answer(form, &bytes);
        }
    }

    #[test]
    fn any_text_similar_to_json_or_xml_gives_a_report(
        text in "([\\[\\]{}<>:,\"'/&;=\\n ]|results|runs|Issues|null|-1|1e9|message|checkstyle|file|error|reason|\\u{feff}|é){0,60}"
    ) {
        for form in AnalyserFormat::ALL {
            answer(form, text.as_bytes());
        }
    }

    #[test]
    fn a_real_output_with_replaced_bytes_gives_a_report(
        which in 0..FIXTURES.len(),
        at in any::<proptest::sample::Index>(),
        bytes in proptest::collection::vec(any::<u8>(), 0..6),
    ) {
        let (form, text) = FIXTURES[which];
        let mut output = text.as_bytes().to_vec();
        let start = at.index(output.len());
        let end = (start + bytes.len()).min(output.len());
        output.splice(start..end, bytes);
        answer(form, &output);
    }

    #[test]
    fn a_truncated_real_output_is_reported_as_incomplete(
        which in 0..FIXTURES.len(),
        at in any::<proptest::sample::Index>(),
    ) {
        let (form, text) = FIXTURES[which];
        let whole = text.trim_end();
        let cut = at.index(whole.len());
        let (votes, is_incomplete) = answer(form, &whole.as_bytes()[..cut]);
        let (all, _) = answer(form, text.as_bytes());
        prop_assert!(votes <= all);
        // In a format of independent lines, a missing whole line cannot be detected.
        let at_line_end = matches!(whole.as_bytes()[cut], b'\n') || cut == 0
            || whole.as_bytes()[cut - 1] == b'\n';
        prop_assert!(is_incomplete || form == AnalyserFormat::Rdjsonl && at_line_end, "cut at {cut}");
    }
}
