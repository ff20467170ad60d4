//! `assay lsp`, as an editor uses it: messages over stdin and stdout.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_testkit::Repository;
use assay_testkit::lsp::{LspClient, all_capabilities, describe, uri};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{assay_in, command_in};

const CODE: &str = "def total(prices):\n    return sum(prices)\n";
const BROKEN: &str = "def total(prices):\n    breakpoint()\n    return sum(prices)\n";

fn server(folder: &Path) -> Command {
    command_in(folder, &["lsp", "--stdio"])
}

fn start(repository: &Repository, options: Value) -> LspClient {
    LspClient::start(server(repository.path()), &[repository.path()], options)
}

/// Starts a server that reviews without a pause.
fn quick(repository: &Repository) -> LspClient {
    start(repository, json!({"debounce": 0}))
}

fn repository() -> (Repository, PathBuf) {
    let repository = Repository::new();
    repository.write("shop.py", CODE);
    repository.commit("shop");
    let file = repository.path().join("shop.py");
    (repository, file)
}

fn check(diagnostics: &[Value], expected: Expect) {
    let lines: Vec<String> = diagnostics.iter().map(describe).collect();
    expected.assert_eq(&lines.join("\n"));
}

/// Returns the result of a request about a document.
fn ask(client: &mut LspClient, method: &str, file: &Path, more: Value) -> Value {
    let mut params = json!({"textDocument": {"uri": uri(file)}});
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    client.request(method, params)["result"].clone()
}

fn line_range(line: u32) -> Value {
    json!({"start": {"line": line, "character": 0}, "end": {"line": line, "character": 0}})
}

fn actions(client: &mut LspClient, file: &Path, line: u32, only: Value) -> Vec<Value> {
    let more = json!({"range": line_range(line), "context": {"diagnostics": [], "only": only}});
    ask(client, "textDocument/codeAction", file, more).as_array().unwrap().clone()
}

fn titles(actions: &[Value]) -> Vec<&str> {
    actions.iter().map(|action| action["title"].as_str().unwrap()).collect()
}

/// Applies the edits of an action to a text of plain ASCII.
fn apply(text: &str, action: &Value) -> String {
    let edits = &action["edit"]["documentChanges"][0]["edits"];
    let [edit] = edits.as_array().unwrap().as_slice() else { panic!("{action}") };
    let offset = |end: &str| {
        let position = &edit["range"][end];
        let number = |key: &str| position[key].as_u64().unwrap() as usize;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        lines[..number("line")].concat().len() + number("character")
    };
    let new = edit["newText"].as_str().unwrap();
    format!("{}{new}{}", &text[..offset("start")], &text[offset("end")..])
}

