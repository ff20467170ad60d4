//! Tests inside of a Rust source: items with `#[cfg(test)]` or `#[test]`.

use assay_base::text::single_spaced;
use std::collections::BTreeMap;

/// An item of a source that exists for tests only.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TestItem {
    /// The modules around the item, and its name.
    key: String,
    /// The module around the item.
    module: String,
    start: usize,
    end: usize,
}

impl TestItem {
    fn is_macro(&self) -> bool {
        self.key.contains("::macro_rules! ")
    }

    /// Returns the name of the item alone.
    fn name(&self) -> &str {
        self.key.rsplit(' ').next().unwrap_or_default()
    }
}

/// The items of a source that affect tests.
#[derive(Debug, Default)]
struct Items {
    tests: Vec<TestItem>,
    /// Definitions of macros outside of tests.
    macros: Vec<TestItem>,
    /// The byte offsets of the first items of modules, by module.
    module_starts: BTreeMap<String, usize>,
    /// The byte offsets of the ends of inline modules, by module.
    module_ends: BTreeMap<String, usize>,
    /// Attributes of the whole file that remove items, such as `#![cfg(unix)]`.
    switches: Vec<(usize, usize)>,
}

/// Macros of the standard library that tests use for assertions.
const STANDARD_MACROS: [&str; 10] = [
    "assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne",
    "assert_matches", "panic", "matches", "unreachable",
];

/// Features that enable code for tests, by parts of their names.
const TEST_FEATURES: [&str; 12] = [
    "tests", "testing", "test_util", "test_utils", "test_support", "test_helper", "test_helpers",
    "testutil", "testutils", "testkit", "_test", "__test",
];

/// A Rust source in two parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RustSource {
    /// Items that exist for tests only.
    pub tests: String,
    /// All other items.
    pub rest: String,
}

/// Splits a Rust source into its tests and the rest.
pub fn parts(text: &str) -> RustSource {
    let items = items(text);
    let tests = items.tests.iter().map(|it| format!("{}\n", &text[it.start..it.end])).collect();
    RustSource { tests, rest: without(text, &items.tests) }
}

/// Returns a source without some items, which are in order.
fn without(text: &str, left_out: &[TestItem]) -> String {
    let (mut out, mut at) = (String::new(), 0);
    for item in left_out {
        out.push_str(&text[at.min(item.start)..item.start]);
        at = at.max(item.end);
    }
    out + &text[at..]
}

pub(super) fn has_tests(text: &str) -> bool {
    items(text).tests.iter().any(|item| !item.is_macro())
}

/// Returns the current source with the tests of an earlier version; `None` if they are the same.
pub(super) fn splice(now: &str, kept: &str) -> Option<String> {
    let there = items(kept);
    let here = items_like(now, Some(&there));
    let said = |text: &str, items: &Items| -> Vec<(String, String)> {
        let tests =
            items.tests.iter().map(|it| (it.key.clone(), single_spaced(&text[it.start..it.end])));
        let switches = items
            .switches
            .iter()
            .map(|(start, end)| ("!".to_owned(), single_spaced(&text[*start..*end])));
        let mut all: Vec<_> = tests.chain(switches).collect();
        all.sort();
        all
    };
    if said(now, &here) == said(kept, &there) {
        return None;
    }
    // The range and the replacement of each edit.
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    let mut left: Vec<&TestItem> = there.tests.iter().collect();
    for item in &here.tests {
        let earlier = left.iter().position(|it| it.key == item.key).map(|at| left.remove(at));
        let text = earlier.map_or(String::new(), |it| kept[it.start..it.end].to_owned());
        edits.push((item.start, item.end, text));
    }
    for item in left {
        // A macro must be defined before the tests that use it.
        let places = if item.is_macro() { &here.module_starts } else { &here.module_ends };
        let end = places.get(&item.module).copied().unwrap_or(now.len());
        edits.push((end, end, format!("\n{}\n", &kept[item.start..item.end])));
    }
    edits.extend(here.switches.iter().map(|(start, end)| (*start, *end, String::new())));
    let switches = there.switches.iter().map(|(start, end)| format!("{}\n", &kept[*start..*end]));
    edits.push((0, 0, switches.collect()));
    edits.sort_by_key(|(start, end, _)| (*start, *end));
    let (mut out, mut at) = (String::new(), 0);
    for (start, end, text) in edits {
        out.push_str(&now[at..start]);
        out.push_str(&text);
        at = end;
    }
    Some(out + &now[at..])
}

fn items(text: &str) -> Items {
    items_like(text, None)
}

