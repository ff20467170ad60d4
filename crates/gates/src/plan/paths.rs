//! Files that a text names: [`in_code`], [`in_entry`].

/// The endings by which a name without a folder counts as one of a file.
const ENDINGS: [&str; 56] = [
    "rs", "py", "pyi", "go", "js", "mjs", "cjs", "ts", "tsx", "jsx", "java", "kt", "rb", "c", "h",
    "cc", "cpp", "hpp", "cs", "php", "swift", "scala", "sh", "bash", "sql", "md", "rst", "adoc",
    "txt", "toml", "yaml", "yml", "json", "xml", "html", "css", "scss", "lock", "proto", "ini",
    "cfg", "tf", "vue", "svelte", "ex", "exs", "erl", "hs", "lua", "zig", "graphql", "ipynb",
    "csv", "gradle", "mod", "sum",
];

/// Files that have no ending.
const BARE: [&str; 17] = [
    "Makefile", "Dockerfile", "Containerfile", "Justfile", "justfile", "Jenkinsfile", "Procfile",
    "Vagrantfile", "Gemfile", "Rakefile", "CODEOWNERS", "LICENSE", "NOTICE", "README", "CHANGELOG",
    "CONTRIBUTING", "AUTHORS",
];

/// What no path goes on for; the rest is somebody's prose.
const MAX_PATH: usize = 300;

/// Reads a span of code as the name of a file, if it is surely one.
pub(super) fn in_code(code: &str) -> Option<String> {
    let path = cleaned(code)?;
    let name = path.rsplit('/').next().unwrap_or(&path);
    let is_bare = BARE.contains(&name);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let is_known = ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()));
    let is_hidden_folder_alone = name.starts_with('.') && name.matches('.').count() == 1;
    let is_file = is_bare || (is_known && !is_hidden_folder_alone);
    (is_file && !is_pattern(&path)).then_some(path)
}

/// Gives the files that an entry of a list of files names: what is code in it, or what looks like
/// a path at its beginning.
pub(super) fn in_entry(text: &str) -> Vec<String> {
    let coded: Vec<String> = spans(text).filter_map(in_list).collect();
    if !coded.is_empty() {
        return coded;
    }
    let words = text
        .split([' ', ',', ';', '\n', '\t'])
        .map(|word| word.trim_matches(['*', '(', ')', '[', ']']));
    words.filter(|word| word.contains(['/', '.'])).filter_map(in_list).collect()
}

/// Reads an entry of a list of files, where folders and patterns may stand too.
fn in_list(text: &str) -> Option<String> {
    let path = cleaned(text)?;
    let is_path = path.contains('/') || in_code(&path).is_some() || is_pattern(&path);
    is_path.then_some(path)
}

/// Gives the spans of code in a text that was read.
pub(super) fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|span| !span.is_empty())
}

/// Says whether a path stands for many, or for one that is not known yet.
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '{', '}', '<', '>', '$', '?']) || path.contains("...")
}

/// Takes lines, symbols and punctuation off a path; `None` where it is none in the tree.
fn cleaned(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(['.', ',', ';', ':']);
    let text = text.split("::").next().unwrap_or(text);
    let text = match text.rsplit_once(':') {
        Some((path, lines)) if lines.starts_with(|c: char| c.is_ascii_digit() || c == 'L') => path,
        _ => text,
    };
    let text = text.split('#').next().unwrap_or(text);
    let text = text.strip_prefix("./").unwrap_or(text);
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "()\"'=,;|\\@".contains(c);
    let is_path = !text.is_empty()
        && text.len() <= MAX_PATH
        && !text.contains(is_odd)
        && !text.contains("://")
        && !text.starts_with(['/', '~', '-', ':'])
        && text.contains(char::is_alphanumeric);
    is_path.then(|| text.to_owned())
}

/// Splits a line into parts of which each says its own about the files in it.
pub(super) fn clauses(line: &str) -> impl Iterator<Item = &str> {
    line.split(", ").flat_map(|part| part.split("; ")).flat_map(|part| part.split(". "))
}

/// Says whether a line tells that what it names is new.
pub(super) fn says_new(text: &str) -> bool {
    let without_code: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let mut words = without_code
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .peekable();
    let begins_with_add =
        words.peek().is_some_and(|word| matches!(word.as_str(), "add" | "adds" | "added"));
    begins_with_add
        || words.any(|word| {
            matches!(
                word.as_str(),
                "new" | "create" | "creates" | "created" | "creating" | "introduces"
            )
        })
}

/// Says whether a line tells that what it names is there already.
pub(super) fn says_old(text: &str) -> bool {
    let first = text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    let first = first.unwrap_or("").to_ascii_lowercase();
    matches!(
        first.as_str(),
        "modify"
            | "modifies"
            | "edit"
            | "edits"
            | "update"
            | "updates"
            | "change"
            | "changes"
            | "extend"
            | "extends"
            | "refactor"
            | "refactors"
            | "delete"
            | "deletes"
            | "remove"
            | "removes"
            | "rename"
            | "renames"
    )
}

/// Says whether a path is one of tests.
pub(crate) fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let in_folder = path
        .split('/')
        .rev()
        .skip(1)
        .any(|part| matches!(part, "tests" | "test" | "spec" | "specs" | "__tests__" | "e2e"));
    in_folder
        || name.starts_with("test_")
        || ["_test.", ".test.", ".spec.", "_spec.", "Test.", "Tests."]
            .iter()
            .any(|mark| name.contains(mark))
}
