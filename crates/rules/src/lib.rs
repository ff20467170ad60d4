//! The built-in reviewer: [`review`] holds every rule against the lines that a change adds.
//!
//! A rule is one entry in [`RULES`] and a module that knows how to see it. Rules look at text;
//! they raise nothing on lines that the change did not touch. [`redact`] takes secrets out of
//! anything that is to be shown or sent.

mod conflict;
mod debug;
mod focus;
mod secret;

use std::borrow::Cow;

use assay_change::Change;
use assay_change::diff::FileDiff;
use assay_findings::coverage::Coverage;
use assay_findings::grade::{Grade, Scheme};
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::vote::{AutofixClass, Lines, Owner, Replacement, Vote};

pub use secret::{redact, redacted_lines};

/// The name under which the rules report.
pub const REVIEWER: &str = "rules";

/// What a rule looks for and says.
#[derive(Debug)]
pub struct Rule {
    /// Its name, such as `secret/leaked-token`.
    pub id: &'static str,
    /// What it finds, in a few words.
    pub title: &'static str,
    /// What breaks.
    pub message: &'static str,
    /// How to fix it.
    pub fix: &'static str,
    /// How bad it is, as one of the seven levels.
    pub severity: &'static str,
    /// Of which kind it is.
    pub category: &'static str,
    look: fn(&FileDiff) -> Vec<Hit>,
}

/// All built-in rules.
pub const RULES: &[Rule] = &[
    Rule {
        id: "change/conflict-marker",
        title: "Conflict marker left in the file",
        message: "A merge was committed half done: both versions stand in the file, so it does not \
                  parse or does not mean what either side meant.",
        fix: "Keep one version and delete the markers.",
        severity: "CRITICAL",
        category: "correctness",
        look: conflict::look,
    },
    Rule {
        id: "secret/leaked-credential",
        title: "Credential in the code",
        message: "Whoever can read the repository can use it, and it stays in the history even \
                  after it is deleted here.",
        fix: "Revoke it, then read a new one from the environment or a secret store.",
        severity: "CRITICAL",
        category: "security",
        look: secret::look,
    },
    Rule {
        id: "test/focused",
        title: "Focused test switches the others off",
        message: "The runner skips every other test of the suite, so the build stays green \
                  whatever they would say.",
        fix: "Remove the focus before it is merged.",
        severity: "HIGH",
        category: "testing",
        look: focus::look,
    },
    Rule {
        id: "debug/breakpoint",
        title: "Breakpoint left in the code",
        message: "The program stops here and waits for somebody at a terminal who is not there.",
        fix: "Delete the line.",
        severity: "HIGH",
        category: "correctness",
        look: debug::look_for_breakpoints,
    },
    Rule {
        id: "debug/print",
        title: "Debug output left in the code",
        message: "It ends up in the logs and the output of everybody who runs this.",
        fix: "Delete the line.",
        severity: "LOW",
        category: "best_practices",
        look: debug::look_for_prints,
    },
];

/// A place where a rule fires.
struct Hit {
    line: u32,
    /// What is said besides the rule's message.
    note: Option<String>,
    /// The line as evidence, unless it holds what must not be repeated.
    quote: Option<String>,
    /// Whether deleting the line is a fix that cannot go wrong.
    deletable: bool,
}

/// Reviews a change with every rule, and counts what they looked at.
pub fn review(change: &Change) -> (Report, Coverage) {
    let mut report = Report::new(Reviewer::new(REVIEWER, ReviewerKind::Rules));
    let mut coverage = Coverage::default();
    for file in &change.files {
        match passed_over(file) {
            Passed::Over(why) => {
                report.remarks.not_covered.push(format!("{} ({why})", file.path()));
                *coverage.left_out.entry(why.to_owned()).or_default() += 1;
                continue;
            }
            Passed::Hidden(why) => {
                report.remarks.not_covered.push(format!("{} ({why})", file.path()));
                *coverage.failed.entry(why.to_owned()).or_default() += 1;
                continue;
            }
            // A file that was only renamed or emptied counts as one hunk.
            Passed::Not => coverage.text_only += file.hunks.len().max(1),
        }
        let Some(path) = file.new_path.as_deref().and_then(|p| RepoPath::exact(p).ok()) else {
            // What is deleted has no lines left to look at.
            continue;
        };
        for rule in RULES {
            report.votes.extend((rule.look)(file).into_iter().map(|hit| rule.vote(&path, hit)));
        }
    }
    (report, coverage)
}

