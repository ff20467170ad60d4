//! Common settings of services: connection, time limits of waits, and webhook secrets.

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use assay_base::clock::Clock;
use assay_sandbox::{KeySource, Keys};
use assay_services::http::{HttpTransport, ServerUrl, SystemClock, Transport};

use crate::environment::Environment;

/// The longest wait for a rate limit while a user looks on.
pub const SHORT_WAIT: Duration = Duration::from_secs(60);

/// The time limit of one response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// The connection to a service: HTTP transport, key, and a clock that limits waits.
pub(super) struct ServiceConnection {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) keys: Arc<Keys>,
    pub(super) clock: Arc<SystemClock>,
}

/// Opens the connection to a service. A call waits at most `wait` at a time, and `on_wait` is
/// called with the reason.
pub(super) fn open_connection(
    clock: &Clock,
    url: ServerUrl,
    key: KeySource,
    wait: Duration,
    on_wait: impl Fn(&str) + Send + Sync + 'static,
) -> ServiceConnection {
    ServiceConnection {
        // A caller with a short limit for waits does not wait long for a response either.
        transport: Arc::new(HttpTransport::new(url, RESPONSE_TIMEOUT.min(wait * 10))),
        keys: Arc::new(Keys::new(key)),
        clock: Arc::new(SystemClock::new(clock, wait, on_wait)),
    }
}

/// The secret of webhooks, which is never printed.
pub struct WebhookSecret {
    /// The name of the variable with the secret.
    pub variable: String,
    /// The value of the secret.
    pub text: String,
}

impl std::fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

impl WebhookSecret {
    /// Reads the secret from a variable; `None` if the variable is not set.
    pub(super) fn in_variable(environment: &Environment, name: &str) -> Option<WebhookSecret> {
        let text = environment.variable(name)?;
        Some(WebhookSecret { variable: name.to_owned(), text })
    }
}

/// Fails if a key would be sent to the address unencrypted.
pub(super) fn check_private(url: &ServerUrl, name: &str) -> anyhow::Result<()> {
    match url.is_secure() {
        true => Ok(()),
        false => {
            bail!("`{name}` in the configuration would send a key unencrypted: use `https://…`")
        }
    }
}
