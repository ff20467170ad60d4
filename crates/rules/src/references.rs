//! References of a source file: [`references`] finds imports and string literals in a syntax tree.

mod shell;

use self::shell::find_sourced;
use crate::language::{self, CodeContainer, Language};
use crate::syntax::{LineSet, Syntax, SyntaxNode};

/// A mention of another file in a source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reference {
    /// A module of Python, by its leading dots and its names.
    Module {
        /// The number of leading dots; 0 for a module that is looked up from the root.
        level: usize,
        /// The names, outer ones first.
        names: Vec<String>,
    },
    /// A module of Rust in a separate file: `mod checks;`.
    Submodule(String),
    /// A path relative to the folder of the source, as in `require('./helper')` or
    /// `include!("a.inc")`.
    File(String),
    /// A package or a class by its name, as in `import "example.com/calc/check"`.
    Package(String),
    /// Any other string literal.
    Text(String),
}

/// Functions whose first argument is the name of a module.
const LOADERS: [&str; 13] = [
    "require", "import", "require.resolve", "import.meta.resolve", "jest.mock", "vi.mock",
    "jest.requireActual", "vi.importActual", "require_relative", "load", "import_module",
    "importlib.import_module", "__import__",
];

/// Returns the references of a source file, in order; `None` if no grammar can parse its code, or
/// if the references of its language are not known.
pub fn references(path: &str, text: &str) -> Option<Vec<Reference>> {
    let is_unknown = matches!(
        language::of(path, text)?,
        Language::Yaml
            | Language::Json
            | Language::Hcl
            | Language::CSharp
            | Language::Kotlin
            | Language::Swift
    );
    if is_unknown || CodeContainer::of(path).is_some() {
        return None;
    }
    let syntax = Syntax::of(path, text)?;
    let language = syntax.language();
    let mut found = Vec::new();
    let see = |node: &SyntaxNode<'_>, _| add_references(language, node, &mut found);
    syntax.visit(&LineSet::all(), |_| true, see);
    if language == Language::Bash {
        found.extend(find_sourced(text));
    }
    Some(found)
}

fn add_references(language: Language, node: &SyntaxNode<'_>, found: &mut Vec<Reference>) {
    match &*node.kind() {
        "import_statement" if language == Language::Python => {
            found.extend(parse_import(&node.text()))
        }
        "import_from_statement" => found.extend(parse_from_import(&node.text())),
        "import_statement" | "export_statement" => {
            found.extend(node.field("source").map(|source| specifier(literal(&source.text()))));
        }
        "import_spec" => {
            let path = node.field("path").map(|path| literal(&path.text()).to_owned());
            found.extend(path.map(Reference::Package));
        }
        "import_declaration" if language == Language::Java => {
            let text = node.text();
            let name = text.trim_start_matches("import").trim().trim_start_matches("static ");
            found
                .push(Reference::Package(name.trim_end_matches([';', '*', '.']).replace('.', "/")));
        }
        "preproc_include" => found.extend(
            node.field("path").map(|path| Reference::File(literal(&path.text()).to_owned())),
        ),
        "require_expression"
        | "require_once_expression"
        | "include_expression"
        | "include_once_expression" => found.extend(
            strings_in(&node.text())
                .into_iter()
                .map(|text| Reference::File(text.trim_start_matches('/').to_owned())),
        ),
        "mod_item" if node.field("body").is_none() => found.extend(parse_submodule(node)),
        "macro_invocation" => found.extend(parse_include(node)),
        "call_expression" | "call" | "function_call_expression" => {
            found.extend(parse_load(language, node))
        }
        "command" if language == Language::Bash => found.extend(parse_source(&node.text())),
        "string"
        | "string_literal"
        | "raw_string_literal"
        | "interpreted_string_literal"
        | "template_string"
        | "encapsed_string"
        | "raw_string" => {
            let text = literal(&node.text()).to_owned();
            found.extend((!text.is_empty()).then_some(Reference::Text(text)));
        }
        _ => {}
    }
}

/// Parses `import a.b as c, d`.
fn parse_import(text: &str) -> Vec<Reference> {
    let names = text.trim_start_matches("import").split(',');
    names.filter_map(|name| module(0, name.split_whitespace().next()?)).collect()
}

/// Parses `from ..a import b, c`: `b` may be a module itself.
fn parse_from_import(text: &str) -> Vec<Reference> {
    let text = text.replace(['(', ')', '\\', '\n', '\r', '\t'], " ");
    let Some((from, names)) = text.trim_start_matches("from").split_once(" import ") else {
        return Vec::new();
    };
    let from = from.trim();
    let plain = from.trim_start_matches('.');
    let level = from.len() - plain.len();
    let inner = names.split(',').filter_map(|name| {
        let name = name.split_whitespace().next()?;
        let dotted = if plain.is_empty() { name.to_owned() } else { format!("{plain}.{name}") };
        module(level, &dotted)
    });
    module(level, plain).into_iter().chain(inner).collect()
}

fn module(level: usize, dotted: &str) -> Option<Reference> {
    let names: Vec<String> = dotted
        .split('.')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    (level > 0 || !names.is_empty()).then_some(Reference::Module { level, names })
}

/// Parses a module specifier of JavaScript: a path if it begins with a dot or a slash.
fn specifier(text: &str) -> Reference {
    match text.starts_with('.') || text.starts_with('/') {
        true => Reference::File(text.to_owned()),
        false => Reference::Package(text.to_owned()),
    }
}

