//! The outcome of each finding on the pull request over five reviews, on a fake GitHub.

use expect_test::{Expect, expect};

use super::github::{AgentFixture, REPO};
use super::*;

const EVAL: &str = "def answer(text):\n    return eval(text)\n";

/// A pull request whose author pushes again.
struct PullFixture {
    agents: AgentFixture,
    author: Repository,
}

impl PullFixture {
    fn new(shop: &str) -> PullFixture {
        let agents = AgentFixture::new();
        agents.open_pull_with("prices", &[("shop.py", shop), ("answer.py", EVAL)], |pull| pull);
        let author = Repository::empty(&[]);
        author.git(&["remote", "add", "origin", agents.bare.to_str().unwrap()]);
        author.git(&["fetch", "--quiet", "origin"]);
        author.git(&["checkout", "--quiet", "prices"]);
        PullFixture { agents, author }
    }

    fn push(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            self.author.write(path, text);
        }
        self.author.commit("again");
        let to = ["push", "--quiet", "origin", "prices", "HEAD:refs/pull/1/head"];
        self.author.git(&to);
    }

    /// Reviews and posts, and checks the table in the only comment below the pull request.
    fn check(&self, expected: &Expect) {
        let ran = self.agents.assay(&["review", "--pr", &format!("{REPO}#1"), "--post"]);
        assert!(ran.stderr.contains("posted the review"), "{}", ran.stderr);
        let comments = self.agents.github.comments(REPO, 1);
        assert_eq!(comments.len(), 1, "{comments:?}");
        let table = comments[0].body.lines().filter(|line| {
            line.starts_with("| ") || line.starts_with("**Findings of all reviews**")
        });
        expected.assert_eq(&table.collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn five_reviews_update_one_comment_with_the_outcome_of_each_finding() {
    let shop = "import os\n\n\ndef wipe(name):\n    os.system(f\"rm -r {name}\")\n";
    let pull = PullFixture::new(shop);
    pull.check(&expect![""]);
    let shifted = shop.replace("import os\n", "import os\n\nFOLDER = \"/srv\"\n");
    pull.push(&[("shop.py", &shifted), ("answer.py", "def answer(text):\n    return text\n")]);
    pull.check(&expect![[r#"
        **Findings of all reviews**: 1 open, 1 resolved.
        | outcome | severity | finding | place |
        | open | HIGH | Shell command built from a value | `shop.py:7` |
        | resolved | MEDIUM | A function's argument is run as code | `answer.py` |"#]]);
    pull.push(&[("answer.py", EVAL)]);
    pull.check(&expect![[r#"
        **Findings of all reviews**: 1 regressed, 1 open.
        | outcome | severity | finding | place |
        | regressed | MEDIUM | A function's argument is run as code | `answer.py:2` |
        | open | HIGH | Shell command built from a value | `shop.py:7` |"#]]);
    let listed = pull.agents.assay(&["findings", "list", "--file", "shop.py", "--format", "json"]);
    let id = listed.json()["findings"][0]["id"].as_str().unwrap().to_owned();
    let why = ["findings", "dismiss", &id, "--reason", "the names are our own"];
    assert_eq!(pull.agents.assay(&why).code, 0);
    pull.push(&[("notes.md", "# Notes\n")]);
    pull.check(&expect![[r#"
        **Findings of all reviews**: 1 regressed, 1 dismissed.
        | outcome | severity | finding | place |
        | regressed | MEDIUM | A function's argument is run as code | `answer.py:2` |
        | dismissed: the names are our own | HIGH | Shell command built from a value | `shop.py:7` |"#]]);
    pull.push(&[("answer.py", "def answer(text):\n    return text\n")]);
    pull.check(&expect![[r#"
        **Findings of all reviews**: 1 dismissed, 1 resolved.
        | outcome | severity | finding | place |
        | dismissed: the names are our own | HIGH | Shell command built from a value | `shop.py:7` |
        | resolved | MEDIUM | A function's argument is run as code | `answer.py` |"#]]);
}
