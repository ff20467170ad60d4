//! Flows that a change uncovers: data that reaches a sink although the change touches no line on its
//! way, because the change removed a check or a conversion.
//!
//! The functions of the text before the change are followed too: [`EarlierFlows`]. A flow is new if
//! the text before the change has no flow from the same source to the same sink.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::form::FlowFunction;
use super::interpreter::{FlowInterpreter, SinkHit};
use super::program::{FileLookup, Program, ProgramFile};
use super::rule_set::FlowRules;
use super::{FollowedFile, match_at, passes_caller, places};
use crate::rule_match::RuleMatch;
use crate::syntax::Syntax;

/// The text that precedes the message of a rule.
const NOTE: &str = "The change removes a check or a conversion that this value passed before.";

/// A flow, independent of line numbers: its rule, and the code of its source and its sink.
type FlowKey = (usize, String, String);

/// The flows of a file before the change.
pub(super) struct EarlierFlows {
    counts: HashMap<FlowKey, usize>,
}

/// Follows the data of functions before the change, by the names of functions after the change.
/// Returns `None` if there is no earlier text, or if a function was not followed to its end.
pub(super) fn earlier_flows(
    file: &FollowedFile<'_>,
    rules: &FlowRules,
    concerned: &[bool],
    lookup: &FileLookup<'_>,
    functions: &[Rc<FlowFunction>],
) -> Option<EarlierFlows> {
    let text = (file.before)()?;
    let syntax = Syntax::parse(file.syntax.language(), &text)?;
    let own = ProgramFile::new(file.path.clone(), text, &syntax);
    let names: HashSet<&str> = functions.iter().map(|function| &*function.name).collect();
    let named = own.functions().map(|(_, function)| function);
    let entries: Vec<Rc<FlowFunction>> =
        named.filter(|function| names.contains(&*function.name)).cloned().collect();
    let program = Program::new(file.syntax.language(), own, lookup);
    let mut interpreter = FlowInterpreter::new(rules, concerned, program);
    let is_complete = entries.iter().all(|function| interpreter.run_entry(function));
    let mut counts = HashMap::new();
    for key in interpreter.hits.iter().filter_map(|hit| key(hit, &interpreter)) {
        *counts.entry(key).or_default() += 1;
    }
    is_complete.then_some(EarlierFlows { counts })
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
