//! Kept tests: ways to a false approval that change the tests instead of the code, all of which are
//! refused with the reason, and honest ways to change tests, which are approved.
//!
//! A row is a project on the main branch, the edits of the branch, and the edits of the fixer.

mod go;
mod javascript;
mod manifests;
mod packages;
mod python;
mod results;
mod rust;
mod scripts;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::super::{PLAN, QaFixture};
use super::has;

/// The prefix of the text of a file that is a symbolic link; the target of the link follows.
const LINK: &str = "link to ";

/// A file with its text; `None` for a deleted file.
type Edit<'a> = (&'a str, Option<&'a str>);

/// A project with the edits of its branch and its fixer.
struct Row<'a> {
    /// The case that the row shows.
    name: &'a str,
    /// The main branch.
    main: &'a [(&'a str, &'a str)],
    /// The edits of the branch.
    branch: &'a [Edit<'a>],
    /// The edits of the fixer.
    fixer: &'a [Edit<'a>],
    /// The criteria, one per line.
    criteria: &'a str,
    /// The test command.
    command: &'a str,
}

impl Row<'_> {
    fn fixture(&self) -> QaFixture {
        let fixture = QaFixture::bare();
        fixture.configure(&self.fixer_script(&fixture), "");
        let repository = &fixture.repository;
        self.main.iter().for_each(|(path, text)| write(&fixture, path, text));
        repository.commit("main");
        repository.git(&["switch", "--quiet", "--create", "work"]);
        for (path, text) in self.branch {
            match text {
                Some(text) => write(&fixture, path, text),
                None => repository.remove(path),
            }
        }
        let spec = format!(
            "# Work\n\n## Acceptance Criteria\n\n{}\n\n## Verification\n\n**Unit Tests:**\n- `{}` - All pass\n",
            self.criteria, self.command
        );
        repository.write("specs/001-work/spec.md", spec);
        repository.write("specs/001-work/implementation_plan.json", PLAN);
        repository.commit("work");
        fixture
    }

    fn fixer_script(&self, fixture: &QaFixture) -> String {
        let mut script = String::new();
        for (number, (path, text)) in self.fixer.iter().enumerate() {
            let from = fixture.aside(&format!("fix-{number}"));
            match text {
                Some(text) => {
                    fs::write(&from, text).unwrap();
                    let folder = Path::new(path).parent().unwrap().display();
                    script.push_str(&format!(
                        "mkdir -p './{folder}'; cp '{}' '{path}'\n",
                        from.display()
                    ));
                }
                None => script.push_str(&format!("rm -f '{path}'\n")),
            }
        }
        script + "echo done\n"
    }

    /// Asserts that the row is not approved, and that an issue has the title and the reason.
    fn is_refused(&self, title: &str, reason: &str) {
        self.is_refused_in(&self.fixture(), title, reason);
    }

    fn is_refused_in(&self, fixture: &QaFixture, title: &str, reason: &str) {
        let before = files(fixture);
        let rounds = if self.fixer.is_empty() { "1" } else { "2" };
        let ran = fixture.qa_with(&[], &[("MAX_QA_ITERATIONS", rounds)]);
        let name = self.name;
        assert_eq!(ran.code, 4, "{name}: {}{}", ran.stdout, ran.stderr);
        assert!(!ran.stdout.contains("APPROVED"), "{name}: {}", ran.stdout);
        let issues = fixture.issues();
        assert!(issues.iter().any(|(_, it)| it == title), "{name}: {issues:#?}\n{}", ran.stdout);
        let report = fixture.artifact("qa_report.md");
        assert!(report.replace('\\', "").contains(reason), "{name}: {reason}\n{report}");
        if self.fixer.is_empty() {
            assert_eq!(files(fixture), before, "{name}: the work tree is as it was");
        }
    }

    /// Asserts that the row is approved.
    fn is_approved(&self) -> QaFixture {
        let fixture = self.fixture();
        let before = files(&fixture);
        let ran = fixture.qa_with(&[], &[("MAX_QA_ITERATIONS", "2")]);
        let name = self.name;
        assert_eq!(ran.code, 0, "{name}: {}{}\n{:#?}", ran.stdout, ran.stderr, fixture.issues());
        fixture.is_approved();
        if self.fixer.is_empty() {
            assert_eq!(files(&fixture), before, "{name}: the work tree is as it was");
        }
        fixture
    }
}

/// Writes a file or a symbolic link.
fn write(fixture: &QaFixture, path: &str, text: &str) {
    let Some(target) = text.strip_prefix(LINK) else {
        fixture.repository.write(path, text);
        return;
    };
    let link = fixture.repository.file(path);
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    // The link may replace a file.
    let _ = fs::remove_file(&link);
    symlink(target, link).unwrap();
}

/// Returns git's status of the work tree, without the loop's artifacts.
fn files(fixture: &QaFixture) -> String {
    fixture.repository.git(&["status", "--porcelain", "--", ":!specs"])
}
