//! Options of a run: `--verbose`, a model by name, switches in `.env`; and the message for
//! a project without tests.

use std::net::TcpListener;

use super::e2e::{FLOWS, OWN, issue, plan};
use super::models::{KEY, with_model};
use super::{FIX, PLAN, QaFixture, SPEC};

#[test]
fn verbose_prints_the_output_of_checks_and_the_evidence() {
    let fixture = QaFixture::with(SPEC, PLAN, &format!("{FIX}\n"), "");
    let ran = fixture.ends(0, &["--verbose"]);
    assert!(ran.stdout.contains("not ok 2 - leaves"), "{}", ran.stdout);
    assert!(ran.stdout.contains("met       `greets` passes (`greets` passed in"), "{}", ran.stdout);
}

#[test]
fn an_unknown_model_is_an_error_before_anything_runs() {
    let fixture = QaFixture::with(SPEC, PLAN, "true\n", "");
    let ran = fixture.ends(2, &["--model", "nosuch"]);
    assert!(ran.stderr.contains("unknown model `nosuch`"), "{}", ran.stderr);
    assert!(!fixture.has_artifact("qa_journal.jsonl"), "nothing was run");
    // A model that is named as its provider names it needs no configuration, but a key.
    let ran = fixture.ends(3, &["--model", "claude-sonnet-4-5-20250929"]);
    assert!(ran.stdout.contains("`anthropic/claude-sonnet-4-5-20250929`: missing key"));
}

#[test]
fn reviewing_and_fixing_use_their_own_models() {
    let (fixture, server) = with_model("goodbye friend");
    let url = server.url();
    let named = |name: &str| {
        format!(
            "    {name}: {{ api: anthropic, model: {name}-1, url: \"{url}\", key_env: FAKE_KEY }}\n"
        )
    };
    let config = format!(
        "models:\n  use:\n{}{}{}  phases:\n    qa: {{ model: judge, thinking: 2000 }}\n    coder: {{ model: mender, thinking: 1500 }}\n",
        named("fake"),
        named("judge"),
        named("mender")
    );
    fixture.repository.write("config/agent-framework.yaml", config);
    fixture.repository.git(&["commit", "--quiet", "--message", "phases", "config"]);
    fixture.ends_with(0, &[], &[("FAKE_KEY", KEY)]);
    let requests = server.requests();
    let bodies: Vec<String> =
        requests.iter().map(|asked| String::from_utf8_lossy(&asked.body).into_owned()).collect();
    let of = |name: &str| bodies.iter().filter(|body| body.contains(name)).collect::<Vec<_>>();
    assert!(of("fake-1").is_empty() && !of("judge-1").is_empty(), "{}", bodies.len());
    let fix_requests = of("mender-1");
    assert!(
        !fix_requests.is_empty() && fix_requests.iter().all(|body| body.contains("You fix code"))
    );
}

#[test]
fn switches_are_also_read_from_the_env_file() {
    let fixture = QaFixture::with(SPEC, &plan(&["Order tea"], &[]), "", "");
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    fixture.repository.write(OWN, FLOWS);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let switches =
        format!("# The app\nELECTRON_MCP_ENABLED=true\nexport ELECTRON_DEBUG_PORT=\"{port}\"\n");
    fixture.repository.write(".env", switches);
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
    let (title, why) = issue(&fixture);
    assert_eq!(title, "Not run: e2e: Order tea");
    assert!(why.contains(&port.to_string()), "{why}");
}

#[test]
fn a_project_without_tests_is_reported_and_gets_a_manual_plan_with_steps() {
    let fixture = QaFixture::bare();
    fixture.configure("true\n", "");
    fixture.repository.commit("before");
    let spec = "## Acceptance Criteria\n\n- [ ] The function `pay` exists in `pay.py`\n\n## Verification\n\n**E2E Tests:**\n- Manual: Register → Verify email → Login\n";
    fixture.repository.write("specs/001-pay/spec.md", spec);
    let plan =
        PLAN.replacen('{', r#"{"verification_strategy": {"e2e_tests": {"required": true}},"#, 1);
    fixture.repository.write("specs/001-pay/implementation_plan.json", plan);
    fixture.repository.write("pay.py", "def pay(total):\n    return total\n");
    fixture.ends(4, &[]);
    assert_eq!(fixture.ending()["ending"], "awaits_sign_off");
    assert!(fixture.artifact("qa_report.md").contains("`no_test_project`"));
    let manual = fixture.artifact("MANUAL_TEST_PLAN.md");
    let steps =
        "2. [ ] Register → Verify email → Login\n   - Register\n   - Verify email\n   - Login\n";
    assert!(manual.contains(steps), "{manual}");
    fixture.ends(0, &["--sign-off", "Ada"]);
    fixture.is_approved();
    let again = fixture.ends(2, &["--sign-off", "Ada"]);
    assert!(again.stderr.contains("approved already"), "{}", again.stderr);
}
