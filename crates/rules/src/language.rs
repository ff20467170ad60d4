//! The language of a file, and the recognition of tests.

use assay_findings::vote::LineRange;
pub(crate) use ast_grep_language::SupportLang as Language;

/// The languages that rules can be written for.
pub(crate) const WITH_GRAMMAR: [Language; 18] = [
    Language::Rust,
    Language::Python,
    Language::JavaScript,
    Language::TypeScript,
    Language::Tsx,
    Language::Go,
    Language::Java,
    Language::CSharp,
    Language::Kotlin,
    Language::Swift,
    Language::C,
    Language::Cpp,
    Language::Ruby,
    Language::Php,
    Language::Bash,
    Language::Hcl,
    Language::Yaml,
    Language::Json,
];

/// A format of files that contain code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeContainer {
    /// A component of Vue or Svelte.
    Component,
    /// A Dockerfile.
    Dockerfile,
    /// A notebook of Jupyter.
    Notebook,
}

impl CodeContainer {
    /// Returns the format of a file by its name; `None` if the file has no code inside of another
    /// format.
    pub(crate) fn of(path: &str) -> Option<CodeContainer> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let lower = name.to_ascii_lowercase();
        let extension = lower.rsplit_once('.').map_or("", |(_, extension)| extension);
        match extension {
            "vue" | "svelte" => Some(CodeContainer::Component),
            "ipynb" => Some(CodeContainer::Notebook),
            "dockerfile" | "containerfile" => Some(CodeContainer::Dockerfile),
            _ => {
                let stem = name.split('.').next().unwrap_or(name);
                let is_docker = matches!(stem, "Dockerfile" | "Containerfile")
                    && !matches!(extension, "md" | "txt" | "j2" | "tmpl" | "template" | "erb");
                is_docker.then_some(CodeContainer::Dockerfile)
            }
        }
    }

    /// Returns the language of the code inside.
    pub(crate) fn language(self) -> Language {
        match self {
            CodeContainer::Component => Language::TypeScript,
            CodeContainer::Notebook => Language::Python,
            CodeContainer::Dockerfile => Language::Bash,
        }
    }
}

/// Returns true for JavaScript and the languages that extend JavaScript.
pub(crate) fn is_javascript(language: Language) -> bool {
    matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx)
}

/// Returns true if rules can be written for a language.
pub(crate) fn has_grammar(language: Language) -> bool {
    WITH_GRAMMAR.contains(&language)
}

/// Returns the language of a file by its name or its first line; `None` if no grammar supports it.
/// Translations of Qt have the extension of TypeScript, and are XML.
pub(crate) fn of(path: &str, text: &str) -> Option<Language> {
    let named = by_name(path);
    let is_markup = named == Some(Language::TypeScript) && is_xml(text);
    if is_markup { None } else { named.or_else(|| by_first_line(text)) }
}

/// Returns true if a text begins as a document of XML.
fn is_xml(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with("<?xml") || text.starts_with("<!DOCTYPE")
}

/// Returns the language of a file by its name.
pub(crate) fn by_name(path: &str) -> Option<Language> {
    // A name that is not UTF-8 is shown in quotes.
    let path = path.strip_prefix('"').and_then(|path| path.strip_suffix('"')).unwrap_or(path);
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    Some(match extension.to_ascii_lowercase().as_str() {
        "rs" => Language::Rust,
        "py" | "pyi" | "pyw" => Language::Python,
        "js" | "jsx" | "mjs" | "cjs" => Language::JavaScript,
        "ts" | "mts" | "cts" => Language::TypeScript,
        "tsx" => Language::Tsx,
        "go" => Language::Go,
        "java" => Language::Java,
        "cs" => Language::CSharp,
        "kt" | "kts" => Language::Kotlin,
        "swift" => Language::Swift,
        "tf" | "hcl" | "tfvars" => Language::Hcl,
        "c" | "h" => Language::C,
        "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "ipp" | "tpp" => {
            Language::Cpp
        }
        "rb" | "rake" | "gemspec" => Language::Ruby,
        "php" | "phtml" => Language::Php,
        "sh" | "bash" => Language::Bash,
        "yml" | "yaml" => Language::Yaml,
        "json" => Language::Json,
        _ => match name {
            _ if CodeContainer::of(path).is_some() => CodeContainer::of(path)?.language(),
            "Gemfile" | "Rakefile" => Language::Ruby,
            ".bashrc" | ".bash_profile" | ".profile" => Language::Bash,
            _ => return None,
        },
    })
}

