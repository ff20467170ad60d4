//! Tests of delivering messages to a GitHub and a JIRA that fail.

use std::cell::RefCell;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use assay_base::clock::Clock;
use assay_findings::post::answer;
use assay_sandbox::{KeySource, Keys};
use assay_services::dispatcher::{
    AnswerMessage, Delivery, Dispatcher, OutboundMessage, ReviewMessage, StatusComment,
    TicketMessage,
};
use assay_services::jira::{Flavour, Jira};
use assay_store::outbox::Outbox;
use assay_store::task::{Moment, TaskId};
use assay_testkit::github::{Fault, FaultTiming, sha};
use assay_testkit::jira::{self as fake_jira, FakeJira};
use expect_test::{Expect, expect};
use jiff::SignedDuration;
use serde_json::json;

use crate::fixtures::{DirectTransport, RecordingClock, keys};
use crate::github::{GithubFixture, draft, finding, found};

const A_DAY: i64 = 24 * 60 * 60;

struct DispatcherFixture {
    github: GithubFixture,
    jira: FakeJira,
    ticket: String,
    dispatcher: Dispatcher,
    began: Moment,
}

impl DispatcherFixture {
    fn new() -> DispatcherFixture {
        let (github, jira) = (GithubFixture::new(1), FakeJira::cloud());
        let ticket = jira.add("Task", "Log in");
        let dispatcher = Dispatcher {
            outbox: Outbox::in_folder(github.folder.path().join("outbox"), &Clock::system()),
            github: Some(github.client()),
            gitlab: None,
            jira: Some(client(&jira, keys(fake_jira::TOKEN))),
        };
        // The time is truncated to milliseconds, as it is stored.
        let began = Moment::now(&Clock::system()).to_string().parse().unwrap();
        DispatcherFixture { github, jira, ticket, dispatcher, began }
    }

    fn review_of(&self, commit: &str) -> ReviewMessage {
        let findings = [finding("An open door", "src/a.rs", 7, "HIGH")];
        ReviewMessage {
            repository: self.github.repository.clone(),
            number: self.github.number,
            draft: Box::new(draft(&found(&findings), &sha(commit))),
            then: None,
        }
    }

    fn ticket_message(&self, marker: &str, transition: Option<&str>) -> TicketMessage {
        TicketMessage {
            key: self.ticket.parse().unwrap(),
            marker: marker.to_owned(),
            text: format!("A word about {marker}"),
            transition: transition.map(str::to_owned),
            is_commented: false,
            status: None,
        }
    }

    fn enqueue_review(&self, commit: &str) {
        self.dispatcher.enqueue(&OutboundMessage::Review(self.review_of(commit))).unwrap();
    }

    fn enqueue_ticket_message(&self, marker: &str, transition: Option<&str>) {
        self.dispatcher
            .enqueue(&OutboundMessage::Ticket(self.ticket_message(marker, transition)))
            .unwrap();
    }

    /// Delivers the due messages, and checks the results.
    fn deliver(&self, expected: Expect) {
        self.deliver_after(0, &expected);
    }

    /// Delivers the messages that are due some seconds later, and checks the results.
    fn deliver_after(&self, seconds: i64, expected: &Expect) {
        let output = RefCell::new(String::new());
        let tell = |delivery: &Delivery| *output.borrow_mut() += &describe_delivery(delivery);
        let now = Moment(self.began.0 + SignedDuration::from_secs(seconds));
        self.dispatcher.deliver(now, &tell).unwrap();
        expected.assert_eq(&output.borrow());
    }

