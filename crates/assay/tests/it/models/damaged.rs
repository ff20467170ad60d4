//! Answers that lost, hide or contradict a finding never count as a clean change, in any dialect.

use assay_testkit::model::DAMAGED_REPORTS;

use super::*;

const DIALECTS: [(&str, &str); 3] =
    [ANTHROPIC, ("openai-chat", "/v1"), ("openai-responses", "/v1")];

fn check(ran: &AssayRun, what: &str) {
    let what = format!("{what}: {}{}", ran.stdout, ran.stderr);
    assert!(matches!(ran.code, 1 | 3), "{what}");
    let verdict = ran.json()["verdict"].clone();
    assert!(matches!(verdict["state"].as_str(), Some("incomplete" | "not_ready")), "{what}");
}

#[test]
fn a_damaged_report_is_never_a_pass_in_any_dialect() {
    for dialect in DIALECTS {
        let case = Case::speaking(dialect, "");
        for report in DAMAGED_REPORTS {
            let says = ModelFaultKind::Says(report.text.to_owned());
            case.only_trouble(&["`correctness` reviewer"], says);
            let ran = case.review(&["--persona", "correctness", "--format", "json"]);
            check(&ran, &format!("{}, {dialect:?}", report.name));
        }
    }
}

#[test]
fn a_damaged_report_is_not_cached() {
    let case = Case::new("");
    for report in DAMAGED_REPORTS.iter().filter(|report| report.name.contains("list")) {
        case.only_trouble(
            &["`correctness` reviewer"],
            ModelFaultKind::Says(report.text.to_owned()),
        );
        case.review(&["--persona", "correctness"]);
        let asked = case.asked();
        case.review(&["--persona", "correctness"]);
        assert!(case.asked() > asked, "{}", report.name);
    }
}

#[test]
fn a_truncated_report_is_requested_again_and_both_answers_count() {
    let case = Case::new("");
    let half = r#"{"reviewer": "correctness", "findings": [{"title": "Empty list divides by zero", "severity": "P2", "file": "shop.py", "line": 6, "why_it_matters": "mean([]) fails", "autofix_class": "manual", "owner": "human", "requires_verification": true, "confidence": 100, "evidence": ["return sum(prices) / len(prices)"], "pre_existing": false},"#;
    case.once(&["`correctness` reviewer"], ModelFaultKind::Says(half.to_owned()));
    let nothing = with_findings("correctness", Vec::new()).to_string();
    case.trouble(&["`correctness` reviewer"], ModelFaultKind::Says(nothing));
    let ran = case.review(&["--persona", "correctness", "--format", "json"]);
    let result = ran.json();
    assert_eq!(result["verdict"]["state"], "ready_with_fixes", "{}", ran.stdout);
    assert_eq!(titles(&result), ["Empty list divides by zero"], "{}", ran.stdout);
}

#[test]
fn a_program_that_answers_in_damaged_json_is_never_a_pass() {
    for report in DAMAGED_REPORTS {
        let repository = Repository::new();
        repository.write("answer.txt", report.text);
        repository.write(
            "config/agent-framework.yaml",
            "models:\n  use:\n    own:\n      api: command\n      model: any\n      \
             run: [cat, answer.txt]\n      answer: text\n",
        );
        repository.write("shop.py", "def total(prices):\n    return sum(prices)\n");
        repository.commit("a shop");
        repository.git(&["switch", "--quiet", "--create", "topic"]);
        repository.write("shop.py", AFTER);
        repository.commit("prices can be told apart");
        let answer = repository.path().join("answer.txt");
        let configuration =
            fs::read_to_string(repository.path().join("config/agent-framework.yaml"))
                .unwrap()
                .replace("answer.txt", answer.to_str().unwrap());
        repository.git(&["switch", "--quiet", "main"]);
        repository.write("config/agent-framework.yaml", configuration);
        repository.commit("where the answer lies");
        repository.git(&["rebase", "--quiet", "main", "topic"]);
        let args = ["review", "--models", "--persona", "correctness", "--format", "json"];
        let ran = assay_with(repository.path(), &args, b"", &[]);
        check(&ran, report.name);
    }
}
