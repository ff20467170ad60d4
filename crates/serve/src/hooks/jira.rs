//! `POST /webhooks/jira`: a ticket has reached the status for a review.
//!
//! JIRA knows no pull requests, so the pull request whose branch or title names the ticket is
//! looked up. If there is none or more than one, a comment on the ticket says so, since JIRA shows
//! the answer to no person.

use std::sync::Arc;

use assay_base::percent;
use assay_store::pulls::{Pull, TicketKey};
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Uri};
use serde::Deserialize;
use tokio::time::Instant;

use super::hook_answer::HookAnswer;
use super::limits::DeliveryPermit;
use super::{ANSWER_TIMEOUT, Hooks};
use crate::auth::bearer_token;

const SIGNATURE_HEADER: &str = "x-hub-signature";

/// The header in which a rule of JIRA's automation can send the secret.
const TOKEN_HEADER: &str = "x-assay-token";

/// The maximum number of pull requests that a comment names.
const MAX_NAMED_PULLS: usize = 10;

/// The required fields of a delivery: of a webhook of JIRA, or of the short body that a rule of its
/// automation is configured to send.
#[derive(Debug, Deserialize)]
struct JiraDelivery {
    #[serde(default)]
    issue: Option<Issue>,
    #[serde(default)]
    key: Option<String>,
    #[serde(default)]
    status: Option<Status>,
}

#[derive(Debug, Deserialize)]
struct Issue {
    key: String,
    #[serde(default)]
    fields: Option<Fields>,
}

#[derive(Debug, Deserialize)]
struct Fields {
    #[serde(default)]
    status: Option<Status>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Status {
    Name(String),
    Whole { name: String },
}

impl Status {
    fn name(&self) -> &str {
        match self {
            Status::Name(name) | Status::Whole { name } => name,
        }
    }
}

pub(super) async fn receive(State(hooks): State<Arc<Hooks>>, request: Request) -> HookAnswer {
    let answer = match hooks.jira(request).await {
        Ok(answer) | Err(answer) => answer,
    };
    hooks.log_answer("jira", "", &answer);
    answer
}

impl Hooks {
    async fn jira(&self, request: Request) -> Result<HookAnswer, HookAnswer> {
        let (body, _permit) = self.read_authenticated(request).await?;
        let until = Instant::now() + ANSWER_TIMEOUT;
        let key = self.ticket(&body)?;
        let mut found = self.pulls_of_ticket(&key, until).await?;
        found.sort_by(|a, b| (&a.repository, a.number).cmp(&(&b.repository, b.number)));
        match &found[..] {
            [pull] => Ok(self.review(pull, &self.context.reviewer, "jira webhook", until).await),
            others => self.comment_on_ticket(&key, others, until).await,
        }
    }

    /// Reads a body that is sent with the secret, or signed with it.
    async fn read_authenticated(
        &self,
        request: Request,
    ) -> Result<(Bytes, DeliveryPermit<'_>), HookAnswer> {
        let Some(secret) = &self.context.jira.secret else {
            let why = "not configured: the token of the JIRA webhook is missing";
            return Err(HookAnswer::not_configured(why));
        };
        let headers = request.headers().clone();
        let given = possible_secrets(&headers, request.uri());
        if given.iter().any(|given| secret.matches(given)) {
            return self.limits.read(request).await;
        }
        if !given.is_empty() || !headers.contains_key(SIGNATURE_HEADER) {
            return Err(HookAnswer::unauthorized(
                "missing or wrong credentials: expected a token in `X-Assay-Token`, \
                 `Authorization: Bearer` or `?token=`, or a signature in `X-Hub-Signature`",
            ));
        }
        let (body, permit) = self.limits.read(request).await?;
        let signatures = headers.get_all(SIGNATURE_HEADER).iter().map(|value| value.as_bytes());
        secret.check(signatures, &body).map_err(|why| {
            HookAnswer::unauthorized(format!("invalid signature in `X-Hub-Signature`: {why}"))
        })?;
        Ok((body, permit))
    }

    /// Returns the ticket to review, or an answer with the reason that there is none.
    fn ticket(&self, body: &[u8]) -> Result<TicketKey, HookAnswer> {
        let delivery: JiraDelivery = serde_json::from_slice(body).map_err(|error| {
            HookAnswer::bad_request(format!("cannot read a ticket from the body: {error}"))
        })?;
        let (key, status) = match delivery.issue {
            Some(Issue { key, fields }) => (Some(key), fields.and_then(|fields| fields.status)),
            None => (delivery.key, None),
        };
        let key =
            key.ok_or_else(|| HookAnswer::bad_request("the body has no `issue.key` and no `key`"))?;
        let key = key.parse().map_err(|error: assay_store::pulls::PullError| {
            HookAnswer::bad_request(error.to_string())
        })?;
        let wanted = &self.context.jira.status;
        match status.or(delivery.status) {
            Some(status) if !status.name().trim().eq_ignore_ascii_case(wanted.trim()) => {
                Err(HookAnswer::ignored(format!("the status of `{key}` is not `{wanted}`")))
            }
            _ => Ok(key),
        }
    }

    /// Comments on a ticket with the reason that no review starts: once, even if it is requested
    /// again.
    async fn comment_on_ticket(
        &self,
        key: &TicketKey,
        found: &[Pull],
        until: Instant,
    ) -> Result<HookAnswer, HookAnswer> {
        let (mark, text) = no_review_comment(key, found);
        self.comment_once(key, &mark, &text, until).await?;
        Ok(HookAnswer::ignored(text))
    }
}

/// Returns the mark and the text of a comment on a ticket without exactly one pull request. The
/// mark identifies the comment.
fn no_review_comment(key: &TicketKey, found: &[Pull]) -> (String, String) {
    let names: Vec<String> = found
        .iter()
        .take(MAX_NAMED_PULLS)
        .map(|pull| format!("{}#{}", pull.repository, pull.number))
        .collect();
    match names.is_empty() {
        true => {
            let text = format!(
                "No review was queued: no open pull request names {key} in its branch or its \
                 title; forks of outside authors do not count."
            );
            ("assay-no-pull-request".to_owned(), text)
        }
        false => {
            let text = format!(
                "No review was queued: {} open pull requests name {key} ({}). Queue the intended \
                 one.",
                found.len(),
                names.join(", "),
            );
            (format!("assay-several-pull-requests {}", names.join(" ")), text)
        }
    }
}

/// Returns all texts of a request that may be the secret: from headers and the query.
fn possible_secrets(headers: &HeaderMap, uri: &Uri) -> Vec<String> {
    let header = headers.get(TOKEN_HEADER).and_then(|value| value.to_str().ok()).map(str::trim);
    let query = uri.query().into_iter().flat_map(|query| query.split('&'));
    // A plus is not decoded as a blank: a token has no blanks.
    let query = query.filter_map(|pair| pair.strip_prefix("token=")).map(percent::decode);
    header.into_iter().chain(bearer_token(headers)).map(str::to_owned).chain(query).collect()
}
