//! Tests of the verdicts of our reviews: the newest one counts, and outdated ones are dismissed.

use std::collections::BTreeSet;

use assay_findings::post::{ReadyAction, ReviewDraft};
use assay_findings::synthesis::synthesize;
use assay_services::github::PullUpdate;
use assay_services::post::{PostOutcome, SupersededReason};
use assay_testkit::github::{Access, Fault, FaultTiming, sha};
use expect_test::expect;
use serde_json::{Value, json};

use super::posting::{review, stand, threads};
use super::{
    GithubFixture, REPO, TOKEN, diff_text, draft, draft_where, finding, found, read_by_a_model,
};

/// Returns our reviews with a verdict, the oldest first: `APPROVED head 1`.
fn verdicts(fixture: &GithubFixture) -> Vec<String> {
    let name = |commit: &str| (1..9).find(|round| sha(&format!("head {round}")) == commit);
    let reviews = fixture.github.reviews(REPO, fixture.number);
    let verdicts = reviews.iter().filter(|review| review.state != "COMMENTED");
    verdicts.map(|it| format!("{} head {}", it.state, name(&it.commit).unwrap())).collect()
}

fn defect() -> Value {
    finding("An open door", "src/a.rs", 7, "HIGH")
}

/// Returns a draft for a change that is ready and gets only a comment.
fn comment(fixture: &GithubFixture, round: u32) -> ReviewDraft {
    let head = sha(&format!("head {round}"));
    fixture.github.move_head(REPO, fixture.number, &head, &diff_text());
    draft_where(&found(&[]), &head, ReadyAction::Comment)
}

fn send(fixture: &GithubFixture, draft: &ReviewDraft) -> PostOutcome {
    fixture.post(draft, &BTreeSet::new()).unwrap()
}

#[test]
fn a_verdict_is_posted_again_if_another_one_followed() {
    let fixture = GithubFixture::new(30);
    let first = review(&fixture, 1, &[defect()]);
    stand(&fixture, &first);
    stand(&fixture, &review(&fixture, 2, &[]));
    assert_eq!(verdicts(&fixture), ["CHANGES_REQUESTED head 1", "APPROVED head 2"]);
    fixture.github.move_head(REPO, fixture.number, &sha("head 1"), &diff_text());
    stand(&fixture, &first);
    let after = ["CHANGES_REQUESTED head 1", "DISMISSED head 2", "CHANGES_REQUESTED head 1"];
    assert_eq!(verdicts(&fixture), after);
    stand(&fixture, &first);
    assert_eq!(verdicts(&fixture), after, "once is enough");
}

#[test]
fn a_comment_posted_instead_of_a_verdict_is_not_posted_again() {
    let fixture = GithubFixture::new(31);
    fixture.github.add_token("ann", TOKEN, Access::User);
    let draft = review(&fixture, 1, &[]);
    stand(&fixture, &draft);
    stand(&fixture, &draft);
    assert_eq!(fixture.github.reviews(REPO, fixture.number).len(), 1);
}

#[test]
fn an_approval_of_other_commits_is_dismissed_unless_the_new_ones_are_approved() {
    let fixture = GithubFixture::new(32);
    stand(&fixture, &review(&fixture, 1, &[]));
    stand(&fixture, &review(&fixture, 2, &[]));
    assert_eq!(verdicts(&fixture), ["APPROVED head 1", "APPROVED head 2"]);
    let head = sha("head 3");
    fixture.github.move_head(REPO, fixture.number, &head, &diff_text());
    let no_reports = synthesize(&[], &Default::default());
    stand(&fixture, &draft_where(&no_reports, &head, ReadyAction::Approve));
    assert_eq!(verdicts(&fixture), ["DISMISSED head 1", "DISMISSED head 2"]);
}

#[test]
fn a_request_for_changes_is_dismissed_once_the_change_is_ready() {
    let fixture = GithubFixture::new(33);
    stand(&fixture, &review(&fixture, 1, &[defect()]));
    stand(&fixture, &comment(&fixture, 2));
    assert_eq!(verdicts(&fixture), ["DISMISSED head 1"]);
}

#[test]
fn a_request_for_changes_stays_if_no_reviewer_reported() {
    let fixture = GithubFixture::new(34);
    stand(&fixture, &review(&fixture, 1, &[defect()]));
    let head = sha("head 2");
    fixture.github.move_head(REPO, fixture.number, &head, &diff_text());
    let no_reports = synthesize(&[], &Default::default());
    stand(&fixture, &draft_where(&no_reports, &head, ReadyAction::Approve));
    assert_eq!(verdicts(&fixture), ["CHANGES_REQUESTED head 1"]);
}

