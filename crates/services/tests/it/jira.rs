//! Tests of the JIRA client, against a fake.

use std::sync::Arc;

use assay_services::jira::document::{Inline, MarkupBlock};
use assay_services::jira::{
    EpicChild, FieldValue, Flavour, Jira, JiraError, NewTicket, TicketDraft, document,
};
use assay_services::outcome::{CommentOutcome, TransitionOutcome};
use assay_store::pulls::TicketKey;
use assay_testkit::jira::{FakeJira, Fault, PROJECT, TOKEN, USER};
use expect_test::{Expect, expect};
use serde_json::json;

use crate::fixtures::{DirectTransport, RecordingClock, keys};

fn client(fake: &FakeJira, flavour: Flavour) -> (Jira, Arc<RecordingClock>) {
    let waits = Arc::new(RecordingClock::default());
    let transport = Arc::new(DirectTransport(Arc::new(fake.clone())));
    (Jira::new(transport, flavour, keys(TOKEN), waits.clone()), waits)
}

fn cloud() -> (FakeJira, Jira) {
    let fake = FakeJira::cloud();
    let (jira, _) = client(&fake, Flavour::Cloud { user: USER.to_owned() });
    (fake, jira)
}

fn server() -> (FakeJira, Jira) {
    let fake = FakeJira::server();
    let (jira, _) = client(&fake, Flavour::Server);
    (fake, jira)
}

fn key(text: &str) -> TicketKey {
    text.parse().unwrap()
}

fn said(fake: &FakeJira, ticket: &str) -> String {
    let texts: Vec<String> = fake.comments(ticket).iter().map(document::read).collect();
    texts.join("\n--\n")
}

fn draft(summary: &str) -> TicketDraft {
    TicketDraft { summary: summary.to_owned(), description: "See `a`.".to_owned(), labels: vec![] }
}

fn check_error<T>(result: Result<T, JiraError>, expected: Expect) {
    let error = result.err().unwrap();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    assert!(!text.contains(TOKEN));
    expected.assert_eq(&text);
}

#[test]
fn tickets_are_found_page_by_page_and_no_more_than_asked_for() {
    for (fake, jira) in [cloud(), server()] {
        for number in 1..=8 {
            fake.add("Task", &format!("Task {number}"));
        }
        let found = jira.search("project = PROJ ORDER BY created ASC", 5).unwrap();
        let keys: Vec<&str> = found.issues.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys, ["PROJ-1", "PROJ-2", "PROJ-3", "PROJ-4", "PROJ-5"]);
        assert!(found.more);
        let all = jira.search("project = PROJ", 100).unwrap();
        assert_eq!((all.issues.len(), all.more), (8, false));
        assert_eq!(fake.problems(), [""; 0]);
    }
}

#[test]
fn a_ticket_is_read_as_plain_text_with_its_latest_comments() {
    let (fake, jira) = cloud();
    let ticket = fake.add("Bug", "Login fails");
    let text = document::parse("It **fails**:\n- at [x](https://a.example)");
    fake.set(&ticket, "description", document::write(&text));
    fake.set(&ticket, "labels", json!(["login"]));
    fake.set(&ticket, "assignee", json!({ "displayName": "Ada" }));
    for number in 1..=3 {
        fake.say(&ticket, &format!("Comment {number}"));
    }
    let issue = jira.issue(&key(&ticket), 2).unwrap();
    assert_eq!(issue.description, "It fails:\n- at x (https://a.example)");
    assert_eq!((issue.header.status.as_str(), issue.header.kind.as_str()), ("To Do", "Bug"));
    assert_eq!(issue.header.assignee.as_deref(), Some("Ada"));
    let texts: Vec<&str> = issue.comments.iter().map(|it| it.text.as_str()).collect();
    assert_eq!((texts, issue.older_comments), (vec!["Comment 3", "Comment 2"], 1));
}

#[test]
fn a_missing_ticket_or_field_is_reported_with_the_message_of_jira() {
    let (fake, jira) = cloud();
    fake.add("Task", "A task");
    check_error(
        jira.issue(&key("PROJ-7"), 0),
        expect![
            "JIRA refused `GET /rest/api/3/issue/PROJ-7` with status 404: Issue does not exist or you do not have permission to see it."
        ],
    );
    check_error(
        jira.search("colour = red", 5),
        expect![
            "JIRA refused `POST /rest/api/3/search/jql` with status 400: Field 'colour' does not exist or you do not have permission to view it."
        ],
    );
}

