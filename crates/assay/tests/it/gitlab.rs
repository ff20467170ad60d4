//! Reviews of merge requests with the binary, on a strict fake GitLab.

use assay_testkit::gitlab::{FakeGitLab, NewMergeRequest, TOKEN, USER};
use assay_testkit::{Repository, git};
use serde_json::Value;

use crate::{AssayRun, assay_with};

/// A clone of a project with a merge request that adds debug output, and its fake server.
struct MergeRequestFixture {
    gitlab: FakeGitLab,
    clone: Repository,
    _host: tempfile::TempDir,
}

impl MergeRequestFixture {
    fn new(when_ready: &str) -> MergeRequestFixture {
        let (gitlab, host) = (FakeGitLab::new(), tempfile::tempdir().unwrap());
        let bare = host.path().join("group/sub/demo.git");
        let clone = Repository::new();
        let url = gitlab.serve().url();
        clone.write(
            "assay.yaml",
            format!(
                "gitlab:\n  url: {url}/api/v4\n  token_env: TEST_GITLAB_TOKEN\n  when_ready: \
                 {when_ready}\n"
            ),
        );
        clone.write("main.py", "def total(prices):\n    return sum(prices)\n");
        clone.commit("start");
        clone.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
        clone.git(&["checkout", "--quiet", "-b", "topic"]);
        clone.write("main.py", "def total(prices):\n    breakpoint()\n    return sum(prices)\n");
        clone.commit("topic");
        let head = clone.git(&["rev-parse", "HEAD"]).trim().to_owned();
        let diff = clone.git(&["diff", "main", "topic"]);
        clone.git(&["push", "--quiet", bare.to_str().unwrap(), "topic:refs/merge-requests/1/head"]);
        clone.git(&["checkout", "--quiet", "main"]);
        clone.git(&["remote", "add", "origin", bare.to_str().unwrap()]);
        git(&bare, &["symbolic-ref", "HEAD", "refs/heads/main"]);
        gitlab.open(&NewMergeRequest { head, diff });
        MergeRequestFixture { gitlab, clone, _host: host }
    }

    fn review(&self, options: &[&str]) -> AssayRun {
        let args = [&["review", "--mr", "group/sub/demo!1"], options].concat();
        assay_with(self.clone.path(), &args, b"", &[("TEST_GITLAB_TOKEN", TOKEN)])
    }
}

#[test]
fn a_merge_request_is_reviewed_and_the_review_is_posted_once() {
    let fixture = MergeRequestFixture::new("comment");
    let ran = fixture.review(&["--post"]);
    assert!(ran.stderr.contains("posted the review on group/sub/demo!1: 1 new"), "{}", ran.stderr);
    let discussions = fixture.gitlab.discussions(1);
    let on_line = &discussions[0];
    assert_eq!(on_line.position["new_line"], 2, "{discussions:?}");
    assert_eq!(on_line.notes[0].author, USER);
    assert!(on_line.notes[0].body.contains("suggestion:-0+0"), "{}", on_line.notes[0].body);
    assert_eq!(discussions.len(), 2, "a comment and the summary");
    let again = fixture.review(&["--post"]);
    assert!(again.stderr.contains("nothing to change"), "{}", again.stderr);
    assert_eq!(fixture.gitlab.discussions(1), discussions);
    assert_eq!(fixture.gitlab.approved_by(1), [0_u64; 0]);
}

#[test]
fn a_merge_request_has_no_check_run_and_needs_a_token() {
    let fixture = MergeRequestFixture::new("comment");
    let ran = fixture.review(&["--post=check-run"]);
    assert!(ran.stderr.contains("GitLab has no check runs and takes no SARIF"), "{}", ran.stderr);
    let args = ["review", "--mr", "group/sub/demo!1", "--post"];
    let ran = assay_with(fixture.clone.path(), &args, b"", &[]);
    assert!(ran.stderr.contains("missing token for GitLab"), "{}", ran.stderr);
    assert_eq!(fixture.gitlab.writes(), 0);
}

#[test]
fn a_name_that_is_no_merge_request_is_refused() {
    let repository = Repository::new();
    for odd in ["group/demo#1", "demo!1", "group/demo!x", "group//demo!1"] {
        let ran = assay_with(repository.path(), &["review", "--mr", odd], b"", &[]);
        assert_eq!(ran.code, 2, "{odd}");
        assert!(ran.stderr.contains("is not a merge request such as"), "{}", ran.stderr);
    }
}

#[test]
fn a_code_quality_report_has_each_finding_with_its_place() {
    let fixture = MergeRequestFixture::new("comment");
    let ran = fixture.review(&["--format", "gitlab"]);
    let report: Value = serde_json::from_str(&ran.stdout).expect(&ran.stdout);
    let issue = &report[0];
    assert_eq!(issue["location"]["path"], "main.py", "{report}");
    assert_eq!(issue["location"]["lines"]["begin"], 2);
    assert_eq!(issue["check_name"], "python/debugger");
    let levels = ["info", "minor", "major", "critical", "blocker"];
    assert!(issue["severity"].as_str().is_some_and(|level| levels.contains(&level)), "{issue}");
    assert_eq!(issue["fingerprint"].as_str().map(str::len), Some(45));
}
