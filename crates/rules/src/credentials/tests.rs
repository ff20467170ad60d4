//! The law of the detector: every reported credential is redacted, and the reverse.

use std::ops::Range;

use assay_findings::vote::LineRange;
use assay_testkit::credentials::{Random, planted};
use proptest::prelude::*;

use super::{redact, redaction, scan};
use crate::text::{AddedLines, RULES};

/// Returns the ranges of the credentials that the rules report for a file with this text.
fn reported(text: &str) -> Vec<Range<usize>> {
    let all = LineRange::range(1, text.lines().count() as u32);
    let added = AddedLines::new("shop/a.txt", text, all.into_iter());
    let rules = RULES.iter().filter(|rule| rule.rule_text.id.starts_with("secret/"));
    let hits: Vec<_> = rules.flat_map(|rule| (rule.find)(&added)).collect();
    let line_starts: Vec<usize> =
        added.all.iter().map(|line| line.as_ptr() as usize - text.as_ptr() as usize).collect();
    let starts = hits
        .iter()
        .map(|hit| line_starts[hit.lines.start() as usize - 1] + hit.column.unwrap() as usize - 1);
    let mut starts: Vec<usize> = starts.collect();
    starts.sort_unstable();
    let found = scan(text);
    assert_eq!(starts, found.iter().map(|one| one.start()).collect::<Vec<_>>(), "{text}");
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut pieces: Vec<Range<usize>> = found.into_iter().flat_map(|one| one.pieces).collect();
    pieces.sort_by_key(|piece| (piece.start, piece.end));
    for piece in pieces {
        match ranges.last_mut() {
            Some(last) if piece.start < last.end => last.end = last.end.max(piece.end),
            _ => ranges.push(piece),
        }
    }
    ranges
}

/// Returns the ranges of a text that redaction changes, extended by the letters that identify a
/// token's kind.
fn hidden(text: &str) -> Vec<Range<usize>> {
    let hidden = redaction::hidden_ranges(text, &scan(text)).into_iter();
    let found = scan(text);
    let starts: Vec<usize> =
        found.iter().flat_map(|one| one.pieces.iter().map(|piece| piece.start)).collect();
    let whole = |range: Range<usize>| match starts.contains(&range.start) {
        true => range,
        false => range.start - redaction::SHOWN_PREFIX..range.end,
    };
    hidden.map(whole).collect()
}

/// Lines of code and configuration without credentials.
const NOISE: [&str; 12] = [
    "def connect(user, password):\n",
    "    return None\n",
    "[mail]\n",
    "# see the manual\n",
    "\n",
    "- item: 12\n",
    "\t\"name\": \"shop\",\n",
    "</settings>\n",
    "“Größe” = 3\n",
    "password: \n",
    "key = ",
    "token=\"",
];

fn noise() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => proptest::sample::select(NOISE.to_vec()).prop_map(str::to_owned),
        1 => "[ -~]{0,24}\n",
    ]
}

/// Generates texts from templates with credentials, with noise around and between them.
fn texts() -> impl Strategy<Value = String> {
    let count = planted(1).len();
    let part = prop_oneof![
        2 => noise(),
        1 => (0..count, any::<u64>()).prop_map(|(at, seed)| planted(seed).swap_remove(at).text),
        1 => (any::<u64>(), 0..60_usize).prop_map(|(seed, cut)| {
            let text = Random(seed).make("P").0 + &Random(seed).make("A24").0;
            let text = format!("password={text} ");
            text[..cut.min(text.len())].to_owned()
        }),
    ];
    proptest::collection::vec(part, 1..8).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(assay_testenv::cases(64)))]

    #[test]
    fn reported_and_redacted_credentials_are_the_same(text in texts()) {
        prop_assert_eq!(reported(&text), hidden(&text));
        let once = redact(&text).into_owned();
        prop_assert_eq!(once.lines().count(), text.lines().count());
        let twice = redact(&once).into_owned();
        prop_assert_eq!(twice, once, "redacted twice");
    }

    #[test]
    fn every_planted_value_is_redacted_whatever_text_surrounds_it(
        seed in any::<u64>(), before in noise(), after in noise(),
    ) {
        for file in planted(seed) {
            let text = format!("{before}\n{}\n{after}", file.text);
            let shown = redact(&text).into_owned();
            for value in file.secrets.iter().flat_map(|secret| &secret.values) {
                prop_assert!(!shown.contains(value.as_str()), "`{}` is shown:\n{}", value, shown);
            }
        }
    }
}
