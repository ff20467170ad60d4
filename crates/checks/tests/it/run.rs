//! Checks that are run for real, in small trees.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use assay_base::clock::Deadline;
use assay_checks::check::{CheckKind, CheckOutcome, CheckState, RequiredCheck};
use assay_checks::command::CommandLine;
use assay_checks::coverage::LineRanges;
use assay_checks::discovery::ResultSource;
use assay_checks::results::ResultFormat;
use assay_checks::run::{CheckLimits, Runner};
use assay_sandbox::{Enforcement, limits, secrets_in_home};
use assay_testenv::not_run;
use expect_test::{Expect, expect};

/// Returns a unit check of a command.
pub(crate) fn check_of(command: &str) -> RequiredCheck {
    RequiredCheck {
        name: format!("unit: {command}"),
        kind: CheckKind::Unit,
        also: Vec::new(),
        command: CommandLine::parse(command).unwrap(),
        folder: String::new(),
        reading: ResultSource::Guess,
        coverage: Vec::new(),
        minimum_coverage: None,
        expect: None,
        network: false,
    }
}

pub(crate) fn runner(root: &Path) -> Runner {
    let time = Duration::from_secs(120);
    Runner::new(root)
        .limits(CheckLimits { time, ..CheckLimits::default() })
        .search_path(std::env::var_os("PATH").unwrap())
}

fn run(check: &RequiredCheck) -> CheckOutcome {
    let tree = tempfile::tempdir().unwrap();
    runner(tree.path()).run(check)
}

/// Formats an outcome, without the parts that differ from run to run.
pub(crate) fn shown(outcome: &CheckOutcome) -> String {
    let state = match &outcome.state {
        CheckState::Passed => "passed".to_owned(),
        CheckState::Failed { why } => format!("FAILED: {why}"),
        CheckState::NotRun { why } => format!("NOT RUN: {why}"),
        CheckState::TimedOut => "TIMED OUT".to_owned(),
    };
    let mut text = format!("{state}\n");
    if let Some(tests) = &outcome.tests {
        let totals = tests.totals;
        text.push_str(&format!(
            "  {} passed, {} failed, {} skipped\n",
            totals.passed, totals.failed, totals.skipped
        ));
    }
    if let Some(coverage) = &outcome.coverage {
        text.push_str(&format!(
            "  {} covered, {} of changed lines\n",
            coverage.total, coverage.changed
        ));
    }
    outcome.notes.iter().for_each(|note| text.push_str(&format!("  {note}\n")));
    text
}

fn check(commands: &[&str], expect: Expect) {
    let observed: Vec<String> = commands
        .iter()
        .map(|command| format!("{command}: {}", shown(&run(&check_of(command)))))
        .collect();
    expect.assert_eq(&observed.concat());
}

