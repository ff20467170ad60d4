//! Finds the files of a tree that the commands of checks run: [`named_files`], [`scripts_in`],
//! [`loaded_files`].

use std::collections::{BTreeMap, BTreeSet};

use globset::GlobBuilder;

use crate::check::RequiredCheck;
use crate::command::words_of;

/// Names of the file that `make` reads.
const MAKE: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Names of the file that `just` reads.
const JUST: [&str; 4] = ["justfile", "Justfile", "JUSTFILE", ".justfile"];

/// Names of the file that `task` reads.
const TASK: [&str; 8] = [
    "Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml",
    "taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.dist.yaml",
];

/// Names of the file that `rake` reads.
const RAKE: [&str; 4] = ["rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"];

/// Files that define the commands of a program, by the program.
const READ_BY: [(&str, &[&str]); 13] = [
    ("make", &MAKE),
    ("gmake", &MAKE),
    ("just", &JUST),
    ("task", &TASK),
    ("rake", &RAKE),
    ("npm", &["package.json"]),
    ("yarn", &["package.json"]),
    ("pnpm", &["package.json"]),
    ("bun", &["package.json"]),
    ("tox", &["tox.ini", "tox.toml", "setup.cfg", "pyproject.toml"]),
    ("nox", &["noxfile.py"]),
    ("mage", &["magefile.go"]),
    ("invoke", &["tasks.py"]),
];

/// Programs that run a script, which is their next word.
const INTERPRETERS: [&str; 14] = [
    "sh", "bash", "zsh", "dash", "ksh", "source", ".", "exec", "python", "python3", "node", "ruby",
    "perl", "php",
];

/// Words in configuration that are followed by files or modules for the runner to load.
const LOADING: [&str; 31] = [
    "pytest_plugins", "-p", "-r", "--require", "--import", "--loader", "--experimental-loader",
    "--config", "--env-file", "--setupFiles", "--globalSetup", "--reporter", "--test-reporter",
    "--rcfile", "setupFiles", "setupFilesAfterEnv", "setupTestFrameworkScriptFile", "globalSetup",
    "globalTeardown", "testEnvironment", "testRunner", "runner", "testSequencer", "reporters",
    "reporter", "snapshotSerializers", "transform", "resolver", "require", "import", "loader",
];

/// Extensions that JavaScript omits from the names of modules.
pub(super) const SCRIPT_ENDINGS: [&str; 9] =
    [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".json"];

/// Scripts that a command file runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandScripts {
    /// Scripts that test, and files that are included.
    pub tests: BTreeSet<String>,
    /// Scripts whose names do not mention tests; the calling file suggests that they may test.
    pub others: BTreeSet<String>,
    /// Words that name a script and cannot be resolved.
    pub unresolved: BTreeSet<String>,
}

/// Returns true if a file defines the commands of a program, by its name.
pub(super) fn is_command_file(name: &str) -> bool {
    READ_BY.iter().any(|(_, files)| files.contains(&name))
}

/// Returns the files of a tree that commands name, or that define the commands of a program: a
/// script that a check runs is part of the check.
pub fn named_files<'a>(
    checks: impl IntoIterator<Item = &'a RequiredCheck>,
    paths: &BTreeSet<String>,
) -> Vec<String> {
    let mut named = BTreeSet::new();
    for check in checks {
        let words = check.command.mentioned_words();
        named.extend(read_by(check, &words).into_iter().flatten());
        named.extend(explicit(check, &words, paths));
        named.extend(loaded_in(&words, &check.folder, paths));
    }
    named.into_iter().filter(|path| paths.contains(path)).collect()
}

/// Returns true if a check cannot run in an earlier version of the tree because its files are
/// missing.
pub fn needs_later_file(
    check: &RequiredCheck,
    now: &BTreeSet<String>,
    has: impl Fn(&str) -> bool,
) -> bool {
    let words = check.command.mentioned_words();
    // A tool that finds several of its files prefers one; if only one exists, the tool reads that.
    let lacks_all = |files: &Vec<String>| {
        files.iter().any(|file| now.contains(file)) && !files.iter().any(|file| has(file))
    };
    // A plain word, such as `unittest`, is a runner: a module with that name only shadows it.
    let is_file = |word: &&str| {
        let is_pattern = word.contains(['*', '?']);
        !is_pattern && (word.contains(['.', '/']) || now.contains(&in_folder(&check.folder, word)))
    };
    let plain: Vec<&str> = words.iter().copied().filter(is_file).collect();
    read_by(check, &words).iter().any(lacks_all)
        || explicit(check, &plain, now).iter().any(|path| !has(path))
}