#[test]
fn the_server_names_itself_and_its_capabilities() {
    let (repository, _) = repository();
    let mut client = LspClient::spawn(server(repository.path()));
    let response = client.initialize(&[repository.path()], Value::Null, all_capabilities());
    let result = &response["result"];
    assert_eq!(result["serverInfo"]["name"], "assay");
    expect![[r#"{"positionEncoding":"utf-16","textDocumentSync":{"openClose":true,"change":2,"save":true},"hoverProvider":true,"codeActionProvider":{"codeActionKinds":["quickfix","source.fixAll.assay"]},"codeLensProvider":{"resolveProvider":false},"executeCommandProvider":{"commands":["assay.dismiss","assay.explain","assay.showRun","assay.review"]},"workspace":{"workspaceFolders":{"supported":true,"changeNotifications":true}}}"#]]
        .assert_eq(&result["capabilities"].to_string());
    assert_eq!(client.finish(), 0);
}

#[test]
fn a_finding_appears_and_disappears_with_the_typed_text() {
    let (repository, file) = repository();
    let mut client = quick(&repository);
    client.open(&file, CODE);
    check(&client.diagnostics(&file, 1), expect![""]);
    let at = json!({"line": 1, "character": 0});
    let typed = json!([{"range": {"start": at, "end": at}, "text": "    breakpoint()\n"}]);
    client.change(&file, 2, typed);
    check(
        &client.diagnostics(&file, 2),
        expect!["1:4-1:16 1 python/debugger Breakpoint left in the code (HIGH)"],
    );
    client.replace(&file, 3, CODE);
    check(&client.diagnostics(&file, 3), expect![""]);
    assert_eq!(fs::read_to_string(&file).unwrap(), CODE, "nothing was written");
    assert_eq!(client.finish(), 0);
}

#[test]
fn a_file_that_is_not_open_has_the_findings_of_its_saved_text() {
    let (repository, file) = repository();
    fs::write(&file, BROKEN).unwrap();
    let mut client = quick(&repository);
    let published = client.notification("textDocument/publishDiagnostics");
    assert_eq!(published["uri"], uri(&file.canonicalize().unwrap()));
    assert_eq!(published["diagnostics"].as_array().unwrap().len(), 1);
    assert_eq!(published.get("version"), None);
    assert_eq!(client.finish(), 0);
}

#[test]
fn a_save_and_a_watched_file_change_trigger_a_new_review() {
    let (repository, file) = repository();
    let mut client = quick(&repository);
    client.open(&file, CODE);
    assert!(client.diagnostics(&file, 1).is_empty());
    client.replace(&file, 2, BROKEN);
    assert_eq!(client.diagnostics(&file, 2).len(), 1);
    fs::write(&file, BROKEN).unwrap();
    client.save(&file);
    assert_eq!(client.diagnostics(&file, 2).len(), 1);
    repository.commit("broken");
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": []}));
    let after = client.diagnostics(&file, 2);
    check(&after, expect!["1:4-1:16 1 python/debugger Breakpoint left in the code (HIGH)"]);
    assert_eq!(client.finish(), 0);
}

#[test]
fn positions_are_counted_in_the_agreed_encoding() {
    let code = "def f():\n    s = '😀é'; breakpoint()\n";
    let expected = [("utf-8", 18), ("utf-16", 15), ("utf-32", 14)];
    for (encoding, character) in expected {
        let (repository, file) = repository();
        let mut client = LspClient::spawn(server(repository.path()));
        let mut capabilities = all_capabilities();
        capabilities["general"]["positionEncodings"] = json!([encoding]);
        let response =
            client.initialize(&[repository.path()], json!({"debounce": 0}), capabilities);
        assert_eq!(response["result"]["capabilities"]["positionEncoding"], encoding);
        client.open(&file, code);
        let found = client.diagnostics(&file, 1);
        let at = found.iter().find(|found| found["code"] == "python/debugger").unwrap();
        assert_eq!(at["range"]["start"], json!({"line": 1, "character": character}), "{encoding}");
        // The same position, as the client sends it.
        let start = json!({"line": 1, "character": character});
        let end = json!({"line": 1, "character": character + "breakpoint()".len() as u64});
        client.change(&file, 2, json!([{"range": {"start": start, "end": end}, "text": "pass"}]));
        let left = client.diagnostics(&file, 2);
        assert!(left.iter().all(|found| found["code"] != "python/debugger"), "{left:?}");
        assert_eq!(client.finish(), 0);
    }
}

#[test]
fn a_hover_explains_the_finding() {
    let (repository, file) = repository();
    let mut client = quick(&repository);
    client.open(&file, BROKEN);
    client.diagnostics(&file, 1);
    let at = |line: u32| json!({"position": {"line": line, "character": 6}});
    let hover = ask(&mut client, "textDocument/hover", &file, at(1));
    assert_eq!(hover["contents"]["kind"], "markdown");
    let text = hover["contents"]["value"].as_str().unwrap();
    for part in [
        "**Breakpoint left in the code** (HIGH, confidence 100)",
        "Why: ",
        "Evidence:",
        "breakpoint()",
        "Rule `python/debugger`, see docs/rules.md",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(ask(&mut client, "textDocument/hover", &file, at(0)), Value::Null);
    assert_eq!(client.finish(), 0);
}

#[test]
fn a_fix_and_all_safe_fixes_are_edits_of_the_open_text() {
    let (repository, file) = repository();
    let mut client = quick(&repository);
    let two = BROKEN.replace("    return", "    breakpoint()\n    return");
    client.open(&file, &two);
    client.diagnostics(&file, 1);
    let found = actions(&mut client, &file, 1, Value::Null);
    assert_eq!(
        titles(&found),
        [
            "Fix: Breakpoint left in the code",
            "Dismiss: Breakpoint left in the code",
            "Explain: Breakpoint left in the code",
            "Apply all safe fixes of assay in this file",
        ]
    );
    assert_eq!(apply(&two, &found[0]), BROKEN);
    assert_eq!(apply(&two, &found[3]), CODE);
    assert_eq!(found[0]["edit"]["documentChanges"][0]["textDocument"]["version"], 1);
    let only = actions(&mut client, &file, 0, json!(["source.fixAll"]));
    assert_eq!(titles(&only), ["Apply all safe fixes of assay in this file"]);
    assert!(actions(&mut client, &file, 0, json!(["quickfix"])).is_empty());
    assert!(actions(&mut client, &file, 1, json!(["refactor"])).is_empty());
    assert_eq!(client.finish(), 0);
}

/// Returns the findings of the ledger in a state, as `assay findings list` prints them.
fn listed(repository: &Repository, state: &str) -> Value {
    let args = ["findings", "list", "--state", state, "--format", "json"];
    assay_in(repository.path(), &args, b"").json()
}

#[test]
fn a_dismissal_with_a_reason_is_in_the_ledger_and_ends_the_diagnostic() {
    let (repository, file) = repository();
    fs::write(&file, BROKEN).unwrap();
    let mut client = quick(&repository);
    client.open(&file, BROKEN);
    let found = client.diagnostics(&file, 1);
    let argument = json!({
        "uri": uri(&file), "id": found[0]["data"]["id"], "reason": "part of the tutorial",
    });
    let response = client.execute("assay.dismiss", argument);
    assert_eq!(response["result"], "dismissed: Breakpoint left in the code", "{response}");
    assert!(client.diagnostics(&file, 1).is_empty());
    assert!(listed(&repository, "dismissed").to_string().contains("Breakpoint left"));
    let id = found[0]["data"]["id"].as_str().unwrap();
    let shown = assay_in(repository.path(), &["findings", "show", id], b"");
    assert!(shown.stdout.contains("part of the tutorial"), "{}", shown.stdout);
    assert_eq!(client.finish(), 0);
}

#[test]
fn the_reason_of_a_dismissal_is_chosen_in_a_dialogue() {
    let (repository, file) = repository();
    fs::write(&file, BROKEN).unwrap();
    let mut client = quick(&repository);
    client.open(&file, BROKEN);
    client.diagnostics(&file, 1);
    let dismiss = actions(&mut client, &file, 1, Value::Null).remove(1);
    let argument = dismiss["command"]["arguments"][0].clone();
    assert_eq!(client.execute("assay.dismiss", argument.clone())["result"], Value::Null);
    assert_eq!(ask_lens(&mut client, &file), "assay: not reviewed yet; here: 1");
    client.choice = Some("Accepted risk".to_owned());
    assert!(client.execute("assay.dismiss", argument)["result"].is_string());
    assert!(listed(&repository, "dismissed").to_string().contains("Breakpoint left"));
    assert!(client.requested.contains(&"window/showMessageRequest".to_owned()));
    assert_eq!(client.finish(), 0);
}

fn ask_lens(client: &mut LspClient, file: &Path) -> String {
    let lenses = ask(client, "textDocument/codeLens", file, json!({}));
    assert_eq!(lenses[0]["range"], line_range(0));
    lenses[0]["command"]["title"].as_str().unwrap().to_owned()
}

#[test]
fn the_code_lens_shows_the_verdict_of_the_last_run() {
    let (repository, file) = repository();
    fs::write(&file, BROKEN).unwrap();
    let mut client = quick(&repository);
    client.open(&file, BROKEN);
    client.diagnostics(&file, 1);
    let response = client.execute("assay.review", json!({"uri": uri(&file)}));
    let text = response["result"].as_str().unwrap();
    assert!(text.starts_with("the review is stored as run "), "{response}");
    client.diagnostics(&file, 1);
    assert_eq!(ask_lens(&mut client, &file), "assay: not ready (1 finding: 1 HIGH); here: 1");
    client.arrived("window/showMessage");
    client.execute("assay.showRun", json!({"uri": uri(&file)}));
    let shown = client.arrived("window/showMessage").remove(0);
    let shown = shown["params"]["message"].as_str().unwrap();
    assert!(shown.starts_with("not ready: 1 finding: 1 HIGH (run "), "{shown}");
    assert!(client.requested.contains(&"window/workDoneProgress/create".to_owned()));
    assert!(client.requested.contains(&"workspace/codeLens/refresh".to_owned()));
    let found = actions(&mut client, &file, 1, Value::Null);
    let explained = client.execute("assay.explain", found[2]["command"]["arguments"][0].clone());
    assert!(explained["result"].as_str().unwrap().contains("raised"), "{explained}");
    assert_eq!(client.finish(), 0);
}

#[test]
fn findings_of_an_analyser_stay_on_their_code_while_the_user_types() {
    let (repository, file) = repository();
    let script = r#"for file; do
  grep -n slow "$file" | while IFS=: read -r line code; do
    printf '{"message":"Slow call","location":{"path":"%s","range":{"start":{"line":%s}}},"severity":"ERROR","code":{"value":"slow"}}\n' "$file" "$line"
  done
done
"#;
    repository.write("speed.sh", script);
    repository.write(
        "config/agent-framework.yaml",
        "review:\n  commands:\n    - name: speed\n      run: [sh, speed.sh, \"{files}\"]\n      form: rdjsonl\n      files: [\"*.py\"]\n",
    );
    repository.commit("analyser");
    let code = "def total(prices):\n    slow(prices)\n    return 1\n";
    fs::write(&file, code).unwrap();
    let ran = assay_in(repository.path(), &["review"], b"");
    assert!(ran.stdout.contains("Slow call"), "{}{}", ran.stdout, ran.stderr);
    let mut client = quick(&repository);
    client.open(&file, code);
    check(&client.diagnostics(&file, 1), expect!["1:4-1:16 1 speed/slow Slow call (HIGH, speed)"]);
    client.replace(&file, 2, &format!("# one\n# two\n{code}"));
    check(&client.diagnostics(&file, 2), expect!["3:4-3:16 1 speed/slow Slow call (HIGH, speed)"]);
    client.replace(&file, 3, &code.replace("slow", "quick"));
    check(&client.diagnostics(&file, 3), expect![""]);
    assert_eq!(client.finish(), 0);
}

#[test]
fn an_accepted_finding_is_not_shown() {
    let (repository, file) = repository();
    fs::write(&file, BROKEN).unwrap();
    let accepted =
        assay_in(repository.path(), &["review", "--accept", "shown in the tutorial"], b"");
    assert_eq!(accepted.code, 0, "{}", accepted.stderr);
    let mut client = quick(&repository);
    client.open(&file, BROKEN);
    assert!(client.diagnostics(&file, 1).is_empty());
    client.replace(&file, 2, &format!("# moved\n{BROKEN}"));
    assert!(client.diagnostics(&file, 2).is_empty());
    client.replace(&file, 3, &BROKEN.replace("breakpoint()", "pdb.set_trace()"));
    assert_eq!(client.diagnostics(&file, 3).len(), 1);
    assert_eq!(client.finish(), 0);
}

#[test]
fn settings_of_the_client_change_the_findings() {
    let (repository, file) = repository();
    let mut client = start(&repository, json!({"debounce": 0, "severity": "CRITICAL"}));
    client.open(&file, BROKEN);
    assert!(client.diagnostics(&file, 1).is_empty());
    let settings = json!({"settings": {"assay": {"debounce": 0}}});
    client.notify("workspace/didChangeConfiguration", settings);
    assert_eq!(client.diagnostics(&file, 1).len(), 1);
    client.settings = json!({"debounce": 0, "severity": "CRITICAL"});
    client.notify("workspace/didChangeConfiguration", json!({"settings": null}));
    assert!(client.diagnostics(&file, 1).is_empty());
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"assay": {"bas": 1}}}));
    let shown = client.notification("window/showMessage");
    assert!(shown["message"].as_str().unwrap().contains("unknown field `bas`"), "{shown}");
    assert_eq!(client.finish(), 0);
}

