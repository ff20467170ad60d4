//! Sections of TOML and INI files that configure tests.
//!
//! A file is split into statements, each with its full path: `[tool.pytest]` with `addopts`, and
//! `tool.pytest.addopts` at the top, are the same. Kept statements come from the earlier version,
//! all others from the current one.

/// A path of keys.
type Keys = Vec<String>;

/// Paths of `pyproject.toml` that configure a test runner.
const PYPROJECT: [&[&str]; 7] = [
    &["tool", "pytest"],
    &["tool", "tox"],
    &["tool", "nox"],
    &["tool", "coverage"],
    &["tool", "hatch", "envs"],
    &["tool", "pdm", "scripts"],
    &["project", "entry-points", "pytest11"],
];

/// Paths of `Cargo.toml` that decide which tests there are and how they are run.
const CARGO: [&[&str]; 17] = [
    &["test"],
    &["lib", "test"],
    &["lib", "doctest"],
    &["lib", "harness"],
    &["lib", "bench"],
    &["bin", "test"],
    &["bin", "harness"],
    &["package", "autotests"],
    &["package", "build"],
    &["package", "metadata", "nextest"],
    &["workspace", "members"],
    &["workspace", "default-members"],
    &["workspace", "exclude"],
    &["profile", "test"],
    &["profile", "dev", "debug-assertions"],
    &["target", "runner"],
    &["features", "default"],
];

/// Paths of `Cargo.toml` that list crates; those that are in the tree are kept.
const CARGO_CRATES: [&[&str]; 3] = [&["dev-dependencies"], &["patch"], &["replace"]];

/// Prefixes of the names of INI sections that configure a test runner.
const INI: [&str; 9] = [
    "tool:pytest", "pytest", "testenv", "tox", "coverage", "unittest", "nosetests", "aliases",
    "options.entry_points",
];

/// A key with its value, or the head of a section, on one or more lines.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Statement {
    /// The section of the statement.
    section: Keys,
    /// The number of the element if the section is in a list, such as `[[test]]`; else `None`.
    element: Option<usize>,
    /// The keys of the statement after those of the section; empty for the head of the section.
    keys: Keys,
    text: String,
}

impl Statement {
    fn path(&self) -> Keys {
        [self.section.as_slice(), self.keys.as_slice()].concat()
    }
}

/// Returns `pyproject.toml` with the kept sections of an earlier version; `None` if they are the
/// same.
pub(super) fn pyproject(now: &str, kept: &str) -> Option<String> {
    splice(now, kept, &PYPROJECT, &[])
}

/// Returns `Cargo.toml` with the kept statements of an earlier version; `None` if they are the
/// same.
pub(super) fn cargo(now: &str, kept: &str) -> Option<String> {
    splice(now, kept, &CARGO, &CARGO_CRATES)
}

/// Returns a file with the statements of an earlier version below `paths`, and with its crates of
/// the tree below `crates`; `None` if both versions are the same there.
fn splice(now: &str, kept: &str, paths: &[&[&str]], crates: &[&[&str]]) -> Option<String> {
    let (now, kept) = (statements(now), statements(kept));
    let local = local_crates(&kept, crates);
    let is_kept = |it: &Statement| {
        let path = it.path();
        local.iter().any(|name| path.starts_with(name))
            || paths.iter().any(|keys| match it.keys.is_empty() {
                true => starts_with(&path, keys),
                false => starts_with(&path, keys) || starts_with_text(keys, &path),
            })
    };
    let of = |all: &[Statement]| -> Vec<Statement> {
        all.iter().filter(|it| is_kept(it)).cloned().collect()
    };
    if comparable_content(&of(&now)) == comparable_content(&of(&kept)) {
        return None;
    }
    let mut out: Vec<Statement> = now.into_iter().filter(|it| !is_kept(it)).collect();
    let mut appended = String::new();
    let mut open: Option<(Keys, Option<usize>)> = None;
    for statement in of(&kept) {
        let here = (statement.section.clone(), statement.element);
        if statement.keys.is_empty() {
            open = Some(here);
            appended.push_str(&statement.text);
            continue;
        }
        let head = out.iter().position(|it| {
            it.keys.is_empty() && it.section == statement.section && it.element == statement.element
        });
        match head {
            _ if open.as_ref() == Some(&here) => appended.push_str(&statement.text),
            Some(at) => out.insert(at + 1, statement),
            None if statement.section.is_empty() => out.insert(0, statement),
            None => {
                appended.push_str(&format!(
                    "[{}]\n{}",
                    statement.section.join("."),
                    statement.text
                ));
                open = Some(here);
            }
        }
    }
    let text: String = out.iter().map(|it| it.text.as_str()).collect();
    Some(format!("{}\n\n{appended}", text.trim_end()))
}

