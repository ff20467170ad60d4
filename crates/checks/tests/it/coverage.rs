//! Coverage reports of real tools, compared with a change.

use std::collections::BTreeMap;

use assay_checks::coverage::{
    CoverageCount, CoverageFormat, CoverageMeasurement, LineRanges, PathIndex, read,
};
use expect_test::{Expect, expect};

/// The files of the samples.
const FILES: [&str; 6] = [
    "shop.py",
    "shop.js",
    "shop.mjs",
    "shop.c",
    "money/money.go",
    "core/src/main/java/com/shop/Money.java",
];

/// Reads a sample, and measures a change of all lines from the third to the eighth.
fn check(form: CoverageFormat, sample: &str, expect: Expect) {
    let path = format!("{}/tests/samples/coverage/{sample}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(CoverageFormat::detect(&text), Some(form));
    expect.assert_eq(&measured(&text));
}

fn measured(text: &str) -> String {
    let coverage = match read(text.as_bytes()) {
        Ok(coverage) => coverage,
        Err(error) => return format!("{error}\n"),
    };
    let paths = PathIndex::new(Some("/home/ada/shop"), FILES.map(str::to_owned));
    let changed = FILES.map(|file| (file.to_owned(), LineRanges::from_iter(3..=8_u32)));
    shown(&coverage.measure(&paths, &BTreeMap::from(changed)))
}

fn shown(measured: &CoverageMeasurement) -> String {
    let CoverageMeasurement { total, changed, files, unmeasured } = measured;
    let share = |count: &CoverageCount| format!("{}/{} {count}", count.covered, count.total);
    let mut text = format!("total {}, changed lines {}\n", share(total), share(changed));
    for (path, file) in files {
        text.push_str(&format!("{path} {}, changed {}", share(&file.count), share(&file.changed)));
        text.push_str(&format!(", missing [{}]", file.missing));
        text.push_str(&format!(", of the change [{}]\n", file.missing_changed));
    }
    for path in unmeasured {
        text.push_str(&format!("{path} is not measured\n"));
    }
    text
}

#[test]
fn lcov_is_read() {
    check(
        CoverageFormat::Lcov,
        "coverage-py.lcov",
        expect![[r#"
        total 5/6 83.3%, changed lines 3/4 75.0%
        shop.py 5/6 83.3%, changed 3/4 75.0%, missing [7], of the change [7]
    "#]],
    );
    check(
        CoverageFormat::Lcov,
        "vitest.lcov",
        expect![[r#"
        total 5/7 71.4%, changed lines 3/5 60.0%
        shop.mjs 5/7 71.4%, changed 3/5 60.0%, missing [4-5], of the change [4-5]
    "#]],
    );
    check(
        CoverageFormat::Lcov,
        "llvm.lcov",
        expect![[r#"
        total 9/14 64.2%, changed lines 4/6 66.6%
        shop.c 9/14 64.2%, changed 4/6 66.6%, missing [5-6, 10-12], of the change [5-6]
    "#]],
    );
}

#[test]
fn cobertura_is_read_with_its_source_folders() {
    check(
        CoverageFormat::Cobertura,
        "coverage-py.xml",
        expect![[r#"
        total 5/6 83.3%, changed lines 3/4 75.0%
        shop.py 5/6 83.3%, changed 3/4 75.0%, missing [7], of the change [7]
    "#]],
    );
    check(
        CoverageFormat::Cobertura,
        "jest.xml",
        expect![[r#"
        total 4/5 80.0%, changed lines 3/4 75.0%
        shop.js 4/5 80.0%, changed 3/4 75.0%, missing [4], of the change [4]
    "#]],
    );
}

#[test]
fn jacoco_is_read_by_package() {
    check(
        CoverageFormat::Jacoco,
        "jacoco.xml",
        expect![[r#"
        total 5/7 71.4%, changed lines 1/2 50.0%
        core/src/main/java/com/shop/Money.java 5/7 71.4%, changed 1/2 50.0%, missing [3, 10], of the change [3]
    "#]],
    );
}

#[test]
fn coverage_py_counts_branches_if_they_are_measured() {
    check(
        CoverageFormat::CoveragePy,
        "coverage-py.json",
        expect![[r#"
        total 5/6 83.3%, changed lines 3/4 75.0%
        shop.py 5/6 83.3%, changed 3/4 75.0%, missing [7], of the change [7]
    "#]],
    );
    check(
        CoverageFormat::CoveragePy,
        "coverage-py-branches.json",
        expect![[r#"
        total 6/8 75.0%, changed lines 3/4 75.0%
        shop.py 6/8 75.0%, changed 3/4 75.0%, missing [7], of the change [7]
    "#]],
    );
}

#[test]
fn istanbul_is_read_in_full_and_as_a_summary() {
    check(
        CoverageFormat::Istanbul,
        "coverage-final.json",
        expect![[r#"
        total 4/5 80.0%, changed lines 3/4 75.0%
        shop.js 4/5 80.0%, changed 3/4 75.0%, missing [4], of the change [4]
    "#]],
    );
    check(
        CoverageFormat::Istanbul,
        "vitest.json",
        expect![[r#"
        total 5/7 71.4%, changed lines 3/5 60.0%
        shop.mjs 5/7 71.4%, changed 3/5 60.0%, missing [4-5], of the change [4-5]
    "#]],
    );
    check(
        CoverageFormat::IstanbulSummary,
        "coverage-summary.json",
        expect![[r#"
        total 4/5 80.0%, changed lines 0/0 nothing to cover
        shop.js 4/5 80.0%, changed 0/0 nothing to cover, missing [], of the change []
    "#]],
    );
}

#[test]
fn a_go_profile_counts_statements() {
    check(
        CoverageFormat::GoProfile,
        "go.cover",
        expect![[r#"
        total 3/4 75.0%, changed lines 2/3 66.6%
        money/money.go 3/4 75.0%, changed 2/3 66.6%, missing [7], of the change [7]
    "#]],
    );
}

#[test]
fn llvm_json_lines_match_the_report_of_llvm() {
    check(
        CoverageFormat::Llvm,
        "llvm.json",
        expect![[r#"
        total 9/14 64.2%, changed lines 4/6 66.6%
        shop.c 9/14 64.2%, changed 4/6 66.6%, missing [5-6, 10-12], of the change [5-6]
    "#]],
    );
}

#[test]
fn a_truncated_or_unknown_report_is_refused() {
    let cases = [
        "SF:shop.py\nDA:1,1\n",
        "SF:shop.py\nDA:1,x\nend_of_record\n",
        "<coverage><packages><class filename='shop.py'><lines><line number='1' hits='1'/>",
        "<report><package name='a'><sourcefile name='b'>",
        "mode: set\nexample.com/shop/money/money.go:3.26,3.40 1",
        "{\"files\": {\"shop.py\": {\"executed_lines\": [1",
        "{\"/a.js\": {\"path\": \"/a.js\", \"statementMap\": {",
        "{\"type\":\"llvm.coverage.json.export\",\"data\":[{\"files\":[",
        "<coverage/>",
        "mode: set\n",
        "",
        "hello",
        "<html></html>",
        "{}",
    ];
    let refusals: Vec<String> =
        cases.iter().map(|text| format!("{text:?}: {}", measured(text))).collect();
    expect![[r#"
        "SF:shop.py\nDA:1,1\n": the lcov report is invalid or truncated
        "SF:shop.py\nDA:1,x\nend_of_record\n": the lcov report is invalid or truncated
        "<coverage><packages><class filename='shop.py'><lines><line number='1' hits='1'/>": the Cobertura report is invalid or truncated
        "<report><package name='a'><sourcefile name='b'>": the JaCoCo report is invalid or truncated
        "mode: set\nexample.com/shop/money/money.go:3.26,3.40 1": the Go report is invalid or truncated
        "{\"files\": {\"shop.py\": {\"executed_lines\": [1": the coverage.py report is invalid or truncated
        "{\"/a.js\": {\"path\": \"/a.js\", \"statementMap\": {": the Istanbul report is invalid or truncated
        "{\"type\":\"llvm.coverage.json.export\",\"data\":[{\"files\":[": the LLVM report is invalid or truncated
        "<coverage/>": the Cobertura report measures nothing
        "mode: set\n": the Go report measures nothing
        "": unknown format of the coverage report
        "hello": unknown format of the coverage report
        "<html></html>": unknown format of the coverage report
        "{}": unknown format of the coverage report
    "#]].assert_eq(&refusals.concat());
}

#[test]
fn a_line_is_covered_if_one_of_its_parts_is() {
    let text = "mode: count\nexample.com/shop/money/money.go:3.2,5.3 2 0\nexample.com/shop/money/money.go:5.3,6.9 1 7\n";
    expect![[r#"
        total 1/3 33.3%, changed lines 2/4 50.0%
        money/money.go 1/3 33.3%, changed 2/4 50.0%, missing [3-4], of the change [3-4]
    "#]]
    .assert_eq(&measured(text));
}

#[test]
fn a_block_that_two_packages_tested_counts_once() {
    let text = "mode: set\nexample.com/shop/money/money.go:3.1,3.9 2 0\nexample.com/shop/money/money.go:3.1,3.9 2 1\n";
    expect![[r#"
        total 2/2 100.0%, changed lines 1/1 100.0%
        money/money.go 2/2 100.0%, changed 1/1 100.0%, missing [], of the change []
    "#]]
    .assert_eq(&measured(text));
}

#[test]
fn totals_are_used_if_a_report_lists_no_lines() {
    expect![[r#"
        total 8/10 80.0%, changed lines 0/0 nothing to cover
        shop.py 8/10 80.0%, changed 0/0 nothing to cover, missing [], of the change []
    "#]]
    .assert_eq(&measured("TN:\nSF:shop.py\nLF:10\nLH:8\nend_of_record\n"));
}

#[test]
fn two_reports_are_merged_by_line() {
    let mut one = read(b"SF:shop.py\nDA:1,1\nDA:2,0\nDA:3,0\nend_of_record\n").unwrap();
    one.add(
        read(b"SF:shop.py\nDA:2,1\nDA:3,0\nend_of_record\nSF:b.py\nDA:1,0\nend_of_record\n")
            .unwrap(),
    );
    assert_eq!(one.total(), CoverageCount { covered: 2, total: 4 });
}

#[test]
fn lines_are_formatted_and_serialized_as_ranges() {
    let lines: LineRanges = [9, 1, 2, 3, 5, 7, 8].into_iter().collect();
    assert_eq!(lines.to_string(), "1-3, 5, 7-9");
    let json = serde_json::to_string(&lines).unwrap();
    assert_eq!(serde_json::from_str::<LineRanges>(&json).unwrap(), lines);
    assert!(serde_json::from_str::<LineRanges>("\"one\"").is_err());
}

#[test]
fn coverage_that_reaches_the_minimum_has_no_gap() {
    let gaps = |covered, minimum| {
        let measured = CoverageMeasurement {
            total: CoverageCount { covered, total: 1000 },
            ..CoverageMeasurement::default()
        };
        measured.gaps(minimum).iter().map(|gap| gap.to_string()).collect::<Vec<_>>()
    };
    assert!(gaps(950, 80.0).is_empty());
    assert!(gaps(800, 80.0).is_empty());
    assert_eq!(gaps(799, 80.0), ["coverage is 79.9%, below the minimum of 80%"]);
}

#[test]
fn percentages_are_rounded_down() {
    assert_eq!(CoverageCount { covered: 79_999, total: 100_000 }.to_string(), "79.9%");
    assert_eq!(CoverageCount { covered: 0, total: 0 }.to_string(), "nothing to cover");
}

#[test]
fn gaps_name_the_total_the_change_and_its_files() {
    let coverage = read(
        b"SF:a.py\nDA:1,1\nDA:2,0\nDA:3,0\nDA:4,1\nend_of_record\nSF:b.py\nDA:1,1\nend_of_record\n",
    );
    let files = ["a.py", "b.py", "c.py", "README.md"].map(str::to_owned);
    let changed = files.clone().map(|file| (file, LineRanges::from_iter([2_u32, 4])));
    let measured =
        coverage.unwrap().measure(&PathIndex::new(None, files), &BTreeMap::from(changed));
    let gaps: Vec<String> = measured.gaps(75.0).iter().map(|gap| format!("{gap}\n")).collect();
    expect![[r#"
        coverage is 60.0%, below the minimum of 75%
        coverage of changed lines is 50.0%, below the minimum of 75%
        coverage of `a.py` is 50.0%, below the minimum of 75%; no test reaches lines 2-3
    "#]]
    .assert_eq(&gaps.concat());
    assert_eq!(measured.unmeasured, ["c.py"]);
    let json = serde_json::to_string(&measured).unwrap();
    assert_eq!(serde_json::from_str::<CoverageMeasurement>(&json).unwrap(), measured);
}

#[test]
fn external_entities_of_a_coverage_report_are_ignored() {
    let text = "<!DOCTYPE coverage [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><coverage><sources><source>&x;</source></sources>\
        <class filename='shop.py'><lines><line number='1' hits='1'/></lines></class></coverage>";
    expect![[r#"
        total 1/1 100.0%, changed lines 0/0 nothing to cover
        shop.py 1/1 100.0%, changed 0/0 nothing to cover, missing [], of the change []
    "#]]
    .assert_eq(&measured(text));
}
