//! Tests of posting a review on GitLab: the visible result, and the objects that are left alone.

use assay_findings::post::ReadyAction;
use assay_services::post::{PostOutcome, SupersededReason};
use assay_testkit::github::sha;
use assay_testkit::gitlab::{Discussion, Fault, OTHER_TOKEN, OTHER_USER, PROJECT, TOKEN, USER};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{GitLabFixture, draft, draft_where, version};
use crate::github::{finding, found};

/// Returns a line for each discussion: its place, whether it is resolved, and its first line.
fn shown(fixture: &GitLabFixture) -> String {
    let line = |discussion: &Discussion| {
        let at = &discussion.position;
        let number = |name: &str| at[name].as_u64().map(|number| format!(" {name} {number}"));
        let numbers: String =
            ["old_line", "new_line"].iter().filter_map(|name| number(name)).collect();
        let range = if at["line_range"].is_null() { "" } else { " range" };
        let place = match at["new_path"].as_str() {
            Some(path) => format!("{path}{numbers}{range}"),
            None => "conversation".to_owned(),
        };
        let by = discussion.resolved_by.map(|by| format!(" (resolved by {by})"));
        let body = discussion.notes[0].body.lines().next().unwrap_or_default().to_owned();
        format!("{place}{}: {body}\n", by.unwrap_or_default())
    };
    fixture.gitlab.discussions(fixture.number).iter().map(line).collect()
}

fn check(fixture: &GitLabFixture, expected: Expect) {
    expected.assert_eq(&shown(fixture));
}

fn range(title: &str, file: &str, line: u32, end: u32) -> Value {
    let mut finding = finding(title, file, line, "HIGH");
    finding["end_line"] = json!(end);
    finding
}

