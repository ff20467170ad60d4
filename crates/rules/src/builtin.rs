//! The list of the built-in rules. A new rule is its file under `rules/` and a line here.
//!
//! Patterns of built-in rules are ASCII: `\w`, `\d` and `\b` are rewritten when a rule is read.
//! Compiling the Unicode tables for each pattern would take longer than a small review.

use crate::flow::FlowLibrary;
use crate::language::{Language, is_javascript};

macro_rules! rules {
    ($($name:literal),* $(,)?) => {
        /// Every built-in structural rule: its name, and the text of its file.
        pub(crate) const RULES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../rules/", $name, ".yml")))),*];

        /// The examples of the built-in structural rules, in the same order: the name of the rule,
        /// and the text of the file with its examples.
        pub(crate) const EXAMPLES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../rules/", $name, ".test.yml")))),*];
    };
}

rules![
    "c/assignment-as-condition",
    "c/catch-by-value",
    "c/char-against-eof",
    "c/dangling-c-str",
    "c/delete-mismatch",
    "c/double-free",
    "c/empty-catch-all",
    "c/format-string",
    "c/malloc-without-terminator",
    "c/memset-swapped",
    "c/predictable-temp-file",
    "c/returns-local",
    "c/shell-command",
    "c/sizeof-pointer",
    "c/strncat-size",
    "c/unbounded-copy",
    "c/unbounded-input",
    "c/use-after-free",
    "go/archive-path",
    "go/body-not-closed",
    "go/busy-loop",
    "go/close-before-error-check",
    "go/command-from-parameter",
    "go/command-from-request",
    "go/constant-jwt-key",
    "go/debug-print",
    "go/defer-in-loop",
    "go/differs-under-test",
    "go/host-key-unchecked",
    "go/html-from-request",
    "go/http-error-without-return",
    "go/ignored-result",
    "go/insecure-cookie",
    "go/lock-by-value",
    "go/log-from-request",
    "go/nil-map-write",
    "go/path-from-request",
    "go/path-traversal",
    "go/predictable-secret",
    "go/predictable-token",
    "go/query-in-loop",
    "go/redirect-from-request",
    "go/shell-injection",
    "go/skipped-test",
    "go/sql-from-parameter",
    "go/sql-from-request",
    "go/sql-injection",
    "go/swallowed-error",
    "go/template-text-from-request",
    "go/tls-verify-off",
    "go/unescaped-html",
    "go/url-from-request",
    "go/waitgroup-add-in-goroutine",
    "go/weak-cipher",
    "go/weak-hash",
    "go/weak-key",
    "go/weak-password-hash",
    "java/annotation-on-private-method",
    "java/archive-path",
    "java/bigdecimal-from-double",
    "java/boxed-identity",
    "java/code-from-request",
    "java/command-from-parameter",
    "java/command-from-request",
    "java/command-injection",
    "java/constant-jwt-key",
    "java/constant-key",
    "java/empty-assertion",
    "java/equals-without-hashcode",
    "java/exception-not-thrown",
    "java/file-from-parameter",
    "java/header-from-request",
    "java/html-from-request",
    "java/ignored-result",
    "java/insecure-cookie",
    "java/ldap-from-parameter",
    "java/ldap-from-request",
    "java/log-from-request",
    "java/lost-interrupt",
    "java/nosql-from-request",
    "java/objects-from-parameter",
    "java/objects-from-request",
    "java/path-from-request",
    "java/predictable-secret",
    "java/predictable-token",
    "java/query-in-loop",
    "java/redirect-from-request",
    "java/regex-from-request",
    "java/return-in-finally",
    "java/session-from-request",
    "java/skipped-test",
    "java/sql-from-parameter",
    "java/sql-from-request",
    "java/sql-injection",
    "java/stream-not-closed",
    "java/string-identity",
    "java/swallowed-exception",
    "java/template-from-request",
    "java/tls-trust-all",
    "java/unsafe-deserialization",
    "java/upload-path",
    "java/url-from-request",
    "java/weak-cipher",
    "java/weak-cipher-value",
    "java/weak-hash",
    "java/weak-key",
    "java/weak-password-hash",
    "java/xml-entities",
    "java/xpath-from-parameter",
    "java/xpath-from-request",
    "javascript/assignment-as-condition",
    "javascript/async-effect",
    "javascript/async-foreach",
    "javascript/async-predicate",
    "javascript/async-promise-executor",
    "javascript/code-from-parameter",
    "javascript/code-from-request",
    "javascript/command-from-parameter",
    "javascript/command-from-request",
    "javascript/command-injection",
    "javascript/comparison-with-new-object",
    "javascript/conditional-hook",
    "javascript/constant-expectation",
    "javascript/constant-iv",
    "javascript/constant-jwt-key",
    "javascript/cors-any-origin",
    "javascript/debug-print",
    "javascript/debug-print-bare",
    "javascript/debugger",
    "javascript/default-secret",
    "javascript/differs-under-test",
    "javascript/empty-catch",
    "javascript/empty-test",
    "javascript/eval",
    "javascript/expect-without-matcher",
    "javascript/fast-password-hash",
    "javascript/file-from-parameter",
    "javascript/floating-promise-all",
    "javascript/focused-test",
    "javascript/html-from-page-address",
    "javascript/html-from-parameter",
    "javascript/html-from-request",
    "javascript/html-injection",
    "javascript/index-as-condition",
    "javascript/insecure-cookie",
    "javascript/invalid-typeof",
    "javascript/key-from-request",
    "javascript/ldap-from-request",
    "javascript/length-below-zero",
    "javascript/log-from-request",
    "javascript/map-parse-int",
    "javascript/map-without-return",
    "javascript/markup-from-parameter",
    "javascript/mass-assignment",
    "javascript/nan-comparison",
    "javascript/nosql-injection",
    "javascript/objects-from-request",
    "javascript/open-redirect",
    "javascript/path-from-request",
    "javascript/path-traversal",
    "javascript/predictable-secret",
    "javascript/query-in-loop",
    "javascript/readable-session-cookie",
    "javascript/redirect-from-request",
    "javascript/reflected-html",
    "javascript/regex-from-request",
    "javascript/repeated-condition",
    "javascript/secret-to-any-window",
    "javascript/setter-in-render",
    "javascript/shell-string",
    "javascript/skipped-test",
    "javascript/slow-pattern",
    "javascript/sql-from-parameter",
    "javascript/sql-from-request",
    "javascript/sql-injection",
    "javascript/ssrf",
    "javascript/state-mutation",
    "javascript/template-from-parameter",
    "javascript/template-text-from-request",
    "javascript/thrown-string",
    "javascript/tls-verification-off",
    "javascript/unawaited-expect",
    "javascript/unexplained-ts-ignore",
    "javascript/unsanitised-react-html",
    "javascript/unverified-jwt",
    "javascript/url-from-request",
    "javascript/weak-cipher",
    "javascript/weak-hash",
    "javascript/weak-key",
    "javascript/xml-entities",
    "javascript/xpath-from-request",
    "json/dependency-any-version",
    "json/dependency-from-git",
    "json/install-script-downloads",
    "php/code-from-parameter",
    "php/code-from-request",
    "php/command-from-parameter",
    "php/command-from-request",
    "php/debug-output-left",
    "php/differs-under-test",
    "php/dump-and-die-left",
    "php/file-from-parameter",
    "php/header-from-request",
    "php/html-from-parameter",
    "php/html-from-request",
    "php/include-from-request",
    "php/insecure-cookie",
    "php/ldap-from-request",
    "php/log-from-request",
    "php/object-injection",
    "php/objects-from-parameter",
    "php/objects-from-request",
    "php/open-redirect",
    "php/password-hash",
    "php/path-from-request",
    "php/redirect-from-request",
    "php/request-echoed",
    "php/request-extracted",
    "php/request-included",
    "php/shell-command",
    "php/sql-from-parameter",
    "php/sql-from-request",
    "php/sql-injection",
    "php/template-text-from-request",
    "php/tls-unchecked",
    "php/upload-name",
    "php/url-from-request",
    "php/weak-cipher",
    "php/weak-hash",
    "php/weak-token",
    "php/xml-entities",
    "php/xpath-from-request",
    "python/archive-path",
    "python/assert-guards-access",
    "python/assert-tuple",
    "python/blocking-io-in-async",
    "python/changed-while-iterated",
    "python/code-from-parameter",
    "python/code-from-request",
    "python/command-from-parameter",
    "python/command-from-request",
    "python/constant-iv",
    "python/constant-jwt-key",
    "python/coroutine-not-awaited",
    "python/cors-any-origin-with-credentials",
    "python/debug-print",
    "python/debug-print-alone",
    "python/debugger",
    "python/default-evaluated-once",
    "python/differs-under-test",
    "python/digest-compared-plainly",
    "python/eval-of-input",
    "python/eval-of-parameter",
    "python/except-or",
    "python/fields-from-request",
    "python/file-from-parameter",
    "python/file-from-request",
    "python/file-not-closed",
    "python/flask-debugger-exposed",
    "python/format-from-request",
    "python/format-html-interpolated",
    "python/host-key-unchecked",
    "python/html-from-parameter",
    "python/html-from-request",
    "python/insecure-cookie",
    "python/is-literal",
    "python/jwt-unverified",
    "python/late-bound-lambda",
    "python/ldap-from-parameter",
    "python/ldap-from-request",
    "python/log-from-request",
    "python/missing-f-prefix",
    "python/mktemp",
    "python/mutated-default",
    "python/nan-comparison",
    "python/nosql-from-request",
    "python/objects-from-parameter",
    "python/objects-from-request",
    "python/page-from-request",
    "python/path-from-request",
    "python/predictable-secret",
    "python/query-in-loop",
    "python/raise-not-implemented",
    "python/redirect-from-request",
    "python/regex-from-request",
    "python/request-url-fetched",
    "python/request-without-timeout",
    "python/return-in-finally",
    "python/session-from-request",
    "python/shell-injection",
    "python/sleep-in-async",
    "python/slow-pattern",
    "python/sql-from-parameter",
    "python/sql-from-request",
    "python/sql-injection",
    "python/strip-takes-characters",
    "python/swallowed-exception",
    "python/tar-unfiltered",
    "python/task-dropped",
    "python/template-from-parameter",
    "python/template-from-value",
    "python/template-text-from-request",
    "python/test-checks-nothing",
    "python/test-skipped-without-reason",
    "python/tls-unverified",
    "python/unsafe-unpickling",
    "python/unsafe-yaml-load",
    "python/url-from-request",
    "python/utcnow-timestamp",
    "python/weak-cipher",
    "python/weak-hash",
    "python/weak-key",
    "python/weak-password-hash",
    "python/weak-tls",
    "python/world-writable",
    "python/xml-entities",
    "python/xml-from-request",
    "python/xpath-from-parameter",
    "python/xpath-from-request",
    "ruby/code-from-request",
    "ruby/command-from-parameter",
    "ruby/command-from-request",
    "ruby/command-injection",
    "ruby/conditional-debugger",
    "ruby/constant-jwt-key",
    "ruby/debugger",
    "ruby/differs-under-test",
    "ruby/evaluated-request",
    "ruby/file-from-parameter",
    "ruby/focused-test",
    "ruby/html-from-request",
    "ruby/job-in-transaction",
    "ruby/jwt-unverified",
    "ruby/log-from-request",
    "ruby/objects-from-request",
    "ruby/open-redirect",
    "ruby/path-from-request",
    "ruby/permit-everything",
    "ruby/query-in-loop",
    "ruby/redirect-from-request",
    "ruby/skipped-test",
    "ruby/sql-from-parameter",
    "ruby/sql-from-request",
    "ruby/sql-injection",
    "ruby/swallowed-exception",
    "ruby/template-text-from-request",
    "ruby/tls-verify-off",
    "ruby/unchecked-save-in-transaction",
    "ruby/unescaped-html",
    "ruby/url-from-request",
    "ruby/weak-cipher",
    "ruby/weak-hash",
    "ruby/xml-entities",
    "rust/blocking-in-async",
    "rust/credentialed-cors",
    "rust/dbg-in-expression",
    "rust/dbg-left",
    "rust/debug-print",
    "rust/differs-under-test",
    "rust/empty-assertion",
    "rust/jwt-unchecked",
    "rust/lock-dropped-at-once",
    "rust/nan-comparison",
    "rust/shell-command",
    "rust/sql-injection",
    "rust/tls-unchecked",
    "rust/todo-left",
    "shell/cd-unchecked-before-delete",
    "shell/download-piped-to-shell",
    "shell/host-key-unchecked",
    "shell/rm-rf-empty-variable",
    "shell/tls-unchecked",
    "shell/unquoted-arguments",
    "shell/world-writable",
    "yaml/action-from-branch",
    "yaml/action-not-pinned",
    "yaml/compose-privileged",
    "yaml/kubernetes-privileged",
    "yaml/pull-request-target-checkout",
    "yaml/workflow-ignores-test-failure",
    "yaml/workflow-script-injection",
    "yaml/workflow-write-all",
];

