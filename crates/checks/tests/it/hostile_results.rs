//! Arbitrary output of test runners is parsed without a panic.

use assay_checks::results::{ResultFormat, detect, read};
use proptest::prelude::*;

/// Pieces of the formats, so that random input gets past their first words.
const PIECES: [&str; 47] = [
    "{\"run\":\"begin\"}\n",
    "{\"begun\":\"a\"}\n{\"test\":\"a\",\"outcome\":\"passed\",\"seconds\":1e300}\n",
    "{\"run\":\"end\",\"count\":18446744073709551615}\n",
    "running 3 tests\n",
    "test a ... ok\n",
    "test a ... FAILED\n",
    "---- a stdout ----\n",
    "failures:\n",
    "test result: ok. 9 passed; 99999999999999999999 failed;\n",
    "\n",
    " ",
    "\u{1b}[",
    "    Starting 3 tests across 1 binary\n",
    "        PASS [   0.1s] (1/3) x a\n",
    "TRY 2 FAIL [",
    "     Summary [   0.1s] 1 test run\n",
    "{\"type\":\"suite\",\"event\":\"started\"}\n",
    "é",
    "\r",
    "{\"type\":\"test\",\"event\":\"failed\",\"name\":\"a\",\"exec_time\":-1e300}\n",
    "]]>",
    "<![CDATA[",
    "==== test session starts ====\n",
    "a.py::b PASSED [ 1%]\n",
    "[gw0] [ 1%] PASSED a.py::b\n",
    "==== short test summary info ====\n",
    "FAILED a.py::b - no\n",
    "1 failed, 2 passed in 0.1s\n",
    "FAIL: a (b)\n",
    "Ran 3 tests in 0.1s\n",
    "FAILED (failures=18446744073709551615, errors=9)\n",
    "<testsuites failures=\"18446744073709551615\" errors=\"1\">",
    "<testsuite>",
    "</testsuite>",
    "<testcase name='a' time='NaN'>",
    "<failure message='&x;&#0;'>",
    "&amp;",
    "</testcase>",
    "<!DOCTYPE a [<!ENTITY b 'c'>]>",
    "{\"numTotalTests\":18446744073709551615,\"testResults\":[]}\n",
    "{\"Action\":\"start\",\"Package\":\"p\"}\n",
    "{\"Action\":\"fail\",\"Package\":\"p\"}\n",
    "--- FAIL: TestA (0.1s)\n",
    "ok  \tp\t0.1s\n",
    "TAP version 13\n",
    "1..18446744073709551615\n",
    "not ok 1 - a # SKIP\n  ---\n",
];

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        9 => prop::sample::select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(assay_testenv::cases(64)))]

    #[test]
    fn every_result_format_accepts_any_bytes(bytes in pieces()) {
        for form in ResultFormat::ALL.into_iter().chain([ResultFormat::Report]) {
            let Some(tests) = read(form, &bytes) else { continue };
            prop_assert!(tests.failed().count() <= tests.totals.failed);
            let json = serde_json::to_string(&tests).unwrap();
            prop_assert_eq!(serde_json::from_str::<assay_checks::results::TestReport>(&json).unwrap(), tests);
        }
        detect(&bytes);
    }
}

#[test]
fn very_long_output_yields_a_bounded_number_of_results() {
    for piece in PIECES.into_iter().chain(["{\"a\":", "[", "{\"numTotalTests\":[\n"]) {
        let much = piece.repeat((256 << 10) / piece.len());
        let kept = detect(much.as_bytes()).map_or(0, |(_, tests)| tests.results.len());
        assert!(kept <= 20_000, "{kept} of {piece:?}");
    }
}
