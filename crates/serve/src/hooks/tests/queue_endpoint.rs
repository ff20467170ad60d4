//! Requests for a review by a build.

use super::*;

#[test]
fn the_queue_endpoint_queues_reviews_for_valid_requests_with_the_token() {
    let server = HookServer::start();
    let ask = |body: &str| {
        // The content type that `curl -d` sends.
        let kind = ("content-type", "application/x-www-form-urlencoded");
        let token = ("authorization", "bearer 0123456789abcdef");
        server.send("/queue", &[kind, token], body.as_bytes())
    };
    let old = format!(r#"{{"pr":7,"head":"{}"}}"#, commit(6));
    let right = format!(r#"{{"pr":8,"repo":"O/r","head":"{}","agent_id":"critic"}}"#, commit(7));
    server.github.fail_next("GET pulls/500", Fault::Unavailable);
    server.github.fail_next("GET pulls/403", Fault::Forbidden);
    check(
        &[
            ("no token", server.send("/queue", &[], b"{}")),
            ("another token", server.send("/queue", &[("authorization", "Bearer x")], b"{}")),
            ("as the seed has it", ask(r#"{"agent_id":"qa","pr":"7"}"#)),
            ("as a number", ask(r#"{"pr":7}"#)),
            ("an old head", ask(&old)),
            ("the head, another agent", ask(&right)),
            ("nobody", ask(r#"{"agent_id":"nobody","pr":"7"}"#)),
            ("a path", ask(r#"{"agent_id":"../qa","pr":"7"}"#)),
            ("no number", ask(r#"{"pr":"seven"}"#)),
            ("zero", ask(r#"{"pr":0}"#)),
            ("less", ask(r#"{"pr":-7}"#)),
            ("another repository", ask(r#"{"pr":7,"repo":"o/other"}"#)),
            ("no repository", ask(r#"{"pr":7,"repo":"o"}"#)),
            ("a slip", ask(r#"{"pr":7,"repository":"o/r"}"#)),
            ("closed", ask(r#"{"pr":6}"#)),
            ("not there", ask(r#"{"pr":70}"#)),
            ("away", ask(r#"{"pr":500}"#)),
            ("refused", ask(r#"{"pr":403}"#)),
            ("no JSON", ask("pr=7")),
        ],
        expect![[r#"
            no token -> 401 refused: the header `Authorization: Bearer TOKEN` is missing or wrong
            another token -> 401 refused: the header `Authorization: Bearer TOKEN` is missing or wrong
            as the seed has it -> 202 queued
            as a number -> 200 already_there: task `review-o.r-7-main-0000000000000000000000000000000000000007` already exists (pending, in `qa`)
            an old head -> 409 refused: the head of #7 is now 0000000000000000000000000000000000000007
            the head, another agent -> 202 queued
            nobody -> 422 refused: unknown `agent_id`: expected one of critic, qa
            a path -> 422 refused: unknown `agent_id`: expected one of critic, qa
            no number -> 422 refused: invalid `pr`: expected the number of a pull request, such as 7 or "7"
            zero -> 422 refused: invalid `pr`: expected the number of a pull request, such as 7 or "7"
            less -> 422 refused: invalid `pr`: expected the number of a pull request, such as 7 or "7"
            another repository -> 422 refused: unknown `repo`: expected one of o/r
            no repository -> 400 refused: the body is not of the form {"agent_id":"qa","pr":"7"}: invalid repository "o": expected `owner/name` at line 1 column 19
            a slip -> 400 refused: the body is not of the form {"agent_id":"qa","pr":"7"}: unknown field `repository`, expected one of `agent_id`, `pr`, `repo`, `head` at line 1 column 20
            closed -> 404 refused: o/r#6 is closed
            not there -> 404 refused: GitHub refused `GET /repos/o/r/pulls/70` with status 404: Not Found (it does not exist, or the token has no access)
            away -> 503 come_again: GitHub refused `GET /repos/o/r/pulls/500` with status 503: Service unavailable
            refused -> 502 refused: GitHub refused `GET /repos/o/r/pulls/403` with status 403: Resource not accessible by integration (the token lacks a permission)
            no JSON -> 400 refused: the body is not of the form {"agent_id":"qa","pr":"7"}: expected value at line 1 column 1
        "#]],
    );
    // Repositories that are not configured are not looked up.
    let requested = server.requested_paths().into_iter().collect::<Vec<_>>().join("\n");
    expect![[r#"
        /repos/o/r/pulls/403
        /repos/o/r/pulls/500
        /repos/o/r/pulls/6
        /repos/o/r/pulls/7
        /repos/o/r/pulls/70
        /repos/o/r/pulls/8"#]]
    .assert_eq(&requested);
    let critics = TaskFilter { queue: Some("second".parse().unwrap()), ..TaskFilter::default() };
    assert_eq!(server.queue.list(&critics).unwrap().len(), 1);
}

#[test]
fn a_request_must_name_its_repository_if_several_are_configured() {
    let server =
        HookServer::with(|context| context.github.repositories.push("o/second".parse().unwrap()));
    let token = [("authorization", "Bearer 0123456789abcdef")];
    let ask = |body: &str| server.send("/queue", &token, body.as_bytes());
    check(
        &[("none", ask(r#"{"pr":7}"#)), ("one", ask(r#"{"pr":9,"repo":"o/second"}"#))],
        expect![[r#"
            none -> 422 refused: missing `repo`: expected one of o/r, o/second
            one -> 202 queued
        "#]],
    );
}