/// The shared lists of the rules that follow data, by framework.
const LIBRARIES: &[(Language, &str)] = &[
    (Language::Go, include_str!("../libraries/go/language.yml")),
    (Language::Go, include_str!("../libraries/go/sinks.yml")),
    (Language::Go, include_str!("../libraries/go/net-http.yml")),
    (Language::Go, include_str!("../libraries/go/frameworks.yml")),
    (Language::Php, include_str!("../libraries/php/language.yml")),
    (Language::Php, include_str!("../libraries/php/sinks.yml")),
    (Language::Php, include_str!("../libraries/php/frameworks.yml")),
    (Language::Ruby, include_str!("../libraries/ruby/language.yml")),
    (Language::Ruby, include_str!("../libraries/ruby/sinks.yml")),
    (Language::Ruby, include_str!("../libraries/ruby/rails.yml")),
    (Language::Java, include_str!("../libraries/java/language.yml")),
    (Language::Java, include_str!("../libraries/java/sinks.yml")),
    (Language::Java, include_str!("../libraries/java/servlet.yml")),
    (Language::Java, include_str!("../libraries/java/spring.yml")),
    (Language::Python, include_str!("../libraries/python/language.yml")),
    (Language::Python, include_str!("../libraries/python/sinks.yml")),
    (Language::Python, include_str!("../libraries/python/flask.yml")),
    (Language::Python, include_str!("../libraries/python/django.yml")),
    (Language::Python, include_str!("../libraries/python/fastapi.yml")),
    (Language::JavaScript, include_str!("../libraries/javascript/language.yml")),
    (Language::JavaScript, include_str!("../libraries/javascript/sinks.yml")),
    (Language::JavaScript, include_str!("../libraries/javascript/servers.yml")),
    (Language::JavaScript, include_str!("../libraries/javascript/browser.yml")),
];

