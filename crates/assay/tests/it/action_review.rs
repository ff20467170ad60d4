//! Reviews by `action.yml`: its steps run with the environment of a runner, against a strict fake of
//! GitHub's API and a server of releases.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use assay_testkit::Repository;
use assay_testkit::github::{self as fake, Access, GitHubClock, NewPull, Server};
use assay_testkit::web::{Answer, RunningService, Service, ServiceRequest};

use crate::action::run;

const REPO: &str = "octo/demo";
const TOKEN: &str = "ghs-workflow-token";
const FLAWED: &str = "def total(prices):\n    breakpoint()\n    return sum(prices)\n";

/// A job of a workflow: the clone of the runner, and the fake GitHub.
struct Job {
    clone: Repository,
    github: Arc<fake::GitHub>,
    server: Option<Server>,
    host: tempfile::TempDir,
    base: String,
}

/// The result of the step that reviews.
struct Reviewed {
    said: String,
    code: i32,
    outputs: BTreeMap<String, String>,
    summary: String,
}

impl Job {
    /// Checks out a branch `topic` with some files on top of `main`.
    fn new(files: &[(&str, &[u8])]) -> Job {
        let host = tempfile::tempdir().unwrap();
        let clone = Repository::new();
        clone.write("shop.py", "def total(prices):\n    return sum(prices)\n");
        clone.commit("a shop");
        let base = clone.git(&["rev-parse", "HEAD"]).trim().to_owned();
        let bare = host.path().join("octo/demo.git");
        clone.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
        clone.git(&["remote", "add", "origin", bare.to_str().unwrap()]);
        clone.git(&["checkout", "--quiet", "-b", "topic"]);
        for (path, content) in files {
            clone.write(path, content);
        }
        clone.commit("topic");
        clone.git(&["push", "--quiet", "origin", "topic"]);
        clone.git(&["fetch", "--quiet", "origin"]);
        let github = Arc::new(fake::GitHub::new(Arc::new(GitHubClock::real())));
        github.add_repository(REPO);
        github.add_token("github-actions[bot]", TOKEN, Access::App);
        let server = Some(Arc::clone(&github).serve());
        github.follow(REPO, &bare);
        Job { clone, github, server, host, base }
    }

    /// Opens the pull request of the branch.
    fn with_pull(self) -> Job {
        let diff = self.clone.git(&["diff", "main...topic"]) + "\n";
        self.github.open_pull(REPO, NewPull::new("ann", "topic", &self.commit(), &diff));
        let head = format!("{}:refs/pull/1/head", self.commit());
        self.clone.git(&["push", "--quiet", "origin", &head]);
        self
    }

    fn commit(&self) -> String {
        self.clone.git(&["rev-parse", "topic"]).trim().to_owned()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.host.path().join(name)
    }

    /// Runs the step that reviews, with the variables of an event.
    fn review(&self, event: &[(&str, &str)]) -> Reviewed {
        let (outputs, summary, commit) =
            (self.file("outputs"), self.file("summary"), self.commit());
        let url = self.server.as_ref().map_or("http://127.0.0.1:1".to_owned(), Server::url);
        let out = self.file("out");
        let usual = [
            ("ASSAY", env!("CARGO_BIN_EXE_assay")),
            ("OUT", out.to_str().unwrap()),
            ("GITHUB_OUTPUT", outputs.to_str().unwrap()),
            ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()),
            ("GITHUB_API_URL", &url),
            ("REPOSITORY", REPO),
            ("COMMIT", &commit),
        ];
        let (said, code) = run("review", self.clone.path(), &[&usual[..], event].concat());
        let text = std::fs::read_to_string(outputs).unwrap_or_default();
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        Reviewed {
            said,
            code,
            outputs: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            summary: std::fs::read_to_string(summary).unwrap_or_default(),
        }
    }
}

/// The variables of a pull request of the repository itself, with a token that may write.
const PULL: [(&str, &str); 5] = [
    ("NUMBER", "1"),
    ("HEAD_REPOSITORY", REPO),
    ("GITHUB_BASE_REF", "main"),
    ("GITHUB_TOKEN", TOKEN),
    ("POST", "review"),
];

impl Reviewed {
    fn check(&self, code: i32, verdict: &str, findings: &str) {
        assert_eq!(self.code, code, "{}", self.said);
        assert_eq!(self.outputs["verdict"], verdict, "{}", self.said);
        assert_eq!(self.outputs["findings"], findings, "{}", self.said);
        assert!(!self.said.contains(TOKEN), "{}", self.said);
    }
}

