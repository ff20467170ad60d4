//! Tests of the Graphiti client: searching and adding.

use std::net::TcpListener;
use std::time::Duration;

use assay_services::graphiti::{Episode, Graphiti, GraphitiError, GroupId, SearchQuery, Session};
use assay_testkit::graphiti::{Behaviour, FakeGraphiti, Memory};
use assay_testkit::pages::{Answer, Pages};
use expect_test::{Expect, expect};
use serde_json::json;

/// A timeout that is enough for a loaded machine, in tests that do not wait for it.
const LONG: Duration = Duration::from_secs(60);

/// Searches for facts and entities, and returns the results as text.
fn asked(url: &str, time: Duration) -> Result<String, GraphitiError> {
    let mut session = Graphiti::new(url.parse().unwrap(), time).connect()?;
    let search_result = search(&mut session);
    session.close();
    search_result
}

fn search(session: &mut Session) -> Result<String, GraphitiError> {
    let query = SearchQuery { text: "what of a.py?", group: &GroupId::from_name("shop"), limit: 2 };
    let facts = session.search_facts(&query)?.into_iter().map(|fact| {
        let since = fact.valid_at.unwrap_or_default();
        format!("fact {since}: {}\n", fact.text)
    });
    let nodes = session.search_nodes(&query)?.into_iter().map(|node| {
        let summary = node.summary.unwrap_or_default();
        format!("node {}: {summary}\n", node.name)
    });
    Ok(facts.chain(nodes).collect())
}

fn check(memory: Memory, expected: &Expect) {
    let server = FakeGraphiti::start(memory);
    let search_result = asked(&server.url(), LONG).unwrap_or_else(|error| error.to_string());
    expected.assert_eq(&search_result.replace(&server.url(), "URL"));
    assert_eq!(server.problems(), [""; 0]);
    assert_eq!(server.open_sessions(), 0);
}

fn memory() -> Memory {
    let mut memory = Memory::of("shop", &["mean() fails on nothing", "label() is fine"]);
    memory.nodes = vec![json!({ "uuid": "n", "name": "a.py", "summary": "prices" })];
    memory
}

#[test]
fn facts_and_nodes_of_the_repository_are_found() {
    let found = expect![[r#"
        fact 2026-06-01T00:00:00Z: mean() fails on nothing
        fact 2026-06-01T00:00:00Z: label() is fine
        node a.py: prices
    "#]];
    check(memory(), &found);
    check(Memory { manner: Behaviour::Stream, ..memory() }, &found);
    check(Memory { group: "other".to_owned(), ..memory() }, &expect![""]);
}

#[test]
fn invalidated_facts_are_left_out() {
    let mut memory = memory();
    memory.facts[0]["invalid_at"] = json!("2026-06-02T00:00:00Z");
    memory.nodes.clear();
    check(
        memory,
        &expect![[r#"
        fact 2026-06-01T00:00:00Z: label() is fine
    "#]],
    );
}

#[test]
fn an_episode_is_added_with_its_group_and_source() {
    for manner in [Behaviour::Json, Behaviour::Stream] {
        let server = FakeGraphiti::start(Memory { manner, ..memory() });
        let mut session = Graphiti::new(server.url().parse().unwrap(), LONG).connect().unwrap();
        let group = GroupId::from_name("my shop");
        let episode = Episode { name: "001", body: "approved", group: &group, source: "assay qa" };
        session.add_episode(&episode).unwrap();
        session.close();
        let call = server.calls().remove(0);
        let expected = json!({
            "name": "001", "episode_body": "approved", "group_id": "my_shop", "source": "text",
            "source_description": "assay qa",
        });
        assert_eq!((call.tool.as_str(), call.arguments), ("add_memory", expected));
        assert_eq!(server.problems(), [""; 0]);
    }
}

#[test]
fn a_failing_or_missing_tool_is_reported_with_the_reason() {
    check(
        Memory { manner: Behaviour::Failing, ..memory() },
        &expect!["the Graphiti server refused `search_memory_facts`: the graph is away"],
    );
    check(
        Memory { manner: Behaviour::NoNodes, ..memory() },
        &expect!["the Graphiti server refused `search_nodes`: Unknown tool: search_nodes"],
    );
}

#[test]
fn an_answer_with_an_unexpected_shape_is_a_parse_error() {
    let mut odd = memory();
    odd.facts = vec![json!("mean() fails")];
    check(
        odd,
        &expect![[
            r#"cannot parse the answer of the Graphiti server to `search_memory_facts`: invalid type: string "mean() fails", expected struct Fact"#
        ]],
    );
}

#[test]
fn a_silent_server_times_out_and_an_endless_answer_fails() {
    for manner in [Behaviour::Silent, Behaviour::Endless] {
        let server = FakeGraphiti::start(Memory { manner, ..memory() });
        let search_result =
            asked(&server.url(), Duration::from_millis(300)).unwrap_err().to_string();
        let search_result = search_result.replace(&server.url(), "URL");
        let late = "the Graphiti server at `URL` did not answer within 0.3 s";
        let flooded = "the server at `URL` is not an MCP server: the answer has more than 1024 KB";
        match manner {
            Behaviour::Silent => assert_eq!(search_result, late),
            _ => assert!([late, flooded].contains(&search_result.as_str()), "{search_result}"),
        }
    }
}

#[test]
fn an_unreachable_server_is_reported_with_its_address() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let search_result =
        asked(&format!("http://127.0.0.1:{port}/mcp"), LONG).unwrap_err().to_string();
    assert!(
        search_result.starts_with("cannot reach the Graphiti server at `http://127.0.0.1:"),
        "{search_result}"
    );
}

#[test]
fn a_server_that_does_not_speak_mcp_is_rejected_with_the_reason() {
    let check = |answer: Answer, expected: Expect| {
        let url = Pages::serve(vec![("/mcp", answer)]).url("/mcp");
        let search_result = asked(&url, LONG).unwrap_err().to_string();
        expected.assert_eq(&search_result.replace(&url, "URL"));
    };
    check(
        Answer::Page(200, "<p>hello</p>".to_owned()),
        expect!["the server at `URL` is not an MCP server: the answer is not a JSON-RPC message"],
    );
    check(
        Answer::Page(200, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#.to_owned()),
        expect!["the server at `URL` is not an MCP server: the answer is for another request"],
    );
    check(
        Answer::Page(
            200,
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"1999\u001b[1m"}}"#.to_owned(),
        ),
        expect![[
            r"the server at `URL` is not an MCP server: unsupported MCP version `1999\u{1b}[1m`"
        ]],
    );
    check(
        Answer::Page(404, String::new()),
        expect!["the server at `URL` is not an MCP server: `initialize` returned status 404"],
    );
    check(
        Answer::Redirect("http://elsewhere.example/mcp".to_owned()),
        expect![
            "the server at `URL` is not an MCP server: the redirect to \
             `http://elsewhere.example/mcp` is not followed"
        ],
    );
    let deep = format!("{{\"id\":1,\"result\":{}", "[".repeat(400_000));
    check(
        Answer::Page(200, deep),
        expect!["the server at `URL` is not an MCP server: the answer is not a JSON-RPC message"],
    );
    check(
        Answer::Page(200, format!("{{\"id\":1,\"result\":\"{}\"}}", "x".repeat(2 << 20))),
        expect!["the server at `URL` is not an MCP server: the answer has more than 1024 KB"],
    );
}