#[test]
fn a_comment_is_posted_once_even_if_the_answer_is_lost() {
    for fault in [Fault::After(502), Fault::CutAfter, Fault::Before(503), Fault::CutBefore] {
        for (fake, jira) in [cloud(), server()] {
            let ticket = fake.add("Task", "A task");
            fake.fail("/comment", Fault::Limit(7));
            jira.comment(&key(&ticket), "before").unwrap();
            fake.fail("POST ", fault);
            let comment_outcome =
                jira.comment_once(&key(&ticket), &"r-1".parse().unwrap(), "[Rejected] twice");
            assert_eq!(comment_outcome.unwrap(), CommentOutcome::Created, "{fault:?}");
            let comment_outcome =
                jira.comment_once(&key(&ticket), &"r-1".parse().unwrap(), "Rejected anew");
            assert_eq!(comment_outcome.unwrap(), CommentOutcome::Existing);
            assert_eq!(fake.comments(&ticket).len(), 2, "{fault:?}: {}", said(&fake, &ticket));
            assert!(said(&fake, &ticket).ends_with("assay:r-1"));
            assert_eq!(fake.problems(), [""; 0]);
        }
    }
}

#[test]
fn an_existing_comment_is_found_behind_many_others_but_not_by_a_quoted_marker() {
    let (fake, jira) = cloud();
    let ticket = fake.add("Task", "A task");
    let marker = "r-1".parse().unwrap();
    fake.say(&ticket, "somebody mentions assay:r-1 here");
    assert_eq!(jira.comment_once(&key(&ticket), &marker, "News").unwrap(), CommentOutcome::Created);
    for number in 0..250 {
        fake.say(&ticket, &format!("Comment {number}"));
    }
    assert_eq!(
        jira.comment_once(&key(&ticket), &marker, "News").unwrap(),
        CommentOutcome::Existing
    );
}

#[test]
fn a_comment_with_a_lost_answer_is_searched_for_and_not_posted_again() {
    let (fake, jira) = cloud();
    let ticket = fake.add("Task", "A task");
    fake.say(&ticket, "the same");
    fake.fail("POST ", Fault::CutAfter);
    assert_eq!(jira.comment(&key(&ticket), "the same").unwrap(), "10002");
    fake.fail("POST ", Fault::CutBefore);
    assert!(jira.comment(&key(&ticket), "the same").unwrap_err().is_outcome_unknown());
    assert_eq!(fake.comments(&ticket).len(), 2);
}

#[test]
fn a_ticket_is_moved_by_transition_name_or_target_status() {
    let (fake, jira) = cloud();
    let ticket = fake.add("Task", "A task");
    let moved = |wanted: &str| jira.transition(&key(&ticket), wanted);
    let now = |from: &str, to: &str| TransitionOutcome::Moved {
        from: from.to_owned(),
        to: to.to_owned(),
    };
    assert_eq!(moved("code review").unwrap(), now("To Do", "Code Review"));
    assert_eq!(
        moved(" CODE REVIEW ").unwrap(),
        TransitionOutcome::Unchanged { status: "Code Review".to_owned() }
    );
    assert_eq!(moved("Request changes").unwrap(), now("Code Review", "Changes Requested"));
    check_error(
        moved("Done"),
        expect![
            "cannot move `PROJ-1` to `Done`: its status is `Changes Requested`; available \
             transitions: `Code Review`, `Approved`"
        ],
    );
    assert_eq!(fake.writes().len(), 2);
}

#[test]
fn a_transition_with_a_lost_answer_is_made_once() {
    let (fake, jira) = cloud();
    let ticket = fake.add("Task", "A task");
    fake.fail("POST ", Fault::CutAfter);
    let moved = jira.transition(&key(&ticket), "Code Review").unwrap();
    assert!(matches!(moved, TransitionOutcome::Moved { .. }));
    fake.fail("POST ", Fault::Before(500));
    assert!(jira.transition(&key(&ticket), "Approved").unwrap_err().is_outcome_unknown());
    assert_eq!((fake.status(&ticket).as_str(), fake.writes().len()), ("Code Review", 2));
}