/// Returns the name of a file's language, such as `python`, by the name of the file.
pub fn language_name(path: &str) -> Option<String> {
    by_name(path).map(|language| language.to_string().to_lowercase())
}

/// Returns the language of a script by the interpreter on its first line.
fn by_first_line(text: &str) -> Option<Language> {
    let line = text.lines().next()?.strip_prefix("#!")?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = words.find(|word| *word != "env" && !word.starts_with('-'))?;
    match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "sh" | "bash" | "dash" => Some(Language::Bash),
        "python" => Some(Language::Python),
        "node" => Some(Language::JavaScript),
        "ruby" => Some(Language::Ruby),
        "php" => Some(Language::Php),
        _ => None,
    }
}

/// Returns true if an error in a file's syntax tree means that the file does not parse. For other
/// files, the error may be a limit of the grammar, which knows no preprocessor, dialect or
/// template.
pub(crate) fn has_whole_grammar(language: Language, path: &str, text: &str) -> bool {
    let is_whole = matches!(
        language,
        Language::Rust
            | Language::Python
            | Language::JavaScript
            | Language::TypeScript
            | Language::Tsx
            | Language::Go
            | Language::Java
    );
    // A template has its delimiters in the file name, and Flow types are announced by a comment.
    let is_template = path.contains("{{") || path.contains("{%");
    let is_flow = language == Language::JavaScript
        && text.lines().take(30).any(|line| line.contains("@flow"));
    is_whole && !is_template && !is_flow && !is_fixture(path)
}

/// Returns true if a file is source code of a language, supported by rules or not: such a file has
/// no reason to be binary.
pub(crate) fn is_source(path: &str) -> bool {
    const OTHERS: [&str; 11] =
        ["scala", "ex", "exs", "hs", "lua", "dart", "zig", "html", "css", "sql", "toml"];
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    by_name(path).is_some() || OTHERS.contains(&extension)
}

/// Returns true if a file is code in a language that rules support, and not data.
pub(crate) fn is_code(path: &str) -> bool {
    let is_data = |language| matches!(language, Language::Yaml | Language::Json | Language::Hcl);
    CodeContainer::of(path) != Some(CodeContainer::Dockerfile)
        && by_name(path).is_some_and(|language| !is_data(language))
}

/// The folders of test inputs: such code is flawed on purpose, or is data.
const FIXTURE_FOLDERS: [&str; 5] =
    ["fixtures", "__fixtures__", "testdata", "snapshots", "__snapshots__"];

/// The folders of tests; `t` is that of Perl, Git and nginx.
const TEST_FOLDERS: [&str; 20] = [
    "t", "test", "tests", "testsuite", "_tests", "__tests__", "testing", "testserver", "testutil",
    "testutils", "testhelpers", "testcases", "spec", "specs", "e2e", "cypress", "mocks",
    "__mocks__", "integration-tests", "integration_tests",
];

/// The folders of documentation and examples.
const EXAMPLE_FOLDERS: [&str; 9] =
    ["doc", "docs", "documentation", "example", "examples", "sample", "samples", "demo", "demos"];

/// Further folders of code that tests of the repository do not cover: translations, measurements, and
/// code of others.
const UNTESTED_FOLDERS: [&str; 17] = [
    "i18n", "l10n", "lang", "langs", "locale", "locales", "translation", "translations", "vendor",
    "vendored", "third_party", "third-party", "thirdparty", "extern", "node_modules", "dist",
    "benchmarks",
];

fn is_below(path: &str, names: &[&str]) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').any(|folder| names.contains(&folder))
}

/// Returns true if a file is an input of tests.
pub(crate) fn is_fixture(path: &str) -> bool {
    is_below(path, &FIXTURE_FOLDERS)
}

/// Returns true if a file is in a folder of documentation or examples.
pub(crate) fn is_example(path: &str) -> bool {
    is_below(&path.to_ascii_lowercase(), &EXAMPLE_FOLDERS)
}

/// Returns true if a file is in a folder of code that usually has no tests, such as translations.
pub(crate) fn is_usually_untested(path: &str) -> bool {
    is_example(path) || is_below(&path.to_ascii_lowercase(), &UNTESTED_FOLDERS)
}

