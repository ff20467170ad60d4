//! Clients of GitHub and JIRA for tests: they ask fakes over TCP, and wait for nobody. What stands on
//! the fakes is left to each test.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use assay_base::clock::Clock;
use assay_sandbox::{Key, KeySource, Keys};
use assay_services::github::{GitHub, Pace};
use assay_services::http::{Patience, Wire};
use assay_services::jira::{Flavour, Jira};
use assay_testkit::jira::{FakeJira, TOKEN, USER};

/// How long an answer may take.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// What a pull request changes where that does not matter.
pub(crate) const DIFF: &str =
    "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+a\n";

/// A client of the GitHub at an address, which keeps its pace in a folder.
pub(crate) fn github(url: &str, token: &str, kept: &Path) -> GitHub {
    let pace = Pace::kept_in(kept.join("pace"));
    GitHub::new(&url.parse().unwrap(), keys("GITHUB_TOKEN", token), pace, impatient())
}

/// A client of a JIRA in the cloud.
pub(crate) fn jira(fake: &FakeJira) -> Jira {
    let wire = Wire::new(fake.serve().url().parse().unwrap(), ANSWER_TIME);
    let flavour = Flavour::Cloud { user: USER.to_owned() };
    Jira::new(Arc::new(wire), flavour, Arc::new(keys("JIRA_API_TOKEN", TOKEN)), impatient())
}

fn keys(name: &str, value: &str) -> Keys {
    Keys::new(KeySource::Variable { name: name.to_owned(), value: Some(Key::new(value)) })
}

fn impatient() -> Arc<Patience> {
    Arc::new(Patience::new(&Clock::system(), Duration::ZERO, |_| ()))
}
