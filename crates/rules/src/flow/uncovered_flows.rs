//! Flows that a change uncovers: data that reaches a sink although the change touches no line on its
//! way, such as after a check was removed.
//!
//! The functions around the hunks are followed in the text before the change, too: [`EarlierFlows`].
//! A flow is new if the text before the change has no flow from the same source to the same sink.
//! Of the other flows, those are new that passed a guard before the change and pass none now.

use std::collections::HashMap;

use super::interpreter::{FlowInterpreter, SinkHit};
use super::program::{FileLookup, Program, ProgramFile};
use super::rule_set::FlowRules;
use super::{EarlierFile, FollowedFile, entries, match_at, passes_caller, places};
use crate::rule_match::RuleMatch;
use crate::syntax::{LineSet, Syntax};

/// The text that precedes the message of a rule.
const NOTE: &str = "Before the change, this value did not get here: the change removes a check or a \
                    conversion, or makes the value one of a request.";

/// The text that precedes the message of a rule, for a flow that a guard was removed from.
const GUARD_NOTE: &str = "The change removes a condition on this value, which left the function \
                          before the value got here.";

/// A flow, independent of line numbers: its rule, and the code of its source and its sink.
type FlowKey = (usize, String, String);

/// A reviewed file, and the rules whose flows are compared before and after the change.
pub(super) struct FlowComparison<'f> {
    pub(super) file: &'f FollowedFile<'f>,
    pub(super) rules: &'f FlowRules,
    pub(super) concerned: &'f [bool],
    pub(super) lookup: &'f FileLookup<'f>,
}

/// The number of flows of each key.
type FlowCounts = HashMap<FlowKey, usize>;

/// The flows of a file before the change.
struct EarlierFlows {
    counts: FlowCounts,
}

/// Returns the flows to untouched sinks that the change uncovers, each with the text that precedes
/// the message of its rule. Fails if the text before the change cannot be read.
pub(super) fn new_flows(
    comparison: &FlowComparison<'_>,
    hits: Vec<SinkHit>,
    interpreter: &FlowInterpreter<'_>,
) -> Result<Vec<(SinkHit, &'static str)>, String> {
    let Some(EarlierFile { text, changed }) = (comparison.file.before)()? else {
        return Ok(Vec::new());
    };
    let Some(mut earlier) = comparison.earlier_flows(&text, &changed, Guards::Ignored) else {
        return Ok(Vec::new());
    };
    let (new, known): (Vec<SinkHit>, Vec<SinkHit>) =
        hits.into_iter().partition(|hit| earlier.lacks(hit, interpreter));
    let mut found: Vec<(SinkHit, &str)> = new.into_iter().map(|hit| (hit, NOTE)).collect();
    if known.is_empty() {
        return Ok(found);
    }
    let guarded = comparison.earlier_flows(&text, &changed, Guards::Counted);
    if let Some((mut before, mut after)) = guarded.zip(comparison.later_flows()) {
        // A flow that passes a guard after the change, too, is not counted there.
        let is_open = |hit: &SinkHit| !after.lacks(hit, interpreter);
        let open: Vec<SinkHit> = known.into_iter().filter(is_open).collect();
        let unguarded = open.into_iter().filter(|hit| before.lacks(hit, interpreter));
        found.extend(unguarded.map(|hit| (hit, GUARD_NOTE)));
    }
    Ok(found)
}

/// The meaning of guards while functions are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guards {
    /// Data passes guards.
    Ignored,
    /// Data that passes a guard is safe.
    Counted,
}

impl FlowComparison<'_> {
    /// Follows the data of the functions around the hunks, before the change. Returns `None` if
    /// nothing is known about them: the text has more syntax errors than after the change, or a
    /// function was not followed to its end.
    fn earlier_flows(&self, text: &str, changed: &LineSet, guards: Guards) -> Option<EarlierFlows> {
        let syntax = Syntax::of(self.file.path.as_str(), text);
        let is_comparable = |own: &Syntax| {
            own.language() == self.file.syntax.language()
                && own.errors() <= self.file.syntax.errors()
        };
        let syntax = syntax.filter(is_comparable)?;
        self.flows(text, &syntax, changed, guards)
    }

    /// Follows the data of the functions around the hunks after the change, as far as no guard
    /// stops the data.
    fn later_flows(&self) -> Option<EarlierFlows> {
        self.flows(self.file.text, self.file.syntax, self.file.changed, Guards::Counted)
    }

    fn flows(
        &self,
        text: &str,
        syntax: &Syntax,
        changed: &LineSet,
        guards: Guards,
    ) -> Option<EarlierFlows> {
        let own = ProgramFile::new(self.file.path.clone(), text.to_owned(), syntax);
        let entries = entries(&own, changed);
        let program = Program::new(syntax.language(), own, self.lookup);
        let mut interpreter = FlowInterpreter::new(self.rules, self.concerned, program);
        interpreter.counts_guards = guards == Guards::Counted;
        let is_complete = entries.iter().all(|function| interpreter.run_entry(function));
        let mut counts = FlowCounts::new();
        for key in interpreter.hits.iter().filter_map(|hit| key(hit, &interpreter)) {
            *counts.entry(key).or_default() += 1;
        }
        is_complete.then_some(EarlierFlows { counts })
    }
}

impl EarlierFlows {
    /// Returns true if there is no such flow. Each flow is taken once.
    fn lacks(&mut self, hit: &SinkHit, interpreter: &FlowInterpreter<'_>) -> bool {
        let Some(key) = key(hit, interpreter) else { return false };
        match self.counts.get_mut(&key).filter(|left| **left > 0) {
            Some(left) => {
                *left -= 1;
                false
            }
            None => true,
        }
    }
}

/// Creates the match of an uncovered flow, at the sink or at the call of the reviewed file that leads
/// to the sink.
pub(super) fn rule_match(
    hit: &SinkHit,
    interpreter: &FlowInterpreter<'_>,
    note: &str,
) -> Option<RuleMatch> {
    let places = places(hit.data.as_ref());
    let mut calls = hit.calls.iter().rev();
    let site = match hit.site.file {
        0 => &hit.site,
        _ => calls.find(|call| call.file == 0 && passes_caller(call, &places, interpreter))?,
    };
    Some(match_at(site, hit, interpreter)?.with_note(note.to_owned()))
}

/// Returns the key of a flow; `None` for a rule that needs no source.
fn key(hit: &SinkHit, interpreter: &FlowInterpreter<'_>) -> Option<FlowKey> {
    let source = places(hit.data.as_ref()).first()?.code.clone();
    Some((hit.rule, source, interpreter.code(&hit.site)))
}
