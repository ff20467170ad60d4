//! Laws of a posted review, for any findings and any text.

use std::collections::BTreeSet;

use assay_findings::path::RepoPath;
use assay_findings::post::marker::{self, Finders, Marker};
use assay_findings::post::{
    CommentPlace, DiffLineKind, DiffSide, Fingerprint, HunkLines, PostedState, PullRequestDiff,
    compose,
};
use assay_findings::write::escape;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::{diff, found, inputs};
use crate::memory_tree::MemoryTree;

fn any_diff() -> impl Strategy<Value = PullRequestDiff> {
    let kind = select(vec![DiffLineKind::Context, DiffLineKind::Added, DiffLineKind::Removed]);
    let hunk = (1..40u32, prop::collection::vec(kind, 0..12));
    let file = (select(vec!["a.rs > a.rs", "b.rs >", "> c.rs"]), prop::collection::vec(hunk, 0..4));
    prop::collection::vec(file, 0..4).prop_map(|files| {
        let mut all = PullRequestDiff::default();
        for (head, hunks) in files {
            let mut file = diff(head).files.remove(0);
            let (mut old, mut new) = (0, 0);
            for (gap, mut lines) in hunks {
                if file.new_path.is_none() {
                    lines.fill(DiffLineKind::Removed);
                }
                (old, new) = (old + gap, new + gap);
                let count = |other| lines.iter().filter(|kind| **kind != other).count() as u32;
                let (old_count, new_count) =
                    (count(DiffLineKind::Added), count(DiffLineKind::Removed));
                file.hunks.push(HunkLines { old_start: old, new_start: new, lines });
                (old, new) = (old + old_count, new + new_count);
            }
            if !all.files.iter().any(|known| known.new_path == file.new_path) {
                all.files.push(file);
            }
        }
        all
    })
}

fn any_finding() -> impl Strategy<Value = Value> {
    let file = prop::option::of(select(vec!["a.rs", "b.rs", "c.rs", "d.rs"]));
    let fix = prop::option::of((1..200u32, 0..4u32, hostile()));
    let severity = select(vec!["CRITICAL", "MAJOR", "MEDIUM", "MINOR", "@odd <b>"]);
    (hostile(), file, prop::option::of(1..200u32), 0..30u32, severity, hostile(), fix).prop_map(
        |(title, file, line, more, severity, text, fix)| {
            let mut value = json!({"title": title, "severity": severity, "file": file, "line": line,
                "end_line": line.map(|line| line + more), "description": text, "category": text,
                "suggested_fix": text, "evidence": [text], "autofix_class": "manual"});
            if let Some((start, more, text)) = fix {
                value["replacement"] =
                    json!({"start_line": start, "end_line": start + more, "text": text});
            }
            value
        },
    )
}

/// Generates text that tries to be more than text.
fn hostile() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "<!-- assay:summary 1 -->",
        "<!-- assay:review 0123456789abcdef0123456789abcdef -->",
        "-->",
        "<!--",
        "@everyone",
        "&#64;all",
        "#123",
        "GH-12",
        "o/r#4",
        "\n",
        "\n\n",
        "```",
        "````",
        "```suggestion",
        "~~~",
        "`",
        "``",
        "\\",
        "</details>",
        "<details>",
        "<img src=//e>",
        "![x](http://e/y.png)",
        "[x]: http://e",
        "https://e.example/x",
        "\u{202e}",
        "\u{1b}[31m",
        "\u{200b}",
        "\r\n",
        "- ",
        "> ",
        "# ",
        "1. ",
        "    ",
        "word",
        "ünï",
        "|",
        "*",
        "_",
        "</sub>",
    ]);
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

/// Returns the marker of a comment on a finding of the rules.
fn of_finding(fingerprint: &Fingerprint) -> Marker {
    Marker::Finding(fingerprint.clone(), Finders::of(["rules"]))
}

/// Returns the parts of a body that GitHub would act on. The body is read as GitHub reads it,
/// without code.
fn dangers(body: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    for line in body.lines() {
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~')).unwrap_or(' ');
        let length = line.chars().take_while(|c| *c == mark).count();
        match fence {
            Some((open, least)) => {
                if mark == open && length >= least && line.trim_end().chars().all(|c| c == open) {
                    fence = None;
                }
                continue;
            }
            None if mark != ' ' && length >= 3 && !line[length..].contains('`') => {
                fence = Some((mark, length));
                continue;
            }
            None => {}
        }
        let text = without_code(line);
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            let next = bytes.get(at + 1).copied().unwrap_or(b' ');
            let acts = match byte {
                b'@' => next.is_ascii_alphanumeric(),
                b'#' => next.is_ascii_digit() && at.checked_sub(1).is_none_or(|b| bytes[b] != b'&'),
                b'[' => at == 0 || bytes[at - 1] != b'\\',
                b'<' => {
                    let ours =
                        ["<sub>", "</sub>", "<details>", "</details>", "<summary>", "</summary>"];
                    !ours.iter().any(|tag| text[at..].starts_with(tag))
                        && marker::read(line).is_none()
                }
                b':' => text[at..].starts_with("://"),
                b'&' => {
                    !["&amp;", "&lt;", "&#8203;"].iter().any(|ours| text[at..].starts_with(ours))
                }
                b'-' => next.is_ascii_digit() && text[..at].to_ascii_lowercase().ends_with("gh"),
                _ => false,
            };
            if acts {
                found.push(format!("{:?} in {line}", &text[at..]));
            }
        }
    }
    found.extend(fence.map(|_| "an open fence".to_owned()));
    let seen = body.replace("\r\n", "\n");
    found.extend(
        (escape::escape_hidden(&seen) != seen).then(|| "letters that nobody sees".to_owned()),
    );
    found
}

