//! Structural rules on a syntax tree: [`scan`].
//!
//! The matcher of ast-grep is used, and its scanner is not. The scanner obeys `ast-grep-ignore`
//! comments of the change and visits the whole file; [`scan`] visits the nodes that touch added
//! lines, so that the cost depends on the size of the change.

use std::collections::HashMap;
use std::ops::Range;

use assay_findings::grounding::squeeze;
use assay_findings::vote::{LineRange, Replacement};
use ast_grep_core::NodeMatch;
use ast_grep_core::matcher::MatcherExt;
use ast_grep_core::tree_sitter::StrDoc;

use crate::language::Language;
use crate::node_kinds::NodeKinds;
use crate::rule::{FixClass, ReportUnit, Rule};
use crate::rule_match::RuleMatch;
use crate::rule_timer::RuleTimer;
use crate::rulebook::LanguageRules;
use crate::syntax::{LineSet, Syntax, lines_of};
use crate::tree_facts::TreeFacts;

/// Finds the matches of the rules that apply to a file on its touched lines, and surveys the file
/// on the same walk.
pub(crate) fn scan<'r>(
    path: &str,
    syntax: &Syntax,
    text: &str,
    rules: &'r LanguageRules,
    concerned: &[bool],
    touched: &LineSet,
) -> (Vec<(&'r Rule, RuleMatch)>, TreeFacts) {
    let mut hits: Vec<(&Rule, RuleMatch)> = Vec::new();
    let mut functions: HashMap<_, (usize, usize)> = HashMap::new();
    let mut timer = RuleTimer::new(path, rules.rules.len());
    let wanted = |kind: u16| rules.of_kind(kind).iter().any(|at| concerned[*at]);
    let tree_facts = syntax.collect_facts(touched, wanted, |node| {
        for at in rules.of_kind(node.kind_id()).iter().filter(|at| concerned[**at]) {
            let rule = &rules.rules[*at];
            let found = timer.time(*at, || rule.config.matcher.match_node(node.clone()));
            let Some(found) = found else { continue };
            if !touched.overlaps(lines_of(&found)) {
                continue;
            }
            if rule.unit == ReportUnit::Function {
                let function = (*at, function_around(&found));
                let (_, places) = functions.entry(function).or_insert((hits.len(), 0));
                *places += 1;
                if *places > 1 {
                    continue;
                }
            }
            hits.push((rule, hit(rule, &found, text)));
        }
    });
    for (first, places) in functions.into_values().filter(|(_, places)| *places > 1) {
        hits[first].1.note = Some(format!("The function has {places} such places."));
    }
    timer.report(&rules.rules);
    (hits, tree_facts)
}

/// Returns the code of the innermost function around a match.
fn function_around(found: &NodeMatch<'_, StrDoc<Language>>) -> Option<Range<usize>> {
    let kinds = NodeKinds::of(*found.lang());
    let function = found.ancestors().find(|node| kinds.is_scope(node.kind_id()))?;
    Some(function.range())
}

fn hit(rule: &Rule, found: &NodeMatch<'_, StrDoc<Language>>, text: &str) -> RuleMatch {
    let lines = lines_of(found);
    let replacement = rule.fix.and_then(|_| rewrite(rule, found, text));
    RuleMatch {
        lines,
        column: Some(found.start_pos().byte_point().1 as u32 + 1),
        span: Some(found.range()),
        note: None,
        // In code inside of another format, escapes are decoded in the tree.
        code: text.get(found.range()).map(str::to_owned),
        before: copies_before(text, found),
        is_secret: false,
        is_safe: rule.fix == Some(FixClass::Safe),
        replacement,
        trace: Vec::new(),
        tier: rule.about.tier,
        grade: None,
    }
}

/// Counts the equal pieces of code before a match in the file, in touched and other lines.
fn copies_before(text: &str, found: &NodeMatch<'_, StrDoc<Language>>) -> usize {
    let own = text.get(found.range()).unwrap_or_default();
    squeeze(&text[..found.range().start]).matches(&squeeze(own)).count()
}

/// Converts the rewrite of a rule into whole lines. Returns `None` if the rewrite extends beyond
/// the lines of its match.
fn rewrite(
    rule: &Rule,
    found: &NodeMatch<'_, StrDoc<Language>>,
    text: &str,
) -> Option<Replacement> {
    // A rewrite would have to be written as text of the other format.
    if text.get(found.range())? != found.text() {
        return None;
    }
    let fixer = rule.config.fixer.first()?;
    let edit = found.make_edit(&rule.config.matcher, fixer);
    let (start, end) = (edit.position, edit.position + edit.deleted_length);
    let inserted = String::from_utf8(edit.inserted_text).ok()?;
    let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let to = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    let line_number = |at: usize| text[..at].matches('\n').count() as u32 + 1;
    let lines = LineRange::range(line_number(from), line_number(end))?;
    let matched = lines_of(found);
    if lines.start() < matched.start() || lines.end() > matched.end() {
        return None;
    }
    let after = format!("{}{inserted}{}", &text[from..start], &text[end..to]);
    // A line that would be left empty is removed.
    let after = if after.trim().is_empty() { String::new() } else { after };
    Some(Replacement::new(lines, after))
}
