//! Providers, called over real connections.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use assay_models::{
    CallResult, Dialect, Failure, FailureClass, HttpModel, Model, ModelDescription, ModelId, Nonce,
    Piece, Prompt, PromptBlock, Provider, Reply, Tool, ToolCall, Turn,
};
use assay_sandbox::{Key, KeySource};
use expect_test::{Expect, expect};

use crate::server::{Server, ServerAction, respond, stream};

const KEY: &str = "sk-very-secret";

const WHOLE: &str = r#"data: {"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}

data: [DONE]

"#;

const HALF: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"hel\"}}]}\n\n";

/// The stall timeout: long enough for the server's output to arrive.
const PATIENCE: Duration = Duration::from_secs(2);

fn prompt() -> Prompt {
    let block = PromptBlock { pieces: vec![Piece::Text("Look.".into())], shared: true };
    Prompt {
        system: "Be brief.".into(),
        blocks: vec![block],
        schema: Some(serde_json::json!({ "type": "object" })),
        max_output_tokens: 100,
        thinking_tokens: 0,
        tools: Vec::new(),
        turns: Vec::new(),
    }
}

fn model(dialect: Dialect, url: &str) -> HttpModel {
    let key = KeySource::Variable { name: "SOME_KEY".into(), value: Some(Key::new(KEY)) };
    let provider = Provider::new("fake", dialect, url, key).unwrap();
    HttpModel::new(Arc::new(provider), ModelDescription::of(ModelId::new("fake", "m")))
}

fn ask_within(model: &dyn Model, time: Duration) -> Result<Reply, Failure> {
    model.ask(&prompt(), &Nonce::draw().unwrap(), time, &|_| {})
}

fn ask(dialect: Dialect, server: &Server) -> Result<Reply, Failure> {
    ask_within(&model(dialect, &server.url), Duration::from_secs(60))
}

/// Calls a server that performs one act, and compares the failure, without the parts that differ
/// each time.
fn check(act: ServerAction, expected: Expect) {
    let server = Server::start(vec![act]);
    let failure = ask(Dialect::Chat, &server).unwrap_err();
    assert!(!format!("{failure:?}").contains(KEY), "{failure:?}");
    let Failure { class, message, wait, partial, usage } = failure;
    let message = message.replace(&server.url, "URL");
    let cost = usage.map_or("unknown".into(), |usage| usage.total().to_string());
    expected.assert_eq(&format!(
        "{class:?}: {message}\nwait {wait:?}, partial {partial:?}, tokens {cost}"
    ));
}

fn chunked(body: &str) -> ServerAction {
    ServerAction::Write(stream(body) + "0\r\n\r\n")
}

#[test]
fn progress_is_reported_while_an_answer_arrives() {
    let server = Server::start(vec![chunked(WHOLE)]);
    let heard = RefCell::new(Vec::new());
    let model = model(Dialect::Chat, &server.url);
    let note = |count| heard.borrow_mut().push(count);
    let reply = model.ask(&prompt(), &Nonce::draw().unwrap(), Duration::from_secs(60), &note);
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.input, reply.usage.output), ("hello", 9, 2));
    assert_eq!(heard.borrow().last(), Some(&5));
    let request = server.request();
    assert!(request.head.starts_with("post /chat/completions http/1.1\r\n"));
    assert!(request.head.contains("authorization: bearer sk-very-secret\r\n"));
    assert_eq!(request.body["stream"], true);
}

#[test]
fn each_dialect_has_its_address_and_its_headers() {
    let body = r#"{"content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn"}"#;
    let server = Server::start(vec![respond("200 OK", "", body)]);
    let reply = ask(Dialect::Anthropic, &server).unwrap();
    assert_eq!(reply.text, "hello");
    // Unreported tokens are not counted as zero.
    assert!(reply.usage.input > 0 && reply.usage.output > 0);
    let request = server.request();
    assert!(request.head.starts_with("post /v1/messages http/1.1\r\n"));
    assert!(request.head.contains("x-api-key: sk-very-secret\r\n"));
    assert!(request.head.contains("anthropic-version: 2023-06-01\r\n"));

    let body =
        r#"{"status":"completed","output":[{"content":[{"type":"output_text","text":"hi"}]}]}"#;
    let server = Server::start(vec![respond("200 OK", "", body)]);
    assert_eq!(ask(Dialect::Responses, &server).unwrap().text, "hi");
    assert!(server.request().head.starts_with("post /responses http/1.1\r\n"));
}

