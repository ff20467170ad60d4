use std::os::unix::fs::{PermissionsExt, symlink};

use assay_testenv::not_run;
use expect_test::{Expect, expect};
use tempfile::TempDir;

use super::*;
use crate::tests::shell;
use crate::{Command, Enforcement, limits};

/// The hidden paths of a home.
const HIDDEN: [&str; 4] = [".ssh", ".netrc", ".config/gh", ".not-there"];

/// Creates a home with secrets, and with other files next to them.
fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    for (path, text) in [
        (".ssh/id", "secret"),
        (".ssh/deep/er", "secret"),
        (".ssh/run", "#!/bin/sh\necho secret"),
        (".netrc", "secret"),
        (".config/gh/hosts", "secret"),
        (".config/gh-dash/settings", "open"),
        ("work/file", "open"),
        ("work/run", "#!/bin/sh\necho open"),
        ("note", "open"),
    ] {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    home
}

fn within(home: &TempDir, script: &str) -> Command {
    shell(script).env("HOME", home.path()).folder(home.path())
}

/// Returns a command that runs a script in a home whose secrets are hidden.
fn hiding(home: &TempDir, script: &str) -> Command {
    within(home, script).hidden(HIDDEN.iter().map(|name| home.path().join(name)))
}

fn hides() -> bool {
    let hides = limits().reading != Enforcement::None;
    if !hides {
        not_run::record("this kernel hides no files");
    }
    hides
}

/// Runs a command and returns its stdout and whether it fails.
fn output_of(command: &Command) -> String {
    let finished = command.run().unwrap();
    let printed = String::from_utf8(finished.stdout).unwrap().replace('\n', " ");
    let end = match finished.status.success() {
        true if printed.is_empty() => "fine",
        true => "",
        false => "REFUSED",
    };
    format!("{printed}{end}").trim().to_owned()
}

/// Runs scripts, each in its own home, and compares their results; all of them succeed if no path
/// is hidden.
fn check(scripts: &[&str], expect: Expect) {
    let mut all = String::new();
    for script in scripts {
        let free = output_of(&within(&home(), script));
        assert!(!free.contains("REFUSED"), "without limits it may: {script}");
        all.push_str(&format!("{script}: {}\n", output_of(&hiding(&home(), script))));
    }
    if hides() {
        expect.assert_eq(&all);
    }
}

