//! The layout of a summary in parts: [`arrange`] writes all entries if there is room, else the
//! worst.

/// A finding, in full and on one line.
pub(super) struct Entry {
    /// The group of the entry; entries of one group follow each other.
    pub(super) group: String,
    /// True if the entry is folded, however much room there is. Folded entries come last.
    pub(super) is_folded: bool,
    pub(super) full: String,
    pub(super) line: String,
}

/// A folded list after the findings.
pub(super) struct FoldedList {
    pub(super) title: String,
    pub(super) items: Vec<String>,
    /// The number of further items that are not in `items`.
    pub(super) more: usize,
}

/// The room for a summary: the number of parts, and their size.
#[derive(Debug, Clone, Copy)]
pub(super) struct SummaryLimits {
    pub(super) parts: usize,
    /// The maximum length of a part, in bytes.
    pub(super) bytes: usize,
}

/// The length of all findings, in bytes, from which they are folded.
const MIN_FOLDED_BYTES: usize = 4_000;
/// The maximum length of all lists after the findings in a part, in bytes.
const MAX_LISTS_BYTES: usize = 15_000;

/// The title of folded entries.
const FOLDED_TITLE: &str = "Folded, as less likely";

/// The pieces under one title.
struct Group {
    title: Option<String>,
    gap: &'static str,
    items: Vec<String>,
}

/// Arranges a summary in parts. If there is no room, the least severe findings are written on one
/// line each; if there is no room for these lines either, the findings are counted.
pub(super) fn arrange(
    head: &str,
    entries: &[Entry],
    lists: &[FoldedList],
    pointer: &str,
    room: SummaryLimits,
) -> Vec<String> {
    let beside = group_lists(lists, MAX_LISTS_BYTES.min(room.bytes / 4), pointer);
    let attempt = |full: usize, lines: usize| {
        let mut groups = group_entries(entries, full, lines, pointer);
        groups.extend(beside.iter().map(Group::continued));
        pack(head, &groups, room.bytes)
    };
    let fits = |full: usize, lines: usize| attempt(full, lines).len() <= room.parts;
    let all = entries.len();
    if fits(all, all) {
        return attempt(all, all);
    }
    if fits(0, all) {
        return attempt(largest_fitting(all, |full| fits(full, all)), all);
    }
    attempt(0, largest_fitting(all, |lines| fits(0, lines)))
}

/// Returns a number that fits; the largest, provided that every smaller number fits, too.
fn largest_fitting(all: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut known, mut beyond) = (0, all);
    while beyond - known > 1 {
        let middle = known + (beyond - known) / 2;
        if fits(middle) { known = middle } else { beyond = middle }
    }
    known
}

impl Group {
    fn continued(&self) -> Group {
        Group { title: self.title.clone(), gap: self.gap, items: self.items.clone() }
    }
}

/// Returns the first `full` entries in full, the entries up to `lines` on a line each, and the
/// number of the rest.
fn group_entries(entries: &[Entry], full: usize, lines: usize, pointer: &str) -> Vec<Group> {
    let (in_full, rest) = entries.split_at(full);
    let (short, counted) = rest.split_at(lines - full);
    let open = in_full.iter().filter(|entry| !entry.is_folded);
    let is_long = open.map(|entry| entry.full.len()).sum::<usize>() > MIN_FOLDED_BYTES;
    let mut groups: Vec<Group> = Vec::new();
    let is_one_run = |a: &Entry, b: &Entry| {
        a.is_folded == b.is_folded && (a.is_folded || !is_long || a.group == b.group)
    };
    for run in in_full.chunk_by(is_one_run) {
        let name = if run[0].is_folded { FOLDED_TITLE } else { &run[0].group };
        let has_title = is_long || run[0].is_folded;
        let title = has_title.then(|| format!("{name} ({})", run.len()));
        let items = run.iter().map(|entry| entry.full.clone()).collect();
        groups.push(Group { title, gap: "\n\n---\n\n", items });
    }
    if !short.is_empty() {
        let title = format!("Titles only, because of the size limit ({})", short.len());
        let items = short.iter().map(|entry| format!("- {}", entry.line)).collect();
        groups.push(Group { title: Some(title), gap: "\n", items });
    }
    if !counted.is_empty() {
        let by_group = counted.chunk_by(|a, b| a.group == b.group);
        let counts: Vec<String> =
            by_group.map(|run| format!("{} {}", run.len(), run[0].group)).collect();
        let text =
            format!("Not listed, because of the size limit: {}.{pointer}", counts.join(", "));
        groups.push(Group { title: None, gap: "", items: vec![text] });
    }
    groups
}

