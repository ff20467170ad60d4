//! Flows that a change uncovers: data that reaches a sink although the change touches no line on its
//! way, such as after a check was removed.
//!
//! The functions around the hunks are followed in the text before the change, too: [`EarlierFlows`].
//! A flow is new if the text before the change has no flow from the same source to the same sink.

use std::collections::HashMap;

use super::interpreter::{FlowInterpreter, SinkHit};
use super::program::{FileLookup, Program, ProgramFile};
use super::rule_set::FlowRules;
use super::{EarlierFile, FollowedFile, entries, match_at, passes_caller, places};
use crate::rule_match::RuleMatch;
use crate::syntax::Syntax;

/// The text that precedes the message of a rule.
const NOTE: &str = "Before the change, this value did not get here: the change removes a check or a \
                    conversion, or makes the value one of a request.";

/// A flow, independent of line numbers: its rule, and the code of its source and its sink.
type FlowKey = (usize, String, String);

/// The flows of a file before the change.
pub(super) struct EarlierFlows {
    counts: HashMap<FlowKey, usize>,
}

/// Follows the data of the functions around the hunks, before the change. Returns `None` if nothing
/// is known about them: there is no earlier text, the text has more syntax errors than after the
/// change, or a function was not followed to its end. Fails if the text cannot be read.
pub(super) fn earlier_flows(
    file: &FollowedFile<'_>,
    rules: &FlowRules,
    concerned: &[bool],
    lookup: &FileLookup<'_>,
) -> Result<Option<EarlierFlows>, String> {
    let Some(EarlierFile { text, changed }) = (file.before)()? else { return Ok(None) };
    let syntax = Syntax::of(file.path.as_str(), &text);
    let is_comparable = |own: &Syntax| {
        own.language() == file.syntax.language() && own.errors() <= file.syntax.errors()
    };
    let Some(syntax) = syntax.filter(is_comparable) else { return Ok(None) };
    let own = ProgramFile::new(file.path.clone(), text, &syntax);
    let entries = entries(&own, &changed);
    let program = Program::new(syntax.language(), own, lookup);
    let mut interpreter = FlowInterpreter::new(rules, concerned, program);
    let is_complete = entries.iter().all(|function| interpreter.run_entry(function));
    let mut counts = HashMap::new();
    for key in interpreter.hits.iter().filter_map(|hit| key(hit, &interpreter)) {
        *counts.entry(key).or_default() += 1;
    }
    Ok(is_complete.then_some(EarlierFlows { counts }))
}

impl EarlierFlows {
    /// Returns the flows after the change that the text before the change does not have.
    pub(super) fn absent(
        mut self,
        hits: Vec<SinkHit>,
        interpreter: &FlowInterpreter<'_>,
    ) -> Vec<SinkHit> {
        let is_new = |hit: &SinkHit| {
            let Some(key) = key(hit, interpreter) else { return false };
            match self.counts.get_mut(&key).filter(|left| **left > 0) {
                Some(left) => {
                    *left -= 1;
                    false
                }
                None => true,
            }
        };
        hits.into_iter().filter(is_new).collect()
    }
}

/// Creates the match of an uncovered flow, at the sink or at the call of the reviewed file that leads
/// to the sink.
pub(super) fn rule_match(hit: &SinkHit, interpreter: &FlowInterpreter<'_>) -> Option<RuleMatch> {
    let places = places(hit.data.as_ref());
    let mut calls = hit.calls.iter().rev();
    let site = match hit.site.file {
        0 => &hit.site,
        _ => calls.find(|call| call.file == 0 && passes_caller(call, &places, interpreter))?,
    };
    Some(match_at(site, hit, interpreter)?.with_note(NOTE.to_owned()))
}

/// Returns the key of a flow; `None` for a rule that needs no source.
fn key(hit: &SinkHit, interpreter: &FlowInterpreter<'_>) -> Option<FlowKey> {
    let source = places(hit.data.as_ref()).first()?.code.clone();
    Some((hit.rule, source, interpreter.code(&hit.site)))
}
