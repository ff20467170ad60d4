//! Changes without reviewable content, in all commands that review; and code that was not read,
//! which is not such a change.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use assay_testkit::Repository;

use crate::{AssayRun, assay_in};

const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// A kind of change without reviewable content.
struct Kind {
    name: &'static str,
    /// Commits the files before the change.
    before: fn(&Repository),
    /// Makes the change.
    make: fn(&Repository),
}

const KINDS: [Kind; 7] = [
    Kind {
        name: "a picture",
        before: |_| {},
        make: |repository| repository.write("a.png", PICTURE),
    },
    Kind {
        name: "a renamed picture",
        before: |repository| repository.write("a.png", PICTURE),
        make: |repository| {
            repository.git(&["mv", "a.png", "b.png"]);
        },
    },
    Kind {
        name: "a renamed file",
        before: |repository| repository.write("a.py", "x = 1\ny = 2\nz = 3\n"),
        make: |repository| {
            repository.git(&["mv", "a.py", "b.py"]);
        },
    },
    Kind {
        name: "a mode",
        before: |repository| repository.write("run.sh", "echo 1\n"),
        make: |repository| {
            let executable = fs::Permissions::from_mode(0o755);
            fs::set_permissions(repository.file("run.sh"), executable).unwrap();
        },
    },
    Kind {
        name: "a lock file",
        before: |repository| repository.write("Cargo.lock", "version = 3\n"),
        make: |repository| repository.write("Cargo.lock", "version = 4\n"),
    },
    Kind {
        name: "a submodule",
        before: |_| {},
        make: |repository| {
            let head = repository.git(&["rev-parse", "HEAD"]);
            let entry = format!("160000,{head},vendor");
            fs::create_dir_all(repository.file("vendor")).unwrap();
            repository.git(&["update-index", "--add", "--cacheinfo", &entry]);
        },
    },
    Kind {
        name: "several of them",
        before: |repository| repository.write("a.png", PICTURE),
        make: |repository| {
            repository.git(&["mv", "a.png", "b.png"]);
            repository.write("yarn.lock", "# yarn lockfile v1\n");
        },
    },
];

fn before(kind: &Kind) -> Repository {
    let repository = Repository::new();
    (kind.before)(&repository);
    repository.write("kept.txt", "kept\n");
    repository.commit("before");
    repository
}

fn review(repository: &Repository, args: &[&str]) -> AssayRun {
    assay_in(repository.path(), &[&["review"], args].concat(), b"")
}

/// Checks the outcome as text and as JSON.
fn check(repository: &Repository, args: &[&str], what: &str) {
    let ran = review(repository, args);
    assert_eq!(ran.code, 0, "{what} {args:?}: {}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("nothing to review"), "{what} {args:?}: {}", ran.stdout);
    let json = review(repository, &[args, &["--format", "json"]].concat()).json();
    assert_eq!(json["verdict"]["state"], "nothing_to_review", "{what} {args:?}");
    assert_eq!(json["verdict"]["incomplete"], false, "{what} {args:?}");
}

#[test]
fn a_change_without_content_has_nothing_to_review_in_any_scope() {
    for kind in &KINDS {
        let repository = before(kind);
        (kind.make)(&repository);
        if kind.name != "a submodule" {
            check(&repository, &["--base", "HEAD", "--untracked"], kind.name);
            repository.git(&["add", "--all"]);
        }
        check(&repository, &["--staged"], kind.name);
        repository.git(&["commit", "--quiet", "--message", "after"]);
        check(&repository, &["--commit", "HEAD"], kind.name);
    }
    let repository = Repository::new();
    check(&repository, &["--staged"], "an empty change");
    repository.git(&["commit", "--quiet", "--allow-empty", "--message", "empty"]);
    check(&repository, &["--commit", "HEAD"], "an empty commit");
}

#[test]
fn the_hook_accepts_a_change_without_content_and_reports_nothing_to_review() {
    let binary = Path::new(env!("CARGO_BIN_EXE_assay"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    for kind in &KINDS {
        let repository = before(kind);
        assert_eq!(assay_in(repository.path(), &["init", "--hook"], b"").code, 0);
        repository.git(&["add", "--all"]);
        repository.git(&["commit", "--quiet", "--no-verify", "--message", "hook"]);
        (kind.make)(&repository);
        if kind.name != "a submodule" {
            repository.git(&["add", "--all"]);
        }
        let commit = |args: &[&str]| {
            let output = Command::new("git")
                .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "commit"])
                .args(args)
                .current_dir(repository.path())
                .env("PATH", &path)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{} {args:?}: {said}", kind.name);
            assert!(said.contains("nothing to review"), "{} {args:?}: {said}", kind.name);
        };
        commit(&["--message", "after"]);
        commit(&["--amend", "--message", "in other words"]);
    }
}

#[test]
fn the_hook_reviews_the_content_of_every_form_of_git_commit() {
    let binary = Path::new(env!("CARGO_BIN_EXE_assay"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    let repository = Repository::new();
    repository.write("a.py", "def f():\n    return 1\n");
    repository.write("b.py", "def g():\n    return 1\n");
    repository.commit("before");
    assert_eq!(assay_in(repository.path(), &["init", "--hook"], b"").code, 0);
    repository.git(&["add", "--all"]);
    repository.git(&["commit", "--quiet", "--no-verify", "--message", "hook"]);
    let bad = "def f():\n    breakpoint()\n    return 1\n";
    let commit = |args: &[&str]| {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "commit"])
            .args(["--message", "after"])
            .args(args)
            .current_dir(repository.path())
            .env("PATH", &path)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), said)
    };
    let head = || repository.git(&["rev-parse", "HEAD"]);
    let before = head();
    repository.write("a.py", bad);
    for args in [&["--all"][..], &["a.py"], &["--only", "a.py"], &["--include", "a.py"]] {
        let (has_committed, said) = commit(args);
        assert!(!has_committed, "{args:?}: {said}");
        assert!(said.contains("a.py:2"), "{args:?}: {said}");
        assert_eq!(head(), before, "{args:?}");
    }
    // Git names the index relative to the folder that the hook runs in.
    repository.write("sub/c.py", bad);
    repository.git(&["add", "sub/c.py"]);
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "commit"])
        .args(["--message", "after"])
        .current_dir(repository.path().join("sub"))
        .env("PATH", &path)
        .env("GIT_DIR", "../.git")
        .output()
        .unwrap();
    assert!(!output.status.success(), "{output:?}");
    assert_eq!(head(), before);
    repository.git(&["rm", "--quiet", "--cached", "sub/c.py"]);
    // A file that is staged and that the commit leaves out is not judged.
    repository.git(&["add", "a.py"]);
    repository.write("b.py", "def g():\n    return 2\n");
    let (has_committed, said) = commit(&["--only", "b.py"]);
    assert!(has_committed, "{said}");
    assert!(!said.contains("a.py:2"), "{said}");
}

