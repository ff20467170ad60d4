//! Messages that another program wrote into a former outbox: none is sent, and the user is warned.

use std::os::unix::fs::symlink;
use std::path::Path;

use assay_sandbox::{Enforcement, limits};
use assay_testenv::not_run;
use assay_testkit::github::NewPull;

use super::github::{AgentFixture, REPO};
use super::*;

/// The warning to the user.
const OUTBOX_NOT_USED: &str =
    "`.assay/outbox` is not used: the outbox is outside of the work tree now";

/// The path of a forged message.
const FORGED: &str = ".assay/outbox/pull-octo.demo-1/review.json";

/// A repository with two pull requests, and a message that approves the first one.
struct Forgery {
    fixture: AgentFixture,
    message: String,
}

impl Forgery {
    fn new() -> Forgery {
        let fixture = AgentFixture::new();
        for (number, start) in [(1, "0"), (2, "1")] {
            open_pull(&fixture, number, start);
        }
        // A review that cannot be posted waits, so its message is a valid one.
        let review = ["review", "--pr", &format!("{REPO}#1"), "--post"];
        let ran = fixture.with_variables(|variables| {
            let variables = [variables, &[("GH_SECRET", "refused")]].concat();
            assay_with(fixture.repository.path(), &review, b"", &variables)
        });
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        let folder = fixture.outbox().join("pull-octo.demo-1");
        let waits = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        let mut message: Value = serde_json::from_slice(&fs::read(&waits).unwrap()).unwrap();
        message["not_before"] = Value::Null;
        message["name"] = json!("review");
        fs::remove_file(waits).unwrap();
        assert_eq!(fixture.github.reviews(REPO, 1).len(), 0);
        Forgery { fixture, message: message.to_string() }
    }

    /// Writes the message into the real outbox.
    fn deliver_honestly(&self) {
        fs::write(self.fixture.outbox().join("pull-octo.demo-1/review.json"), &self.message)
            .unwrap();
    }

    /// Posts a review of the second pull request, which also delivers waiting messages.
    fn post(&self) -> AssayRun {
        let ran = self.fixture.assay(&["review", "--pr", &format!("{REPO}#2"), "--post"]);
        assert!(ran.stderr.contains(&format!("posted the review on {REPO}#2")), "{}", ran.stderr);
        ran
    }

    fn is_sent(&self) -> bool {
        !self.fixture.github.reviews(REPO, 1).is_empty()
    }

    /// Posts a review, which sends nothing else, and warns the user of the message once.
    fn check_not_sent(&self, form: &str) {
        assert!(self.post().stderr.contains(OUTBOX_NOT_USED), "{form}");
        assert!(!self.is_sent(), "{form}");
        assert!(!self.post().stderr.contains(OUTBOX_NOT_USED), "{form}: told twice");
        assert!(!self.is_sent(), "{form}");
    }
}

fn open_pull(fixture: &AgentFixture, number: u64, start: &str) {
    let author = Repository::empty(&[]);
    author.git(&["remote", "add", "origin", fixture.bare.to_str().unwrap()]);
    author.git(&["fetch", "--quiet", "origin"]);
    author.git(&["checkout", "--quiet", "-b", "prices", "origin/main"]);
    author.write("shop.py", format!("def total(prices):\n    return sum(prices, {start})\n"));
    author.commit("prices are added up");
    author.git(&["push", "--quiet", "origin", &format!("HEAD:refs/pull/{number}/head")]);
    let (head, diff) = (author.git(&["rev-parse", "HEAD"]), author.git(&["diff", "origin/main"]));
    fixture.github.open_pull(REPO, NewPull::new("ann", "prices", &head, &format!("{diff}\n")));
}