#[test]
fn a_base_that_git_does_not_know_is_named_and_the_server_goes_on() {
    let (repository, file) = repository();
    let mut client = start(&repository, json!({"debounce": 0, "base": "nowhere"}));
    client.open(&file, BROKEN);
    let shown = client.notification("window/showMessage");
    assert!(shown["message"].as_str().unwrap().contains("nowhere"), "{shown}");
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"debounce": 0}}));
    assert_eq!(client.diagnostics(&file, 1).len(), 1);
    assert_eq!(client.finish(), 0);
}

#[test]
fn each_folder_of_a_workspace_has_its_own_findings() {
    let (first, first_file) = repository();
    let (second, second_file) = repository();
    let folders = [first.path(), second.path()];
    let mut client = LspClient::start(server(first.path()), &folders, json!({"debounce": 0}));
    client.open(&first_file, BROKEN);
    client.open(&second_file, CODE);
    assert_eq!(client.diagnostics(&first_file, 1).len(), 1);
    assert!(client.diagnostics(&second_file, 1).is_empty());
    client.replace(&second_file, 2, BROKEN);
    assert_eq!(client.diagnostics(&second_file, 2).len(), 1);
    let removed =
        json!({"event": {"added": [], "removed": [{"uri": uri(first.path()), "name": ""}]}});
    client.notify("workspace/didChangeWorkspaceFolders", removed);
    let gone = client.take(|message| {
        message["params"]["diagnostics"] == json!([])
            && message["params"]["uri"].as_str().is_some_and(|it| it.ends_with("shop.py"))
    });
    assert_eq!(gone["method"], "textDocument/publishDiagnostics");
    assert_eq!(client.finish(), 0);
}

