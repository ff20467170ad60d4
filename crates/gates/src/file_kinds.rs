//! Classifies files by their names alone. Test files are recognised by [`assay_rules::is_test`].

use assay_rules::language_name;

/// The endings that identify a file name. Other texts are taken for names in code.
const ENDINGS: [&str; 59] = [
    "rs", "py", "pyi", "go", "js", "mjs", "cjs", "ts", "mts", "cts", "tsx", "jsx", "java", "kt",
    "kts", "rb", "c", "h", "cc", "cpp", "hpp", "cs", "php", "swift", "scala", "sh", "bash", "sql",
    "md", "mdx", "rst", "adoc", "txt", "toml", "yaml", "yml", "json", "xml", "html", "css", "scss",
    "svg", "lock", "proto", "ini", "cfg", "tf", "vue", "svelte", "ex", "exs", "erl", "hs", "lua",
    "zig", "graphql", "ipynb", "csv", "gradle",
];

/// Files that are known by their whole name.
const NAMES: [&str; 19] = [
    "Makefile", "Dockerfile", "Containerfile", "Justfile", "justfile", "Jenkinsfile", "Procfile",
    "Vagrantfile", "Gemfile", "Rakefile", "CODEOWNERS", "LICENSE", "NOTICE", "README", "CHANGELOG",
    "CONTRIBUTING", "AUTHORS", "go.mod", "go.sum",
];

/// The endings of code in languages that rules cannot read.
const UNRULED: [&str; 6] = ["scala", "ex", "exs", "hs", "lua", "zig"];

/// Returns the last part of a path.
pub(crate) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the ending of a file name in lower case; empty if there is none.
pub(crate) fn ending(path: &str) -> String {
    name(path).rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default()
}

/// Returns true if a path certainly names a file: its name or its ending is known.
pub(crate) fn names_a_file(path: &str) -> bool {
    let name = name(path);
    let is_ending_alone = name.rfind('.') == Some(0);
    NAMES.contains(&name) || (!is_ending_alone && ENDINGS.contains(&ending(name).as_str()))
}

/// Returns true if a file is code, and not data.
pub(crate) fn is_code(path: &str) -> bool {
    match language_name(path) {
        Some(language) => !matches!(language.as_str(), "json" | "yaml" | "hcl"),
        None => UNRULED.contains(&ending(path).as_str()),
    }
}

/// Returns true if a file is a Markdown page.
pub(crate) fn is_markdown(path: &str) -> bool {
    ["md", "markdown", "mdx"].contains(&ending(path).as_str())
}

/// Returns true if a file is a page of text.
pub(crate) fn is_page(path: &str) -> bool {
    is_markdown(path) || ["rst", "adoc", "txt"].contains(&ending(path).as_str())
}

/// Returns true if a file is a document for people.
pub(crate) fn is_document(path: &str) -> bool {
    let name = name(path).to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or(&name);
    let is_known = ["readme", "changelog", "license", "contributing", "authors"].contains(&stem);
    is_page(path) || is_known || path.split('/').any(|folder| matches!(folder, "docs" | "doc"))
}

/// Returns true if a file is a lock file of a package manager.
pub(crate) fn is_lock_file(path: &str) -> bool {
    ending(path) == "lock"
        || ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.sum"]
            .contains(&name(path))
}
