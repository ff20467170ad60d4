//! Repositories whose settings name programs: no scope runs any of them.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use assay_change::diff::Content;
use assay_change::{Scope, Selection};
use expect_test::expect;

use crate::support::{against, commits, open, path, show};
use assay_testkit::{Repository, git};

/// A repository with changes of every scope, and a program that creates a marker file when it runs.
struct HostileRepository {
    outside: tempfile::TempDir,
    repository: Repository,
}

impl HostileRepository {
    fn new() -> HostileRepository {
        let hostile = HostileRepository {
            outside: tempfile::tempdir().unwrap(),
            repository: Repository::new(),
        };
        let program = format!("#!/bin/sh\ntouch '{}'\nexit 1\n", hostile.mark().display());
        fs::write(hostile.program(), program).unwrap();
        fs::set_permissions(hostile.program(), Permissions::from_mode(0o755)).unwrap();
        let repository = &hostile.repository;
        let host = hostile.outside.path().join("owner/repo");
        repository.git(&["clone", "--quiet", "--bare", ".", host.to_str().unwrap()]);
        repository.git(&["remote", "add", "upstream", host.to_str().unwrap()]);
        repository.git(&["checkout", "--quiet", "-b", "topic"]);
        repository.write("code", "1\n");
        repository.commit("second");
        repository.git(&["push", "--quiet", "upstream", "topic:refs/pull/1/head"]);
        repository.write("code", "2\n");
        repository.git(&["add", "code"]);
        repository.write("README", "edited\n");
        repository.write("new", "untracked\n");
        hostile
    }

    fn mark(&self) -> PathBuf {
        self.outside.path().join("mark")
    }

    fn program(&self) -> PathBuf {
        self.outside.path().join("program")
    }

    fn set(&self, key: &str, value: &str) {
        let value = value.replace("PROGRAM", self.program().to_str().unwrap());
        self.repository.git(&["config", key, &value]);
    }

    /// Installs the program as a hook.
    fn hook(&self, name: &str) {
        let hook = self.repository.file(format!(".git/hooks/{name}"));
        fs::copy(self.program(), hook).unwrap();
    }

    /// Checks that plain git runs the program.
    fn catches(&self, args: &[&str]) {
        self.repository.try_git(args);
        assert!(self.mark().exists(), "the trap does not work: {args:?}");
        fs::remove_file(self.mark()).unwrap();
    }

    /// Opens every scope, reads all of its files, and checks that the program did not run.
    fn is_avoided(&self) {
        let pull = Scope::pull_request("owner/repo#1").unwrap();
        let scopes = [
            Scope::Automatic,
            against("main"),
            Scope::Staged,
            commits("HEAD"),
            commits("main.."),
            pull,
        ];
        for scope in scopes {
            let selection = Selection { untracked: true, ..Selection::default() };
            if let Ok(change) = assay_change::open(self.repository.path(), &scope, &selection) {
                for tree in [change.base(), change.tree()] {
                    for path in tree.paths().unwrap() {
                        assert!(tree.exists(&path).unwrap());
                        tree.read(&path).unwrap();
                    }
                }
            }
            assert!(!self.mark().exists(), "{scope:?} ran a program");
        }
    }
}

