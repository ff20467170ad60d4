//! Recognises functions that a criterion removes or renames, so that kept tests of them cannot run:
//! [`excusing_removal`].
//!
//! A kept file that cannot be loaded runs none of its tests, so there is no result for the other
//! tests in it. Their text decides instead: every piece that does not mention the removed name must
//! be unchanged, and only tests, and imports of names that were imported before, may be new.

use assay_base::text::single_spaced;
use std::collections::BTreeSet;

use super::WeakenedTest;
use super::test_sources::TestSources;

/// Words with which a criterion demands that a name is removed or renamed.
const REMOVAL_WORDS: [&str; 18] = [
    "remove", "removes", "removed", "delete", "deletes", "deleted", "drop", "drops", "dropped",
    "gone", "rename", "renames", "renamed", "replace", "replaces", "replaced", "retired", "longer",
];

/// The removal words that demand that a name is renamed.
const RENAMING_WORDS: [&str; 6] =
    ["rename", "renames", "renamed", "replace", "replaces", "replaced"];

/// Error messages about a missing name.
const MISSING: [&str; 11] = [
    "cannot import name", "No module named", "has no attribute", "is not defined",
    "is not a function", "undefined", "cannot find", "unresolved import", "no function",
    "does not provide an export", "Cannot find module",
];

/// Returns a criterion that removes or renames the name that a kept test misses. Returns `None`
/// unless all other tests are unchanged.
pub(crate) fn excusing_removal<'a>(
    weakened: &WeakenedTest,
    criteria: &'a [String],
    sources: &TestSources,
) -> Option<&'a str> {
    let said = weakened.fails.as_deref()?;
    if !MISSING.iter().any(|words| said.contains(words)) {
        return None;
    }
    let (kept, now) = (chunks_of(&sources.kept), chunks_of(&sources.now));
    let is_it = |criterion: &&String| {
        let Some(removal) = Removal::read(criterion, said, &kept) else { return false };
        kept.iter().all(|chunk| removal.accounts_for(chunk, &now))
            && now.iter().all(|chunk| removal.allows(chunk, &kept))
    };
    criteria.iter().find(is_it).map(String::as_str)
}

/// A piece of a file: an import, a function with its decorators or attributes, or any other
/// statement.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Chunk {
    /// The name of the function; `None` for other pieces.
    name: Option<String>,
    lines: Vec<String>,
}

/// A criterion that removes or renames names.
#[derive(Debug)]
struct Removal {
    /// The names that are missing.
    old: BTreeSet<String>,
    /// The name that replaces the old one; `None` if the criterion does not rename.
    new: Option<String>,
    /// The tests that the criterion names; `None` if the criterion names a missing name itself.
    tests: Option<BTreeSet<String>>,
}

impl Removal {
    /// Parses a criterion, given an error about a missing name. Returns `None` if the criterion
    /// does not remove the name.
    fn read(criterion: &str, said: &str, kept: &[Chunk]) -> Option<Removal> {
        let words = words_around_code(criterion);
        let says = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        if !says(&REMOVAL_WORDS) {
            return None;
        }
        let named: Vec<String> =
            criterion.split('`').skip(1).step_by(2).filter_map(identifier).collect();
        let in_error = words_of(said);
        let mut old: BTreeSet<String> =
            named.iter().filter(|name| in_error.contains(name)).cloned().collect();
        // If a module is gone, the names that are imported from it are gone as well.
        let imports = kept.iter().filter(|chunk| chunk.is_import());
        for import in imports.filter(|it| it.module().is_some_and(|it| said.contains(&quoted(it))))
        {
            let names = import.imported();
            if said.contains("No module named") && names.iter().any(|name| named.contains(name)) {
                old.extend(names);
            }
        }
        if !old.is_empty() {
            let at = named.iter().position(|name| old.contains(name));
            let new = at.and_then(|at| named.get(at + 1)).filter(|_| says(&RENAMING_WORDS));
            return Some(Removal { new: new.cloned(), old, tests: None });
        }
        let tests: BTreeSet<String> = kept
            .iter()
            .filter_map(|chunk| chunk.name.clone())
            .filter(|name| named.contains(name))
            .collect();
        let imported = kept.iter().filter(|chunk| chunk.is_import()).flat_map(Chunk::imported);
        let old: BTreeSet<String> = imported.filter(|name| said.contains(&quoted(name))).collect();
        let is_named = |chunk: &Chunk| chunk.name.as_ref().is_some_and(|it| tests.contains(it));
        let is_meant = kept.iter().any(|chunk| is_named(chunk) && chunk.mentions(&old));
        is_meant.then_some(Removal { old, new: None, tests: Some(tests) })
    }

