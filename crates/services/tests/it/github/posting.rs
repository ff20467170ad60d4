//! Tests of posting a review: the visible result, and the objects that are left alone.

use std::collections::BTreeSet;

use assay_findings::post::{Fingerprint, ReviewDraft};
use assay_services::post::{PostOutcome, PostReport, SupersededReason};
use assay_testkit::github::{Access, Fault, sha};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{GithubFixture, REPO, TOKEN, diff_text, draft, finding, found};

pub(super) fn stand(fixture: &GithubFixture, draft: &ReviewDraft) -> PostReport {
    stand_after(fixture, draft, &BTreeSet::new())
}

fn stand_after(
    fixture: &GithubFixture,
    draft: &ReviewDraft,
    posted: &BTreeSet<Fingerprint>,
) -> PostReport {
    let posted = fixture.post(draft, posted).unwrap();
    match posted {
        PostOutcome::Posted(standing) => standing,
        PostOutcome::Superseded(moved) => panic!("it {moved}"),
    }
}

pub(super) fn review(fixture: &GithubFixture, round: u32, findings: &[Value]) -> ReviewDraft {
    let head = sha(&format!("head {round}"));
    if round > 1 {
        fixture.github.move_head(REPO, fixture.number, &head, &diff_text());
    }
    draft(&found(findings), &head)
}

