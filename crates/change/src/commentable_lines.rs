//! The lines of a change that accept comments on a hosting service: [`commentable_lines`] returns
//! the lines of each hunk, with three lines of context.

use assay_findings::path::RepoPath;
use assay_findings::post::{DiffLineKind, FileHunks, HunkLines, PullRequestDiff};

use crate::diff::{FileDiff, Hunk, Span};

/// The number of context lines around a changed line.
const CONTEXT_LINES: usize = 3;

/// Returns the lines that accept a comment. Leaves out files whose name is not UTF-8: the service
/// knows them under another name.
pub(crate) fn commentable_lines(files: &[FileDiff]) -> PullRequestDiff {
    let exact = |path: &Option<String>| {
        let path = path.as_deref().filter(|path| !path.starts_with('"'))?;
        RepoPath::exact(path).ok()
    };
    let known = files.iter().filter_map(|file| {
        let (old_path, new_path) = (exact(&file.old_path), exact(&file.new_path));
        let is_whole = old_path.is_some() == file.old_path.is_some()
            && new_path.is_some() == file.new_path.is_some();
        is_whole.then(|| FileHunks { old_path, new_path, hunks: hunks(&file.hunks) })
    });
    PullRequestDiff { files: known.collect() }
}

/// Joins adjacent hunks and removes context that is too far from a changed line, so that the result
/// does not depend on the amount of context in the diff.
fn hunks(hunks: &[Hunk]) -> Vec<HunkLines> {
    let mut joined: Vec<HunkLines> = Vec::new();
    for hunk in hunks {
        let next = lines(hunk);
        match joined.last_mut().filter(|last| end(last) == (next.old_start, next.new_start)) {
            Some(last) => last.lines.extend(next.lines),
            None => joined.push(next),
        }
    }
    joined.iter().flat_map(split_at_context).collect()
}

/// Returns the lines of a hunk. Removed lines precede the added lines that replace them.
fn lines(hunk: &Hunk) -> HunkLines {
    let first = |span: Span| span.start.saturating_add(u32::from(span.count == 0));
    let mut removed = hunk.removed.iter().flat_map(|lines| lines.start()..=lines.end()).peekable();
    let mut added = hunk.added.iter().flat_map(|lines| lines.start()..=lines.end()).peekable();
    let (old_start, new_start) = (first(hunk.old), first(hunk.new));
    let (mut old, mut new) = (old_start, new_start);
    let old_end = old_start.saturating_add(hunk.old.count);
    let new_end = new_start.saturating_add(hunk.new.count);
    let mut lines = Vec::new();
    loop {
        if old < old_end && removed.next_if_eq(&old).is_some() {
            lines.push(DiffLineKind::Removed);
            old += 1;
        } else if new < new_end && added.next_if_eq(&new).is_some() {
            lines.push(DiffLineKind::Added);
            new += 1;
        } else if old < old_end && new < new_end {
            lines.push(DiffLineKind::Context);
            (old, new) = (old + 1, new + 1);
        } else {
            return HunkLines { old_start, new_start, lines };
        }
    }
}

/// Returns the numbers of the old and the new line after a hunk.
fn end(hunk: &HunkLines) -> (u32, u32) {
    numbers_after((hunk.old_start, hunk.new_start), &hunk.lines)
}

/// Returns the numbers of the old and the new line after some lines.
fn numbers_after((old, new): (u32, u32), lines: &[DiffLineKind]) -> (u32, u32) {
    let count = |other| lines.iter().filter(|kind| **kind != other).count() as u32;
    (
        old.saturating_add(count(DiffLineKind::Added)),
        new.saturating_add(count(DiffLineKind::Removed)),
    )
}

/// Splits a hunk into the pieces that are within the context of a changed line.
fn split_at_context(hunk: &HunkLines) -> Vec<HunkLines> {
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    let changed = hunk.lines.iter().enumerate().filter(|(_, kind)| **kind != DiffLineKind::Context);
    for (at, _) in changed {
        let (start, end) =
            (at.saturating_sub(CONTEXT_LINES), (at + CONTEXT_LINES + 1).min(hunk.lines.len()));
        match pieces.last_mut().filter(|last| start <= last.1) {
            Some(last) => last.1 = end,
            None => pieces.push((start, end)),
        }
    }
    let (mut at, mut numbers) = (0, (hunk.old_start, hunk.new_start));
    let piece = |(start, end): (usize, usize)| {
        numbers = numbers_after(numbers, &hunk.lines[at..start]);
        at = start;
        let (old_start, new_start) = numbers;
        HunkLines { old_start, new_start, lines: hunk.lines[start..end].to_vec() }
    };
    pieces.into_iter().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let mut out = String::new();
        for file in commentable_lines(&diff::parse(text.as_bytes())).files {
            let name =
                |path: &Option<RepoPath>| path.as_ref().map_or("-", |p| p.as_str()).to_owned();
            out += &format!("{} > {}\n", name(&file.old_path), name(&file.new_path));
            for hunk in file.hunks {
                let marks = hunk.lines.iter().map(|kind| match kind {
                    DiffLineKind::Context => '.',
                    DiffLineKind::Added => '+',
                    DiffLineKind::Removed => '-',
                });
                let marks: String = marks.collect();
                out += &format!("{} {} {marks}\n", hunk.old_start, hunk.new_start);
            }
        }
        expected.assert_eq(&out);
    }

    const HEAD: &str = "diff --git a/a b/a\n--- a/a\n+++ b/a\n";

    #[test]
    fn a_hunk_is_given_line_by_line() {
        check(
            &format!("{HEAD}@@ -4,5 +4,6 @@\n a\n b\n-c\n-d\n+C\n+D\n+E\n e\n"),
            expect![[r#"
                a > a
                4 4 ..--+++.
            "#]],
        );
    }

    #[test]
    fn context_is_trimmed_to_three_lines() {
        let context = " x\n".repeat(7);
        check(
            &format!("{HEAD}@@ -1,16 +1,16 @@\n{context}-a\n+b\n{context}-c\n+d\n"),
            expect![[r#"
                a > a
                5 5 ...-+...
                13 13 ...-+
            "#]],
        );
        let context = " x\n".repeat(6);
        check(
            &format!("{HEAD}@@ -1,8 +1,8 @@\n-a\n+b\n{context}-c\n+d\n"),
            expect![[r#"
                a > a
                1 1 -+......-+
            "#]],
        );
    }

    #[test]
    fn adjacent_hunks_are_merged() {
        check(
            &format!("{HEAD}@@ -1 +1 @@\n-a\n+b\n@@ -2 +2,2 @@\n-c\n+d\n+e\n@@ -9,0 +11 @@\n+f\n"),
            expect![[r#"
                a > a
                1 1 -+-++
                10 11 +
            "#]],
        );
    }

    #[test]
    fn renamed_new_and_deleted_files_keep_their_names() {
        check(
            "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n\
             diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n\
             diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\
             diff --git \"a/\\351\" \"b/\\351\"\n--- \"a/\\351\"\n+++ \"b/\\351\"\n@@ -1 +1 @@\n-a\n+b\n",
            expect![[r#"
                a > b
                - > n
                1 1 ++
                d > -
                1 1 --
            "#]],
        );
    }
}
