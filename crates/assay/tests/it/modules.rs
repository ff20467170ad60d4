//! Import cycles: sibling modules of a crate import each other in one direction only.
//!
//! `crates/*/src` is parsed as text. An import is a `use` or a path in code that begins with
//! `crate`, `super`, `self` or a name in scope; re-exports are followed to the module that defines
//! the item. An import between two modules counts for the pair of siblings in which their paths
//! part, so each level of nesting has its own graph. A module and its own submodules may import
//! each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

#[test]
fn modules_of_a_crate_do_not_import_each_other_in_a_cycle() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut names: Vec<String> = fs::read_dir(&crates)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| crates.join(name).join("src").is_dir())
        .collect();
    names.sort();
    assert!(names.len() >= 15, "only {names:?} were seen");
    let mut wrong = String::new();
    for name in names {
        let cycles = Crate::read(&crates.join(&name).join("src")).cycles();
        if !cycles.is_empty() {
            wrong += &format!("crate {name}:\n{}", cycles.join(""));
        }
    }
    assert!(wrong.is_empty(), "modules import each other in a cycle\n{wrong}");
}

/// The path of a module below its crate; empty for the root.
type ModulePath = Vec<String>;

/// The modules of a crate, without those for tests.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<ModulePath, Module>,
}

#[derive(Default)]
struct Module {
    /// Names that `use` brings into scope, with the path of each.
    aliases: BTreeMap<String, Vec<String>>,
    /// Paths of `use path::*`.
    globs: Vec<Vec<String>>,
    /// Names of items that the module defines.
    items: BTreeSet<String>,
    /// All paths in `use` and in code.
    paths: Vec<Reference>,
}

/// A path in the source.
struct Reference {
    path: Vec<String>,
    /// File and line with the text of the line.
    place: String,
}

impl Crate {
    /// Reads the crate whose root is `lib.rs`, or else `main.rs`, in `source`.
    fn read(source: &Path) -> Self {
        let root = ["lib.rs", "main.rs"].map(|name| source.join(name));
        let root = root.iter().find(|path| path.is_file()).expect("a crate has a root");
        let mut all = Self::default();
        all.read_file(source, root, source, &[]);
        all
    }

    fn read_file(&mut self, source: &Path, file: &Path, folder: &Path, module: &[String]) {
        let text = fs::read_to_string(file).unwrap();
        let name = file.strip_prefix(source).unwrap().display().to_string();
        for child in self.read_text(&name, &text, module) {
            let below =
                child[module.len()..].iter().fold(folder.to_owned(), |at, name| at.join(name));
            let beside = below.with_extension("rs");
            let file = if beside.is_file() { beside } else { below.join("mod.rs") };
            self.read_file(source, &file, &below, &child);
        }
    }

    /// Adds the text of one file, and returns the modules that it declares in their own files.
    fn read_text(&mut self, file: &str, text: &str, module: &[String]) -> Vec<ModulePath> {
        let tokens = tokens(text);
        let lines: Vec<&str> = text.lines().collect();
        let mut reader =
            Reader { tokens: &tokens, at: 0, file, lines: &lines, declared: Vec::new() };
        reader.module(self, module);
        reader.declared
    }