/// Compares the visible state of the pull request, without our markers, one line for each part.
fn check(fixture: &GithubFixture, expected: Expect) {
    let is_marker = |line: &&str| !line.trim_start().starts_with("<!--");
    let visible = fixture.visible();
    let lines: Vec<&str> =
        visible.lines().filter(is_marker).filter(|line| !line.trim().is_empty()).collect();
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

pub(super) fn threads(fixture: &GithubFixture) -> Vec<String> {
    let threads = fixture.github.threads(REPO, fixture.number);
    let thread_lines = threads.iter().map(|thread| {
        let title = thread.comments[0].body.lines().next().unwrap_or_default().to_owned();
        let by = thread.resolved_by.as_ref().map(|by| format!(", resolved by {by}"));
        format!("{title}{}", by.unwrap_or_default())
    });
    thread_lines.collect()
}

#[test]
fn a_finding_is_posted_on_its_line_on_its_file_or_in_the_summary() {
    let fixture = GithubFixture::new(1);
    let findings = [
        finding("An open door", "src/a.rs", 7, "CRITICAL"),
        finding("A long file", "b.txt", 900, "MEDIUM"),
        finding("A far cry", "elsewhere.rs", 3, "LOW"),
    ];
    let standing = stand(&fixture, &review(&fixture, 1, &findings));
    assert_eq!((standing.added, standing.refused), (2, 0));
    check(
        &fixture,
        expect![[r#"
            src/a.rs:7
              assay-bot: **🔴 CRITICAL: An open door**
                It breaks.
                <sub>`79c58fe7f216` · general · found by rules · confidence 100</sub>
            b.txt, file
              assay-bot: **🔵 MEDIUM: A long file**
                _About line 900._
                It breaks.
                <sub>`2037a480df86` · general · found by rules · confidence 100</sub>
            comment
              assay-bot: ## Not ready
                - 1 finding must be fixed
                - 1 finding should be fixed
                - 1 finding can be acted on
                - 1 hunk: 1 by security
                **3 findings**: 1 CRITICAL, 1 MEDIUM, 1 LOW. 2 are comments on the change; the following are not.
                **⚪ LOW: A far cry**
                `elsewhere.rs:3`
                _Not posted as a separate comment: the file is not in the diff._
                It breaks.
                <sub>`efe29e2e8c60` · general · found by rules · confidence 100</sub>
            review, changes requested at 0bd3c85
              assay-bot: **Not ready**: 1 finding must be fixed; 1 finding should be fixed.
        "#]],
    );
}

#[test]
fn an_existing_review_is_not_posted_again() {
    let fixture = GithubFixture::new(2);
    let draft = review(&fixture, 1, &[finding("An open door", "src/a.rs", 7, "HIGH")]);
    stand(&fixture, &draft);
    let (before, writes) = (fixture.visible(), fixture.github.log().len());
    assert_eq!(stand(&fixture, &draft).added, 0);
    assert_eq!(fixture.visible(), before);
    let later = &fixture.github.log()[writes..];
    assert!(later.iter().all(|asked| !asked.took_effect), "{later:?}");
}

#[test]
fn a_review_of_new_commits_posts_new_findings_and_resolves_fixed_ones() {
    let fixture = GithubFixture::new(3);
    let (reappearing, stays, new) = (
        finding("It goes", "src/a.rs", 7, "HIGH"),
        finding("It stays", "src/a.rs", 9, "HIGH"),
        finding("It is new", "src/a.rs", 11, "HIGH"),
    );
    stand(&fixture, &review(&fixture, 1, &[reappearing.clone(), stays.clone()]));
    let standing = stand(&fixture, &review(&fixture, 2, &[stays.clone(), new.clone()]));
    assert_eq!((standing.added, standing.resolved, standing.reopened), (1, 1, 0));
    let standing = stand(&fixture, &review(&fixture, 3, &[reappearing, stays]));
    assert_eq!((standing.added, standing.resolved, standing.reopened), (0, 1, 1));
    assert_eq!(
        threads(&fixture),
        [
            "**🟠 HIGH: It goes**",
            "**🟠 HIGH: It stays**",
            "**🟠 HIGH: It is new**, resolved by assay-bot"
        ]
    );
}

#[test]
fn a_thread_resolved_by_a_person_stays_resolved_and_keeps_its_replies() {
    let fixture = GithubFixture::new(4);
    let defect = finding("An open door", "src/a.rs", 7, "HIGH");
    stand(&fixture, &review(&fixture, 1, std::slice::from_ref(&defect)));
    let thread = &fixture.github.threads(REPO, fixture.number)[0];
    let replies = format!(
        "/repos/{REPO}/pulls/{}/comments/{}/replies",
        fixture.number, thread.comments[0].id
    );
    fixture.github.ask("t-ann", "POST", &replies, &json!({"body": "It is meant to be open."}));
    let query = "mutation ResolveThread($id: ID!) { resolveReviewThread(input: {threadId: $id}) \
                 { thread { id isResolved } } }";
    let body =
        json!({"query": query, "operationName": "ResolveThread", "variables": {"id": thread.id}});
    fixture.github.ask("t-ann", "POST", "/graphql", &body);
    let standing = stand(&fixture, &review(&fixture, 2, &[defect]));
    assert_eq!((standing.added, standing.reopened), (0, 0));
    assert_eq!(threads(&fixture), ["**🟠 HIGH: An open door**, resolved by ann"]);
    let thread = &fixture.github.threads(REPO, fixture.number)[0];
    assert_eq!(thread.comments[1].body, "It is meant to be open.");
}

#[test]
fn an_incomplete_review_resolves_nothing() {
    let fixture = GithubFixture::new(5);
    stand(&fixture, &review(&fixture, 1, &[finding("An open door", "src/a.rs", 7, "HIGH")]));
    let head = sha("head 2");
    fixture.github.move_head(REPO, fixture.number, &head, &diff_text());
    let no_reports = assay_findings::synthesis::synthesize(&[], &Default::default());
    let standing = stand(&fixture, &draft(&no_reports, &head));
    assert_eq!(standing.resolved, 0);
    assert_eq!(threads(&fixture), ["**🟠 HIGH: An open door**"]);
}

#[test]
fn a_marker_in_a_comment_of_another_user_does_not_hide_a_finding() {
    let fixture = GithubFixture::new(6);
    let draft = review(&fixture, 1, &[finding("An open door", "src/a.rs", 7, "HIGH")]);
    let print = draft.posts()[0].fingerprint.as_str();
    let marker = format!("Fine.\n\n<!-- assay:finding {print} 01234567 -->");
    let comments = format!("/repos/{REPO}/pulls/{}/comments", fixture.number);
    let body = json!({"body": marker, "commit_id": sha("head 1"), "path": "src/a.rs", "line": 7,
        "side": "RIGHT"});
    assert_eq!(fixture.github.ask("t-ann", "POST", &comments, &body).0, 201);
    assert_eq!(stand(&fixture, &draft).added, 1);
}

#[test]
fn a_pull_request_of_the_own_account_gets_comments_instead_of_a_verdict() {
    let fixture = GithubFixture::new(7);
    fixture.github.add_token("ann", TOKEN, Access::User);
    stand(&fixture, &review(&fixture, 1, &[finding("An open door", "src/a.rs", 7, "CRITICAL")]));
    let reviews = fixture.github.reviews(REPO, fixture.number);
    assert!(reviews.iter().all(|review| review.state == "COMMENTED"), "{reviews:?}");
    assert_eq!(threads(&fixture), ["**🔴 CRITICAL: An open door**"]);
}

#[test]
fn a_deleted_comment_is_not_posted_again() {
    let fixture = GithubFixture::new(8);
    let draft = review(&fixture, 1, &[finding("An open door", "src/a.rs", 7, "HIGH")]);
    let posted = BTreeSet::from([draft.posts()[0].fingerprint.clone()]);
    let standing = stand_after(&fixture, &draft, &posted);
    assert_eq!((standing.added, standing.refused), (0, 1));
    assert!(fixture.visible().contains("the comment was deleted"), "{}", fixture.visible());
}

#[test]
fn a_review_of_an_outdated_head_is_not_posted() {
    let fixture = GithubFixture::new(9);
    let draft = review(&fixture, 1, &[finding("An open door", "src/a.rs", 7, "HIGH")]);
    fixture.github.move_head(REPO, fixture.number, &sha("head 2"), &diff_text());
    let posted = fixture.post(&draft, &BTreeSet::new()).unwrap();
    assert_eq!(
        posted,
        PostOutcome::Superseded(SupersededReason::NewHead(sha("head 2").parse().unwrap()))
    );
    assert_eq!(fixture.visible(), "");
}

#[test]
fn a_rejected_review_is_split_until_the_rejected_comment_is_isolated() {
    let fixture = GithubFixture::new(10);
    let findings: Vec<Value> = (1..=8)
        .map(|line| finding(&format!("Defect {line}"), "src/a.rs", line * 2, "HIGH"))
        .collect();
    // These are rejected: the whole, the comments alone, the first half, its first half, and one
    // comment.
    for _ in 0..5 {
        fixture.github.fail_next("POST /reviews", Fault::Invalid);
    }
    let standing = stand(&fixture, &review(&fixture, 1, &findings));
    assert_eq!(standing.added + standing.refused, 8);
    assert!(standing.refused <= 1, "{standing:?}");
}

#[test]
fn at_most_a_hundred_comments_are_posted_and_the_rest_is_in_the_summary() {
    let fixture = GithubFixture::new(11);
    let findings: Vec<Value> = (0..120)
        .map(|number| {
            let severity = if number < 60 { "HIGH" } else { "LOW" };
            finding(&format!("Defect q{number}q"), "src/a.rs", number % 60 + 1, severity)
        })
        .collect();
    let standing = stand(&fixture, &review(&fixture, 1, &findings));
    assert_eq!(standing.added, 100);
    let below = &fixture.github.comments(REPO, fixture.number)[0].body;
    assert_eq!((0..120).filter(|number| below.contains(&format!("q{number}q"))).count(), 20);
    assert_eq!(fixture.github.reviews(REPO, fixture.number).len(), 4);
}

#[test]
fn a_rate_limit_is_waited_for_and_reported() {
    let fixture = GithubFixture::new(12);
    fixture.github.fail_next("POST /reviews", Fault::SecondaryLimit { retry_after: Some(90) });
    stand(&fixture, &review(&fixture, 1, &[finding("An open door", "src/a.rs", 7, "HIGH")]));
    let waits = fixture.waits.lock().unwrap().clone();
    assert!(waits.contains(&"GitHub rate limit: waiting for 90 s".to_owned()), "{waits:?}");
    assert_eq!(fixture.github.busiest().impatient, 0);
}

#[test]
fn a_missing_write_permission_is_reported_without_the_token() {
    let fixture = GithubFixture::new(13);
    fixture.github.add_token("reader", TOKEN, Access::Read);
    let draft = review(&fixture, 1, &[finding("An open door", "src/a.rs", 7, "HIGH")]);
    let error = fixture.post(&draft, &BTreeSet::new());
    let error = error.unwrap_err();
    assert!(!error.is_transient());
    expect![
        "GitHub refused `POST /repos/octo/demo/pulls/1/reviews` with status 403: Resource not \
         accessible by integration (the token lacks a permission)"
    ]
    .assert_eq(&error.to_string());
    assert!(!format!("{error:?}").contains(TOKEN));
}
