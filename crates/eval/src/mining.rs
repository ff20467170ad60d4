//! Labels from commit messages: recognises reverts and fixes, and extracts their description.

/// Words in a subject that mark a commit as a fix.
const FIX_WORDS: [&str; 14] = [
    "fix", "fixes", "fixed", "fixing", "bug", "bugfix", "hotfix", "regression", "repair",
    "repairs", "crash", "crashes", "correct", "corrects",
];

/// Words in a subject that mark a fix of something other than code.
const NO_FIX_WORDS: [&str; 20] = [
    "typo", "typos", "lint", "linter", "lints", "clippy", "format", "formatting", "fmt", "docs",
    "doc", "documentation", "readme", "changelog", "comment", "comments", "ci", "test", "tests",
    "spelling",
];

/// Words that mark a fix as a security fix.
const SECURITY_WORDS: [&str; 24] = [
    "cve", "security", "vulnerability", "vulnerabilities", "vulnerable", "xss", "csrf", "ssrf",
    "xxe", "rce", "injection", "traversal", "overflow", "exploit", "exploitable", "sanitize",
    "sanitise", "unauthorized", "unauthorised", "authorization", "escalation", "redos", "spoofing",
    "disclosure",
];

/// Phrases with which an author rejects a comment.
const REBUTTALS: [&str; 16] = [
    "by design", "intended", "intentional", "on purpose", "not an issue", "not a problem",
    "false positive", "won't fix", "wontfix", "disagree", "not a bug", "works as", "is expected",
    "not needed", "already handled", "cannot happen",
];

/// Returns the name of the commit that a message reverts: a hash of at least seven digits.
pub fn reverted_commit(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("This reverts commit ")?;
    let name = rest.split(|c: char| !c.is_ascii_hexdigit()).next()?;
    (name.len() >= 7).then_some(name)
}

/// Returns true if a message describes the fix of a defect in code.
pub fn is_fix(message: &str) -> bool {
    let words = words(subject(message));
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    has(&FIX_WORDS) && !has(&NO_FIX_WORDS) && reverted_commit(message).is_none()
}

/// Returns true if a message describes the fix of a vulnerability.
pub fn is_security_fix(message: &str) -> bool {
    let all = words(message);
    let is_named = |word: &String| SECURITY_WORDS.contains(&word.as_str());
    let closes = ["prevent", "prevents", "avoid", "avoids", "reject", "rejects", "close", "closes"];
    let is_subject_of_closing =
        words(subject(message)).iter().any(|word| closes.contains(&word.as_str()));
    let no_fix = words(subject(message)).iter().any(|it| NO_FIX_WORDS.contains(&it.as_str()));
    all.iter().any(is_named)
        && (is_fix(message) || is_subject_of_closing)
        && !no_fix
        && reverted_commit(message).is_none()
}

/// Returns true if a reply rejects the comment that it replies to.
pub fn is_rebuttal(reply: &str) -> bool {
    let reply = reply.to_lowercase();
    REBUTTALS.iter().any(|words| reply.contains(words))
}

/// Returns the first line of a message.
pub fn subject(message: &str) -> &str {
    message.trim_start().lines().next().unwrap_or("").trim()
}

/// Returns the text of the label for a message: its subject without a prefix such as `fix:`, and
/// its first paragraph.
pub fn label_text(message: &str) -> String {
    let plain = |line: &&str| {
        !line.starts_with("This reverts commit") && !is_trailer(line) && !line.starts_with('#')
    };
    let body = message.trim_start().lines().skip(1).map(str::trim).skip_while(|it| it.is_empty());
    let first: Vec<&str> =
        body.filter(plain).skip_while(|it| it.is_empty()).take_while(|it| !it.is_empty()).collect();
    let subject = without_prefix(subject(message));
    match first.is_empty() {
        true => subject.to_owned(),
        false => format!("{subject}\n{}", first.join(" ")),
    }
}

/// Returns a subject without a prefix such as `fix(parser): `.
fn without_prefix(subject: &str) -> &str {
    let Some((prefix, rest)) = subject.split_once(": ") else { return subject };
    let is_prefix = !prefix.contains(' ') && prefix.len() <= 30 && !rest.trim().is_empty();
    if is_prefix { rest.trim() } else { subject }
}