#[test]
fn a_pull_request_gets_a_review_a_summary_and_outputs() {
    let job = Job::new(&[("shop.py", FLAWED.as_bytes())]).with_pull();
    let reviewed = job.review(&PULL);
    reviewed.check(1, "not ready", "1");
    let visible = job.github.visible(REPO, 1);
    assert!(visible.contains("shop.py:2"), "{visible}\n{}", reviewed.said);
    assert!(reviewed.said.contains("::error "), "{}", reviewed.said);
    assert!(reviewed.summary.contains("shop.py"), "{}", reviewed.summary);
    let report = std::fs::read_to_string(&reviewed.outputs["report"]).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["verdict"]["state"], "not_ready", "{report}");
    // A second run of the job posts nothing twice.
    job.review(&PULL);
    assert_eq!(job.github.visible(REPO, 1), visible);
}

#[test]
fn a_pull_request_can_get_a_check_run() {
    let job = Job::new(&[("shop.py", FLAWED.as_bytes())]).with_pull();
    let mut event = PULL;
    event[4] = ("POST", "check-run");
    let reviewed = job.review(&event);
    reviewed.check(1, "not ready", "1");
    assert!(reviewed.said.contains("created the check run"), "{}", reviewed.said);
}

#[test]
fn a_pull_request_from_a_fork_gets_annotations_and_no_write() {
    let job = Job::new(&[("shop.py", FLAWED.as_bytes())]).with_pull();
    let mut event = PULL;
    event[1] = ("HEAD_REPOSITORY", "mallory/demo");
    let reviewed = job.review(&event);
    reviewed.check(1, "not ready", "1");
    assert!(reviewed.said.contains("from a fork"), "{}", reviewed.said);
    assert!(reviewed.said.contains("file=shop.py,line=2"), "{}", reviewed.said);
    assert!(job.github.log().iter().all(|asked| !asked.took_effect));
}

#[test]
fn a_push_is_reviewed_with_all_of_its_commits_and_a_new_branch_with_its_last() {
    let job = Job::new(&[("shop.py", FLAWED.as_bytes())]);
    job.clone.write("other.py", "x = 1\n");
    job.clone.commit("another commit");
    job.review(&[("BEFORE", &job.base)]).check(1, "not ready", "1");
    let zeros = "0".repeat(40);
    std::fs::remove_file(job.file("outputs")).unwrap();
    let new = job.review(&[("BEFORE", &zeros)]);
    assert_eq!((new.code, new.outputs["findings"].as_str()), (0, "0"), "{}", new.said);
    // The commit before a forced push is not in the clone.
    let gone = "1".repeat(40);
    assert_eq!(job.review(&[("BEFORE", &gone)]).code, 0);
}

#[test]
fn a_change_of_lock_files_or_pictures_alone_passes() {
    let picture: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let lock: &[u8] = b"# This file is generated.\nversion = 4\n";
    for file in [("Cargo.lock", lock), ("logo.png", picture)] {
        let job = Job::new(&[file]).with_pull();
        let reviewed = job.review(&PULL);
        reviewed.check(0, "nothing to review", "0");
    }
}

#[test]
fn a_review_that_cannot_be_posted_fails_the_job_and_keeps_its_annotations() {
    let mut job = Job::new(&[("ok.py", b"x = 1\n")]).with_pull();
    job.server = None;
    let reviewed = job.review(&PULL);
    assert_eq!(reviewed.code, 3, "{}", reviewed.said);
    assert!(reviewed.said.contains("cannot post the review"), "{}", reviewed.said);
    assert_eq!(reviewed.outputs["verdict"], "ready", "{}", reviewed.said);
}

#[test]
fn a_review_that_fails_has_no_outputs() {
    let job = Job::new(&[("shop.py", FLAWED.as_bytes())]);
    let reviewed = job.review(&[("BEFORE", &job.base), ("FAIL_ON", "nonsense")]);
    assert_eq!((reviewed.code, reviewed.outputs.len()), (2, 0), "{}", reviewed.said);
    let reviewed = job.review(&[("POST", "all"), ("BEFORE", &job.base)]);
    assert_eq!(reviewed.code, 2, "{}", reviewed.said);
}

/// A server with the files of a release.
struct Release(BTreeMap<String, Vec<u8>>);

