//! Observable properties of a change: [`Signals`], which the triggers of personas test.

use std::collections::BTreeSet;

use assay_change::Change;
use assay_findings::grounding::Tree;
use assay_findings::path::RepoPath;
use assay_findings::vote::LineRange;
use assay_rules::Behaviour;

use crate::depth::{Depth, depth, risks};
use crate::prompt::guidelines;

/// The properties of a change that triggers test.
#[derive(Debug)]
pub struct Signals {
    pub(super) paths: Vec<RepoPath>,
    pub(super) added: Vec<String>,
    pub(super) removed: Vec<String>,
    pub(super) languages: BTreeSet<String>,
    /// The behaviours of the functions around added lines.
    pub(super) behaviours: BTreeSet<Behaviour>,
    pub(super) depth: Depth,
    /// The risks that changed paths name.
    pub(super) risks: BTreeSet<&'static str>,
    pub(super) lines: usize,
    pub(super) deletes_files: bool,
    pub(super) touches_tests: bool,
    pub(super) has_guidelines: bool,
    pub(super) has_intent: bool,
    pub(super) has_prior_findings: bool,
    /// True if the change has more lines than are searched.
    pub(super) is_cut: bool,
}

/// The maximum number of added lines, and of removed ones, that are searched.
const MAX_LINES: usize = 200_000;

impl Signals {
    /// Reads the signals of a change. `has_prior_findings` is an argument, since a change does not
    /// contain the findings of earlier reviews.
    pub fn of(change: &Change, has_prior_findings: bool) -> Signals {
        let read = || change.files.iter().filter(|file| file.left_out.is_none());
        let names = || read().flat_map(|file| [&file.old_path, &file.new_path]).flatten();
        let paths: BTreeSet<RepoPath> = names().filter_map(|p| RepoPath::exact(p).ok()).collect();
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for file in read() {
            collect_lines(change.tree(), file.new_path.as_deref(), file.added(), &mut added);
            collect_lines(change.base(), file.old_path.as_deref(), file.removed(), &mut removed);
        }
        let lines = assay_rules::executable_lines(change).into_iter().map(|(_, n)| n).sum();
        Signals {
            languages: names().filter_map(|p| assay_rules::language_name(p)).collect(),
            behaviours: assay_rules::behaviours(change),
            depth: depth(change).0,
            risks: risks(change).map(|(risk, _)| risk).collect(),
            lines,
            deletes_files: read().any(|file| file.new_path.is_none()),
            touches_tests: names().any(|path| assay_rules::is_test(path)),
            has_guidelines: guidelines::exist(change),
            has_intent: change.stated_purpose().is_some()
                || change.messages().iter().any(|message| message.contains(' ')),
            has_prior_findings,
            is_cut: added.len() >= MAX_LINES || removed.len() >= MAX_LINES,
            paths: paths.into_iter().collect(),
            added,
            removed,
        }
    }
}

fn collect_lines(
    tree: &dyn Tree,
    path: Option<&str>,
    spans: impl Iterator<Item = LineRange>,
    into: &mut Vec<String>,
) {
    let path = path.and_then(|path| RepoPath::exact(path).ok());
    // The change records a file that cannot be read, which makes the review incomplete.
    let Some(Ok(Some(text))) = path.map(|path| tree.read(&path)) else { return };
    let all: Vec<&str> = text.lines().collect();
    let numbers = spans.flat_map(|lines| lines.start()..=lines.end());
    let lines = numbers.filter_map(|number| all.get(number as usize - 1));
    let room = MAX_LINES.saturating_sub(into.len());
    into.extend(lines.take(room).map(|line| (*line).to_owned()));
}
