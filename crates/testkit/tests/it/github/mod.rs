//! The fake GitHub: each rule, obeyed and violated.

mod checks;
mod comments;
mod faults;
mod graphql;
mod limits;
mod moving;
mod pulls;
mod reviews;
mod serving;

use std::fmt::Write as _;
use std::sync::Arc;

use assay_testkit::github::{Access, GitHub, GitHubClock, NewPull, sha};
use assay_testkit::web::{Answer, ServiceRequest};
use serde_json::{Value, json};

const REPO: &str = "octo/demo";

/// A diff with two hunks in one file, a deleted file, and a file with a blank in its name.
const DIFF: &str = "\
diff --git a/src/a.rs b/src/a.rs
index 1111111..2222222 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,4 +1,5 @@
 one
-two
+zwei
+drei
 three
 four
@@ -20,3 +21,3 @@ fn last() {
 twenty
-twenty-one
+einundzwanzig
 twenty-two
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/a name.txt b/a name.txt
new file mode 100644
--- /dev/null
+++ b/a name.txt
@@ -0,0 +1 @@
+new
\\ No newline at end of file
";

/// Returns a GitHub with pull request 1 of `ann`, and tokens `t-<login>`.
fn github() -> GitHub {
    let github = GitHub::new(Arc::new(GitHubClock::stopped()));
    github.add_repository(REPO);
    github.add_token("ann", "t-ann", Access::User);
    github.add_token("rev", "t-rev", Access::User);
    github.add_token("assay[bot]", "t-app", Access::App);
    github.add_token("reader", "t-reader", Access::Read);
    let number = github.open_pull(REPO, NewPull::new("ann", "topic", &sha("head"), DIFF));
    assert_eq!(number, 1);
    github
}

/// Sends a request on the repository as `rev`.
fn ask(github: &GitHub, method: &str, below: &str, body: Value) -> (u16, Value) {
    github.ask("t-rev", method, &format!("/repos/{REPO}{below}"), &body)
}

/// Sends a request with additional headers.
fn ask_with(github: &GitHub, target: &str, fields: &[(&str, &str)]) -> Answer {
    let own = [("User-Agent", "test"), ("Authorization", "token t-rev")];
    let headers = own.iter().chain(fields).map(|&(name, value)| (name.into(), value.into()));
    let asked = ServiceRequest {
        method: "GET".to_owned(),
        target: target.to_owned(),
        headers: headers.collect(),
        body: Vec::new(),
    };
    github.answer(&asked).unwrap()
}

/// Formats an answer as a line: the status, and the error.
fn answer_text((status, body): &(u16, Value)) -> String {
    let mut answer_text = status.to_string();
    if *status >= 400 {
        let message = body["message"].as_str().unwrap_or_default();
        write!(answer_text, " {}", message.replace("\n\n", " ")).unwrap();
        for error in body["errors"].as_array().into_iter().flatten() {
            let text = error.as_str().or(error["message"].as_str()).unwrap_or_default();
            let code = error["code"].as_str().unwrap_or_default();
            write!(answer_text, " / {code} {text}").unwrap();
        }
    }
    answer_text
}

/// Returns the body of a review with comments.
fn review(comments: Value) -> Value {
    json!({ "body": "Look here.", "event": "COMMENT", "comments": comments })
}
