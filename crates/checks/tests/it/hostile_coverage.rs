//! Arbitrary coverage reports are parsed without a panic.

use std::collections::BTreeMap;

use assay_checks::coverage::{LineRanges, PathIndex, read};
use proptest::prelude::*;

/// The beginnings of reports, and pieces to build them from.
const STARTS: [&str; 8] = [
    "SF:a.py\n",
    "<coverage>",
    "<report>",
    "mode: set\n",
    "{\"files\":{",
    "{\"statementMap\":",
    "{\"type\":\"llvm.coverage.json.export\",\"data\":[",
    "{\"total\":{\"pct\":1,",
];
const PIECES: [&str; 26] = [
    "DA:1,1\n",
    "DA:4294967295,1\n",
    "DA:0,-1\n",
    "LF:18446744073709551615\n",
    "LH:1\n",
    "end_of_record\n",
    "SF:b.py\n",
    "<class filename='a.py'>",
    "<line number='1' hits='NaN'/>",
    "</class>",
    "<source>&x;",
    "</source>",
    "<package name='a'>",
    "<sourcefile name='b'>",
    "<line nr='4294967295' ci='1'/>",
    "</coverage>",
    "</report>",
    "a.go:1.1,4294967295.1 1 1\n",
    "a.go:9.1,1.1 18446744073709551615 1\n",
    "\"a.py\":{\"executed_lines\":[0,1,4294967295],",
    "\"summary\":{\"covered_lines\":9,\"num_statements\":1}}",
    "}",
    "]",
    ",",
    "{\"files\":[{\"filename\":\"a\",\"segments\":[[4294967295,1,1,true,true],[1,1,0,false,true,false]]}]}",
    "\u{0}",
];

fn report() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        9 => prop::sample::select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    let rest = prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat());
    (prop::sample::select(&STARTS[..]), rest)
        .prop_map(|(start, rest)| [start.as_bytes(), &rest[..]].concat())
}

fn lines() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(prop_oneof![1..40_u32, Just(u32::MAX)], 0..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(assay_testenv::cases(64)))]

    #[test]
    fn every_report_is_read_or_refused(bytes in report(), lines in lines()) {
        if let Ok(coverage) = read(&bytes) {
            let changed = BTreeMap::from([("a.py".to_owned(), LineRanges::from_iter(lines))]);
            let measured = coverage.measure(&PathIndex::new(None, ["a.py".to_owned()]), &changed);
            prop_assert!(measured.changed.covered <= measured.changed.total);
            measured.gaps(50.0);
        }
    }

    /// Ranges of lines give the same counts as single lines.
    #[test]
    fn changed_lines_are_counted_as_by_a_line_by_line_model(
        hit in prop::collection::btree_set(1..60_u32, 0..40),
        missed in prop::collection::btree_set(1..60_u32, 0..40),
        changed in prop::collection::btree_set(1..60_u32, 0..40),
    ) {
        let hits = hit.iter().map(|line| format!("DA:{line},1\n"));
        let misses = missed.iter().map(|line| format!("DA:{line},0\n"));
        let text: String = hits.chain(misses).collect();
        let coverage = read(format!("SF:a.py\n{text}end_of_record\n").as_bytes()).unwrap();
        let lines = LineRanges::from_iter(changed.iter().copied());
        let measured = coverage
            .measure(&PathIndex::new(None, ["a.py".to_owned()]), &BTreeMap::from([("a.py".to_owned(), lines)]));
        let file = &measured.files["a.py"];
        let missing: Vec<u32> = missed.difference(&hit).copied().collect();
        let of_change = missing.iter().copied().filter(|line| changed.contains(line));
        prop_assert_eq!(&file.missing_changed, &LineRanges::from_iter(of_change));
        prop_assert_eq!(&file.missing, &LineRanges::from_iter(missing));
        prop_assert_eq!(file.changed.covered, hit.intersection(&changed).count() as u64);
    }
}

#[test]
fn huge_and_deeply_nested_reports_are_read_or_refused() {
    let blocks: String =
        (0..20_000).map(|n| format!("m/a{}.go:1.1,{}.9 1 1\n", n % 100, u32::MAX - n)).collect();
    let coverage = read(format!("mode: set\n{blocks}").as_bytes()).unwrap();
    assert_eq!(coverage.total().covered, 20_000);
    let nested = "{\"files\":".repeat(100_000);
    assert!(read(format!("{{\"executed_lines\":{nested}").as_bytes()).is_err());
    let deep = "<a>".repeat(100_000);
    assert!(read(format!("<coverage>{deep}").as_bytes()).is_err());
}
