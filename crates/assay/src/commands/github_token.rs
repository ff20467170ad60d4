//! `assay github-token`: prints a token of a GitHub App, for `github.token_command`.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use assay_engine::github_app::{TokenRequest, installation_token};
use assay_services::github::PUBLIC_URL;
use assay_services::http::ServerUrl;
use assay_store::pulls::RepositoryName;

use super::print;
use crate::exit::Exit;
use crate::process::environment;

/// Arguments of `assay github-token`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The id of the app, or its client id
    #[arg(long, value_name = "ID")]
    app: String,
    /// The file of the private key of the app, in PEM
    #[arg(long, value_name = "FILE")]
    private_key: PathBuf,
    /// The id of the installation [default: that on the account of the repository]
    #[arg(long, value_name = "ID", required_unless_present = "repositories")]
    installation: Option<u64>,
    /// A repository that the token is for; may be given several times [default: all of the
    /// installation]
    #[arg(long = "repo", value_name = "OWNER/NAME")]
    repositories: Vec<RepositoryName>,
    /// The address of the API, `https://HOST/api/v3` for GitHub Enterprise Server
    #[arg(long, value_name = "URL", default_value = PUBLIC_URL)]
    url: ServerUrl,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let path = &args.private_key;
    let private_key = fs::read_to_string(path);
    let private_key = private_key.with_context(|| format!("cannot read `{}`", path.display()))?;
    let request = TokenRequest {
        url: &args.url,
        app: &args.app,
        private_key: &private_key,
        installation: args.installation,
        repositories: &args.repositories,
    };
    let token = installation_token(environment(), &request)?;
    print(&format!("{}\n", token.token.reveal()))?;
    Ok(Exit::Ready)
}