/// Returns, for each program of a command, the files that the program may read.
fn read_by(check: &RequiredCheck, words: &[&str]) -> Vec<Vec<String>> {
    let read = READ_BY.iter().filter(|(program, _)| words.contains(program));
    read.map(|(_, files)| files.iter().map(|file| in_folder(&check.folder, file)).collect())
        .collect()
}

/// Returns the files that the words of a command refer to: by path, glob or module.
fn explicit(check: &RequiredCheck, words: &[&str], paths: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    for word in words {
        let path = in_folder(&check.folder, word);
        match word.contains(['*', '?']) {
            true => found.extend(matching(&check.folder, word, paths)),
            false if paths.contains(&path) => found.push(path),
            false => found.extend(module_files(&check.folder, word, paths)),
        }
    }
    found
}

/// Returns the files that match a glob in a folder. A glob without a folder matches names.
fn matching(folder: &str, glob: &str, paths: &BTreeSet<String>) -> Vec<String> {
    let glob = glob.trim_start_matches("./");
    let has_name = glob.chars().any(|c| c.is_alphanumeric());
    let glob = if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
    let glob = in_folder(folder, &glob);
    let built = GlobBuilder::new(&glob).literal_separator(true).build();
    let Some(matcher) = built.ok().filter(|_| has_name).map(|glob| glob.compile_matcher()) else {
        return Vec::new();
    };
    paths.iter().filter(|path| matcher.is_match(path)).cloned().collect()
}

/// Returns the file of a dotted Python module, or of the longest prefix of the name that is a
/// module.
fn module_files(folder: &str, word: &str, paths: &BTreeSet<String>) -> Vec<String> {
    let names: Vec<&str> = word.split('.').collect();
    let is_name =
        |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !names.iter().all(is_name) {
        return Vec::new();
    }
    let at = |count: usize| {
        let base = in_folder(folder, &names[..count].join("/"));
        let files =
            [format!("{base}.py"), format!("{base}/__init__.py"), format!("{base}/__main__.py")];
        let found: Vec<String> = files.into_iter().filter(|file| paths.contains(file)).collect();
        (!found.is_empty()).then_some(found)
    };
    // A single word may be anything; it counts as a module only if its name mentions tests.
    let least = if names.len() == 1 && !says_test(word) { 2 } else { 1 };
    (least..=names.len()).rev().find_map(at).unwrap_or_default()
}

fn says_test(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["test", "check", "spec"].iter().any(|word| name.contains(word))
}

/// Returns the scripts that a command file runs, such as those of a `Makefile`.
pub fn scripts_in(path: &str, text: &str, paths: &BTreeSet<String>) -> CommandScripts {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_file = is_command_file(name) || name.ends_with(".mk") || name.ends_with(".just");
    let is_shell = [".sh", ".bash"].iter().any(|ending| name.ends_with(ending))
        || (!name.contains('.') && text.starts_with("#!"));
    let mut scripts = CommandScripts::default();
    if !is_file && !is_shell {
        return scripts;
    }
    let (values, loops) = (assigned(text), loop_variables(text));
    for line in text.lines() {
        let resolved = with_values(line, &values).replace(['"', '\''], "");
        let is_loop = loops.iter().any(|name| line.contains(name.as_str()));
        let words = words_of(&resolved);
        for (at, word) in words.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| words[at]);
            let is_run = before.is_some_and(|before| INTERPRETERS.contains(&before));
            let is_included = is_file && is_inclusion(&words, at);
            if is_run
                && !is_loop
                && !word.chars().any(|c| c.is_alphanumeric())
                && word.contains('*')
            {
                scripts.unresolved.insert(line.trim().to_owned());
            }
            for found in files_of_word(folder, word, paths) {
                let name = found.rsplit('/').next().unwrap_or(&found);
                match is_included || says_test(name) {
                    true => scripts.tests.insert(found),
                    // Only for a command file: scripts that a shell script runs may be the ones
                    // that it tests.
                    false if is_file && (is_run || word.starts_with("./")) => {
                        scripts.others.insert(found)
                    }
                    false => false,
                };
            }
        }
    }
    scripts.tests.remove(path);
    scripts.others.remove(path);
    scripts
}

/// Returns true if a word of a line names an included file: `include a.mk`, `import 'a.just'`,
/// `taskfile: ./a.yml`.
fn is_inclusion(words: &[&str], at: usize) -> bool {
    let first = words.first().copied().unwrap_or_default();
    let is_make = matches!(first, "include" | "-include" | "sinclude");
    let is_just = matches!(first, "import" | "import?" | "mod" | "mod?");
    let is_task = words[at].ends_with(".yml") || words[at].ends_with(".yaml");
    at > 0 && (is_make || is_just || is_task)
}

