//! Attacks on state, as a table: planted files, and the expected results.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use assay_testkit::Repository;
use tempfile::TempDir;

use super::*;

struct StateFixture {
    repository: Repository,
    home: TempDir,
}

impl StateFixture {
    fn new() -> StateFixture {
        StateFixture { repository: Repository::new(), home: tempfile::tempdir().unwrap() }
    }

    fn state(&self) -> State {
        State::new(self.repository.path(), Some(self.home.path()))
    }

    fn path(&self, path: &str) -> PathBuf {
        self.repository.path().join(path)
    }

    /// Writes a unit in the way that assay does.
    fn write(&self, kind: &str, unit: &str, text: &str) {
        let kind = self.state().open(kind).unwrap();
        self.state().create().unwrap();
        let mut held = kind.lock_unit(unit).unwrap();
        held.mark_changing().unwrap();
        if let Some(folder) = held.path().parent() {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(held.path(), text).unwrap();
    }

    /// Returns the content of a unit, or the reason of its refusal.
    fn read(&self, kind: &str, unit: &str) -> Result<Option<String>, RefusalReason> {
        match self.state().open(kind).and_then(|kind| kind.check(unit)) {
            Ok(path) => Ok(path.map(|path| fs::read_to_string(path).unwrap())),
            Err(StateError::Refused { reason, .. }) => Err(reason),
            Err(error) => panic!("{error}"),
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &place),
            false => drop(fs::copy(entry.path(), place).unwrap()),
        }
    }
}

#[test]
fn state_that_was_written_on_this_machine_is_read() {
    let case = StateFixture::new();
    assert_eq!(case.read("runs", "one"), Ok(None));
    case.write("runs", "one", "mine");
    assert_eq!(case.read("runs", "one"), Ok(Some("mine".to_owned())));
    case.write("runs", "one", "again");
    assert_eq!(case.read("runs", "one"), Ok(Some("again".to_owned())));
}

