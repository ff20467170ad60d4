//! Clients of services, as they are configured.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use assay_sandbox::{KeySource, Keys};
use assay_services::github::{GitHub, Pace};
use assay_services::http::{Clock, Patience};

use crate::environment::state_folder;
use crate::settings::PATH;
use crate::settings::github::StoredGithub;

/// How long whoever looks on waits for a service that sets a limit.
pub(crate) const A_MOMENT: Duration = Duration::from_secs(60);

/// Gives GitHub as it is configured, with somebody's patience.
pub(crate) fn github(
    settings: &StoredGithub,
    most: Duration,
    told: impl Fn(&str) + Send + Sync + 'static,
) -> anyhow::Result<GitHub> {
    client(settings, keys(settings)?, Arc::new(Patience::new(most, told)))
}

/// Gives GitHub as it is configured, by a clock, once its token is there.
pub(crate) fn github_with_token(
    settings: &StoredGithub,
    clock: Arc<dyn Clock>,
) -> anyhow::Result<GitHub> {
    let keys = keys(settings)?;
    keys.get(A_MOMENT).context("GitHub cannot be used")?;
    client(settings, keys, clock)
}

fn keys(settings: &StoredGithub) -> anyhow::Result<Keys> {
    match settings.key()? {
        KeySource::None => bail!(
            "there is no token for `{}`: name it by `github.token_env` or `github.token_command` \
             in `{PATH}`",
            settings.url()?
        ),
        key @ (KeySource::Variable { .. } | KeySource::Command(_)) => Ok(Keys::new(key)),
    }
}

fn client(settings: &StoredGithub, keys: Keys, clock: Arc<dyn Clock>) -> anyhow::Result<GitHub> {
    let url = settings.url()?;
    let Some(pace) = pace() else {
        bail!("nobody can keep count of what is written: set `HOME` or `XDG_STATE_HOME`");
    };
    Ok(GitHub::new(&url, keys, pace, clock))
}

/// Where it is counted what is written: GitHub counts it for a person, not for a repository.
fn pace() -> Option<Pace> {
    let folder: PathBuf = state_folder()?;
    Some(Pace::kept_in(folder.join("github")))
}
