//! Many concurrent writers on one gate, each in its own process.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::{PLAN, gate, with_plan};

#[test]
fn no_update_of_thirty_two_processes_is_lost() {
    let repository = with_plan(PLAN);
    let item = |number| format!(r#"{{"id": "i-{number}", "scope": "*", "check": "c"}}"#);
    let items: Vec<String> = (0..32).map(item).collect();
    repository.write("items.json", format!("[{}]", items.join(",")));
    let phase = ["--phase", "plan-structure"];
    let made = ["decompose", "--plan", "plan.md", "--items", "items.json", "--only-items"];
    assert_eq!(gate(&repository, &[&made[..], &phase].concat()).code, 0);
    let writer = |number: usize| -> Child {
        Command::new(env!("CARGO_BIN_EXE_assay"))
            .args(["gate", "update-item", &format!("i-{number}"), "--status", "FAIL"])
            .args(["--finding", &format!("found by {number}")])
            .args(phase)
            .current_dir(repository.path())
            .env("XDG_STATE_HOME", crate::state_home())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let writers: Vec<Child> = (0..32).map(writer).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let status = gate(&repository, &[&["status", "--format", "json"], &phase[..]].concat()).json();
    let findings: Vec<&Value> =
        status["items"].as_array().unwrap().iter().map(|item| &item["finding"]).collect();
    let expected: Vec<String> = (0..32).map(|number| format!("found by {number}")).collect();
    assert_eq!(findings, expected.iter().map(String::as_str).collect::<Vec<_>>());
}
