//! Every call of the client, in an order in which each has its preconditions.

use anyhow::{Context, ensure};
use assay_findings::path::RepoPath;
use assay_findings::post;
use assay_services::github::{Event, LineComment, NewPull, NewReview, OpenPulls, PullUpdate, Side};
use assay_services::http::ServiceError;
use assay_store::pulls::CommitId;
use assay_testkit::github::sha;

use super::{GithubFixture, REPO};
use crate::conformance::{Check, Outcome};

/// Errors of Prism for calls that the description lacks: a path, and a diff as an answer.
const UNKNOWN: [(&str, &str); 2] = [
    ("NO_PATH_MATCHED_ERROR", "no such path"),
    (r#"The received media type \"application/vnd.github.diff"#, "no such kind of answer"),
];

/// The smallest file that code scanning accepts.
const SARIF: &str =
    r#"{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "assay"}}, "results": []}]}"#;

/// A call with the name of its purpose.
type Call = (&'static str, fn(&GithubFixture) -> anyhow::Result<()>);

const CALLS: [Call; 27] = [
    ("a pull request", |it| {
        let pull = it.client.pull(&it.repository, it.number)?;
        ensure!(pull.head.commit.as_str() == sha("head"), "another head came");
        Ok(())
    }),
    ("the pull request of a branch", |it| {
        let found = it.client.pull_of_branch(&it.repository, "feature")?;
        ensure!(found.is_some_and(|pull| pull.number == it.number), "it was not found");
        Ok(())
    }),
    ("open pull requests, and again by their tag", |it| {
        let OpenPulls::Changed { pulls, tag, .. } = it.client.open_pulls(&it.repository, None)?
        else {
            anyhow::bail!("they are said to be unchanged");
        };
        ensure!(pulls.len() == 1, "there are {}", pulls.len());
        let again = it.client.open_pulls(&it.repository, tag.as_deref())?;
        ensure!(again == OpenPulls::Unchanged, "they are said to have changed");
        Ok(())
    }),
    ("a diff", |it| {
        let diff = it.client.diff(&it.repository, it.number)?;
        ensure!(diff == Ok(super::DIFF.to_owned()), "another diff came: {diff:?}");
        Ok(())
    }),
    ("changed files", |it| {
        let (files, _) = it.client.files(&it.repository, it.number)?;
        ensure!(files.len() == 1, "there are {}", files.len());
        Ok(())
    }),
    ("the default branch", |it| {
        let branch = it.client.default_branch(&it.repository)?;
        ensure!(branch == "main", "it is {branch}");
        Ok(())
    }),
    ("a branch", |it| {
        let at = it.client.branch(&it.repository, "main")?;
        ensure!(at.is_some(), "it is not there");
        Ok(())
    }),
    ("a branch that is not there", |it| {
        let at = it.client.branch(&it.repository, "nowhere")?;
        ensure!(at.is_none(), "it is there");
        Ok(())
    }),
    ("a new branch", |it| {
        it.client.create_branch(&it.repository, "fix", &commit("fix")?)?;
        Ok(())
    }),
    ("a new pull request", |it| {
        let new = NewPull {
            title: "Fix".to_owned(),
            body: "All of it.".to_owned(),
            head: "fix".to_owned(),
            base: "main".to_owned(),
            draft: true,
        };
        it.client.open_pull(&it.repository, &new)?;
        Ok(())
    }),
    ("another title, text, base and state", |it| {
        let update = PullUpdate {
            title: Some("Fixed".to_owned()),
            body: Some(String::new()),
            base: Some("main".to_owned()),
            open: Some(false),
        };
        it.client.update_pull(&it.repository, it.number + 1, &update)?;
        Ok(())
    }),
    ("a review that asks for changes", |it| {
        let comments = vec![on_lines(None, 2), on_lines(Some(3), 4)];
        review(it, Event::RequestChanges, "Not yet.", comments)
    }),
    ("a review that comments", |it| review(it, Event::Comment, "Almost.", Vec::new())),
    ("a review that approves", |it| review(it, Event::Approve, "", Vec::new())),
    ("a review taken back", |it| {
        let (reviews, _) = it.client.reviews(&it.repository, it.number, 100)?;
        let given = reviews.iter().find(|review| review.state == "APPROVED");
        let given = given.context("there is no approval")?;
        it.client.dismiss_review(&it.repository, it.number, given.id, "It moved on.")?;
        Ok(())
    }),
    ("reviews", |it| {
        let (reviews, _) = it.client.reviews(&it.repository, it.number, 100)?;
        ensure!(reviews.len() == 3, "there are {}", reviews.len());
        Ok(())
    }),
    ("a comment below, and its change", |it| {
        let posted = it.client.comment(&it.repository, it.number, "Thanks.")?;
        it.client.update_comment(&it.repository, posted.id, "Thank you.")?;
        Ok(())
    }),
    ("comments below", |it| {
        let (comments, _) = it.client.comments(&it.repository, it.number, 100)?;
        ensure!(comments.len() == 1, "there are {}", comments.len());
        Ok(())
    }),
    ("a comment on a file", |it| {
        let head = commit("head")?;
        it.client.comment_on_file(&it.repository, it.number, &head, "src/a.rs", "Hm.")?;
        Ok(())
    }),
    ("a comment on a line", |it| comment_on(it, &on_lines(None, 1))),
    ("a comment on lines", |it| comment_on(it, &on_lines(Some(1), 3))),
    ("comments on lines", |it| {
        let (comments, _) = it.client.review_comments(&it.repository, it.number, 100)?;
        ensure!(comments.len() == 5, "there are {}", comments.len());
        Ok(())
    }),
    ("a new check, and more notes", |it| {
        let head = commit("head")?;
        let run = post::CheckRun {
            title: "Not ready".to_owned(),
            summary: "One finding.".to_owned(),
            conclusion: post::Conclusion::Failure,
            batches: vec![vec![note(1)?], vec![note(2)?]],
        };
        it.client.create_check_run(&it.repository, "assay", &head, &run)?;
        Ok(())
    }),
    ("checks of a commit and of a branch", |it| {
        for of in [sha("head"), "feature".to_owned()] {
            let (runs, _) = it.client.check_runs(&it.repository, &of)?;
            ensure!(runs.len() == 1, "there are {} of {of}", runs.len());
        }
        Ok(())
    }),
    ("SARIF", |it| {
        let (head, reference) = (commit("head")?, format!("refs/pull/{}/head", it.number));
        it.client.upload_sarif(&it.repository, &head, &reference, SARIF)?;
        Ok(())
    }),
    ("what stands on a pull request, in GraphQL", |it| {
        it.client.review_state(&it.repository, it.number)?;
        Ok(())
    }),
    ("a thread resolved and opened again, in GraphQL", |it| {
        let threads = it.github.threads(REPO, it.number);
        let thread = threads.first().context("there is no thread")?;
        it.client.resolve(&thread.id)?;
        it.client.unresolve(&thread.id)?;
        Ok(())
    }),
];

pub(super) fn run(fixture: &GithubFixture) -> Vec<Check> {
    let checks = CALLS.iter().map(|(name, call)| ((*name).to_owned(), judged(call(fixture))));
    checks.collect()
}

/// Converts the result of a call; a call that the description lacks counts as not available.
fn judged(called: anyhow::Result<()>) -> Outcome {
    let error = match called {
        Ok(()) => return Outcome::Passed,
        Err(error) => error,
    };
    let said = error.downcast_ref::<ServiceError>().and_then(ServiceError::message);
    let is_told = |words: &str| said.is_some_and(|said| said.contains(words));
    match UNKNOWN.iter().find(|(words, _)| is_told(words)) {
        Some((_, what)) => {
            Outcome::Unavailable(format!("the description has {what}: not validated"))
        }
        None => Outcome::Failed(format!("{error:#}")),
    }
}

fn commit(name: &str) -> anyhow::Result<CommitId> {
    Ok(sha(name).parse()?)
}

fn on_lines(start_line: Option<u32>, line: u32) -> LineComment {
    LineComment {
        path: "src/a.rs".to_owned(),
        line,
        side: Side::Right,
        start_line,
        start_side: start_line.map(|_| Side::Right),
        body: "It breaks.\n\n```suggestion\nmended\n```\n".to_owned(),
    }
}

fn comment_on(it: &GithubFixture, comment: &LineComment) -> anyhow::Result<()> {
    it.client.comment_on_lines(&it.repository, it.number, &commit("head")?, comment)?;
    Ok(())
}

fn review(
    it: &GithubFixture,
    event: Event,
    body: &str,
    comments: Vec<LineComment>,
) -> anyhow::Result<()> {
    let review = NewReview { commit: commit("head")?, event, body: body.to_owned(), comments };
    it.client.submit_review(&it.repository, it.number, &review)?;
    Ok(())
}

fn note(line: u32) -> anyhow::Result<post::Annotation> {
    Ok(post::Annotation {
        path: RepoPath::exact("src/a.rs")?,
        start_line: line,
        end_line: line,
        start_column: None,
        annotation_level: post::AnnotationLevel::Failure,
        message: "It breaks.".to_owned(),
        title: "An open door".to_owned(),
    })
}
