//! Agents, replaced by scripts that are run for real.

use std::path::Path;
use std::time::Duration;

use assay_models::{
    Agent, AgentKind, AgentModel, AgentOutputFormat, Custom, Failure, FailureClass, Model, ModelId,
    Nonce, Piece, Prompt, PromptBlock, Reply,
};
use assay_sandbox::Key;
use expect_test::{Expect, expect};
use serde_json::json;

/// Runs the script of the stage that is named in its environment. A program that was just written
/// could still be open for writing in another process when it is run.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agent.sh");

/// A folder with a script that acts as an agent, and the files that the script writes.
struct AgentFixture {
    folder: tempfile::TempDir,
}

impl AgentFixture {
    /// Creates a stage. The script records its arguments, its folder, its input and its variables,
    /// and then runs the given commands.
    fn new(script: &str) -> AgentFixture {
        let fixture = AgentFixture { folder: tempfile::tempdir().unwrap() };
        let notes = fixture.folder.path().display();
        let script = format!(
            "for arg in \"$@\"; do echo \"$arg\"; done > {notes}/args\n\
             pwd > {notes}/folder\nls -A > {notes}/files\ncat > {notes}/input\nenv > {notes}/env\n\
             cat schema.json system.txt > {notes}/written 2>/dev/null\n{script}\n"
        );
        std::fs::write(fixture.folder.path().join("script"), script).unwrap();
        fixture
    }

