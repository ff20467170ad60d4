//! The files that a plan names, and those that a change touches: [`NamedFiles`], [`TouchedPaths`].

use std::collections::{BTreeSet, HashSet};

use assay_change::Change;

/// Files as plans write them: by a path, by a folder around them, or by a pattern with `*`.
#[derive(Debug, Default)]
pub(crate) struct NamedFiles {
    paths: HashSet<String>,
    patterns: BTreeSet<(String, String)>,
}

/// The paths of a change.
#[derive(Debug, Default)]
pub(crate) struct TouchedPaths {
    /// The paths of files after the change, and of deleted files.
    after: BTreeSet<String>,
    /// The paths of files before the change.
    before: BTreeSet<String>,
}

/// The meaning of a file's name in a plan.
enum PathPattern<'f> {
    /// A path, and everything below it.
    Path(&'f str),
    /// All paths with this prefix and this suffix.
    Pattern(&'f str, &'f str),
}

impl NamedFiles {
    /// Parses lists of files.
    pub(crate) fn of<'f>(files: impl IntoIterator<Item = &'f String>) -> NamedFiles {
        let mut named = NamedFiles::default();
        for file in files {
            match PathPattern::by(file) {
                PathPattern::Path(path) => {
                    named.paths.insert(path.to_owned());
                }
                PathPattern::Pattern(start, end) => {
                    named.patterns.insert((start.to_owned(), end.to_owned()));
                }
            }
        }
        named.paths.remove("");
        named
    }

    /// Returns true if a path is among the files.
    pub(crate) fn has(&self, path: &str) -> bool {
        let mut around = std::iter::successors(Some(path), |inner| Some(inner.rsplit_once('/')?.0));
        around.any(|folder| self.paths.contains(folder))
            || self.patterns.iter().any(|(start, end)| fits(path, start, end))
    }
}

impl TouchedPaths {
    /// Returns the paths of a change.
    pub(crate) fn of(change: &Change) -> TouchedPaths {
        let after = change.files.iter().map(|file| file.path().to_owned());
        let before = change.files.iter().filter_map(|file| file.old_path.clone());
        TouchedPaths { after: after.collect(), before: before.collect() }
    }

    /// Returns true if the change touches or deletes a file that a plan names.
    pub(crate) fn has(&self, file: &str) -> bool {
        has(&self.after, file) || has(&self.before, file)
    }

    /// Returns true if the change touches the file at its path after the change.
    pub(crate) fn has_after(&self, file: &str) -> bool {
        has(&self.after, file)
    }
}

impl PathPattern<'_> {
    fn by(file: &str) -> PathPattern<'_> {
        let file = plain(file);
        match (file.find('*'), file.rfind('*')) {
            (Some(first), Some(last)) => PathPattern::Pattern(&file[..first], &file[last + 1..]),
            _ => PathPattern::Path(file.strip_suffix('/').unwrap_or(file)),
        }
    }
}

fn has(paths: &BTreeSet<String>, file: &str) -> bool {
    match PathPattern::by(file) {
        PathPattern::Path("") => false,
        PathPattern::Path(path) => {
            let folder = format!("{path}/");
            let first_below = paths.range(folder.clone()..).next();
            paths.contains(path) || first_below.is_some_and(|below| below.starts_with(&folder))
        }
        PathPattern::Pattern(start, end) => {
            let begin_so =
                paths.range(start.to_owned()..).take_while(|path| path.starts_with(start));
            begin_so.into_iter().any(|path| fits(path, start, end))
        }
    }
}

fn fits(path: &str, start: &str, end: &str) -> bool {
    path.len() >= start.len() + end.len() && path.starts_with(start) && path.ends_with(end)
}

/// Returns the path of a file that a plan names, without quotes and line numbers.
pub(crate) fn plain(file: &str) -> &str {
    let file = file.trim().trim_matches('`');
    let file = file.strip_prefix("./").unwrap_or(file);
    match file.rsplit_once(':') {
        Some((path, lines)) if is_lines(lines) => path,
        _ => file,
    }
}

fn is_lines(text: &str) -> bool {
    let is_one = |c: char| c.is_ascii_digit() || matches!(c, '-' | ',' | 'L');
    text.starts_with(|c: char| c.is_ascii_digit() || c == 'L') && text.chars().all(is_one)
}

/// Returns true if a plan names a single file and no folder or pattern.
pub(crate) fn is_one_file(file: &str) -> bool {
    let name = plain(file).rsplit('/').next().unwrap_or_default();
    name.contains('.') && !name.contains('*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_path_folder_or_pattern() {
        let check = |file: &str, path: &str| {
            let is_named = NamedFiles::of(&[file.to_owned()]).has(path);
            let paths = BTreeSet::from([path.to_owned()]);
            assert_eq!(has(&paths, file), is_named, "{file}");
            is_named
        };
        for file in ["src/a.rs", "`src/a.rs`", "./src/a.rs:12-40", "src", "src/", "src/*.rs", "*"] {
            assert!(check(file, "src/a.rs"), "{file}");
        }
        for file in ["src/b.rs", "a.rs", "sr", "src/*.py", "", "src/a.rs/b"] {
            assert!(!check(file, "src/a.rs"), "{file}");
        }
    }
}
