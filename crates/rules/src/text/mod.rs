//! Rules on the text of added lines, in any language.

mod conflict;
mod dockerfile;
pub(crate) mod injection;
mod secret;
mod sql_migration;
mod template;

use std::cell::OnceCell;
use std::ops::Range;

use assay_findings::vote::LineRange;

use crate::code_lines::{CodeLines, is_program};
use crate::credentials::{Credential, scan};
use crate::language;
use crate::rule_match::RuleMatch;
use crate::rule_text::RuleText;
use crate::syntax::Syntax;

/// The lines that a change adds to a file.
pub(crate) struct AddedLines<'t> {
    pub(crate) path: &'t str,
    /// The text of the whole file.
    pub(crate) text: &'t str,
    /// The added lines, each with its number and without its line end.
    pub(crate) lines: Vec<(u32, &'t str)>,
    /// All lines of the file.
    pub(crate) all: Vec<&'t str>,
    credentials: OnceCell<Vec<Credential>>,
    test_modules: OnceCell<Vec<LineRange>>,
    comments: OnceCell<Vec<String>>,
    docstrings: OnceCell<Vec<Range<usize>>>,
}

impl<'t> AddedLines<'t> {
    /// Selects the added lines of a file.
    pub(crate) fn new(
        path: &'t str,
        text: &'t str,
        added: impl Iterator<Item = LineRange>,
    ) -> Self {
        let all: Vec<&str> = text.lines().collect();
        let numbers = added.flat_map(|lines| lines.start()..=lines.end());
        let lines = numbers.filter_map(|number| Some((number, *all.get(number as usize - 1)?)));
        let lines = lines.collect();
        AddedLines {
            path,
            text,
            lines,
            all,
            credentials: OnceCell::new(),
            test_modules: OnceCell::new(),
            comments: OnceCell::new(),
            docstrings: OnceCell::new(),
        }
    }

    /// Returns the credentials of the whole file.
    fn credentials(&self) -> &[Credential] {
        self.credentials.get_or_init(|| match self.lines.is_empty() {
            true => Vec::new(),
            false => scan(self.text),
        })
    }

    /// Returns the comment on each line of a program; nothing for data and configuration, whose
    /// comments hold values that were in use.
    fn comments(&self) -> &[String] {
        self.comments.get_or_init(|| {
            let is_program = is_program(self.path) || self.path.ends_with(".rb");
            let lines = CodeLines::of(self.path, self.text).filter(|_| is_program);
            lines.map(|lines| lines.comments).unwrap_or_default()
        })
    }

    /// Returns the places of the texts that document a module, a class or a function of Python.
    fn docstrings(&self) -> &[Range<usize>] {
        self.docstrings.get_or_init(|| {
            let is_python = self.path.ends_with(".py");
            let syntax = is_python.then(|| Syntax::of(self.path, self.text)).flatten();
            syntax.map(|syntax| syntax.docstrings()).unwrap_or_default()
        })
    }

    /// Returns the number of the line that contains a byte of the file.
    fn line_of(&self, at: usize) -> u32 {
        let start = |line: &&str| line.as_ptr() as usize - self.text.as_ptr() as usize;
        self.all.partition_point(|line| start(line) <= at) as u32
    }

    /// Returns the offset of the first byte of a line.
    fn start_of(&self, line: u32) -> usize {
        let line = line.checked_sub(1).and_then(|at| self.all.get(at as usize));
        line.map_or(0, |line| line.as_ptr() as usize - self.text.as_ptr() as usize)
    }

    /// Returns true if a line belongs to a test.
    fn is_test(&self, line: u32) -> bool {
        language::is_test(self.path)
            || self
                .test_modules
                .get_or_init(|| language::test_modules(self.path, &self.all))
                .iter()
                .any(|module| module.start() <= line && line <= module.end())
    }

    /// Returns true if the change adds a line.
    fn has(&self, line: u32) -> bool {
        self.lines.binary_search_by_key(&line, |(number, _)| *number).is_ok()
    }

    /// Returns the added lines, with `around` lines before and after each.
    fn with_surroundings(&self, around: usize) -> Vec<(u32, &'t str)> {
        let mut lines = Vec::with_capacity(self.lines.len());
        let mut next = 0;
        for (number, _) in &self.lines {
            let at = *number as usize - 1;
            let end = (at + around + 1).min(self.all.len());
            let start = at.saturating_sub(around).max(next);
            lines.extend((start..end).map(|at| (at as u32 + 1, self.all[at])));
            next = next.max(end);
        }
        lines
    }
}