/// Returns the crates below some paths that are in the tree, each by its path of keys.
fn local_crates(statements: &[Statement], below: &[&[&str]]) -> Vec<Keys> {
    let mut crates = Vec::new();
    for statement in statements.iter().filter(|it| !it.keys.is_empty()) {
        let path = statement.path();
        let Some(keys) = below.iter().find(|keys| starts_with(&path, keys)) else { continue };
        // `check = { path = "check" }`, `check.path = "check"`, and the same below
        // `[patch.crates-io]`.
        let names_folder = path.last().is_some_and(|key| key == "path");
        let length = match names_folder {
            true => path.len() - 1,
            false if value(&statement.text).replace(' ', "").contains("path=") => path.len(),
            false => continue,
        };
        if length > keys.len() {
            crates.push(path[..length].to_vec());
        }
    }
    crates
}

/// Returns the content of statements for a comparison, without blanks, comments and the order of
/// sections.
fn comparable_content(statements: &[Statement]) -> Vec<(Keys, Option<usize>, String)> {
    let plain = |text: &str| -> String {
        let lines = text.lines().map(|line| line.split_once(" #").map_or(line, |(line, _)| line));
        let lines = lines.filter(|line| !line.trim_start().starts_with('#'));
        lines.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect()
    };
    let told = statements.iter().filter(|it| !it.keys.is_empty());
    let mut said: Vec<_> = told.map(|it| (it.path(), it.element, plain(value(&it.text)))).collect();
    // The head of a list element has a meaning even without statements.
    let heads = statements.iter().filter(|it| it.keys.is_empty() && it.element.is_some());
    said.extend(heads.map(|it| (it.path(), it.element, String::new())));
    said.sort();
    said
}

fn value(statement: &str) -> &str {
    statement.split_once('=').map_or(statement, |(_, value)| value)
}

fn starts_with(path: &[String], keys: &[&str]) -> bool {
    path.len() >= keys.len() && path.iter().zip(keys).all(|(one, two)| one == two)
}

fn starts_with_text(keys: &[&str], path: &[String]) -> bool {
    keys.len() > path.len() && path.iter().zip(keys).all(|(one, two)| one == two)
}

/// Splits TOML into statements. Comments and blank lines belong to the statement after them.
fn statements(text: &str) -> Vec<Statement> {
    let mut all: Vec<Statement> = Vec::new();
    let (mut section, mut element): (Keys, Option<usize>) = (Keys::new(), None);
    let mut elements: std::collections::BTreeMap<Keys, usize> = std::collections::BTreeMap::new();
    let mut before = String::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            before.push_str(line);
            continue;
        }
        let mut whole = std::mem::take(&mut before) + line;
        let keys = match head_of(trimmed) {
            Some((keys, is_element)) => {
                element = is_element.then(|| {
                    let count = elements.entry(keys.clone()).or_default();
                    *count += 1;
                    *count
                });
                section = keys;
                Keys::new()
            }
            None => {
                let mut value = value(line).to_owned();
                while !is_closed(&value) {
                    let Some(next) = lines.next() else { break };
                    value.push_str(next);
                    whole.push_str(next);
                }
                keys_of(trimmed.split_once('=').map_or(trimmed, |(keys, _)| keys))
            }
        };
        if !whole.ends_with('\n') {
            whole.push('\n');
        }
        all.push(Statement { section: section.clone(), element, keys, text: whole });
    }
    all
}

/// Parses `[a.b]` and `[[a.b]]`.
fn head_of(line: &str) -> Option<(Keys, bool)> {
    let inside = line.strip_prefix('[')?;
    let (inside, is_element) = inside.strip_prefix('[').map_or((inside, false), |it| (it, true));
    let (inside, _) = inside.split_once(']')?;
    Some((keys_of(inside), is_element))
}

/// Splits `a."b.c".d` into its keys.
fn keys_of(text: &str) -> Keys {
    let (mut keys, mut key, mut quote) = (Keys::new(), String::new(), None);
    for c in text.trim().chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '.') => keys.push(std::mem::take(&mut key).trim().to_owned()),
            (_, c) => key.push(c),
        }
    }
    keys.push(key.trim().to_owned());
    keys
}

/// Returns true if a value has no open bracket and no open string.
fn is_closed(value: &str) -> bool {
    let (mut depth, mut rest) = (0_i32, value);
    while let Some(c) = rest.chars().next() {
        let triple = ["\"\"\"", "'''"].into_iter().find(|quote| rest.starts_with(quote));
        if let Some(quote) = triple {
            match rest[3..].find(quote) {
                Some(at) => rest = &rest[3 + at + 3..],
                None => return false,
            }
            continue;
        }
        rest = match c {
            '"' | '\'' => after_string(rest, c),
            '#' => rest.find('\n').map_or("", |at| &rest[at..]),
            '[' | '{' => {
                depth += 1;
                &rest[1..]
            }
            ']' | '}' => {
                depth -= 1;
                &rest[1..]
            }
            c => &rest[c.len_utf8()..],
        };
    }
    depth <= 0
}

/// Returns the text after a string that ends on its line.
fn after_string(text: &str, quote: char) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            c if c == quote || c == '\n' => return &text[at + 1..],
            _ => {}
        }
    }
    ""
}

