//! Credentials in the added lines, as the detector finds them: one rule for each certainty.
//!
//! A finding about a credential has no evidence, and its code is stored as a hash, so that no
//! output repeats the credential.

use std::ops::Range;

use super::AddedLines;
use crate::credentials::{Certainty, Credential};
use crate::language;
use crate::rule_match::RuleMatch;

/// Finds credentials whose form belongs to one kind of credential.
pub(crate) fn certain(added: &AddedLines<'_>) -> Vec<RuleMatch> {
    hits(added, Certainty::Certain, |one| !is_test_key(added.path, one))
}

/// Finds private keys of tests, examples and documents, which open no service as a rule.
pub(crate) fn test_key(added: &AddedLines<'_>) -> Vec<RuleMatch> {
    hits(added, Certainty::Certain, |one| is_test_key(added.path, one))
}

/// Finds random values with the name or in the place of a credential.
pub(crate) fn likely(added: &AddedLines<'_>) -> Vec<RuleMatch> {
    hits(added, Certainty::Likely, |one| !is_example(added, one))
}

/// Finds values with the name of a credential that a person may have chosen.
pub(crate) fn possible(added: &AddedLines<'_>) -> Vec<RuleMatch> {
    let mut found = hits(added, Certainty::Possible, |_| true);
    found.extend(hits(added, Certainty::Likely, |one| is_example(added, one)));
    found
}

/// Returns true if a credential is the value of an example: the commands in a document, the code in a
/// comment or in the text that documents a function, and the settings of an example have such values.
fn is_example(added: &AddedLines<'_>, credential: &Credential) -> bool {
    is_document(added.path)
        || language::is_example(added.path)
        || is_in_comment(added, credential)
        || is_in_docstring(added, credential)
}

/// Returns true if all parts of a credential are in comments of a program.
fn is_in_comment(added: &AddedLines<'_>, credential: &Credential) -> bool {
    let is_commented = |piece: &Range<usize>| {
        let line = added.line_of(piece.start);
        let comment = line.checked_sub(1).and_then(|at| added.comments().get(at as usize));
        comment.is_some_and(|comment| comment.contains(&added.text[piece.clone()]))
    };
    credential.pieces.iter().all(is_commented)
}

/// Returns true if all parts of a credential are in the text that documents a definition of Python.
fn is_in_docstring(added: &AddedLines<'_>, credential: &Credential) -> bool {
    let is_documented = |piece: &Range<usize>| {
        let around = |text: &Range<usize>| text.start <= piece.start && piece.end <= text.end;
        added.docstrings().iter().any(around)
    };
    credential.pieces.iter().all(is_documented)
}

/// The parts of the names of keys that no server of a user has, such as `caddy.localhost.key`.
const TEST_KEY_NAMES: [&str; 7] =
    ["localhost", "snakeoil", "self-signed", "selfsigned", "dummy", "example", "testkey"];

fn is_test_key(path: &str, credential: &Credential) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let is_named_so = || TEST_KEY_NAMES.iter().any(|part| name.contains(part));
    let is_key = credential.kind.contains("private key");
    is_key && (language::is_test(path) || language::is_example(path) || is_named_so())
}

/// Returns true for documents. The metadata of a package of Python contains its README, and a page
/// of the manual ends with the number of its section.
fn is_document(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let is_manual_page = || {
        let section = name.rsplit_once('.').map_or("", |(_, section)| section);
        folder.split('/').any(|own| own.starts_with("man"))
            && matches!(section.as_bytes(), [b'1'..=b'9'])
    };
    [".md", ".rst", ".adoc", ".markdown"].iter().any(|end| name.ends_with(end))
        || ["readme", "readme.txt", "pkg-info"].contains(&name)
        || (name == "metadata" && folder.ends_with(".dist-info"))
        || is_manual_page()
}

