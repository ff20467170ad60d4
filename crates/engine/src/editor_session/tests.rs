//! Tests of the session: its findings are those of a review of the same texts.

use std::fs;

use assay_base::clock::Clock;
use assay_change::tree::UnsavedTexts;
use assay_findings::path::RepoPath;
use assay_testkit::Repository;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const CODE: &str = "def total(prices):\n    return sum(prices)\n";

fn path(name: &str) -> RepoPath {
    RepoPath::exact(name).unwrap()
}

fn texts(files: &[(&str, &str)]) -> UnsavedTexts {
    files.iter().map(|(name, text)| (path(name), (*text).into())).collect()
}

fn environment(repository: &Repository) -> Environment {
    let home = repository.state_home().to_str().unwrap().to_owned();
    Environment::new([("XDG_STATE_HOME".to_owned(), home)], &Clock::system(), Vec::new)
}

fn repository() -> Repository {
    let repository = Repository::new();
    repository.write("shop.py", CODE);
    repository.write("other.py", CODE);
    repository.commit("shop");
    repository
}

fn session(repository: &Repository) -> EditorSession {
    let settings = EditorSettings::default();
    EditorSession::new(&environment(repository), repository.path(), settings).unwrap()
}

fn line(finding: &Finding) -> String {
    let rule = finding.rule.as_deref().unwrap_or("-");
    format!("{} {rule} {}", finding.place().unwrap_or_default(), finding.severity)
}

/// Returns the findings of a session, a line for each.
fn found(session: &mut EditorSession, unsaved: &UnsavedTexts) -> Vec<String> {
    let review = session.review(unsaved).unwrap();
    let all = review.files.values().flat_map(|file| &file.findings);
    let mut lines: Vec<String> = all.map(|found| line(&found.finding)).collect();
    lines.sort();
    lines
}

/// Returns the findings of a full review of the saved files that name a file, a line for each.
fn reviewed(repository: &Repository) -> Vec<String> {
    let models = ModelOptions::without_models();
    let options = ReviewOptions {
        models: &models,
        cache_policy: CachePolicy::Off,
        model_session: None,
        also: None,
    };
    let (scope, selection) = (Scope::Automatic, Selection::default());
    let environment = environment(repository);
    let session =
        ReviewSession::open(&environment, repository.path(), &scope, &selection, options).unwrap();
    let synthesis = session.review_without_progress(ReviewMode::ReportOnly).synthesis;
    let mut lines: Vec<String> =
        synthesis.findings.iter().filter(|finding| finding.file.is_some()).map(line).collect();
    lines.sort();
    lines
}

#[test]
fn unsaved_text_is_reviewed_instead_of_its_file() {
    let repository = repository();
    let mut session = session(&repository);
    assert!(found(&mut session, &UnsavedTexts::new()).is_empty());
    let text = CODE.replace("    return", "    breakpoint()\n    return");
    let unsaved = texts(&[("shop.py", &text)]);
    let now = found(&mut session, &unsaved);
    assert_eq!(now, ["shop.py:2 python/debugger HIGH"]);
    assert!(found(&mut session, &UnsavedTexts::new()).is_empty());
    repository.write("shop.py", text);
    session.reload();
    assert_eq!(found(&mut session, &UnsavedTexts::new()), now);
}

#[test]
fn only_changed_lines_have_findings() {
    let repository = repository();
    repository.write("shop.py", format!("{CODE}\n\ndef old():\n    breakpoint()\n"));
    repository.commit("old");
    let text = format!("{CODE}\n\ndef old():\n    breakpoint()\n    return 1\n");
    assert!(found(&mut session(&repository), &texts(&[("shop.py", &text)])).is_empty());
}

#[test]
fn a_suppression_and_an_exclusion_hold_for_unsaved_text() {
    let repository = repository();
    let broken = "def total(prices):\n    breakpoint()\n    return 1\n";
    let with_comment = broken.replace(
        "breakpoint()",
        "breakpoint()  # assay: ignore python/debugger used by the tutorial",
    );
    let mut session = session(&repository);
    assert!(found(&mut session, &texts(&[("shop.py", &with_comment)])).is_empty());
    repository.write(crate::config::PATH, "review:\n  ignore: ['other.*']\n");
    repository.commit("settings");
    let review = session.review(&texts(&[("other.py", broken), ("shop.py", broken)])).unwrap();
    let other = &review.files[&path("other.py")];
    assert_eq!(other.excluded.as_deref(), Some("ignored by `other.*`"));
    assert!(other.findings.is_empty());
    assert_eq!(review.files[&path("shop.py")].findings.len(), 1);
}

