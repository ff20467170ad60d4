//! Tests of reviews on GitLab, against a strict fake.

mod posting;
mod schedules;

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use assay_findings::coverage::ReviewCoverage;
use assay_findings::path::RepoPath;
use assay_findings::post::{
    CommentDialect, DiffLineKind, DraftInputs, FileHunks, HunkLines, PullRequestDiff, ReadyAction,
    ReviewDraft, compose,
};
use assay_findings::synthesis::Synthesis;
use assay_sandbox::{Key, KeySource, Keys};
use assay_services::gitlab::{GitLab, GitLabMergeRequest, ProjectPath, WRITE_LIMITS};
use assay_services::http::{
    RateLimiter, Request, Response, ServiceClock, ServiceError, Transport, TransportError,
    WaitRefused,
};
use assay_services::post::{PostOutcome, PostReport, post};
use assay_testkit::github::sha;
use assay_testkit::gitlab::{FakeGitLab, NewMergeRequest, PROJECT, TOKEN};
use assay_testkit::web::{Service as _, ServiceRequest};
use tempfile::TempDir;

/// Returns a diff in which `src/new.rs` was renamed and changed, `b.txt` is new, and `old.txt` was
/// deleted.
fn diff_text() -> String {
    let added: String = (1..=60).map(|number| format!("+line {number}\n")).collect();
    format!(
        "diff --git a/src/old.rs b/src/new.rs\n--- a/src/old.rs\n+++ b/src/new.rs\n\
         @@ -4,5 +4,6 @@\n a\n b\n-c\n-d\n+C\n+D\n+E\n e\n\
         diff --git a/b.txt b/b.txt\nnew file mode 100644\n--- /dev/null\n+++ b/b.txt\n\
         @@ -0,0 +1,60 @@\n{added}\
         diff --git a/old.txt b/old.txt\ndeleted file mode 100644\n--- a/old.txt\n+++ /dev/null\n\
         @@ -1,2 +0,0 @@\n-x\n-y\n"
    )
}

fn diff() -> PullRequestDiff {
    use DiffLineKind::{Added, Context, Removed};
    let path = |path: &str| RepoPath::exact(path).ok();
    let file = |old_path, new_path, old_start, new_start, lines| FileHunks {
        old_path,
        new_path,
        hunks: vec![HunkLines { old_start, new_start, lines }],
    };
    let changed = vec![Context, Context, Removed, Removed, Added, Added, Added, Context];
    PullRequestDiff {
        files: vec![
            file(path("src/old.rs"), path("src/new.rs"), 4, 4, changed),
            file(None, path("b.txt"), 1, 1, vec![Added; 60]),
            file(path("old.txt"), None, 1, 1, vec![Removed; 2]),
        ],
    }
}

/// A fake GitLab with a merge request, and the folder that the client writes to.
struct GitLabFixture {
    gitlab: FakeGitLab,
    number: u64,
    folder: TempDir,
    now: Arc<AtomicU64>,
    /// The countdown to a crash of the process: at 2 it crashes before a request is sent, at 1
    /// after the request was answered; 0 means never.
    dies_after: Arc<AtomicUsize>,
}

/// The panic payload of a crash.
struct CrashPayload;

fn version(round: u32) -> NewMergeRequest {
    NewMergeRequest { head: sha(&format!("head {round}")), diff: diff_text() }
}

impl GitLabFixture {
    fn new() -> GitLabFixture {
        let gitlab = FakeGitLab::new();
        let number = gitlab.open(&version(1));
        GitLabFixture {
            gitlab,
            number,
            folder: tempfile::tempdir().unwrap(),
            now: Arc::new(AtomicU64::new(1_000_000)),
            dies_after: Arc::default(),
        }
    }

    /// Posts a draft, as a new process would.
    fn post(&self, draft: &ReviewDraft) -> Result<PostOutcome, ServiceError> {
        let clock = Arc::new(VirtualClock(Arc::clone(&self.now)));
        let wire = InProcessTransport {
            gitlab: self.gitlab.clone(),
            dies_after: Arc::clone(&self.dies_after),
        };
        let value = Some(Key::new(TOKEN));
        let keys = Keys::new(KeySource::Variable { name: "TOKEN".to_owned(), value });
        let limiter = RateLimiter::in_dir(self.folder.path().to_owned(), WRITE_LIMITS);
        let client = GitLab::with_transport(Arc::new(wire), keys, limiter, clock);
        let project: ProjectPath = PROJECT.parse().unwrap();
        let request = GitLabMergeRequest::new(&client, &project, self.number);
        post(&request, draft, &BTreeSet::new())
    }

    fn posted(&self, draft: &ReviewDraft) -> PostReport {
        match self.post(draft).unwrap() {
            PostOutcome::Posted(report) => report,
            PostOutcome::Superseded(moved) => panic!("it {moved}"),
        }
    }
}

/// A clock in milliseconds that advances when a client waits.
struct VirtualClock(Arc<AtomicU64>);

impl ServiceClock for VirtualClock {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }

    fn wait(&self, time: Duration, _: &str) -> Result<(), WaitRefused> {
        self.0.fetch_add(time.as_millis() as u64 + 1, Ordering::Relaxed);
        Ok(())
    }
}

/// A transport to the fake in this process.
struct InProcessTransport {
    gitlab: FakeGitLab,
    dies_after: Arc<AtomicUsize>,
}

impl Transport for InProcessTransport {
    fn send(&self, request: &Request) -> Result<Response, TransportError> {
        let left = self.dies_after.load(Ordering::Relaxed);
        self.dies_after.store(left.saturating_sub(1), Ordering::Relaxed);
        if left == 2 {
            self.dies_after.store(0, Ordering::Relaxed);
            resume_unwind(Box::new(CrashPayload));
        }
        let header = |(name, value): &(&'static str, String)| ((*name).to_owned(), value.clone());
        let answer = self.gitlab.answer(&ServiceRequest {
            method: request.method.as_str().to_owned(),
            target: format!("/api/v4{}", request.target),
            headers: request.headers.iter().map(header).collect(),
            body: request.body.clone().unwrap_or_default(),
        });
        if left == 1 {
            resume_unwind(Box::new(CrashPayload));
        }
        let cut = || TransportError::Network {
            why: "the connection was cut".to_owned(),
            may_have_arrived: true,
        };
        let answer = answer.ok_or_else(cut)?;
        Ok(Response { status: answer.status, headers: answer.headers, body: answer.body })
    }

    fn address(&self) -> String {
        "the fake".to_owned()
    }
}

fn draft(synthesis: &Synthesis, round: u32) -> ReviewDraft {
    draft_where(synthesis, round, ReadyAction::Approve)
}

fn draft_where(synthesis: &Synthesis, round: u32, when_ready: ReadyAction) -> ReviewDraft {
    let reviewed = [("security".to_owned(), 1)].into();
    let coverage = ReviewCoverage { reviewed, by_model: 1, ..ReviewCoverage::default() };
    let synthesis = Synthesis { coverage: Some(coverage), ..synthesis.clone() };
    compose(
        &synthesis,
        &DraftInputs {
            diff: &diff(),
            tree: None,
            parses: None,
            head: &sha(&format!("head {round}")),
            dialect: CommentDialect::GitLab,
            when_ready,
            resolved: &[],
            tracked: &[],
            run: None,
        },
    )
}