/// Parses the items of a source. A macro that also exists in an earlier version of the source is
/// for tests if it was for tests there.
fn items_like(text: &str, earlier: Option<&Items>) -> Items {
    let mut items = Items::default();
    Reader { text, at: 0 }.module("", &mut items);
    let macros = std::mem::take(&mut items.macros);
    let mut left_out: Vec<TestItem> = items.tests.iter().chain(&macros).cloned().collect();
    left_out.sort_by_key(|it| it.start);
    let code = without(text, &left_out);
    let is_in = |all: &[TestItem], item: &TestItem| all.iter().any(|it| it.key == item.key);
    let is_for_tests = |item: &TestItem| match earlier {
        Some(earlier) if is_in(&earlier.tests, item) => true,
        Some(earlier) if is_in(&earlier.macros, item) => false,
        Some(_) | None => checks_for_tests(item, text, &code),
    };
    let (for_tests, others): (Vec<TestItem>, Vec<TestItem>) =
        macros.into_iter().partition(is_for_tests);
    items.macros = others;
    items.tests.extend(for_tests);
    items.tests.sort_by_key(|it| it.start);
    items
}

/// Returns true if a macro decides the result of tests: it shadows a standard one, or it asserts
/// and the code outside of tests does not use it.
fn checks_for_tests(item: &TestItem, text: &str, code: &str) -> bool {
    let name = item.name();
    let asserts = || {
        let body = &text[item.start..item.end];
        name.contains("assert") || body.contains("assert") || body.contains("panic!")
    };
    let is_used = || code.contains(&format!("{name}!"));
    STANDARD_MACROS.contains(&name) || (asserts() && !is_used())
}

/// A parser of Rust items that skips comments and strings.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

#[derive(Debug)]
pub(super) struct Attributes<'a>(Vec<&'a str>);

impl<'a> Attributes<'a> {
    /// Returns true if the item has a condition other than `#[cfg(test)]`.
    pub(super) fn is_conditional(&self) -> bool {
        self.0.iter().any(|attribute| {
            let said: String = attribute.split_whitespace().collect();
            let is_condition = said.starts_with("#[cfg(") && said != "#[cfg(test)]";
            is_condition || (said.starts_with("#[cfg_attr(") && said.contains("path="))
        })
    }

    /// Returns true if the item is a single test, and no macro that generates several.
    pub(super) fn is_test(&self) -> bool {
        let names = || {
            self.0.iter().map(|attribute| {
                let inside = attribute.trim_start_matches("#[");
                let path = inside.split(['(', '=', ']']).next().unwrap_or_default().trim();
                path.rsplit("::").next().unwrap_or(path)
            })
        };
        let makes_others = ["rstest", "test_case", "test_matrix", "case", "parameterized"];
        names().any(|name| name == "test") && !names().any(|name| makes_others.contains(&name))
    }

    /// Returns the file in a `#[path]` attribute.
    pub(super) fn path(&self) -> Option<&'a str> {
        self.0.iter().find_map(|attribute| {
            let inside = attribute.strip_prefix("#[")?.trim_start().strip_prefix("path")?;
            inside.trim_start().strip_prefix('=')?.split('"').nth(1)
        })
    }
}

impl<'a> Reader<'a> {
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Parses the items of a module up to its end.
    fn module(&mut self, module: &str, items: &mut Items) {
        loop {
            self.skip_blanks();
            let start = self.at;
            if self.at >= self.text.len() || self.rest().starts_with('}') {
                items.module_ends.insert(module.to_owned(), self.at);
                self.at = (self.at + 1).min(self.text.len());
                return;
            }
            if self.rest().starts_with("#![") {
                self.skip_group();
                if is_switch(&self.text[start..self.at]) {
                    items.switches.push((start, self.at));
                }
                continue;
            }
            items.module_starts.entry(module.to_owned()).or_insert(start);
            let attributes = self.attributes();
            let mut is_test = attributes.0.iter().any(|it| is_test_attribute(it));
            let (kind, name) = self.head();
            is_test |= kind == "proptest!";
            if kind == "mod" && !is_test && self.enters_block() {
                self.module(&inside(module, &name), items);
                continue;
            }
            self.skip_item();
            let (key, module) = (format!("{module}::{kind} {name}"), module.to_owned());
            let item = TestItem { key, module, start, end: self.at };
            match is_test {
                true => items.tests.push(item),
                false if kind == "macro_rules!" => items.macros.push(item),
                false => {}
            }
        }
    }

