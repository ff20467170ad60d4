//! Passwords and keys written into the code under a name that says what they are.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::Added;
use super::secret::{entropy, found, is_placeholder};
use crate::hit::Hit;
use crate::language;

/// Bits for each character below which a value is more likely a word than a password.
const MIN_ENTROPY: f64 = 3.3;

/// What every such name has in it: most lines need no pattern.
static NAMES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(["passw", "secret", "key", "token"])
        .expect("the names are few and short")
});

static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    let name =
        r"(?i:password|passwd|secret|secret_?key|api_?key|access_?key|auth_?token|private_?key)";
    let pattern = format!(r#"{name}["']?\s*(?::=|=>|=|:)\s*["']([^"'\s]{{12,}})["']"#);
    Regex::new(&pattern).expect("the pattern is valid")
});

pub(crate) fn look(added: &Added<'_>) -> Vec<Hit> {
    if language::is_test(added.path) || !language::is_source(added.path) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for (line, text) in &added.lines {
        if !NAMES.is_match(*text) {
            continue;
        }
        let value = ASSIGNED.captures(text).and_then(|groups| groups.get(1));
        let Some(value) = value.filter(|value| is_password(value.as_str())) else { continue };
        // What is known for a credential is told as one.
        if !found(text).is_empty() {
            continue;
        }
        hits.extend(Hit::on_line(*line, value.as_str()).map(|hit| Hit {
            column: Some(value.start() as u32 + 1),
            is_secret: true,
            ..hit
        }));
    }
    hits
}

/// Gives the passwords that stand in a text, wherever that may be: what is sent away shows none.
pub(crate) fn values(text: &str) -> Vec<&str> {
    if !NAMES.is_match(text) {
        return Vec::new();
    }
    let assigned = ASSIGNED.captures_iter(text).filter_map(|groups| groups.get(1));
    assigned.map(|value| value.as_str()).filter(|value| is_password(value)).collect()
}

/// Tells a password from a name, an address, a reference or a template.
fn is_password(value: &str) -> bool {
    let has = |test: fn(&char) -> bool| value.chars().any(|c| test(&c));
    let is_reference = value.contains(['{', '}', '<', '>', '(', ')', '$', '/', '\\', '%', ':']);
    let is_dotted = value.contains('.') && !has(|c| c.is_ascii_digit());
    has(char::is_ascii_digit)
        && has(char::is_ascii_alphabetic)
        && !is_reference
        && !is_dotted
        && !is_placeholder(value)
        && entropy(value) >= MIN_ENTROPY
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_hit(path: &str, text: &str) -> Vec<u32> {
        let lines = text.lines().zip(1..).map(|(line, number)| (number, line)).collect();
        look(&Added { path, lines, all: Vec::new() }).iter().map(|hit| hit.lines.start()).collect()
    }

    #[test]
    fn a_value_that_looks_like_a_password_is_seen() {
        let text = "db_password = \"kT9vQ2mX7pLw\"\napiKey: 'a8F3kQ9zT1bV6nM2',\n\"secret\" => \"pR7xW2kL9mQ4\",";
        assert_eq!(lines_hit("src/a.py", text), [1, 2, 3]);
    }

    #[test]
    fn names_templates_and_placeholders_are_left_alone() {
        let text = "password = \"correct-horse\"\npassword = os.environ[\"DB_PASSWORD_2024\"]\nsecret = \"${DB_SECRET_1}\"\napi_key = \"your-api-key-123\"\npassword: \"spring.datasource.password\"\nPASSWORD = \"aaaaaaaaaaaa1\"\nsecret_key = \"vault:secret/app1\"";
        assert_eq!(lines_hit("src/a.py", text), Vec::<u32>::new());
    }

    #[test]
    fn tests_may_have_passwords() {
        assert_eq!(lines_hit("tests/a.py", "password = \"kT9vQ2mX7pLw\""), Vec::<u32>::new());
    }
}
