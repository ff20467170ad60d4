//! Definitions and uses of names in a file: [`NameSearch`] searches for many at once.
//!
//! A definition is found in the syntax tree. For languages without a grammar, and for code that a
//! grammar cannot parse, the words on the line decide.

mod line_body;
mod line_definition;
mod word;

use std::collections::HashMap;

use aho_corasick::AhoCorasick;

use self::line_body::TestBody;
use self::line_definition::LineDefinition;
use crate::code_lines::{CodeLines, LineSyntax};
use crate::definitions::{DefinitionKind, SymbolDefinition, definitions};
use crate::language;
use crate::reachability::Reach;
use crate::test_functions::{TestEffect, TestFunction, test_functions};

pub use self::line_body::asserts_on;
pub use self::word::is_word;

/// The maximum length of a line that may define a name; a person writes no longer ones.
const MAX_LINE: usize = 2_000;

/// The names to search for.
#[derive(Debug)]
pub struct NameSearch {
    words: AhoCorasick,
    names: Vec<String>,
}

/// An occurrence of a name on a line of a file.
#[derive(Debug)]
pub struct NameMatch<'n> {
    /// The name that was found.
    pub name: &'n str,
    /// The line, from 1.
    pub line: u32,
    /// The definition; `None` if the line uses the name.
    pub definition: Option<NamedDefinition>,
}

/// The definition of a name on a line.
#[derive(Debug, Clone)]
pub struct NamedDefinition {
    /// The line, without white space around it.
    pub text: String,
    /// The kind of the definition.
    pub kind: DefinitionKind,
    /// True if the name is a variable inside of a function.
    pub is_local: bool,
    /// True if other files can use the name, by the words on the line.
    pub is_exported: bool,
    /// True if the definition is a test, by its file, its name or its attributes.
    pub is_test: bool,
    /// The effect of the definition as a test: whether it can fail.
    pub effect: TestEffect,
    /// The reach of the definition: whether a run reaches it and the name stays defined.
    pub reach: Reach,
}

impl NameSearch {
    /// Creates a search for names; returns `None` if there are none, or too many.
    pub fn new(names: Vec<String>) -> Option<NameSearch> {
        let words = AhoCorasick::new(&names).ok().filter(|_| !names.is_empty())?;
        Some(NameSearch { words, names })
    }

    /// Returns the names that are searched for.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns true if one of the names occurs anywhere in a text.
    pub fn is_in(&self, text: &str) -> bool {
        self.words.is_match(text)
    }

    /// Returns the occurrences of the names in a file, line by line. A line has at most one
    /// occurrence of each name, so that a line full of names takes no longer than others.
    pub fn find_matches(&self, path: &str, text: &str) -> Vec<NameMatch<'_>> {
        let file = SearchedFile::read(path, text);
        let mut found = Vec::new();
        let mut seen_on = vec![usize::MAX; self.names.len()];
        for (at, line) in file.lines.iter().enumerate() {
            for hit in self.words.find_overlapping_iter(line) {
                let nth = hit.pattern().as_usize();
                if seen_on[nth] == at || !is_word(line, hit.start(), hit.end()) {
                    continue;
                }
                seen_on[nth] = at;
                let name = self.names[nth].as_str();
                let definition = file.definition(at, hit.start(), name);
                found.push(NameMatch { name, line: number(at), definition });
            }
        }
        found
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

/// A file, with the facts that determine whether a line defines a name.
struct SearchedFile<'f> {
    path: &'f str,
    lines: Vec<&'f str>,
    /// The code on the lines; `None` if the language is unknown.
    read: Option<CodeLines>,
    /// The definitions that a grammar finds, by line and name.
    by_grammar: HashMap<(u32, String), SymbolDefinition>,
    tests: Vec<TestFunction>,
}