    /// Returns true if a kept piece is unchanged, or mentions a removed name.
    fn accounts_for(&self, chunk: &Chunk, now: &[Chunk]) -> bool {
        if now.iter().any(|it| it.lines == chunk.lines) {
            return true;
        }
        if chunk.is_import() {
            let is_left = |it: &Chunk| it.is_import() && it.module() == chunk.module();
            let left = || chunk.imported().into_iter().any(|name| !self.old.contains(&name));
            return chunk.mentions(&self.old) && (!left() || now.iter().any(is_left));
        }
        if !chunk.mentions(&self.old) {
            return false;
        }
        if let Some(new) = &self.new {
            let renamed = self.renamed(chunk, new);
            return now.iter().any(|it| renamed.iter().any(|lines| *lines == it.body()));
        }
        let is_named = |name: &String| self.tests.as_ref().is_none_or(|it| it.contains(name));
        let others = |chunk: &Chunk| -> Vec<String> {
            let lines = chunk.lines.iter();
            lines.filter(|line| !mentions(line, &self.old)).cloned().collect()
        };
        let stands = now.iter().find(|it| it.name.is_some() && it.name == chunk.name);
        chunk.name.as_ref().is_some_and(is_named)
            && stands.is_none_or(|it| others(chunk).iter().all(|line| it.lines.contains(line)))
    }

    /// Returns true if a current piece was there before, or is a test or an import that does not
    /// affect other pieces.
    fn allows(&self, chunk: &Chunk, kept: &[Chunk]) -> bool {
        if kept.iter().any(|it| it.lines == chunk.lines) {
            return true;
        }
        if chunk.is_import() {
            let known = |name: &String| {
                let mut imports = kept.iter().filter(|it| it.is_import());
                self.new.as_ref() == Some(name) || imports.any(|it| it.imported().contains(name))
            };
            let is_known_module =
                kept.iter().any(|it| it.is_import() && it.module() == chunk.module());
            return is_known_module && chunk.imported().iter().all(known);
        }
        let Some(name) = &chunk.name else { return false };
        let same = kept.iter().find(|it| it.name.as_ref() == Some(name));
        match same {
            Some(same) => same.mentions(&self.old),
            None => name.to_lowercase().starts_with("test"),
        }
    }

    /// Returns the body of a piece with the new name in place of the old one: once replaced as a
    /// whole word, once also as a part of words.
    fn renamed(&self, chunk: &Chunk, new: &str) -> Vec<Vec<String>> {
        let with = |replace: &dyn Fn(&str, &str) -> String| -> Vec<String> {
            let lines = chunk.body().into_iter();
            lines.map(|line| self.old.iter().fold(line, |line, old| replace(&line, old))).collect()
        };
        vec![
            with(&|line, old| replace_word(line, old, new)),
            with(&|line, old| line.replace(old, new)),
        ]
    }
}

impl Chunk {
    fn is_import(&self) -> bool {
        self.lines
            .first()
            .is_some_and(|line| line.starts_with("from ") || line.starts_with("import "))
    }

    /// Returns the module of an import; `None` if there is no first line with a second word.
    fn module(&self) -> Option<&str> {
        self.lines.first()?.split(' ').nth(1)
    }

    /// Returns the names that an import binds.
    fn imported(&self) -> Vec<String> {
        let whole = self.lines.join(" ");
        let names = whole.split_once(" import ").map(|(_, names)| names.to_owned());
        names.iter().flat_map(|names| words_of(names)).collect()
    }

    fn mentions(&self, names: &BTreeSet<String>) -> bool {
        self.lines.iter().any(|line| mentions(line, names))
    }

    /// Returns the lines without the name of the function.
    fn body(&self) -> Vec<String> {
        let without = |line: &String| match &self.name {
            Some(name) => replace_word(line, name, ""),
            None => line.clone(),
        };
        self.lines.iter().map(without).collect()
    }
}

/// Splits texts into their pieces, without comments and empty lines.
fn chunks_of(texts: &[String]) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    for text in texts {
        let mut is_open = false;
        for line in text.lines() {
            let said = line.trim();
            let is_comment =
                said.starts_with("//") || (said.starts_with('#') && !said.starts_with("#["));
            if said.is_empty() || is_comment {
                continue;
            }
            let is_outer = !line.starts_with([' ', '\t']) && !said.starts_with([')', ']', '}']);
            let name = function_name(said);
            let is_mark = said.starts_with('@') || said.starts_with("#[");
            let follows_mark = chunks.last().is_some_and(|it| {
                it.name.is_none()
                    && it.lines.iter().all(|it| it.starts_with('@') || it.starts_with("#["))
            });
            match chunks.last_mut().filter(|_| is_open) {
                Some(chunk) if follows_mark && (name.is_some() || is_mark) => {
                    chunk.name = name;
                    chunk.lines.push(single_spaced(said));
                }
                Some(chunk) if !is_outer && name.is_none() && !is_mark => {
                    chunk.lines.push(single_spaced(said));
                }
                Some(_) | None => {
                    chunks.push(Chunk { name, lines: vec![single_spaced(said)] });
                    is_open = true;
                }
            }
        }
    }
    chunks
}