/// Returns the built-in lists of the rules that follow data in a language.
pub(crate) fn libraries(language: Language) -> Vec<FlowLibrary> {
    let first = if is_javascript(language) { Language::JavaScript } else { language };
    let of_language = LIBRARIES.iter().filter(|(own, _)| *own == first);
    let read = |yaml: &str| FlowLibrary::read(yaml).expect("a test reads every built-in list");
    of_language.map(|(_, yaml)| read(yaml)).collect()
}

/// Returns the built-in rules for a language: those in its folder, and in the folders that share
/// rules with it.
pub(crate) fn for_language(language: Language) -> impl Iterator<Item = (&'static str, String)> {
    let folders: &[&str] = match language {
        Language::JavaScript | Language::TypeScript | Language::Tsx => &["javascript"],
        Language::C | Language::Cpp => &["c"],
        Language::Python => &["python"],
        Language::Rust => &["rust"],
        Language::Go => &["go"],
        Language::Java => &["java"],
        Language::Ruby => &["ruby"],
        Language::Php => &["php"],
        Language::Bash => &["shell"],
        Language::Yaml => &["yaml"],
        Language::Json => &["json"],
        _ => &[],
    };
    let of_language = RULES.iter().filter(|(name, _)| {
        let folder = name.split('/').next().unwrap_or(name);
        folders.contains(&folder)
    });
    of_language.map(|(name, yaml)| (*name, with_ascii_classes(yaml)))
}

