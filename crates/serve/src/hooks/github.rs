//! `POST /webhooks/github`: events of pull requests, and comments with commands on them.
//!
//! The signature is checked over the raw bytes, before the body is parsed. Only the required fields
//! of the body are read; unknown fields are ignored.

use std::sync::Arc;

use assay_engine::comment_commands::{CommentRejection, CommentRequest};
use assay_services::github::{Association, origin};
use assay_store::pulls::{Pull, RepositoryName};
use assay_store::task::Moment;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::time::Instant;

use super::delivery_log::DeliveryId;
use super::hook_answer::HookAnswer;
use super::{ANSWER_TIMEOUT, GithubHookSettings, Hooks};

/// The header of the only accepted signature. GitHub also sends the old one, `X-Hub-Signature`.
const SIGNATURE_HEADER: &str = "x-hub-signature-256";

/// The creator of the tasks.
const CREATED_BY: &str = "github webhook";

const EVENT_HEADER: &str = "x-github-event";

const DELIVERY_HEADER: &str = "x-github-delivery";

/// The actions that trigger a review.
const ACTIONS: [&str; 4] = ["opened", "reopened", "synchronize", "ready_for_review"];

/// The action that triggers a review if it changed the base branch.
const EDITED: &str = "edited";

/// The action that triggers a review if the added label is a configured one.
const LABELED: &str = "labeled";

/// The required fields of a delivery.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
struct GithubDelivery {
    action: String,
    pull_request: PreviousValue,
    repository: Repository,
    #[serde(default)]
    label: Option<Label>,
    #[serde(default)]
    changes: Option<Changes>,
}

/// The edited fields, each with its previous value.
#[derive(Debug, Deserialize)]
struct Changes {
    #[serde(default)]
    base: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct PreviousValue {
    number: u64,
    head: Head,
    base: Base,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    html_url: Option<String>,
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    draft: Option<bool>,
    #[serde(default)]
    author_association: Association,
    #[serde(default)]
    user: Option<User>,
    #[serde(default)]
    updated_at: Option<String>,
    #[serde(default)]
    labels: Vec<Label>,
}

#[derive(Debug, Deserialize)]
struct Head {
    sha: String,
    #[serde(rename = "ref")]
    branch: String,
    /// The repository of the head branch; `None` if it was deleted.
    #[serde(default)]
    repo: Option<Repository>,
}

#[derive(Debug, Deserialize)]
struct Base {
    #[serde(rename = "ref")]
    branch: String,
}

#[derive(Debug, Deserialize)]
struct User {
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Repository {
    full_name: String,
}

#[derive(Debug, Deserialize)]
struct Label {
    name: String,
}

pub(super) async fn receive(State(hooks): State<Arc<Hooks>>, request: Request) -> HookAnswer {
    let headers = request.headers().clone();
    let delivery = header_text(&headers, DELIVERY_HEADER).and_then(DeliveryId::new);
    let answer = hooks.github(request, &headers, delivery.clone()).await;
    let about = delivery.map(|id| format!(" (delivery {})", id.as_str())).unwrap_or_default();
    hooks.log_answer("github", &about, &answer);
    answer
}

impl Hooks {
    async fn github(
        &self,
        request: Request,
        headers: &HeaderMap,
        delivery: Option<DeliveryId>,
    ) -> HookAnswer {
        let (body, _permit) = match self.read_signed(request, headers).await {
            Ok(read) => read,
            Err(answer) => return answer,
        };
        let until = Instant::now() + ANSWER_TIMEOUT;
        let (queue, now) = (&self.context.reviewer, Moment::now(&self.context.clock));
        let ReviewRequest { pull, moved } = match read(headers, &body, &self.context.github) {
            Ok(GithubEvent::Review(wanted)) => wanted,
            // The commands take requests to GitHub, so an agent carries them out.
            Ok(GithubEvent::Commands(request)) => {
                let task = request.task(queue, CREATED_BY, now);
                return self.batcher.push_task(task, delivery, until).await;
            }
            Err(answer) => return answer,
        };
        let answer = self
            .batcher
            .push_task(pull.review(queue, CREATED_BY, now), delivery.clone(), until)
            .await;
        match moved {
            // The completed review was made against another base branch.
            Some(when) if answer.is_task_completed() => {
                self.batcher
                    .push_task(pull.review_again(&when, queue, CREATED_BY, now), delivery, until)
                    .await
            }
            Some(_) | None => answer,
        }
    }

