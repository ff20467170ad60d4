//! Checks the documents of a plan: references to decisions and files, and documents for code.

use std::collections::HashSet;

use assay_change::unified::{FilePatch, Mark};

use crate::checks::file_set::FileSet;
use crate::checks::links::Links;
use crate::checks::markdown;
use crate::checks::plan_helpers::{at, lines_of_text, on_milestones};
use crate::file_kinds::{is_code, is_document, is_markdown, names_a_file};
use crate::item::Scope;
use crate::plan::Plan;
use crate::plan::patch::files;
use crate::quote::quoted;
use crate::result::CheckResult;
use crate::subject::Subject;

/// Words with which a plan names documents.
const DOCUMENTS: [&str; 14] = [
    "readme", "changelog", "documentation", "docs", "docstring", "docstrings", "rustdoc",
    "javadoc", "godoc", "jsdoc", "manual", "documented", "documents", "runbook",
];

/// Returns the files of all diffs of a plan.
pub(super) fn diffed<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = &'s FilePatch<'s>> {
    subject.planned().into_iter().flat_map(|planned| files(&planned.patches))
}

/// Checks that all referenced decisions are in the log.
pub(super) fn look_at_decisions(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_milestones(subject, |plan| {
        let Some(log) = subject.log() else { return CheckResult::Pass };
        let mut told = HashSet::new();
        let mut missing = Vec::new();
        for (line, text) in (1..).zip(plan.text.lines()) {
            let once = log.missing(text).into_iter().filter(|id| told.insert(id.clone()));
            missing.extend(once.map(|id| format!("{}{}", quoted(&id), at(plan, line))));
        }
        CheckResult::under("Referenced decisions are not in the log", missing)
    })
}

/// Checks that a plan that changes code also names documents.
pub(super) fn look_for_documents(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_milestones(subject, |plan| {
        let named = plan.milestones.iter().flat_map(|milestone| milestone.files.iter().cloned());
        let paths: Vec<String> =
            named.chain(diffed(subject).map(|file| file.path().to_owned())).collect();
        let code: HashSet<&String> =
            paths.iter().filter(|path| is_code(path) && !assay_rules::is_test(path)).collect();
        if code.is_empty()
            || paths.iter().any(|path| is_document(path))
            || speaks_of_documents(plan)
        {
            return CheckResult::Pass;
        }
        let mut code: Vec<String> = code.into_iter().map(|path| quoted(path)).collect();
        code.sort_unstable();
        CheckResult::under("Code changes and no document is named", code)
    })
}

/// Returns true if the text of a plan mentions documents, or names a file that is one.
fn speaks_of_documents(plan: &Plan) -> bool {
    lines_of_text(plan).any(|(_, line)| {
        let said = without_targets(line);
        let mut words = said.split(|c: char| c.is_whitespace() || "\"'`()[]{},;:=<>|".contains(c));
        words.any(names_documents) || said.to_ascii_lowercase().contains("doc comment")
    })
}

/// Returns a line without the targets of its links.
fn without_targets(line: &str) -> String {
    let mut said = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once("](") {
        said.push_str(before);
        said.push(' ');
        rest = link.split_once(')').map_or("", |(_, after)| after);
    }
    let is_definition = rest.trim_start().starts_with('[') && rest.contains("]: ");
    said + if is_definition { "" } else { rest }
}

/// Returns true if a word refers to documents, or is the path of one. In the path of any other file
/// the word has no meaning.
fn names_documents(word: &str) -> bool {
    let path = word.trim_end_matches(['.', '/', '!', '?', '*', '_']).trim_start_matches(['*', '_']);
    if path.contains(['/', '.', '_']) {
        return !path.starts_with('/') && names_a_file(path) && is_document(path);
    }
    let is_one = |word: &str| DOCUMENTS.iter().any(|known| word.eq_ignore_ascii_case(known));
    path.split(|c: char| !c.is_alphanumeric()).any(is_one)
}

/// Checks that links in added Markdown lead to existing files.
pub(super) fn look_at_links(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_milestones(subject, |plan| {
        let mut links = Links::new(FileSet::planned(subject));
        let mut dead = Vec::new();
        for file in diffed(subject).filter(|file| is_markdown(file.path())) {
            let shown = file.pieces().flat_map(|piece| piece.lines);
            let added: Vec<_> = shown.filter(|line| line.mark == Mark::Added).collect();
            let text = added.iter().map(|line| line.text).collect::<Vec<_>>().join("\n");
            for (number, target) in markdown::links(&text) {
                match links.dead(file.path(), &target) {
                    Ok(Some(_)) => {}
                    Ok(None) => continue,
                    Err(error) => return CheckResult::NotChecked(error.to_string()),
                }
                let line = added.get(number as usize - 1).map_or(0, |line| line.at);
                let (target, path) = (quoted(&target), quoted(file.path()));
                dead.push(format!("{target} in {path}{}", at(plan, line)));
            }
        }
        CheckResult::under("Dead links in added Markdown", dead)
    })
}