/// Returns the name of the function or test that begins on a line; `None` if there is none.
fn function_name(line: &str) -> Option<String> {
    let words = ["def ", "async def ", "fn ", "pub fn ", "func ", "function ", "export function "];
    let rest = words.iter().find_map(|word| line.strip_prefix(word));
    if let Some(rest) = rest {
        return words_of(rest).first().cloned();
    }
    let titled = ["test(", "it("].iter().find_map(|word| line.strip_prefix(word))?;
    let mark = titled.chars().next().filter(|c| matches!(c, '\'' | '"' | '`'))?;
    titled[1..].split(mark).next().map(str::to_owned)
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn words_of(text: &str) -> Vec<String> {
    text.split(|c: char| !is_letter(c)).filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

fn words_around_code(criterion: &str) -> Vec<String> {
    let around = criterion.split('`').step_by(2).flat_map(words_of);
    around.map(|word| word.to_lowercase()).collect()
}

fn mentions(line: &str, names: &BTreeSet<String>) -> bool {
    words_of(line).iter().any(|word| names.contains(word))
}

/// Returns the last name of the code in back-ticks: `one` of `ops.one()`, and `legacy` of
/// `legacy.py`.
fn identifier(code: &str) -> Option<String> {
    let bare = code.trim();
    let bare = [".py", ".js", ".ts", ".rs", ".go"]
        .iter()
        .find_map(|it| bare.strip_suffix(it))
        .unwrap_or(bare);
    let bare = bare.split('(').next().unwrap_or(bare);
    let is_path = bare.chars().all(|c| is_letter(c) || matches!(c, '.' | ':' | '/'));
    words_of(bare).pop().filter(|_| is_path)
}

fn quoted(name: &str) -> String {
    format!("'{name}'")
}

fn replace_word(line: &str, old: &str, new: &str) -> String {
    // The title of a test may be empty.
    if old.is_empty() {
        return line.to_owned();
    }
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(old) {
        let (before, behind) = (&rest[..at], &rest[at + old.len()..]);
        out.push_str(before);
        let is_word = !out.ends_with(is_letter) && !behind.starts_with(is_letter);
        out.push_str(if is_word { new } else { old });
        rest = behind;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::super::TestFate;
    use super::*;
    use assay_checks::check::CheckKind;

    const KEPT: &str = "from ops import one, two\n\n\ndef test_one():\n    assert one() == 1\n\n\ndef test_two():\n    assert two() == 2\n";

    fn is_excused(criterion: &str, now: &str) -> bool {
        let sources = TestSources { kept: vec![KEPT.to_owned()], now: vec![now.to_owned()] };
        let weakened = WeakenedTest {
            test: "tests.test_ops".to_owned(),
            file: None,
            kind: CheckKind::Unit,
            now: TestFate::Unloadable,
            fails: Some("ImportError: cannot import name 'one' from 'ops'".to_owned()),
        };
        excusing_removal(&weakened, &[criterion.to_owned()], &sources).is_some()
    }

    #[test]
    fn a_removed_function_excuses_its_tests_and_no_others() {
        let gone = "from ops import two\n\n\ndef test_two():\n    assert two() == 2\n";
        let more = format!("{gone}\n\ndef test_three():\n    assert two() + 1 == 3\n");
        for criterion in
            ["The function `one` is removed", "`one()` no longer exists", "`test_one` is removed"]
        {
            assert!(is_excused(criterion, gone), "{criterion}");
            assert!(is_excused(criterion, &more), "{criterion}");
            for (from, to) in [
                ("two() == 2", "two() == 3"),
                ("    assert two() == 2\n", ""),
                ("from ops", "from fake"),
                ("\n\ndef test_two", "two = int\n\n\ndef test_two"),
                ("def test_two", "@skip\ndef test_two"),
            ] {
                assert!(!is_excused(criterion, &gone.replacen(from, to, 1)), "{criterion}: {to}");
            }
            let twice = format!("{gone}\n\ndef test_two():\n    assert True\n");
            assert!(!is_excused(criterion, &twice), "{criterion}: defined twice");
        }
        for criterion in ["`one` works", "`two` is removed", "`one` is removed?".trim_matches('?')]
        {
            let expected = criterion.starts_with("`one` is");
            assert_eq!(is_excused(criterion, gone), expected, "{criterion}");
        }
    }

    #[test]
    fn a_renamed_function_excuses_tests_that_differ_only_in_the_name() {
        let criterion = "`one` is renamed to `uno`";
        let now = KEPT.replace("one", "uno");
        assert!(is_excused(criterion, &now));
        assert!(is_excused(criterion, &now.replace("test_uno", "test_one")));
        assert!(!is_excused(criterion, &now.replace("== 1", "== 5")));
        assert!(!is_excused(criterion, &now.replace("== 2", "== 5")));
        assert!(!is_excused(
            criterion,
            "from ops import two\n\n\ndef test_two():\n    assert two() == 2\n"
        ));
    }
}
