//! Finds the files of a tree that a source refers to: [`resolve`], [`is_data_of`].

use std::collections::BTreeMap;

use assay_change::StoredFile;
use assay_rules::Reference;

/// The files of a version of the tree.
pub(crate) type Files = BTreeMap<String, StoredFile>;

/// File name endings that sources may omit when they import a module.
const ENDINGS: [&str; 13] = [
    "", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".json", ".rb", ".php", ".sh",
];

/// Folders in which modules are looked up, in addition to those around the source.
const ROOTS: [&str; 4] = ["", "src", "lib", "python"];

/// Folders of dependencies that a repository may contain.
pub(crate) const DEPENDENCY_FOLDERS: [&str; 6] =
    ["node_modules", "vendor", "third_party", "site-packages", "bower_components", "_vendor"];

/// Returns the files that a reference in the source `from` resolves to.
pub(crate) fn resolve(reference: &Reference, from: &str, files: &Files) -> Vec<String> {
    let folder = folder_of(from);
    match reference {
        Reference::Module { level: 0, names } => {
            let roots = ancestors(folder).into_iter().chain(ROOTS.map(str::to_owned));
            roots.flat_map(|root| module(&root, names, files)).collect()
        }
        Reference::Module { level, names } => {
            let root = ancestors(folder).into_iter().nth(level - 1);
            root.map(|root| module(&root, names, files)).unwrap_or_default()
        }
        Reference::Submodule(name) => submodule(from, name, files),
        Reference::File(path) => file(folder, path, files),
        Reference::Package(name) => package(folder, name, files),
        Reference::Text(_) => Vec::new(),
    }
}

/// Returns the files of a Python module and of the packages around it.
fn module(root: &str, names: &[String], files: &Files) -> Vec<String> {
    let mut found = Vec::new();
    for count in 0..=names.len() {
        let base = join(root, &names[..count].join("/"));
        let own =
            if count == names.len() && count > 0 { format!("{base}.py") } else { String::new() };
        let init = join(&base, "__init__.py");
        // A package is always loaded with its modules.
        let is_asked = count > 0 || names.is_empty();
        found.extend([own, init].into_iter().filter(|path| is_asked && files.contains_key(path)));
    }
    found
}

fn submodule(from: &str, name: &str, files: &Files) -> Vec<String> {
    let (folder, own) = from.rsplit_once('/').unwrap_or(("", from));
    let stem = own.strip_suffix(".rs").unwrap_or(own);
    let is_root = matches!(stem, "lib" | "main" | "mod") || folder.ends_with("tests");
    let beside = if is_root { folder.to_owned() } else { join(folder, stem) };
    let places = [beside.as_str(), folder].map(|folder| join(folder, name));
    let paths = places.into_iter().flat_map(|it| [format!("{it}.rs"), format!("{it}/mod.rs")]);
    paths.filter(|path| files.contains_key(path)).take(1).collect()
}

fn file(folder: &str, path: &str, files: &Files) -> Vec<String> {
    let Some(base) = normalize(&join(folder, path)) else { return Vec::new() };
    // A TypeScript import names the file that the source is compiled to.
    let source = base.strip_suffix(".js").map(|stem| format!("{stem}.ts"));
    let endings = ENDINGS.iter().map(|ending| format!("{base}{ending}"));
    let indices = ENDINGS.iter().skip(1).map(|ending| join(&base, &format!("index{ending}")));
    let rooted = std::iter::once(path.to_owned());
    let all = endings.chain(indices).chain(source).chain(rooted);
    all.filter(|path| files.contains_key(path)).take(1).collect()
}

/// Returns the files of a package: a folder of dependencies, a Go package, or a Java class.
fn package(folder: &str, name: &str, files: &Files) -> Vec<String> {
    let mut found = Vec::new();
    for root in ancestors(folder) {
        for dependencies in DEPENDENCY_FOLDERS {
            let own = join(&join(&root, dependencies), name);
            found.extend(below(&own, files));
            found.extend(file("", &own, files));
        }
    }
    // A Go package is named by its module and the folder in it, a Java class by its package.
    let mut rest = name;
    while let Some((_, inner)) = rest.split_once('/') {
        let in_folder = below(inner, files).into_iter().filter(|path| {
            path.ends_with(".go") && folder_of(path) == inner && !path.ends_with("_test.go")
        });
        found.extend(in_folder);
        rest = inner;
    }
    if name.contains('/') && !name.contains('.') {
        let ending = format!("/{name}.java");
        found.extend(files.keys().filter(|path| path.ends_with(&ending)).cloned());
    }
    found
}