#[test]
fn a_review_that_a_person_wrote_from_our_account_is_not_dismissed() {
    let fixture = GithubFixture::new(35);
    let reviews = format!("/repos/{REPO}/pulls/{}/reviews", fixture.number);
    let body = json!({"event": "REQUEST_CHANGES", "body": "Not so.", "commit_id": sha("head 1")});
    assert_eq!(fixture.github.ask(TOKEN, "POST", &reviews, &body).0, 200);
    stand(&fixture, &comment(&fixture, 2));
    assert_eq!(verdicts(&fixture), ["CHANGES_REQUESTED head 1"]);
}

#[test]
fn a_dismissal_with_a_lost_answer_is_checked_again() {
    let fixture = GithubFixture::new(36);
    stand(&fixture, &review(&fixture, 1, &[defect()]));
    fixture.github.fail_next("PUT /dismissals", Fault::Cut(FaultTiming::AfterEffect));
    let standing = stand(&fixture, &comment(&fixture, 2));
    assert_eq!(
        (verdicts(&fixture), standing.not_permitted),
        (vec!["DISMISSED head 1".to_owned()], 0)
    );
    let waits = fixture.waits.lock().unwrap().clone();
    assert!(waits.iter().any(|why| why.ends_with("checking again in 30 s")), "{waits:?}");
}

#[test]
fn a_forbidden_resolve_or_dismissal_is_counted_and_the_summary_is_still_posted() {
    let fixture = GithubFixture::new(37);
    stand(&fixture, &review(&fixture, 1, &[defect()]));
    fixture.github.fail_next("POST ResolveThread", Fault::Forbidden);
    fixture.github.fail_next("PUT /dismissals", Fault::Forbidden);
    let standing = stand(&fixture, &comment(&fixture, 2));
    assert_eq!((standing.resolved, standing.not_permitted), (0, 2));
    assert_eq!(verdicts(&fixture), ["CHANGES_REQUESTED head 1"]);
    let below = fixture.github.comments(REPO, fixture.number);
    assert!(below[0].body.starts_with("## Ready"), "{below:?}");
    let log = fixture.github.log();
    let at = |words: &[&str]| {
        let is_match = |path: &str, operation: &str| {
            words.iter().all(|word| path.contains(word) || operation.contains(word))
        };
        log.iter()
            .rposition(|it| is_match(&it.path, it.operation.as_deref().unwrap_or("")))
            .unwrap()
    };
    assert!(at(&["/issues/comments"]) < at(&["ResolveThread"]), "the summary comes first");

    let standing = stand(&fixture, &comment(&fixture, 2));
    assert_eq!((standing.resolved, standing.not_permitted), (1, 0), "it is tried the next time");
    assert_eq!(threads(&fixture), ["**🟠 HIGH: An open door**, resolved by assay-bot"]);
}

#[test]
fn a_review_is_dismissed_only_once_and_an_unknown_review_is_refused() {
    let fixture = GithubFixture::new(38);
    stand(&fixture, &review(&fixture, 1, &[]));
    let id = fixture.github.reviews(REPO, fixture.number)[0].id;
    let (github, repo) = (fixture.client(), &fixture.repository);
    let dismiss = |id: u64| github.dismiss_review(repo, fixture.number, id, "It was too soon.");
    assert_eq!(dismiss(id).unwrap().state, "DISMISSED");
    expect!["GitHub refused `PUT /repos/octo/demo/pulls/1/reviews/1006/dismissals` with status 422: Unprocessable Entity; Can not dismiss a dismissed pull request review"]
        .assert_eq(&dismiss(id).unwrap_err().to_string());
    assert_eq!(dismiss(1).unwrap_err().status(), Some(404));
}

#[test]
fn no_verdict_is_given_on_commits_that_were_pushed_meanwhile() {
    // The push happens before the head is read again, and after it.
    for on in ["GET /repos/octo/demo/pulls/1", "POST /repos/octo/demo/pulls/1/reviews"] {
        let fixture = GithubFixture::new(39);
        let draft = review(&fixture, 1, &[defect()]);
        *fixture.push.lock().unwrap() = Some((on, sha("head 2")));
        assert_eq!(send(&fixture, &draft), moved_on_to("head 2"), "{on}");
        assert_eq!(fixture.visible(), "");
    }
}

