//! The token of a GitHub App for some repositories: [`installation_token`].

use std::sync::Arc;

use anyhow::{Context, bail};
use assay_sandbox::{KeySource, Keys};
use assay_services::github::{AppKey, GitHub, InstallationToken, WRITE_LIMITS};
use assay_services::http::{RateLimiter, ServerUrl, ServiceClock, SystemClock};
use assay_store::pulls::RepositoryName;

use crate::config::service::SHORT_WAIT;
use crate::environment::Environment;

/// The app and the scope of a token.
#[derive(Debug)]
pub struct TokenRequest<'a> {
    /// The address of the API.
    pub url: &'a ServerUrl,
    /// The id of the app, or its client id.
    pub app: &'a str,
    /// The private key of the app, in PEM.
    pub private_key: &'a str,
    /// The id of the installation; `None` for that on the account of the first repository.
    pub installation: Option<u64>,
    /// The repositories that the token is for; without any, all of the installation.
    pub repositories: &'a [RepositoryName],
}

/// Creates a token of an installation. Fails if repositories have several owners: an installation
/// is on one account.
pub fn installation_token(
    environment: &Environment,
    request: &TokenRequest<'_>,
) -> anyhow::Result<InstallationToken> {
    if !request.url.is_secure() {
        bail!("`{}` would get the proof of the app unencrypted: use `https://…`", request.url);
    }
    let owner = single_owner(request.repositories)?;
    let clock = Arc::new(SystemClock::new(environment.clock(), SHORT_WAIT, |_| ()));
    let proof = AppKey::from_pem(request.private_key)?.proof(request.app, clock.now())?;
    let Some(folder) = environment.state_folder() else {
        bail!("cannot store the GitHub write-rate counter: set `HOME` or `XDG_STATE_HOME`");
    };
    let source =
        KeySource::Variable { name: "the proof of the app".to_owned(), value: Some(proof) };
    let limiter = RateLimiter::in_dir(folder.join("github"), WRITE_LIMITS);
    let github = GitHub::new(request.url, Keys::new(source), limiter, clock);
    let installation = match (request.installation, owner) {
        (Some(id), _) => id,
        (None, Some(owner)) => github
            .installation_on(owner)?
            .with_context(|| format!("the app is not installed on the account `{owner}`"))?,
        (None, None) => bail!("name an installation or a repository"),
    };
    let names: Vec<&str> = request.repositories.iter().map(RepositoryName::name).collect();
    Ok(github.installation_token(installation, &names)?)
}

/// Returns the owner of all repositories; `None` without repositories.
fn single_owner(repositories: &[RepositoryName]) -> anyhow::Result<Option<&str>> {
    let Some(first) = repositories.first() else { return Ok(None) };
    let is_other = |other: &&RepositoryName| !other.owner().eq_ignore_ascii_case(first.owner());
    match repositories.iter().find(is_other) {
        Some(other) => bail!("`{first}` and `{other}` have different owners; a token is for one"),
        None => Ok(Some(first.owner())),
    }
}