#[test]
fn the_action_passes_a_lock_file_with_a_notice() {
    let repository = before(&KINDS[4]);
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    (KINDS[4].make)(&repository);
    repository.commit("after");
    let assay = env!("CARGO_BIN_EXE_assay");
    let values = [("ASSAY", assay), ("BASE", "main")];
    let (said, code) = crate::action::run("review", repository.path(), &values);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("::notice title=Nothing to review::"), "{said}");
}

#[test]
fn a_change_with_nothing_to_review_is_incomplete_if_so_configured() {
    let repository = Repository::new();
    let text = "review:\n  nothing_to_review: incomplete\n";
    repository.write("config/agent-framework.yaml", text);
    repository.commit("strict");
    repository.write("a.png", PICTURE);
    repository.commit("after");
    let ran = review(&repository, &["--commit", "HEAD"]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert!(ran.stdout.contains("\nincomplete"), "{}", ran.stdout);
}

#[test]
fn code_without_a_parser_is_reviewed_as_text_only() {
    let repository = Repository::new();
    repository.write("a.hs", "main = putStrLn \"hello\"\n");
    repository.commit("after");
    let ran = review(&repository, &["--commit", "HEAD"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(ran.stdout.contains("\nready (rules only; 1 hunk text only)"), "{}", ran.stdout);
    repository.write("config/agent-framework.yaml", "coverage:\n  require: structural\n");
    repository.commit("strict");
    repository.write("a.hs", "main = putStrLn \"hello again\"\n");
    repository.commit("again");
    assert_eq!(review(&repository, &["--commit", "HEAD"]).code, 3);
}

#[test]
fn a_changed_file_that_does_not_parse_makes_the_review_incomplete() {
    for (name, before, after) in [
        ("new.py", None, "def f(:\n    return 1\n"),
        ("a.py", Some("def f(a):\n    return a\n"), "def f(a:\n    return a\n"),
        // The parser reports the error far from the line that causes it.
        (
            "far.js",
            Some("const a = [1, 2];\n\n\n\n\n\n\n\n\n\nfunction f() { return a; }\n"),
            "const a = [1, 2;\n\n\n\n\n\n\n\n\n\nfunction f() { return a; }\n",
        ),
        ("a.rs", Some("fn f() {}\n"), "fn f() {\n"),
        ("a.go", Some("package a\n"), "package a\n\nfunc f( {\n}\n"),
    ] {
        let repository = Repository::new();
        if let Some(before) = before {
            repository.write(name, before);
            repository.commit("before");
        }
        repository.write(name, after);
        repository.commit("after");
        let ran = review(&repository, &["--commit", "HEAD"]);
        assert_eq!(ran.code, 3, "{name}: {}", ran.stdout);
        assert!(ran.stdout.contains("does not parse"), "{name}: {}", ran.stdout);
    }
}

#[test]
fn a_parse_error_outside_of_the_change_does_not_block() {
    let repository = Repository::new();
    let text = "def f(:\n    return 1\n\n\ndef g(a):\n    return a\n\n\ndef h(a):\n    return a\n";
    repository.write("a.py", text);
    repository.commit("before");
    repository.write("a.py", format!("{text}\n\nX = 1\n"));
    repository.commit("after");
    let ran = review(&repository, &["--commit", "HEAD"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}

#[test]
fn unsupported_syntax_templates_and_fixtures_do_not_fail_the_review() {
    for (name, text) in [
        ("page.js", "export const A = () => <div className=\"a\">{1}</div>;\n"),
        ("typed.js", "// @flow\nexport function f(a: number): string { return `${a}`; }\n"),
        (
            "{{cookiecutter.name}}/a.py",
            "from {{cookiecutter.name}} import x\n{% if y %}\nz = 1\n{% endif %}\n",
        ),
        ("a.py.j2", "{% if y %}\nz = (\n{% endif %}\n"),
        ("chart/a.yaml", "a: {{ .Values.a }}\n{{- if .b }}\nc: 1\n{{- end }}\n"),
        ("tsconfig.json", "{\n  // a comment\n  \"a\": [1,],\n}\n"),
        ("tests/fixtures/broken.py", "def f(:\n"),
    ] {
        let repository = Repository::new();
        repository.write(name, text);
        repository.commit("after");
        let ran = review(&repository, &["--commit", "HEAD"]);
        assert_eq!(ran.code, 0, "{name}: {}", ran.stdout);
    }
}