#[test]
fn fields_accept_only_values_of_their_type() {
    for (fake, jira) in [cloud(), server()] {
        let ticket = fake.add("Task", "A task");
        let text = |text: &str| FieldValue::Text(text.to_owned());
        let set = |field: &str, value: FieldValue| jira.update_field(&key(&ticket), field, &value);
        set("summary", text("Another")).unwrap();
        set("story points", text("3")).unwrap();
        set("Story Points", FieldValue::Number(5.into())).unwrap();
        set("customfield_10002", text("Red")).unwrap();
        set("Notes", text("- one\n- two")).unwrap();
        set("labels", FieldValue::List(vec!["a".to_owned()])).unwrap();
        set("priority", text("High")).unwrap();
        set("Notes", FieldValue::Nothing).unwrap();
        assert_eq!(fake.field(&ticket, "customfield_10001"), json!(5));
        assert_eq!(fake.field(&ticket, "customfield_10002"), json!({ "value": "Red" }));
        assert_eq!(fake.problems(), [""; 0]);
        let before = fake.writes().len();
        check_error(
            set("Story Points", text("many")),
            expect!["invalid value for field `Story Points`: expected a number"],
        );
        check_error(
            set("Team", text("Red")),
            expect![
                "JIRA field `Team` is ambiguous; use one of the ids `customfield_10002`, \
                 `customfield_10004`"
            ],
        );
        check_error(
            set("Status", text("Done")),
            expect!["invalid value for field `Status`: a status is changed by a transition"],
        );
        check_error(
            set("labels", text("a")),
            expect!["invalid value for field `Labels`: expected a list"],
        );
        assert!(matches!(set("Colour", text("a")), Err(JiraError::NoField { .. })));
        assert_eq!(fake.writes().len(), before);
    }
}

#[test]
fn an_epic_is_created_with_its_children() {
    for (fake, jira) in [cloud(), server()] {
        let child = |summary: &str| EpicChild { kind: "Task".to_owned(), draft: draft(summary) };
        let made = jira.create_epic_with(PROJECT, &draft("Epic"), &[child("One"), child("Two")]);
        let (epic, children) = made.unwrap();
        assert_eq!((epic.as_str(), children.len()), ("PROJ-1", 2));
        let part = NewTicket::Subtask { parent: children[0].clone() };
        assert_eq!(jira.create(PROJECT, &part, &draft("Part")).unwrap().as_str(), "PROJ-4");
        assert_eq!(fake.problems(), [""; 0]);
    }
}

#[test]
fn a_failed_epic_creation_reports_the_tickets_created_before() {
    let (fake, jira) = cloud();
    let child =
        |kind: &str, summary: &str| EpicChild { kind: kind.to_owned(), draft: draft(summary) };
    let children = [child("Task", "One"), child("Wish", "Two"), child("Task", "Three")];
    check_error(
        jira.create_epic_with(PROJECT, &draft("Epic"), &children),
        expect![
            "ticket `Two` was not created; created before: `PROJ-1 Epic`, `PROJ-2 One`; later \
             tickets were skipped: JIRA refused `POST /rest/api/3/issue` with status 400: \
             issuetype: Specify a valid issue type"
        ],
    );
    assert_eq!(fake.keys(), ["PROJ-1", "PROJ-2"]);
}

#[test]
fn a_created_ticket_with_a_lost_answer_is_searched_for() {
    let (fake, jira) = cloud();
    let same = EpicChild { kind: "Task".to_owned(), draft: draft("Same") };
    fake.fail("POST /rest/api/3/issue", Fault::CutAfter);
    let made = jira.create_epic_with(PROJECT, &draft("Epic"), &[same.clone(), same.clone()]);
    assert_eq!(made.unwrap().1.len(), 2);
    fake.fail("POST /rest/api/3/issue", Fault::Before(500));
    let task = NewTicket::Issue { kind: "Task".to_owned(), epic: None };
    check_error(
        jira.create(PROJECT, &task, &draft("Lost")),
        expect![
            "unknown whether ticket `Lost` was created; search for the ticket before you create it \
             again: JIRA refused `POST /rest/api/3/issue` with status 500: \
             <html><body><h1>Trouble</h1></body></html>"
        ],
    );
    assert_eq!(fake.keys().len(), 3);
}

