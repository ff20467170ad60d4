//! Tests of the Linear client, against a fake.

use std::sync::Arc;

use assay_sandbox::{KeySource, Keys};
use assay_services::linear::{Linear, LinearError, LinearId};
use assay_services::outcome::{CommentOutcome, TransitionOutcome};
use assay_testkit::linear::{FakeLinear, Fault, KEY, TEAM_KEY};

use crate::fixtures::{DirectTransport, RecordingClock, keys};

fn client(fake: &FakeLinear, key: &str) -> (Linear, Arc<RecordingClock>) {
    client_with(fake, keys(key))
}

fn client_with(fake: &FakeLinear, keys: Arc<Keys>) -> (Linear, Arc<RecordingClock>) {
    let waits = Arc::new(RecordingClock::default());
    let transport = Arc::new(DirectTransport(Arc::new(fake.clone())));
    (Linear::new(transport, keys, TEAM_KEY, waits.clone()), waits)
}

const ISSUE: LinearId = LinearId::from_digest([1; 16]);
const NEWS: LinearId = LinearId::from_digest([2; 16]);

#[test]
fn a_spec_has_one_issue_even_if_the_answer_is_lost() {
    let fake = FakeLinear::default();
    let (linear, _) = client(&fake, KEY);
    fake.fail("AssayCreateIssue", Fault::CutAfter);
    let issue = linear.get_or_create_issue(&ISSUE, "001-login", "A spec").unwrap();
    assert_eq!((issue.identifier.as_str(), issue.state.as_str()), ("ENG-1", "Backlog"));
    assert_eq!(linear.get_or_create_issue(&ISSUE, "001-login", "A spec").unwrap(), issue);
    assert_eq!(linear.issue("ENG-1").unwrap(), issue);
    assert_eq!((fake.issues().len(), fake.problems()), (1, vec![]));
}

#[test]
fn a_comment_is_posted_once_despite_faults() {
    for fault in [Fault::CutAfter, Fault::CutBefore, Fault::Inner, Fault::Before(502), Fault::Limit]
    {
        let fake = FakeLinear::default();
        let (linear, waits) = client(&fake, KEY);
        let issue = linear.get_or_create_issue(&ISSUE, "001-login", "").unwrap();
        fake.fail("AssayComment", fault);
        let first_attempt = linear.comment_once(&issue, &NEWS, "Rejected");
        match fault {
            Fault::CutAfter | Fault::Limit => {
                assert_eq!(first_attempt.unwrap(), CommentOutcome::Created)
            }
            _ => {
                first_attempt.unwrap_err();
                assert_eq!(
                    linear.comment_once(&issue, &NEWS, "Rejected").unwrap(),
                    CommentOutcome::Created
                );
            }
        }
        assert_eq!(
            linear.comment_once(&issue, &NEWS, "Rejected").unwrap(),
            CommentOutcome::Existing
        );
        assert_eq!(fake.comments(), ["Rejected"], "{fault:?}");
        assert_eq!(waits.seconds().contains(&60), fault == Fault::Limit);
        assert_eq!(fake.problems(), [""; 0]);
    }
}

#[test]
fn an_issue_moves_by_the_name_of_a_state() {
    let fake = FakeLinear::default();
    let (linear, _) = client(&fake, KEY);
    let issue = linear.get_or_create_issue(&ISSUE, "001-login", "").unwrap();
    fake.fail("AssayMoveIssue", Fault::CutAfter);
    let moved = linear.move_to(&issue, "in review").unwrap();
    assert_eq!(
        moved,
        TransitionOutcome::Moved { from: "Backlog".to_owned(), to: "In Review".to_owned() }
    );
    assert_eq!(fake.issues()[0].2, "In Review");
    assert!(matches!(linear.move_to(&issue, "backlog"), Ok(TransitionOutcome::Unchanged { .. })));
    let error = linear.move_to(&issue, "Shipped").unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown state `Shipped` of the Linear team; known states: `Backlog`, `Todo`, `In \
         Progress`, `In Review`, `Done`"
    );
}

#[test]
fn an_error_in_an_answer_with_status_200_is_reported() {
    let fake = FakeLinear::default();
    let (linear, _) = client(&fake, KEY);
    let error = linear.issue("ENG-9").unwrap_err();
    assert_eq!(
        error.to_string(),
        "Linear refused `AssayIssue` with status 200: Entity not found: Issue"
    );
    let (client_with_wrong_key, _) = client(&fake, "lin_api_of_somebody_else");
    let LinearError::Service(error) = client_with_wrong_key.issue("ENG-1").unwrap_err() else {
        panic!()
    };
    assert_eq!(error.status(), Some(401));
}

#[test]
fn an_expired_key_is_requested_again_from_its_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    std::fs::write(&file, "lin_api_of_an_hour_ago").unwrap();
    let script = format!("cat {file}; echo {KEY} > {file}", file = file.display());
    let command = ["sh", "-c", &script].map(str::to_owned).to_vec();
    let fake = FakeLinear::default();
    let (linear, _) = client_with(&fake, Arc::new(Keys::new(KeySource::Command(command))));
    assert!(linear.get_or_create_issue(&ISSUE, "001-login", "").is_ok());
    assert_eq!(fake.issues().len(), 1);
}