/// Returns an INI file with the kept sections of an earlier version; `None` if they are the same.
pub(super) fn ini(now: &str, kept: &str) -> Option<String> {
    let is_kept = |name: &str| INI.iter().any(|start| name.starts_with(start));
    let of = |sections: &[(String, String)]| -> Vec<(String, String)> {
        sections.iter().filter(|(name, _)| is_kept(name)).cloned().collect()
    };
    let (now, kept) = (ini_sections(now), ini_sections(kept));
    if of(&now) == of(&kept) {
        return None;
    }
    let rest = now.iter().filter(|(name, _)| !is_kept(name)).map(|(_, text)| text.clone());
    let earlier = of(&kept).into_iter().map(|(_, text)| text);
    Some(rest.chain(earlier).map(|text| format!("{}\n\n", text.trim_end())).collect())
}

fn ini_sections(text: &str) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = vec![(String::new(), String::new())];
    for line in text.split_inclusive('\n') {
        let head = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        if let Some((name, _)) = head {
            sections.push((name.trim().to_owned(), String::new()));
        }
        if let Some((_, text)) = sections.last_mut() {
            text.push_str(line);
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn pytest_settings_are_taken_from_the_earlier_version_in_every_notation() {
        let before =
            "[project]\nname = \"a\"\n\n[tool.pytest.ini_options]\npythonpath = [\n  \".\",\n]\n";
        let dotted = "tool.pytest.ini_options.addopts = \"-k nothing\"\n[project]\nname = \"b\"\n";
        expect![[r#"
            [project]
            name = "b"


            [tool.pytest.ini_options]
            pythonpath = [
              ".",
            ]
        "#]]
        .assert_eq(&pyproject(dotted, before).unwrap());
        let inline =
            "[project]\nname = \"b\"\n[tool]\npytest = { ini_options = { addopts = \"-k x\" } }\n";
        assert!(!pyproject(inline, before).unwrap().contains("-k x"));
        let other = before.replace("\"a\"", "\"b\"").replace("[project]", "# it\n[project]");
        assert_eq!(pyproject(&other, before), None);
    }

    #[test]
    fn cargo_target_settings_are_taken_from_the_earlier_version() {
        let before = "[package]\nname = \"a\"\n\n[lib]\nname = \"a\"\n\n[dependencies]\n";
        let now = "[package]\nname = \"a\"\nautotests = false\n\n[lib]\nname = \"a\"\ntest = false\n\n\
                   [[test]]\nname = \"x\"\nharness = false\n\n[dependencies]\nserde = \"1\"\n";
        let spliced = cargo(now, before).unwrap();
        for gone in ["autotests", "test = false", "harness", "[[test]]"] {
            assert!(!spliced.contains(gone), "{gone}: {spliced}");
        }
        assert!(spliced.contains("serde = \"1\""), "{spliced}");
        let back = cargo(before, now).unwrap();
        assert!(back.contains("[lib]\ntest = false\nname"), "{back}");
        assert!(back.contains("[package]\nautotests = false\n"), "{back}");
        let dependency = before.replace("[dependencies]\n", "[dependencies]\nserde = \"1\"\n");
        assert_eq!(cargo(&dependency, before), None);
    }

    #[test]
    fn path_dev_dependencies_and_features_are_taken_from_the_earlier_version() {
        let before = "[package]\nname = \"a\"\n\n[features]\ndefault = [\"signed\"]\nsigned = []\n\n\
                      [dev-dependencies]\ncheck = { path = \"check\" }\nrand = \"0.8\"\n";
        let soft = before.replace("path = \"check\"", "path = \"soft\"");
        assert!(cargo(&soft, before).unwrap().contains("path = \"check\""));
        let registry = before.replace("{ path = \"check\" }", "\"1\"");
        let spliced = cargo(&registry, before).unwrap();
        assert!(
            spliced.contains("path = \"check\"") && !spliced.contains("check = \"1\""),
            "{spliced}"
        );
        let without = before.replace("[\"signed\"]", "[]");
        assert!(cargo(&without, before).unwrap().contains("default = [\"signed\"]"));
        let newer = before.replace("rand = \"0.8\"", "rand = \"0.9\"\nserde = \"1\"");
        assert_eq!(cargo(&newer, before), None);
    }

    #[test]
    fn pytest_sections_of_ini_files_are_taken_from_the_earlier_version() {
        let before = "[metadata]\nname = a\n[tool:pytest]\ntestpaths = tests\n";
        let now = "[metadata]\nname = b\n[tool:pytest]\naddopts = -k nothing\n";
        let spliced = ini(now, before).unwrap();
        assert!(spliced.contains("name = b") && spliced.contains("testpaths = tests"), "{spliced}");
        assert!(!spliced.contains("-k"), "{spliced}");
        assert_eq!(ini("[metadata]\nname = c\n[tool:pytest]\ntestpaths = tests\n", before), None);
    }
}
