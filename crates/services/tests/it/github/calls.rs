//! Tests of each call, against a fake GitHub that rejects what the real one would.

use std::time::Duration;

use assay_findings::post::{answer, check_run};
use assay_services::github::{
    LineComment, NewPull, OpenPulls, PullState, PullUpdate, Reaction, Side,
};
use assay_services::outcome::CommentOutcome;
use assay_testkit::github::{Access, Fault, FaultTiming, NewPull as FakePull, sha};
use expect_test::expect;
use serde_json::{Value, json};

use super::{GithubFixture, REPO, TOKEN, diff_text, finding, found};

#[test]
fn a_pull_request_is_read_found_opened_and_changed() {
    let fixture = GithubFixture::new(1);
    let (github, repo) = (fixture.client(), &fixture.repository);
    let pull = github.pull(repo, fixture.number).unwrap();
    assert_eq!((pull.author.as_str(), pull.head.branch.as_str()), ("ann", "feature"));
    assert_eq!(pull.head.commit.as_str(), sha("head 1"));
    assert!(pull.is_from(repo));
    assert_eq!(github.pull_of_branch(repo, "feature").unwrap().unwrap().number, fixture.number);
    assert_eq!(github.pull_of_branch(repo, "nothing").unwrap(), None);

    let main = github.branch(repo, &github.default_branch(repo).unwrap()).unwrap().unwrap();
    assert_eq!(github.branch(repo, "no/such").unwrap(), None);
    assert_eq!(github.create_branch(repo, "fix/a-b", &main).unwrap(), main);
    fixture.github.add_commit(REPO, &sha("fix"), &diff_text());
    fixture.github.add_branch(REPO, "fix/a-b", &sha("fix"));
    let new = NewPull {
        title: "Mend it".to_owned(),
        body: "All of it.".to_owned(),
        head: "fix/a-b".to_owned(),
        base: "main".to_owned(),
        draft: false,
    };
    let opened = github.open_pull(repo, &new).unwrap();
    let again = github.open_pull(repo, &new).unwrap_err();
    assert_eq!(again.status(), Some(422));
    let update = PullUpdate {
        title: Some("Mend all of it".to_owned()),
        open: Some(false),
        ..PullUpdate::default()
    };
    let updated = github.update_pull(repo, opened.number, &update).unwrap();
    assert_eq!((updated.title.as_str(), updated.state), ("Mend all of it", PullState::Closed));
    assert_eq!(updated.body, "All of it.");
}

#[test]
fn open_pull_requests_are_listed_once_and_then_only_if_something_changed() {
    let fixture = GithubFixture::new(2);
    let (github, repo) = (fixture.client(), &fixture.repository);
    for number in 0..130 {
        let (branch, head) = (format!("b{number}"), sha(&number.to_string()));
        fixture.github.open_pull(REPO, FakePull::new("ann", &branch, &head, &diff_text()));
    }
    let OpenPulls::Changed { pulls, tag, more: false } = github.open_pulls(repo, None).unwrap()
    else {
        panic!()
    };
    assert_eq!(pulls.len(), 131);
    assert_eq!(github.open_pulls(repo, tag.as_deref()).unwrap(), OpenPulls::Unchanged);
    fixture.clock.advance(Duration::from_secs(60));
    fixture.github.set_labels(REPO, 7, &["ready-for-review"]);
    let OpenPulls::Changed { pulls, .. } = github.open_pulls(repo, tag.as_deref()).unwrap() else {
        panic!()
    };
    let labelled: Vec<u64> =
        pulls.iter().filter(|pull| !pull.labels.is_empty()).map(|pull| pull.number).collect();
    assert_eq!(labelled, [7]);
}

