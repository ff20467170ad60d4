//! Clients of services, as they are configured.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use assay_sandbox::Keys;
use assay_services::github::{GitHub, Pace};
use assay_services::http::Patience;

use crate::environment::state_folder;
use crate::settings::github::StoredGithub;

/// How long whoever looks on waits for a service that sets a limit.
pub(crate) const A_MOMENT: Duration = Duration::from_secs(60);

/// Gives GitHub as it is configured, with somebody's patience.
pub(crate) fn github(
    settings: &StoredGithub,
    most: Duration,
    told: impl Fn(&str) + Send + Sync + 'static,
) -> anyhow::Result<GitHub> {
    let url = settings.url()?;
    let keys = Keys::new(settings.key()?);
    let Some(pace) = pace() else {
        bail!("nobody can keep count of what is written: set `HOME` or `XDG_STATE_HOME`");
    };
    Ok(GitHub::new(&url, keys, pace, Arc::new(Patience::new(most, told))))
}

/// Where it is counted what is written: GitHub counts it for a person, not for a repository.
fn pace() -> Option<Pace> {
    let folder: PathBuf = state_folder()?;
    Some(Pace::kept_in(folder.join("github")))
}