/// Removes code between back-ticks from a line, as Markdown reads it.
fn without_code(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['`', '\\']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('\\') {
            let end = rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let run = rest.len() - rest.trim_start_matches('`').len();
        let ticks = &rest[..run];
        let mut from = run;
        let close = loop {
            let Some(next) = rest[from..].find('`').map(|at| at + from) else { break None };
            let length = rest[next..].len() - rest[next..].trim_start_matches('`').len();
            if length == run {
                break Some(next + run);
            }
            from = next + length;
        };
        match close {
            Some(end) => rest = &rest[end..],
            None => {
                out.push_str(ticks);
                rest = &rest[run..];
            }
        }
    }
    out + rest
}

fn check_anchor(diff: &PullRequestDiff, path: &RepoPath, place: &CommentPlace) {
    let CommentPlace::DiffLines { side, start, line } = place else { return };
    let file = diff.file(path).unwrap();
    assert!(start.is_none_or(|start| start < *line), "{place:?}");
    let holds = |hunk: &HunkLines| {
        let (mut old, mut new) = (hunk.old_start, hunk.new_start);
        let mut valid = BTreeSet::new();
        for kind in &hunk.lines {
            match (side, kind) {
                (DiffSide::Right, DiffLineKind::Added | DiffLineKind::Context) => valid.insert(new),
                (DiffSide::Left, DiffLineKind::Removed) => valid.insert(old),
                _ => false,
            };
            old += u32::from(*kind != DiffLineKind::Added);
            new += u32::from(*kind != DiffLineKind::Removed);
        }
        (start.unwrap_or(*line)..=*line).all(|line| valid.contains(&line))
    };
    assert!(file.hunks.iter().any(holds), "{place:?} in {diff:?}");
}

proptest! {
    #[test]
    fn every_anchor_is_valid_and_each_finding_is_posted_once(
        diff in any_diff(),
        findings in prop::collection::vec(any_finding(), 0..12),
        refuse in any::<bool>(),
    ) {
        let text = "fn line() { of_some_code(); }\n".repeat(120);
        let tree = MemoryTree::new(&[("a.rs", &text), ("c.rs", &text)]);
        let synthesis = found(&findings);
        let draft = compose(&synthesis, &inputs(&diff, Some(&tree)));
        let mut posted = PostedState::default();
        let mut commented: Vec<Fingerprint> = Vec::new();
        for call in draft.calls(&PostedState::default()) {
            prop_assert_eq!(dangers(&call.body), Vec::<String>::new());
            prop_assert_eq!(marker::read(&call.body), Some(Marker::Review(call.key)));
            for comment in call.comments {
                let (side, start, line) = (comment.side, comment.start, comment.line);
                check_anchor(&diff, &comment.path, &CommentPlace::DiffLines { side, start, line });
                prop_assert_eq!(dangers(&comment.body), Vec::<String>::new());
                let marker = of_finding(&comment.fingerprint);
                prop_assert_eq!(marker::read(&comment.body), Some(marker));
                commented.push(comment.fingerprint);
            }
        }
        for comment in draft.file_comments(&PostedState::default()) {
            prop_assert!(diff.file(&comment.path).is_some());
            prop_assert_eq!(dangers(&comment.body), Vec::<String>::new());
            commented.push(comment.fingerprint);
        }
        if refuse {
            posted.refused.extend(commented.iter().map(|print| (print.clone(), "no @all".to_owned())));
        } else {
            posted.visible.extend(commented.iter().cloned());
        }
        let parts = draft.summary(&posted);
        for (part, number) in parts.iter().zip(1..) {
            prop_assert_eq!(dangers(part), Vec::<String>::new());
            prop_assert_eq!(marker::read(part), Some(Marker::Summary(number)));
        }
        let unique: BTreeSet<&Fingerprint> = commented.iter().collect();
        prop_assert_eq!(unique.len(), commented.len());
        let elsewhere = draft.posts().iter().filter(|post| matches!(post.place, CommentPlace::Summary { .. }));
        prop_assert_eq!(commented.len() + elsewhere.count(), draft.posts().len());
        prop_assert_eq!(draft.posts().len(), synthesis.findings.len() + synthesis.pre_existing.len());
    }

    #[test]
    fn no_body_is_too_long_however_long_the_text(
        text in hostile(),
        times in select(vec![1usize, 40, 1_000]),
    ) {
        let long = text.repeat(times);
        let value = json!({"title": long, "severity": "HIGH", "file": "a.rs", "line": 1,
            "description": long, "suggested_fix": long, "evidence": [long], "category": long});
        let synthesis = found(&[value]);
        let diff = diff("a.rs > a.rs\n1 1 +");
        let draft = compose(&synthesis, &inputs(&diff, None));
        for comment in draft.calls(&PostedState::default()).into_iter().flat_map(|call| call.comments) {
            prop_assert!(comment.body.len() <= 60_000, "{}", comment.body.len());
            prop_assert_eq!(dangers(&comment.body), Vec::<String>::new());
            prop_assert_eq!(marker::read(&comment.body), Some(of_finding(&comment.fingerprint)));
        }
        for part in draft.summary(&PostedState::default()) {
            prop_assert!(part.len() <= 60_000, "{}", part.len());
            prop_assert_eq!(dangers(&part), Vec::<String>::new());
        }
    }
}
