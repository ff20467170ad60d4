//! What services have in common: how they are reached, how long they are waited for, and what tells
//! their webhooks from anybody else's.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use assay_sandbox::{KeySource, Keys};
use assay_serve::hooks::Secret;
use assay_services::http::{Patience, ServerUrl, Transport, Wire};

use super::PATH;
use crate::environment::variable;

/// How long whoever looks on waits for a service that sets a limit.
pub(crate) const A_MOMENT: Duration = Duration::from_secs(60);

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
    url: ServerUrl,
    key: KeySource,
    wait: Duration,
    told: impl Fn(&str) + Send + Sync + 'static,
) -> Reached {
    Reached {
        // Whoever does not wait long for anything does not wait long for an answer either.
        transport: Arc::new(Wire::new(url, ANSWER_TIME.min(wait * 10))),
        keys: Arc::new(Keys::new(key)),
        clock: Arc::new(Patience::new(wait, told)),
    }
}

/// Takes the secret of webhooks from a variable, if it is set.
pub(super) fn secret(name: &str) -> anyhow::Result<Option<Secret>> {
    let secret = variable(name).map(|text| Secret::new(&text, format!("`{name}`")));
    secret.transpose().context("webhooks cannot be told from anybody else's")
}

/// Refuses an address on the way to which anybody could read a key.
pub(super) fn check_private(url: &ServerUrl, name: &str) -> anyhow::Result<()> {
    match url.keeps_secrets() {
        true => Ok(()),
        false => bail!("`{name}` in `{PATH}` would send a key in the clear: write `https://…`"),
    }
}
