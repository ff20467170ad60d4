//! The depth of a review: [`Depth`], by the size of a change and the risks that its paths name.

use assay_change::Change;
use assay_change::diff::Content;

/// The number of executable lines from which on a change is not small.
const SMALL_CHANGE_LINES: usize = 40;

/// Risks, and the words in paths that indicate them, whatever the size of the change.
const RISKS: &[(&str, &[&str])] = &[
    (
        "authentication",
        &[
            "auth", "authentication", "authorization", "login", "session", "oauth", "jwt",
            "password", "permissions",
        ],
    ),
    ("cryptography", &["crypto", "cipher", "encryption", "signature", "tls"]),
    ("data migration", &["migration", "migrations", "migrate", "alembic"]),
    ("money", &["payment", "payments", "billing", "invoice", "invoices", "checkout"]),
    ("build and release", &["workflows", "dockerfile", "deploy", "release"]),
    ("concurrency", &["mutex", "lock", "thread", "threads", "scheduler", "queue"]),
];

/// The depth of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The change is small and touches no risk.
    Lite,
    /// Any other change, also one whose size cannot be counted.
    Full,
}

/// Returns the depth of the review of a change, and the reason.
pub(crate) fn depth(change: &Change) -> (Depth, String) {
    let lines: usize = assay_rules::executable_lines(change).into_iter().map(|(_, n)| n).sum();
    let counted = format!("{lines} executable {}", if lines == 1 { "line" } else { "lines" });
    if let Some((risk, path)) = risks(change).next() {
        return (Depth::Full, format!("{counted}; {path} touches {risk}"));
    }
    if let Some(file) = change.files.iter().find(|file| file.content != Content::Text) {
        return (Depth::Full, format!("{counted}; the lines of {} cannot be counted", file.path()));
    }
    let depth = if lines < SMALL_CHANGE_LINES { Depth::Lite } else { Depth::Full };
    (depth, format!("{counted}, no risk signal"))
}

/// Returns the risks that the paths of a change name, each with its path.
pub(crate) fn risks(change: &Change) -> impl Iterator<Item = (&'static str, &str)> {
    change.files.iter().map(|file| file.path()).flat_map(|path| {
        let words = words(path);
        let named = move |signs: &&[&str]| signs.iter().any(|s| words.iter().any(|w| w == s));
        RISKS.iter().filter(move |(_, signs)| named(signs)).map(move |(risk, _)| (*risk, path))
    })
}

/// Splits a path into its words: `src/userLogin_test.py` has `user` and `login`.
fn words(path: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_is_lower = false;
    for c in path.chars() {
        let starts = c.is_uppercase() && before_is_lower;
        if !c.is_alphanumeric() || starts {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("there is a word").extend(c.to_lowercase());
        }
        before_is_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
