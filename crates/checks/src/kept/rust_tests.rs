//! The tests that `cargo test` has to run, by the sources of a crate: [`rust_tests`].
//!
//! A test inside of a module runs only if each module around it is compiled. So the modules are
//! followed from the root of a crate. Modules and tests behind a condition other than
//! `#[cfg(test)]` are left out, since only a compiler knows whether the condition holds.

use assay_base::text::single_spaced;
use std::collections::BTreeSet;

use globset::Glob;

use super::rust_items::{Reader, inside};
use crate::check::RequiredCheck;
use crate::command::Program;

/// Options of `cargo test` that do not select tests.
const PLAIN_OPTIONS: [&str; 20] = [
    "--workspace", "--all", "--all-targets", "--all-features", "--offline", "--locked", "--frozen",
    "-q", "--quiet", "-v", "--verbose", "-vv", "--release", "--no-fail-fast", "--tests", "--",
    "--nocapture", "--test-threads=1", "--show-output", "--color=never",
];

/// The maximum number of modules that are followed below one root.
const MAX_MODULES: usize = 20_000;

/// The maximum nesting depth of modules.
const MAX_DEPTH: usize = 64;

/// A test of a crate that runs on every platform and with all features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RustTest {
    /// The modules of the crate around the test, and its name: `calc::tests::adds`.
    pub name: String,
    /// The path of the source, from the root of the tree.
    pub file: String,
    /// The text of the test without its name, with single blanks.
    pub text: String,
}

/// Returns the folders of the packages whose tests a check runs, if the check is a run of `cargo`
/// that selects no tests; `None` for any other check. `read` returns the text of a file of the
/// tree.
pub fn tested_packages(
    check: &RequiredCheck,
    paths: &BTreeSet<String>,
    read: &dyn Fn(&str) -> Option<String>,
) -> Option<Vec<String>> {
    let Program::Words(words) = &check.command.program else { return None };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let rest = match words.as_slice() {
        ["cargo", "test" | "t", rest @ ..] | ["cargo", "nextest", "run", rest @ ..] => rest,
        _ => return None,
    };
    if !rest.iter().all(|word| PLAIN_OPTIONS.contains(word)) {
        return None;
    }
    let own = in_folder(&check.folder, "Cargo.toml");
    let manifest = read(&own)?;
    let is_package = manifest.lines().any(|line| line.trim() == "[package]");
    let is_all = rest.iter().any(|word| ["--workspace", "--all"].contains(word));
    let mut packages = Vec::new();
    if is_package {
        packages.push(check.folder.clone());
    }
    if is_all || !is_package {
        packages.extend(members(&manifest, &check.folder, is_all, paths));
    }
    Some(packages)
}

/// Returns the folders of the members of a workspace.
fn members(manifest: &str, folder: &str, is_all: bool, paths: &BTreeSet<String>) -> Vec<String> {
    let default = list(manifest, "default-members").filter(|_| !is_all);
    let named = default.or_else(|| list(manifest, "members")).unwrap_or_default();
    let excluded = list(manifest, "exclude").unwrap_or_default();
    let globs: Vec<_> = named.iter().filter_map(|it| Glob::new(it).ok()).collect();
    let globs: Vec<_> = globs.iter().map(Glob::compile_matcher).collect();
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let packages = paths.iter().filter_map(|path| {
        let package = path.strip_suffix("/Cargo.toml")?;
        let below = package.strip_prefix(&prefix)?;
        let is_member = globs.iter().any(|glob| glob.is_match(below));
        (is_member && !excluded.iter().any(|it| it == below)).then(|| package.to_owned())
    });
    packages.collect()
}

/// Parses a list of texts in a manifest: `members = ["a", "b"]`.
fn list(manifest: &str, key: &str) -> Option<Vec<String>> {
    let line = manifest.lines().find(|line| {
        line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
    })?;
    let at = line.as_ptr() as usize - manifest.as_ptr() as usize;
    let (_, open) = manifest[at..].split_once('[')?;
    let (inside, _) = open.split_once(']')?;
    let plain = inside.lines().map(|line| line.split('#').next().unwrap_or_default());
    let plain: String = plain.collect::<Vec<_>>().join("\n");
    Some(plain.split('"').skip(1).step_by(2).map(str::to_owned).collect())
}

