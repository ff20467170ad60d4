//! Runs from end to end, with commands that verify and fix.

use std::fs;

use assay_testkit::Repository;

use super::{PLAN, faulty, gate, with_plan};

/// Configures a fixer that writes one version of the plan after the other.
fn with_fixer(repository: &Repository, versions: &[&str]) {
    for (number, version) in (1..).zip(versions) {
        repository.write(format!("versions/{number}.md"), version);
    }
    repository.write("versions/0", "");
    let script = "cat > guidance.txt\nn=$(($(wc -c < versions/0) + 1))\nprintf x >> versions/0\n\
                  test -f versions/$n.md && cp versions/$n.md plan.md\ntrue\n";
    repository.write("fixer.sh", script);
    repository.write("config/agent-framework.yaml", "gates:\n  fixer:\n    run: [sh, fixer.sh]\n");
    repository.commit("a fixer");
}

#[test]
fn a_failed_run_calls_the_fixer_with_guidance_and_then_passes() {
    let repository = with_plan(&faulty());
    with_fixer(&repository, &[PLAN]);
    let ran = gate(&repository, &["run", "--phase", "plan-structure", "--plan", "plan.md"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let heads: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| {
            line.starts_with("Status:") || line.ends_with("COMPLETE") || *line == "FIX GUIDANCE"
        })
        .collect();
    assert_eq!(
        heads,
        [
            "DECOMPOSE COMPLETE", "VERIFICATION COMPLETE", "Status: FAIL", "FIX GUIDANCE",
            "VERIFICATION COMPLETE", "Status: PASS",
        ]
    );
    let guidance = fs::read_to_string(repository.file("guidance.txt")).unwrap();
    assert!(guidance.starts_with("FIX GUIDANCE\n"), "{guidance}");
    assert!(ran.stdout.contains(&guidance));
}

#[test]
fn a_run_without_progress_is_escalated_to_a_person() {
    let repository = with_plan(&faulty());
    with_fixer(&repository, &[]);
    let ran = gate(&repository, &["run", "--phase", "plan-structure", "--plan", "plan.md"]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("a person is needed: the fixer changed nothing"), "{}", ran.stderr);
    let other = with_plan(&faulty());
    let worse: Vec<String> = (0..12).map(|n| format!("{}\nRound {n}.\n", faulty())).collect();
    with_fixer(&other, &worse.iter().map(String::as_str).collect::<Vec<_>>());
    let ran = gate(&other, &["run", "--phase", "plan-structure", "--plan", "plan.md"]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("failed 6 times, and 5 are allowed"), "{}", ran.stderr);
    assert!(ran.stdout.ends_with("\nNEXT: Ask a person to decide.\n"), "{}", ran.stdout);
}

#[test]
fn a_fixer_that_edits_the_files_of_the_gate_is_rejected() {
    let repository = with_plan(&faulty());
    with_fixer(&repository, &[]);
    let script = "sed -i 's/\"FAIL\"/\"PASS\"/; s/\"finding\": \".*\"/\"finding\": null/' .assay/gates/qr-*.json\necho >> plan.md\n";
    repository.write("fixer.sh", script);
    repository.commit("a liar");
    let ran = gate(&repository, &["run", "--phase", "plan-structure", "--plan", "plan.md"]);
    assert_eq!(ran.code, 4, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("the fixer changed the gate's own files"), "{}", ran.stderr);
}

#[test]
fn a_configured_command_verifies_its_own_item() {
    let repository = with_plan(PLAN);
    let config = "gates:\n  verifiers:\n    - name: spelling\n      phases: [plan-structure]\n      \
                  check: The plan is spelled well\n      severity: MAY\n      run: [sh, spell.sh]\n";
    repository.write("config/agent-framework.yaml", config);
    repository.write("spell.sh", "if grep -n teh plan.md; then exit 1; fi\n");
    repository.commit("spelling");
    repository.write("plan.md", format!("{PLAN}\nIn teh end.\n"));
    let step = |args: &[&str]| gate(&repository, &[args, &["--phase", "plan-structure"]].concat());
    let ran = step(&["run", "--plan", "plan.md"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains(": The plan is spelled well (scope: *)\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains(": `spelling` exited with code 1: "), "{}", ran.stdout);
    assert!(
        step(&["guide"]).stdout.contains("`spelling` exited with code 1: "),
        "{}",
        step(&["guide"]).stdout
    );
    repository.write("plan.md", PLAN);
    assert_eq!(step(&["verify"]).code, 0);
}

#[test]
fn a_fixer_cannot_accept_items_that_it_left_open() {
    let repository = with_plan(&faulty());
    repository.write("fix.sh", "cat >/dev/null\necho more >> plan.md\n");
    let config = "gates:\n  fixer: { run: [sh, fix.sh] }\n  ceiling: 2\n";
    repository.write("config/agent-framework.yaml", config);
    repository.commit("a fixer");
    let phase = ["--phase", "plan-structure"];
    let step = |args: &[&str]| gate(&repository, &[args, &phase[..]].concat());
    let ran = step(&["run", "--plan", "plan.md"]);
    assert_eq!(ran.code, 4, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stderr.contains("changed the gate's own files"), "{}", ran.stderr);
    let accept = ["accept", "plan-structure-003", "--reason", "known, next release", "--by"];
    let own = step(&[&accept[..], &["sh"]].concat());
    assert_eq!(own.code, 2, "{}", own.stdout);
    assert!(own.stderr.contains("is recorded as an author"), "{}", own.stderr);
    let person = step(&[&accept[..], &["Ada"]].concat());
    assert_eq!(person.code, 0, "{}", person.stderr);
}
