//! Tests of the GitHub client, against a strict fake with its own clock.

mod calls;
mod posting;
mod schedules;
mod verdicts;

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_findings::coverage::ReviewCoverage;
use assay_findings::path::RepoPath;
use assay_findings::post::{
    CommentDialect, DiffLineKind, DraftInputs, FileHunks, Fingerprint, HunkLines, PullRequestDiff,
    ReadyAction, ReviewDraft, compose,
};
use assay_findings::report::{Report, ReviewerKind};
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use assay_sandbox::{Key, KeySource, Keys};
use assay_services::github::{GitHub, GitHubPull, WRITE_LIMITS};
use assay_services::http::{
    RateLimiter, Request, Response, ServiceClock, ServiceError, Transport, TransportError,
    WaitRefused,
};
use assay_services::post::{PostOutcome, post};
use assay_store::pulls::RepositoryName;
use assay_testkit::github::{self as fake, Access, NewPull, sha};
use assay_testkit::web::{Answer, ServiceRequest};
use serde_json::{Value, json};
use tempfile::TempDir;

const REPO: &str = "octo/demo";
const TOKEN: &str = "t-assay-secret";

/// Returns a diff in which lines 1 to 60 of `src/a.rs` and the file `b.txt` are new.
fn diff_text() -> String {
    let lines: String = (1..=60).map(|number| format!("+line {number}\n")).collect();
    format!(
        "diff --git a/src/a.rs b/src/a.rs\nnew file mode 100644\n--- /dev/null\n+++ b/src/a.rs\n\
         @@ -0,0 +1,60 @@\n{lines}diff --git a/b.txt b/b.txt\nnew file mode 100644\n--- /dev/null\n\
         +++ b/b.txt\n@@ -0,0 +1 @@\n+b\n"
    )
}

fn diff() -> PullRequestDiff {
    let file = |path: &str, lines| FileHunks {
        old_path: None,
        new_path: RepoPath::exact(path).ok(),
        hunks: vec![HunkLines {
            old_start: 0,
            new_start: 1,
            lines: vec![DiffLineKind::Added; lines],
        }],
    };
    PullRequestDiff { files: vec![file("src/a.rs", 60), file("b.txt", 1)] }
}

/// A fake GitHub with a pull request, and the folder that the client writes to.
pub(crate) struct GithubFixture {
    pub(crate) github: Arc<fake::GitHub>,
    clock: Arc<fake::GitHubClock>,
    pub(crate) folder: TempDir,
    pub(crate) repository: RepositoryName,
    pub(crate) number: u64,
    /// The countdown to a crash of the process: at 2 it crashes before a request is sent, at 1
    /// after the request was answered; 0 means never.
    dies_after: Arc<AtomicUsize>,
    /// The reasons of all waits.
    waits: Arc<Mutex<Vec<String>>>,
    /// A commit that a user pushes just before the request with this ending arrives; `None` without
    /// a push.
    push: Arc<Mutex<Option<(&'static str, String)>>>,
}

/// The panic payload of a crash.
struct CrashPayload;

impl GithubFixture {
    pub(crate) fn new(seed: u64) -> GithubFixture {
        let clock = Arc::new(fake::GitHubClock::stopped());
        let github = Arc::new(fake::GitHub::seeded(Arc::clone(&clock), seed));
        github.add_repository(REPO);
        github.add_token("assay-bot", TOKEN, Access::User);
        github.add_token("ann", "t-ann", Access::User);
        let pull = NewPull::new("ann", "feature", &sha("head 1"), &diff_text());
        let number = github.open_pull(REPO, pull);
        GithubFixture {
            github,
            clock,
            folder: tempfile::tempdir().unwrap(),
            repository: REPO.parse().unwrap(),
            number,
            dies_after: Arc::default(),
            waits: Arc::default(),
            push: Arc::default(),
        }
    }

    /// Returns a client as a new process would create it.
    pub(crate) fn client(&self) -> GitHub {
        self.client_that_waits(Duration::MAX)
    }

    /// Returns a client that waits at most `most` at a time.
    pub(crate) fn client_that_waits(&self, most: Duration) -> GitHub {
        let (clock, waits) = (Arc::clone(&self.clock), Arc::clone(&self.waits));
        let clock = Arc::new(VirtualClock { clock, waits, most });
        let wire = InProcessTransport {
            github: Arc::clone(&self.github),
            dies_after: Arc::clone(&self.dies_after),
            push: Arc::clone(&self.push),
            number: self.number,
        };
        let value = Some(Key::new(TOKEN));
        let keys = Keys::new(KeySource::Variable { name: "TOKEN".to_owned(), value });
        let limiter = RateLimiter::in_dir(self.folder.path().to_owned(), WRITE_LIMITS);
        GitHub::with_transport(Arc::new(wire), keys, limiter, clock)
    }