#[test]
fn state_that_assay_did_not_write_here_is_refused_for_every_kind() {
    type Attack = (&'static str, fn(&StateFixture, &str), RefusalReason);
    let attacks: [Attack; 9] = [
        (
            "edited",
            |case, unit| fs::write(case.path(unit), "forged").unwrap(),
            RefusalReason::Changed,
        ),
        (
            "rolled back",
            |case, unit| {
                let (kind, name) = unit.strip_prefix(".assay/").unwrap().split_once('/').unwrap();
                let before = fs::read(case.path(unit)).unwrap();
                case.write(kind, name, "newer");
                fs::write(case.path(unit), before).unwrap();
            },
            RefusalReason::Changed,
        ),
        (
            "forced into git",
            |case, unit| {
                drop(case.repository.git(&["add", "--force", unit]));
            },
            RefusalReason::Tracked,
        ),
        (
            "brought by a branch",
            |case, unit| {
                case.repository.git(&["add", "--force", unit]);
                case.repository.git(&["commit", "--quiet", "--message", "state"]);
                case.repository.git(&["switch", "--quiet", "--orphan", "empty"]);
                case.repository.git(&["switch", "--quiet", "main"]);
            },
            RefusalReason::Tracked,
        ),
        (
            "written by a test",
            |case, unit| {
                fs::remove_dir_all(case.home.path()).unwrap();
                fs::create_dir(case.home.path()).unwrap();
                fs::write(case.path(unit), "forged").unwrap();
            },
            RefusalReason::Unsealed,
        ),
        (
            "the unit is a link",
            |case, unit| {
                let real = case.path("real");
                fs::rename(case.path(unit), &real).unwrap();
                symlink(&real, case.path(unit)).unwrap();
            },
            RefusalReason::Link,
        ),
        (
            "the kind is a link",
            |case, unit| {
                let kind = case.path(unit).parent().unwrap().to_owned();
                fs::rename(&kind, case.path("real")).unwrap();
                symlink(case.path("real"), kind).unwrap();
            },
            RefusalReason::Link,
        ),
        (
            "the folder is a link",
            |case, _| {
                fs::rename(case.path(".assay"), case.path("real")).unwrap();
                symlink(case.path("real"), case.path(".assay")).unwrap();
            },
            RefusalReason::Link,
        ),
        (
            "the folder is a repository",
            |case, _| {
                fs::create_dir(case.path(".assay/.git")).unwrap();
            },
            RefusalReason::Repository,
        ),
    ];
    for kind in ["runs", "cache", "delegated", "gates", "reports", "a-later-kind"] {
        for (name, attack, reason) in attacks {
            let case = StateFixture::new();
            case.repository.write("a.txt", "a\n");
            case.repository.commit("a");
            case.write(kind, "one.json", "mine");
            attack(&case, &format!(".assay/{kind}/one.json"));
            assert_eq!(case.read(kind, "one.json"), Err(reason), "{kind}: {name}");
        }
    }
}

#[test]
fn state_copied_from_another_tree_is_refused() {
    let (one, other) = (StateFixture::new(), StateFixture::new());
    one.write("runs", "one", "mine");
    copy(&one.path(".assay"), &other.path(".assay"));
    let state = State::new(other.repository.path(), Some(one.home.path()));
    let error = state.open("runs").unwrap().check("one").unwrap_err();
    assert!(
        matches!(error, StateError::Refused { reason: RefusalReason::Unsealed, .. }),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        "`.assay/runs/one` is not used: assay did not write the state on this \
         machine at this path; check its content, and delete it with `rm -r .assay/runs/one`"
    );
}

#[test]
fn a_sealed_folder_with_an_added_or_replaced_file_is_refused() {
    let case = StateFixture::new();
    let kind = case.state().open("runs").unwrap();
    kind.create().unwrap();
    let draft = kind.path().join(".draft");
    fs::create_dir(&draft).unwrap();
    fs::write(draft.join("fixes.json"), "[]").unwrap();
    kind.seal_draft("one", &draft).unwrap();
    fs::rename(&draft, kind.path().join("one")).unwrap();
    assert!(kind.check("one").unwrap().is_some());
    fs::write(kind.path().join("one/more.json"), "[]").unwrap();
    assert!(kind.check("one").unwrap_err().is_refusal());
    fs::remove_file(kind.path().join("one/more.json")).unwrap();
    assert!(kind.check("one").unwrap().is_some());
    fs::remove_file(kind.path().join("one/fixes.json")).unwrap();
    symlink("/dev/null", kind.path().join("one/fixes.json")).unwrap();
    assert!(kind.check("one").unwrap_err().is_refusal());
}

#[test]
fn side_files_of_a_database_are_part_of_its_seal() {
    let case = StateFixture::new();
    case.write("ledger.db", "", "tables");
    fs::write(case.path(".assay/ledger.db-wal"), "forged").unwrap();
    assert_eq!(case.read("ledger.db", ""), Err(RefusalReason::Changed));
    fs::remove_file(case.path(".assay/ledger.db")).unwrap();
    assert_eq!(case.read("ledger.db", ""), Err(RefusalReason::Unsealed));
    case.repository.git(&["add", "--force", ".assay/ledger.db-wal"]);
    assert_eq!(case.read("ledger.db", ""), Err(RefusalReason::Tracked));
}

#[test]
fn a_change_that_a_crash_cut_short_leaves_the_unit_usable() {
    let case = StateFixture::new();
    case.write("ledger.db", "", "before");
    let mut held = case.state().open("ledger.db").unwrap().lock_unit("").unwrap();
    held.mark_changing().unwrap();
    fs::write(held.path(), "after").unwrap();
    // The unit is neither sealed nor dropped, as after a crash.
    std::mem::forget(held);
    assert_eq!(case.read("ledger.db", ""), Ok(Some("after".to_owned())));
}

#[test]
fn state_without_a_home_outside_of_the_tree_is_refused_and_not_absent() {
    let case = StateFixture::new();
    case.write("runs", "one", "mine");
    let inside = case.path("state");
    for home in [None, Some(inside.as_path())] {
        let state = State::new(case.repository.path(), home);
        let error = state.open("runs").unwrap().check("one").unwrap_err();
        assert!(matches!(error, StateError::NoHome { .. }), "{error}");
        assert!(state.home_folder("outbox").is_err());
        assert!(!inside.exists());
    }
}

#[test]
fn the_ignore_file_covers_every_kind_and_extends_the_file_of_an_older_version() {
    let case = StateFixture::new();
    case.repository
        .write(".assay/.gitignore", "# Written by assay: what is not meant for git.\n/runs/\n");
    case.state().create().unwrap();
    for path in ["outbox/pull-1/a.json", "runs/1/log", "a-later-kind", "ledger.db-wal", "x.tmp"] {
        case.repository.write(format!(".assay/{path}"), "state");
    }
    for path in [
        "rules/a.yml", "personas/a.md", "prompts/a.md", "templates/a.yml", "baseline.json",
        "flows.yaml",
    ] {
        case.repository.write(format!(".assay/{path}"), "mine");
    }
    case.repository.git(&["add", "."]);
    let listed = case.repository.git(&["ls-files", ".assay"]);
    assert_eq!(
        listed.lines().collect::<Vec<_>>(),
        [
            ".assay/baseline.json", ".assay/flows.yaml", ".assay/personas/a.md",
            ".assay/prompts/a.md", ".assay/rules/a.yml", ".assay/templates/a.yml",
        ]
    );
    case.repository.write(".assay/.gitignore", "/mine/\n");
    case.state().create().unwrap();
    assert_eq!(fs::read_to_string(case.path(".assay/.gitignore")).unwrap(), "/mine/\n");
}

#[test]
fn state_paths_are_recognised_by_whole_names() {
    for path in
        [".assay/rules-disabled/a.yml", ".assay/runs/1", ".assay", ".assay/baseline.json.bak"]
    {
        assert!(is_state(path), "{path}");
    }
    for path in [".assay/rules/a.yml", ".assay/baseline.json", ".assay-x/runs/1", "src/.assay/runs"]
    {
        assert!(!is_state(path), "{path}");
    }
}

#[test]
fn seals_of_removed_units_are_pruned() {
    let case = StateFixture::new();
    case.write("runs", "one", "mine");
    case.write("runs", "two", "mine");
    fs::remove_file(case.path(".assay/runs/one")).unwrap();
    case.state().open("runs").unwrap().prune();
    let seals = fs::read_dir(case.state().home_folder("seals").unwrap()).unwrap();
    let seals = seals.filter(|seal| seal.as_ref().unwrap().path().extension().is_none());
    assert_eq!(seals.count(), 1);
    assert_eq!(case.read("runs", "two"), Ok(Some("mine".to_owned())));
}

#[test]
fn an_old_outbox_is_refused_once_for_each_content_and_only_if_it_holds_messages() {
    let case = StateFixture::new();
    let is_refused = || case.state().refuse_old_outbox().is_some();
    assert!(!is_refused());
    for path in ["locks/pull-1", "memory/pull-1.json", "undelivered/pull-1-a.json", ".lock"] {
        case.repository.write(format!(".assay/outbox/{path}"), "");
    }
    assert!(!is_refused());
    case.repository.write(".assay/outbox/pull-1/a.json", "{}");
    assert_eq!([is_refused(), is_refused()], [true, false]);
    case.repository.write(".assay/outbox/pull-1/b.json", "{}");
    assert_eq!([is_refused(), is_refused()], [true, false]);
    fs::remove_dir_all(case.path(".assay/outbox")).unwrap();
    symlink("/nowhere", case.path(".assay/outbox")).unwrap();
    assert_eq!([is_refused(), is_refused()], [true, false]);
}

/// Removes the folder of git, and starts another history at the same path.
fn begin_another_repository(case: &StateFixture) {
    fs::remove_dir_all(case.path(".git")).unwrap();
    case.repository.git(&["init", "--quiet", "--initial-branch=main"]);
    case.repository.git(&["config", "user.name", "tester"]);
    case.repository.git(&["config", "user.email", "tester@localhost"]);
    case.repository.write("other", "another history\n");
    case.repository.commit("other");
}

#[test]
fn state_belongs_to_the_repository_at_a_path() {
    let case = StateFixture::new();
    let outside = |name: &str| case.state().home_folder(name).unwrap();
    let first = outside("qa");
    assert_eq!(outside("qa"), first, "the same repository has the same state");
    case.repository.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(outside("qa"), first, "git gc takes nothing away");
    fs::remove_file(case.path(".git/assay-repository")).unwrap();
    assert_eq!(outside("qa"), first, "a repository that lost its id is known by its commit");
    begin_another_repository(&case);
    assert_ne!(outside("qa"), first, "another repository begins anew");
}

#[test]
fn state_of_an_earlier_version_is_taken_over_once() {
    let case = StateFixture::new();
    let real = case.repository.path().canonicalize().unwrap();
    let key = short_hash(real.as_os_str().as_encoded_bytes(), 16);
    let old = case.home.path().join("qa").join(key);
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("bar"), "high").unwrap();
    let folder = case.state().home_folder("qa").unwrap();
    assert_eq!(fs::read_to_string(folder.join("bar")).unwrap(), "high");
    begin_another_repository(&case);
    assert!(!case.state().home_folder("qa").unwrap().join("bar").exists());
}

#[test]
fn work_trees_of_a_repository_share_its_id() {
    let case = StateFixture::new();
    let second = case.home.path().join("second");
    case.repository.git(&["worktree", "add", "--quiet", second.to_str().unwrap()]);
    let home = tempfile::tempdir().unwrap();
    let of = |root: &Path| State::new(root, Some(home.path())).home_folder("qa").unwrap();
    let (one, other) = (of(case.repository.path()), of(&second));
    let id = |path: &Path| path.to_str().unwrap().rsplit('-').next().unwrap().to_owned();
    assert_eq!(id(&one), id(&other));
    assert_ne!(one, other, "each path has state of its own");
}
