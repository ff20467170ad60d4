//! Letters, delivered to a GitHub and a JIRA that break down.

use std::cell::RefCell;
use std::sync::Arc;

use assay_fakes::github::{Fault, When, sha};
use assay_fakes::jira::{self as fake_jira, FakeJira};
use assay_services::jira::{Flavour, Jira};
use assay_services::mail::{Delivery, Letter, Mail};
use assay_store::outbox::Outbox;
use expect_test::{Expect, expect};

use crate::github::{Stage, draft, finding, found};
use crate::stage::{Direct, Waits, keys};

struct Post {
    github: Stage,
    jira: FakeJira,
    ticket: String,
    mail: Mail,
}

impl Post {
    fn new() -> Post {
        let (github, jira) = (Stage::new(1), FakeJira::cloud());
        let ticket = jira.add("Task", "Log in");
        let flavour = Flavour::Cloud { user: fake_jira::USER.to_owned() };
        let client = Jira::new(
            Arc::new(Direct(Arc::new(jira.clone()))),
            flavour,
            keys(fake_jira::TOKEN),
            Arc::new(Waits::default()),
        );
        let mail = Mail {
            outbox: Outbox::in_folder(github.kept.path().join("outbox")),
            github: Some(github.client()),
            jira: Some(client),
        };
        Post { github, jira, ticket, mail }
    }

    fn review(&self) -> Letter {
        let findings = [finding("An open door", "src/a.rs", 7, "HIGH")];
        Letter::Review {
            repository: self.github.repository.clone(),
            number: self.github.number,
            draft: Box::new(draft(&found(&findings), &sha("head 1"))),
        }
    }

    fn word(&self, marker: &str, transition: Option<&str>) -> Letter {
        Letter::Ticket {
            key: self.ticket.parse().unwrap(),
            marker: marker.to_owned(),
            text: format!("A word about {marker}"),
            transition: transition.map(str::to_owned),
        }
    }

    /// Delivers what waits, and checks what came of it.
    fn deliver(&self, expected: Expect) {
        let told = RefCell::new(String::new());
        let tell = |delivery: &Delivery| {
            *told.borrow_mut() += &match delivery {
                Delivery::Arrived(done) => format!("{done}\n"),
                Delivery::Waits(why) => format!("waits: {why}\n"),
                Delivery::GivenUp(why, _) => format!("given up: {why}\n"),
            };
        };
        self.mail.deliver(&tell).unwrap();
        expected.assert_eq(&told.borrow());
    }
}

#[test]
fn letters_arrive_and_arrive_once() {
    let post = Post::new();
    post.mail.put(&post.review()).unwrap();
    post.mail.put(&post.word("task-1 code_review", Some("Code Review"))).unwrap();
    post.mail.put(&post.word("task-2", None)).unwrap();
    post.deliver(expect![[r#"
        the review stands on octo/demo#1: 1 new
        PROJ-1 was told, and moved from To Do to Code Review
        PROJ-1 was told
    "#]]);
    post.deliver(expect![""]);
    // Whoever did not live to remember tells it again.
    post.mail.put(&post.review()).unwrap();
    post.mail.put(&post.word("task-1 code_review", Some("Code Review"))).unwrap();
    post.deliver(expect![[r#"
        the review stands on octo/demo#1: nothing had to be changed
        PROJ-1 had been told, and is in Code Review
    "#]]);
    assert_eq!(post.jira.comments(&post.ticket).len(), 2);
    assert_eq!(post.jira.status(&post.ticket), "Code Review");
}

#[test]
fn a_service_that_is_out_holds_up_only_its_own_letters() {
    let post = Post::new();
    post.mail.put(&post.review()).unwrap();
    post.mail.put(&post.word("task-1", None)).unwrap();
    post.github.github.fail_at_random(1, 1, &[Fault::Cut(When::BeforeEffect)]);
    post.deliver(expect![[r#"
        waits: GitHub at `the fake` did not answer `ReviewState`: the connection was cut
        PROJ-1 was told
    "#]]);
    post.github.github.stop_failing();
    post.deliver(expect![[r#"
        the review stands on octo/demo#1: 1 new
    "#]]);
}

#[test]
fn what_cannot_arrive_is_put_aside_and_the_next_goes_on() {
    let post = Post::new();
    post.mail.put(&post.word("task-1", Some("No Such Place"))).unwrap();
    post.mail.put(&post.word("task-2", None)).unwrap();
    post.deliver(expect![[r#"
        given up: `PROJ-1` cannot be moved to `No Such Place`: it is in `To Do`, and offered are `Start → In Progress`, `Ask for review → Code Review`
        PROJ-1 was told
    "#]]);
}

#[test]
fn a_service_that_is_not_configured_is_waited_for() {
    let mut post = Post::new();
    post.mail.github = None;
    post.mail.put(&post.review()).unwrap();
    post.deliver(expect![[r#"
        waits: GitHub is not configured, so nothing can be told there
    "#]]);
}
