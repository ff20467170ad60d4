//! Small projects on the tools of their languages: each with a fault that a rule finds, a test that
//! fails and a criterion that is not met, has all of it fixed and is approved.
//!
//! Rust is always there. For the others a test says loudly that it did not run.

mod javascript;
mod kept;
mod others;
mod python;

use std::fs;
use std::process::{Command, Stdio};

use assay_testenv::not_run;
use serde_json::Value;

use super::{PLAN, Stage, issues};

/// Files with what is in them.
type Files<'a> = &'a [(&'a str, &'a str)];

/// A project.
struct Project<'a> {
    /// What was there before.
    before: Files<'a>,
    /// The spec.
    spec: &'a str,
    /// What was implemented, badly.
    written: Vec<(&'a str, &'a str)>,
    /// What is wrong with it, each with its kind.
    wrong: [(&'a str, &'a str); 4],
    /// What the fixer makes of it.
    mended: Vec<(&'a str, &'a str)>,
}

impl Project<'_> {
    /// Has it rejected, fixed and approved; changes it, and commits it.
    fn goes_all_the_way(&self) {
        self.goes_on(&self.implemented());
    }

    fn goes_on(&self, stage: &Stage) {
        self.is_rejected(stage);
        self.is_mended(stage);
        Self::is_void_once_changed(stage);
        Self::stays_approved_when_committed(stage);
    }

    fn implemented(&self) -> Stage {
        let stage = Stage::bare();
        for (path, text) in &self.mended {
            let path = stage.aside("mended").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mended = stage.aside("mended");
        stage.configure(&format!("cp -R '{}/.' .\necho 'mended it'\n", mended.display()), "");
        let repository = &stage.repository;
        self.before.iter().for_each(|(path, text)| repository.write(path, text));
        repository.commit("before");
        repository.write("specs/001-cart/spec.md", self.spec);
        repository.write("specs/001-cart/implementation_plan.json", PLAN);
        self.written.iter().for_each(|(path, text)| repository.write(path, text));
        stage
    }

    fn is_rejected(&self, stage: &Stage) {
        let ran = stage.qa_with(&[], &[("MAX_QA_ITERATIONS", "1")]);
        assert_eq!(ran.code, 4, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(stage.ending()["ending"], "too_many_rounds");
        let found = stage.issues();
        let found: Vec<(&str, &str)> =
            found.iter().map(|(kind, title)| (kind.as_str(), title.as_str())).collect();
        assert_eq!(found, self.wrong, "{}{}", ran.stdout, stage.paper("qa_report.md"));
        let request = stage.paper("QA_FIX_REQUEST.md");
        assert!(self.wrong.iter().all(|(_, title)| request.contains(title)), "{request}");
    }

    fn is_mended(&self, stage: &Stage) {
        let ran = stage.qa(&["--resume"]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        stage.is_approved();
        let plan = stage.plan();
        assert_eq!(plan["qa_signoff"]["tests_passed"]["unit"], true, "{plan:#}");
        assert_eq!(plan["qa_signoff"]["tests_passed"]["integration"], true, "{plan:#}");
        let history = plan["qa_iteration_history"].as_array().unwrap();
        let words: Vec<&Value> = history.iter().map(|entry| &entry["status"]).collect();
        assert_eq!(words, ["rejected", "rejected", "approved"]);
        assert_eq!(issues(&history[1]["issues"]).len(), self.wrong.len());
        // The approval is of a tree, which the journal, the report and the answer name.
        let tree = stage.events_of("review_begun").last().unwrap()["tree"].clone();
        let tree = tree.as_str().unwrap();
        assert!(!tree.is_empty() && ran.stdout.contains(&format!("(tree {tree})")));
        assert!(stage.paper("qa_report.md").contains(&format!("- Tree: {tree}\n")));
        let before = stage.events().len();
        let again = stage.qa(&[]);
        assert_eq!((again.code, stage.events().len()), (0, before), "nothing was run");
        assert!(again.stdout.starts_with("APPROVED already"), "{}", again.stdout);
    }

    fn is_void_once_changed(stage: &Stage) {
        let readme = fs::read_to_string(stage.repository.file("README")).unwrap();
        stage.repository.write("README", format!("{readme}\n"));
        let status = stage.qa(&["--status", "--format", "json"]);
        assert_eq!(status.json()["status"], "pending", "{}", status.stdout);
        let ran = stage.qa(&[]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(stage.events_of("epoch_begun").last().unwrap()["why"], "changed");
        assert!(ran.stdout.contains("APPROVED after 1 round "), "{}", ran.stdout);
    }

    fn stays_approved_when_committed(stage: &Stage) {
        stage.repository.commit("all of it, with the papers");
        let listed = stage.repository.git(&["ls-files", "specs"]);
        assert!(listed.contains("specs/001-cart/qa_journal.jsonl"), "{listed}");
        let status = stage.qa(&["--status"]);
        assert!(status.stdout.contains("\nQA Status: APPROVED\n"), "{}", status.stdout);
        let ran = stage.qa(&[]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.starts_with("APPROVED already"), "{}", ran.stdout);
        assert_eq!(stage.repository.git(&["status", "--porcelain"]), "", "nothing was written");
    }
}

/// Says whether a tool answers, and that a test did not run if it does not.
pub(super) fn has(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    let ran = command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let found = ran.is_ok_and(|status| status.success());
    if !found {
        not_run::record(&format!("{program} is not there"));
    }
    found
}