/// Returns the lists after the findings, with as many items as fit.
fn group_lists(lists: &[FoldedList], most: usize, pointer: &str) -> Vec<Group> {
    let mut left = most;
    let mut groups = Vec::new();
    for aside in lists.iter().filter(|aside| !aside.items.is_empty()) {
        let mut items = Vec::new();
        for item in &aside.items {
            if item.len() + 3 > left {
                break;
            }
            left -= item.len() + 3;
            items.push(format!("- {item}"));
        }
        let all = aside.items.len() + aside.more;
        if items.len() < all {
            items.push(format!("- {} more.{pointer}", all - items.len()));
        }
        let title = Some(format!("{} ({all})", aside.title));
        groups.push(Group { title, gap: "\n", items });
    }
    groups
}

/// Packs pieces into parts, without cutting a piece. The title is repeated in each part that
/// continues its pieces.
fn pack(head: &str, groups: &[Group], most: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = head.to_owned();
    for group in groups {
        let (open, close) = match &group.title {
            Some(title) => (format!("<details><summary>{title}</summary>\n\n"), "\n\n</details>"),
            None => (String::new(), ""),
        };
        let mut is_open = false;
        for item in &group.items {
            let before = if is_open { group.gap } else { "\n\n" };
            let needed = before.len() + open.len() + item.len() + close.len();
            if !part.is_empty() && part.len() + needed > most {
                if is_open {
                    part.push_str(close);
                }
                parts.push(std::mem::take(&mut part));
                is_open = false;
            }
            if is_open {
                part.push_str(group.gap);
            } else {
                part.push_str(if part.is_empty() { "" } else { "\n\n" });
                part.push_str(&open);
                is_open = true;
            }
            part.push_str(item);
        }
        if is_open {
            part.push_str(close);
        }
    }
    parts.push(part);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Arranges findings of three levels, `full` bytes each, into parts of 200 bytes.
    fn check(count: usize, full: usize, parts: usize, expected: Expect) {
        let entries: Vec<Entry> = (0..count)
            .map(|at| Entry {
                group: ["HIGH", "LOW", "MINOR"][at * 3 / count].to_owned(),
                is_folded: false,
                full: format!("{at}{}", ".".repeat(full)),
                line: format!("line {at}"),
            })
            .collect();
        let room = SummaryLimits { parts, bytes: 200 };
        let parts = arrange("head", &entries, &[], " See the run.", room);
        assert!(parts.iter().all(|part| part.len() <= 200), "{parts:#?}");
        expected.assert_eq(&parts.join("\n====\n"));
    }

    #[test]
    fn findings_that_fit_are_shown_in_full() {
        check(
            3,
            5,
            1,
            expect![[r#"
                head

                0.....

                ---

                1.....

                ---

                2....."#]],
        );
    }

    #[test]
    fn the_least_severe_findings_are_shortened_and_then_only_counted() {
        check(
            4,
            60,
            2,
            expect![[r#"
                head

                0............................................................

                ---

                1............................................................
                ====
                2............................................................

                ---

                3............................................................"#]],
        );
        check(
            6,
            60,
            2,
            expect![[r#"
            head

            0............................................................

            ---

            1............................................................
            ====
            <details><summary>Titles only, because of the size limit (4)</summary>

            - line 2
            - line 3
            - line 4
            - line 5

            </details>"#]],
        );
        check(
            90,
            60,
            1,
            expect![[r#"
                head

                <details><summary>Titles only, because of the size limit (3)</summary>

                - line 0
                - line 1
                - line 2

                </details>

                Not listed, because of the size limit: 27 HIGH, 30 LOW, 30 MINOR. See the run."#]],
        );
    }
}