impl Service for Release {
    fn answer(&self, asked: &ServiceRequest) -> Option<Answer> {
        let name = asked.path().trim_start_matches('/');
        Some(match self.0.get(name) {
            Some(content) => Answer { status: 200, headers: Vec::new(), body: content.clone() },
            None => Answer::empty(404),
        })
    }
}

const ARCHIVE: &str = "assay-7.8.9-x86_64-unknown-linux-musl";

fn checksum(content: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), content).unwrap();
    let output = std::process::Command::new("sha256sum").arg(file.path()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

/// Packs a program as a release does.
fn archive() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(ARCHIVE).join("assay");
    std::fs::create_dir(program.parent().unwrap()).unwrap();
    std::fs::write(&program, "#!/bin/sh\necho released\n").unwrap();
    let packed = folder.path().join("packed.tar.gz");
    let mut tar = std::process::Command::new("tar");
    tar.arg("-czf").arg(&packed).arg("-C").arg(folder.path()).arg(ARCHIVE);
    assert!(tar.status().unwrap().success());
    std::fs::read(packed).unwrap()
}

/// Runs the step that downloads. Returns its output, its exit code, its outputs, and the folder.
fn download(
    release: BTreeMap<String, Vec<u8>>,
    more: &[(&str, &str)],
) -> (String, i32, String, tempfile::TempDir) {
    let server = RunningService::start(Arc::new(Release(release)));
    let (repository, home) = (Repository::new(), tempfile::tempdir().unwrap());
    let (root, outputs) = (home.path().join("assay"), home.path().join("outputs"));
    let url = server.url();
    let usual = [
        ("ACTION_PATH", concat!(env!("CARGO_MANIFEST_DIR"), "/../..")),
        ("ASSAY_ROOT", root.to_str().unwrap()),
        ("GITHUB_OUTPUT", outputs.to_str().unwrap()),
        ("OS", "Linux"),
        ("ARCH", "X64"),
        ("VERSION", "7.8.9"),
        ("DOWNLOAD_URL", &url),
    ];
    let (said, code) = run("download", repository.path(), &[&usual[..], more].concat());
    (said, code, std::fs::read_to_string(outputs).unwrap_or_default(), home)
}

fn release() -> BTreeMap<String, Vec<u8>> {
    let archive = archive();
    let sum = format!("{}  {ARCHIVE}.tar.gz\n", checksum(&archive)).into_bytes();
    [(format!("{ARCHIVE}.tar.gz"), archive), (format!("{ARCHIVE}.tar.gz.sha256"), sum)].into()
}

#[test]
fn a_released_binary_is_taken_by_its_version_and_checksum() {
    let (said, code, outputs, home) = download(release(), &[]);
    assert_eq!((code, outputs.as_str()), (0, ""), "{said}");
    let program = home.path().join("assay/bin/assay");
    let ran = std::process::Command::new(program).output().unwrap();
    assert_eq!(ran.stdout, b"released\n");
    let own = checksum(&release()[&format!("{ARCHIVE}.tar.gz")]);
    let mut changed = release();
    changed.insert(format!("{ARCHIVE}.tar.gz"), b"another archive".to_vec());
    for (release, sum) in [(changed.clone(), ""), (changed, own.as_str())] {
        let (said, code, outputs, home) = download(release, &[("CHECKSUM", sum)]);
        assert_eq!((code, outputs.as_str()), (1, ""), "{said}");
        assert!(said.contains("does not have the expected checksum"), "{said}");
        assert!(!home.path().join("assay/bin/assay").exists());
    }
}

#[test]
fn assay_is_built_if_there_is_no_release_or_no_package() {
    for (release, more) in [
        (BTreeMap::new(), [("OS", "Linux")]),
        (release(), [("OS", "Windows")]),
        (release(), [("DOWNLOAD_URL", "http://127.0.0.1:1/x")]),
    ] {
        let (said, code, outputs, _) = download(release, &more);
        assert_eq!((code, outputs.as_str()), (0, "build=true\n"), "{said}");
    }
    for more in [
        ("VERSION", "1.2.3; touch harmed"),
        ("CHECKSUM", "12"),
        ("DOWNLOAD_URL", "http://e.example/"),
    ] {
        let (said, code, _, _) = download(BTreeMap::new(), &[more]);
        assert_eq!(code, 1, "{more:?}: {said}");
    }
}