/// Returns the files that a word of a script may refer to: from the folder of the script, from the
/// root, or any file that matches if the word has a variable in it.
fn files_of_word(folder: &str, word: &str, paths: &BTreeSet<String>) -> Vec<String> {
    if !word.contains(['*', '?']) {
        let both = [in_folder(folder, word), in_folder("", word)];
        return both.into_iter().filter(|path| paths.contains(path)).collect();
    }
    let word = word.trim_start_matches("./");
    // `*/test.sh` with a variable in front may be in any folder; `*.sh` is looked up in this one.
    let ending = word.trim_start_matches(['*', '/']);
    let literal = ending.split('.').next().unwrap_or_default();
    match word.starts_with("*/") && literal.chars().any(|c| c.is_alphanumeric()) {
        true => matching("", ending, paths),
        false => {
            let glob = if word.starts_with("*/") { ending } else { word };
            let built = GlobBuilder::new(&in_folder(folder, glob)).literal_separator(true).build();
            let is_plain = !glob.chars().any(|c| c.is_alphanumeric());
            let Some(glob) = built.ok().filter(|_| !is_plain) else { return Vec::new() };
            let matcher = glob.compile_matcher();
            paths.iter().filter(|path| matcher.is_match(path)).cloned().collect()
        }
    }
}

/// Returns the variables of loops in the form of their uses: the files of a loop are in its head.
fn loop_variables(text: &str) -> Vec<String> {
    let heads = text.split("for ").skip(1);
    let names = heads.filter_map(|head| head.split_once(" in ").map(|(name, _)| name.trim()));
    let names = names.filter(|name| !name.contains(char::is_whitespace));
    names.flat_map(|name| [format!("${name}"), format!("${{{name}}}")]).collect()
}

/// Returns the plain values that a script or a `Makefile` assigns to variables.
fn assigned(text: &str) -> BTreeMap<&str, &str> {
    let mut values = BTreeMap::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches("export ");
        let Some((name, value)) = line.split_once('=') else { continue };
        let name = name.trim_end_matches([':', '?', '+']).trim();
        let value = value.trim().trim_matches(['"', '\'']);
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_name && !value.contains(['$', '`', ' ']) {
            // A variable with two values has no certain one.
            let known = values.insert(name, value);
            if known.is_some_and(|known| known != value) {
                values.insert(name, "*");
            }
        }
    }
    values
}

/// Returns a line with its variables replaced by their values, and by `*` if these are unknown.
fn with_values(line: &str, values: &BTreeMap<&str, &str>) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(['$', '`']) {
        out.push_str(&rest[..at]);
        let is_command = rest[at..].starts_with('`');
        let behind = rest[at..].trim_start_matches('$');
        let (name, after) = match behind.chars().next() {
            Some('`') if is_command => {
                let inside = &behind[1..];
                inside.split_once('`').unwrap_or((inside, ""))
            }
            Some('(') => bracketed(behind, '(', ')'),
            Some('{') => bracketed(behind, '{', '}'),
            Some(c) if c.is_alphanumeric() || c == '_' => {
                let end = behind.find(|c: char| !c.is_alphanumeric() && c != '_');
                behind.split_at(end.unwrap_or(behind.len()))
            }
            Some(c) => behind.split_at(c.len_utf8()),
            None => ("", ""),
        };
        out.push_str(values.get(name.trim()).copied().unwrap_or("*"));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Returns the content of the brackets at the start of a text, and the text after them.
fn bracketed(text: &str, open: char, close: char) -> (&str, &str) {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            c if c == open => depth += 1,
            c if c == close => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (&text[1..at], &text[at + 1..]);
        }
    }
    (text, "")
}

/// Returns the files that a configuration file makes a runner load: plugins, and set-up code that
/// runs before tests.
pub fn loaded_files(path: &str, text: &str, paths: &BTreeSet<String>) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let between = |c: char| c.is_whitespace() || "\"'`,;:=()[]{}\\".contains(c);
    let words: Vec<&str> = text.split(between).filter(|word| !word.is_empty()).collect();
    loaded_in(&words, folder, paths)
}