#[test]
fn each_finding_is_a_discussion_on_its_line_on_its_file_or_in_the_summary() {
    let fixture = GitLabFixture::new();
    let findings = [
        finding("An added line", "src/new.rs", 7, "HIGH"),
        finding("An unchanged line", "src/new.rs", 5, "HIGH"),
        finding("A removed line", "old.txt", 2, "HIGH"),
        range("Lines of both kinds", "src/new.rs", 5, 8),
        finding("A long file", "b.txt", 900, "MEDIUM"),
        finding("A far cry", "elsewhere.rs", 3, "LOW"),
    ];
    let report = fixture.posted(&draft(&found(&findings), 1));
    assert_eq!((report.added, report.refused), (5, 0));
    check(
        &fixture,
        expect![[r#"
            old.txt old_line 2: **🟠 HIGH: A removed line**
            src/new.rs old_line 5 new_line 5: **🟠 HIGH: An unchanged line**
            src/new.rs new_line 8 range: **🟠 HIGH: Lines of both kinds**
            src/new.rs new_line 7: **🟠 HIGH: An added line**
            b.txt: **🔵 MEDIUM: A long file**
            conversation: ## Not ready
        "#]],
    );
}

#[test]
fn an_existing_review_is_not_posted_again() {
    let fixture = GitLabFixture::new();
    let draft = draft(&found(&[finding("An open door", "b.txt", 7, "HIGH")]), 1);
    fixture.posted(&draft);
    let (before, writes) = (shown(&fixture), fixture.gitlab.writes());
    assert_eq!(fixture.posted(&draft).added, 0);
    assert_eq!((shown(&fixture), fixture.gitlab.writes()), (before, writes));
}

#[test]
fn a_fixed_finding_is_resolved_and_one_that_is_back_is_reopened() {
    let fixture = GitLabFixture::new();
    let (goes, stays) =
        (finding("It goes", "b.txt", 7, "HIGH"), finding("It stays", "b.txt", 9, "HIGH"));
    fixture.posted(&draft(&found(&[goes.clone(), stays.clone()]), 1));
    fixture.gitlab.push(fixture.number, &version(2));
    let report = fixture.posted(&draft(&found(std::slice::from_ref(&stays)), 2));
    assert_eq!((report.added, report.resolved, report.reopened), (0, 1, 0));
    check(
        &fixture,
        expect![[r#"
            b.txt new_line 7 (resolved by 11): **🟠 HIGH: It goes**
            b.txt new_line 9: **🟠 HIGH: It stays**
            conversation: ## Not ready
        "#]],
    );
    let report = fixture.posted(&draft(&found(&[goes, stays]), 2));
    assert_eq!((report.added, report.resolved, report.reopened), (0, 0, 1));
}

#[test]
fn a_discussion_that_a_person_resolved_or_wrote_is_left_alone() {
    let fixture = GitLabFixture::new();
    let draft = draft(&found(&[finding("An open door", "b.txt", 7, "HIGH")]), 1);
    fixture.posted(&draft);
    let own = fixture.gitlab.discussions(fixture.number)[0].clone();
    let base = format!("/projects/{}/merge_requests/1", PROJECT.replace('/', "%2F"));
    let path = format!("{base}/discussions/{}", own.id);
    fixture.gitlab.ask(OTHER_TOKEN, "PUT", &path, &json!({ "resolved": true }));
    // A copy of our text by another user is no comment of ours.
    fixture.gitlab.ask(
        OTHER_TOKEN,
        "POST",
        &format!("{base}/notes"),
        &json!({ "body": own.notes[0].body }),
    );
    let report = fixture.posted(&draft);
    assert_eq!((report.added, report.reopened), (0, 0));
    assert_eq!(fixture.gitlab.discussions(1)[0].resolved_by, Some(OTHER_USER));
}

#[test]
fn a_line_that_gitlab_refuses_is_in_the_summary() {
    let fixture = GitLabFixture::new();
    fixture.gitlab.fail_next("POST /discussions", Fault::Before(400));
    let findings =
        [finding("An open door", "b.txt", 7, "HIGH"), finding("Another", "b.txt", 9, "HIGH")];
    let report = fixture.posted(&draft(&found(&findings), 1));
    assert_eq!((report.added, report.refused), (1, 1));
    let notes = fixture.gitlab.discussions(1);
    let summary = notes.iter().find(|it| it.position.is_null()).unwrap();
    assert!(summary.notes[0].body.contains("An open door"), "{}", summary.notes[0].body);
}

#[test]
fn an_approval_is_given_once_and_withdrawn_when_the_change_is_no_longer_ready() {
    let fixture = GitLabFixture::new();
    fixture.posted(&draft(&found(&[]), 1));
    assert_eq!(fixture.gitlab.approved_by(1), [USER]);
    let writes = fixture.gitlab.writes();
    fixture.posted(&draft(&found(&[]), 1));
    assert_eq!(fixture.gitlab.writes(), writes);
    fixture.gitlab.push(1, &version(2));
    fixture.posted(&draft(&found(&[finding("An open door", "b.txt", 7, "HIGH")]), 2));
    assert_eq!(fixture.gitlab.approved_by(1), [0_u64; 0]);
}

#[test]
fn a_review_approves_only_if_that_is_configured() {
    let fixture = GitLabFixture::new();
    fixture.posted(&draft_where(&found(&[]), 1, ReadyAction::Comment));
    assert_eq!(fixture.gitlab.approved_by(1), [0_u64; 0]);
}

#[test]
fn an_approval_of_a_person_with_the_same_account_stays() {
    let fixture = GitLabFixture::new();
    let path = format!("/projects/{}/merge_requests/1/approve", PROJECT.replace('/', "%2F"));
    assert_eq!(fixture.gitlab.ask(TOKEN, "POST", &path, &json!({})).0, 201);
    fixture.posted(&draft(&found(&[finding("An open door", "b.txt", 7, "HIGH")]), 1));
    assert_eq!(fixture.gitlab.approved_by(1), [USER]);
}

#[test]
fn an_account_that_may_not_approve_comments() {
    let fixture = GitLabFixture::new();
    fixture.gitlab.forbid_approval();
    let draft = draft(&found(&[]), 1);
    fixture.posted(&draft);
    let writes = fixture.gitlab.writes();
    fixture.posted(&draft);
    assert_eq!((fixture.gitlab.approved_by(1).len(), fixture.gitlab.writes()), (0, writes));
}

#[test]
fn a_review_of_an_older_commit_is_not_posted() {
    let fixture = GitLabFixture::new();
    fixture.gitlab.push(1, &version(2));
    let outcome = fixture.post(&draft(&found(&[finding("Old", "b.txt", 7, "HIGH")]), 1)).unwrap();
    let head = sha("head 2").parse().unwrap();
    assert_eq!(outcome, PostOutcome::Superseded(SupersededReason::NewHead(head)));
    assert_eq!(fixture.gitlab.writes(), 0);
}

#[test]
fn no_text_of_a_finding_is_a_command_of_gitlab() {
    let fixture = GitLabFixture::new();
    let mut hostile = finding("/merge", "b.txt", 7, "HIGH");
    hostile["description"] =
        json!("A\n\n/approve\n\n- /close\n\n```\n/close\n```\n\n/merge !7 @all");
    let mut far = hostile.clone();
    far["file"] = json!("elsewhere.rs");
    // The fake refuses a text with a command.
    let report = fixture.posted(&draft(&found(&[hostile, far]), 1));
    assert_eq!((report.added, report.refused), (1, 0));
}
