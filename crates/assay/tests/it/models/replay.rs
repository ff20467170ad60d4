//! A recorded review is replayed without a model, and a difference is reported with its cause.

use tempfile::TempDir;

use super::*;

/// A recorded review, whose server is stopped.
struct RecordedReview {
    repository: Repository,
    /// The synthesis of the review.
    first: Value,
    folder: TempDir,
}

impl RecordedReview {
    /// Records a review with a persona that the repository defines.
    fn new() -> RecordedReview {
        let case = Case::new("");
        case.commit_before(".assay/personas/house.md", &persona("house", "cap: P2"));
        let folder = tempfile::tempdir().unwrap();
        let ran = case.review(&["--format", "json", "--record", folder.path().to_str().unwrap()]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        RecordedReview { repository: case.repository, first: ran.json(), folder }
    }

    /// Replays the review without a key.
    fn replay(&self, args: &[&str]) -> AssayRun {
        let folder = self.folder.path().to_str().unwrap();
        let args = [&["review", "--replay", folder], args].concat();
        assay_with(self.repository.path(), &args, b"", &[])
    }

    /// Edits a file of the recording.
    fn edit(&self, name: &str, edit: impl Fn(String) -> String) {
        let path = self.folder.path().join(name);
        fs::write(&path, edit(fs::read_to_string(&path).unwrap())).unwrap();
    }
}

/// Removes the expenses from a synthesis, since a replay has none.
fn decided(synthesis: &Value) -> Value {
    let mut decided = synthesis.clone();
    decided.as_object_mut().unwrap().remove("spent");
    for report in decided["reports"].as_array_mut().unwrap() {
        report.as_object_mut().unwrap().remove("spent");
    }
    decided
}

#[test]
fn a_recorded_review_replays_byte_for_byte_and_offline() {
    let recorded = RecordedReview::new();
    for format in ["terminal", "json"] {
        let [first, second] = [0, 1].map(|_| recorded.replay(&["--format", format]));
        assert_eq!((first.code, first.stderr.as_str()), (0, ""), "{format}");
        assert_eq!((first.stdout, 0), (second.stdout, second.code), "{format}");
    }
    let again = recorded.replay(&["--format", "json"]).json();
    assert_eq!(decided(&again), decided(&recorded.first));
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = recorded.folder.path().to_str().unwrap();
    let args = ["review", "--format", "json", "--replay", folder];
    let ran = assay_with(elsewhere.path(), &args, b"", &[]);
    assert_eq!(decided(&ran.json()), decided(&recorded.first), "no repository is needed");
}

#[test]
fn a_run_is_replayed_by_its_name() {
    let case = Case::new("");
    let first = case.review(&["--format", "json"]);
    let run = case.runs().pop().unwrap();
    let Case { repository, .. } = case;
    let id = run.file_name().unwrap().to_str().unwrap();
    for args in [&["replay", "--format", "json"][..], &["replay", id, "--format", "json"]] {
        let ran = assay_with(repository.path(), args, b"", &[]);
        assert_eq!(ran.code, first.code, "{}", ran.stderr);
        assert_eq!(decided(&ran.json()), decided(&first.json()));
    }
    let ran = assay_with(repository.path(), &["replay", "nosuch"], b"", &[]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("unknown run `nosuch`"), "{}", ran.stderr);
}

#[test]
fn only_the_persona_with_altered_text_has_no_answer() {
    let recorded = RecordedReview::new();
    recorded.edit("recording.json", |text| text.replace("looks at prices", "looks at weights"));
    let ran = recorded.replay(&["--format", "json"]);
    let synthesis = ran.json();
    let reports = synthesis["reports"].as_array().unwrap().iter();
    let silent: Vec<&Value> = reports.filter(|report| report["unusable"].is_string()).collect();
    assert_eq!(silent.len(), 1, "{}", ran.stdout);
    assert_eq!(silent[0]["reviewer"], "house");
    let why = silent[0]["unusable"].as_str().unwrap();
    assert!(why.contains("for house (prompt "), "{why}");
    let others = titles(&recorded.first).into_iter().filter(|title| !title.starts_with("house"));
    assert_eq!(titles(&synthesis), others.collect::<Vec<_>>());
    assert_eq!((ran.code, &synthesis["verdict"]["state"]), (0, &json!("ready_with_fixes")));
}

#[test]
fn a_damaged_recording_is_reported() {
    let recorded = RecordedReview::new();
    let check = |expected: &str| {
        let ran = recorded.replay(&[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{expected}");
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    };
    let whole = fs::read(recorded.folder.path().join("recording.json")).unwrap();
    recorded.edit("recording.json", |text| text[..text.len() / 2].to_owned());
    check("recording.json` is damaged: ");
    recorded.edit("recording.json", |_| {
        String::from_utf8(whole.clone()).unwrap().replacen("\"version\": 1", "\"version\": 9", 1)
    });
    check("is damaged: unsupported version 9");
    fs::remove_file(recorded.folder.path().join("recording.json")).unwrap();
    check("contains no recording; create one with `assay review --record DIR`");
    fs::write(recorded.folder.path().join("recording.json"), whole).unwrap();
    // An unreadable answer of a model counts as missing.
    for reply in fs::read_dir(recorded.folder.path().join("replies")).unwrap() {
        fs::write(reply.unwrap().path(), "{ \"version\": 1").unwrap();
    }
    let ran = recorded.replay(&[]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert!(ran.stdout.contains("for correctness from `"), "{}", ran.stdout);
}

#[test]
fn two_runs_are_compared_and_the_prompt_is_named_as_the_cause() {
    let case = Case::new("");
    case.review(&[]);
    case.commit_before(".assay/personas/testing.md", &persona("testing", "cap: P2"));
    let other = with_findings(
        "testing",
        vec![finding("a new doubt", "P2", ("shop.py", 1), "def total(prices):")],
    );
    case.trouble(&["`testing` reviewer"], ModelFaultKind::Says(other.to_string()));
    case.review(&[]);
    let ids: Vec<String> = case
        .runs()
        .iter()
        .map(|run| run.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let ran = case.run(&["diff", &ids[0], &ids[1]]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for line in
        ["removed  testing doubts line 9 (shop.py:9)", "the prompt of `testing` has changed"]
    {
        assert!(ran.stdout.contains(line), "{line}\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("correctness"), "{}", ran.stdout);
    let ran = case.run(&["diff", &ids[0], &ids[0]]);
    assert_eq!(ran.stdout, "the findings are the same\n");
}

#[test]
fn a_folder_with_other_files_is_not_recorded_into_and_no_model_is_called() {
    let case = Case::new("");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "mine\n").unwrap();
    let ran = case.review(&["--record", folder.path().to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("is neither empty nor a recording"), "{}", ran.stderr);
    assert!(case.server.requests().is_empty());
}

#[test]
fn a_closed_stdout_does_not_change_the_exit_code_of_a_replay() {
    let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/persona-review");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(["review", "--replay"]).arg(recording).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