    /// Parses the attributes of an item, and moves behind them.
    pub(super) fn attributes(&mut self) -> Attributes<'a> {
        let mut found = Vec::new();
        while self.rest().starts_with('#') {
            let from = self.at;
            self.skip_group();
            found.push(&self.text[from..self.at]);
            self.skip_blanks();
        }
        Attributes(found)
    }

    /// Returns the kind and the name of an item, without moving.
    pub(super) fn head(&self) -> (String, String) {
        let words = self
            .rest()
            .split(|c: char| c.is_whitespace() || matches!(c, '(' | '{' | ';' | '<' | ':'));
        let mut words = words.filter(|word| !word.is_empty());
        let skipped =
            ["pub", "crate)", "super)", "async", "unsafe", "extern", "const", "crate", "super"];
        let kind = words.find(|word| !skipped.contains(word)).unwrap_or_default();
        (kind.to_owned(), words.next().unwrap_or_default().to_owned())
    }

    /// Moves into the block of an item. Returns false if the item has no block.
    pub(super) fn enters_block(&mut self) -> bool {
        let (brace, end) = (self.rest().find('{'), self.rest().find(';'));
        match (brace, end) {
            (Some(brace), end) if end.is_none_or(|end| brace < end) => {
                self.at += brace + 1;
                true
            }
            _ => false,
        }
    }

    /// Moves behind an item: behind its block or its semicolon.
    pub(super) fn skip_item(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            match c {
                ';' => {
                    self.at += 1;
                    return;
                }
                '{' => {
                    self.skip_group();
                    return;
                }
                '(' | '[' => self.skip_group(),
                '}' => return,
                _ => self.skip_token(),
            }
        }
    }

    /// Moves behind the next group of brackets.
    pub(super) fn skip_group(&mut self) {
        let mut depth = 0;
        while let Some(c) = self.rest().chars().next() {
            match c {
                '(' | '[' | '{' => {
                    depth += 1;
                    self.at += 1;
                }
                ')' | ']' | '}' => {
                    depth -= 1;
                    self.at += 1;
                    if depth <= 0 {
                        return;
                    }
                }
                _ => self.skip_token(),
            }
        }
    }

    pub(super) fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            self.at += blanks;
            if !self.skip_comment() {
                return;
            }
        }
    }

    fn skip_comment(&mut self) -> bool {
        let rest = self.rest();
        if rest.starts_with("//") {
            self.at += rest.find('\n').unwrap_or(rest.len());
            return true;
        }
        if !rest.starts_with("/*") {
            return false;
        }
        let (mut depth, mut at) = (0, 0);
        while at < rest.len() {
            let from = &rest.as_bytes()[at..];
            match () {
                () if from.starts_with(b"/*") => (depth, at) = (depth + 1, at + 2),
                () if from.starts_with(b"*/") => (depth, at) = (depth - 1, at + 2),
                () => at += 1,
            }
            if depth == 0 {
                break;
            }
        }
        self.at += at;
        true
    }

    /// Moves behind a comment, a string, a character literal, a word or any other character.
    fn skip_token(&mut self) {
        if self.skip_comment() {
            return;
        }
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return };
        self.at += match c {
            '"' => string_length(rest),
            'r' | 'b' | 'c' => raw_length(rest).unwrap_or_else(|| word_length(rest)),
            '\'' => character_length(rest),
            c if c.is_alphanumeric() || c == '_' => word_length(rest),
            c => c.len_utf8(),
        };
    }
}

pub(super) fn inside(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len()).max(1)
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of a raw string or a byte string.
fn raw_length(text: &str) -> Option<usize> {
    let mark = text.find(|c: char| !matches!(c, 'r' | 'b' | 'c'))?;
    let hashes = text[mark..].len() - text[mark..].trim_start_matches('#').len();
    text[mark + hashes..].strip_prefix('"').filter(|_| mark <= 2)?;
    if !text[..mark].contains('r') {
        return Some(mark + string_length(&text[mark..]));
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let open = mark + hashes + 1;
    Some(text[open..].find(&end).map_or(text.len(), |at| open + at + end.len()))
}

/// Returns the length of a character literal such as `'{'`; for a lifetime, that of its quote.
fn character_length(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => {
            text[2..].char_indices().skip(1).find(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 3)
        }
        Some(_) => match chars.next() {
            Some((at, '\'')) => at + 1,
            Some(_) | None => 1,
        },
        None => 1,
    }
}

fn is_test_attribute(attribute: &str) -> bool {
    let inside: String =
        attribute.trim_start_matches("#[").trim_end_matches(']').split_whitespace().collect();
    let path = inside.split(['(', '=']).next().unwrap_or_default();
    let last = path.rsplit("::").next().unwrap_or_default();
    let named = [
        "test", "rstest", "test_case", "test_matrix", "quickcheck", "proptest", "bench",
        "wasm_bindgen_test",
    ];
    let asks = || {
        let mut words = inside.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|it| it == "test" || TEST_FEATURES.contains(&it))
    };
    named.contains(&last) || (matches!(path, "cfg" | "cfg_attr") && asks())
}