#[test]
fn a_change_does_not_configure_its_own_review() {
    let repository = repository();
    let broken = "def total(prices):\n    breakpoint()\n    return 1\n";
    let settings = "review:\n  ignore: ['*.py']\n";
    repository.write(crate::config::PATH, "review: {}\n");
    repository.commit("settings");
    let unsaved = texts(&[("shop.py", broken), (crate::config::PATH, settings)]);
    let mut session = session(&repository);
    assert_eq!(found(&mut session, &unsaved), ["shop.py:2 python/debugger HIGH"]);
    let notes = session.review(&unsaved).unwrap().notes;
    assert!(notes[0].starts_with("the change modifies the configuration"), "{notes:?}");
}

#[test]
fn a_severity_hides_lesser_findings() {
    let repository = repository();
    let broken = "def total(prices):\n    breakpoint()\n    return 1\n";
    let mut session = session(&repository);
    let grade = crate::config::severity::parse_severity("CRITICAL").unwrap();
    session.set_settings(EditorSettings { severity: Some(grade), ..EditorSettings::default() });
    assert!(found(&mut session, &texts(&[("shop.py", broken)])).is_empty());
}

#[test]
fn a_fix_applies_to_the_text_that_was_reviewed_and_to_no_other() {
    let repository = repository();
    let broken = "def total(prices):\r\n    breakpoint()\r\n    return 1\r\n";
    let review = session(&repository).review(&texts(&[("shop.py", broken)])).unwrap();
    let findings = &review.files[&path("shop.py")].findings;
    let edit = text_fix::edit_safe(&path("shop.py"), broken, findings).unwrap();
    let fixed =
        format!("{}{}{}", &broken[..edit.range.start], edit.text, &broken[edit.range.end..]);
    assert_eq!(fixed, "def total(prices):\r\n    return 1\r\n");
    let later = format!("{broken}# more\r\n");
    assert_eq!(text_fix::edit_safe(&path("shop.py"), &later, findings), None);
}

#[test]
fn a_dismissed_finding_is_not_shown_and_its_history_is_explained() {
    let repository = repository();
    repository.write("shop.py", "def total(prices):\n    breakpoint()\n    return 1\n");
    let mut session = session(&repository);
    let review = session.review(&UnsavedTexts::new()).unwrap();
    let finding = review.files[&path("shop.py")].findings[0].finding.clone();
    let explanation = session.explain(&finding).unwrap();
    assert!(explanation.contains("No stored review has this finding yet"), "{explanation}");
    let empty = session.dismiss(&finding, "ada", "  ", &UnsavedTexts::new());
    assert!(empty.is_err());
    session.dismiss(&finding, "ada", "used by the tutorial", &UnsavedTexts::new()).unwrap();
    assert!(found(&mut session, &UnsavedTexts::new()).is_empty());
    let explanation = session.explain(&finding).unwrap();
    assert!(
        explanation.contains("dismissed by ada") && explanation.contains("used by the tutorial"),
        "{explanation}"
    );
    let run = session.review(&UnsavedTexts::new()).unwrap().last_run.unwrap();
    assert_eq!((run.verdict, run.summary.as_str()), ("not ready", "1 finding: 1 HIGH"));
}

#[test]
fn a_finding_in_unsaved_text_without_a_stored_review_cannot_be_dismissed() {
    let repository = repository();
    let unsaved = texts(&[("shop.py", "def total(prices):\n    breakpoint()\n    return 1\n")]);
    let mut session = session(&repository);
    let review = session.review(&unsaved).unwrap();
    let finding = review.files[&path("shop.py")].findings[0].finding.clone();
    let error = session.dismiss(&finding, "ada", "fine", &unsaved).unwrap_err();
    assert!(error.to_string().contains("`shop.py` has unsaved text; save the file"), "{error}");
    assert!(session.review(&unsaved).unwrap().last_run.is_none(), "nothing was stored");
}

#[test]
fn a_folder_without_a_repository_has_no_session() {
    let folder = tempfile::tempdir().unwrap();
    let settings = EditorSettings::default();
    assert!(EditorSession::new(&Environment::default(), folder.path(), settings).is_err());
}

#[test]
fn an_unknown_base_fails_with_its_name() {
    let repository = repository();
    let mut session = session(&repository);
    session.set_settings(EditorSettings { base: Some("nope".into()), ..Default::default() });
    let error = session.review(&UnsavedTexts::new()).unwrap_err();
    assert!(format!("{error:#}").contains("nope"), "{error:#}");
}