#[test]
fn a_diff_is_read_unless_it_is_too_large() {
    let fixture = GithubFixture::new(3);
    let (github, repo) = (fixture.client(), &fixture.repository);
    assert_eq!(github.diff(repo, fixture.number).unwrap().unwrap(), diff_text());
    let large: String = (0..301)
        .map(|n| {
            format!(
                "diff --git a/{n} b/{n}\nnew file mode 100644\n--- /dev/null\n+++ b/{n}\n\
                 @@ -0,0 +1 @@\n+x\n"
            )
        })
        .collect();
    let pull = FakePull::new("ann", "large", &sha("large"), &large);
    let number = fixture.github.open_pull(REPO, pull);
    assert!(github.diff(repo, number).unwrap().is_err());
    let (files, more) = github.files(repo, number).unwrap();
    assert_eq!((files.len(), more), (301, false));
}

#[test]
fn comments_are_written_changed_and_listed() {
    let fixture = GithubFixture::new(4);
    let (github, repo, number) = (fixture.client(), &fixture.repository, fixture.number);
    let head = github.pull(repo, number).unwrap().head.commit;
    let below = github.comment(repo, number, "Below").unwrap();
    github.update_comment(repo, below.id, "Below, changed").unwrap();
    github.comment_on_file(repo, number, &head, "b.txt", "A file").unwrap();
    let line = LineComment {
        path: "src/a.rs".to_owned(),
        line: 9,
        side: Side::Right,
        start_line: Some(7),
        start_side: Some(Side::Right),
        body: "Lines".to_owned(),
    };
    let posted = github.comment_on_lines(repo, number, &head, &line).unwrap();
    let replies = format!("/repos/{REPO}/pulls/{number}/comments/{}/replies", posted.id);
    fixture.github.ask("t-ann", "POST", &replies, &json!({ "body": "An answer" }));
    let off = LineComment { line: 900, start_line: None, start_side: None, ..line };
    assert_eq!(github.comment_on_lines(repo, number, &head, &off).unwrap_err().status(), Some(422));
    let (on_lines, more) = github.review_comments(repo, number, 10).unwrap();
    let comment_lines: Vec<String> = on_lines
        .iter()
        .map(|it| format!("{} {:?} {} by {}", it.path, it.line, it.body, it.author))
        .collect();
    assert_eq!(
        comment_lines,
        [
            "b.txt None A file by assay-bot",
            "src/a.rs Some(9) Lines by assay-bot",
            "src/a.rs Some(9) An answer by ann",
        ]
    );
    assert!(!more);
    assert!(github.review_comments(repo, number, 2).unwrap().1);
    let (below, _) = github.comments(repo, number, 10).unwrap();
    assert_eq!(below[0].body, "Below, changed");
}

#[test]
fn an_app_creates_a_check_run_with_all_annotations() {
    let fixture = GithubFixture::new(5);
    fixture.github.add_token("assay[bot]", TOKEN, Access::App);
    let (github, repo) = (fixture.client(), &fixture.repository);
    let head = github.pull(repo, fixture.number).unwrap().head.commit;
    let findings: Vec<Value> =
        (1..=51).map(|line| finding(&format!("Defect {line}"), "src/a.rs", line, "HIGH")).collect();
    let run = check_run(&found(&findings), None);
    github.create_check_run(repo, "assay", &head, &run).unwrap();
    let standing = &fixture.github.check_runs(REPO)[0];
    assert_eq!(standing["annotations"].as_array().unwrap().len(), 51);
    let (runs, more) = github.check_runs(repo, head.as_str()).unwrap();
    assert_eq!((runs[0].conclusion.as_deref(), more), (Some("failure"), false));
}

#[test]
fn a_read_is_retried_and_a_write_is_not() {
    let fixture = GithubFixture::new(6);
    let (github, repo, number) = (fixture.client(), &fixture.repository, fixture.number);
    for fault in
        [Fault::BadGateway(FaultTiming::BeforeEffect), Fault::Cut(FaultTiming::BeforeEffect)]
    {
        fixture.github.fail_next("GET", fault);
        github.pull(repo, number).unwrap();
        fixture.github.fail_next("POST", fault);
        let error = github.comment(repo, number, "once").unwrap_err();
        assert!(error.is_outcome_unknown(), "{error}");
    }
    assert!(github.comments(repo, number, 10).unwrap().0.is_empty());
}