fn hits(
    added: &AddedLines<'_>,
    certainty: Certainty,
    is_wanted: impl Fn(&Credential) -> bool,
) -> Vec<RuleMatch> {
    let found = added.credentials().iter();
    let found = found.filter(|one| one.certainty == certainty && is_wanted(one));
    let found = found.filter_map(|one| hit(added, one));
    // Tests need passwords, so that only certain credentials are reported there: those open a real
    // service.
    let is_expected =
        |hit: &RuleMatch| certainty < Certainty::Certain && added.is_test(hit.lines.start());
    found.filter(|hit| !is_expected(hit)).collect()
}

/// Creates a hit of a credential on an added line, at the first such line.
fn hit(added: &AddedLines<'_>, credential: &Credential) -> Option<RuleMatch> {
    let (line, piece) = credential.pieces.iter().find_map(|piece| {
        let line = added.line_of(piece.start);
        added.has(line).then_some((line, piece))
    })?;
    let column = (piece.start - added.start_of(line)) as u32 + 1;
    Some(RuleMatch {
        column: Some(column),
        note: Some(format!("This is {}.", credential.kind)),
        is_secret: true,
        ..RuleMatch::on_line(line, &added.text[piece.clone()])?
    })
}

#[cfg(test)]
mod tests {
    use assay_findings::vote::LineRange;

    use super::*;