/// Returns the tests in the modules of a package's library and program. `read` returns the text of
/// a file of the tree.
pub fn rust_tests(package: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<RustTest> {
    let Some(manifest) = read(&in_folder(package, "Cargo.toml")) else { return Vec::new() };
    let mut tests = Vec::new();
    for (root, section, is_usual) in [
        ("src/lib.rs", "[lib]", !manifest.contains("autolib")),
        ("src/main.rs", "[[bin]]", !manifest.contains("autobins")),
    ] {
        // A target with settings of its own may have another path, or no tests.
        let is_set = ["path", "test", "harness", "required-features"]
            .iter()
            .any(|key| has_key(&manifest, section, key));
        if is_usual && !is_set {
            Modules { read, tests: &mut tests, left: MAX_MODULES }
                .follow(&in_folder(package, root), "");
        }
    }
    tests
}

/// Returns the tests of a file that is a crate of its own, such as those in `tests`.
pub fn tests_of_root(file: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<RustTest> {
    let mut tests = Vec::new();
    Modules { read, tests: &mut tests, left: MAX_MODULES }.follow(file, "");
    tests
}

/// Returns true if a section of a manifest sets a key.
fn has_key(manifest: &str, section: &str, key: &str) -> bool {
    let lines = manifest.lines().map(str::trim);
    let mut lines = lines.skip_while(|line| *line != section).skip(1);
    let mut own = lines.by_ref().take_while(|line| !line.starts_with('['));
    own.any(|line| line.split('=').next().is_some_and(|it| it.trim() == key))
}

/// The modules of a crate, and the tests found in them.
struct Modules<'a> {
    read: &'a dyn Fn(&str) -> Option<String>,
    tests: &'a mut Vec<RustTest>,
    /// The number of modules that may still be followed.
    left: usize,
}

impl Modules<'_> {
    /// Reads a source, and the modules that it declares.
    fn follow(&mut self, file: &str, module: &str) {
        let Some(left) = self.left.checked_sub(1).filter(|_| depth(module) < MAX_DEPTH) else {
            return;
        };
        self.left = left;
        let Some(text) = (self.read)(file) else { return };
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        let stem = name.strip_suffix(".rs").unwrap_or(name);
        let below = match module.is_empty() || stem == "mod" {
            true => folder.to_owned(),
            false => in_folder(folder, stem),
        };
        let begun = self.tests.len();
        let mut declared = Vec::new();
        let mut reader = Reader { text: &text, at: 0 };
        if !self.items(&mut reader, file, module, &below, &mut declared) {
            self.tests.truncate(begun);
            return;
        }
        for (module, candidates) in declared {
            if let Some(file) = candidates.into_iter().find(|file| (self.read)(file).is_some()) {
                self.follow(&file, &module);
            }
        }
    }

    /// Parses the items of a module up to its end. Returns false if the module has a condition.
    /// Modules in files of their own are added to `declared`, with their possible files.
    fn items(
        &mut self,
        reader: &mut Reader<'_>,
        file: &str,
        module: &str,
        below: &str,
        declared: &mut Vec<(String, Vec<String>)>,
    ) -> bool {
        let mut is_compiled = true;
        loop {
            reader.skip_blanks();
            if reader.at >= reader.text.len() || reader.rest().starts_with('}') {
                reader.at = (reader.at + 1).min(reader.text.len());
                return is_compiled;
            }
            if reader.rest().starts_with("#![") {
                let from = reader.at;
                reader.skip_group();
                is_compiled &=
                    !reader.text[from..reader.at].replace(' ', "").starts_with("#![cfg(");
                continue;
            }
            let attributes = reader.attributes();
            let (kind, name) = reader.head();
            let start = reader.at;
            if kind == "mod" && depth(module) < MAX_DEPTH && reader.enters_block() {
                let (begun, known) = (self.tests.len(), declared.len());
                let (inner, below) = (inside(module, &name), in_folder(below, &name));
                let is_inner = self.items(reader, file, &inner, &below, declared);
                if !is_inner || attributes.is_conditional() {
                    self.tests.truncate(begun);
                    declared.truncate(known);
                }
                continue;
            }
            reader.skip_item();
            if kind == "mod" && !attributes.is_conditional() {
                let candidates = match attributes.path() {
                    Some(path) => {
                        vec![in_folder(file.rsplit_once('/').map_or("", |it| it.0), path)]
                    }
                    None => vec![
                        in_folder(below, &format!("{name}.rs")),
                        in_folder(below, &format!("{name}/mod.rs")),
                    ],
                };
                declared.push((inside(module, &name), candidates));
            } else if kind == "fn" && attributes.is_test() && !attributes.is_conditional() {
                let text = single_spaced(&reader.text[start..reader.at]);
                let text = text.replacen(&format!("fn {name}"), "fn", 1);
                let name = inside(module, &name);
                self.tests.push(RustTest { name, file: file.to_owned(), text });
            }
        }
    }
}