#[test]
fn no_verdict_is_posted_on_a_retargeted_pull_request() {
    let fixture = GithubFixture::new(41);
    fixture.github.add_branch(REPO, "release", &sha("release 1"));
    let update = PullUpdate { base: Some("release".to_owned()), ..PullUpdate::default() };
    fixture.client().update_pull(&fixture.repository, fixture.number, &update).unwrap();
    let against = |base: &str| review(&fixture, 1, &[defect()]).with_base(Some(base.to_owned()));
    let onto = PostOutcome::Superseded(SupersededReason::NewBase("release".to_owned()));
    assert_eq!(send(&fixture, &against("main")), onto);
    assert_eq!(fixture.visible(), "");
    assert!(matches!(send(&fixture, &against("release")), PostOutcome::Posted(_)));
}

#[test]
fn an_approval_of_the_same_commits_for_another_branch_is_dismissed() {
    let fixture = GithubFixture::new(42);
    fixture.github.add_branch(REPO, "release", &sha("release 1"));
    let move_onto = |base: &str| {
        let update = PullUpdate { base: Some(base.to_owned()), ..PullUpdate::default() };
        fixture.client().update_pull(&fixture.repository, fixture.number, &update).unwrap();
    };
    let onto = |draft: ReviewDraft, base: &str| draft.with_base(Some(base.to_owned()));
    let no_reports = synthesize(&[], &Default::default());
    let unread = || draft_where(&no_reports, &sha("head 1"), ReadyAction::Approve);
    move_onto("release");
    stand(&fixture, &onto(review(&fixture, 1, &[]), "release"));
    stand(&fixture, &onto(unread(), "release"));
    assert_eq!(verdicts(&fixture), ["APPROVED head 1"], "it was read once");
    move_onto("main");
    stand(&fixture, &onto(unread(), "main"));
    assert_eq!(verdicts(&fixture), ["DISMISSED head 1"]);
}

#[test]
fn an_approval_is_dismissed_once_a_complete_review_of_the_same_commits_does_not_approve() {
    let medium = finding("A dark corner", "src/a.rs", 7, "MEDIUM");
    // The setting was removed; a finding is open; only rules have read the change this time.
    type ChangedDraft = fn(&Value, &str) -> ReviewDraft;
    let again: [ChangedDraft; 3] = [
        |_, head| draft_where(&read_by_a_model(&found(&[])), head, ReadyAction::Comment),
        |medium, head| draft(&found(std::slice::from_ref(medium)), head),
        |_, head| draft_where(&found(&[]), head, ReadyAction::Approve),
    ];
    for (number, again) in again.into_iter().enumerate() {
        let fixture = GithubFixture::new(50 + number as u64);
        stand(&fixture, &review(&fixture, 1, &[]));
        assert_eq!(verdicts(&fixture), ["APPROVED head 1"]);
        let draft = again(&medium, &sha("head 1"));
        stand(&fixture, &draft);
        stand(&fixture, &draft);
        assert_eq!(verdicts(&fixture), ["DISMISSED head 1"], "{number}");
    }
}

fn moved_on_to(head: &str) -> PostOutcome {
    PostOutcome::Superseded(SupersededReason::NewHead(sha(head).parse().unwrap()))
}

#[test]
fn a_request_for_changes_is_not_dismissed_for_commits_without_a_review() {
    let fixture = GithubFixture::new(40);
    stand(&fixture, &review(&fixture, 1, &[defect()]));
    let draft = comment(&fixture, 2);
    *fixture.push.lock().unwrap() = Some(("GET /repos/octo/demo/pulls/1", sha("head 3")));
    assert_eq!(send(&fixture, &draft), moved_on_to("head 3"));
    assert_eq!(verdicts(&fixture), ["CHANGES_REQUESTED head 1"]);
}

#[test]
fn an_own_pending_review_is_reported_before_anything_is_sent() {
    let fixture = GithubFixture::new(41);
    let draft = review(&fixture, 1, &[defect()]);
    let reviews = format!("/repos/{REPO}/pulls/{}/reviews", fixture.number);
    fixture.github.ask("t-ann", "POST", &reviews, &json!({"body": "Theirs."}));
    stand(&fixture, &draft);
    fixture.github.ask(TOKEN, "POST", &reviews, &json!({"body": "Later."}));
    let before = fixture.github.log().len();
    let draft = review(&fixture, 2, &[]);
    let error = fixture.post(&draft, &BTreeSet::new());
    expect![
        "GitHub refused `posting a review on octo/demo#1` with status 422: you have a pending \
         review on octo/demo#1; submit or delete the pending review"
    ]
    .assert_eq(&error.unwrap_err().to_string());
    assert!(fixture.github.log()[before..].iter().all(|asked| !asked.took_effect));
}
