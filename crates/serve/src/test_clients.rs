//! Clients of GitHub and JIRA for tests. They send requests to fakes over TCP and never wait for a
//! rate limit. Each test sets up the content of its fakes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use assay_base::clock::Clock;
use assay_sandbox::{Key, KeySource, Keys};
use assay_services::github::{GitHub, WRITE_LIMITS};
use assay_services::http::{HttpTransport, RateLimiter, SystemClock};
use assay_services::jira::{Flavour, Jira};
use assay_testkit::jira::{FakeJira, TOKEN, USER};

/// The timeout of one answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// The diff of a pull request in tests that do not depend on its content.
pub(crate) const SAMPLE_DIFF: &str =
    "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+a\n";

/// Returns a client of the GitHub at `url`, which stores its rate limit state below `kept`.
pub(crate) fn github(url: &str, token: &str, kept: &Path) -> GitHub {
    let pace = RateLimiter::in_dir(kept.join("pace"), WRITE_LIMITS);
    GitHub::new(&url.parse().unwrap(), keys("GITHUB_TOKEN", token), pace, clock_without_waits())
}

/// Returns a client of a fake JIRA Cloud.
pub(crate) fn jira(fake: &FakeJira) -> Jira {
    let wire = HttpTransport::new(fake.serve().url().parse().unwrap(), ANSWER_TIMEOUT);
    let flavour = Flavour::Cloud { user: USER.to_owned() };
    Jira::new(
        Arc::new(wire),
        flavour,
        Arc::new(keys("JIRA_API_TOKEN", TOKEN)),
        clock_without_waits(),
    )
}

fn keys(name: &str, value: &str) -> Keys {
    Keys::new(KeySource::Variable { name: name.to_owned(), value: Some(Key::new(value)) })
}

fn clock_without_waits() -> Arc<SystemClock> {
    Arc::new(SystemClock::new(&Clock::system(), Duration::ZERO, |_| ()))
}
