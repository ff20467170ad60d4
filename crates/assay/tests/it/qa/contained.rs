//! The resources that checks of a spec can and cannot reach: checks are code of the implementer.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;

use assay_sandbox::{Enforcement, limits};
use assay_testenv::not_run;

use super::{PLAN, QaFixture, SPEC};

/// The value of keys that a check must not see.
const KEY: &str = "Xq7R2mXc9Vb4Nz8Kp1Lw6Ty3";

/// Runs the loop once for a spec whose test is a command, with variables. Returns true if the
/// command succeeded.
fn succeeds_with(fixture: &QaFixture, command: &str, variables: &[(&str, &str)]) -> bool {
    let tests = format!(
        "if {command}; then word=ok code=0; else word='not ok' code=1; fi\n\
         echo 1..2; echo \"$word 1 - greets\"; echo \"$word 2 - leaves\"; exit $code\n"
    );
    // The tests are those of the main branch, since tests of an implementation are treated
    // differently.
    fixture.repository.write("test.sh", tests);
    fixture.repository.git(&["add", "test.sh"]);
    fixture
        .repository
        .git(&["commit", "--quiet", "--allow-empty", "--message", "tests", "test.sh"]);
    let variables = [variables, &[("MAX_QA_ITERATIONS", "1")]].concat();
    let ran = fixture.qa_with(&["--resume", "--base", "HEAD"], &variables);
    match ran.code {
        0 => fixture.is_approved(),
        4 => {
            let failed = ("unit_test".to_owned(), "Test fails: greets".to_owned());
            assert!(fixture.issues().contains(&failed), "{}", ran.stdout);
        }
        code => panic!("{code}: {}{}", ran.stdout, ran.stderr),
    }
    ran.code == 0
}

/// Runs the loop once for a spec whose test is a command. Returns true if the command succeeded.
fn succeeds(fixture: &QaFixture, command: &str) -> bool {
    succeeds_with(fixture, command, &[])
}

#[test]
fn a_check_writes_nowhere_but_into_its_tree() {
    let fixture = QaFixture::with_fixer("");
    fixture.repository.write(".gitignore", "made\n");
    assert!(succeeds(&fixture, "echo x > made && echo x > \"$TMPDIR/made\""));
    if limits().files == Enforcement::None {
        not_run::record("this kernel limits no files");
        return;
    }
    let outside = fixture.aside("made");
    for way in ["echo x >", "mkdir", "ln -s /", "cp test.sh", "mv made"] {
        assert!(!succeeds(&fixture, &format!("{way} '{}'", outside.display())), "{way}");
        assert!(outside.symlink_metadata().is_err(), "{way}");
    }
    fs::write(&outside, "mine").unwrap();
    for way in ["rm", "echo x >>", "truncate -s 0", "chmod -x test.sh && mv -f made"] {
        assert!(!succeeds(&fixture, &format!("{way} '{}'", outside.display())), "{way}");
        assert_eq!(fs::read_to_string(&outside).unwrap(), "mine", "{way}");
    }
}

#[test]
fn a_check_reads_no_secrets_of_the_home() {
    let fixture = QaFixture::with_fixer("");
    let home = fixture.aside("home");
    fs::create_dir_all(home.join(".ssh")).unwrap();
    fs::write(home.join(".ssh/id_rsa"), format!("{KEY}\n")).unwrap();
    fs::write(home.join("note"), "open\n").unwrap();
    let variables = [("HOME", home.to_str().unwrap())];
    assert!(succeeds_with(&fixture, "cat ~/note", &variables));
    if limits().reading == Enforcement::None {
        not_run::record("this kernel hides no files");
        return;
    }
    for way in ["cat ~/.ssh/id_rsa", "ls ~/.ssh", "cp -r ~/.ssh \"$TMPDIR\""] {
        assert!(!succeeds_with(&fixture, way, &variables), "{way}");
    }
    assert!(!fixture.artifact("qa_journal.jsonl").contains(KEY));
}

#[test]
fn a_check_has_a_network_only_if_the_spec_allows_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
    let allowed = SPEC.replacen("- All pass\n", "- All pass\n- Network: allowed\n", 1);
    let fixture = QaFixture::with(&allowed, PLAN, "", "");
    assert!(succeeds(&fixture, &connect));
    assert!(listener.accept().is_ok());
    if limits().network == Enforcement::None {
        not_run::record("this kernel limits no network");
        return;
    }
    let fixture = QaFixture::with_fixer("");
    assert!(!succeeds(&fixture, &connect));
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

/// Returns true if a background process of a check is gone, by the pid that it wrote.
fn has_ended(fixture: &QaFixture) -> bool {
    let number = fs::read_to_string(fixture.repository.file("number")).unwrap();
    let state = fs::read_to_string(format!("/proc/{}/stat", number.trim())).unwrap_or_default();
    state.is_empty() || state.contains(") Z ")
}

#[test]
fn background_processes_of_a_check_are_ended() {
    let fixture = QaFixture::with_fixer("");
    fixture.repository.write(".gitignore", "number\n");
    let script = "echo $$ > number; exec sleep 600";
    fixture.repository.write("stay.sh", script);
    let wait = "while ! [ -s number ]; do :; done";
    assert!(succeeds(&fixture, &format!("sh stay.sh & {wait}")));
    assert!(has_ended(&fixture));
    if limits().processes != Enforcement::Full {
        not_run::record("this system has no control groups for us");
        return;
    }
    fixture.repository.remove("number");
    assert!(succeeds(&fixture, &format!("setsid sh stay.sh > /dev/null 2>&1 & {wait}; true")));
    assert!(has_ended(&fixture));
}

#[test]
fn a_check_with_endless_output_is_stopped_and_little_of_it_is_stored() {
    let fixture = QaFixture::with(SPEC, PLAN, "", "  check_seconds: 1\n");
    fixture.repository.write("test.sh", "yes 'ok 1 - greets'\n");
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
    let (kind, title) = fixture.issues().pop().unwrap();
    assert_eq!(kind, "unit_test");
    // Either limit may apply first.
    let fails = title.starts_with("Timed out: ") || title.starts_with("Fails: ");
    assert!(fails, "{title}");
    for artifact in ["qa_journal.jsonl", "qa_report.md", "implementation_plan.json"] {
        let length = fixture.artifact(artifact).len();
        assert!(length < 200_000, "{artifact} has {length} bytes");
    }
}

#[test]
fn a_check_inherits_no_key() {
    let fixture = QaFixture::with_fixer("");
    let names = [
        "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "LINEAR_API_KEY",
        "AWS_SECRET_ACCESS_KEY", "DATABASE_URL",
    ];
    let variables = names.map(|name| (name, KEY));
    assert!(succeeds_with(&fixture, &format!("! env | grep {KEY}"), &variables));
    assert!(!fixture.artifact("qa_journal.jsonl").contains(KEY));
    if limits().reading == Enforcement::None {
        not_run::record("this kernel hides no files");
        return;
    }
    // The check cannot read the keys of the process that runs it either.
    let look = format!("! cat /proc/[0-9]*/environ 2> /dev/null | grep -a {KEY}");
    assert!(succeeds_with(&fixture, &look, &variables));
}
