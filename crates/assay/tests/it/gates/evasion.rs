//! Attempts to evade a gate.

use std::fs;

use super::{PLAN, gate, with_plan};

const CONFLICT: &str = "<<<<<<< ours\nx = 1\n=======\nx = 2\n>>>>>>> theirs\n";

#[test]
fn code_named_as_the_plan_or_in_the_state_folder_is_still_checked() {
    let repository = with_plan(PLAN);
    repository.commit("all of it");
    repository.write("greet.py", CONFLICT);
    let run = |args: &[&str]| gate(&repository, &[&["run", "--phase", "impl-code"], args].concat());
    assert_eq!(run(&["--plan", "greet.py", "--state-dir", "a"]).code, 2, "that is no plan");
    repository.remove("greet.py");
    repository.write("src/bad.py", CONFLICT);
    assert_eq!(run(&["--state-dir", "src"]).code, 1, "{}", run(&["--state-dir", "src"]).stdout);
}

#[test]
fn a_state_tracked_in_git_is_refused_for_every_spelling_of_its_path() {
    let repository = with_plan(PLAN);
    let run = ["run", "--phase", "plan-structure", "--plan", "plan.md", "--state-dir", "st"];
    assert_eq!(gate(&repository, &run).code, 0);
    repository.commit("with its own verdict");
    let absolute = repository.file("st").display().to_string();
    for folder in ["st", "./st", absolute.as_str(), "st/../st"] {
        let ran =
            gate(&repository, &["verify", "--phase", "plan-structure", "--state-dir", folder]);
        assert_eq!(ran.code, 2, "{folder}: {}", ran.stdout);
        assert!(ran.stderr.contains("is tracked in git"), "{}", ran.stderr);
    }
}

#[test]
fn a_fixer_cannot_change_the_gate_configuration_of_its_run() {
    let repository = with_plan(&PLAN.replace("- `README` mentions `greet`\n", "- it works\n"));
    repository.write("config/agent-framework.yaml", "gates:\n  fixer:\n    run: [sh, fixer.sh]\n");
    let script = "cat > /dev/null\nprintf 'gates:\\n  should_until: 0\\n  may_until: 0\\n  fixer:\\n    \
                  run: [sh, fixer.sh]\\n' > config/agent-framework.yaml\n\
                  git commit --quiet --all --message x\necho >> plan.md\necho more >> plan.md\n";
    repository.write("fixer.sh", script);
    repository.commit("a fixer");
    let ran = gate(&repository, &["run", "--phase", "plan-structure", "--plan", "plan.md"]);
    let rounds = ran.stdout.matches("VERIFICATION COMPLETE").count();
    let waived = ran.stdout.split("VERIFICATION COMPLETE").nth(2).unwrap_or_default();
    assert!(rounds > 2 && waived.contains("Status: FAIL"), "{}", ran.stdout);
}

#[test]
fn a_list_belongs_to_the_plan_that_it_was_made_from() {
    let repository = with_plan(PLAN);
    repository.write("other.md", format!("{PLAN}\n"));
    let step = |args: &[&str]| gate(&repository, &[args, &["--phase", "plan-structure"]].concat());
    assert_eq!(step(&["run", "--plan", "plan.md"]).code, 0);
    let other = step(&["verify", "--plan", "other.md"]);
    assert_eq!(other.code, 2, "{}", other.stdout);
    assert!(
        other.stderr.contains("this list was built for the plan `plan.md`"),
        "{}",
        other.stderr
    );
    assert_eq!(step(&["decompose", "--again", "--plan", "other.md"]).code, 0);
    assert_eq!(step(&["verify"]).code, 0);
}

#[test]
fn added_blank_lines_do_not_count_as_a_new_attempt() {
    let repository = with_plan(&PLAN.replace("- `README` mentions `greet`\n", "- it works\n"));
    let step = |args: &[&str]| gate(&repository, &[args, &["--phase", "plan-structure"]].concat());
    assert_eq!(step(&["run", "--plan", "plan.md"]).code, 1);
    for _ in 0..6 {
        let plan = fs::read_to_string(repository.file("plan.md")).unwrap();
        repository.write("plan.md", format!("{plan}\n\n"));
        assert_eq!(step(&["verify"]).code, 1);
    }
    assert_eq!(step(&["status", "--format", "json"]).json()["iteration"], 1);
}

#[test]
fn content_that_changes_during_verification_does_not_pass() {
    let repository = with_plan(PLAN);
    repository.commit("the plan");
    let config = "gates:\n  verifiers:\n    - name: slow\n      phases: [impl-code]\n      \
                  check: It is not broken\n      run: [sh, slow.sh]\n";
    repository.write("config/agent-framework.yaml", config);
    // The verifier changes the file after it has checked it.
    repository.write("slow.sh", "! grep -q BROKEN greet.py && echo '# BROKEN' >> greet.py\n");
    repository.commit("a verifier");
    repository.write("greet.py", "def greet(name):\n    return f\"hello {name}\"\n");
    let step = |args: &[&str]| gate(&repository, &[args, &["--phase", "impl-code"]].concat());
    let ran = step(&["run"]);
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(step(&["verify"]).code, 1, "it is broken now");
}

#[test]
fn configured_verifiers_run_even_for_a_list_without_the_checklist() {
    let repository = with_plan(PLAN);
    repository.write("items.json", r#"[{"id": "a", "scope": "*", "check": "c"}]"#);
    let config = "gates:\n  verifiers:\n    - name: never\n      phases: [plan-structure]\n      \
                  check: It never holds\n      run: [\"false\"]\n";
    let step = |args: &[&str]| gate(&repository, &[args, &["--phase", "plan-structure"]].concat());
    let list = ["decompose", "--plan", "plan.md", "--items", "items.json", "--only-items"];
    assert_eq!(step(&list).code, 0);
    assert_eq!(step(&["update-item", "a", "--status", "PASS"]).code, 0);
    assert_eq!(step(&["verify"]).code, 3, "the built-in checklist was left out");
    repository.write("config/agent-framework.yaml", config);
    let ran = step(&["verify"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("`never` exited with code 1"), "{}", ran.stdout);
}

#[test]
fn a_secret_in_a_finding_is_not_stored() {
    let repository = with_plan(PLAN);
    repository.write("items.json", r#"[{"id": "a", "scope": "*", "check": "c"}]"#);
    let step = |args: &[&str]| gate(&repository, &[args, &["--phase", "plan-structure"]].concat());
    let list = ["decompose", "--plan", "plan.md", "--items", "items.json", "--only-items"];
    assert_eq!(step(&list).code, 0);
    let secret = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let finding = format!("it has the token {secret} in it");
    assert_eq!(step(&["update-item", "a", "--status", "FAIL", "--finding", &finding]).code, 0);
    let list = fs::read_to_string(repository.file(".assay/gates/qr-plan-structure.json")).unwrap();
    assert!(!list.contains(&secret), "{list}");
    assert!(!step(&["status", "--format", "json"]).stdout.contains(&secret));
}
