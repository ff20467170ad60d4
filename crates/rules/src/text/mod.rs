//! Rules over the text of added lines, whatever the language.

mod conflict;
pub(crate) mod injection;
pub(crate) mod password;
pub(crate) mod secret;

use assay_findings::vote::Lines;

use crate::hit::Hit;
use crate::wording::Wording;

/// The lines that a change adds to a file.
pub(crate) struct Added<'t> {
    pub(crate) path: &'t str,
    /// Each with its number and without its end.
    pub(crate) lines: Vec<(u32, &'t str)>,
    /// All lines of the file.
    pub(crate) all: Vec<&'t str>,
}

impl<'t> Added<'t> {
    /// Takes the added lines out of a file.
    pub(crate) fn new(path: &'t str, text: &'t str, added: impl Iterator<Item = Lines>) -> Self {
        let all: Vec<&str> = text.lines().collect();
        let numbers = added.flat_map(|lines| lines.start()..=lines.end());
        let lines = numbers.filter_map(|number| Some((number, *all.get(number as usize - 1)?)));
        let lines = lines.collect();
        Added { path, lines, all }
    }

    /// Gives the lines, and so many before and behind each that were there already.
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

/// A rule over text.
pub(crate) struct TextRule {
    pub(crate) wording: Wording,
    pub(crate) look: fn(&Added<'_>) -> Vec<Hit>,
}

/// All of them.
pub(crate) const RULES: &[TextRule] = &[
    TextRule {
        wording: Wording {
            id: "change/conflict-marker",
            grade: "CRITICAL",
            category: "correctness",
            title: "Conflict marker left in the file",
            message: "A merge was committed half done: both versions stand in the file, so it does \
                      not parse or does not mean what either side meant.",
            advice: "Keep one version and delete the markers.",
        },
        look: conflict::look,
    },
    TextRule {
        wording: Wording {
            id: "secret/leaked-credential",
            grade: "CRITICAL",
            category: "security",
            title: "Credential in the code",
            message: "Whoever can read the repository can use it, and it stays in the history even \
                      after it is deleted here.",
            advice: "Revoke it, then read a new one from the environment or a secret store.",
        },
        look: secret::look,
    },
    TextRule {
        wording: Wording {
            id: "secret/hard-coded-password",
            grade: "MEDIUM",
            category: "security",
            title: "Password or key written into the code",
            message: "Everybody who reads the code has it, and changing it takes a new release.",
            advice: "Read it from the environment or a secret store.",
        },
        look: password::look,
    },
    TextRule { wording: injection::WORDING, look: injection::look },
];