/// Returns the nesting depth of a module.
fn depth(module: &str) -> usize {
    module.split("::").count()
}

fn in_folder(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests(files: &[(&str, &str)]) -> String {
        let read = |path: &str| {
            let file = files.iter().find(|(name, _)| *name == path);
            file.map(|(_, text)| (*text).to_owned())
        };
        let found = rust_tests("", &read);
        found.into_iter().map(|it| it.name).collect::<Vec<_>>().join(" ")
    }

    const MANIFEST: (&str, &str) = ("Cargo.toml", "[package]\nname = \"a\"\n");

    const B: (&str, &str) =
        ("src/b.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n");

    #[test]
    fn tests_are_found_only_in_compiled_modules() {
        let own = "#[test]\nfn own() {}\n\n#[tokio::test(flavor = \"current_thread\")]\nasync fn later() {}\n";
        for (lib, expected) in [
            (format!("pub mod b;\n{own}"), "own later b::tests::one"),
            (format!("#[cfg(windows)]\npub mod b;\n{own}"), "own later"),
            (format!("#[path = \"c.rs\"]\npub mod b;\n{own}"), "own later"),
            (format!("pub mod b {{}}\n{own}"), "own later"),
            ("#![cfg(windows)]\npub mod b;\n".to_owned(), ""),
            ("#![cfg_attr(not(std), no_std)]\nmod b;\n".to_owned(), "b::tests::one"),
            ("mod a {\n    mod b;\n}\nmod deep;\n".to_owned(), "a::b::two deep::x::three"),
            ("#[cfg(unix)]\n#[test]\nfn a() {}\n#[rstest]\n#[test]\nfn b() {}\n".to_owned(), ""),
        ] {
            let files = [
                MANIFEST,
                ("src/lib.rs", lib.as_str()),
                B,
                ("src/c.rs", ""),
                ("src/a/b.rs", "#[test]\nfn two() {}\n"),
                ("src/deep/mod.rs", "mod x;\n"),
                ("src/deep/x.rs", "#[test]\nfn three() {}\n"),
            ];
            assert_eq!(tests(&files), expected, "{lib}");
        }
        let set = ("Cargo.toml", "[package]\nname = \"a\"\n[lib]\npath = \"other.rs\"\n");
        assert_eq!(tests(&[set, ("src/lib.rs", "mod b;\n"), B]), "");
    }

    #[test]
    fn a_cargo_command_without_a_selection_tests_whole_packages() {
        let packages = |command: &str, manifest: &str| {
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
            let paths =
                ["Cargo.toml", "crates/a/Cargo.toml", "crates/b/Cargo.toml", "c/Cargo.toml"];
            let paths = paths.iter().map(|path| (*path).to_owned()).collect();
            tested_packages(&check, &paths, &|_| Some(manifest.to_owned()))
                .map(|packages| packages.join(" "))
        };
        let package = "[package]\nname = \"a\"\n\n[workspace]\nmembers = [\"crates/*\"] # all\n";
        let workspace =
            "[workspace]\nmembers = [\n  \"crates/*\", # \"c\"\n]\nexclude = [\"crates/b\"]\n";
        assert_eq!(packages("cargo test --offline", package).as_deref(), Some(""));
        let all = packages("cargo test --workspace -- --nocapture", package);
        assert_eq!(all.as_deref(), Some(" crates/a crates/b"));
        assert_eq!(packages("cargo test", workspace).as_deref(), Some("crates/a"));
        for command in
            ["cargo test adds", "cargo test --lib", "cargo test -- --skip a", "make test"]
        {
            assert_eq!(packages(command, package), None, "{command}");
        }
    }
}