fn loaded_in(words: &[&str], folder: &str, paths: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if !LOADING.contains(word) {
            continue;
        }
        for named in &words[at + 1..] {
            let files = file_or_module(folder, named, paths);
            if files.is_empty() {
                break;
            }
            found.extend(files);
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the files that a runner finds for a name: a path with or without its extension, or a
/// module.
fn file_or_module(folder: &str, name: &str, paths: &BTreeSet<String>) -> Vec<String> {
    let name = name.trim_start_matches("<rootDir>").trim_start_matches(['.', '/']);
    if name.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for base in [in_folder(folder, name), in_folder("", name)] {
        let endings = SCRIPT_ENDINGS
            .iter()
            .flat_map(|ending| [format!("{base}{ending}"), format!("{base}/index{ending}")]);
        let candidates = std::iter::once(base.clone()).chain(endings);
        found.extend(candidates.filter(|path| paths.contains(path)));
    }
    let module = name.replace('.', "/");
    for root in [folder, "", "src", "lib"] {
        let base = in_folder(root, &module);
        let files = [format!("{base}.py"), format!("{base}/__init__.py")];
        found.extend(files.into_iter().filter(|path| paths.contains(path)));
    }
    found
}

/// Returns the path of a word from the root, without the name of a test after `::`.
fn in_folder(folder: &str, word: &str) -> String {
    let word = word.split_once("::").map_or(word, |(file, _)| file);
    let word = word.trim_start_matches("./").trim_end_matches('/');
    if folder.is_empty() { word.to_owned() } else { format!("{folder}/{word}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn scripts(path: &str, text: &str, names: &[&str]) -> String {
        let found = scripts_in(path, text, &paths(names));
        let join = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join(" ");
        format!("{} | {} | {}", join(found.tests), join(found.others), join(found.unresolved))
    }

    #[test]
    fn scripts_behind_variables_and_globs_are_found() {
        let tree =
            ["Makefile", "check.sh", "ci/test.sh", "ci/go.sh", "build/rules", "run.sh", "a.sh"];
        for (path, text, expected) in [
            ("Makefile", "C = check\ntest:\n\tsh $(C).sh\n", "check.sh |  | "),
            ("Makefile", "test:\n\tsh $(DIR)/test.sh\n", "ci/test.sh |  | "),
            ("Makefile", "test:\n\t@sh ci/go.sh\n", " | ci/go.sh | "),
            ("Makefile", "test:\n\tsh $(C).sh\n", "check.sh | a.sh run.sh | "),
            ("Makefile", "include build/rules\n", "build/rules |  | "),
            ("Makefile", "test:\n\tsh $(SCRIPT)\n", " |  | sh $(SCRIPT)"),
            (
                "run.sh",
                "here=$(dirname \"$0\"); for t in \"$here\"/che*.sh; do sh \"$t\"; done\n",
                "check.sh |  | ",
            ),
            ("run.sh", "for f in ci/*.sh; do . \"./$f\"; done\n", "ci/test.sh |  | "),
            ("run.sh", "sh \"$1\"\n", " |  | sh \"$1\""),
            ("run.sh", ". ./a.sh\n", " |  | "),
            ("a.py", "sh check.sh\n", " |  | "),
        ] {
            assert_eq!(scripts(path, text, &tree), expected, "{text}");
        }
    }

    #[test]
    fn a_module_that_shadows_a_test_runner_is_not_required_by_a_check() {
        let needs = |command: &str, now: &[&str]| {
            let check = RequiredCheck {
                name: String::new(),
                kind: crate::check::CheckKind::Unit,
                also: Vec::new(),
                command: crate::command::CommandLine::parse(command).unwrap(),
                folder: String::new(),
                reading: crate::discovery::ResultSource::Guess,
                coverage: Vec::new(),
                minimum_coverage: None,
                expect: None,
                network: false,
            };
            needs_later_file(&check, &paths(now), |_| false)
        };
        assert!(!needs("python3 -m unittest discover", &["unittest.py"]));
        assert!(needs("python3 -m unittest checks.all", &["checks/all.py"]));
        assert!(needs("sh check.sh", &["check.sh"]) && needs("make test", &["Makefile"]));
    }

    #[test]
    fn plugins_and_setup_files_of_configuration_are_loaded() {
        let tree =
            ["plug.py", "src/other/__init__.py", "pre.js", "web/setup.ts", "calc.py", "main.js"];
        for (path, text, expected) in [
            (
                "conftest.py",
                "pytest_plugins = [\"plug\", 'other']\n",
                "plug.py src/other/__init__.py",
            ),
            ("pytest.ini", "[pytest]\naddopts = -q -p plug --cov calc\n", "plug.py"),
            (
                "package.json",
                "{\"main\": \"main.js\", \"scripts\": {\"test\": \"node --import ./pre.js --test\"}}",
                "pre.js",
            ),
            (
                "web/vitest.config.ts",
                "export default { test: { setupFiles: ['./setup'] } };\n",
                "web/setup.ts",
            ),
            ("web/jest.config.js", "module.exports = { collectCoverageFrom: ['main.js'] };\n", ""),
        ] {
            assert_eq!(loaded_files(path, text, &paths(&tree)).join(" "), expected, "{text}");
        }
    }
}