#[test]
fn files_that_cannot_be_reviewed_are_named_once() {
    let (repository, _) = repository();
    let outside = tempfile::tempdir().unwrap();
    let other = outside.path().join("a.py");
    fs::write(&other, CODE).unwrap();
    let large = repository.file("large.py");
    fs::write(&large, "x = 1\n").unwrap();
    repository.write("data.py", "x = 1\n");
    repository.commit("large");
    let mut client = quick(&repository);
    client.open(&other, BROKEN);
    client.open(&large, &"y = 1\n".repeat(300_000));
    client.diagnostics(&large, 1);
    let data = repository.path().join("data.py");
    client.open(&data, "x = \0\n");
    client.diagnostics(&data, 1);
    client.open(&other, BROKEN);
    client.replace(&large, 2, &"z = 1\n".repeat(300_000));
    client.diagnostics(&large, 2);
    let shown = client.arrived("window/showMessage");
    let shown: Vec<&str> =
        shown.iter().map(|message| message["params"]["message"].as_str().unwrap()).collect();
    let other = other.display();
    assert_eq!(
        shown,
        [
            format!("`{other}` is in no git repository of the workspace, so it is not reviewed"),
            "`large.py` is not reviewed: larger than 1024 KiB".to_owned(),
            "`data.py` is not reviewed: binary".to_owned(),
        ]
    );
    assert_eq!(client.finish(), 0);
}