#[test]
fn the_state_of_a_check_without_results_follows_from_its_exit() {
    check(
        &[
            "true", "echo fine", "false", "echo broken >&2; exit 3", "kill -9 $$",
            "no-such-program", "no-such-program; exit $?", "./not-there", "exit 0",
        ],
        expect![[r#"
            true: passed
              the check reports no test results: only its exit code counts
            echo fine: passed
              the check reports no test results: only its exit code counts
            false: FAILED: the command exited with code 1 without output
            echo broken >&2; exit 3: FAILED: the command exited with code 3: broken
            kill -9 $$: FAILED: the command was killed by signal 9
            no-such-program: NOT RUN: cannot start `no-such-program`: it is not installed, or not on `PATH`
            no-such-program; exit $?: NOT RUN: a dependency of the command is missing: sh: 1: no-such-program: not found
            ./not-there: NOT RUN: cannot start `./not-there`: it is not installed, or not on `PATH`
            exit 0: NOT RUN: cannot start `exit`: it is not installed, or not on `PATH`
        "#]],
    );
}

#[test]
fn the_state_of_a_check_with_results_follows_from_its_tests_and_exit_code() {
    let ends = |end: &str, code| {
        format!("printf 'running 2 tests\\ntest a ... ok\\n{end}\\n'; exit {code}")
    };
    let cases = [
        ends("test b ... ok\\n\\ntest result: ok. 2 passed; 0 failed; 0 ignored", 0),
        ends("test b ... FAILED\\n\\ntest result: FAILED. 1 passed; 1 failed; 0 ignored", 101),
        // An exit code that contradicts the results does not count.
        ends("test b ... FAILED\\n\\ntest result: FAILED. 1 passed; 1 failed; 0 ignored", 0),
        ends("test b ... ok\\n\\ntest result: ok. 2 passed; 0 failed; 0 ignored", 1),
        ends("", 0),
        "printf 'running 0 tests\\n\\ntest result: ok. 0 passed; 0 failed; 0 ignored\\n'"
            .to_owned(),
        "printf 'no tests ran in 0.01s\\n'; exit 5".to_owned(),
        "printf '1 skipped in 0.01s\\n'".to_owned(),
    ];
    let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
    check(
        &cases,
        expect![[r#"
            printf 'running 2 tests\ntest a ... ok\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored\n'; exit 0: passed
              2 passed, 0 failed, 0 skipped
            printf 'running 2 tests\ntest a ... ok\ntest b ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n'; exit 101: FAILED: 1 of 2 tests failed
              1 passed, 1 failed, 0 skipped
            printf 'running 2 tests\ntest a ... ok\ntest b ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n'; exit 0: FAILED: 1 of 2 tests failed
              1 passed, 1 failed, 0 skipped
            printf 'running 2 tests\ntest a ... ok\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored\n'; exit 1: FAILED: the command exited with code 1: test result: ok. 2 passed; 0 failed; 0 ignored
              2 passed, 0 failed, 0 skipped
            printf 'running 2 tests\ntest a ... ok\n\n'; exit 0: FAILED: the test results are truncated: the run ended before all tests finished, or the code under test ended it
              1 passed, 0 failed, 0 skipped
            printf 'running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored\n': NOT RUN: no test ran
              0 passed, 0 failed, 0 skipped
            printf 'no tests ran in 0.01s\n'; exit 5: NOT RUN: no test ran
              0 passed, 0 failed, 0 skipped
            printf '1 skipped in 0.01s\n': NOT RUN: no test ran
              0 passed, 0 failed, 1 skipped
        "#]],
    );
}

#[test]
fn a_check_that_must_report_results_does_not_pass_without_them() {
    let silent =
        RequiredCheck { reading: ResultSource::Printed(ResultFormat::Cargo), ..check_of("true") };
    expect![[r#"
        NOT RUN: the command exited with code 0 without test results
    "#]]
    .assert_eq(&shown(&run(&silent)));
    let build = RequiredCheck { reading: ResultSource::Nothing, ..check_of("true") };
    expect![[r#"
        passed
          the check reports no test results: only its exit code counts
    "#]]
    .assert_eq(&shown(&run(&build)));
}

/// Returns a check whose results are in a file.
fn writing(script: &str, glob: &str) -> RequiredCheck {
    let reading = ResultSource::Files { form: ResultFormat::Junit, glob: glob.to_owned() };
    RequiredCheck { reading, command: CommandLine::script(script), ..check_of("true") }
}

const SUITE: &str = "<testsuite><testcase name=\"a\"/></testsuite>";

#[test]
fn results_are_read_from_files_that_the_check_wrote() {
    let one = format!("printf '{SUITE}' > {{reports}}/a.xml");
    expect![[r#"
        passed
          1 passed, 0 failed, 0 skipped
    "#]]
    .assert_eq(&shown(&run(&writing(&one, "{reports}/a.xml"))));
    let two = format!(
        "mkdir -p m/target/reports; for n in 1 2; do printf '{SUITE}' > m/target/reports/TEST-$n.xml; done"
    );
    expect![[r#"
        passed
          2 passed, 0 failed, 0 skipped
    "#]]
    .assert_eq(&shown(&run(&writing(&two, "**/target/{reports,x}/TEST-*.xml"))));
    expect![[r#"
        FAILED: the test results are truncated: the run ended before all tests finished, or the code under test ended it
          0 passed, 0 failed, 0 skipped
          the results in `a.xml` are truncated
    "#]]
    .assert_eq(&shown(&run(&writing("printf '<testsuite><testcase' > a.xml", "a.xml"))));
    expect![[r#"
        NOT RUN: the command exited with code 0 without a report and without test results: the run was interrupted, or another program ran
          cannot parse the results in `a.xml`
    "#]]
    .assert_eq(&shown(&run(&writing("echo hello > a.xml", "a.xml"))));
}

#[test]
fn a_report_of_an_earlier_run_is_ignored() {
    let tree = tempfile::tempdir().unwrap();
    fs::write(tree.path().join("a.xml"), SUITE).unwrap();
    expect![[r#"
        NOT RUN: the command exited with code 0 without a report and without test results: the run was interrupted, or another program ran
    "#]]
    .assert_eq(&shown(&runner(tree.path()).run(&writing("true", "a.xml"))));
}

fn covering(script: &str, minimum: Option<f64>) -> RequiredCheck {
    RequiredCheck {
        kind: CheckKind::Coverage,
        command: CommandLine::script(script),
        coverage: vec!["{reports}/*.info".to_owned()],
        minimum_coverage: minimum,
        ..check_of("true")
    }
}

#[test]
fn a_coverage_check_fails_below_its_minimum() {
    let tree = tempfile::tempdir().unwrap();
    let changed = [("a.py".to_owned(), LineRanges::from_iter([2_u32]))].into();
    let runner = runner(tree.path()).change(["a.py".to_owned()], changed);
    let report = "printf 'SF:a.py\\nDA:1,1\\nDA:2,0\\nend_of_record\\n' > {reports}/a.info";
    let observed = |check: RequiredCheck| shown(&runner.run(&check));
    expect![[r#"
        passed
          50.0% covered, 0.0% of changed lines
    "#]]
    .assert_eq(&observed(covering(report, Some(50.0))));
    expect![[r#"
        FAILED: coverage is 50.0%, below the minimum of 50.1%
          50.0% covered, 0.0% of changed lines
    "#]]
    .assert_eq(&observed(covering(report, Some(50.1))));
    expect![[r#"
        passed
          50.0% covered, 0.0% of changed lines
    "#]]
    .assert_eq(&observed(covering(report, None)));
    expect![[r#"
        NOT RUN: the check wrote no readable coverage report
    "#]]
    .assert_eq(&observed(covering("true", Some(1.0))));
    expect![[r#"
        NOT RUN: the check wrote no readable coverage report
          `a.info`: the lcov report is invalid or truncated
    "#]]
    .assert_eq(&observed(covering("echo SF:a.py > {reports}/a.info", Some(1.0))));
}

#[test]
fn a_check_that_takes_too_long_is_ended() {
    let tree = tempfile::tempdir().unwrap();
    let time = Duration::from_millis(300);
    let runner = runner(tree.path()).limits(CheckLimits { time, ..CheckLimits::default() });
    let outcome = runner.run(&check_of("echo started; sleep 600 & sleep 600"));
    assert_eq!(outcome.state, CheckState::TimedOut);
    assert_eq!((outcome.tail.as_str(), outcome.exit_code), ("started\n", None));
}

#[test]
fn a_check_that_starts_after_the_deadline_of_its_run_gets_one_second() {
    let tree = tempfile::tempdir().unwrap();
    let deadline = Some(Deadline::after(Duration::ZERO));
    let runner = runner(tree.path()).limits(CheckLimits { deadline, ..CheckLimits::default() });
    assert_eq!(runner.run(&check_of("sleep 600")).state, CheckState::TimedOut);
    assert_eq!(runner.run(&check_of("true")).state, CheckState::Passed);
}

#[test]
fn the_end_of_long_output_is_kept_and_output_over_the_limit_ends_the_check() {
    let much = run(&check_of("yes | head -c 3000000; echo the end"));
    assert!(much.is_pass() && much.tail.len() <= 8 << 10 && much.tail.ends_with("the end\n"));
    assert_eq!(much.output_bytes, 3_000_008);
    let tree = tempfile::tempdir().unwrap();
    let small = CheckLimits { output: 1_000, ..CheckLimits::default() };
    let outcome = runner(tree.path()).limits(small).run(&check_of("yes"));
    assert_eq!(shown(&outcome), "FAILED: `yes` printed more than 1000 bytes and was stopped\n");
}

#[test]
fn the_same_output_has_the_same_digest() {
    let digest = |command: &str| run(&check_of(command)).output_digest;
    assert_eq!(digest("echo a"), digest("printf 'a\\n'"));
    assert_ne!(digest("echo a"), digest("echo a >&2"));
}

#[test]
fn a_check_inherits_no_variables_and_has_its_own_temporary_folder() {
    // Cargo sets this variable for tests.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let outcome =
        run(&check_of("echo \"<$CARGO_MANIFEST_DIR> $CI\"; : > \"$TMPDIR/x\" && echo \"$TMPDIR\""));
    assert!(outcome.is_pass());
    let (observed, temporary) = outcome.tail.trim().split_once('\n').unwrap();
    assert_eq!(observed, "<> true");
    assert!(temporary.contains("assay-check-") && !Path::new(temporary).exists(), "{temporary}");
}

#[test]
fn variables_in_front_of_a_command_are_set() {
    let outcome = run(&check_of("A='b c' CI=no sh -c 'echo $A $CI'"));
    assert_eq!(outcome.tail, "b c no\n");
}

#[test]
fn a_check_writes_into_its_tree_and_nowhere_else() {
    let outside = tempfile::tempdir().unwrap();
    let inside = run(&check_of("touch here && mkdir -p a/b && touch a/b/c && mv here a/there"));
    assert!(inside.is_pass(), "{}", inside.tail);
    if limits().files == Enforcement::None {
        not_run::record("this kernel limits no files");
        return;
    }
    let file = outside.path().join("file");
    let outcome = run(&check_of(&format!("touch {}", file.display())));
    assert!(!outcome.is_pass() && !file.exists());
    let tree = tempfile::tempdir().unwrap();
    let outcome = runner(tree.path())
        .writable([outside.path()])
        .run(&check_of(&format!("touch {}", file.display())));
    assert!(outcome.is_pass() && file.exists());
}

#[test]
fn a_check_has_a_network_only_if_it_may() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = check_of(&format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'"));
    assert!(run(&RequiredCheck { network: true, ..connect.clone() }).is_pass());
    if limits().network == Enforcement::None {
        not_run::record("this kernel limits no network");
        return;
    }
    assert!(!run(&connect).is_pass());
}

/// Creates a home with secrets in it. All other files link to the home of the user who runs the
/// test, so that tools are found.
pub(crate) fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let own = std::env::home_dir().unwrap();
    let secrets = secrets_in_home(&own);
    for entry in fs::read_dir(&own).into_iter().flatten().flatten() {
        if !secrets.contains(&entry.path()) && entry.file_name() != "note" {
            symlink(entry.path(), home.path().join(entry.file_name())).unwrap();
        }
    }
    for folder in [".ssh", ".codex"] {
        fs::create_dir(home.path().join(folder)).unwrap();
    }
    for file in [".ssh/id", ".npmrc", ".netrc", ".codex/auth.json"] {
        fs::write(home.path().join(file), "secret\n").unwrap();
    }
    fs::write(home.path().join("note"), "open\n").unwrap();
    home
}

#[test]
fn a_check_reads_no_secrets_of_its_home() {
    let (tree, home, elsewhere) =
        (tempfile::tempdir().unwrap(), home(), tempfile::tempdir().unwrap());
    let token = elsewhere.path().join("credentials.toml");
    fs::write(&token, "secret\n").unwrap();
    fs::write(elsewhere.path().join("config.toml"), "open\n").unwrap();
    let runner = runner(tree.path()).home(home.path()).hidden([&token]);
    let at = elsewhere.path().display();
    let observed = |command: &str| {
        let outcome = runner.run(&check_of(command));
        (outcome.is_pass(), outcome.tail.contains("secret"))
    };
    for command in ["cat ~/note", &format!("cat {at}/config.toml"), "touch here; cat here; ls ."] {
        assert_eq!(observed(&format!("sh -c '{command}'")), (true, false), "{command}");
    }
    if limits().reading == Enforcement::None {
        not_run::record("this kernel hides no files");
        return;
    }
    let ways = ["cat ~/.ssh/id", "ls ~/.ssh", "cat ~/.npmrc", "cat ~/.netrc", "cat ~/.codex/*"];
    for command in ways.into_iter().chain([&*format!("cat {at}/credentials.toml")]) {
        assert_eq!(observed(&format!("sh -c '{command}'")), (false, false), "{command}");
    }
    // A tool of the repository that starts other programs.
    let nested = "ln -s ~/.ssh keys; sh -c 'cat keys/id & wait $!; cat ~/.netrc; true'; ls";
    assert_eq!(observed(nested), (true, false));
}

#[test]
fn a_check_cannot_read_the_environment_of_the_assay_process() {
    let (tree, home) = (tempfile::tempdir().unwrap(), home());
    let runner = runner(tree.path()).home(home.path());
    let read =
        |what: &str| runner.run(&check_of(&format!("cat /proc/{}/{what}", std::process::id())));
    assert!(read("cmdline").is_pass());
    if limits().reading == Enforcement::None {
        not_run::record("this kernel hides no files");
        return;
    }
    let outcome = read("environ");
    assert!(!outcome.is_pass() && outcome.tail.contains("denied"), "{}", outcome.tail);
}

#[test]
fn a_check_runs_inside_of_its_tree() {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir_all(tree.path().join("backend")).unwrap();
    symlink("/", tree.path().join("away")).unwrap();
    let at = |folder: &str| {
        let check = RequiredCheck { folder: folder.to_owned(), ..check_of("pwd") };
        runner(tree.path()).run(&check)
    };
    assert!(at("backend").tail.trim().ends_with("/backend"));
    for folder in ["..", "away", "missing", "/etc"] {
        assert_eq!(
            shown(&at(folder)),
            format!("NOT RUN: there is no folder `{folder}` in the tree\n")
        );
    }
}

#[test]
fn programs_of_the_project_come_first() {
    use std::os::unix::fs::PermissionsExt;
    let tree = tempfile::tempdir().unwrap();
    let folder = tree.path().join("frontend/node_modules/.bin");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("own-tool"), "#!/bin/sh\necho mine\n").unwrap();
    fs::set_permissions(folder.join("own-tool"), fs::Permissions::from_mode(0o755)).unwrap();
    let check = RequiredCheck { folder: "frontend".to_owned(), ..check_of("own-tool") };
    assert_eq!(runner(tree.path()).run(&check).tail, "mine\n");
}

#[test]
fn a_check_outcome_survives_serialization() {
    let outcome = run(&check_of("printf 'running 1 test\\ntest a ... FAILED\\n'; exit 1"));
    let json = serde_json::to_string(&outcome).unwrap();
    assert_eq!(serde_json::from_str::<CheckOutcome>(&json).unwrap(), outcome);
    let state = serde_json::to_value(&outcome).unwrap()["state"].clone();
    assert_eq!(state, "failed");
}

#[test]
fn a_fork_bomb_in_a_check_is_contained() {
    if limits().processes == Enforcement::None {
        not_run::record("this system bounds no processes");
        return;
    }
    let tree = tempfile::tempdir().unwrap();
    let few =
        CheckLimits { processes: 20, time: Duration::from_secs(60), ..CheckLimits::default() };
    let bomb = "i=0; while [ $i -lt 100 ]; do sleep 600 & i=$((i+1)); done; echo all";
    let outcome = runner(tree.path()).limits(few).run(&check_of(bomb));
    assert!(!outcome.tail.contains("all"), "{}", outcome.tail);
}

#[test]
fn test_files_are_named_relative_to_the_root() {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir(tree.path().join("web")).unwrap();
    let root = tree.path().canonicalize().unwrap();
    for name in [format!("{}/web/a.test.js", root.display()), "a.test.js".to_owned()] {
        let json = format!(
            r#"{{"numTotalTests": 1, "testResults": [{{"name": "{name}", "assertionResults": [{{"title": "adds", "status": "passed"}}]}}]}}"#
        );
        fs::write(tree.path().join("web/results.json"), json).unwrap();
        let check = RequiredCheck {
            folder: "web".to_owned(),
            reading: ResultSource::Printed(ResultFormat::Jest),
            ..check_of("cat results.json")
        };
        let tests = runner(tree.path()).run(&check).tests.unwrap();
        assert_eq!(tests.results[0].file.as_deref(), Some("web/a.test.js"));
    }
}