fn below(folder: &str, files: &Files) -> Vec<String> {
    let prefix = format!("{folder}/");
    let range = files.range(prefix.clone()..).map(|(path, _)| path);
    range.take_while(|path| path.starts_with(&prefix)).cloned().collect()
}

/// Returns true if a text in the source `from` names the data file: by its path, its name, or a
/// folder around it.
pub(crate) fn is_data_of(text: &str, from: &str, data: &str) -> bool {
    let literal = text.split(['{', '$', '*', '%', '?', '#', '<']).next().unwrap_or_default();
    let is_cut = literal.len() < text.len();
    let literal = literal.trim_start_matches("./");
    let is_path = |c: char| !c.is_whitespace() && c != ':' && c != '"';
    if literal.is_empty() || !literal.chars().all(is_path) || literal.len() > 300 {
        return false;
    }
    let name = data.rsplit('/').next().unwrap_or(data);
    if literal == name && name.contains('.') {
        return true;
    }
    let own = ancestors(folder_of(from));
    own.iter().any(|base| {
        let Some(path) = normalize(&join(base, literal)) else { return false };
        let path = path.trim_end_matches('/');
        let folder = if is_cut && !literal.ends_with('/') { folder_of(path) } else { path };
        let is_within = !folder.is_empty()
            && folder != folder_of(from)
            && data.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        path == data || is_within
    })
}

/// Returns a folder and the folders around it, up to the root.
fn ancestors(folder: &str) -> Vec<String> {
    let mut all = vec![folder.to_owned()];
    let mut at = folder;
    while !at.is_empty() {
        at = folder_of(at);
        all.push(at.to_owned());
    }
    all
}

pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn join(folder: &str, name: &str) -> String {
    match (folder.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (false, true) => folder.to_owned(),
        (false, false) => format!("{folder}/{name}"),
    }
}

/// Returns a path without `.` and `..`; `None` if the path leads out of the tree.
pub(crate) fn normalize(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> Files {
        let file = || StoredFile { id: String::new(), is_executable: false };
        paths.iter().map(|path| ((*path).to_owned(), file())).collect()
    }

    fn check(from: &str, text: &str, paths: &[&str], expected: &str) {
        let files = tree(paths);
        let found = assay_rules::references(from, text).unwrap();
        let found = found.iter().flat_map(|it| resolve(it, from, &files));
        let mut found: Vec<String> = found.collect();
        found.sort();
        found.dedup();
        assert_eq!(found.join(" "), expected, "{text}");
    }

    #[test]
    fn imports_are_resolved_to_files() {
        check("tests/test_a.py", "from support import same\n", &["support.py"], "support.py");
        check(
            "tests/test_a.py",
            "from ..pkg.deep import one\n",
            &["pkg/__init__.py", "pkg/deep.py"],
            "pkg/__init__.py pkg/deep.py",
        );
        check("src/p/tests/a.py", "from . import b\n", &["src/p/tests/b.py"], "src/p/tests/b.py");
        check("test/a.test.js", "require('../helper')\n", &["helper.js"], "helper.js");
        check("test/a.test.ts", "import '../help.js';\n", &["help.ts"], "help.ts");
        check(
            "test/a.test.js",
            "require('chk')\n",
            &["node_modules/chk/index.js", "node_modules/other/index.js"],
            "node_modules/chk/index.js",
        );
        check(
            "calc_test.go",
            "package calc\n\nimport \"example.com/calc/internal/check\"\n",
            &["internal/check/check.go", "internal/check/check_test.go"],
            "internal/check/check.go",
        );
        check(
            "src/lib.rs",
            "mod checks;\ninclude!(\"a.inc\");\n",
            &["src/checks.rs", "src/a.inc"],
            "src/a.inc src/checks.rs",
        );
        check("src/a.rs", "mod b;\n", &["src/a/b.rs", "src/b.rs"], "src/a/b.rs");
    }

    #[test]
    fn data_files_are_referenced_by_path_name_or_folder() {
        let data = "data/expected.json";
        for text in [
            "data/expected.json", "../data/expected.json", "expected.json", "data", "data/*.json",
            "data/{}.json",
        ] {
            assert!(is_data_of(text, "tests/test_a.py", data), "{text}");
        }
        for text in ["data2", "expected", "the data/expected.json", "", ".", "..", "tests"] {
            assert!(!is_data_of(text, "tests/test_a.py", data), "{text}");
        }
    }
}