/// Returns true if a line is a trailer, such as `Signed-off-by: …`.
fn is_trailer(line: &str) -> bool {
    let Some((name, _)) = line.split_once(": ") else { return false };
    let name = name.to_lowercase();
    name.ends_with("-by") || matches!(name.as_str(), "fixes" | "closes" | "refs" | "change-id")
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Returns true if a path is a file of code: not a document, data or a test.
pub fn is_code(path: &str) -> bool {
    let lower = path.to_lowercase();
    let parts: Vec<&str> = lower.split('/').collect();
    let name = parts.last().copied().unwrap_or_default();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_test = parts.iter().any(|part| matches!(*part, "test" | "tests" | "__tests__" | "spec"))
        || ["test_", "_test.", ".test.", ".spec.", "_spec."].iter().any(|it| name.contains(it));
    language(ending).is_some() && !is_test
}

/// Returns the language of a file by the extension of its name. Returns `None` if the extension is
/// not known.
pub fn language_of(path: &str) -> Option<&'static str> {
    language(path.rsplit('/').next()?.rsplit_once('.')?.1)
}

fn language(ending: &str) -> Option<&'static str> {
    Some(match ending {
        "py" => "Python",
        "js" | "jsx" | "mjs" | "cjs" => "JavaScript",
        "ts" | "tsx" => "TypeScript",
        "go" => "Go",
        "rs" => "Rust",
        "java" => "Java",
        "kt" | "kts" => "Kotlin",
        "rb" => "Ruby",
        "php" => "PHP",
        "c" | "h" => "C",
        "cc" | "cpp" | "cxx" | "hpp" => "C++",
        "cs" => "C#",
        "swift" => "Swift",
        "scala" => "Scala",
        "sql" => "SQL",
        "sh" | "bash" => "Shell",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revert_names_its_commit() {
        let message = "Revert \"Faster\"\n\nThis reverts commit 0123456789abcdef.\n\nIt lost rows.";
        assert_eq!(reverted_commit(message), Some("0123456789abcdef"));
        assert_eq!(reverted_commit("This reverts commit of last week"), None);
        assert_eq!(label_text(message), "Revert \"Faster\"\nIt lost rows.");
    }

    #[test]
    fn fixes_of_code_are_told_from_other_fixes() {
        for (message, fix, security) in [
            ("fix: the discount is added", true, false),
            ("Fixed a crash on empty input", true, false),
            ("fix typo in README", false, false),
            ("fix clippy lints", false, false),
            ("Add a prefix to names", false, false),
            ("Fix path traversal in uploads", true, true),
            ("Prevent SQL injection in search", false, true),
            ("Add a security page to the docs", false, false),
            ("Bump deps\n\nFixes CVE-2020-1", false, false),
            ("Revert \"Fix it\"\n\nThis reverts commit 0123456789.", false, false),
        ] {
            assert_eq!((is_fix(message), is_security_fix(message)), (fix, security), "{message}");
        }
    }

    #[test]
    fn a_label_has_the_words_of_the_fix_alone() {
        let message = "fix(cart): total ignores the discount\n\nThe sign was wrong.\nSeen in 1.2.\n\nMore.\nSigned-off-by: x";
        assert_eq!(
            label_text(message),
            "total ignores the discount\nThe sign was wrong. Seen in 1.2."
        );
        assert_eq!(label_text("fix: x\n\nSigned-off-by: me"), "x");
    }

    #[test]
    fn code_is_told_from_tests_and_documents() {
        for path in ["src/a.rs", "a.py", "web/App.tsx"] {
            assert!(is_code(path), "{path}");
        }
        for path in
            ["README.md", "tests/a.rs", "a_test.go", "web/a.spec.ts", "Cargo.lock", "x.json"]
        {
            assert!(!is_code(path), "{path}");
        }
    }

    #[test]
    fn a_rebuttal_is_told_from_thanks() {
        assert!(is_rebuttal("This is by design."));
        assert!(!is_rebuttal("Good catch, done."));
    }
}