#[test]
fn the_hostile_repository_without_settings_opens_in_every_scope() {
    let hostile = HostileRepository::new();
    let mut shown = String::new();
    let pull = Scope::pull_request("owner/repo#1").unwrap();
    for scope in [against("main"), Scope::Staged, commits("HEAD"), pull] {
        shown += &show(&open(hostile.repository.path(), scope));
    }
    expect![[r#"
        working tree against main
        "README" +1 -1
        "code" +1 -0
        staged changes
        "code" +1 -1
        commits HEAD
        "code" +1 -0
        pull request owner/repo#1
        "code" +1 -0
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_monitor_is_not_run() {
    let hostile = HostileRepository::new();
    hostile.set("core.fsmonitor", "PROGRAM");
    hostile.catches(&["status"]);
    hostile.is_avoided();
}

#[test]
fn a_monitor_in_an_included_file_is_not_run() {
    let hostile = HostileRepository::new();
    hostile
        .repository
        .write(".git/more", format!("[core]\nfsmonitor = {}\n", hostile.program().display()));
    hostile.set("include.path", "more");
    hostile.catches(&["status"]);
    hostile.is_avoided();
}

#[test]
fn a_monitor_of_the_work_tree_is_not_run() {
    let hostile = HostileRepository::new();
    hostile.set("extensions.worktreeConfig", "true");
    hostile.repository.git(&[
        "config",
        "--worktree",
        "core.fsmonitor",
        hostile.program().to_str().unwrap(),
    ]);
    hostile.catches(&["status"]);
    hostile.is_avoided();
}

#[test]
fn a_monitor_of_a_submodule_is_not_run() {
    let hostile = HostileRepository::new();
    let repository = &hostile.repository;
    let other = Repository::new();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"];
    repository.git(&[&add[..], &[other.path().to_str().unwrap(), "sub"]].concat());
    repository.commit("a submodule");
    let sub = repository.path().join("sub");
    git(&sub, &["config", "core.fsmonitor", hostile.program().to_str().unwrap()]);
    repository.write("sub/README", "edited\n");
    hostile.catches(&["diff"]);
    hostile.is_avoided();
    let change = open(repository.path(), against("HEAD"));
    assert!(!change.tree().exists(&path("sub")).unwrap());
}

#[test]
fn filters_are_not_run() {
    for attributes in [".gitattributes", ".git/info/attributes"] {
        for key in ["clean", "process"] {
            let hostile = HostileRepository::new();
            hostile.repository.write(attributes, "* filter=evil.er\n");
            hostile.set(&format!("filter.evil.er.{key}"), "PROGRAM");
            hostile.set("filter.evil.er.required", "true");
            hostile.catches(&["diff"]);
            hostile.is_avoided();
        }
        let hostile = HostileRepository::new();
        hostile.repository.write(attributes, "* filter=evil\n");
        hostile.set("filter.evil.smudge", "PROGRAM");
        hostile.is_avoided();
    }
}

#[test]
fn a_filter_whose_name_is_no_text_is_not_run() {
    let hostile = HostileRepository::new();
    hostile.repository.write(".git/info/attributes", b"* filter=\xff\n");
    let setting = format!("clean = {}\n", hostile.program().display());
    let filter = [b"[filter \"\xff\"]\n", setting.as_bytes()].concat();
    let config = hostile.repository.path().join(".git/config");
    fs::write(&config, [fs::read(&config).unwrap(), filter].concat()).unwrap();
    hostile.catches(&["diff"]);
    hostile.is_avoided();
}

#[test]
fn external_diffs_and_converters_are_not_run() {
    for attributes in [".gitattributes", ".git/info/attributes"] {
        for key in ["diff.external", "diff.evil.command", "diff.evil.textconv"] {
            let hostile = HostileRepository::new();
            hostile.repository.write(attributes, "* diff=evil\n");
            hostile.set(key, "PROGRAM");
            hostile.catches(&["diff"]);
            hostile.is_avoided();
        }
    }
}

#[test]
fn hooks_are_not_run() {
    let hostile = HostileRepository::new();
    for name in ["post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc"] {
        hostile.hook(name);
    }
    hostile.catches(&["update-ref", "refs/heads/other", "HEAD"]);
    hostile.catches(&["add", "--update"]);
    hostile.is_avoided();
    hostile.set("core.hooksPath", ".git/hooks");
    hostile.is_avoided();
}

#[test]
fn pagers_editors_and_aliases_are_not_run() {
    let hostile = HostileRepository::new();
    for key in ["core.pager", "pager.diff", "core.editor", "sequence.editor"] {
        hostile.set(key, "PROGRAM");
    }
    for command in ["diff", "rev-parse", "cat-file", "ls-files", "ls-tree", "config", "fetch"] {
        hostile.set(&format!("alias.{command}"), "!PROGRAM");
    }
    hostile.is_avoided();
}

#[test]
fn the_ssh_and_proxy_commands_of_a_repository_are_not_run() {
    let hostile = HostileRepository::new();
    hostile.set("remote.upstream.url", "ssh://127.0.0.1:1/owner/repo");
    hostile.set("core.sshCommand", "PROGRAM");
    hostile.catches(&["ls-remote", "upstream"]);
    hostile.is_avoided();
    hostile.set("remote.upstream.url", "git://127.0.0.1:1/owner/repo");
    hostile.set("core.gitProxy", "PROGRAM");
    hostile.catches(&["ls-remote", "upstream"]);
    hostile.is_avoided();
}

#[test]
fn the_upload_pack_command_of_a_repository_is_not_run() {
    let hostile = HostileRepository::new();
    hostile.set("remote.upstream.uploadpack", "PROGRAM");
    hostile.catches(&["ls-remote", "upstream"]);
    hostile.is_avoided();
}

#[test]
fn a_remote_is_not_rewritten_into_a_program() {
    let hostile = HostileRepository::new();
    hostile.set("remote.upstream.url", "https://host.example/owner/repo");
    hostile.set("protocol.ext.allow", "always");
    let key = format!("url.ext::{} .insteadOf", hostile.program().display());
    hostile.repository.git(&["config", &key, "https://host.example/"]);
    hostile.catches(&["ls-remote", "upstream"]);
    hostile.is_avoided();
}

#[test]
fn the_alternate_refs_command_of_a_repository_is_not_run() {
    let hostile = HostileRepository::new();
    let other = Repository::new();
    let objects = other.path().join(".git/objects");
    hostile.repository.write(".git/objects/info/alternates", format!("{}\n", objects.display()));
    hostile.set("core.alternateRefsCommand", "PROGRAM");
    hostile.catches(&["fetch", "upstream", "refs/pull/1/head"]);
    hostile.is_avoided();
}

#[test]
fn the_credential_helpers_of_a_repository_are_not_run() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = format!("http://{}", listener.local_addr().unwrap());
    // The server asks every client for a password, as long as the test runs.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\
                  Content-Length: 0\r\nConnection: close\r\n\r\n",
            );
        }
    });
    for key in ["credential.helper", &format!("credential.{host}.helper"), "core.askPass"] {
        let hostile = HostileRepository::new();
        hostile.set("remote.upstream.url", &format!("{host}/owner/repo"));
        hostile.set(key, "PROGRAM");
        hostile.catches(&["ls-remote", "upstream"]);
        hostile.is_avoided();
    }
}

