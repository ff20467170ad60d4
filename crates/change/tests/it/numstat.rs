//! Random changes of random repositories: line counts equal those of git.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use assay_change::Scope;
use assay_change::diff::{Content, FileDiff, Unread, parse};
use proptest::prelude::*;

use crate::support::{against, commits, counts, open};
use assay_testkit::Repository;

/// An edit of a file. A number selects a file by its current position.
#[derive(Debug, Clone)]
enum Edit {
    Write(Vec<u8>, Vec<u8>),
    Replace(usize, usize, usize, Vec<u8>),
    Rename(usize, Vec<u8>),
    Copy(usize, Vec<u8>),
    Run(usize),
    Delete(usize),
    WindowsEnds(usize),
    LoseLastEnd(usize),
}

fn line() -> impl Strategy<Value = &'static [u8]> {
    prop::sample::select(vec![
        &b"a\n"[..],
        b"b\n",
        b"c\n",
        b"\n",
        b" \n",
        b"one\r\n",
        b"-- x\n",
        b"++ y\n",
        b"--- a/x\n",
        b"+++ b/x\n",
        b"@@ -1 +1 @@\n",
        b"diff --git a/x b/x\n",
        b"\\ No newline at end of file\n",
        b"caf\xe9\n",
        b"\xf0\x9f\xa6\x80\n",
        b"x\0y\n",
    ])
}

fn text(size: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    // A file with a NUL is binary; few are.
    let lines = prop::collection::vec(line(), size);
    (lines, prop::bool::weighted(0.1)).prop_map(|(lines, is_binary)| {
        let mut text = lines.concat();
        text.retain(|byte| is_binary || *byte != 0);
        text
    })
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        &b"x"[..],
        b"p q",
        b"a/x",
        b"b/x",
        b"x b/x",
        b"\"q\"",
        b"t\tt",
        b"n\nn",
        b"r\r",
        b"back\\slash",
        b"latin-\xe9",
        b"latin-\xe8",
        "\u{e4}".as_bytes(),
        b" ",
        b"d/e/f",
        b"-",
        b"dev/null",
    ]);
    let any = prop::collection::vec(1u8.., 1..6).prop_map(|mut name| {
        name.retain(|byte| *byte != b'/');
        // The name is neither empty nor reserved by git.
        [b"~", name.as_slice()].concat()
    });
    prop_oneof![4 => known.prop_map(<[u8]>::to_vec), 1 => any]
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = || 0usize..8;
    prop_oneof![
        (name(), text(0..12)).prop_map(|(name, text)| Edit::Write(name, text)),
        (at(), 0usize..20, 0usize..4, text(0..4))
            .prop_map(|(at, from, count, text)| Edit::Replace(at, from, count, text)),
        (at(), name()).prop_map(|(at, name)| Edit::Rename(at, name)),
        (at(), name()).prop_map(|(at, name)| Edit::Copy(at, name)),
        at().prop_map(Edit::Run),
        at().prop_map(Edit::Delete),
        at().prop_map(Edit::WindowsEnds),
        at().prop_map(Edit::LoseLastEnd),
    ]
}

/// The content of a file, and true if it is executable.
type File = (Vec<u8>, bool);

/// The intended files of a repository.
#[derive(Debug, Clone, Default)]
struct Files(BTreeMap<Vec<u8>, File>);

impl Files {
    /// Adds a file, unless its path conflicts with another file or folder.
    fn put(&mut self, name: Vec<u8>, file: File) {
        let below = |inner: &[u8], outer: &[u8]| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with(b"/"))
        };
        if !self.0.keys().any(|other| below(other, &name) || below(&name, other)) {
            self.0.insert(name, file);
        }
    }

    fn change(&mut self, at: usize, change: impl FnOnce(&mut Vec<u8>, &mut bool)) {
        let count = self.0.len().max(1);
        if let Some((text, runs)) = self.0.values_mut().nth(at % count) {
            change(text, runs);
        }
    }

    fn take(&mut self, at: usize) -> Option<(Vec<u8>, File)> {
        let name = self.0.keys().nth(at % self.0.len().max(1))?.clone();
        self.0.remove_entry(&name)
    }

    fn apply(&mut self, edit: Edit) {
        match edit {
            Edit::Write(name, text) => self.put(name, (text, false)),
            Edit::Replace(at, from, count, text) => self.change(at, |old, _| {
                let mut lines: Vec<&[u8]> = old.split_inclusive(|byte| *byte == b'\n').collect();
                let from = from.min(lines.len());
                let to = (from + count).min(lines.len());
                lines.splice(from..to, [text.as_slice()]);
                *old = lines.concat();
            }),
            Edit::Rename(at, name) => {
                if let Some((_, file)) = self.take(at) {
                    self.put(name, file);
                }
            }
            Edit::Copy(at, name) => {
                if let Some((old, file)) = self.take(at) {
                    self.0.insert(old, file.clone());
                    self.put(name, file);
                }
            }
            Edit::Run(at) => self.change(at, |_, runs| *runs = !*runs),
            Edit::Delete(at) => {
                self.take(at);
            }
            Edit::WindowsEnds(at) => self.change(at, |text, _| {
                let lines = text.split_inclusive(|byte| *byte == b'\n');
                *text = lines.flat_map(|line| [line.trim_ascii_end(), b"\r\n"].concat()).collect();
            }),
            Edit::LoseLastEnd(at) => self.change(at, |text, _| {
                text.pop_if(|last| *last == b'\n');
            }),
        }
    }

    /// Writes these files to a work tree, and removes all others.
    fn write(&self, repository: &Repository) {
        for entry in fs::read_dir(repository.path()).unwrap().flatten() {
            let path = entry.path();
            match entry.file_type().unwrap().is_dir() {
                true if entry.file_name() == ".git" => {}
                true => fs::remove_dir_all(path).unwrap(),
                false => fs::remove_file(path).unwrap(),
            }
        }
        for (name, (text, runs)) in &self.0 {
            let path = repository.file(OsStr::from_bytes(name));
            fs::write(&path, text).unwrap();
            let mode = if *runs { 0o755 } else { 0o644 };
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
    }
}