/// Whether a file is looked at.
enum Passed {
    Not,
    /// There is nothing in it that a rule could read.
    Over(&'static str),
    /// It should be readable, and is not.
    Hidden(&'static str),
}

fn passed_over(file: &FileDiff) -> Passed {
    if file.is_submodule {
        Passed::Over("submodule")
    } else if file.is_binary && language(file.path()) != Language::Other {
        Passed::Hidden("source that is not text")
    } else if file.is_binary {
        Passed::Over("binary")
    } else {
        Passed::Not
    }
}

impl Rule {
    fn vote(&self, path: &RepoPath, hit: Hit) -> Vote {
        let grade = Grade::in_scheme(Scheme::Qa7, self.severity)
            .expect("a rule's severity is one of the seven levels");
        let mut vote = Vote::new(self.title, grade);
        vote.description = match hit.note {
            Some(note) => format!("{note} {}", self.message),
            None => self.message.to_owned(),
        };
        vote.rule = Some(self.id.to_owned());
        vote.file = Some(path.clone());
        vote.lines = Lines::at(hit.line);
        vote.category = Some(self.category.to_owned());
        vote.suggested_fix = Some(self.fix.to_owned());
        // A quote that would carry a secret along is not made.
        let quote = hit.quote.filter(|quote| matches!(redact(quote), Cow::Borrowed(_)));
        vote.evidence = quote.map(|quote| format!("`{quote}`")).into_iter().collect();
        if hit.deletable {
            vote.autofix_class = Some(AutofixClass::SafeAuto);
            vote.owner = Some(Owner::ReviewFixer);
            vote.replacement = vote.lines.map(|lines| Replacement::new(lines, ""));
        } else {
            vote.autofix_class = Some(AutofixClass::Manual);
            vote.owner = Some(Owner::DownstreamResolver);
        }
        vote
    }
}

/// Languages, as far as the rules tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Rust,
    Python,
    JavaScript,
    Ruby,
    Php,
    Other,
}

fn language(path: &str) -> Language {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("rs") => Language::Rust,
        Some("py" | "pyi") => Language::Python,
        Some("js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte") => {
            Language::JavaScript
        }
        Some("rb") => Language::Ruby,
        Some("php") => Language::Php,
        _ => Language::Other,
    }
}

/// Says whether a line is a comment as a whole.
fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("//")
        || line.starts_with('#')
        || line.starts_with('*')
        || line.starts_with("/*")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(path: &str, added: &str, expected: Expect) {
        let count = added.lines().count();
        let body: String = added.lines().map(|line| format!("+{line}\n")).collect();
        let diff = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{count} @@\n{body}");
        let files = assay_change::diff::parse(diff.as_bytes());
        let mut shown: Vec<String> = RULES
            .iter()
            .flat_map(|rule| {
                (rule.look)(&files[0]).into_iter().map(|hit| format!("{} {}", hit.line, rule.id))
            })
            .collect();
        shown.sort();
        expected.assert_eq(&shown.join("\n"));
    }

    #[test]
    fn conflict_markers_are_seen_once_for_each_conflict() {
        check(
            "src/a.rs",
            "fn f() {\n<<<<<<< HEAD\n    1\n=======\n    2\n>>>>>>> branch\n}",
            expect!["2 change/conflict-marker"],
        );
    }

    #[test]
    fn an_underlined_heading_is_no_conflict() {
        check("docs/a.md", "Title\n=======\n\n    <<<<<<< shown in a manual", expect![""]);
    }

    #[test]
    fn focused_tests_are_seen_in_code_and_not_in_comments() {
        check(
            "web/a.test.ts",
            "describe.only('x', () => {\n  it('y', () => {});\n  // it.only('z')\n  fit('w', () => {});\n  list.only('q');\n});",
            expect![[r#"
                1 test/focused
                4 test/focused"#]],
        );
    }

    #[test]
    fn breakpoints_and_debug_prints_are_seen() {
        check(
            "a.py",
            "import pdb; pdb.set_trace()\nbreakpoint()\nprint('DEBUG', x)\nprint('hello')",
            expect![[r#"
            1 debug/breakpoint
            2 debug/breakpoint
            3 debug/print"#]],
        );
        check(
            "a.js",
            "debugger;\nconsole.log('DEBUG', x)\nconsole.log('click here')",
            expect![[r#"
            1 debug/breakpoint
            2 debug/print"#]],
        );
        check(
            "a.rs",
            "    dbg!(&x);\n    // dbg!(y);\n    let z = dbg!(w);",
            expect![[r#"
            1 debug/print
            3 debug/print"#]],
        );
    }

    #[test]
    fn credentials_are_seen_and_examples_are_not() {
        let token = ["ghp", "_R4nd0mT0kenV4lueWithEnoughEntropy12ab"].concat();
        check("a.py", &format!("TOKEN = \"{token}\""), expect!["1 secret/leaked-credential"]);
        check(
            "a.py",
            "KEY = \"AKIAIOSFODNN7EXAMPLE\"\nTOKEN = os.environ[\"GITHUB_TOKEN\"]\nx = \"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
            expect![""],
        );
    }
}