    /// Returns the module in which `path`, written in `module`, ends; `None` for a path out of the
    /// crate.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Option<ModulePath> {
        let (first, mut rest) = path.split_first()?;
        let mut current = match first.as_str() {
            "crate" => Vec::new(),
            "self" => module.to_vec(),
            "super" => module.split_last()?.1.to_vec(),
            name => {
                rest = path;
                self.names(module, name).then(|| module.to_vec())?
            }
        };
        while let Some((name, after)) = rest.split_first() {
            let child = [current.as_slice(), std::slice::from_ref(name)].concat();
            if name == "super" {
                current.pop();
            } else if self.modules.contains_key(&child) {
                current = child;
            } else {
                return self.follow(&current, name, after, depth).or(Some(current));
            }
            rest = after;
        }
        Some(current)
    }

    /// Resolves a name that `use` brought into the scope of `module`.
    fn follow(
        &self,
        module: &[String],
        name: &str,
        rest: &[String],
        depth: usize,
    ) -> Option<ModulePath> {
        let scope = self.modules.get(module)?;
        if depth == 0 || scope.items.contains(name) {
            return None;
        }
        if let Some(alias) = scope.aliases.get(name) {
            return self.resolve(module, &[alias, rest].concat(), depth - 1);
        }
        scope.globs.iter().find_map(|glob| {
            let from = self.resolve(module, glob, depth - 1)?;
            self.names(&from, name).then(|| {
                let path = [&["self".to_owned(), name.to_owned()], rest].concat();
                self.resolve(&from, &path, depth - 1)
            })?
        })
    }

    /// Returns true if `name` is a submodule, an item or an import of `module`.
    fn names(&self, module: &[String], name: &str) -> bool {
        let child = [module, &[name.to_owned()]].concat();
        self.modules.contains_key(&child)
            || self
                .modules
                .get(module)
                .is_some_and(|scope| scope.items.contains(name) || scope.aliases.contains_key(name))
    }

    /// Returns one text for each set of siblings that import each other, with a line of source for
    /// each import.
    fn cycles(&self) -> Vec<String> {
        let mut levels: BTreeMap<ModulePath, Graph> = BTreeMap::new();
        for (module, content) in &self.modules {
            for reference in &content.paths {
                let Some(target) = self.resolve(module, &reference.path, 16) else { continue };
                let shared = module.iter().zip(&target).take_while(|(a, b)| a == b).count();
                let (Some(from), Some(to)) = (module.get(shared), target.get(shared)) else {
                    continue;
                };
                let level = levels.entry(module[..shared].to_vec()).or_default();
                let imports = level.entry(from.clone()).or_default();
                imports.entry(to.clone()).or_insert_with(|| reference.place.clone());
            }
        }
        let mut all = Vec::new();
        for (parent, graph) in &levels {
            for ring in rings(graph) {
                let names: Vec<String> = ring
                    .iter()
                    .map(|name| [parent.as_slice(), std::slice::from_ref(name)].concat().join("::"))
                    .collect();
                let mut text = format!("  {}\n", names.join(", "));
                for from in &ring {
                    for (to, place) in graph[from].iter().filter(|(to, _)| ring.contains(*to)) {
                        text += &format!("    {from} -> {to}: {place}\n");
                    }
                }
                all.push(text);
            }
        }
        all
    }
}

/// Imports by importing module, then by imported module, with the place of the first one.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// Returns the largest sets of modules each of which reaches all others of its set.
fn rings(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = graph
        .keys()
        .map(|start| {
            let mut seen = BTreeSet::new();
            let mut open = vec![start];
            while let Some(next) = open.pop() {
                let imports = graph.get(next).into_iter().flat_map(BTreeMap::keys);
                open.extend(imports.filter(|to| seen.insert(*to)));
            }
            (start, seen)
        })
        .collect();
    let mut all: Vec<BTreeSet<String>> = Vec::new();
    for (start, seen) in &reached {
        if seen.contains(start) && !all.iter().any(|ring| ring.contains(*start)) {
            let back =
                |other: &&&String| reached.get(*other).is_some_and(|seen| seen.contains(start));
            all.push(seen.iter().filter(back).map(|name| (*name).clone()).collect());
        }
    }
    all
}

/// A parser that reads the tokens of one file into modules.
struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    file: &'a str,
    lines: &'a [&'a str],
    /// Modules that are declared here and have their own files.
    declared: Vec<ModulePath>,
}