/// Parses a module of Rust in a separate file, whose path an attribute may set.
fn parse_submodule(node: &SyntaxNode<'_>) -> Option<Reference> {
    let mut before = node.prev();
    while let Some(attribute) = before.filter(|it| &*it.kind() == "attribute_item") {
        let text: String = attribute.text().split_whitespace().collect();
        if text.starts_with("#[path=") {
            return strings_in(&text).into_iter().next().map(Reference::File);
        }
        before = attribute.prev();
    }
    Some(Reference::Submodule(node.field("name")?.text().into_owned()))
}

/// Parses `include!("a.inc")` and similar macros.
fn parse_include(node: &SyntaxNode<'_>) -> Option<Reference> {
    let name = node.field("macro")?.text().into_owned();
    let is_one = matches!(
        name.trim_start_matches("std::").trim_start_matches("core::"),
        "include" | "include_str" | "include_bytes"
    );
    let text = is_one.then(|| strings_in(&node.text()).into_iter().next_back()).flatten()?;
    Some(Reference::File(text.trim_start_matches('/').to_owned()))
}

/// Parses the module that a call loads.
fn parse_load(language: Language, node: &SyntaxNode<'_>) -> Option<Reference> {
    let name = ["function", "method", "name"].iter().find_map(|field| node.field(field))?;
    if !LOADERS.contains(&&*name.text()) {
        return None;
    }
    let arguments = node.field("arguments")?.text().into_owned();
    let text = strings_in(&arguments).into_iter().next()?;
    match language {
        Language::Python => module(0, &text),
        Language::Ruby if &*name.text() == "require_relative" => Some(Reference::File(text)),
        _ => Some(specifier(&text)),
    }
}

/// Parses `. ./calc.sh` and `source calc.sh`.
fn parse_source(text: &str) -> Option<Reference> {
    let mut words = text.split_whitespace();
    let is_one = matches!(words.next(), Some("." | "source"));
    let path = words.next().filter(|_| is_one)?;
    Some(Reference::File(literal(path).to_owned()))
}

/// Returns the content of a string literal.
fn literal(text: &str) -> &str {
    let inside = text.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '#');
    let text = if inside.starts_with(['"', '\'', '`']) { inside } else { text };
    text.trim_matches(['"', '\'', '`', '#', '<', '>'])
}

/// Returns the string literals of a short piece of code.
fn strings_in(text: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(start) = rest.find(['"', '\'', '`']) {
        let quote = &rest[start..=start];
        let behind = &rest[start + 1..];
        let Some(end) = behind.find(quote) else { break };
        found.push(behind[..end].to_owned());
        rest = &behind[end + 1..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats the references of a source file.
    fn shown(path: &str, text: &str) -> String {
        let found = references(path, text).unwrap().into_iter().map(|it| match it {
            Reference::Module { level, names } => {
                format!("module {}{}", ".".repeat(level), names.join("."))
            }
            Reference::Submodule(name) => format!("mod {name}"),
            Reference::File(path) => format!("file {path}"),
            Reference::Package(name) => format!("package {name}"),
            Reference::Text(text) => format!("text {text}"),
        });
        found.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn other_files_may_name_any_file() {
        for path in ["a.kt", "a.cs", "a.swift", "a.tf", "a.yml", "Dockerfile", "a.vue", "a.ipynb"] {
            assert_eq!(references(path, "COPY a/b.py /srv/\n"), None, "{path}");
        }
    }

    #[test]
    fn imports_are_read_in_every_language() {
        let table = [
            ("a.py", "import a.b as c, d\n", "module a.b, module d"),
            (
                "a.py",
                "from ..a import (\n    b as x,\n    c,\n)\nfrom . import d\n",
                "module ..a, module ..a.b, module ..a.c, module ., module .d",
            ),
            ("a.py", "import_module('a.b')\n", "module a.b, text a.b"),
            (
                "a.js",
                "import { a } from './b.js';\nexport * from 'c';\n",
                "file ./b.js, text ./b.js, package c, text c",
            ),
            ("a.js", "const { a } = require('../b');\n", "file ../b, text ../b"),
            ("a.ts", "import type { A } from \"./a\";\n", "file ./a, text ./a"),
            (
                "a.go",
                "package a\n\nimport (\n\tx \"example.com/a/b\"\n)\n",
                "package example.com/a/b, text example.com/a/b",
            ),
            (
                "a.rs",
                "mod a;\n#[path = \"x/y.rs\"]\nmod b;\nmod c {}\n",
                "mod a, text x/y.rs, file x/y.rs",
            ),
            ("a.rs", "include!(\"a.inc\");\n", "file a.inc, text a.inc"),
            ("A.java", "import a.b.C;\nclass A {}\n", "package a/b/C"),
            ("a.rb", "require_relative 'b/c'\n", "file b/c, text b/c"),
            ("a.c", "#include \"b.h\"\n", "file b.h, text b.h"),
            ("a.sh", ". ./calc.sh\n", "file ./calc.sh"),
            ("a.sh", "cd etc && . ./opts\n", "file ./opts, file etc/./opts"),
        ];
        for (path, text, expected) in table {
            assert_eq!(shown(path, text), expected, "{text}");
        }
        assert_eq!(references("a.json", "{}"), None);
        assert_eq!(references("a.txt", "import a"), None);
    }
}