    /// Checks the messages that are left, each with the time of its next attempt, in seconds since
    /// the start.
    fn check_waiting(&self, expected: Expect) {
        let mut waiting = String::new();
        for to in self.dispatcher.outbox.recipients().unwrap() {
            for letter in self.dispatcher.outbox.lock_recipient(&to).unwrap().messages().unwrap() {
                let rest = letter.not_before.map(|then| then.0.duration_since(self.began.0));
                let rest =
                    rest.map_or(String::new(), |rest| format!(" rests {} s", rest.as_secs()));
                let why = letter.last_error.map_or(String::new(), |why| format!(": {why}"));
                waiting += &format!("{to} {}{rest}{why}\n", letter.name);
            }
        }
        for number in 0..=1 {
            let commit = sha(&format!("head {number}"));
            waiting = waiting.replace(&commit, &format!("HEAD-{number}"));
        }
        expected.assert_eq(&waiting);
    }
}

fn client(jira: &FakeJira, keys: Arc<Keys>) -> Jira {
    let flavour = Flavour::Cloud { user: fake_jira::USER.to_owned() };
    Jira::new(
        Arc::new(DirectTransport(Arc::new(jira.clone()))),
        flavour,
        keys,
        Arc::new(RecordingClock::default()),
    )
}

fn describe_delivery(delivery: &Delivery) -> String {
    match delivery {
        Delivery::Sent(done) => format!("{done}\n"),
        Delivery::Superseded(why) => format!("superseded: {why}\n"),
        Delivery::Retrying(why) => format!("waits: {why}\n"),
        Delivery::DeadLettered(why, _) => format!("given up: {why}\n"),
    }
}

fn status_comment(text: &str) -> StatusComment {
    let marker = "findings-octo-demo-1".to_owned();
    StatusComment { marker, text: text.to_owned(), only_replaces: false }
}

/// Returns the lines of all comments that have the outcomes of findings.
fn status_lines(post: &DispatcherFixture) -> Vec<String> {
    let comments = post.jira.comments(&post.ticket);
    let texts: Vec<String> = comments.iter().map(assay_services::jira::document::read).collect();
    let lines = texts.iter().flat_map(|text| text.lines());
    lines.filter(|line| line.contains("of all reviews")).map(str::to_owned).collect()
}