/// Returns true if a folder of a file has the name of a package of tests, such as `test_server`, or of
/// a stand-in for tests, such as `dummyserver`.
fn is_below_test_package(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').any(|folder| {
        ["test_", "dummy"].iter().any(|start| folder.starts_with(start))
            || folder.ends_with("_tests")
    })
}

/// Returns true if a folder of a file is a project of tests of .NET, such as `Shop.Tests`, or a
/// source set of tests of Kotlin, such as `commonTest`.
fn is_below_test_project(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    let ends = [".tests", ".test", ".unittests", ".integrationtests", ".specs"];
    let sets = ["commontest", "jvmtest", "jstest", "androidtest", "nativetest", "iostest"];
    folders.split('/').any(|own| sets.contains(&own) || ends.iter().any(|end| own.ends_with(end)))
}

/// Returns true if a file contains tests, by the conventions of common runners.
pub fn is_test(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let stem = name.split('.').next().unwrap_or(name);
    is_below(&path, &TEST_FOLDERS)
        || is_below_test_package(&path)
        || is_fixture(&path)
        || [".test.", ".spec.", ".cy.", ".e2e."].iter().any(|part| name.contains(part))
        || ["test_", "test-"].iter().any(|start| stem.starts_with(start))
        || ["_test", "_tests", "_spec"].iter().any(|end| stem.ends_with(end))
        || ["conftest", "test", "tests"].contains(&stem)
        || ([".java", ".cs", ".kt", ".swift"].iter().any(|end| path.ends_with(end))
            && (stem.ends_with("test") || stem.ends_with("tests")))
        || is_below_test_project(&path)
        || (path.ends_with(".php") && stem.ends_with("test"))
}

/// Returns the lines of the test modules in a Rust file: `#[cfg(test)]` and `mod` on lines of their
/// own without indentation, up to the next line that closes a block there.
pub(crate) fn test_modules(path: &str, lines: &[&str]) -> Vec<LineRange> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    let opens = |at: usize| {
        lines[at].trim_end() == "#[cfg(test)]"
            && lines[at + 1..]
                .iter()
                .find(|line| !line.starts_with('#'))
                .is_some_and(|line| line.starts_with("mod ") && line.trim_end().ends_with('{'))
    };
    let end = |start: usize| lines[start..].iter().position(|line| line.starts_with('}'));
    let module = |start: usize| {
        let last = end(start).map_or(lines.len() - 1, |length| start + length);
        LineRange::range(u32::try_from(start + 1).ok()?, u32::try_from(last + 1).ok()?)
    };
    (0..lines.len()).filter(|at| opens(*at)).filter_map(module).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_a_file_is_detected_by_name_or_first_line() {
        assert_eq!(of("src/A.PY", ""), Some(Language::Python));
        assert_eq!(of("Gemfile", ""), Some(Language::Ruby));
        assert_eq!(of(r#""caf\351.py""#, ""), Some(Language::Python));
        assert_eq!(of("bin/deploy", "#!/usr/bin/env -S bash -e\n"), Some(Language::Bash));
        assert_eq!(of("bin/run", "#!/usr/bin/python3.11\n"), Some(Language::Python));
        assert_eq!(of("web/a.vue", ""), Some(Language::TypeScript));
        assert_eq!(of("build/Dockerfile.dev", ""), Some(Language::Bash));
        assert_eq!(of("README", "hello"), None);
        assert_eq!(of("po/shop_de.ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n"), None);
    }

    #[test]
    fn test_files_are_detected_by_the_conventions_of_test_runners() {
        for path in [
            "web/a.test.ts",
            "src/__tests__/a.js",
            "tests/it/main.rs",
            "pkg/a_test.go",
            "test_shop.py",
            "tools/test-login.sh",
            "src/test/java/CartTest.java",
            "spec/cart_spec.rb",
            "tests/conftest.py",
            "test_server/data/a.json",
            "shop_tests/a.rs",
            "Shop.Tests/Cart.cs",
            "src/CartTests.cs",
            "core/commonTest/kotlin/Cart.kt",
            "common/t/tls/node_key.pem",
        ] {
            assert!(is_test(path), "{path}");
        }
        for path in
            ["src/latest.ts", "src/contest.py", "src/attest/mod.rs", "src/Contest.java/x.rs"]
        {
            assert!(!is_test(path), "{path}");
        }
    }
}