/// A rule on text.
pub(crate) struct TextRule {
    pub(crate) rule_text: RuleText,
    pub(crate) find: fn(&AddedLines<'_>) -> Vec<RuleMatch>,
}

/// All rules on text.
pub(crate) const RULES: &[TextRule] = &[
    TextRule {
        rule_text: RuleText {
            id: "change/conflict-marker",
            grade: "CRITICAL",
            category: "correctness",
            title: "Conflict marker left in the file",
            message: "A merge was committed half done: both versions are in the file, so it does \
                      not parse or does not do what either side intended.",
            advice: "Keep one version and delete the markers.",
        },
        find: conflict::find,
    },
    TextRule {
        rule_text: RuleText {
            id: "secret/leaked-credential",
            grade: "CRITICAL",
            category: "security",
            title: "Credential in the code",
            message: "Everyone who can read the repository can use the credential, and it stays in \
                      the history after it is deleted here.",
            advice: "Revoke the credential, then read a new one from the environment or a secret \
                     store.",
        },
        find: secret::certain,
    },
    TextRule {
        rule_text: RuleText {
            id: "secret/test-key",
            grade: "LOW",
            category: "security",
            title: "Private key of a test or an example",
            message: "A private key is part of a test, an example or a document. If a service uses \
                      the key, everyone who can read the repository can use it, too.",
            advice: "Make sure that no service uses the key, or make the key when the test runs.",
        },
        find: secret::test_key,
    },
    TextRule {
        rule_text: RuleText {
            id: "secret/hard-coded-password",
            grade: "HIGH",
            category: "security",
            title: "Password or key written into the code",
            message: "Everyone who can read the code has the password or key, and changing it \
                      requires a new release.",
            advice: "Read it from the environment or a secret store.",
        },
        find: secret::likely,
    },
    TextRule {
        rule_text: RuleText {
            id: "secret/possible-password",
            grade: "MEDIUM",
            category: "security",
            title: "Value that looks like a password",
            message: "The name or the position of the value is that of a password. If it is a \
                      password, everyone who can read the code has it.",
            advice: "Read it from the environment or a secret store.",
        },
        find: secret::possible,
    },
    TextRule {
        rule_text: RuleText {
            id: "template/request-unescaped",
            grade: "HIGH",
            category: "security",
            title: "Template inserts a value of a request without escaping",
            message: "The value can hold a script, which runs in the browser of the user \
                      (cross-site scripting).",
            advice: "Let the template escape the value, or clean the value by a sanitizer for HTML.",
        },
        find: template::from_request,
    },
    TextRule {
        rule_text: RuleText {
            id: "template/unescaped-value",
            grade: "LOW",
            category: "security",
            title: "Template inserts a value without escaping",
            message: "If users can write the value, a script in it runs in the browsers of others \
                      (cross-site scripting).",
            advice: "Let the template escape the value, or clean the value by a sanitizer for HTML.",
        },
        find: template::unescaped,
    },
    TextRule {
        rule_text: RuleText {
            id: "docker/unchecked-download",
            grade: "LOW",
            category: "supply_chain",
            title: "File is added from the internet without a checksum",
            message: "Who controls the server, or the way to it, chooses what is built into the image.",
            advice: "Use `ADD --checksum=sha256:…`.",
        },
        find: dockerfile::unchecked_download,
    },
    TextRule {
        rule_text: RuleText {
            id: "docker/tls-unchecked",
            grade: "HIGH",
            category: "security",
            title: "Image does not check TLS certificates",
            message: "Every program in the image accepts every certificate, so anyone on the way \
                      can answer in the server's place.",
            advice: "Remove the variable, and add the authority of the server to the image.",
        },
        find: dockerfile::unchecked_certificates,
    },
    TextRule {
        rule_text: RuleText {
            id: "migration/drops-data",
            grade: "MEDIUM",
            category: "reliability",
            title: "Migration deletes data",
            message: "The data of the column or the table is gone, also if the release is rolled \
                      back, and servers of the old release fail while both run.",
            advice: "Stop the use of the column in one release, and delete it in a later one.",
        },
        find: sql_migration::dropped_data,
    },
    TextRule {
        rule_text: RuleText {
            id: "migration/not-null-without-default",
            grade: "MEDIUM",
            category: "reliability",
            title: "Column may not be empty and has no value for existing rows",
            message: "The migration fails on a table that has rows.",
            advice: "Add a default, or add the column without `NOT NULL`, fill it, and add the \
                     constraint afterwards.",
        },
        find: sql_migration::column_without_value,
    },
    TextRule {
        rule_text: RuleText {
            id: "migration/index-locks-table",
            grade: "LOW",
            category: "performance",
            title: "Index is built while the table is locked",
            message: "PostgreSQL lets no one write to the table until the index is complete.",
            advice: "Use `CREATE INDEX CONCURRENTLY`, outside of a transaction.",
        },
        find: sql_migration::locking_index,
    },
    TextRule { rule_text: injection::RULE_TEXT, find: injection::find },
];