    /// Posts a draft, as a new process would.
    fn post(
        &self,
        draft: &ReviewDraft,
        posted: &BTreeSet<Fingerprint>,
    ) -> Result<PostOutcome, ServiceError> {
        let github = self.client();
        let pull =
            GitHubPull { github: &github, repository: &self.repository, number: self.number };
        post(&pull, draft, posted)
    }

    fn visible(&self) -> String {
        self.github.visible(REPO, self.number)
    }
}

/// The fake's clock, which advances when a client waits.
struct VirtualClock {
    clock: Arc<fake::GitHubClock>,
    waits: Arc<Mutex<Vec<String>>>,
    most: Duration,
}

impl ServiceClock for VirtualClock {
    fn now(&self) -> Duration {
        self.clock.now()
    }

    fn wait(&self, time: Duration, why: &str) -> Result<(), WaitRefused> {
        if time > self.most {
            return Err(WaitRefused);
        }
        self.waits.lock().unwrap().push(why.to_owned());
        self.clock.advance(time);
        Ok(())
    }
}

/// A transport to the fake in this process.
struct InProcessTransport {
    github: Arc<fake::GitHub>,
    dies_after: Arc<AtomicUsize>,
    push: Arc<Mutex<Option<(&'static str, String)>>>,
    number: u64,
}

impl Transport for InProcessTransport {
    fn send(&self, request: &Request) -> Result<Response, TransportError> {
        let left = self.dies_after.load(Ordering::Relaxed);
        self.dies_after.store(left.saturating_sub(1), Ordering::Relaxed);
        // At 2 the process crashes before the request is sent, at 1 before it gets the response.
        let dies_first = left == 2;
        if dies_first {
            self.dies_after.store(0, Ordering::Relaxed);
            resume_unwind(Box::new(CrashPayload));
        }
        let told = format!("{} {}", request.method.as_str(), request.target);
        if let Some((_, head)) = self.push.lock().unwrap().take_if(|(on, _)| told.ends_with(*on)) {
            self.github.move_head(REPO, self.number, &head, &diff_text());
        }
        let mut headers: Vec<(String, String)> = request
            .headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        headers.push(("user-agent".to_owned(), "assay".to_owned()));
        let answer = self.github.answer(&ServiceRequest {
            method: request.method.as_str().to_owned(),
            target: request.target.clone(),
            headers,
            body: request.body.clone().unwrap_or_default(),
        });
        if left == 1 {
            resume_unwind(Box::new(CrashPayload));
        }
        match answer {
            Some(Answer { status, headers, body }) => Ok(Response { status, headers, body }),
            None => Err(TransportError::Network {
                why: "the connection was cut".to_owned(),
                may_have_arrived: true,
            }),
        }
    }

    fn address(&self) -> String {
        "the fake".to_owned()
    }
}

/// Returns a finding with a title, on a line or in another location.
pub(crate) fn finding(title: &str, file: &str, line: u32, severity: &str) -> Value {
    json!({"title": title, "severity": severity, "file": file, "line": line,
        "description": "It breaks.", "autofix_class": "manual"})
}

pub(crate) fn found(findings: &[Value]) -> Synthesis {
    let report = json!({"reviewer": "rules", "findings": findings}).to_string();
    let report = Report::from_text(&report, "rules", None).of_kind(ReviewerKind::Rules);
    synthesize(&[report], &SynthesisInputs::default())
}

pub(crate) fn draft(synthesis: &Synthesis, head: &str) -> ReviewDraft {
    draft_where(&read_by_a_model(synthesis), head, ReadyAction::Approve)
}

/// Returns a synthesis of a change that a model has read as well.
fn read_by_a_model(synthesis: &Synthesis) -> Synthesis {
    let reviewed = [("security".to_owned(), 1)].into();
    let coverage = ReviewCoverage { reviewed, by_model: 1, ..ReviewCoverage::default() };
    Synthesis { coverage: Some(coverage), ..synthesis.clone() }
}

fn draft_where(synthesis: &Synthesis, head: &str, when_ready: ReadyAction) -> ReviewDraft {
    compose(
        synthesis,
        &DraftInputs {
            diff: &diff(),
            tree: None,
            parses: None,
            head,
            dialect: CommentDialect::GitHub,
            when_ready,
            resolved: &[],
            tracked: &[],
            run: None,
        },
    )
}