impl Reader<'_> {
    fn word(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |token| &token.text)
    }

    /// Reads up to the end of the file or of an inline module.
    fn module(&mut self, all: &mut Crate, module: &[String]) {
        all.modules.entry(module.to_vec()).or_default();
        let mut depth = 0_usize;
        while self.at < self.tokens.len() {
            match (self.word(0), self.word(1), self.word(2)) {
                ("}", ..) if depth == 0 => break,
                ("}", ..) => (depth, self.at) = (depth - 1, self.at + 1),
                ("{", ..) => (depth, self.at) = (depth + 1, self.at + 1),
                ("#", "[", _) | ("#", "!", "[") => self.attribute(),
                ("pub", "(", _) => self.skip_group(1),
                ("mod", name, ";" | "{") if is_name(name) => {
                    let child = [module, &[name.to_owned()]].concat();
                    let is_inline = self.word(2) == "{";
                    self.at += 3;
                    if is_inline {
                        self.module(all, &child);
                        self.at += 1;
                    } else {
                        self.declared.push(child);
                    }
                }
                ("use", "<", _) => self.at += 1,
                ("use", ..) => {
                    self.at += 1;
                    self.use_tree(all, module, &[]);
                }
                (
                    "struct" | "enum" | "trait" | "union" | "type" | "fn" | "const" | "static",
                    name,
                    _,
                ) if is_name(name) && depth == 0 => {
                    let content = all.modules.entry(module.to_vec()).or_default();
                    content.items.insert(name.to_owned());
                    self.at += 1;
                }
                (name, "::", _) if is_name(name) && !(self.at > 0 && self.before() == "::") => {
                    self.path(all, module);
                }
                _ => self.at += 1,
            }
        }
    }

    fn before(&self) -> &str {
        &self.tokens[self.at - 1].text
    }

    /// Skips an attribute, and the item after it if that is for tests alone.
    fn attribute(&mut self) {
        let start = self.at;
        self.skip_group(if self.word(1) == "!" { 2 } else { 1 });
        let words: Vec<&str> =
            self.tokens[start..self.at].iter().map(|token| token.text.as_str()).collect();
        let is_for_tests = words[..] == ["#", "[", "test", "]"]
            || words.get(2) == Some(&"cfg") && words.contains(&"test") && !words.contains(&"not");
        if is_for_tests && words[1] != "!" {
            self.skip_item();
        }
    }

    fn skip_item(&mut self) {
        let is_use = (0..6).any(|ahead| self.word(ahead) == "use");
        while self.at < self.tokens.len() {
            match self.word(0) {
                ";" | "," => {
                    self.at += 1;
                    return;
                }
                "}" => return,
                "{" => {
                    self.skip_group(0);
                    if !is_use {
                        return;
                    }
                }
                "(" | "[" => self.skip_group(0),
                _ => self.at += 1,
            }
        }
    }

    /// Skips to behind the group in brackets that opens `ahead` tokens from here.
    fn skip_group(&mut self, ahead: usize) {
        self.at += ahead;
        let mut depth = 0_usize;
        while self.at < self.tokens.len() {
            match self.word(0) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Reads one branch of a `use`, which ends at `,`, `}` or `;`.
    fn use_tree(&mut self, all: &mut Crate, module: &[String], before: &[String]) {
        let mut path = before.to_vec();
        let line = self.tokens.get(self.at).map_or(0, |token| token.line);
        let mut alias = None;
        let mut is_glob = false;
        loop {
            match self.word(0) {
                "{" => {
                    self.at += 1;
                    while !matches!(self.word(0), "}" | ";" | "") {
                        self.use_tree(all, module, &path);
                        if self.word(0) == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                "," | "}" | ";" | "" => break,
                "as" => {
                    alias = Some(self.word(1).to_owned());
                    self.at += 1;
                }
                "*" => is_glob = true,
                "self" if !path.is_empty() => {}
                "::" => {}
                name => path.push(name.to_owned()),
            }
            self.at += 1;
        }
        let reference = self.reference(path.clone(), line);
        let content = all.modules.entry(module.to_vec()).or_default();
        content.paths.push(reference);
        if is_glob {
            content.globs.push(path);
        } else if let Some(name) = alias.or_else(|| path.last().cloned()) {
            // `use foo;` of a crate or submodule introduces a name that resolves to itself.
            if path.len() > 1 {
                content.aliases.insert(name, path);
            }
        }
    }

    /// Reads a path in code.
    fn path(&mut self, all: &mut Crate, module: &[String]) {
        let line = self.tokens[self.at].line;
        let mut path = vec![self.word(0).to_owned()];
        self.at += 1;
        while self.word(0) == "::" && is_name(self.word(1)) {
            path.push(self.word(1).to_owned());
            self.at += 2;
        }
        let reference = self.reference(path, line);
        all.modules.entry(module.to_vec()).or_default().paths.push(reference);
    }

    fn reference(&self, path: Vec<String>, line: usize) -> Reference {
        let text = self.lines.get(line).map_or("", |text| text.trim());
        Reference { path, place: format!("{}:{}: {text}", self.file, line + 1) }
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// A name, `::` or a single punctuation character, with its line counted from 0.
struct Token {
    text: String,
    line: usize,
}

/// Splits Rust source into tokens, without comments, strings, characters and lifetimes.
fn tokens(text: &str) -> Vec<Token> {
    let mut all = Vec::new();
    let (mut rest, mut line) = (text, 0);
    while let Some(first) = rest.chars().next() {
        let length = if let Some(length) = ignored(rest) {
            length
        } else if is_name(rest) || first.is_ascii_digit() {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        if ignored(rest).is_none() && !first.is_whitespace() {
            all.push(Token { text: token.to_owned(), line });
        }
        line += token.matches('\n').count();
        rest = after;
    }
    all
}

/// Returns the length of the comment, string, character or lifetime with which `text` begins.
fn ignored(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        let mut depth = 0;
        let mut at = 0;
        while at < text.len() {
            let change = if text[at..].starts_with("/*") { 1 } else { -1 };
            depth += change;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
            let next = ["/*", "*/"].iter().filter_map(|mark| text[at..].find(mark)).min();
            at = next.map_or(text.len(), |next| at + next);
        }
        return Some(text.len());
    }
    let prefix = ["br", "cr", "b", "c", "r", ""].iter().find(|prefix| {
        text.strip_prefix(**prefix).is_some_and(|rest| {
            let quoted = rest.trim_start_matches('#');
            quoted.starts_with('"') && (rest.len() == quoted.len() || prefix.ends_with('r'))
        })
    });
    if let Some(prefix) = prefix {
        let body = &text[prefix.len()..];
        let hashes = body.len() - body.trim_start_matches('#').len();
        let start = prefix.len() + hashes + 1;
        if prefix.ends_with('r') {
            let end = format!("\"{}", "#".repeat(hashes));
            return Some(text[start..].find(&end).map_or(text.len(), |at| start + at + end.len()));
        }
        return Some(start + quoted(&text[start..], '"'));
    }
    if text.starts_with("r#") && is_name(&text[2..]) {
        return Some(2);
    }
    let rest = text.strip_prefix('\'').or_else(|| text.strip_prefix("b'"))?;
    let start = text.len() - rest.len();
    let mut chars = rest.chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), _) | (_, Some('\'')) => Some(start + quoted(rest, '\'')),
        _ => Some(start + rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(0)),
    }
}

/// Returns the length of a text with escapes, including its closing mark.
fn quoted(text: &str, end: char) -> usize {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == end {
            return at + 1;
        }
    }
    text.len()
}

/// Parses files given as `== name` lines with their text, and compares the cycles.
#[track_caller]
fn check(files: &str, expected: &[&str]) {
    let mut all = Crate::default();
    for file in files.split("== ").filter(|file| !file.trim().is_empty()) {
        let (name, text) = file.split_once('\n').unwrap();
        let path = name.trim().trim_end_matches(".rs").trim_end_matches("/mod");
        let module: ModulePath =
            path.split('/').filter(|name| *name != "lib").map(str::to_owned).collect();
        all.read_text(name, text, &module);
    }
    let found: Vec<String> = all
        .cycles()
        .iter()
        .flat_map(|cycle| cycle.lines().skip(1))
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn two_modules_that_import_each_other_are_a_cycle() {
    check(
        "== lib.rs\nmod a;\nmod b;\n== a.rs\nuse crate::b::B;\npub struct A;\n== b.rs\n\nuse super::a::A;\npub struct B;\n",
        &["a -> b: a.rs:1: use crate::b::B;", "b -> a: b.rs:2: use super::a::A;"],
    );
    check("== a.rs\nuse crate::b::B;\n== b.rs\npub struct B;\n", &[]);
}

#[test]
fn groups_and_nested_groups_are_read() {
    check(
        "== a.rs\nuse crate::{\n    c::D,\n    b::{self, B as Other},\n};\n== b.rs\nuse {crate::a};\n== c.rs\n",
        &["a -> b: a.rs:3: b::{self, B as Other},", "b -> a: b.rs:1: use {crate::a};"],
    );
}

#[test]
fn a_path_in_code_is_an_import() {
    check(
        "== a.rs\nfn a() -> Vec<crate::b::B> { crate::b::make::<u8>() }\n== b.rs\nfn b() { if x { super::a::a() } }\n",
        &[
            "a -> b: a.rs:1: fn a() -> Vec<crate::b::B> { crate::b::make::<u8>() }",
            "b -> a: b.rs:1: fn b() { if x { super::a::a() } }",
        ],
    );
}

#[test]
fn comments_strings_and_characters_are_no_imports() {
    for text in [
        "// crate::a::A",
        "/* /* */ crate::a::A */",
        "//! [`crate::a::A`]",
        r#"const X: &str = "\" crate::a::A";"#,
        r##"const X: &str = r#"" crate::a::A"#;"##,
        r"const X: &str = b'\''; // crate::a::A",
        "pub(in crate::a) struct X;",
    ] {
        check(&format!("== a.rs\nuse crate::b::B;\n== b.rs\n{text}\n"), &[]);
    }
    let after = r#"fn b<'a>(x: &'a str) { ('"', "\\", 'x', crate::a::a()) }"#;
    check(
        &format!("== a.rs\nuse crate::b::B;\n== b.rs\n{after}\n"),
        &["a -> b: a.rs:1: use crate::b::B;", &format!("b -> a: b.rs:1: {after}")],
    );
}

#[test]
fn imports_of_tests_do_not_count() {
    for text in [
        "#[cfg(test)]\nmod tests { use crate::a::A; }",
        "#[cfg(test)]\nuse crate::{a::A};",
        "#[cfg(test)]\n#[allow(unused)]\nfn f() { crate::a::a() }",
        "#[cfg(all(test, unix))]\nimpl X { fn f() { crate::a::a() } }",
        "#[test]\nfn f() { crate::a::a() }",
    ] {
        check(&format!("== a.rs\nuse crate::b::B;\n== b.rs\n{text}\n"), &[]);
    }
}

#[test]
fn a_name_exported_by_a_parent_is_an_import_of_its_module() {
    check(
        "== lib.rs\npub use a::A;\n== a.rs\nuse crate::b::B;\npub struct A;\n== b.rs\nuse crate::A;\n",
        &["a -> b: a.rs:1: use crate::b::B;", "b -> a: b.rs:1: use crate::A;"],
    );
    check(
        "== lib.rs\npub use a::*;\n== a.rs\nuse crate::b::B;\npub struct A;\n== b.rs\nfn b() { crate::A::new() }\n",
        &["a -> b: a.rs:1: use crate::b::B;", "b -> a: b.rs:1: fn b() { crate::A::new() }"],
    );
}

#[test]
fn siblings_below_a_module_have_a_graph_of_their_own() {
    check(
        "== m/mod.rs\nmod a;\nmod b;\nuse a::A;\n== m/a.rs\nuse super::b::B;\n== m/b.rs\nuse crate::m::a;\n",
        &["a -> b: m/a.rs:1: use super::b::B;", "b -> a: m/b.rs:1: use crate::m::a;"],
    );
    check("== m/mod.rs\nmod a;\nuse a::A;\n== m/a.rs\nuse super::M;\n", &[]);
}

#[test]
fn an_inline_module_is_a_module() {
    check(
        "== lib.rs\nmod a { use super::b; }\nmod b { fn b() { crate::a::x() } }\n",
        &[
            "a -> b: lib.rs:1: mod a { use super::b; }",
            "b -> a: lib.rs:2: mod b { fn b() { crate::a::x() } }",
        ],
    );
}