#[test]
fn a_forged_outbox_is_not_sent_in_any_form() {
    type Forms = [(&'static str, fn(&Repository, &Path, &str)); 4];
    let forms: Forms = [
        ("untracked", |repository, _, message| repository.write(FORGED, message)),
        ("tracked", |repository, _, message| {
            repository.write(FORGED, message);
            repository.git(&["add", "--force", FORGED]);
            repository.git(&["commit", "--quiet", "--message", "more"]);
        }),
        ("behind a link", |repository, aside, message| {
            fs::create_dir(aside.join("pull-octo.demo-1")).unwrap();
            fs::write(aside.join("pull-octo.demo-1/review.json"), message).unwrap();
            repository.file(".assay/x");
            symlink(aside, repository.file(".assay/outbox")).unwrap();
        }),
        ("a link to a folder", |repository, aside, message| {
            fs::write(aside.join("review.json"), message).unwrap();
            symlink(aside, repository.file(".assay/outbox/pull-octo.demo-1")).unwrap();
        }),
    ];
    for (form, forge) in forms {
        let forgery = Forgery::new();
        let aside = tempfile::tempdir().unwrap();
        forge(&forgery.fixture.repository, aside.path(), &forgery.message);
        forgery.check_not_sent(form);
        // The message would have been sent from the real outbox.
        forgery.deliver_honestly();
        forgery.post();
        assert!(forgery.is_sent(), "{form}");
    }
}

#[test]
fn an_idle_agent_sends_no_forged_message() {
    let forgery = Forgery::new();
    forgery.fixture.repository.write(FORGED, &forgery.message);
    let mut agents = forgery.fixture.agents(&["qa"]);
    assert!(agents.seen.iter().any(|line| line.contains(OUTBOX_NOT_USED)), "{:?}", agents.seen);
    forgery.deliver_honestly();
    // A later message of the same outbox arrives, so the agent has delivered everything it would.
    agents.wait_for_line(&format!("osted the review on {REPO}#1"));
    assert_eq!(agents.stop(), 0);
    assert_eq!(forgery.fixture.github.reviews(REPO, 1).len(), 1);
    assert!(forgery.fixture.repository.path().join(FORGED).exists());
}

const SPEC: &str = "# Greeting\n\n## Acceptance Criteria\n\n- [ ] `greets` passes\n\n\
                    ## Verification\n\n**Unit Tests:**\n- `sh test.sh` - All pass\n";

const PLAN: &str = r#"{"feature": "Greeting", "phases": [{"name": "one", "subtasks": [
    {"id": "1.1", "title": "Say hello", "status": "completed"}]}]}"#;

/// Returns a script that copies a message into every possible outbox.
fn forging(message: &Path, outbox: &Path) -> String {
    let (message, outbox) = (message.display(), outbox.display());
    format!(
        "mkdir -p .assay/outbox/pull-octo.demo-1\ncp '{message}' {FORGED}\n\
         mkdir -p '{outbox}/pull-octo.demo-1'\n\
         cp '{message}' '{outbox}/pull-octo.demo-1/review.json'\n"
    )
}

#[test]
fn a_message_that_a_test_or_a_fixer_writes_under_qa_is_not_sent() {
    for by_fixer in [false, true] {
        let forgery = Forgery::new();
        let repository = &forgery.fixture.repository;
        let aside = tempfile::tempdir().unwrap();
        let message = aside.path().join("message.json");
        fs::write(&message, &forgery.message).unwrap();
        let forging = forging(&message, &forgery.fixture.outbox());
        let fixer = aside.path().join("fixer.sh");
        fs::write(&fixer, format!("{forging}echo hello > greeting.txt\n")).unwrap();
        let fixer = format!("qa:\n  fixer: {{ run: [sh, '{}'] }}\n", fixer.display());
        let config = repository.path().join("config/agent-framework.yaml");
        let config = fs::read_to_string(config).unwrap();
        repository.write("config/agent-framework.yaml", format!("{config}{fixer}"));
        let forging = if by_fixer { "" } else { &forging };
        let test = "echo 1..1\nif grep -q hello greeting.txt; then echo 'ok 1 - greets'; else \
                    echo 'not ok 1 - greets'; exit 1; fi\n";
        repository.write("test.sh", format!("{forging}{test}"));
        repository.commit("how it is tested");
        repository.write("specs/001-greeting/spec.md", SPEC);
        repository.write("specs/001-greeting/implementation_plan.json", PLAN);
        repository.write("greeting.txt", if by_fixer { "bye\n" } else { "hello\n" });
        let ran = forgery.fixture.assay(&["qa", "--spec", "001"]);
        assert!([0, 4].contains(&ran.code), "{}{}", ran.stdout, ran.stderr);
        if limits().files == Enforcement::None {
            not_run::record("this kernel limits no files");
            return;
        }
        let outside = forgery.fixture.outbox().join("pull-octo.demo-1/review.json");
        assert!(!outside.exists(), "a check or a fixer wrote into the state home");
        let is_forged = repository.path().join(FORGED).exists();
        assert_eq!(is_forged, !by_fixer, "a fixer works on a copy, which `.assay/` is no part of");
        let ran = forgery.post();
        assert_eq!(ran.stderr.contains(OUTBOX_NOT_USED), is_forged, "{}", ran.stderr);
        assert!(!forgery.is_sent());
    }
}
