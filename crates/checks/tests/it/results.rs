//! Results of tests, parsed from the output of real runners.

use assay_checks::results::{ResultFormat, TestOutcome, TestReport, detect, read};
use expect_test::{Expect, expect};

/// Parses a sample in its format and with detection, which must give the same.
fn check(form: ResultFormat, sample: &str, expect: Expect) {
    let path = format!("{}/tests/samples/results/{sample}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(path).unwrap();
    let tests = read(form, &bytes);
    expect.assert_eq(&tests.as_ref().map_or("nothing is of this form\n".to_owned(), shown));
    assert_eq!(detect(&bytes).map(|(form, tests)| (form, Some(tests))), Some((form, tests)));
}

/// Parses a text, and compares the results.
fn check_text(form: ResultFormat, text: &str, expect: Expect) {
    let tests = read(form, text.as_bytes());
    expect.assert_eq(&tests.as_ref().map_or("nothing is of this form\n".to_owned(), shown));
}

fn shown(tests: &TestReport) -> String {
    let mut text = format!(
        "{} passed, {} failed, {} skipped{}\n",
        tests.totals.passed,
        tests.totals.failed,
        tests.totals.skipped,
        if tests.is_cut { ", and it breaks off" } else { "" },
    );
    text.extend(tests.doubt.iter().map(|doubt| format!("not understood: {doubt}\n")));
    for test in &tests.results {
        let (word, message) = match &test.outcome {
            TestOutcome::Passed => ("passed", ""),
            TestOutcome::Failed { message } => ("FAILED", message.as_str()),
            TestOutcome::Skipped => ("skipped", ""),
        };
        let file = test.file.as_ref().map(|file| format!(" in {file}")).unwrap_or_default();
        let time = test.duration_ms.map(|millis| format!(", {millis} ms")).unwrap_or_default();
        text.push_str(&format!("{word} {}{file}{time}\n", test.name));
        let message_lines = message.lines().filter(|line| !line.trim().is_empty()).take(3);
        message_lines.for_each(|line| text.push_str(&format!("    {line}\n")));
    }
    text
}

#[test]
fn cargo_tests_are_read_from_all_binaries() {
    check(
        ResultFormat::Cargo,
        "cargo.txt",
        expect![[r#"
            4 passed, 1 failed, 1 skipped
            passed tests::adds
            passed tests::breaks
            skipped tests::waits
            FAILED tests::fails
                about to fail
                thread 'tests::fails' (20111) panicked at src/lib.rs:29:9:
                assertion `left == right` failed: the sum is off
            passed from_outside
            passed src/lib.rs - add (line 5) in src/lib.rs
        "#]],
    );
}

#[test]
fn a_failure_that_nextest_prints_twice_counts_once() {
    check(
        ResultFormat::Nextest,
        "nextest.txt",
        expect![[r#"
            3 passed, 1 failed, 1 skipped
            passed shop > tests::adds, 20 ms
            passed shop > tests::breaks, 291 ms
            passed shop::it > from_outside, 12 ms
            FAILED shop > tests::fails, 284 ms
                stdout ───
                running 1 test
                about to fail
        "#]],
    );
}

#[test]
fn nextest_json_is_read_as_libtest_json() {
    check(
        ResultFormat::LibtestJson,
        "nextest.jsonl",
        expect![[r#"
            3 passed, 1 failed, 1 skipped
            passed shop::shop > tests::adds, 16 ms
            skipped shop::shop > tests::waits
            passed shop::shop > tests::breaks, 252 ms
            passed shop::it > from_outside, 5 ms
            FAILED shop::shop > tests::fails, 240 ms
                about to fail
                thread 'tests::fails' (20214) panicked at src/lib.rs:29:9:
                assertion `left == right` failed: the sum is off
        "#]],
    );
}

#[test]
fn pytest_names_failures_and_counts_the_rest() {
    check(
        ResultFormat::Pytest,
        "pytest.txt",
        expect![[r#"
        4 passed, 2 failed, 2 skipped
        FAILED tests/test_shop.py::test_fails in tests/test_shop.py
            AssertionError: the sum is off
        FAILED tests/test_shop.py::test_errors in tests/test_shop.py
            RuntimeError: no database
    "#]],
    );
}

#[test]
fn verbose_pytest_output_names_all_tests() {
    check(
        ResultFormat::Pytest,
        "pytest-v.txt",
        expect![[r#"
        4 passed, 2 failed, 2 skipped
        passed tests/test_shop.py::test_adds in tests/test_shop.py
        FAILED tests/test_shop.py::test_fails in tests/test_shop.py
            AssertionError: the sum is off
        skipped tests/test_shop.py::test_waits in tests/test_shop.py
        skipped tests/test_shop.py::test_known in tests/test_shop.py
        FAILED tests/test_shop.py::test_errors in tests/test_shop.py
            RuntimeError: no database
        passed tests/test_shop.py::test_many[1] in tests/test_shop.py
        passed tests/test_shop.py::test_many[2] in tests/test_shop.py
        passed tests/test_shop.py::TestBox::test_in_class in tests/test_shop.py
    "#]],
    );
    check(
        ResultFormat::Pytest,
        "pytest-q-rA.txt",
        expect![[r#"
        4 passed, 2 failed, 2 skipped
        passed tests/test_shop.py::test_adds in tests/test_shop.py
        passed tests/test_shop.py::test_many[1] in tests/test_shop.py
        passed tests/test_shop.py::test_many[2] in tests/test_shop.py
        passed tests/test_shop.py::TestBox::test_in_class in tests/test_shop.py
        skipped tests/test_shop.py::test_known in tests/test_shop.py
        FAILED tests/test_shop.py::test_errors in tests/test_shop.py
            RuntimeError: no database
        FAILED tests/test_shop.py::test_fails in tests/test_shop.py
            AssertionError: the sum is off
    "#]],
    );
}

#[test]
fn a_pytest_run_without_tests_has_no_results() {
    check(
        ResultFormat::Pytest,
        "pytest-none.txt",
        expect![[r#"
        0 passed, 0 failed, 0 skipped
    "#]],
    );
}

#[test]
fn unittest_is_read_with_and_without_names() {
    check(
        ResultFormat::Unittest,
        "unittest-v.txt",
        expect![[r#"
        2 passed, 2 failed, 1 skipped
        passed test_adds (unit.Shop.test_adds)
        passed test_doc (unit.Shop.test_doc)
        skipped test_waits (unit.Shop.test_waits)
        FAILED test_errors (unit.Shop.test_errors)
            Traceback (most recent call last):
              File "/home/ada/shop/unit.py", line 12, in test_errors
                raise RuntimeError("no database")
        FAILED test_fails (unit.Shop.test_fails)
            Traceback (most recent call last):
              File "/home/ada/shop/unit.py", line 7, in test_fails
                self.assertEqual(add(1, 2), 4)
    "#]],
    );
    check(
        ResultFormat::Unittest,
        "unittest.txt",
        expect![[r#"
        2 passed, 2 failed, 1 skipped
        FAILED test_errors (unit.Shop.test_errors)
            Traceback (most recent call last):
              File "/home/ada/shop/unit.py", line 12, in test_errors
                raise RuntimeError("no database")
        FAILED test_fails (unit.Shop.test_fails)
            Traceback (most recent call last):
              File "/home/ada/shop/unit.py", line 7, in test_fails
                self.assertEqual(add(1, 2), 4)
    "#]],
    );
}

#[test]
fn junit_is_read_from_different_runners() {
    check(
        ResultFormat::Junit,
        "pytest.xml",
        expect![[r#"
            4 passed, 2 failed, 2 skipped
            passed tests.test_shop > test_adds, 1 ms
            FAILED tests.test_shop > test_fails, 1 ms
                AssertionError: the sum is off
                assert 3 == 4
                 +  where 3 = add(1, 2)
            skipped tests.test_shop > test_waits, 0 ms
            skipped tests.test_shop > test_known, 0 ms
            FAILED tests.test_shop > test_errors, 0 ms
                failed on setup with "RuntimeError: no database"
                @pytest.fixture
                    def broken():
            passed tests.test_shop > test_many[1], 0 ms
            passed tests.test_shop > test_many[2], 0 ms
            passed tests.test_shop.TestBox > test_in_class, 0 ms
        "#]],
    );
    check(
        ResultFormat::Junit,
        "vitest.xml",
        expect![[r#"
            2 passed, 1 failed, 1 skipped
            passed shop.test.mjs > shop > adds, 1 ms
            FAILED shop.test.mjs > shop > fails, 6 ms
                expected 3 to be 4 // Object.is equality
                AssertionError: expected 3 to be 4 // Object.is equality
                - Expected
            skipped shop.test.mjs > shop > waits, 0 ms
            passed shop.test.mjs > shop > signs, 0 ms
        "#]],
    );
    check(
        ResultFormat::Junit,
        "node.xml",
        expect![[r#"
            2 passed, 1 failed, 1 skipped
            passed test > adds, 6 ms
            FAILED test > fails, 1 ms
                3 == 4
                [Error [ERR_TEST_FAILURE]: 3 == 4] {
                  code: 'ERR_TEST_FAILURE',
            skipped test > waits, 0 ms
            passed test > inside, 0 ms
        "#]],
    );
}

#[test]
fn a_file_that_jest_cannot_run_is_a_failure() {
    check(
        ResultFormat::Jest,
        "jest.json",
        expect![[r#"
            2 passed, 2 failed, 2 skipped
            passed shop > adds in /home/ada/shop/shop.test.js, 7 ms
            FAILED shop > fails in /home/ada/shop/shop.test.js, 2 ms
                Error: expect(received).toBe(expected) // Object.is equality
                Expected: 4
                Received: 3
            skipped shop > waits in /home/ada/shop/shop.test.js
            skipped shop > later in /home/ada/shop/shop.test.js
            passed shop > signs in /home/ada/shop/shop.test.js, 0 ms
            FAILED /home/ada/shop/broken.test.js in /home/ada/shop/broken.test.js
                ● Test suite failed to run
                    Cannot find module './missing' from 'broken.test.js'
                    > 1 | require('./missing'); test('x', () => {});
        "#]],
    );
}

#[test]
fn vitest_json_is_read_as_jest_json() {
    check(
        ResultFormat::Jest,
        "vitest.json",
        expect![[r#"
            2 passed, 1 failed, 1 skipped
            passed shop > adds in /home/ada/shop/shop.test.mjs, 2 ms
            FAILED shop > fails in /home/ada/shop/shop.test.mjs, 15 ms
                AssertionError: expected 3 to be 4 // Object.is equality
                    at /home/ada/shop/shop.test.mjs:5:41
            skipped shop > waits in /home/ada/shop/shop.test.mjs
            passed shop > signs in /home/ada/shop/shop.test.mjs, 0 ms
        "#]],
    );
    assert_eq!(ResultFormat::parse_name("vitest"), Some(ResultFormat::Jest));
}

#[test]
fn a_go_package_that_does_not_build_is_a_failure() {
    check(
        ResultFormat::GoJson,
        "go.jsonl",
        expect![[r#"
            4 passed, 2 failed, 1 skipped
            FAILED example.com/shop/broken, 0 ms
                # example.com/shop/broken [example.com/shop/broken.test]
                broken/a.go:3:19: too many return values
                	have (number)
            passed example.com/shop/money > TestAdds, 0 ms
            FAILED example.com/shop/money > TestFails, 0 ms
                money_test.go:12: about to fail
                    money_test.go:13: the sum is 3
            skipped example.com/shop/money > TestWaits, 0 ms
            passed example.com/shop/money > TestMany/one, 0 ms
            passed example.com/shop/money > TestMany/two, 0 ms
            passed example.com/shop/money > TestMany, 0 ms
        "#]],
    );
}

#[test]
fn go_is_read_as_text_with_and_without_names() {
    check(
        ResultFormat::Go,
        "go-v.txt",
        expect![[r#"
            4 passed, 2 failed, 1 skipped
            FAILED example.com/shop/broken
                # example.com/shop/broken [example.com/shop/broken.test]
                broken/a.go:3:19: too many return values
                	have (number)
            passed TestAdds, 0 ms
            FAILED TestFails, 0 ms
                money_test.go:12: about to fail
                money_test.go:13: the sum is 3
            skipped TestWaits, 0 ms
            passed TestMany, 0 ms
            passed TestMany/one, 0 ms
            passed TestMany/two, 0 ms
        "#]],
    );
    check(
        ResultFormat::Go,
        "go.txt",
        expect![[r#"
            0 passed, 2 failed, 0 skipped
            FAILED example.com/shop/broken
                # example.com/shop/broken [example.com/shop/broken.test]
                broken/a.go:3:19: too many return values
                	have (number)
            FAILED TestFails, 0 ms
                money_test.go:12: about to fail
                money_test.go:13: the sum is 3
        "#]],
    );
}

#[test]
fn tap_is_read_with_subtests_and_notes() {
    check(
        ResultFormat::Tap,
        "node.tap",
        expect![[r#"
        3 passed, 1 failed, 1 skipped
        passed adds
        FAILED fails
            duration_ms: 1.172652
            location: '/home/ada/shop/shop.test.js:3:1'
            failureType: 'testCodeFailure'
        skipped waits
        passed inside
        passed box
    "#]],
    );
    check(
        ResultFormat::Tap,
        "mocha.tap",
        expect![[r#"
        1 passed, 1 failed, 1 skipped
        passed shop adds
        FAILED shop fails
            3 == 4
            AssertionError [ERR_ASSERTION]: 3 == 4
            at Context.<anonymous> (test/shop.js:2:93)
        skipped shop waits
    "#]],
    );
}

#[test]
fn a_truncated_run_is_reported_as_truncated() {
    check_text(
        ResultFormat::Cargo,
        "running 2 tests\ntest a ... ok\n",
        expect![[r#"
        1 passed, 0 failed, 0 skipped, and it breaks off
        passed a
    "#]],
    );
    check_text(
        ResultFormat::Nextest,
        "    Starting 2 tests across 1 binary\n",
        expect![[r#"
        0 passed, 0 failed, 0 skipped, and it breaks off
    "#]],
    );
    check_text(
        ResultFormat::Tap,
        "TAP version 13\n1..3\nok 1 - a\n",
        expect![[r#"
        1 passed, 0 failed, 0 skipped, and it breaks off
        passed a
    "#]],
    );
    check_text(
        ResultFormat::Junit,
        "<testsuite failures='2'><testcase name='a'/>",
        expect![[r#"
        1 passed, 2 failed, 0 skipped, and it breaks off
        passed a
    "#]],
    );
    check_text(
        ResultFormat::GoJson,
        "{\"Action\":\"start\",\"Package\":\"p\"}\n",
        expect![[r#"
        0 passed, 0 failed, 0 skipped, and it breaks off
    "#]],
    );
    check_text(
        ResultFormat::Pytest,
        "==== test session starts ====\na.py::b PASSED\n",
        expect![[r#"
            1 passed, 0 failed, 0 skipped, and it breaks off
            passed a.py::b in a.py
        "#]],
    );
}

#[test]
fn output_with_two_runs_or_contradictory_counts_is_marked_as_doubtful() {
    let total = |count: usize| format!("test result: ok. {count} passed; 0 failed; 0 ignored\n");
    let ran = "----------------------------------------------------------------------\nRan 1 test in 0.1s\n\nOK\n";
    for (form, text) in [
        (ResultFormat::Tap, "1..1\nok 1 - a\n1..1\nok 1 - b\n".to_owned()),
        (ResultFormat::Tap, "TAP version 13\nok 1 - a\nTAP version 13\n1..1\n".to_owned()),
        (ResultFormat::Tap, "ok 1 - a\n1..1\nok 2 - b\n".to_owned()),
        (ResultFormat::Tap, "1..1\nok 1 - a\nok 2 - b\n".to_owned()),
        (ResultFormat::Cargo, format!("running 2 tests\ntest a ... ok\n{}", total(3))),
        (
            ResultFormat::Cargo,
            format!("running 1 test\ntest a ... ok\ntest b ... ok\n{}", total(1)),
        ),
        (ResultFormat::Cargo, format!("running 1 test\ntest a ... ok\n{0}{0}", total(1))),
        (ResultFormat::Unittest, format!("test_a (t.T) ... ok\n\n{ran}{ran}")),
        (ResultFormat::Unittest, format!("test_a (t.T) ... ok\n\n{ran}test_b (t.T) ... ok\n")),
        (
            ResultFormat::Pytest,
            "==== test session starts ====\n1 passed in 0.1s\n2 passed in 0.1s\n".to_owned(),
        ),
        (ResultFormat::Report, "{\"run\":\"begin\"}\n{\"run\":\"end\",\"count\":1}\n".to_owned()),
        (
            ResultFormat::Report,
            "{\"run\":\"begin\"}\nok\n{\"run\":\"end\",\"count\":0}\n".to_owned(),
        ),
    ] {
        let tests = read(form, text.as_bytes()).unwrap();
        assert!(tests.doubt.is_some(), "{form:?}: {text}\n{tests:?}");
    }
    for (form, text) in [
        (ResultFormat::Tap, "TAP version 13\nok 1 - a\nok 2 - b\n1..2\n# tests 2\n".to_owned()),
        (ResultFormat::Cargo, format!("running 2 tests\n..\n{}", total(2))),
        (ResultFormat::Unittest, format!("test_a (t.T) ... ok\n\n{ran}")),
    ] {
        assert_eq!(read(form, text.as_bytes()).unwrap().doubt, None, "{form:?}: {text}");
    }
}

#[test]
fn a_report_names_tests_that_began_and_did_not_end() {
    check_text(
        ResultFormat::Report,
        "{\"run\":\"begin\"}\n{\"begun\":\"a\"}\n{\"test\":\"a\",\"file\":\"t.py\",\"outcome\":\"passed\"}\n{\"begun\":\"b\"}\n",
        expect![[r#"
            1 passed, 1 failed, 0 skipped, and it breaks off
            passed a in t.py
            FAILED b
                the test started and did not finish: the code under test ended the whole run
        "#]],
    );
    check_text(
        ResultFormat::GoJson,
        "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"TestA\"}\n{\"Action\":\"pass\",\"Package\":\"p\"}\n",
        expect![[r#"
            0 passed, 1 failed, 0 skipped
            FAILED p > TestA
                the test started and did not finish: the code under test ended the whole run
        "#]],
    );
}

#[test]
fn failures_without_a_name_are_counted_from_the_summary() {
    check_text(
        ResultFormat::Cargo,
        "running 3 tests\ntest a ... ok\ntest result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured\n",
        expect![[r#"
            1 passed, 2 failed, 0 skipped
            passed a
        "#]],
    );
}

#[test]
fn a_binary_without_tests_ran_none() {
    let none = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured\n";
    check_text(
        ResultFormat::Cargo,
        none,
        expect![[r#"
        0 passed, 0 failed, 0 skipped
    "#]],
    );
    check_text(
        ResultFormat::Go,
        "?   \texample.com/shop\t[no test files]\n",
        expect![[r#"
        0 passed, 0 failed, 0 skipped
    "#]],
    );
    check_text(
        ResultFormat::Unittest,
        "\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n",
        expect![[r#"
        0 passed, 0 failed, 0 skipped
    "#]],
    );
    check_text(
        ResultFormat::Tap,
        "1..0 # skip no tests\n",
        expect![[r#"
        0 passed, 0 failed, 0 skipped
    "#]],
    );
}

#[test]
fn only_the_last_try_of_a_test_counts() {
    check_text(
        ResultFormat::Nextest,
        "    Starting 1 test across 1 binary
  TRY 1 FAIL [   0.1s] (───) shop tests::flaky
  TRY 2 PASS [   0.1s] (1/1) shop tests::flaky
     Summary [   0.2s] 1 test run: 1 passed (1 flaky), 0 skipped
   FLAKY 2/3 [   0.1s] (1/1) shop tests::flaky
",
        expect![[r#"
            1 passed, 0 failed, 0 skipped
            passed shop > tests::flaky, 100 ms
        "#]],
    );
}

#[test]
fn colours_do_not_hide_a_result() {
    check_text(
        ResultFormat::Cargo,
        "running 1 test\r\ntest a ... \u{1b}[32mok\u{1b}[m\r\n\r\ntest result: \u{1b}[32mok\u{1b}[m. 1 passed; 0 failed\r\n",
        expect![[r#"
            1 passed, 0 failed, 0 skipped
            passed a
        "#]],
    );
}

#[test]
fn workers_of_xdist_are_left_out_of_names() {
    check_text(
        ResultFormat::Pytest,
        "[gw1] [ 50%] PASSED tests/test_a.py::test_b\n[gw0] [100%] FAILED tests/test_a.py::test_c[x y]\n2 passed in 1.20s\n",
        expect![[r#"
            2 passed, 1 failed, 0 skipped
            passed tests/test_a.py::test_b in tests/test_a.py
            FAILED tests/test_a.py::test_c[x y] in tests/test_a.py
        "#]],
    );
}

#[test]
fn external_entities_of_a_junit_report_are_not_expanded() {
    check_text(
        ResultFormat::Junit,
        "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><testsuite><testcase name='x&b;'>\
         <failure message='&b;'>&b; &lt;</failure></testcase></testsuite>",
        expect![[r#"
            0 passed, 1 failed, 0 skipped
            FAILED x&b;
                &b;
                &b; <
        "#]],
    );
}

#[test]
fn unrelated_program_output_is_not_detected_as_results() {
    for text in
        ["", "ok\n", "all good\n", "{\"a\": 1}\n", "<html/>", "building in 0.5s\n", "PASSED\n"]
    {
        assert_eq!(detect(text.as_bytes()), None, "{text}");
    }
}
