//! The rules that need a syntax tree, on one file: [`apply_tree_rules`].
//!
//! Structural rules and rules that follow data can report the same defect. A structural match then
//! gets the trace of the data, and the defect has one finding.

use assay_change::Change;
use assay_change::diff::FileDiff;
use assay_findings::grade::Grade;
use assay_findings::path::RepoPath;
use assay_findings::tier::EvidenceTier;
use assay_findings::vote::{LineRange, Vote};

use crate::change_checks::ChangedFile;
use crate::flow::{EarlierFile, FlowRule, FollowedFile, follow};
use crate::rule::{Rule, RuleScope};
use crate::rule_match::RuleMatch;
use crate::rulebook::LanguageRules;
use crate::scan::scan;
use crate::source_files::SourceFiles;
use crate::syntax::{LineSet, Syntax};
use crate::tree_facts::TreeFacts;

/// A changed file with a syntax tree.
pub(crate) struct TreeFile<'a> {
    pub(crate) change: &'a Change,
    pub(crate) file: &'a FileDiff,
    pub(crate) path: &'a RepoPath,
    pub(crate) text: &'a str,
    pub(crate) syntax: &'a Syntax,
    /// The added lines.
    pub(crate) touched: &'a LineSet,
}

/// The result of the rules on the tree of one file.
pub(crate) struct TreeResult {
    pub(crate) votes: Vec<Vote>,
    pub(crate) tree_facts: TreeFacts,
    /// True if at least one rule is applied to the file.
    pub(crate) is_concerned: bool,
    /// The functions whose data was not followed to the end.
    pub(crate) not_covered: Vec<String>,
    /// The error of reading the file before the change.
    pub(crate) before_error: Option<String>,
}

/// Applies the rules of a language to a file. `is_applied` returns true if the rule with an id is
/// applied to this file.
pub(crate) fn apply_tree_rules(
    tree_file: &TreeFile<'_>,
    rules: &LanguageRules,
    is_applied: &dyn Fn(&str) -> bool,
    sources: &SourceFiles<'_>,
) -> TreeResult {
    let TreeFile { change, file, path, text, syntax, touched } = *tree_file;
    let is_off = |id: &str| rules.is_off(id) || !is_applied(id);
    let is_in_scope = |scope: &RuleScope| scope.applies_to(path.as_str());
    let flow_concerned: Vec<bool> = rules
        .flow
        .rules
        .iter()
        .map(|rule| is_in_scope(&rule.scope) && is_applied(&rule.about.id))
        .collect();
    let is_covered = |id: &str| {
        let mut applied = rules.flow.rules.iter().zip(&flow_concerned).filter(|(_, is)| **is);
        applied.any(|(rule, _)| rule.covers.iter().any(|own| own == id))
    };
    // The matches of a rule that is off, and that rules on data cover, are needed to drop the
    // matches of these for the same defect.
    let concerned: Vec<bool> = rules
        .rules
        .iter()
        .map(|rule| {
            let id = &rule.about.id;
            is_in_scope(&rule.scope) && (!is_off(id) || is_covered(id))
        })
        .collect();
    let is_concerned = flow_concerned.contains(&true)
        || rules.rules.iter().zip(&concerned).any(|(rule, is)| *is && !is_off(&rule.about.id));
    let (mut hits, tree_facts) = scan(path.as_str(), syntax, text, rules, &concerned, touched);
    let changed = LineSet::new(file.hunks.iter().filter_map(|hunk| hunk.new.surroundings()));
    let before = || earlier_file(change, file);
    let followed_file =
        FollowedFile { path, text, syntax, touched, changed: &changed, before: &before };
    let find = |language, name: &str| sources.find(path, language, name);
    let followed = follow(&followed_file, &rules.flow, &flow_concerned, &find);
    // The value that the pattern suspects is known to be constant.
    hits.retain(|(rule, hit)| {
        let is_constant = |span| followed.builds_constants_only(span);
        !rules.flow.covers(&rule.about.id) || !hit.span.as_ref().is_some_and(is_constant)
    });
    let left = add_traces(path, &mut hits, followed.matches, &is_off);
    hits.retain(|(rule, _)| !is_off(&rule.about.id));
    let mut votes: Vec<Vote> =
        hits.into_iter().map(|(rule, hit)| hit.vote(&rule.about, path)).collect();
    votes.extend(left.into_iter().map(|(rule, hit)| hit.vote(&rule.about, path)));
    TreeResult {
        votes,
        tree_facts,
        is_concerned,
        not_covered: followed.not_covered,
        before_error: followed.before_error,
    }
}

/// Returns a file before the change.
fn earlier_file(change: &Change, file: &FileDiff) -> Result<Option<EarlierFile>, String> {
    let view = ChangedFile::new(change, file);
    let text = view.before().map(str::to_owned);
    if let Some(error) = view.before_error() {
        return Err(error.to_string());
    }
    let Some(text) = text else { return Ok(None) };
    let changed = LineSet::new(file.hunks.iter().filter_map(|hunk| hunk.old.surroundings()));
    Ok(Some(EarlierFile { text, changed }))
}

/// Adds the traces of matches to the structural matches for the same defect at the same place or
/// on the way of the data. Returns the other matches. A structural rule that is off takes only the
/// matches of values of parameters: data of a request is reported even if its pattern is off.
fn add_traces<'r>(
    path: &RepoPath,
    hits: &mut [(&Rule, RuleMatch)],
    matches: Vec<(&'r FlowRule, RuleMatch)>,
    is_off: &dyn Fn(&str) -> bool,
) -> Vec<(&'r FlowRule, RuleMatch)> {
    let mut left = Vec::new();
    for (rule, found) in matches {
        let on_way = |lines: LineRange| {
            let mut steps = found.trace.iter().filter(|step| &step.file == path);
            steps.any(|step| (lines.start()..=lines.end()).contains(&step.line))
        };
        let is_same = |(other, hit): &&mut (&Rule, RuleMatch)| {
            rule.covers.contains(&other.about.id)
                && (is_weak(&found) || !is_off(&other.about.id))
                && (LineSet::new([hit.lines]).overlaps(found.lines) || on_way(hit.lines))
        };
        match hits.iter_mut().find(is_same) {
            Some((_, hit)) if !hit.trace.is_empty() => {}
            Some((other, hit)) => add_evidence(&other.about.grade, hit, rule, found),
            None => left.push((rule, found)),
        }
    }
    left
}

/// Adds the way of the data to a match. A lead becomes a finding of the tier of the data; if callers
/// are not known, with the grade of the rule that follows the data. Otherwise, the graver grade of both
/// rules applies. A parameter adds nothing to a pattern that is certain by itself, and a lead to none.
fn add_evidence(grade: &Grade, hit: &mut RuleMatch, rule: &FlowRule, found: RuleMatch) {
    let is_weak = is_weak(&found);
    if found.tier == Some(EvidenceTier::Lead) {
        return;
    }
    match hit.tier {
        Some(EvidenceTier::Lead) => hit.grade = is_weak.then(|| rule.about.grade.clone()),
        _ if is_weak => return,
        _ => {}
    }
    if !is_weak && !grade.is_at_least(&rule.about.grade) {
        hit.grade = Some(rule.about.grade.clone());
    }
    hit.tier = found.tier;
    hit.trace = found.trace;
}

/// Returns true if only the value of a parameter is known to reach the sink.
fn is_weak(found: &RuleMatch) -> bool {
    found.tier == Some(EvidenceTier::Parameter)
}
