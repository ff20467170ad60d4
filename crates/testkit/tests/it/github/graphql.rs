//! Threads, which only GraphQL has.

use assay_testkit::github::{Fault, FaultTiming, GitHub};
use serde_json::{Value, json};

use super::{REPO, github, review};

const STATE: &str = "
query ReviewState($owner: String!, $name: String!, $number: Int!, $threads: String, $comments: String, $reviews: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { headRefOid baseRefName
    reviewThreads(first: 50, after: $threads) { pageInfo { hasNextPage endCursor } nodes { id isResolved isOutdated resolvedBy { login } path line comments(first: 50) { nodes { fullDatabaseId body viewerDidAuthor author { login } } } } }
    comments(first: 100, after: $comments) { pageInfo { hasNextPage endCursor } nodes { fullDatabaseId body viewerDidAuthor } }
    reviews(first: 100, after: $reviews) { pageInfo { hasNextPage endCursor } nodes { fullDatabaseId body state viewerDidAuthor commit { oid } } } } } }";
const RESOLVE: &str = "mutation ResolveThread($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { id isResolved } } }";
const UNRESOLVE: &str = "mutation UnresolveThread($id: ID!) { unresolveReviewThread(input: {threadId: $id}) { thread { id isResolved } } }";

fn query(github: &GitHub, token: &str, query: &str, variables: Value) -> Value {
    let body = json!({ "query": query, "variables": variables });
    let (status, body) = github.ask(token, "POST", "/graphql", &body);
    assert_eq!(status, 200);
    body
}

fn number(number: u32) -> Value {
    json!({ "owner": "octo", "name": "demo", "number": number })
}

/// Returns a GitHub with a number of threads by a bot.
fn discussed(threads: usize) -> GitHub {
    let github = github();
    let comment = json!({ "path": "src/a.rs", "line": 2, "body": "Hm." });
    let path = format!("/repos/{REPO}/pulls/1/reviews");
    let body = review(json!(vec![comment; threads]));
    assert_eq!(github.ask("t-app", "POST", &path, &body).0, 200);
    github
}

#[test]
fn threads_come_in_pages() {
    let github = discussed(60);
    let page = |cursor: Value| {
        let mut variables = number(1);
        variables["threads"] = cursor;
        let body = query(&github, "t-app", STATE, variables);
        body["data"]["repository"]["pullRequest"]["reviewThreads"].clone()
    };
    let first = page(Value::Null);
    assert_eq!(first["nodes"].as_array().unwrap().len(), 50);
    assert_eq!(first["pageInfo"]["hasNextPage"], true);
    let second = page(first["pageInfo"]["endCursor"].clone());
    assert_eq!(second["nodes"].as_array().unwrap().len(), 10);
    assert_eq!(second["pageInfo"]["hasNextPage"], false);
    let thread = &second["nodes"][9];
    assert_eq!((&thread["line"], &thread["isResolved"]), (&json!(2), &json!(false)));
    let comment = &thread["comments"]["nodes"][0];
    assert_eq!(comment["viewerDidAuthor"], true);
    assert_eq!(comment["author"]["login"], "assay", "a bot goes without its mark");
}

#[test]
fn only_requested_fields_are_returned() {
    let github = discussed(1);
    let body = query(&github, "t-rev", STATE, number(1));
    let pull = &body["data"]["repository"]["pullRequest"];
    let fields: Vec<&String> = pull.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["headRefOid", "baseRefName", "reviewThreads", "comments", "reviews"]);
    assert_eq!(pull["reviews"]["nodes"][0]["state"], "COMMENTED");
    assert_eq!(pull["reviews"]["nodes"][0]["viewerDidAuthor"], false);
}