#[test]
fn rate_limits_are_waited_for_and_reads_are_retried() {
    let fake = FakeJira::cloud();
    let (jira, waits) = client(&fake, Flavour::Cloud { user: USER.to_owned() });
    let ticket = fake.add("Task", "A task");
    fake.fail("/issue/", Fault::Limit(9));
    fake.fail("/issue/", Fault::Before(502));
    jira.issue(&key(&ticket), 0).unwrap();
    assert_eq!(waits.seconds(), [9, 1]);
    fake.fail("/issue/", Fault::Html);
    check_error(
        jira.issue(&key(&ticket), 0),
        expect![
            "cannot parse the answer of JIRA to `GET /rest/api/3/issue/PROJ-1`: expected value at \
             line 1 column 1"
        ],
    );
    fake.fail("/issue/", Fault::Limit(100_000));
    check_error(
        jira.issue(&key(&ticket), 0),
        expect![
            "JIRA rate limit: `GET /rest/api/3/issue/PROJ-1` must wait for 100000 s; retry later"
        ],
    );
}

#[test]
fn a_wrong_key_is_refused() {
    let fake = FakeJira::cloud();
    let (jira, _) = client(&fake, Flavour::Server);
    check_error(
        jira.search("project = PROJ", 1),
        expect![
            "JIRA refused `POST /rest/api/2/search` with status 401: You do not have the permission to do this."
        ],
    );
}

#[test]
fn the_fake_rejects_plain_text_where_a_document_is_required() {
    use assay_testkit::web::{Service as _, ServiceRequest};
    let fake = FakeJira::cloud();
    let ticket = fake.add("Task", "A task");
    let basic = "Basic YWRhQGV4YW1wbGUub3JnOmppcmEtdG9rZW4tMDEyMzQ1Njc4OQ==";
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let headers = vec![
        header("authorization", basic),
        header("accept", "application/json"),
        header("content-type", "application/json"),
    ];
    let say = |body: serde_json::Value| {
        let target = format!("/rest/api/3/issue/{ticket}/comment");
        let body = json!({ "body": body }).to_string().into_bytes();
        let asked =
            ServiceRequest { method: "POST".to_owned(), target, headers: headers.clone(), body };
        fake.answer(&asked).unwrap().status
    };
    assert_eq!(say(json!("plain")), 400);
    assert_eq!(say(json!({ "type": "doc", "version": 1, "content": [{ "type": "text" }] })), 400);
    assert_eq!(say(document::write(&document::parse("plain"))), 201);
}

#[test]
fn text_is_parsed_as_markdown_and_unknown_markup_is_kept() {
    let text = "# A *b*\n- a\n  b **c `d` [e](https://f.example)**\n- [x] 2*3*4 <https://f.example/g_h_i>\n  \
                [no](javascript:a)\n\n3. k\n4. l\n\n> m\n> - n\n\n~~~rs\n```\n~~~~\n\n| o | `p` |\n|--|--|\n\
                | q | https://r.example/*s*. |\n\n    t\n***\n[u]: https://v.example\n<b>w</b>\n";
    let mut out = String::new();
    for block in document::parse(text) {
        out += &match block {
            MarkupBlock::Paragraph(lines) => format!("text {}\n", joined(&lines)),
            MarkupBlock::Heading(level, words) => format!("h{level} {}\n", line(&words)),
            MarkupBlock::Bullets(items) => format!("items {}\n", joined(&items)),
            MarkupBlock::Code { language, text } => format!("code {language:?} {text}\n"),
        };
    }
    expect![[r#"
        h1 A *b*
        items a b strong(c) code(d) link(e to https://f.example) / [x] 2*3*4 link(https://f.example/g_h_i to https://f.example/g_h_i) [no](javascript:a)
        text 3. k / 4. l
        text > m
        text > - n
        code Some("rs") ```
        text | o | code(p) | / | q | link(https://r.example/*s* to https://r.example/*s*). |
        code None t
        text ***
        text [u]: link(https://v.example to https://v.example)
        text <b>w</b>
    "#]]
    .assert_eq(&out);
}

fn joined(lines: &[Vec<Inline>]) -> String {
    lines.iter().map(|parts| line(parts)).collect::<Vec<_>>().join(" / ")
}

fn line(parts: &[Inline]) -> String {
    let part = |part: &Inline| match part {
        Inline::Text(text) => text.clone(),
        Inline::Strong(text) => format!("strong({text})"),
        Inline::Code(code) => format!("code({code})"),
        Inline::Link { text, url } => format!("link({text} to {url})"),
    };
    parts.iter().map(part).collect()
}