/// A repository whose analyser reports the lines that contain `slow`.
fn with_analyser() -> Repository {
    let repository = repository();
    let settings = "review:\n  commands:\n    - name: speed\n      run: [\"sh\", \"speed.sh\", \"{files}\"]\n      form: rdjsonl\n      files: [\"*.py\"]\n";
    let script = r#"for file; do
  grep -n slow "$file" | while IFS=: read -r line code; do
    printf '{"message":"Slow call","location":{"path":"%s","range":{"start":{"line":%s}}},"severity":"ERROR","code":{"value":"slow"}}\n' "$file" "$line"
  done
done
"#;
    repository.write(crate::config::PATH, settings);
    repository.write("speed.sh", script);
    repository.commit("analyser");
    repository
}

#[test]
fn a_stored_finding_moves_with_its_code_and_disappears_with_it() {
    let repository = with_analyser();
    let code = "def total(prices):\n    slow(prices)\n    return 1\n";
    repository.write("shop.py", code);
    let mut session = session(&repository);
    assert!(found(&mut session, &UnsavedTexts::new()).is_empty(), "analysers do not run");
    session.store_review(&Shutdown::default()).unwrap();
    let at = |session: &mut EditorSession, text: &str| found(session, &texts(&[("shop.py", text)]));
    assert_eq!(found(&mut session, &UnsavedTexts::new()), ["shop.py:2 speed/slow HIGH"]);
    assert_eq!(at(&mut session, &format!("# one\n# two\n{code}")), ["shop.py:4 speed/slow HIGH"]);
    assert!(at(&mut session, &code.replace("slow(prices)", "quick(prices)")).is_empty());
    let review = session.review(&UnsavedTexts::new()).unwrap();
    let shown = &review.files[&path("shop.py")].findings[0];
    assert_eq!(shown.source, FindingSource::StoredReview);
    session.dismiss(&shown.finding.clone(), "ada", "measured", &UnsavedTexts::new()).unwrap();
    assert!(found(&mut session, &UnsavedTexts::new()).is_empty());
}

/// Lines that edits insert, some of which have findings.
const LINES: [&str; 9] = [
    "    breakpoint()\n",
    "    pdb.set_trace()\n",
    "import os\n",
    "def f(name):\n",
    "    os.system(f\"rm {name}\")\n",
    "    return 1\n",
    "    breakpoint()  # assay: ignore python/debugger shown in the tutorial\n",
    "api_key = \"AKIA4HQ7ZKXN2MWPTRVD\"\n",
    "\n",
];

/// Inserts or deletes a line.
fn edit(text: &str, (at, line, deletes): (usize, usize, bool)) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = at.min(lines.len());
    match deletes && at < lines.len() {
        true => drop(lines.remove(at)),
        false => lines.insert(at, LINES[line]),
    }
    lines.concat()
}

/// An edit: true for the first of two files, the place, the line to insert, true to delete.
type Edit = (bool, usize, usize, bool);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    vec((any::<bool>(), 0..12usize, 0..LINES.len(), any::<bool>()), 1..5)
}

proptest! {
    // Each case has five sequences of edits.
    #![proptest_config(ProptestConfig {
        cases: assay_testenv::cases(10), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn any_edits_give_the_same_findings_as_a_review_of_the_saved_texts(
        sequences in prop::array::uniform5(edits()),
    ) {
        let repository = repository();
        let names = ["shop.py", "other.py"];
        for name in names {
            repository.write(name, format!("{CODE}\n\nADDED = 1\n"));
        }
        let mut session = session(&repository);
        let mut unsaved = UnsavedTexts::new();
        for sequence in sequences {
            for (is_first, at, line, deletes) in sequence {
                let name = names[usize::from(is_first)];
                let on_disk = || fs::read_to_string(repository.path().join(name)).unwrap();
                let now = unsaved.get(&path(name)).map_or_else(on_disk, |text| text.to_string());
                unsaved.insert(path(name), edit(&now, (at, line, deletes)).into());
                found(&mut session, &unsaved);
            }
            let typed = found(&mut session, &unsaved);
            let before = save(&repository, &unsaved);
            prop_assert_eq!(typed, reviewed(&repository));
            save(&repository, &before);
        }
    }
}

/// Writes texts to their files, and returns the texts before.
fn save(repository: &Repository, texts: &UnsavedTexts) -> UnsavedTexts {
    let save = |(path, text): (&RepoPath, &std::sync::Arc<str>)| {
        let before = fs::read_to_string(repository.path().join(path.as_str())).unwrap();
        repository.write(path.as_str(), text.as_bytes());
        (path.clone(), before.into())
    };
    texts.iter().map(save).collect()
}