#[test]
fn threads_are_resolved_and_opened_again() {
    let github = discussed(1);
    let id = github.threads(REPO, 1)[0].id.clone();
    let thread = |body: Value, field: &str| body["data"][field]["thread"].clone();
    let done = query(&github, "t-rev", RESOLVE, json!({ "id": id }));
    assert_eq!(thread(done, "resolveReviewThread"), json!({ "id": id, "isResolved": true }));
    assert!(github.visible(REPO, 1).starts_with("src/a.rs:2, resolved by rev\n"));
    let done = query(&github, "t-app", UNRESOLVE, json!({ "id": id }));
    assert_eq!(thread(done, "unresolveReviewThread"), json!({ "id": id, "isResolved": false }));
    assert_eq!(github.threads(REPO, 1)[0].resolved_by, None);
    let log = github.log();
    assert_eq!(log[1].operation.as_deref(), Some("ResolveThread"));
    assert!(log[1].took_effect);
    assert_eq!(github.busiest().minute, 3, "a mutation is a write");
}

#[test]
fn a_fault_applies_to_the_mutation_it_names() {
    let github = discussed(1);
    let id = github.threads(REPO, 1)[0].id.clone();
    github.fail_next("ResolveThread", Fault::BadGateway(FaultTiming::BeforeEffect));
    query(&github, "t-rev", STATE, number(1));
    let body = json!({ "query": RESOLVE, "variables": { "id": id } });
    let asked = assay_testkit::web::ServiceRequest {
        method: "POST".to_owned(),
        target: "/graphql".to_owned(),
        headers: Vec::new(),
        body: body.to_string().into_bytes(),
    };
    assert_eq!(github.answer(&asked).unwrap().status, 502);
    assert_eq!(github.threads(REPO, 1)[0].resolved_by, None);
}

/// Sends a query, and checks that it is refused with status 200.
#[track_caller]
fn refused(token: &str, text: &str, variables: Value, why: &str) {
    let body = query(&discussed(1), token, text, variables);
    let message = body["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains(why), "{message}");
}

#[test]
fn invalid_queries_and_unknown_objects_are_refused_with_the_reason() {
    refused("t-rev", STATE, number(9), "Could not resolve to a PullRequest with the number of 9.");
    let other = json!({ "owner": "octo", "name": "other", "number": 1 });
    refused("t-rev", STATE, other, "a Repository with the name 'octo/other'");
    refused("t-rev", RESOLVE, json!({ "id": "PRRT_1" }), "global id of 'PRRT_1'");
    refused(
        "t-rev",
        "query A { users { id } }",
        json!({}),
        "'users' doesn't exist on type 'Query'",
    );
    let typo = STATE.replace("isOutdated", "outdated");
    refused("t-rev", &typo, number(1), "Field 'outdated' doesn't exist");
    refused("t-rev", &STATE.replace("{ oid }", ""), number(1), "must have selections");
    refused("t-rev", &STATE.replace("first: 100", "first: 101"), number(1), "between 1 and 100");
    let cursor = json!({ "owner": "octo", "name": "demo", "number": 1, "threads": "x" });
    refused("t-rev", STATE, cursor, "valid cursor");
}

#[test]
fn missing_mistyped_and_unused_variables_are_refused() {
    let wrong = |variables: Value, why: &str| refused("t-rev", STATE, variables, why);
    wrong(json!({ "owner": "octo", "name": "demo" }), "Variable $number of type Int!");
    wrong(json!({ "owner": "octo", "name": "demo", "number": "1" }), "Variable $number");
    let extra = json!({ "owner": "octo", "name": "demo", "number": 1, "x": 1 });
    wrong(extra, "Variable $x is given but not declared");
    let unused = STATE.replace(", after: $reviews", "");
    refused("t-rev", &unused, number(1), "Variable $reviews is declared but not used");
    let undeclared = STATE.replace(", $reviews: String", "");
    refused("t-rev", &undeclared, number(1), "Variable $reviews is used but not declared");
    refused("t-rev", "query A {", json!({}), "Unexpected end of document");
}

#[test]
fn a_read_only_user_cannot_resolve_threads() {
    let github = discussed(1);
    let id = github.threads(REPO, 1)[0].id.clone();
    let body = query(&github, "t-reader", RESOLVE, json!({ "id": id }));
    assert_eq!(body["errors"][0]["type"], "FORBIDDEN");
    assert_eq!(github.threads(REPO, 1)[0].resolved_by, None);
    let (status, _) = github.ask("wrong", "POST", "/graphql", &json!({ "query": STATE }));
    assert_eq!(status, 401);
}