impl<'f> SearchedFile<'f> {
    fn read(path: &'f str, text: &'f str) -> SearchedFile<'f> {
        let defined = definitions(path, text).unwrap_or_default().into_iter();
        SearchedFile {
            path,
            lines: text.lines().collect(),
            read: CodeLines::of(path, text),
            by_grammar: defined.map(|one| ((one.line, one.name.clone()), one)).collect(),
            tests: test_functions(path, text).unwrap_or_default(),
        }
    }

    /// Returns the definition of a name on a line, from 0, at a byte offset; `None` if the line
    /// uses the name.
    fn definition(&self, at: usize, start: usize, name: &str) -> Option<NamedDefinition> {
        let read = self.read.as_ref()?;
        let (line, code) = (self.lines[at], read.code.get(at));
        let code = code.map(String::as_str).filter(|code| code.len() <= MAX_LINE);
        let mut on_line = self.tests.iter().filter(|test| test.line == number(at));
        let test = on_line.find(|test| test.name.starts_with(name));
        let is_title = is_test_title(line, start, code);
        let by_grammar = self.by_grammar.get(&(number(at), name.to_owned()));
        let by_words = || {
            let below = read.code.get(at + 1..).unwrap_or_default();
            let next = below.iter().find(|line| !line.trim().is_empty());
            let found = LineDefinition::of(self.path, code?, next.map_or("", String::as_str), name);
            found.map(|found| (found.kind(), found.is_local))
        };
        let (kind, is_local) = match is_title {
            true => Some((DefinitionKind::Function, false)),
            false => by_grammar.map(|one| (one.kind, one.is_local)).or_else(by_words),
        }
        .or(test.map(|_| (DefinitionKind::Function, false)))?;
        let can_fail = |test: &TestFunction| !matches!(test.effect, TestEffect::Inert(_));
        Some(NamedDefinition {
            text: line.trim().to_owned(),
            kind,
            is_local,
            is_exported: is_exported(read.syntax, line, name),
            is_test: is_title || self.is_test(at, name) || test.is_some_and(can_fail),
            effect: match test {
                Some(test) => test.effect.clone(),
                None => TestBody::of(read, at).effect(),
            },
            reach: match by_grammar {
                Some(one) => one.reach.clone(),
                None if line_body::is_dead(&self.lines, read, at) => {
                    Reach::Never("its condition never holds".to_owned())
                }
                None => Reach::Reached,
            },
        })
    }

    /// Returns true if a definition is a test: by its file and its name, or by the attributes above
    /// it.
    fn is_test(&self, at: usize, name: &str) -> bool {
        let above = self.lines[..at].iter().rev().take(6).map(|line| line.trim());
        let mut marks = above.take_while(|line| line.starts_with("#[") || line.starts_with('@'));
        let is_marked = marks.any(|line| {
            let line = line.to_ascii_lowercase();
            line.contains("test") || line.starts_with("#[rstest")
        });
        let is_called_so = name.to_ascii_lowercase().starts_with("test");
        is_marked || (is_called_so && language::is_test(self.path))
    }
}

/// Returns true if a name is the title of a test: `it("name"`, `test('name'`, `t.Run("name"`.
fn is_test_title(line: &str, start: usize, code: Option<&str>) -> bool {
    let before = line[..start].trim_end_matches(['"', '\'', '`']);
    let is_quoted = before.len() < start;
    let openers = ["it(", "test(", "describe(", "t.Run(", "it.each(", "scenario(", "specify("];
    let is_code = |opener: &str| code.is_some_and(|code| code.contains(opener));
    is_quoted && openers.iter().any(|opener| before.trim_end().ends_with(opener) && is_code(opener))
}

