//! `POST /webhooks/github`: events of pull requests.
//!
//! The signature is checked over the raw bytes, before the body is parsed. Only the required fields
//! of the body are read; unknown fields are ignored.

use std::sync::Arc;

use assay_services::github::{Association, origin};
use assay_store::pulls::{Pull, RepositoryName};
use assay_store::task::Moment;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::time::Instant;

use super::answer::Answer;
use super::deliveries::DeliveryId;
use super::{ANSWER_WITHIN, Github, Hooks};

/// The header of the only accepted signature. GitHub also sends the old one, `X-Hub-Signature`.
const SIGNATURE: &str = "x-hub-signature-256";

/// The creator of the tasks.
const BY: &str = "github webhook";

const EVENT: &str = "x-github-event";

const DELIVERY: &str = "x-github-delivery";

/// The actions that trigger a review.
const ACTIONS: [&str; 4] = ["opened", "reopened", "synchronize", "ready_for_review"];

/// The action that triggers a review if it changed the base branch.
const EDITED: &str = "edited";

/// The action that triggers a review if the added label is a configured one.
const LABELED: &str = "labeled";

/// The required fields of a delivery.
#[derive(Debug, Deserialize)]
struct Delivery {
    action: String,
    pull_request: Changed,
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
struct Changed {
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

pub(super) async fn receive(State(hooks): State<Arc<Hooks>>, request: Request) -> Answer {
    let headers = request.headers().clone();
    let delivery = text(&headers, DELIVERY).and_then(DeliveryId::new);
    let answer = hooks.github(request, &headers, delivery.clone()).await;
    let about = delivery.map(|id| format!(" (delivery {})", id.as_str())).unwrap_or_default();
    hooks.note("github", &about, &answer);
    answer
}

impl Hooks {
    async fn github(
        &self,
        request: Request,
        headers: &HeaderMap,
        delivery: Option<DeliveryId>,
    ) -> Answer {
        let (body, _turn) = match self.signed_by_github(request, headers).await {
            Ok(read) => read,
            Err(answer) => return answer,
        };
        let until = Instant::now() + ANSWER_WITHIN;
        let Wanted { pull, moved } = match read(headers, &body, &self.setup.github) {
            Ok(wanted) => wanted,
            Err(answer) => return answer,
        };
        let (queue, now) = (&self.setup.reviewer, Moment::now(&self.setup.clock));
        let answer = self.intake.take(pull.review(queue, BY, now), delivery.clone(), until).await;
        match moved {
            // The completed review was made against another base branch.
            Some(when) if answer.is_over() => {
                self.intake.take(pull.review_again(&when, queue, BY, now), delivery, until).await
            }
            Some(_) | None => answer,
        }
    }

    /// Reads a body and checks its signature by GitHub.
    async fn signed_by_github(
        &self,
        request: Request,
        headers: &HeaderMap,
    ) -> Result<(axum::body::Bytes, super::limits::Turn<'_>), Answer> {
        let Some(secret) = &self.setup.github.secret else {
            let why = "not configured: there is no secret for the webhooks of GitHub";
            return Err(Answer::not_configured(why));
        };
        let (body, turn) = self.limits.read(request).await?;
        let signatures = headers.get_all(SIGNATURE).iter().map(|value| value.as_bytes());
        secret.check(signatures, &body).map_err(|why| {
            Answer::stranger(format!("the signature in `X-Hub-Signature-256` is not good: {why}"))
        })?;
        self.repositories()?;
        Ok((body, turn))
    }
}

/// A pull request to review.
struct Wanted {
    pull: Pull,
    /// The time at which the base branch changed; `None` if this delivery does not change it.
    moved: Option<String>,
}

/// Returns the pull request to review, or an answer with the reason that there is none.
fn read(headers: &HeaderMap, body: &[u8], github: &Github) -> Result<Wanted, Answer> {
    let kind = text(headers, header::CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(Answer::wrong_form(
            "choose `application/json` as the content type of the webhook",
        ));
    }
    match text(headers, EVENT) {
        None => return Err(Answer::unreadable("the header `X-GitHub-Event` is missing")),
        Some("pull_request") => {}
        Some("ping") => return Err(Answer::ignored("pong: the webhook is set up")),
        Some(_) => return Err(Answer::ignored("only `pull_request` events make tasks")),
    }
    let delivery: Delivery = serde_json::from_slice(body).map_err(|error| {
        Answer::unreadable(format!("the body is no `pull_request` event: {error}"))
    })?;
    delivery.wanted(github)?;
    let when = delivery.pull_request.updated_at.clone().unwrap_or_default();
    let moved = delivery.is_moved().then_some(when);
    Ok(Wanted { pull: delivery.pull()?, moved })
}

impl Delivery {
    /// Fails with an answer that has the reason if no review is wanted.
    fn wanted(&self, github: &Github) -> Result<(), Answer> {
        let repository = self.repository()?;
        if !github.repositories.iter().any(|own| own.is(&repository)) {
            return Err(Answer::ignored(format!(
                "`{repository}` is not among `github.repositories`"
            )));
        }
        let is_asked_for =
            |label: &Label| github.labels.iter().any(|own| own.eq_ignore_ascii_case(&label.name));
        let by_label = self.action == LABELED && self.label.as_ref().is_some_and(is_asked_for);
        if !by_label && !self.is_moved() && !ACTIONS.contains(&self.action.as_str()) {
            return Err(Answer::ignored(format!(
                "nothing is reviewed when a pull request is `{}`",
                plain(&self.action)
            )));
        }
        let pull = &self.pull_request;
        if pull.state.as_deref().is_some_and(|state| state != "open") {
            return Err(Answer::ignored("the pull request is closed"));
        }
        if pull.draft == Some(true) {
            return Err(Answer::ignored("the pull request is a draft"));
        }
        if !by_label && !github.labels.is_empty() && !pull.labels.iter().any(is_asked_for) {
            let labels = github.labels.join("`, `");
            return Err(Answer::ignored(format!("the pull request has no label `{labels}`")));
        }
        Ok(())
    }

    /// Returns true if the delivery changes the base branch.
    fn is_moved(&self) -> bool {
        let has_base = |changes: &Changes| changes.base.is_some();
        self.action == EDITED && self.changes.as_ref().is_some_and(has_base)
    }

    fn repository(&self) -> Result<RepositoryName, Answer> {
        self.repository.full_name.parse().map_err(unfit)
    }

    fn pull(self) -> Result<Pull, Answer> {
        let repository = self.repository()?;
        let Changed { number, head, base, title, html_url, author_association, user, .. } =
            self.pull_request;
        let is_own = |head: &Repository| head.full_name.eq_ignore_ascii_case(repository.as_str());
        let is_own = head.repo.as_ref().is_some_and(is_own);
        let is_by_bot = user.is_some_and(|user| user.kind.as_deref() == Some("Bot"));
        Ok(Pull {
            repository,
            number,
            origin: origin(is_own, is_by_bot, author_association),
            head: head.sha.parse().map_err(unfit)?,
            title: title.unwrap_or_default(),
            branch: head.branch,
            base: base.branch,
            url: html_url.unwrap_or_default(),
        })
    }
}

fn unfit(error: assay_store::pulls::PullError) -> Answer {
    Answer::unreadable(error.to_string())
}

/// Returns the letters, digits and underscores of a word, at most 40, which are safe to show.
fn plain(word: &str) -> String {
    word.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect()
}

/// Returns the value of a header if it is text.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
