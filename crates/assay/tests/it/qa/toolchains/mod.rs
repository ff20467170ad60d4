//! Small projects on the real tools of their languages: each has a defect that a rule finds, a
//! failing test and a criterion that is not met. All of them are fixed, and the project is
//! approved.
//!
//! Rust is always installed. Without another toolchain, its tests report that they were skipped.

mod javascript;
mod kept;
mod others;
mod python;

use std::fs;
use std::process::{Command, Stdio};

use assay_testenv::not_run;
use serde_json::Value;

use super::{PLAN, QaFixture, issues};

/// Files by path, with their text.
type Files<'a> = &'a [(&'a str, &'a str)];

/// A project with its faulty implementation and its fix.
struct Project<'a> {
    /// The files before the implementation.
    before: Files<'a>,
    /// The spec.
    spec: &'a str,
    /// The files of the faulty implementation.
    written: Vec<(&'a str, &'a str)>,
    /// The expected issues, each with its kind.
    wrong: [(&'a str, &'a str); 4],
    /// The files as the fixer writes them.
    fixed: Vec<(&'a str, &'a str)>,
}

impl Project<'_> {
    /// Runs the project from rejected to approved, then changes and commits it.
    fn goes_all_the_way(&self) {
        self.goes_on(&self.implemented());
    }

    fn goes_on(&self, fixture: &QaFixture) {
        self.is_rejected(fixture);
        self.is_fixed(fixture);
        Self::is_void_once_changed(fixture);
        Self::stays_approved_when_committed(fixture);
    }

    fn implemented(&self) -> QaFixture {
        let fixture = QaFixture::bare();
        for (path, text) in &self.fixed {
            let path = fixture.aside("mended").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let fixed = fixture.aside("mended");
        fixture.configure(&format!("cp -R '{}/.' .\necho 'mended it'\n", fixed.display()), "");
        let repository = &fixture.repository;
        self.before.iter().for_each(|(path, text)| repository.write(path, text));
        repository.commit("before");
        repository.write("specs/001-cart/spec.md", self.spec);
        repository.write("specs/001-cart/implementation_plan.json", PLAN);
        self.written.iter().for_each(|(path, text)| repository.write(path, text));
        fixture
    }

    fn is_rejected(&self, fixture: &QaFixture) {
        let ran = fixture.qa_with(&[], &[("MAX_QA_ITERATIONS", "1")]);
        assert_eq!(ran.code, 4, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(fixture.ending()["ending"], "too_many_rounds");
        let found = fixture.issues();
        let found: Vec<(&str, &str)> =
            found.iter().map(|(kind, title)| (kind.as_str(), title.as_str())).collect();
        assert_eq!(found, self.wrong, "{}{}", ran.stdout, fixture.artifact("qa_report.md"));
        let request = fixture.artifact("QA_FIX_REQUEST.md");
        assert!(self.wrong.iter().all(|(_, title)| request.contains(title)), "{request}");
    }

    fn is_fixed(&self, fixture: &QaFixture) {
        let ran = fixture.qa(&["--resume"]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        fixture.is_approved();
        let plan = fixture.plan();
        assert_eq!(plan["qa_signoff"]["tests_passed"]["unit"], true, "{plan:#}");
        assert_eq!(plan["qa_signoff"]["tests_passed"]["integration"], true, "{plan:#}");
        let history = plan["qa_iteration_history"].as_array().unwrap();
        let words: Vec<&Value> = history.iter().map(|entry| &entry["status"]).collect();
        assert_eq!(words, ["rejected", "rejected", "approved"]);
        assert_eq!(issues(&history[1]["issues"]).len(), self.wrong.len());
        // The approval is of a tree hash, which the journal, the report and the output name.
        let tree = fixture.events_of("review_begun").last().unwrap()["tree"].clone();
        let tree = tree.as_str().unwrap();
        assert!(!tree.is_empty() && ran.stdout.contains(&format!("(tree {tree})")));
        assert!(fixture.artifact("qa_report.md").contains(&format!("- Tree: {tree}\n")));
        let before = fixture.events().len();
        let again = fixture.qa(&[]);
        assert_eq!((again.code, fixture.events().len()), (0, before), "nothing was run");
        assert!(again.stdout.starts_with("APPROVED already"), "{}", again.stdout);
    }

    fn is_void_once_changed(fixture: &QaFixture) {
        let readme = fs::read_to_string(fixture.repository.file("README")).unwrap();
        fixture.repository.write("README", format!("{readme}\n"));
        let status = fixture.qa(&["--status", "--format", "json"]);
        assert_eq!(status.json()["status"], "pending", "{}", status.stdout);
        let ran = fixture.qa(&[]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(fixture.events_of("epoch_begun").last().unwrap()["why"], "changed");
        assert!(ran.stdout.contains("APPROVED after 1 round "), "{}", ran.stdout);
    }

    fn stays_approved_when_committed(fixture: &QaFixture) {
        fixture.repository.commit("all of it, with the papers");
        let listed = fixture.repository.git(&["ls-files", "specs"]);
        assert!(listed.contains("specs/001-cart/qa_journal.jsonl"), "{listed}");
        let status = fixture.qa(&["--status"]);
        assert!(status.stdout.contains("\nQA Status: APPROVED\n"), "{}", status.stdout);
        let ran = fixture.qa(&[]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.starts_with("APPROVED already"), "{}", ran.stdout);
        assert_eq!(fixture.repository.git(&["status", "--porcelain"]), "", "nothing was written");
    }
}

/// Returns true if a tool is installed; otherwise reports that a test was skipped.
pub(super) fn has(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    let ran = command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let found = ran.is_ok_and(|status| status.success());
    if !found {
        not_run::record(&format!("{program} is not there"));
    }
    found
}