    fn lines_hit(path: &str, text: &str, look: fn(&AddedLines<'_>) -> Vec<RuleMatch>) -> Vec<u32> {
        let all = LineRange::range(1, text.lines().count() as u32);
        look(&AddedLines::new(path, text, all.into_iter()))
            .iter()
            .map(|hit| hit.lines.start())
            .collect()
    }

    #[test]
    fn a_value_that_looks_like_a_password_is_reported() {
        let text = "db_password = \"kT9vQ2mX7pLw\"\napiKey: 'a8F3kQ9zT1bV6nM2',\n\"secret\" => \"pR7xW2kL9mQ4\",";
        assert_eq!(lines_hit("src/a.py", text, likely), [1, 2, 3]);
    }

    #[test]
    fn names_templates_and_placeholders_are_left_alone() {
        let text = "password = \"correct-horse\"\npassword = os.environ[\"DB_PASSWORD_2024\"]\nsecret = \"${DB_SECRET_1}\"\napi_key = \"your-api-key-123\"\npassword: \"spring.datasource.password\"\nPASSWORD = \"aaaaaaaaaaaa1\"\nsecret_key = \"vault:secret/app1\"";
        assert_eq!(lines_hit("src/a.py", text, likely), Vec::<u32>::new());
        assert_eq!(lines_hit("src/a.py", text, possible), Vec::<u32>::new());
    }

    #[test]
    fn passwords_in_test_files_are_not_reported() {
        let text = "password = \"kT9vQ2mX7pLw\"";
        assert_eq!(lines_hit("tests/a.py", text, likely), Vec::<u32>::new());
    }

    #[test]
    fn a_password_in_a_comment_is_a_possible_password() {
        let text = "# user.password = 'kT9vQ2mX7pLw'\nuser.password = 'pR7xW2kL9mQ4' # 'pR7'\n";
        assert_eq!(lines_hit("app/user.rb", text, likely), [2]);
        assert_eq!(lines_hit("app/user.rb", text, possible), [1]);
    }

    #[test]
    fn a_password_in_the_comment_of_a_configuration_is_reported() {
        let text = "# DB_PASSWORD=kT9vQ2mX7pLw\n";
        assert_eq!(lines_hit("deploy/.env", text, likely), [1]);
        assert_eq!(lines_hit("deploy/a.yml", &text.replace('=', ": "), likely), [1]);
    }

    #[test]
    fn passwords_in_the_tests_of_a_rust_file_are_not_reported() {
        let code = "const PASSWORD: &str = \"kT9vQ2mX7pLw\";\n";
        let text = format!("{code}#[cfg(test)]\nmod tests {{\n    {code}}}\n{code}");
        assert_eq!(lines_hit("src/a.rs", &text, likely), [1, 6]);
    }

    #[test]
    fn a_private_key_of_a_test_is_not_reported_as_a_leak() {
        let body = "MHcCAQEEIM8wGIzCKjAOGdBFmYHtS791Ly2I9FtmknEsR2sa63s7oAoGCCqGSM49";
        let dashes = "-----";
        let text = format!(
            "{dashes}BEGIN EC PRIVATE KEY{dashes}\n{body}\n{dashes}END EC PRIVATE KEY{dashes}\n"
        );
        for (path, tested, leaked) in [
            ("ca/testdata/a.key", 1, 0),
            ("examples/a.key", 1, 0),
            ("proxytest/a.localhost.key", 1, 0),
            ("etc/a.key", 0, 1),
        ] {
            assert_eq!(lines_hit(path, &text, test_key).len(), tested, "{path}");
            assert_eq!(lines_hit(path, &text, certain).len(), leaked, "{path}");
        }
    }

    #[test]
    fn example_values_of_a_document_are_possible_passwords() {
        let text = "db_password = \"kT9vQ2mX7pLw\"";
        for path in ["README.md", "README", "shop-1.0.dist-info/METADATA", "shop.egg-info/PKG-INFO"]
        {
            assert!(lines_hit(path, text, likely).is_empty(), "{path}");
            assert_eq!(lines_hit(path, text, possible), [1], "{path}");
        }
        for path in ["etc/metadata", "etc/shop.5", "man/shop.conf"] {
            assert_eq!(lines_hit(path, text, likely), [1], "{path}");
        }
    }

    #[test]
    fn a_password_in_a_docstring_or_an_example_is_a_possible_password() {
        let value = "password = 'kT9vQ2mX7pLw'";
        let text = format!("def f():\n    \"\"\"Sends:\n\n    {value}\n    \"\"\"\n    {value}\n");
        assert_eq!(lines_hit("app/user.py", &text, likely), [6]);
        assert_eq!(lines_hit("app/user.py", &text, possible), [4]);
        let template = format!("TEXT = \"\"\"\n{value}\n\"\"\"\n");
        assert_eq!(lines_hit("app/user.py", &template, likely), [2]);
        assert_eq!(lines_hit("examples/shop/settings.py", value, possible), [1]);
    }

    #[test]
    fn a_value_that_is_named_encrypted_is_a_possible_password() {
        let text =
            "const encryptedClientSecret = \"sYbJYm99WB8jzeaLPU0OPDMJKIkZvD2qOn3SyEMfiJr03\"\n";
        assert!(lines_hit("backend/box.go", text, likely).is_empty());
        assert_eq!(lines_hit("backend/box.go", text, possible), [1]);
    }

    #[test]
    fn quotes_in_a_comment_or_a_string_begin_no_docstring() {
        let value = "password = 'kT9vQ2mX7pLw'";
        for before in [
            "# \"\"\"",
            "#\n# '''",
            "TEXT = '\"\"\"'",
            "send(\"\"\"a\"\"\")",
            "'''\n\"\"\"\n'''",
            "first = 1\n\"\"\"\nText.\n\"\"\"",
        ] {
            let text = format!("{before}\n{value}\n");
            let line = text.lines().count() as u32;
            assert_eq!(lines_hit("app/user.py", &text, likely), [line], "{before}");
        }
    }

    #[test]
    fn built_code_and_code_of_others_is_no_example() {
        let value = "password = \"kT9vQ2mX7pLw\"";
        for path in ["vendor/a.js", "dist/a.js", "node_modules/a/b.js", "src/lang/a.js"] {
            assert_eq!(lines_hit(path, value, likely), [1], "{path}");
        }
        for path in ["docs/a.js", "sample/a.js", "Examples/a.js"] {
            assert_eq!(lines_hit(path, value, possible), [1], "{path}");
        }
    }

    #[test]
    fn only_added_lines_are_reported() {
        let text = "password = \"kT9vQ2mX7pLw\"\nx = 1\n";
        let added = AddedLines::new("a.py", text, LineRange::at(2).into_iter());
        assert!(likely(&added).is_empty());
    }
}