#[test]
fn a_refused_status_comment_delays_neither_the_transition_nor_later_messages() {
    let post = DispatcherFixture::new();
    let status = |text: &str| Some(status_comment(&format!("Findings of all reviews: {text}.")));
    let first = TicketMessage {
        status: status("1 open"),
        ..post.ticket_message("first", Some("Code Review"))
    };
    post.dispatcher.enqueue(&OutboundMessage::Ticket(first)).unwrap();
    // The comment of the message is created by the first request of this kind.
    let comment = format!("POST /rest/api/3/issue/{}/comment", post.ticket);
    post.jira.fail_after(&comment, 1, fake_jira::Fault::Before(403));
    post.deliver(expect![[r#"
        waits: the ticket was updated, except for the comment with the outcomes of all findings
    "#]]);
    assert_eq!(post.jira.status(&post.ticket), "Code Review");
    let second =
        TicketMessage { status: status("1 resolved"), ..post.ticket_message("second", None) };
    post.dispatcher.enqueue(&OutboundMessage::Ticket(second)).unwrap();
    post.deliver(expect![[r#"
        PROJ-1 received the comment
    "#]]);
    // The older text does not replace the newer one.
    post.deliver_after(A_DAY, &expect![""]);
    assert_eq!(status_lines(&post), ["Findings of all reviews: 1 resolved."]);
    assert_eq!(post.jira.status(&post.ticket), "Code Review");
}

#[test]
fn a_refused_status_comment_is_retried_without_the_transition() {
    let post = DispatcherFixture::new();
    let message = TicketMessage {
        status: Some(status_comment("Findings of all reviews: 1 open.")),
        ..post.ticket_message("first", Some("Code Review"))
    };
    post.dispatcher.enqueue(&OutboundMessage::Ticket(message)).unwrap();
    let comment = format!("POST /rest/api/3/issue/{}/comment", post.ticket);
    post.jira.fail_after(&comment, 1, fake_jira::Fault::Before(403));
    post.deliver(expect![[r#"
        waits: the ticket was updated, except for the comment with the outcomes of all findings
    "#]]);
    post.deliver_after(
        A_DAY,
        &expect![[r#"
            PROJ-1 already had the comment
        "#]],
    );
    assert_eq!(status_lines(&post), ["Findings of all reviews: 1 open."]);
    let moves = post.jira.writes();
    assert_eq!(moves.iter().filter(|write| write.contains("/transitions")).count(), 1);
}

#[test]
fn a_status_comment_that_only_replaces_an_earlier_one_is_not_created() {
    let post = DispatcherFixture::new();
    let send = |marker: &str, text: &str, only_replaces: bool| {
        let text = format!("Findings of all reviews: {text}.");
        let status = Some(StatusComment { only_replaces, ..status_comment(&text) });
        let message = TicketMessage { status, ..post.ticket_message(marker, None) };
        post.dispatcher.enqueue(&OutboundMessage::Ticket(message)).unwrap();
        post.deliver(expect![[r#"
            PROJ-1 received the comment
        "#]]);
        status_lines(&post)
    };
    assert_eq!(send("one", "1 open", true), [""; 0]);
    assert_eq!(send("two", "1 dismissed", false), ["Findings of all reviews: 1 dismissed."]);
    // A user reopened the finding.
    assert_eq!(send("three", "1 open", true), ["Findings of all reviews: 1 open."]);
}

#[test]
fn five_messages_update_one_status_comment_and_leave_other_comments_alone() {
    let post = DispatcherFixture::new();
    for number in 1..=5 {
        let text = format!("Findings of all reviews: {number} resolved.");
        let status = Some(status_comment(&text));
        let message = TicketMessage { status, ..post.ticket_message(&format!("t-{number}"), None) };
        post.dispatcher.enqueue(&OutboundMessage::Ticket(message)).unwrap();
        post.deliver(expect![[r#"
            PROJ-1 received the comment
        "#]]);
        post.jira.say(&post.ticket, "A word of a person");
    }
    let comments = post.jira.comments(&post.ticket);
    let texts: Vec<String> = comments.iter().map(assay_services::jira::document::read).collect();
    let lines = texts.iter().flat_map(|text| text.lines());
    let status: Vec<&str> = lines.filter(|line| line.contains("of all reviews")).collect();
    assert_eq!(status, ["Findings of all reviews: 5 resolved."]);
    assert_eq!(texts.len(), 5 + 5 + 1);
    assert_eq!(post.jira.problems(), Vec::<String>::new());
}

#[test]
fn messages_are_delivered_once_even_if_they_are_enqueued_again() {
    let post = DispatcherFixture::new();
    post.enqueue_review("head 1");
    post.enqueue_ticket_message("task-1 code_review", Some("Code Review"));
    post.enqueue_ticket_message("task-2", None);
    post.deliver(expect![[r#"
        posted the review on octo/demo#1: 1 new
        PROJ-1 received the comment, and moved from To Do to Code Review
        PROJ-1 received the comment
    "#]]);
    post.deliver(expect![""]);
    // A process that crashed before it could record the delivery delivers again.
    post.enqueue_review("head 1");
    post.enqueue_ticket_message("task-1 code_review", Some("Code Review"));
    post.deliver(expect![[r#"
        posted the review on octo/demo#1: nothing to change
        PROJ-1 already had the comment, and is in Code Review
    "#]]);
    assert_eq!(post.jira.comments(&post.ticket).len(), 2);
    assert_eq!(post.jira.status(&post.ticket), "Code Review");
}

#[test]
fn a_ticket_is_updated_only_after_its_review_is_posted() {
    let post = DispatcherFixture::new();
    let then = Some(post.ticket_message("task-1 reviewed", Some("Code Review")));
    post.dispatcher
        .enqueue(&OutboundMessage::Review(ReviewMessage { then, ..post.review_of("head 1") }))
        .unwrap();
    post.github.github.fail_next("ReviewState", Fault::NotFound);
    post.deliver(expect![[r#"
        waits: GitHub refused `ReviewState` with status 404: Not Found (it does not exist, or the token has no access)
    "#]]);
    assert_eq!(post.jira.comments(&post.ticket).len(), 0);
    post.deliver_after(
        30,
        &expect![[r#"
        posted the review on octo/demo#1: 1 new
        PROJ-1 received the comment, and moved from To Do to Code Review
    "#]],
    );
    assert_eq!(post.jira.status(&post.ticket), "Code Review");
}

#[test]
fn a_superseded_review_is_not_posted_and_moves_no_ticket() {
    let post = DispatcherFixture::new();
    let then = Some(post.ticket_message("task-1 reviewed", Some("Code Review")));
    post.dispatcher
        .enqueue(&OutboundMessage::Review(ReviewMessage { then, ..post.review_of("head 0") }))
        .unwrap();
    post.deliver(expect![[r#"
        superseded: octo/demo#1 has the new head commit 0bd3c853b83a
    "#]]);
    post.check_waiting(expect![""]);
    assert_eq!(post.github.github.comments("octo/demo", 1).len(), 0);
    assert_eq!(post.jira.comments(&post.ticket).len(), 0);
    assert_eq!(post.jira.status(&post.ticket), "To Do");
}

#[test]
fn a_late_review_of_an_older_commit_does_not_replace_one_of_a_newer_commit() {
    let post = DispatcherFixture::new();
    post.enqueue_review("head 1");
    post.enqueue_review("head 0");
    post.deliver(expect![[r#"
        posted the review on octo/demo#1: 1 new
        superseded: octo/demo#1 has the new head commit 0bd3c853b83a
    "#]]);
}

#[test]
fn a_delayed_review_does_not_block_a_review_of_a_newer_commit() {
    let post = DispatcherFixture::new();
    post.enqueue_review("head 0");
    post.github.github.fail_next("ReviewState", Fault::NotFound);
    post.deliver(expect![[r#"
        waits: GitHub refused `ReviewState` with status 404: Not Found (it does not exist, or the token has no access)
    "#]]);
    post.enqueue_review("head 1");
    post.deliver(expect![[r#"
        posted the review on octo/demo#1: 1 new
    "#]]);
    post.deliver_after(
        30,
        &expect![[r#"
            superseded: octo/demo#1 has the new head commit 0bd3c853b83a
        "#]],
    );
}

#[test]
fn a_deleted_comment_is_not_posted_again() {
    let post = DispatcherFixture::new();
    let review = post.review_of("head 1");
    let deleted: Vec<_> = review.draft.posts().iter().map(|post| &post.fingerprint).collect();
    let to: TaskId = "pull-octo.demo-1".parse().unwrap();
    post.dispatcher
        .outbox
        .lock_recipient(&to)
        .unwrap()
        .set_recipient_data(&json!(deleted))
        .unwrap();
    for _ in 0..3 {
        post.enqueue_review("head 1");
        post.dispatcher.deliver(post.began, &|_| {}).unwrap();
        assert_eq!(post.github.github.threads("octo/demo", 1).len(), 0);
    }
}

#[test]
fn an_outage_of_a_service_delays_only_its_own_messages() {
    let post = DispatcherFixture::new();
    post.enqueue_review("head 1");
    post.enqueue_ticket_message("task-1", None);
    post.github.github.fail_at_random(1, 1, &[Fault::Cut(FaultTiming::BeforeEffect)]);
    post.deliver(expect![[r#"
        waits: GitHub at `the fake` did not answer `ReviewState`: the connection was cut
        PROJ-1 received the comment
    "#]]);
    post.github.github.stop_failing();
    post.deliver_after(29, &expect![""]);
    post.deliver_after(
        30,
        &expect![[r#"
        posted the review on octo/demo#1: 1 new
    "#]],
    );
}

#[test]
fn an_unavailable_service_is_called_once_per_delivery_run() {
    let post = DispatcherFixture::new();
    for number in 1..=3 {
        let review = ReviewMessage { number, ..post.review_of("head 1") };
        post.dispatcher.enqueue(&OutboundMessage::Review(review)).unwrap();
    }
    post.github.github.fail_at_random(1, 1, &[Fault::Cut(FaultTiming::BeforeEffect)]);
    post.deliver(expect![[r#"
        waits: GitHub at `the fake` did not answer `ReviewState`: the connection was cut
    "#]]);
    post.deliver_after(
        1,
        &expect![[r#"
        waits: GitHub at `the fake` did not answer `ReviewState`: the connection was cut
    "#]],
    );
    post.check_waiting(expect![[r#"
        pull-octo.demo-1 review-HEAD-1 rests 30 s: GitHub at `the fake` did not answer `ReviewState`: the connection was cut
        pull-octo.demo-2 review-HEAD-1 rests 31 s: GitHub at `the fake` did not answer `ReviewState`: the connection was cut
        pull-octo.demo-3 review-HEAD-1
    "#]]);
}

#[test]
fn a_failed_transition_delays_no_comment_and_is_retried_before_later_ones() {
    let post = DispatcherFixture::new();
    let transition = format!("POST /rest/api/3/issue/{}/transitions", post.ticket);
    post.jira.fail(&transition, fake_jira::Fault::Before(500));
    post.enqueue_ticket_message("started", Some("Code Review"));
    post.enqueue_ticket_message("rejected", None);
    post.deliver(expect![[r#"
        waits: JIRA refused `POST /rest/api/3/issue/PROJ-1/transitions` with status 500: <html><body><h1>Trouble</h1></body></html>
        PROJ-1 received the comment
    "#]]);
    post.check_waiting(expect![[r#"
        ticket-PROJ-1 started rests 30 s: JIRA refused `POST /rest/api/3/issue/PROJ-1/transitions` with status 500: <html><body><h1>Trouble</h1></body></html>
    "#]]);
    post.enqueue_ticket_message("approved", Some("Approved"));
    post.deliver(expect![[r#"
        waits: cannot move `PROJ-1` to `Approved`: its status is `To Do`; available transitions: `Start → In Progress`, `Ask for review → Code Review`
    "#]]);
    post.check_waiting(expect![[r#"
        ticket-PROJ-1 started rests 30 s: JIRA refused `POST /rest/api/3/issue/PROJ-1/transitions` with status 500: <html><body><h1>Trouble</h1></body></html>
        ticket-PROJ-1 approved rests 30 s: cannot move `PROJ-1` to `Approved`: its status is `To Do`; available transitions: `Start → In Progress`, `Ask for review → Code Review`
    "#]]);
    post.deliver_after(
        A_DAY,
        &expect![[r#"
        PROJ-1 already had the comment, and moved from To Do to Code Review
        PROJ-1 already had the comment, and moved from Code Review to Approved
    "#]],
    );
    assert_eq!(post.jira.status(&post.ticket), "Approved");
}

#[test]
fn an_undeliverable_message_is_retried_with_backoff_and_given_up_after_a_week() {
    let mut post = DispatcherFixture::new();
    post.enqueue_review("head 1");
    post.dispatcher.github = None;
    let waits = expect![[r#"
        waits: GitHub is not configured, so the message cannot be sent
    "#]];
    for after in [0, 30, 90, 210, A_DAY, 6 * A_DAY] {
        post.deliver_after(after, &waits);
        post.deliver_after(after + 29, &expect![""]);
    }
    post.check_waiting(expect![[r#"
        pull-octo.demo-1 review-HEAD-1 rests 519360 s: GitHub is not configured, so the message cannot be sent
    "#]]);
    post.deliver_after(
        8 * A_DAY,
        &expect![[r#"
        given up: GitHub is not configured, so the message cannot be sent
    "#]],
    );
    post.check_waiting(expect![""]);
    assert_eq!(
        fs::read_dir(post.github.folder.path().join("outbox/undelivered")).unwrap().count(),
        1
    );
}

#[test]
fn reviews_for_different_base_branches_do_not_replace_each_other() {
    let post = DispatcherFixture::new();
    for base in ["main", "release"] {
        let review = post.review_of("head 1");
        let draft = Box::new(review.draft.with_base(Some(base.to_owned())));
        post.dispatcher
            .enqueue(&OutboundMessage::Review(ReviewMessage { draft, ..review }))
            .unwrap();
    }
    post.deliver(expect![[r#"
        posted the review on octo/demo#1: 1 new
        superseded: octo/demo#1 now targets `main`
    "#]]);
}

#[test]
fn a_ticket_gets_the_comment_of_a_review_that_could_not_be_posted() {
    let mut post = DispatcherFixture::new();
    let then = Some(post.ticket_message("task-1", Some("Approved")));
    post.dispatcher
        .enqueue(&OutboundMessage::Review(ReviewMessage { then, ..post.review_of("head 1") }))
        .unwrap();
    let github = post.dispatcher.github.take();
    post.deliver_after(
        8 * A_DAY,
        &expect![[r#"
        given up: GitHub is not configured, so the message cannot be sent
        PROJ-1 received the comment
    "#]],
    );
    post.dispatcher.github = github;
    post.deliver_after(9 * A_DAY, &expect![""]);
    let output = json!(post.jira.comments(&post.ticket)).to_string();
    assert!(output.contains("The review could not be posted on GitHub: GitHub is not configured"));
    assert!(output.contains("A word about task-1"), "{output}");
    assert_eq!(post.jira.status(&post.ticket), "To Do");
}

#[test]
fn a_rate_limited_message_waits_as_long_as_the_service_asks() {
    let mut post = DispatcherFixture::new();
    post.dispatcher.github = Some(post.github.client_that_waits(Duration::from_secs(600)));
    post.enqueue_review("head 1");
    post.github.github.fail_next("ReviewState", Fault::TooManyRequests { retry_after: Some(900) });
    post.deliver(expect![[r#"
        waits: GitHub rate limit: `ReviewState` must wait for 900 s; retry later
    "#]]);
    post.check_waiting(expect![[r#"
        pull-octo.demo-1 review-HEAD-1 rests 900 s: GitHub rate limit: `ReviewState` must wait for 900 s; retry later
    "#]]);
    post.deliver_after(899, &expect![""]);
    post.deliver_after(
        900,
        &expect![[r#"
        posted the review on octo/demo#1: 1 new
    "#]],
    );
}

#[test]
fn a_message_is_retried_after_a_refused_or_missing_token() {
    let mut post = DispatcherFixture::new();
    post.enqueue_review("head 1");
    post.enqueue_ticket_message("task-1", None);
    post.github.github.fail_next("ReviewState", Fault::Unauthorized);
    let none = KeySource::Variable { name: "JIRA_TOKEN".to_owned(), value: None };
    post.dispatcher.jira = Some(client(&post.jira, Arc::new(Keys::new(none))));
    post.deliver(expect![[r#"
        waits: GitHub refused `ReviewState` with status 401: Bad credentials (the token is invalid or expired)
        waits: cannot use JIRA
    "#]]);
    post.check_waiting(expect![[r#"
        pull-octo.demo-1 review-HEAD-1 rests 30 s: GitHub refused `ReviewState` with status 401: Bad credentials (the token is invalid or expired)
        ticket-PROJ-1 task-1 rests 30 s: cannot use JIRA: missing key: set the variable `JIRA_TOKEN`
    "#]]);
    post.dispatcher.jira = Some(client(&post.jira, keys(fake_jira::TOKEN)));
    post.deliver_after(
        30,
        &expect![[r#"
        posted the review on octo/demo#1: 1 new
        PROJ-1 received the comment
    "#]],
    );
}

#[test]
fn messages_to_a_locked_recipient_are_skipped_until_the_lock_is_released() {
    let post = DispatcherFixture::new();
    post.enqueue_review("head 1");
    post.enqueue_ticket_message("task-1", None);
    let to: TaskId = "pull-octo.demo-1".parse().unwrap();
    let held = post.dispatcher.outbox.lock_recipient(&to).unwrap();
    post.deliver(expect![[r#"
        PROJ-1 received the comment
    "#]]);
    drop(held);
    post.deliver(expect![[r#"
        posted the review on octo/demo#1: 1 new
    "#]]);
}

#[test]
fn a_directly_delivered_review_ignores_its_retry_delay_and_earlier_messages() {
    let post = DispatcherFixture::new();
    post.enqueue_review("head 0");
    post.enqueue_review("head 1");
    post.enqueue_ticket_message("task-1", None);
    post.github.github.fail_at_random(1, 1, &[Fault::NotFound]);
    post.deliver(expect![[r#"
        waits: GitHub refused `ReviewState` with status 404: Not Found (it does not exist, or the token has no access)
        waits: GitHub refused `ReviewState` with status 404: Not Found (it does not exist, or the token has no access)
        PROJ-1 received the comment
    "#]]);
    post.github.github.stop_failing();
    let delivery = post
        .dispatcher
        .deliver_now(OutboundMessage::Review(post.review_of("head 1")), post.began)
        .unwrap();
    expect![[r#"
        posted the review on octo/demo#1: 1 new
    "#]]
    .assert_eq(&describe_delivery(&delivery));
    post.check_waiting(expect![[r#"
        pull-octo.demo-1 review-HEAD-0 rests 30 s: GitHub refused `ReviewState` with status 404: Not Found (it does not exist, or the token has no access)
    "#]]);
    let delivery = post
        .dispatcher
        .deliver_now(OutboundMessage::Review(post.review_of("head 0")), post.began)
        .unwrap();
    expect![[r#"
        superseded: octo/demo#1 has the new head commit 0bd3c853b83a
    "#]]
    .assert_eq(&describe_delivery(&delivery));
    post.check_waiting(expect![""]);
}

#[test]
fn a_permanently_failing_message_is_given_up_and_the_next_is_delivered() {
    let post = DispatcherFixture::new();
    post.enqueue_ticket_message("task-1", Some("No Such Place"));
    post.enqueue_ticket_message("task-2", None);
    post.deliver(expect![[r#"
        given up: cannot move `PROJ-1` to `No Such Place`: its status is `To Do`; available transitions: `Start → In Progress`, `Ask for review → Code Review`
        PROJ-1 received the comment
    "#]]);
}

#[test]
fn messages_of_earlier_versions_are_delivered() {
    let post = DispatcherFixture::new();
    let mut review = json!(OutboundMessage::Review(post.review_of("head 1")));
    review.as_object_mut().unwrap().remove("then");
    let [to, name] = ["pull-octo.demo-1", "review"].map(|name| name.parse::<TaskId>().unwrap());
    post.dispatcher.outbox.enqueue(&to, &name, review).unwrap();
    post.deliver(expect![[r#"
        posted the review on octo/demo#1: 1 new
    "#]]);
}

#[test]
fn an_answer_whose_response_was_lost_is_not_posted_again() {
    let post = DispatcherFixture::new();
    let comment = post.github.github.add_comment("octo/demo", 1, "ann", "/assay help");
    let message = || {
        OutboundMessage::Answer(AnswerMessage {
            repository: "octo/demo".parse().unwrap(),
            number: 1,
            comment,
            body: answer(comment, &["Help.".to_owned()]),
        })
    };
    let fault = Fault::Cut(FaultTiming::AfterEffect);
    post.github.github.fail_next("POST /repos/octo/demo/issues/1/comments", fault);
    let delivery = post.dispatcher.deliver_now(message(), post.began).unwrap();
    assert!(matches!(delivery, Delivery::Retrying(_)), "{delivery:?}");
    let delivery = post.dispatcher.deliver_now(message(), post.began).unwrap();
    assert_eq!(
        describe_delivery(&delivery),
        format!("comment {comment} on octo/demo#1 was answered before\n")
    );
    assert_eq!(post.github.github.comments("octo/demo", 1).len(), 2);
    post.check_waiting(expect![""]);
}