/// Replaces the classes for words, digits and word ends in the patterns of a file by those of
/// ASCII. Built-in rules use them for names in code. Compiling the Unicode tables for each pattern
/// would take longer than all other work of a small review.
fn with_ascii_classes(yaml: &str) -> String {
    let mut out = String::with_capacity(yaml.len() * 2);
    for line in yaml.split_inclusive('\n') {
        if !line.contains('\\') || !(line.contains("regex:") || line.contains("replace:")) {
            out.push_str(line);
            continue;
        }
        let mut in_class = false;
        let mut chars = line.chars();
        while let Some(c) = chars.next() {
            in_class = (in_class || c == '[') && c != ']';
            if c != '\\' {
                out.push(c);
                continue;
            }
            match (chars.next(), in_class) {
                (Some('w'), true) => out.push_str("A-Za-z0-9_"),
                (Some('w'), false) => out.push_str("[A-Za-z0-9_]"),
                (Some('d'), true) => out.push_str("0-9"),
                (Some('d'), false) => out.push_str("[0-9]"),
                (Some('b'), false) => out.push_str(r"(?-u:\b)"),
                (other, _) => out.extend(['\\'].into_iter().chain(other)),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::WITH_GRAMMAR;
    use crate::rulebook::Rulebook;
    use std::collections::BTreeSet;

    #[test]
    fn word_classes_in_rule_patterns_match_ascii_only() {
        assert_eq!(
            with_ascii_classes("  regex: ^[\\w.]+\\b\\s\\[\\w\\]$\nmessage: a \\w\n"),
            "  regex: ^[A-Za-z0-9_.]+(?-u:\\b)\\s\\[[A-Za-z0-9_]\\]$\nmessage: a \\w\n"
        );
    }

    /// The minimum number of structural rules.
    const MIN_RULES: usize = 80;

    #[test]
    fn every_rule_file_is_listed_and_read() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
        let mut on_disk = BTreeSet::new();
        for folder in std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap()) {
            for file in std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap()) {
                let folder = folder.file_name().into_string().unwrap();
                let file = file.file_name().into_string().unwrap();
                if let Some(stem) = file.strip_suffix(".yml").filter(|s| !s.ends_with(".test")) {
                    on_disk.insert(format!("{folder}/{stem}"));
                }
            }
        }
        let listed: BTreeSet<String> = RULES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(on_disk, listed);
        let rulebook = Rulebook::builtin();
        let languages = WITH_GRAMMAR.iter().map(|language| rulebook.rules(*language));
        let read: BTreeSet<&str> = languages
            .flat_map(|rules| {
                let flow = rules.flow.rules.iter().map(|rule| rule.about.id.as_str());
                rules.rules.iter().map(|rule| rule.about.id.as_str()).chain(flow)
            })
            .collect();
        assert_eq!(read.len(), listed.len());
        assert!(read.len() >= MIN_RULES, "{}", read.len());
    }
}