#[test]
fn missing_objects_are_not_fetched() {
    let hostile = HostileRepository::new();
    let missing = hostile.repository.git(&["rev-parse", "main:README"]);
    hostile.set("remote.evil.url", "ext::PROGRAM x");
    hostile.set("remote.evil.promisor", "true");
    hostile.set("protocol.ext.allow", "always");
    hostile.set("extensions.partialClone", "evil");
    let (folder, file) = missing.split_at(2);
    fs::remove_file(hostile.repository.file(format!(".git/objects/{folder}/{file}"))).unwrap();
    hostile.catches(&["cat-file", "-p", &missing]);
    for scope in [Scope::Automatic, Scope::Staged, commits("main"), commits("main..")] {
        let change = assay_change::open(hostile.repository.path(), &scope, &Selection::default());
        if let Ok(change) = change {
            // A listed file without its object is not an absent file.
            assert_eq!(change.base().exists(&path("no such file")), Ok(false));
            if change.base().paths().unwrap().contains(&path("README")) {
                assert!(change.base().read(&path("README")).is_err());
                assert!(!change.tree_errors().is_empty());
            }
        }
        assert!(!hostile.mark().exists(), "{scope:?} ran a program");
    }
}

#[test]
fn settings_hide_no_change() {
    let hostile = HostileRepository::new();
    let repository = &hostile.repository;
    let before = show(&open(repository.path(), against("main")));
    for (key, value) in [
        ("core.bigFileThreshold", "1"),
        ("core.attributesFile", ".git/attributes"),
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.relative", "true"),
        ("diff.context", "0"),
        ("diff.suppressBlankEmpty", "true"),
        ("diff.ignoreSubmodules", "all"),
        ("diff.submodule", "log"),
        ("diff.orderFile", ".git/order"),
        ("color.ui", "always"),
        ("diff.colorMoved", "zebra"),
        ("diff.wordRegex", "."),
    ] {
        hostile.set(key, value);
        repository.write(".git/attributes", "* -diff\n");
        repository.write(".git/order", "x\n");
        assert_eq!(show(&open(repository.path(), against("main"))), before, "{key}");
    }
    let files = open(repository.path(), against("main")).files;
    assert!(files.iter().all(|file| file.content == Content::Text));
}