    fn noted(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// Creates an agent that runs the script.
    fn model(&self, kind: AgentKind, model: &str) -> AgentModel {
        let about = kind.describe(ModelId::new("agent", model));
        let fixture = Key::new(&self.folder.path().display().to_string());
        let variables =
            vec![("SOME_KEY".to_owned(), Key::new("very-secret")), ("STAGE".to_owned(), fixture)];
        let program = Some(PROGRAM.to_owned());
        let agent = Agent { kind, program, args: vec!["--extra".into()], variables };
        AgentModel::new(agent, about)
    }
}

fn prompt() -> Prompt {
    let block = |text: &str| PromptBlock { pieces: vec![Piece::Text(text.into())], shared: false };
    Prompt {
        system: "Be brief.".into(),
        blocks: vec![block("Look"), block("closely.")],
        schema: Some(json!({
            "type": "object",
            "properties": { "a": { "type": "integer" } },
            "required": ["a"],
            "additionalProperties": false,
        })),
        max_output_tokens: 4_000,
        thinking_tokens: 2_000,
        tools: Vec::new(),
        turns: Vec::new(),
    }
}

fn ask(model: &AgentModel) -> Result<Reply, Failure> {
    model.ask(&prompt(), &Nonce::draw().unwrap(), Duration::from_secs(60), &|_| {})
}

/// Runs a script as an agent, and compares the formatted result.
fn check(kind: AgentKind, script: &str, expected: Expect) {
    let fixture = AgentFixture::new(script);
    let shown = match ask(&fixture.model(kind, "m")) {
        Ok(Reply { text, aside, usage, micro_usd, .. }) => format!(
            "{text:?} {}{} + {} cached, {} out, {micro_usd:?}",
            if aside.is_empty() { String::new() } else { format!("aside {aside:?} ") },
            usage.input,
            usage.cache_read,
            usage.output
        ),
        Err(failure) => {
            assert!(!format!("{failure:?}").contains("very-secret"), "{failure:?}");
            format!(
                "{:?}: {failure} [{}]",
                failure.class,
                failure.partial.as_deref().unwrap_or_default()
            )
        }
    };
    expected.assert_eq(&shown);
}

fn printing(output: &str) -> String {
    format!("cat <<'END'\n{output}\nEND\n")
}

#[test]
fn claude_gets_the_prompt_and_no_tools() {
    let fixture =
        AgentFixture::new(&printing(r#"{"type":"result","is_error":false,"result":"yes"}"#));
    assert_eq!(ask(&fixture.model(AgentKind::Claude, "opus")).unwrap().text, "yes");
    let folder = fixture.noted("folder");
    expect![[r#"
        -p
        --output-format
        json
        --tools

        --strict-mcp-config
        --setting-sources
        user
        --no-session-persistence
        --disable-slash-commands
        --system-prompt-file
        FOLDER/system.txt
        --json-schema
        {"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}
        --model
        opus
        --extra
    "#]].assert_eq(&fixture.noted("args").replace(folder.trim(), "FOLDER"));
    assert_eq!(fixture.noted("input"), "Look\n\nclosely.");
    assert_eq!(fixture.noted("files"), "system.txt\n");
    assert_eq!(fixture.noted("written"), "Be brief.");
    let environment = fixture.noted("env");
    assert!(environment.contains("SOME_KEY=very-secret\n"));
    assert!(environment.contains("MAX_THINKING_TOKENS=2000\n"));
    assert!(environment.contains("CLAUDE_CODE_DISABLE_ATTACHMENTS=1\n"));
    assert!(!environment.contains("CARGO_MANIFEST_DIR"), "{environment}");
    assert!(!Path::new(folder.trim()).exists(), "the folder is gone afterwards");
}

#[test]
fn files_for_an_agent_are_accessible_only_to_the_owner() {
    let script = "ls -ld . * | cut -c1-10 > \"$STAGE/modes\"; echo yes";
    let fixture = AgentFixture::new(script);
    ask(&fixture.model(AgentKind::Codex, "m")).unwrap_err();
    assert_eq!(fixture.noted("modes"), "drwx------\n-rw-------\n");
    let fixture = AgentFixture::new(script);
    ask(&fixture.model(AgentKind::Claude, "m")).unwrap_err();
    assert_eq!(fixture.noted("modes"), "drwx------\n-rw-------\n");
}

#[test]
fn the_maximum_duration_is_accepted_as_the_timeout_of_an_agent() {
    let fixture =
        AgentFixture::new(&printing(r#"{"type":"result","is_error":false,"result":"yes"}"#));
    let (model, nonce) = (fixture.model(AgentKind::Claude, ""), Nonce::draw().unwrap());
    assert_eq!(model.ask(&prompt(), &nonce, Duration::MAX, &|_| {}).unwrap().text, "yes");
    assert!(fixture.noted("env").contains("API_TIMEOUT_MS=2147483647\n"));
}

#[test]
fn long_variable_values_are_redacted_from_errors_whatever_their_name() {
    let fixture = AgentFixture::new("echo \"cannot log in as $WHO_I_AM to $PLACE\" >&2; exit 1");
    let kind = custom(AgentOutputFormat::Text, &[]);
    let about = kind.describe(ModelId::new("agent", "m"));
    let variable = |name: &str, value: &str| (name.to_owned(), Key::new(value));
    let variables = vec![
        variable("STAGE", &fixture.folder.path().display().to_string()),
        variable("WHO_I_AM", "me:open-sesame"),
        variable("PLACE", "here"),
    ];
    let agent = Agent { kind, program: Some(PROGRAM.to_owned()), args: Vec::new(), variables };
    let failure = ask(&AgentModel::new(agent, about)).unwrap_err();
    assert!(failure.message.contains("cannot log in as … to here"), "{failure}");
}

#[test]
fn the_endpoint_hash_of_an_agent_depends_on_its_command_and_not_on_its_key() {
    let way = |kind: AgentKind, args: &[&str], value: &str| {
        let about = kind.describe(ModelId::new("agent", "m"));
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let variables = vec![("SOME_KEY".to_owned(), Key::new(value))];
        let agent = Agent { kind, program: None, args, variables };
        AgentModel::new(agent, about).about().endpoint_hash.clone()
    };
    let custom = |pointer: &str| {
        let form = AgentOutputFormat::Json(pointer.into());
        AgentKind::Custom(Custom { command: vec!["agent".into()], form, failed: None })
    };
    let ways = [
        way(AgentKind::Claude, &[], "one"),
        way(AgentKind::Codex, &[], "one"),
        way(AgentKind::Claude, &["a", "b"], "one"),
        way(AgentKind::Claude, &["a b"], "one"),
        way(custom("/a"), &[], "one"),
        way(custom("/b"), &[], "one"),
    ];
    let different: std::collections::BTreeSet<&String> = ways.iter().collect();
    assert_eq!(different.len(), ways.len(), "{ways:?}");
    assert_eq!(ways[0], way(AgentKind::Claude, &[], "two"), "a new key leads to the same model");
}

#[test]
fn a_prompt_that_begins_with_a_slash_is_not_run_as_a_claude_command() {
    let fixture =
        AgentFixture::new(&printing(r#"{"type":"result","is_error":false,"result":"yes"}"#));
    let block = PromptBlock { pieces: vec![Piece::Text(" /cost".into())], shared: false };
    let prompt = Prompt { blocks: vec![block], ..prompt() };
    let model = fixture.model(AgentKind::Claude, "");
    model.ask(&prompt, &Nonce::draw().unwrap(), Duration::from_secs(60), &|_| {}).unwrap();
    assert_eq!(fixture.noted("input"), "The task:\n\n /cost");
}

#[test]
fn claude_is_judged_by_its_result_and_not_by_its_subtype() {
    let check = |output: &str, code: u8, expected: Expect| {
        crate::agents::check(
            AgentKind::Claude,
            &format!("{}exit {code}", printing(output)),
            expected,
        );
    };
    check(
        r#"{"type":"result","subtype":"success","is_error":false,"result":"{\"a\":1}","structured_output":{"a":1},"total_cost_usd":0.0001381,"usage":{"input_tokens":11,"cache_read_input_tokens":4,"output_tokens":7}}"#,
        0,
        expect![[r#""{\"a\":1}" aside "{\"a\":1}" 11 + 4 cached, 7 out, Some(139)"#]],
    );
    check(
        r#"[{"type":"system"},{"type":"result","is_error":false,"result":"yes"}]"#,
        0,
        expect![[r#""yes" 122 + 0 cached, 3 out, None"#]],
    );
    check(
        r#"{"type":"result","subtype":"success","is_error":false,"result":""}"#,
        0,
        expect![
            "Empty: `agent/m`: the answer is empty; try again later, or choose another model []"
        ],
    );
    check(
        r#"{"type":"result","is_error":false,"stop_reason":"max_tokens","result":"{\"a\":","usage":{"output_tokens":7}}"#,
        0,
        expect![[
            r#"CutOff: `agent/m`: the answer was cut off; allow a longer answer, or review a smaller change [{"a":]"#
        ]],
    );
    check(
        r#"{"type":"result","is_error":false,"stop_reason":"refusal","result":"I will not."}"#,
        0,
        expect![
            "Refusal: `agent/m`: the model refused to answer; choose another model [I will not.]"
        ],
    );
    check(
        r#"{"type":"result","is_error":false,"stop_reason":"end_turn","result":"yes"}"#,
        0,
        expect![[r#""yes" 122 + 0 cached, 3 out, None"#]],
    );
    check(
        r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"bad key very-secret"}"#,
        1,
        expect![
            "Authentication: `agent/m`: bad key …; log in to the agent, or check its API key []"
        ],
    );
    check(
        r#"{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login"}"#,
        1,
        expect![
            "Authentication: `agent/m`: Not logged in · Please run /login; log in to the agent, or check its API key []"
        ],
    );
    check(
        r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"slow down"}"#,
        1,
        expect!["RateLimit: `agent/m`: slow down; try again later []"],
    );
    check(
        r#"{"type":"result","subtype":"success","is_error":true,"stop_reason":"refusal","result":"I will not."}"#,
        1,
        expect!["Refusal: `agent/m`: I will not; choose another model []"],
    );
    check(
        r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["too many turns"]}"#,
        1,
        expect!["Program: `agent/m`: too many turns; run the agent by hand to see the reason []"],
    );
    check(
        "hello",
        0,
        expect![
            "Garbage: `agent/m`: the agent's output has an unknown format (`hello`); try again later []"
        ],
    );
    crate::agents::check(
        AgentKind::Claude,
        "echo \"error: unknown option '--tools'\" >&2; exit 1",
        expect![
            "Program: `agent/m`: the agent exited with exit status: 1: error: unknown option '--tools'; run the agent by hand to see the reason []"
        ],
    );
}

#[test]
fn codex_gets_the_prompt_and_no_tools() {
    let fixture = AgentFixture::new(&printing(
        r#"{"type":"item.completed","item":{"type":"agent_message","text":"yes"}}
{"type":"turn.completed","usage":{}}"#,
    ));
    assert_eq!(ask(&fixture.model(AgentKind::Codex, "gpt-5")).unwrap().text, "yes");
    let folder = fixture.noted("folder");
    expect![[r#"
        exec
        --json
        --skip-git-repo-check
        -s
        read-only
        --ephemeral
        --ignore-user-config
        --ignore-rules
        --disable
        shell_tool
        -c
        project_doc_max_bytes=0
        -c
        web_search="disabled"
        -m
        gpt-5
        -c
        model_reasoning_effort="low"
        --output-schema
        FOLDER/schema.json
        --extra
        -
    "#]]
    .assert_eq(&fixture.noted("args").replace(folder.trim(), "FOLDER"));
    assert_eq!(fixture.noted("input"), "Be brief.\n\nLook\n\nclosely.");
    assert!(fixture.noted("written").starts_with(r#"{"type":"object""#));
}

#[test]
fn codex_gets_a_loose_schema_as_text() {
    let fixture = AgentFixture::new("true");
    let loose = Prompt { schema: Some(json!({ "type": "object" })), ..prompt() };
    let model = fixture.model(AgentKind::Codex, "");
    let asked = model.ask(&loose, &Nonce::draw().unwrap(), Duration::from_secs(60), &|_| {});
    assert_eq!(asked.unwrap_err().class, FailureClass::Garbage);
    assert_eq!(fixture.noted("files"), "");
    assert!(fixture.noted("input").ends_with("and with nothing else:\n{\"type\":\"object\"}"));
}

#[test]
fn codex_is_judged_by_its_last_turn() {
    let check = |output: &str, code: u8, expected: Expect| {
        crate::agents::check(
            AgentKind::Codex,
            &format!("{}exit {code}", printing(output)),
            expected,
        );
    };
    let good = r#"{"type":"item.completed","item":{"type":"error","message":"unknown model"}}
{"type":"error","message":"reconnecting"}
{"type":"item.completed","item":{"type":"agent_message","text":"hm"}}
{"type":"item.completed","item":{"type":"agent_message","text":"{\"a\":1}"}}
{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3}}"#;
    check(good, 0, expect![[r#""{\"a\":1}" aside "hm" 6 + 4 cached, 3 out, None"#]]);
    let failed = |message: &str| {
        format!(
            r#"{{"type":"item.completed","item":{{"type":"agent_message","text":"half"}}}}
{{"type":"turn.failed","error":{{"message":"{message}"}}}}"#
        )
    };
    check(
        &failed("unexpected status 401 Unauthorized: very-secret"),
        1,
        expect![
            "Authentication: `agent/m`: unexpected status 401 Unauthorized: …; log in to the agent, or check its API key [half]"
        ],
    );
    check(
        &failed("unexpected status 429 Too Many Requests: slow down"),
        1,
        expect![
            "RateLimit: `agent/m`: unexpected status 429 Too Many Requests: slow down; try again later [half]"
        ],
    );
    check(
        &failed("We’re currently experiencing high demand, which may cause temporary errors."),
        1,
        expect![
            "Overload: `agent/m`: We’re currently experiencing high demand, which may cause temporary errors; try again later [half]"
        ],
    );
    check(
        &failed("stream disconnected before completion"),
        1,
        expect![
            "Network: `agent/m`: stream disconnected before completion; try again later [half]"
        ],
    );
    check(
        &failed("Incomplete response returned, reason: max_output_tokens"),
        1,
        expect![
            "CutOff: `agent/m`: Incomplete response returned, reason: max_output_tokens; allow a longer answer, or review a smaller change [half]"
        ],
    );
    check(
        r#"{"type":"turn.completed","usage":{}}"#,
        0,
        expect![
            "Empty: `agent/m`: the answer is empty; try again later, or choose another model []"
        ],
    );
    check(
        r#"{"type":"turn.started"}"#,
        0,
        expect![[
            r#"Garbage: `agent/m`: the agent's output has an unknown format (`{"type":"turn.started"}`); try again later []"#
        ]],
    );
    crate::agents::check(
        AgentKind::Codex,
        "echo oops >&2; exit 2",
        expect![
            "Program: `agent/m`: the agent exited with exit status: 2: oops; run the agent by hand to see the reason []"
        ],
    );
}

fn custom(form: AgentOutputFormat, args: &[&str]) -> AgentKind {
    let command = ["agent"].iter().chain(args).map(|&word| word.to_owned()).collect();
    AgentKind::Custom(Custom { command, form, failed: Some("/failed".into()) })
}

#[test]
fn a_custom_agent_can_get_its_prompt_in_a_file() {
    let fixture = AgentFixture::new("cat \"$2\"");
    let kind = custom(AgentOutputFormat::Text, &["--file", "{prompt_file}", "--model={model}"]);
    let reply = ask(&fixture.model(kind, "some")).unwrap();
    assert!(reply.text.starts_with("Be brief.\n\nLook\n\nclosely.\n\nAnswer with one JSON value"));
    assert!(fixture.noted("args").ends_with("--model=some\n--extra\n"));
    assert_eq!(fixture.noted("input"), "");
    // The agent does not report its usage, which is not counted as zero.
    assert!(reply.usage.input > 0 && reply.usage.output > 0);
}

#[test]
fn the_answer_of_a_custom_agent_is_read_in_its_output_format() {
    let json = || custom(AgentOutputFormat::Json("/result/text".into()), &[]);
    let lines = || custom(AgentOutputFormat::JsonLines("/text".into()), &[]);
    check(
        custom(AgentOutputFormat::Text, &[]),
        "cat > /dev/null; echo hello",
        expect![[r#""hello\n" 122 + 0 cached, 6 out, None"#]],
    );
    check(
        custom(AgentOutputFormat::Text, &[]),
        "true",
        expect![
            "Empty: `agent/m`: the answer is empty; try again later, or choose another model []"
        ],
    );
    check(
        custom(AgentOutputFormat::Text, &[]),
        "echo half; echo very-secret >&2; exit 3",
        expect![
            "Program: `agent/m`: the agent exited with exit status: 3: …; run the agent by hand to see the reason []"
        ],
    );
    check(
        json(),
        r#"echo '{"result":{"text":"hello"},"failed":false}'"#,
        expect![[r#""hello" 122 + 0 cached, 5 out, None"#]],
    );
    check(
        json(),
        r#"echo '{"result":{"text":{"a":1}}}'"#,
        expect![[r#""{\"a\":1}" 122 + 0 cached, 7 out, None"#]],
    );
    check(
        json(),
        r#"echo '{"result":{}}'"#,
        expect![
            "Empty: `agent/m`: the answer is empty; try again later, or choose another model []"
        ],
    );
    check(
        json(),
        r#"echo '{"result":{"text":"hello"},"failed":"no key"}'"#,
        expect![
            "Program: `agent/m`: the agent reported a failure: no key; run the agent by hand to see the reason []"
        ],
    );
    check(
        json(),
        r#"echo '{"failed":"[API Error: 401 Incorrect API key provided.]"}'"#,
        expect![
            "Authentication: `agent/m`: the agent reported a failure: [API Error: 401 Incorrect API key provided.]; log in to the agent, or check its API key []"
        ],
    );
    check(
        json(),
        "echo hello",
        expect![
            "Garbage: `agent/m`: the agent's output has an unknown format (`hello`); try again later []"
        ],
    );
    check(
        lines(),
        r#"echo '{"text":"one"}'; echo noise; echo '{"text":"two"}'; echo '{"usage":1}'"#,
        expect![[r#""two" 122 + 0 cached, 3 out, None"#]],
    );
}

#[test]
fn an_agent_that_does_not_end_is_stopped() {
    let fixture = AgentFixture::new("sleep 600 & wait");
    let model = fixture.model(custom(AgentOutputFormat::Text, &[]), "m");
    let asked = model.ask(&prompt(), &Nonce::draw().unwrap(), Duration::from_millis(200), &|_| {});
    let failure = asked.unwrap_err();
    assert_eq!((failure.class, failure.usage), (FailureClass::TimedOut, None));
}

#[test]
fn an_agent_that_prints_nothing_is_stopped_after_the_stall_timeout() {
    for script in ["sleep 600 & wait", "echo begun; sleep 600", "while :; do echo x >&2; done"] {
        let fixture = AgentFixture::new(script);
        let model = fixture.model(custom(AgentOutputFormat::Text, &[]), "m");
        let model = model.with_stall_timeout(Duration::from_millis(200));
        let hour = Duration::from_secs(3_600);
        let failure = model.ask(&prompt(), &Nonce::draw().unwrap(), hour, &|_| {}).unwrap_err();
        assert_eq!((failure.class, failure.usage), (FailureClass::Stalled, None), "{script}");
        assert!(failure.message.contains("the agent printed nothing for"), "{}", failure.message);
    }
}

#[test]
fn a_missing_agent_program_is_reported_by_name() {
    let kind = AgentKind::Claude;
    let about = kind.describe(ModelId::new("claude", ""));
    let program = Some("no-such-program".to_owned());
    let agent = Agent { kind, program, args: Vec::new(), variables: Vec::new() };
    let failure = ask(&AgentModel::new(agent, about)).unwrap_err();
    assert_eq!(failure.class, FailureClass::Program);
    assert!(failure.message.starts_with("`claude`: cannot start `no-such-program`: "));
}
