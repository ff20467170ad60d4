//! The two names of a file in a diff, without what stands before them: `a/` and `b/`, the letters
//! of `diff.mnemonicPrefix`, the folders of `diff -r`, or nothing.

use crate::name::unquoted;

/// The letters that git puts before names.
const PREFIXES: [&[u8]; 6] = [b"a/", b"b/", b"c/", b"i/", b"o/", b"w/"];

/// A file's name before and after; `None` where there is no file.
pub(super) type Names = (Option<Vec<u8>>, Option<Vec<u8>>);

/// Reads the names of a `diff --git` line. They are equal but for what stands before them, unless
/// later lines tell of a rename; `None` where they are not.
pub(super) fn of_git_line(line: &[u8]) -> Option<Vec<u8>> {
    if let Some((old, rest)) = unquoted(line) {
        let new = rest.strip_prefix(b" ")?;
        return common(&old, &alone(new));
    }
    // Names may hold blanks. Mostly both are of one length, so the blank between them is in the
    // middle.
    let middle = line.len() / 2;
    let is_blank = |at: &usize| line.get(*at) == Some(&b' ');
    let candidates = [middle].into_iter().chain(0..line.len()).filter(is_blank);
    candidates.take(MAX_BLANKS).find_map(|at| common(&line[..at], &line[at + 1..]))
}

/// So many blanks are tried; a name with more is read from other lines.
const MAX_BLANKS: usize = 64;

/// Reads a name that stands alone, with nothing before it.
pub(super) fn alone(name: &[u8]) -> Vec<u8> {
    unquoted(name).map_or_else(|| name.to_vec(), |(name, _)| name)
}

/// Gives the name that is left of both once what stands before them is taken off.
fn common(old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    if old == new {
        return Some(old.to_vec());
    }
    let (old, new) = (below(old)?, below(new)?);
    (old == new).then(|| old.to_vec())
}

/// Takes the first folder off a path.
fn below(path: &[u8]) -> Option<&[u8]> {
    let slash = path.iter().position(|byte| *byte == b'/')?;
    path.get(slash + 1..)
}

/// Reads the names of a `---` and a `+++` line.
pub(super) fn of_lines(old: &[u8], new: &[u8]) -> Names {
    let (old, new) = (side(old), side(new));
    if let (Some(old), Some(new)) = (&old, &new) {
        if let Some(name) = common(old, new) {
            return (Some(name.clone()), Some(name));
        }
        if !has_prefix(old) || !has_prefix(new) {
            return (Some(old.clone()), Some(new.clone()));
        }
    }
    (old.map(without_prefix), new.map(without_prefix))
}

fn has_prefix(name: &[u8]) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn without_prefix(name: Vec<u8>) -> Vec<u8> {
    if has_prefix(&name) { name[2..].to_vec() } else { name }
}

/// Reads one name as it stands; `None` if it stands for no file.
pub(super) fn side(name: &[u8]) -> Option<Vec<u8>> {
    if let Some((name, _)) = unquoted(name) {
        return Some(name);
    }
    // `diff -u` puts a time behind a tab, and the beginning of time for a file that is not there.
    let mut parts = name.splitn(2, |byte| *byte == b'\t');
    let name = parts.next().unwrap_or_default();
    let time = parts.next().unwrap_or_default();
    let is_absent = [&b"1970-01-01 "[..], b"1969-12-31 "].iter().any(|day| time.starts_with(day));
    (name != b"/dev/null" && !is_absent).then(|| name.to_vec())
}
