//! GitHub: every REST call is validated against GitHub's own description on the way to the fake and
//! back, and every GraphQL query against GitHub's schema.

mod calls;
mod graphql;
mod wrong;

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use assay_base::clock::Clock;
use assay_sandbox::{Key, KeySource, Keys};
use assay_services::github::{GitHub, WRITE_LIMITS};
use assay_services::http::{RateLimiter, SystemClock};
use assay_store::pulls::RepositoryName;
use assay_testenv::workspace::target_folder;
use assay_testkit::github::{self as fake, Access, NewPull, sha};

use super::description;
use super::prism::Prism;
use crate::conformance::{Check, Outcome};

/// The file name of GitHub's description.
const DESCRIPTION: &str = "github-openapi-trimmed.json";

const REPO: &str = "octo/demo";
const TOKEN: &str = "t-conformance";

/// The diff of the pull request.
const DIFF: &str = "diff --git a/src/a.rs b/src/a.rs\nnew file mode 100644\n--- /dev/null\n\
                    +++ b/src/a.rs\n@@ -0,0 +1,5 @@\n+one\n+two\n+three\n+four\n+five\n";

/// A fake GitHub with a pull request, behind Prism.
struct GithubFixture {
    github: Arc<fake::GitHub>,
    /// Dropped with the fixture.
    _served: fake::Server,
    prism: Prism,
    client: GitHub,
    repository: RepositoryName,
    number: u64,
}

impl GithubFixture {
    fn new(description: &Path) -> anyhow::Result<GithubFixture> {
        let github = Arc::new(fake::GitHub::new(Arc::new(fake::GitHubClock::real())));
        github.add_repository(REPO);
        // Only an app may create check runs.
        github.add_token("assay[bot]", TOKEN, Access::App);
        let number = github.open_pull(REPO, NewPull::new("ann", "feature", &sha("head"), DIFF));
        github.add_commit(REPO, &sha("fix"), DIFF);
        let served = Arc::clone(&github).serve();
        let prism = Prism::start(description, &served.url())?;
        let source = KeySource::Variable { name: "TOKEN".to_owned(), value: Some(Key::new(TOKEN)) };
        let pace = RateLimiter::in_dir(target_folder("conformance/services/github")?, WRITE_LIMITS);
        let patience =
            SystemClock::new(&Clock::system(), std::time::Duration::from_secs(60), |_| {});
        let url = prism.url().parse().context("a port of this machine is an address")?;
        let client = GitHub::new(&url, Keys::new(source), pace, Arc::new(patience));
        let repository = REPO.parse()?;
        Ok(GithubFixture { github, _served: served, prism, client, repository, number })
    }
}

pub(super) fn run(folder: Option<&Path>) -> Vec<Check> {
    let mut checks = match description(folder, DESCRIPTION) {
        Ok(description) => judged(&description),
        Err(outcome) => vec![("calls".to_owned(), outcome)],
    };
    checks.extend(graphql::run());
    checks.into_iter().map(|(name, outcome)| (format!("GitHub: {name}"), outcome)).collect()
}

/// Runs all calls through Prism with a description.
fn judged(description: &Path) -> Vec<Check> {
    match GithubFixture::new(description) {
        Err(error) => vec![("prism".to_owned(), Outcome::Failed(format!("{error:#}")))],
        Ok(fixture) => {
            let mut checks = calls::run(&fixture);
            checks.extend(wrong::run(&fixture));
            checks
        }
    }
}
