//! What services have in common: how they are reached, how long they are waited for, and the secrets
//! of their webhooks.

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use assay_base::clock::Clock;
use assay_sandbox::{KeySource, Keys};
use assay_services::http::{Patience, ServerUrl, Transport, Wire};

use super::PATH;
use crate::environment::Environment;

/// How long whoever looks on waits for a service that sets a limit.
pub const A_MOMENT: Duration = Duration::from_secs(60);

/// How long one answer of a service may take.
const ANSWER_TIME: Duration = Duration::from_secs(60);

/// A service over HTTP, with its key and the patience of whoever waits.
pub(super) struct Reached {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) keys: Arc<Keys>,
    pub(super) clock: Arc<Patience>,
}

/// Prepares to ask a service; somebody waits so long at a time and is told why.
pub(super) fn reach(
    clock: &Clock,
    url: ServerUrl,
    key: KeySource,
    wait: Duration,
    told: impl Fn(&str) + Send + Sync + 'static,
) -> Reached {
    Reached {
        // Whoever does not wait long for anything does not wait long for an answer either.
        transport: Arc::new(Wire::new(url, ANSWER_TIME.min(wait * 10))),
        keys: Arc::new(Keys::new(key)),
        clock: Arc::new(Patience::new(clock, wait, told)),
    }
}

/// The secret of webhooks. It is never shown.
pub struct WebhookSecret {
    /// The variable that it is in.
    pub variable: String,
    /// The secret.
    pub text: String,
}

impl std::fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

impl WebhookSecret {
    /// Takes the secret from a variable, if it is set.
    pub(super) fn in_variable(environment: &Environment, name: &str) -> Option<WebhookSecret> {
        let text = environment.variable(name)?;
        Some(WebhookSecret { variable: name.to_owned(), text })
    }
}

/// Refuses an address on the way to which anybody could read a key.
pub(super) fn check_private(url: &ServerUrl, name: &str) -> anyhow::Result<()> {
    match url.keeps_secrets() {
        true => Ok(()),
        false => bail!("`{name}` in `{PATH}` would send a key in the clear: write `https://…`"),
    }
}
