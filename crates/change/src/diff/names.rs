//! The two names of a file in a diff, without their prefixes: `a/` and `b/`, the letters of
//! `diff.mnemonicPrefix`, the folders of `diff -r`, or none.

use crate::file_name::unquote;

/// The prefixes that git puts before names.
const PREFIXES: [&[u8]; 6] = [b"a/", b"b/", b"c/", b"i/", b"o/", b"w/"];

/// The name of a file before and after; `None` if there is no file on that side.
pub(super) type Names = (Option<Vec<u8>>, Option<Vec<u8>>);

/// Parses the name in a `diff --git` line. Both names are equal except for their prefixes, unless
/// later lines state a rename; returns `None` if they differ.
pub(super) fn parse_git_line(line: &[u8]) -> Option<Vec<u8>> {
    if let Some((old, rest)) = unquote(line) {
        let new = rest.strip_prefix(b" ")?;
        return common(&old, &parse_unprefixed(new));
    }
    // Names may contain blanks. Mostly both have the same length, so the blank between them is in
    // the middle.
    let middle = line.len() / 2;
    let is_blank = |at: &usize| line.get(*at) == Some(&b' ');
    let candidates = [middle].into_iter().chain(0..line.len()).filter(is_blank);
    candidates.take(MAX_BLANKS).find_map(|at| common(&line[..at], &line[at + 1..]))
}

/// The maximum number of blanks that are tried; a name with more is read from other lines.
const MAX_BLANKS: usize = 64;

/// Parses a name without a prefix.
pub(super) fn parse_unprefixed(name: &[u8]) -> Vec<u8> {
    unquote(name).map_or_else(|| name.to_vec(), |(name, _)| name)
}

/// Returns the name that both have in common once their prefixes are removed.
fn common(old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    if old == new {
        return Some(old.to_vec());
    }
    let (old, new) = (below(old)?, below(new)?);
    (old == new).then(|| old.to_vec())
}

/// Removes the first folder of a path.
fn below(path: &[u8]) -> Option<&[u8]> {
    let slash = path.iter().position(|byte| *byte == b'/')?;
    path.get(slash + 1..)
}

/// Parses the names of a `---` and a `+++` line.
pub(super) fn parse_header_lines(old: &[u8], new: &[u8]) -> Names {
    let (old, new) = (parse_prefixed(old), parse_prefixed(new));
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

/// Parses one name with its prefix; returns `None` if it denotes no file.
pub(super) fn parse_prefixed(name: &[u8]) -> Option<Vec<u8>> {
    if let Some((name, _)) = unquote(name) {
        return Some(name);
    }
    // `diff -u` writes a time after a tab, which is the epoch for a file that does not exist.
    let mut parts = name.splitn(2, |byte| *byte == b'\t');
    let name = parts.next().unwrap_or_default();
    let time = parts.next().unwrap_or_default();
    let is_absent = [&b"1970-01-01 "[..], b"1969-12-31 "].iter().any(|day| time.starts_with(day));
    (name != b"/dev/null" && !is_absent).then(|| name.to_vec())
}