#[test]
fn hidden_paths_cannot_be_read_listed_or_run_and_their_siblings_can() {
    check(
        &[
            "cat ~/.ssh/id",
            "cat ~/.ssh/deep/er",
            "ls ~/.ssh",
            "ls ~/.ssh/deep",
            "~/.ssh/run",
            "cat ~/.netrc",
            "cat ~/.config/gh/hosts",
            "cat ~/.config/gh-dash/settings",
            "ls ~/.config/gh-dash",
            "ls ~/work",
            "~/work/run",
            "cat ~/note",
            "echo new > ~/work/new; cat ~/work/new",
            "mkdir work/a; ln work/file work/a; cat work/a/file",
            "head -c 0 /dev/urandom",
            "head -c 0 /proc/self/environ",
            "echo piped | cat /dev/stdin",
        ],
        expect![[r#"
            cat ~/.ssh/id: REFUSED
            cat ~/.ssh/deep/er: REFUSED
            ls ~/.ssh: REFUSED
            ls ~/.ssh/deep: REFUSED
            ~/.ssh/run: REFUSED
            cat ~/.netrc: REFUSED
            cat ~/.config/gh/hosts: REFUSED
            cat ~/.config/gh-dash/settings: open
            ls ~/.config/gh-dash: settings
            ls ~/work: file run
            ~/work/run: open
            cat ~/note: open
            echo new > ~/work/new; cat ~/work/new: new
            mkdir work/a; ln work/file work/a; cat work/a/file: open
            head -c 0 /dev/urandom: fine
            head -c 0 /proc/self/environ: fine
            echo piped | cat /dev/stdin: piped
        "#]],
    );
}

#[test]
fn hidden_paths_cannot_be_reached_by_links_moves_or_child_processes() {
    check(
        &[
            "ln -s ~/.ssh work/link; cat work/link/id",
            "cat work/../.ssh/id",
            "cd work; cat /proc/self/cwd/../.ssh/id",
            "cat /proc/self/root/$HOME/.ssh/id",
            "cd ~/.ssh && cat id",
            "exec cat ~/.ssh/id",
            "exec 3< ~/.ssh/id; cat <&3",
            "sh -c 'sh -c \"cat ~/.ssh/id; true\" & wait $!' | grep .",
            "setsid sh -c 'cat ~/.ssh/id; true' | grep .",
            "ln .ssh/id work/hard; cat work/hard",
            "mv .ssh shown; cat shown/id",
            "mv .ssh work; cat work/.ssh/id",
            "mv .netrc note; cat note",
            "mv work/run .; mv .netrc work/run; cat work/run",
        ],
        expect![[r#"
            ln -s ~/.ssh work/link; cat work/link/id: REFUSED
            cat work/../.ssh/id: REFUSED
            cd work; cat /proc/self/cwd/../.ssh/id: REFUSED
            cat /proc/self/root/$HOME/.ssh/id: REFUSED
            cd ~/.ssh && cat id: REFUSED
            exec cat ~/.ssh/id: REFUSED
            exec 3< ~/.ssh/id; cat <&3: REFUSED
            sh -c 'sh -c "cat ~/.ssh/id; true" & wait $!' | grep .: REFUSED
            setsid sh -c 'cat ~/.ssh/id; true' | grep .: REFUSED
            ln .ssh/id work/hard; cat work/hard: REFUSED
            mv .ssh shown; cat shown/id: REFUSED
            mv .ssh work; cat work/.ssh/id: REFUSED
            mv .netrc note; cat note: REFUSED
            mv work/run .; mv .netrc work/run; cat work/run: REFUSED
        "#]],
    );
}

#[test]
fn proc_entries_of_other_processes_cannot_be_read() {
    check(
        &[
            "head -c 0 /proc/$PPID/environ",
            "readlink /proc/$PPID/fd/0 > /dev/null",
            "cat /proc/$PPID/root/$HOME/note",
        ],
        expect![[r#"
            head -c 0 /proc/$PPID/environ: REFUSED
            readlink /proc/$PPID/fd/0 > /dev/null: REFUSED
            cat /proc/$PPID/root/$HOME/note: REFUSED
        "#]],
    );
}

#[test]
fn parents_of_hidden_paths_cannot_be_listed_and_new_files_in_them_cannot_be_read() {
    check(
        &[
            "ls ~ > /dev/null", "ls ~/.config > /dev/null", "ls / > /dev/null",
            "echo new > ~/new; cat ~/new", "cd ~ && pwd > /dev/null", "stat ~/.ssh/id > /dev/null",
        ],
        expect![[r#"
            ls ~ > /dev/null: REFUSED
            ls ~/.config > /dev/null: REFUSED
            ls / > /dev/null: REFUSED
            echo new > ~/new; cat ~/new: REFUSED
            cd ~ && pwd > /dev/null: fine
            stat ~/.ssh/id > /dev/null: fine
        "#]],
    );
}

#[test]
fn the_target_of_a_hidden_symlink_is_hidden() {
    let (home, elsewhere) = (home(), tempfile::tempdir().unwrap());
    fs::write(elsewhere.path().join("keys"), "secret").unwrap();
    fs::write(elsewhere.path().join("note"), "open").unwrap();
    symlink(elsewhere.path().join("keys"), home.path().join(".aws")).unwrap();
    // A link next to a hidden path opens nothing.
    symlink(".ssh", home.path().join("link")).unwrap();
    let script =
        format!("cat .aws; cat {0}/keys; cat link/id; cat {0}/note", elsewhere.path().display());
    let command = hiding(&home, &script).hidden([home.path().join(".aws")]);
    if hides() {
        assert_eq!(output_of(&command), "open");
    }
}

#[test]
fn an_earlier_hard_link_is_hidden_beside_a_hidden_path_and_readable_elsewhere() {
    let home = home();
    let at = |name: &str| home.path().join(name);
    fs::hard_link(at(".netrc"), at("beside")).unwrap();
    fs::hard_link(at(".ssh/id"), at("work/elsewhere")).unwrap();
    if hides() {
        assert_eq!(output_of(&hiding(&home, "cat beside")), "REFUSED");
        assert_eq!(output_of(&hiding(&home, "cat .netrc")), "REFUSED");
        // A hard link that was made before is another path, of which the kernel knows nothing.
        assert_eq!(output_of(&hiding(&home, "cat work/elsewhere")), "secret");
        assert_eq!(output_of(&hiding(&home, "cat .ssh/id")), "REFUSED");
    }
}

#[test]
fn hidden_files_among_thousands_are_unreadable_and_the_others_are_readable() {
    let home = home();
    let many = home.path().join("many");
    fs::create_dir(&many).unwrap();
    (0..3_000).for_each(|n| fs::write(many.join(format!("{n}.txt")), "open ").unwrap());
    let script = "cat many/1999.txt many/2000.txt many/2001.txt many/2002.txt; true";
    let command = within(&home, script).hidden([many.join("2000.txt"), many.join("2001.txt")]);
    if hides() {
        assert_eq!(output_of(&command), "open open");
    }
}

#[test]
fn too_many_siblings_of_hidden_paths_are_an_error() {
    let home = home();
    let mut trie = PathTrie::default();
    trie.hide(&home.path().canonicalize().unwrap().join(".netrc"));
    assert!(trie.walk(MAX_PATHS).is_ok());
    let error = trie.walk(1).unwrap_err().to_string();
    assert!(error.starts_with("too many entries beside the hidden paths in `/`"), "{error}");
}

#[test]
fn hiding_paths_that_do_not_exist_changes_nothing() {
    let home = home();
    let hidden = ["/no/such/place", "", "not\0a path", "/etc/passwd/below-a-file"];
    assert_eq!(readable_paths(&hidden.map(PathBuf::from), &[]).unwrap(), None);
    let listed = within(&home, "ls / > /dev/null && ls").hidden(hidden);
    assert_eq!(output_of(&listed), "note work");
}

#[test]
fn all_limits_hold_together() {
    let home = home();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        "cat .ssh/id; echo x > note; (exec 3<>/dev/tcp/127.0.0.1/{port}) && echo online; \
         echo made > work/new && mkdir work/a && mv work/new work/a && cat work/a/new"
    );
    let script = Command::new("bash").args(["-c", &script]).folder(home.path());
    let supported = limits();
    if [supported.files, supported.reading, supported.network].contains(&Enforcement::None) {
        not_run::record("this kernel does not offer all of it");
        return;
    }
    assert_eq!(output_of(&script), "secret online made");
    fs::remove_dir_all(home.path().join("work/a")).unwrap();
    let hidden = home.path().join(".ssh");
    let command = script.hidden([hidden]).writable([home.path().join("work")]).offline();
    for command in [command.clone(), command.processes(50)] {
        assert_eq!(output_of(&command), "made");
        fs::remove_dir_all(home.path().join("work/a")).unwrap();
    }
}

#[test]
fn of_nested_hidden_and_writable_paths_the_inner_one_takes_precedence() {
    let home = home();
    let at = |name: &str| home.path().join(name);
    let script = "echo new > .ssh/deep/new && cat .ssh/deep/er; cat .ssh/id; cat note; cat .netrc";
    if !hides() {
        return;
    }
    let inner = hiding(&home, script).writable([at(".ssh/deep")]);
    assert_eq!(output_of(&inner), "secret open REFUSED");
    let outer = hiding(&home, script).writable([home.path()]);
    assert_eq!(output_of(&outer), "open REFUSED");
    let same = hiding(&home, "cat .ssh/id").writable([at(".ssh")]);
    assert_eq!(output_of(&same), "REFUSED");
}

#[test]
fn a_program_in_a_hidden_folder_is_not_started() {
    let home = home();
    let error = Command::new(home.path().join(".ssh/run")).hidden([home.path().join(".ssh")]).run();
    if hides() {
        let source = std::error::Error::source(&error.unwrap_err()).unwrap().to_string();
        assert!(source.contains("ermission denied"), "{source}");
    }
}