    /// Reads a body and checks its signature by GitHub.
    async fn read_signed(
        &self,
        request: Request,
        headers: &HeaderMap,
    ) -> Result<(axum::body::Bytes, super::limits::DeliveryPermit<'_>), HookAnswer> {
        let Some(secret) = &self.context.github.secret else {
            let why = "not configured: the secret of the GitHub webhook is missing";
            return Err(HookAnswer::not_configured(why));
        };
        let (body, permit) = self.limits.read(request).await?;
        let signatures = headers.get_all(SIGNATURE_HEADER).iter().map(|value| value.as_bytes());
        secret.check(signatures, &body).map_err(|why| {
            HookAnswer::unauthorized(format!("invalid signature in `X-Hub-Signature-256`: {why}"))
        })?;
        self.repositories()?;
        Ok((body, permit))
    }
}

/// An event that creates a task.
enum GithubEvent {
    Review(ReviewRequest),
    Commands(CommentRequest),
}

/// A pull request to review.
struct ReviewRequest {
    pull: Pull,
    /// The time at which the base branch changed; `None` if this delivery does not change it.
    moved: Option<String>,
}

/// Returns the event, or an answer with the reason that the event creates no task.
fn read(
    headers: &HeaderMap,
    body: &[u8],
    github: &GithubHookSettings,
) -> Result<GithubEvent, HookAnswer> {
    let kind = header_text(headers, header::CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(HookAnswer::unsupported_media_type(
            "unsupported content type: set the webhook to `application/json`",
        ));
    }
    match header_text(headers, EVENT_HEADER) {
        None => Err(HookAnswer::bad_request("missing header `X-GitHub-Event`")),
        Some("pull_request") => read_pull_request(body, github).map(GithubEvent::Review),
        Some("issue_comment") => read_comment(body, github).map(GithubEvent::Commands),
        Some("ping") => Err(HookAnswer::ignored("pong: the webhook is set up")),
        Some(_) => {
            let why = "only `pull_request` and `issue_comment` events create tasks";
            Err(HookAnswer::ignored(why))
        }
    }
}

/// Returns the pull request to review, or an answer with the reason that there is none.
fn read_pull_request(
    body: &[u8],
    github: &GithubHookSettings,
) -> Result<ReviewRequest, HookAnswer> {
    let delivery: GithubDelivery = serde_json::from_slice(body).map_err(|error| {
        HookAnswer::bad_request(format!("the body is not a `pull_request` event: {error}"))
    })?;
    delivery.check_wanted(github)?;
    let when = delivery.pull_request.updated_at.clone().unwrap_or_default();
    let moved = delivery.changes_base().then_some(when);
    Ok(ReviewRequest { pull: delivery.pull()?, moved })
}

/// Returns the comment with its commands, or an answer with the reason that there are none.
fn read_comment(body: &[u8], github: &GithubHookSettings) -> Result<CommentRequest, HookAnswer> {
    let request = CommentRequest::parse(body).map_err(|rejection| match &rejection {
        CommentRejection::Ignored(why) => HookAnswer::ignored(*why),
        CommentRejection::Invalid(_) => HookAnswer::bad_request(rejection.to_string()),
    })?;
    check_repository(&request.repository, github)?;
    Ok(request)
}

/// Fails with an answer if a repository is not configured.
fn check_repository(
    repository: &RepositoryName,
    github: &GithubHookSettings,
) -> Result<(), HookAnswer> {
    match github.repositories.iter().any(|own| own.is(repository)) {
        true => Ok(()),
        false => {
            Err(HookAnswer::ignored(format!("`{repository}` is not among `github.repositories`")))
        }
    }
}

impl GithubDelivery {
    /// Fails with an answer that has the reason if no review is wanted.
    fn check_wanted(&self, github: &GithubHookSettings) -> Result<(), HookAnswer> {
        check_repository(&self.repository()?, github)?;
        let is_asked_for =
            |label: &Label| github.labels.iter().any(|own| own.eq_ignore_ascii_case(&label.name));
        let by_label = self.action == LABELED && self.label.as_ref().is_some_and(is_asked_for);
        if !by_label && !self.changes_base() && !ACTIONS.contains(&self.action.as_str()) {
            return Err(HookAnswer::ignored(format!(
                "the action `{}` starts no review",
                sanitize_word(&self.action)
            )));
        }
        let pull = &self.pull_request;
        if pull.state.as_deref().is_some_and(|state| state != "open") {
            return Err(HookAnswer::ignored("the pull request is closed"));
        }
        if pull.draft == Some(true) {
            return Err(HookAnswer::ignored("the pull request is a draft"));
        }
        if !by_label && !github.labels.is_empty() && !pull.labels.iter().any(is_asked_for) {
            let labels = github.labels.join("`, `");
            return Err(HookAnswer::ignored(format!("the pull request has no label `{labels}`")));
        }
        Ok(())
    }

    /// Returns true if the delivery changes the base branch.
    fn changes_base(&self) -> bool {
        let has_base = |changes: &Changes| changes.base.is_some();
        self.action == EDITED && self.changes.as_ref().is_some_and(has_base)
    }

    fn repository(&self) -> Result<RepositoryName, HookAnswer> {
        self.repository.full_name.parse().map_err(pull_error_answer)
    }

    fn pull(self) -> Result<Pull, HookAnswer> {
        let repository = self.repository()?;
        let PreviousValue { number, head, base, title, html_url, author_association, user, .. } =
            self.pull_request;
        let is_own = |head: &Repository| head.full_name.eq_ignore_ascii_case(repository.as_str());
        let is_own = head.repo.as_ref().is_some_and(is_own);
        let is_by_bot = user.is_some_and(|user| user.kind.as_deref() == Some("Bot"));
        Ok(Pull {
            repository,
            number,
            origin: origin(is_own, is_by_bot, author_association),
            head: head.sha.parse().map_err(pull_error_answer)?,
            title: title.unwrap_or_default(),
            branch: head.branch,
            base: base.branch,
            url: html_url.unwrap_or_default(),
        })
    }
}

fn pull_error_answer(error: assay_store::pulls::PullError) -> HookAnswer {
    HookAnswer::bad_request(error.to_string())
}

/// Returns the letters, digits and underscores of a word, at most 40, which are safe to show.
fn sanitize_word(word: &str) -> String {
    word.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect()
}

/// Returns the value of a header if it is text.
fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