/// Returns true if the line that defines a name makes it usable by other files.
fn is_exported(syntax: LineSyntax, line: &str, name: &str) -> bool {
    let has = |word: &str| line.split_whitespace().any(|found| found == word);
    match syntax {
        LineSyntax::Rust => has("pub"),
        LineSyntax::Python => !name.starts_with('_'),
        LineSyntax::Go => name.starts_with(char::is_uppercase),
        LineSyntax::Script => has("export"),
        LineSyntax::Java => has("public"),
        LineSyntax::Hash | LineSyntax::Dash => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the formatted occurrences of a name: `3 fn test`, `4 used`.
    fn check(path: &str, text: &str, name: &str, expected: &str) {
        let search = NameSearch::new(vec![name.to_owned()]).unwrap();
        let shown = |sighting: &NameMatch<'_>| {
            let Some(found) = &sighting.definition else {
                return format!("{} used", sighting.line);
            };
            let mut shown = format!("{} {:?}", sighting.line, found.kind);
            for (is_so, word) in [
                (found.is_local, " local"),
                (found.is_exported, " exported"),
                (found.is_test, " test"),
                (matches!(found.reach, Reach::Never(_)), " dead"),
            ] {
                shown += if is_so { word } else { "" };
            }
            shown
        };
        let found: Vec<String> = search.find_matches(path, text).iter().map(shown).collect();
        assert_eq!(found.join(", "), expected, "{path}: {text}");
    }

    #[test]
    fn definitions_and_uses_are_distinguished_with_and_without_a_grammar() {
        let rust = "pub fn frob() {}\nfn a() { frob(); }\n// frob\n";
        check("a.rs", rust, "frob", "1 Function exported, 2 used, 3 used");
        check("a.rs", "flags! { pub struct Frob: u8; }\n", "Frob", "1 Type(\"struct\") exported");
        check("a.kt", "fun frob() = 1\nfrob()\n", "frob", "1 Function, 2 used");
        check("a.py", "if False:\n    def frob(): pass\n", "frob", "2 Function exported dead");
        check("a.test.ts", "it('frob', () => expect(a).toBe(1));\n", "frob", "1 Function test");
        check("a.md", "frob frobs\n", "frob", "1 used");
    }

    #[test]
    fn code_below_a_condition_that_never_holds_is_dead() {
        for (path, text, is_dead) in [
            ("a.py", "if False:\n    def frob():\n        pass\n", true),
            ("a.py", "if 0:\n    x = 1\n\n    def frob():\n        pass\n", true),
            ("a.py", "if typing.TYPE_CHECKING:\n    def frob(): ...\n", true),
            ("a.py", "if True:\n    x = 1\nelse:\n    def frob(): ...\n", true),
            ("a.py", "while not True:\n  class A:\n    def frob(): ...\n", true),
            ("a.js", "if (false) {\nfunction frob() {}\n}\n", true),
            ("a.js", "if (true) {\n} else {\n  function frob() {}\n}\n", true),
            ("a.c", "#if 0\nint frob(int a) {\n}\n#endif\n", true),
            ("a.cs", "#if false\nint frob(int a) {\n}\n#endif\n", true),
            ("a.rs", "#[cfg(any())]\nfn frob() {}\n", true),
            ("a.rs", "fn a() { if false {\n fn frob() {}\n} }\n", true),
            ("a.py", "if False:\n    x = 1\n\n\ndef frob():\n    pass\n", false),
            ("a.py", "if sys.version > x:\n    def frob(): ...\n", false),
            ("a.py", "if False:\n    x = 1\nelse:\n    def frob(): ...\n", false),
            ("a.c", "#if 0\n#else\nint frob(int a) {\n}\n#endif\n", false),
            ("a.rs", "#[cfg(test)]\nfn frob() {}\n", false),
        ] {
            let search = NameSearch::new(vec!["frob".to_owned()]).unwrap();
            let found = search.find_matches(path, text).remove(0).definition.unwrap();
            assert_eq!(
                matches!(found.reach, Reach::Never(_)),
                is_dead,
                "{path}: {text}: {found:?}"
            );
        }
    }

    #[test]
    fn a_search_without_names_is_none() {
        assert!(NameSearch::new(Vec::new()).is_none());
        assert!(NameSearch::new(vec!["frob".to_owned()]).unwrap().is_in("a frob"));
    }
}