#[test]
fn a_folder_without_a_repository_is_named_and_the_server_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = LspClient::start(server(folder.path()), &[folder.path()], Value::Null);
    let shown = client.notification("window/showMessage");
    let text = shown["message"].as_str().unwrap();
    assert!(text.contains("is not reviewed: ") && text.contains("repository"), "{text}");
    let file = folder.path().join("a.py");
    client.open(&file, BROKEN);
    assert_eq!(ask(&mut client, "textDocument/codeLens", &file, json!({})), json!([]));
    assert_eq!(client.finish(), 0);
}

fn is_error_without_id(message: &Value) -> bool {
    message.get("id") == Some(&Value::Null)
}

/// Returns the code of the error that a request gets.
fn error_code(response: &Value) -> i64 {
    response["error"]["code"].as_i64().unwrap_or_else(|| panic!("{response}"))
}

#[test]
fn wrong_messages_get_the_errors_of_the_protocol_and_do_not_end_the_server() {
    let (repository, file) = repository();
    let mut client = LspClient::spawn(server(repository.path()));
    client.notify("textDocument/didOpen", json!({"nonsense": true}));
    assert_eq!(error_code(&client.request("textDocument/hover", json!({}))), -32002);
    client.initialize(&[repository.path()], json!({"debounce": 0}), all_capabilities());
    assert_eq!(error_code(&client.request("initialize", json!({"capabilities": {}}))), -32600);
    assert_eq!(error_code(&client.request("textDocument/rename", json!({}))), -32601);
    assert_eq!(error_code(&client.request("$/unknown", json!({}))), -32601);
    assert_eq!(error_code(&client.request("textDocument/hover", json!([1]))), -32602);
    assert_eq!(error_code(&client.execute("assay.nothing", json!({}))), -32602);
    assert_eq!(error_code(&client.execute("assay.explain", json!({"id": "0123"}))), -32602);
    client.send_bytes(b"Content-Length: 7\r\n\r\n{\"a\": 1");
    assert_eq!(error_code(&client.take(is_error_without_id)), -32700);
    client.send(&json!([1, 2]));
    assert_eq!(error_code(&client.take(is_error_without_id)), -32600);
    client.send_bytes(b"nonsense\r\n");
    assert_eq!(error_code(&client.take(is_error_without_id)), -32700);
    client.notify("textDocument/didChange", json!({"textDocument": 7}));
    client.replace(&file, 2, BROKEN);
    client.send(&json!({"jsonrpc": "2.0", "id": 99, "result": null}));
    client.notify("$/cancelRequest", json!({"id": 1}));
    client.open(&file, BROKEN);
    assert_eq!(client.diagnostics(&file, 1).len(), 1);
    assert_eq!(client.request("shutdown", Value::Null)["result"], Value::Null);
    assert_eq!(error_code(&client.request("textDocument/hover", json!({}))), -32600);
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), 0);
}

#[test]
fn a_server_without_shutdown_exits_with_1() {
    let (repository, _) = repository();
    assert_eq!(quick(&repository).hang_up(), 1);
    let mut client = quick(&repository);
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), 1);
    assert_eq!(LspClient::spawn(server(repository.path())).hang_up(), 1);
}

#[test]
fn the_server_exits_when_its_client_process_has_exited() {
    let (repository, _) = repository();
    let mut gone = Command::new("true").spawn().unwrap();
    let id = gone.id();
    gone.wait().unwrap();
    let mut client = LspClient::spawn(server(repository.path()));
    let params = json!({"processId": id, "rootUri": null, "capabilities": {}});
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
    assert_eq!(client.exit_code(), 1);
}