#[test]
fn the_endpoint_hash_of_a_model_depends_on_url_and_dialect() {
    let way = |dialect, url: &str| model(dialect, url).about().endpoint_hash.clone();
    let ways = [
        way(Dialect::Chat, "https://a.example/v1"),
        way(Dialect::Chat, "https://b.example/v1"),
        way(Dialect::Responses, "https://a.example/v1"),
    ];
    assert!(ways[0] != ways[1] && ways[0] != ways[2] && ways[1] != ways[2], "{ways:?}");
    assert_eq!(ways[0], way(Dialect::Chat, "https://a.example/v1/"));
    assert!(!ways.concat().contains("example"));
}

#[test]
fn a_missing_or_unknown_finish_reason_is_accepted_if_the_stream_ends() {
    for reason in ["null", "\"\"", "\"STOP\"", "\"eos_token\""] {
        let end = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":{reason}}}]}}"#);
        let server =
            Server::start(vec![chunked(&format!("{HALF}data: {end}\n\ndata: [DONE]\n\n"))]);
        assert_eq!(ask(Dialect::Chat, &server).unwrap().text, "hel", "{reason}");
    }
}

#[test]
fn text_beside_the_report_is_kept() {
    let body = r#"{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"As told: c0ffee, sk-very-secret"},{"type":"tool_use","input":{"a":1}}],"stop_reason":"tool_use"}"#;
    let server = Server::start(vec![respond("200 OK", "", body)]);
    let reply = ask(Dialect::Anthropic, &server).unwrap();
    assert_eq!((reply.text.as_str(), reply.aside.as_str()), (r#"{"a":1}"#, "As told: c0ffee, …"));
    assert!(reply.contains_word("C0FFEE"));
}

/// Returns a prompt that offers the tool `look`.
fn prompt_with_tool() -> Prompt {
    let arguments = serde_json::json!({ "type": "object" });
    let tool = Tool { name: "look".into(), description: "Looks.".into(), arguments };
    Prompt { tools: vec![tool], ..prompt() }
}

fn ask_with(model: &HttpModel, prompt: &Prompt) -> Result<Reply, Failure> {
    model.ask(prompt, &Nonce::draw().unwrap(), Duration::from_secs(60), &|_| {})
}

#[test]
fn calls_of_offered_tools_are_separated_from_the_report_and_redacted() {
    let calls = r#"{"content":[{"type":"text","text":"Let me see."},{"type":"tool_use","id":"1","name":"look","input":{"at":"sk-very-secret"}},{"type":"tool_use","id":"2","name":"grep","input":{}}],"stop_reason":"tool_use"}"#;
    let server = Server::start(vec![respond("200 OK", "", calls)]);
    let reply = ask_with(&model(Dialect::Anthropic, &server.url), &prompt_with_tool()).unwrap();
    let call =
        |name: &str, arguments: &str| ToolCall { name: name.into(), arguments: arguments.into() };
    assert_eq!(reply.calls, [call("look", r#"{"at":"…"}"#), call("grep", "")]);
    assert_eq!((reply.text.as_str(), reply.tools_refused), ("Let me see.", false));
    // Without offered tools, there is no tool to call.
    let server = Server::start(vec![respond("200 OK", "", calls)]);
    let reply = ask(Dialect::Anthropic, &server).unwrap();
    assert_eq!((reply.text.as_str(), reply.calls.len()), (r#"{"at":"…"}"#, 0));
}

#[test]
fn refused_tools_are_dropped_from_this_and_later_requests() {
    let refusals = [
        (Dialect::Chat, "400 Bad Request", "registry/x does not support tools"),
        (Dialect::Chat, "400 Bad Request", "Function calling is not enabled for this model"),
        (Dialect::Chat, "404 Not Found", "No endpoints found that support tool use"),
        (Dialect::Chat, "500 Internal Server Error", "tools param requires --jinja flag"),
        (Dialect::Responses, "400 Bad Request", "Unknown parameter: 'tools'."),
        (Dialect::Anthropic, "400 Bad Request", "this model has no tools"),
    ];
    for (dialect, status, words) in refusals {
        let body = match dialect {
            Dialect::Anthropic => {
                r#"{"content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn"}"#
            }
            Dialect::Chat => {
                r#"{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}"#
            }
            Dialect::Responses => {
                r#"{"status":"completed","output":[{"content":[{"type":"output_text","text":"hello"}]}]}"#
            }
        };
        let refuse = respond(status, "", &format!(r#"{{"error":{{"message":"{words}"}}}}"#));
        let whole = || respond("200 OK", "", body);
        let server = Server::start(vec![refuse, whole(), whole()]);
        let model = model(dialect, &server.url);
        let mut prompt = prompt_with_tool();
        let reply = ask_with(&model, &prompt).unwrap();
        assert_eq!((reply.text.as_str(), reply.tools_refused), ("hello", true), "{words}");
        assert!(server.request().body.to_string().contains("\"look\""), "{words}");
        assert!(!server.request().body.to_string().contains("\"look\""), "{words}");
        let call = ToolCall { name: "look".into(), arguments: "{}".into() };
        let result = vec![Piece::Text("the result".into())];
        let turn = Turn { calls: vec![CallResult { call, result }], thoughts: Vec::new() };
        prompt.turns.push(turn);
        ask_with(&model, &prompt).unwrap();
        let body = server.request().body.to_string();
        assert!(body.contains("the result") && !body.contains("call01001"), "{words}: {body}");
    }
}

#[test]
fn an_error_that_is_not_about_tools_is_not_retried_without_tools() {
    let refuse =
        respond("500 Internal Server Error", "", r#"{"error":{"message":"out of memory"}}"#);
    let server = Server::start(vec![refuse]);
    let failure = ask_with(&model(Dialect::Chat, &server.url), &prompt_with_tool()).unwrap_err();
    assert_eq!(failure.class, FailureClass::Server);
}

#[test]
fn unsupported_fields_are_dropped_from_this_and_later_requests() {
    let refuse = |words: &str| {
        let body = format!(r#"{{"error":{{"message":"unknown field `{words}`"}}}}"#);
        respond("400 Bad Request", "", &body)
    };
    let server = Server::start(vec![
        refuse("max_completion_tokens"),
        refuse("response_format"),
        chunked(WHOLE),
        chunked(WHOLE),
    ]);
    let model = model(Dialect::Chat, &server.url);
    for _ in 0..2 {
        assert_eq!(ask_within(&model, Duration::from_secs(60)).unwrap().text, "hello");
    }
    let fields = ["max_completion_tokens", "max_tokens", "response_format"];
    let sent: Vec<Vec<&str>> = (0..4)
        .map(|_| {
            let body = server.request().body;
            fields.into_iter().filter(|field| body.get(field).is_some()).collect()
        })
        .collect();
    assert_eq!(
        sent,
        [
            vec!["max_completion_tokens", "response_format"],
            vec!["max_tokens", "response_format"],
            vec!["max_tokens"],
            vec!["max_tokens"],
        ]
    );
}

#[test]
fn an_unsupported_field_is_dropped_before_a_budget_failure_is_reported() {
    let body = r#"{"detail":[{"loc":["body","stream_options"],"msg":"no such field on your payment plan","input":{"include_usage":true}}]}"#;
    let refuse = || respond("422 Unprocessable Entity", "", body);
    let server = Server::start(vec![refuse(), chunked(WHOLE)]);
    assert_eq!(ask(Dialect::Chat, &server).unwrap().text, "hello");
    let server = Server::start(vec![refuse(), refuse()]);
    assert_eq!(ask(Dialect::Chat, &server).unwrap_err().class, FailureClass::Budget);
}

#[test]
fn a_refused_request_is_classified_and_explained() {
    let error = |status: &str, headers: &str, message: &str| {
        respond(status, headers, &format!(r#"{{"error":{{"message":"{message}"}}}}"#))
    };
    check(
        error("401 Unauthorized", "", "bad key sk-very-secret"),
        expect![[r#"
        Authentication: `fake/m`: `fake` rejected the API key (401: bad key …); check the variable `SOME_KEY`
        wait None, partial None, tokens 0"#]],
    );
    check(
        error("400 Bad Request", "", "credit balance is too low"),
        expect![[r#"
        Budget: `fake/m`: the account at `fake` has no credit left (400: credit balance is too low); top up the account, or choose another model
        wait None, partial None, tokens 0"#]],
    );
    check(
        error("404 Not Found", "", "no model m"),
        expect![[r#"
        NotFound: `fake/m`: no such model or address at `URL` (404: no model m); check `model` and `url`
        wait None, partial None, tokens 0"#]],
    );
    check(
        error("400 Bad Request", "", "what?"),
        expect![[r#"
        Rejected: `fake/m`: `fake` rejected the request (400: what?); check the model's settings
        wait None, partial None, tokens 0"#]],
    );
    check(
        error("400 Bad Request", "", "maximum context length is 8192"),
        expect![[r#"
        TooLong: `fake/m`: the prompt exceeds the model's context window (400: maximum context length is 8192); review a smaller change, or choose a model with a larger context window
        wait None, partial None, tokens 0"#]],
    );
    check(
        error("413 Too Large", "", ""),
        expect![[r#"
        TooLong: `fake/m`: the prompt exceeds the model's context window (413); review a smaller change, or choose a model with a larger context window
        wait None, partial None, tokens 0"#]],
    );
    check(
        error("429 Slow Down", "retry-after: 7\r\n", "slow down"),
        expect![[r#"
            RateLimit: `fake/m`: rate limit exceeded at `fake` (429: slow down); try again later, or lower `models.at_a_time` (the server asks to retry after 7 s)
            wait Some(7s), partial None, tokens 0"#]],
    );
    check(
        error("529 Full", "", "Overloaded"),
        expect![[r#"
        Overload: `fake/m`: `fake` is overloaded (529: Overloaded); try again later
        wait None, partial None, tokens 0"#]],
    );
    check(
        respond("502 Bad Gateway", "", "<html><h1>Bad</h1>\u{1b}[31m gateway</html>"),
        expect![[r#"
            Server: `fake/m`: `fake` failed with a server error (502: Bad [31m gateway); try again later
            wait None, partial None, tokens 0"#]],
    );
}

#[test]
fn no_request_is_sent_to_the_target_of_a_redirect() {
    let elsewhere = Server::start(vec![chunked(WHOLE)]);
    let to = format!("location: {}/chat/completions\r\n", elsewhere.url);
    let check = |status: &str, expected: Expect| {
        let server = Server::start(vec![respond(status, &to, "")]);
        let failure = ask(Dialect::Chat, &server).unwrap_err();
        let message = failure.message.replace(&server.url, "URL");
        expected.assert_eq(&message.replace(&elsewhere.url, "ELSEWHERE"));
    };
    check(
        "302 Found",
        expect![
            "`fake/m`: no such model or address at `URL` (302: redirect to ELSEWHERE/chat/completions); check `model` and `url`"
        ],
    );
    check(
        "307 Temporary Redirect",
        expect![
            "`fake/m`: no such model or address at `URL` (307: redirect to ELSEWHERE/chat/completions); check `model` and `url`"
        ],
    );
    assert!(!elsewhere.has_more());
}

#[test]
fn missing_invalid_and_truncated_answers_are_distinguished() {
    check(
        ServerAction::Reset(stream(HALF)),
        expect![[r#"
        Network: `fake/m`: the connection to `fake` broke off during the answer (io: Peer disconnected); try again
        wait None, partial Some("hel"), tokens unknown"#]],
    );
    check(
        chunked(HALF),
        expect![[r#"
        Network: `fake/m`: the connection to `fake` broke off during the answer (the stream ended before the answer was complete); try again
        wait None, partial Some("hel"), tokens unknown"#]],
    );
    check(
        ServerAction::Reset(String::new()),
        expect![[r#"
        Network: `fake/m`: the connection to `fake` broke off during the answer (io: Peer disconnected); try again
        wait None, partial None, tokens unknown"#]],
    );
    check(
        respond("200 OK", "", "<html>Sign in</html>"),
        expect![[r#"
        Garbage: `fake/m`: the response from `URL` is not an answer of a model (`<html>Sign in</html>`); check the `url`
        wait None, partial None, tokens unknown"#]],
    );
    check(
        respond("200 OK", "", ""),
        expect![[r#"
        Empty: `fake/m`: the answer is empty; try again, or choose another model
        wait None, partial None, tokens 31"#]],
    );
    check(
        chunked(&format!("{HALF}data: {{oops\n\n")),
        expect![[r#"
        Garbage: `fake/m`: the response from `URL` is not an answer of a model (`{oops`); check the `url`
        wait None, partial Some("hel"), tokens unknown"#]],
    );
    let end = |end: &str| {
        chunked(&format!(
            "{HALF}data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"{end}\"}}]}}\n\n"
        ))
    };
    check(
        end("length"),
        expect![[r#"
        CutOff: `fake/m`: the answer was cut off at 100 tokens; raise `max_output_tokens`, or review a smaller change
        wait None, partial Some("hel"), tokens 34"#]],
    );
    check(
        end("error"),
        expect![[r#"
        Garbage: `fake/m`: the answer ended with the unknown stop reason `error`; try again, or choose another model
        wait None, partial Some("hel"), tokens 34"#]],
    );
    check(
        end("content_filter"),
        expect![[r#"
        Refusal: `fake/m`: the model refused to answer; choose another model
        wait None, partial Some("hel"), tokens 34"#]],
    );
    check(
        chunked(
            "data: {\"choices\":[{\"delta\":{\"content\":\" \"},\"finish_reason\":\"stop\"}]}\n\n",
        ),
        expect![[r#"
            Empty: `fake/m`: the answer is empty; try again, or choose another model
            wait None, partial None, tokens 32"#]],
    );
    check(
        chunked(&format!(
            "{HALF}data: {{\"error\":{{\"code\":429,\"message\":\"slow down\"}}}}\n\n"
        )),
        expect![[r#"
            RateLimit: `fake/m`: rate limit exceeded at `fake` (slow down); try again later, or lower `models.at_a_time`
            wait None, partial Some("hel"), tokens unknown"#]],
    );
}

#[test]
fn the_maximum_duration_is_accepted_as_a_timeout() {
    let server = Server::start(vec![chunked(WHOLE)]);
    let model = model(Dialect::Chat, &server.url);
    assert_eq!(ask_within(&model, Duration::MAX).unwrap().text, "hello");
}

#[test]
fn an_endless_answer_times_out_and_its_beginning_is_kept() {
    let server = Server::start(vec![ServerAction::Hang(stream(HALF))]);
    let model = model(Dialect::Chat, &server.url);
    let failure = ask_within(&model, PATIENCE).unwrap_err();
    assert_eq!((failure.class, failure.partial.as_deref()), (FailureClass::TimedOut, Some("hel")));
}

#[test]
fn a_silent_server_times_out() {
    let server = Server::start(vec![ServerAction::Hang(String::new())]);
    let model = model(Dialect::Chat, &server.url);
    let failure = ask_within(&model, PATIENCE).unwrap_err();
    assert_eq!((failure.class, failure.partial), (FailureClass::TimedOut, None));
}

/// Formats a chunk of a stream.
fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

#[test]
fn a_stalled_answer_fails_after_the_stall_timeout() {
    let head = stream("");
    let ping = chunk(": keep-alive\n\n");
    let event = chunk("event: ping\ndata: {\"type\": \"ping\"}\n\n");
    let blank = "HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n{".to_owned();
    for (act, partial) in [
        (ServerAction::Hang(String::new()), None),
        (ServerAction::Hang(stream(HALF)), Some("hel")),
        (ServerAction::Repeat(stream(HALF), ping.clone()), Some("hel")),
        (ServerAction::Repeat(head.replace("0\r\n\r\n", ""), ping), None),
        (ServerAction::Repeat(stream(HALF), event), Some("hel")),
        (ServerAction::Repeat(blank, " ".repeat(16)), None),
    ] {
        let server = Server::start(vec![act]);
        let model =
            model(Dialect::Chat, &server.url).with_stall_timeout(Duration::from_millis(200));
        let failure = ask_within(&model, Duration::from_secs(3_600)).unwrap_err();
        assert_eq!((failure.class, failure.partial.as_deref()), (FailureClass::Stalled, partial));
        assert!(failure.message.contains("sent no data for"), "{}", failure.message);
        assert!(failure.message.contains("`models.stall_seconds`"), "{}", failure.message);
    }
}

#[test]
fn the_total_timeout_applies_if_it_expires_before_the_stall_timeout() {
    let server = Server::start(vec![ServerAction::Hang(stream(HALF))]);
    let model = model(Dialect::Chat, &server.url).with_stall_timeout(Duration::from_secs(3_600));
    let failure = ask_within(&model, Duration::from_millis(200)).unwrap_err();
    assert_eq!(failure.class, FailureClass::TimedOut);
}

#[test]
fn a_refused_connection_is_reported_as_a_network_failure() {
    let url = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let failure = ask_within(&model(Dialect::Chat, &url), Duration::from_secs(60)).unwrap_err();
    assert_eq!(
        (failure.class, failure.usage.map(|usage| usage.total())),
        (FailureClass::Network, Some(0))
    );
    assert!(failure.message.starts_with(&format!("`fake/m`: cannot connect to `{url}`")));
}

#[test]
fn a_server_that_fails_the_tls_handshake_gets_no_key() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut greeting = [0; 5];
        stream.read_exact(&mut greeting).unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        let mut rest = Vec::new();
        // The client may close the connection.
        let _ = stream.read_to_end(&mut rest);
        String::from_utf8_lossy(&rest).into_owned()
    });
    let failure = ask_within(&model(Dialect::Chat, &url), Duration::from_secs(60)).unwrap_err();
    assert_eq!(failure.class, FailureClass::Network, "{failure}");
    assert!(!server.join().unwrap().contains(KEY));
}

#[test]
fn an_invalid_url_is_refused_at_once() {
    for url in ["", "example.com", "ftp://example.com", "https://", "https://me:secret@example.com"]
    {
        let failure = Provider::new("fake", Dialect::Chat, url, KeySource::None).unwrap_err();
        assert!(!failure.message.contains("secret"), "{failure}");
    }
}

#[test]
fn without_a_key_nothing_is_sent() {
    let key = KeySource::Variable { name: "SOME_KEY".into(), value: None };
    let provider = Provider::new("fake", Dialect::Chat, "http://127.0.0.1:1", key).unwrap();
    let model = HttpModel::new(Arc::new(provider), ModelDescription::of(ModelId::new("fake", "m")));
    let failure = ask_within(&model, Duration::from_secs(60)).unwrap_err();
    assert_eq!(failure.class, FailureClass::Authentication);
    assert_eq!(failure.message, "`fake/m`: missing key: set the variable `SOME_KEY`");
}