/// Returns true if an attribute of a file can remove items or tests.
fn is_switch(attribute: &str) -> bool {
    let inside: String = attribute.trim_start_matches("#![").split_whitespace().collect();
    ["cfg(", "cfg_attr(", "test_runner", "reexport_test", "no_main", "no_core"]
        .iter()
        .any(|start| inside.starts_with(start))
        || inside.contains("custom_test_frameworks")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(now: &str, kept: &str, expected: Expect) {
        expected.assert_eq(&splice(now, kept).unwrap_or_else(|| "the same".to_owned()));
    }

    #[test]
    fn tests_are_taken_from_the_earlier_version_and_code_from_the_current_one() {
        let tricky = "const A: &str = \"{ #[test]\"; // {\nfn f<'a>(x: &'a str) -> char { '}' }\nconst R: &str = r#\"\"}\"#;\n";
        check(
            &format!(
                "{tricky}fn g() -> u8 {{ 2 }}\n#[cfg(test)]\nmod tests {{ #[test] fn a() {{ assert!(true) }} }}\n"
            ),
            "fn g() -> u8 { 1 }\n#[cfg(test)]\nmod tests { #[test] fn a() { assert_eq!(g(), 1) } }\n",
            expect![[r##"
                const A: &str = "{ #[test]"; // {
                fn f<'a>(x: &'a str) -> char { '}' }
                const R: &str = r#""}"#;
                fn g() -> u8 { 2 }
                #[cfg(test)]
                mod tests { #[test] fn a() { assert_eq!(g(), 1) } }
            "##]],
        );
    }

    #[test]
    fn removed_tests_are_restored_and_new_test_items_are_dropped() {
        check(
            "#![cfg(unix)]\nmod m {\n    fn x() {}\n}\n#[cfg(test)]\nfn x() {}\n",
            "mod m {\n    #[test]\n    fn a() {}\n}\n",
            expect![[r#"

                mod m {
                    fn x() {}

                #[test]
                    fn a() {}
                }

            "#]],
        );
    }

    #[test]
    fn assertion_macros_of_tests_are_taken_from_the_earlier_version() {
        let tests = "#[cfg(test)]\nmod tests { #[test] fn a() { same!(g(), 1) } }\n";
        let same = "macro_rules! same { ($l:expr, $r:expr) => { assert!($l == $r) } }\n";
        let kept = format!("{same}fn g() -> u8 {{ 1 }}\n{tests}");
        let empty = kept.replace("assert!($l == $r)", "{ let _ = ($l, $r); }");
        assert_eq!(splice(&empty, &kept), Some(kept.clone()));
        let removed = kept.replace(same, "");
        assert_eq!(splice(&removed, &kept), Some(format!("\n{same}fn g() -> u8 {{ 1 }}\n{tests}")));
        let plain = "fn g() -> u8 { 1 }\n#[test]\nfn a() { assert_eq!(g(), 1) }\n";
        let shadow = "macro_rules! assert_eq { ($l:expr, $r:expr) => {} }\n";
        assert_eq!(splice(&format!("{shadow}{plain}"), plain), Some(format!("\n{plain}")));
        // Code outside of tests uses the macro, so the macro is not a test item.
        let used = format!("{kept}fn h() {{ same!(1, 1) }}\n");
        let changed = used.replace("$l == $r", "$l >= $r");
        assert_eq!(splice(&changed, &used), None);
        assert!(!has_tests(same));
    }

    #[test]
    fn a_source_is_split_into_tests_and_the_rest() {
        let text = "mod a;\n#[cfg(test)]\nmod checks;\n#[cfg(feature = \"test-util\")]\npub mod b;\nfn g() {}\n";
        let split = parts(text);
        assert_eq!(single_spaced(&split.rest), "mod a; fn g() {}");
        assert!(split.tests.contains("mod checks;") && split.tests.contains("pub mod b;"));
    }

    #[test]
    fn a_change_of_code_only_changes_no_kept_test() {
        let text =
            "fn g() -> u8 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n";
        assert_eq!(splice(&text.replace('1', "2"), text), None);
        assert_eq!(splice(&text.replace("    #[test]\n    fn", "  #[test]\n  fn"), text), None);
        assert!(has_tests(text) && !has_tests("fn g() {}\n"));
    }
}