#[test]
fn a_rate_limit_that_does_not_end_is_reported_as_an_error() {
    let fixture = GithubFixture::new(7);
    fixture.github.fail_at_random(7, 1, &[Fault::TooManyRequests { retry_after: Some(5) }]);
    let error = fixture.client().pull(&fixture.repository, fixture.number).unwrap_err();
    expect!["GitHub rate limit: `GET /repos/octo/demo/pulls/1` must wait for 5 s; retry later"]
        .assert_eq(&error.to_string());
}

#[test]
fn a_revoked_token_is_refused_and_not_shown_in_the_error() {
    let fixture = GithubFixture::new(8);
    fixture.github.revoke(TOKEN);
    let error = fixture.client().pull(&fixture.repository, fixture.number).unwrap_err();
    expect![
        "GitHub refused `GET /repos/octo/demo/pulls/1` with status 401: Bad credentials (the token \
         is invalid or expired)"
    ]
    .assert_eq(&error.to_string());
    assert!(!error.is_transient());
}

#[test]
fn a_sarif_log_is_uploaded_for_code_scanning() {
    let fixture = GithubFixture::new(9);
    let (github, repo) = (fixture.client(), &fixture.repository);
    let head = github.pull(repo, fixture.number).unwrap().head.commit;
    let sarif = json!({"version": "2.1.0", "runs": []}).to_string();
    github.upload_sarif(repo, &head, "refs/pull/1/head", &sarif).unwrap();
    assert_eq!(fixture.github.sarifs(REPO).len(), 1);
}

#[test]
fn users_with_write_access_are_told_from_others() {
    let fixture = GithubFixture::new(20);
    let (github, repo) = (fixture.client(), &fixture.repository);
    fixture.github.add_stranger("mallory");
    for (login, role) in [("cas", "maintain"), ("tim", "triage"), ("eve", "none"), ("ada", "admin")]
    {
        fixture.github.set_role(login, role);
    }
    fixture.github.add_comment(REPO, fixture.number, "mallory", "Hi.");
    let logins = ["ann", "cas", "ada", "tim", "eve", "mallory", "nobody"];
    let may_write = logins.iter().filter(|login| github.may_write(repo, login).unwrap());
    assert_eq!(may_write.collect::<Vec<_>>(), [&"ann", &"cas", &"ada"]);
    // A login is no path.
    assert!(!github.may_write(repo, "../../../user").unwrap());
}

#[test]
fn a_comment_is_answered_once_and_has_one_reaction() {
    let fixture = GithubFixture::new(21);
    let (github, repo) = (fixture.client(), &fixture.repository);
    let comment = fixture.github.add_comment(REPO, fixture.number, "ann", "/assay help");
    // The marker of another user is no answer of ours.
    let body = answer(comment, &["Help.".to_owned()]);
    fixture.github.add_comment(REPO, fixture.number, "mallory", &body);
    assert!(!github.has_answer(repo, fixture.number, comment).unwrap());
    for expected in [CommentOutcome::Created, CommentOutcome::Existing] {
        let outcome = github.answer_once(repo, fixture.number, comment, &body).unwrap();
        assert_eq!(outcome, expected);
    }
    assert!(!github.has_answer(repo, fixture.number, comment + 1).unwrap());
    for _ in 0..2 {
        github.react(repo, comment, Reaction::Confused).unwrap();
    }
    let reactions = fixture.github.reactions(REPO, fixture.number, comment);
    assert_eq!(reactions.len(), 1, "{reactions:?}");
    assert_eq!(fixture.github.comments(REPO, fixture.number).len(), 3);
}