/// The names of a file, and the numbers of added and removed lines; zero for binary files.
type LineCounts = (String, String, (u32, u32));

/// Parses `--numstat -z`: numbers and a name, or an empty name followed by two names.
fn as_git_counts(numstat: &[u8]) -> Vec<LineCounts> {
    let mut fields = numstat.split(|byte| *byte == 0);
    let mut counted = Vec::new();
    while let Some(entry) = fields.next().filter(|entry| !entry.is_empty()) {
        let mut parts = entry.splitn(3, |byte| *byte == b'\t');
        let mut number =
            || std::str::from_utf8(parts.next().unwrap()).unwrap().parse().unwrap_or(0);
        let (added, removed) = (number(), number());
        let (old, new) = match parts.next().unwrap() {
            b"" => (fields.next().unwrap(), fields.next().unwrap()),
            name => (name, name),
        };
        counted.push((shown(old), shown(new), (added, removed)));
    }
    counted
}

fn as_we_count(files: &[FileDiff]) -> Vec<LineCounts> {
    let count = |file: &FileDiff| {
        assert!(!matches!(file.content, Content::Unread(Unread::Merge | Unread::Broken)));
        let name = |name: &Option<String>| name.clone().unwrap_or(file.path().to_owned());
        (name(&file.old_path), name(&file.new_path), counts(file))
    };
    files.iter().map(count).collect()
}

/// Formats a name in the way that this crate documents.
fn shown(name: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(name)
        && !text.starts_with('"')
    {
        return text.to_owned();
    }
    let byte = |byte: &u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(*byte)),
        b' '..=b'~' => char::from(*byte).to_string(),
        _ => format!("\\{byte:03o}"),
    };
    format!("\"{}\"", name.iter().map(byte).collect::<String>())
}

const FLAGS: [&str; 6] = [
    "--find-renames", "--find-copies", "-l1000", "--unified=3", "--indent-heuristic",
    "--diff-algorithm=myers",
];

proptest! {
    // Each case runs git a dozen times.
    #![proptest_config(ProptestConfig::with_cases(assay_testenv::cases(12)))]
    #[test]
    fn lines_are_counted_as_git_counts_them(
        before in prop::collection::btree_map(name(), text(3..16), 1..6),
        edits in prop::collection::vec(edit(), 1..8),
    ) {
        let repository = Repository::empty(&[]);
        let mut files = Files::default();
        before.into_iter().for_each(|(name, text)| files.put(name, (text, false)));
        files.write(&repository);
        repository.commit("before");
        edits.into_iter().for_each(|edit| files.apply(edit));
        files.write(&repository);
        repository.git(&["add", "--all"]);
        let numstat = repository.try_git(&[&["diff", "--cached", "--numstat", "-z"], &FLAGS[..]].concat());
        let expected = as_git_counts(&numstat.stdout);
        for prefix in [&["--default-prefix"][..], &["--no-prefix"], &["--src-prefix=i/", "--dst-prefix=w/"]] {
            let diff = repository.try_git(&[&["diff", "--cached"], &FLAGS[..], prefix].concat());
            prop_assert_eq!(&as_we_count(&parse(&diff.stdout)), &expected);
        }
        prop_assert_eq!(&as_we_count(&open(repository.path(), Scope::Staged).files), &expected);
        prop_assert_eq!(&as_we_count(&open(repository.path(), against("HEAD")).files), &expected);
        repository.git(&["commit", "--quiet", "--allow-empty", "--message", "after"]);
        prop_assert_eq!(&as_we_count(&open(repository.path(), commits("HEAD")).files), &expected);
    }
}
