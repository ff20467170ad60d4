//! Calls that a rule knows to make data safe, or to pass data on: sanitizers and propagators.

use std::rc::Rc;

use super::form::{Argument, Node};
use super::frame::{Frame, State};
use super::interpreter::FlowInterpreter;
use super::parameters;
use super::pattern::{CallFacts, CallPattern, Values};
use super::value::{FlowValue, Taint, ValueParts, add_taints};

impl FlowInterpreter<'_> {
    /// Returns the sanitizers that a call is, with their labels.
    pub(super) fn sanitizers_of(
        &self,
        facts: &CallFacts<'_>,
    ) -> impl Iterator<Item = &(CallPattern, String)> {
        let patterns = self.rules.sanitizers().named(facts.name);
        patterns.filter(|(pattern, _)| pattern.matches(facts))
    }

    /// Returns the result of a sanitizer: the data of its arguments, with the labels of the
    /// sanitizer. A sanitizer with a marked receiver changes the receiver.
    pub(super) fn sanitized(
        &self,
        receiver: Option<&Node>,
        facts: &CallFacts<'_>,
        state: &mut State,
    ) -> Option<FlowValue> {
        let values = facts.arguments.unwrap_or_default();
        let matching: Vec<&(CallPattern, String)> = self.sanitizers_of(facts).collect();
        if matching.is_empty() {
            return None;
        }
        let mut result = FlowValue::of_type("String");
        values.iter().for_each(|(_, value)| result.taint(&value.all_taints()));
        facts.receiver.iter().for_each(|owner| result.taint(&owner.all_taints()));
        for (pattern, label) in matching {
            let label: Rc<str> = Rc::from(label.as_str());
            result.clear(&label);
            if let Some(receiver) = receiver.filter(|_| pattern.marks_receiver) {
                self.update(receiver, state, &mut |own| own.clear(&label));
            }
            let mut checked = Vec::new();
            let of_receiver = facts.receiver.filter(|_| pattern.marks_receiver);
            of_receiver.iter().for_each(|owner| checked.extend(owner.all_taints()));
            let marked = pattern.marked(values).into_iter();
            marked.for_each(|at| checked.extend(values[at].1.all_taints()));
            state.clear_same_data(&checked, &label);
        }
        Some(result)
    }

    /// Returns the result of a call that passes data on.
    pub(super) fn propagated(
        &self,
        receiver: Option<&Node>,
        facts: &CallFacts<'_>,
        state: &mut State,
    ) -> Option<FlowValue> {
        let values = facts.arguments.unwrap_or_default();
        let patterns = self.rules.propagators().named(facts.name);
        let mut result: Option<FlowValue> = None;
        let passing = patterns.filter(|(pattern, ())| !pattern.goes_to_arguments);
        for (pattern, ()) in passing.filter(|(pattern, ())| pattern.matches(facts)) {
            let mut taints = pattern.marked_taints(facts);
            add_built(&mut taints, pattern, facts, values);
            let mut value = result.take().unwrap_or_default();
            value.taint(&taints);
            if pattern.goes_to_receiver {
                if let Some(receiver) = receiver {
                    self.update(receiver, state, &mut |own| own.taint(&taints));
                }
                if let Some(owner) = facts.receiver {
                    value.types = owner.types.clone();
                    value.taint(&owner.all_taints());
                }
            } else if let Some(owner) = facts.receiver.filter(|owner| !owner.is_static) {
                value.taint(&owner.all_taints());
            }
            result = Some(value);
        }
        result
    }

    /// Sends data into the arguments of a call that fills them, such as a buffer.
    pub(super) fn fill_arguments(
        &self,
        node: &Node,
        arguments: &[Argument],
        facts: &CallFacts<'_>,
        state: &mut State,
        frame: &Frame,
    ) {
        let _values = facts.arguments.unwrap_or_default();
        let patterns = self.rules.propagators().named(facts.name);
        let filling = patterns.filter(|(pattern, ())| pattern.goes_to_arguments);
        let mut taints: Vec<Taint> = Vec::new();
        for (pattern, ()) in filling.filter(|(pattern, ())| pattern.matches(facts)) {
            add_taints(&mut taints, &pattern.marked_taints(facts));
        }
        let sources = self.rules.sources().named(facts.name);
        let filling = sources.filter(|(pattern, _)| pattern.goes_to_arguments);
        for (_, kind) in filling.filter(|(pattern, _)| pattern.matches(facts)) {
            add_taints(&mut taints, &[self.new_taint(kind, &self.site(node, frame))]);
        }
        if !taints.is_empty() {
            for argument in arguments {
                self.update(&argument.value, state, &mut |own| own.taint(&taints));
            }
        }
    }
}

/// Adds the kinds of built text to the data of arguments that a call puts behind other text: of its
/// receiver, of an earlier argument, or of an earlier part of a list.
fn add_built(
    taints: &mut Vec<Taint>,
    pattern: &CallPattern,
    facts: &CallFacts<'_>,
    values: &Values,
) {
    let receiver = facts.receiver.filter(|owner| !owner.is_static);
    for at in pattern.marked(values) {
        let mut own = match &values[at].1.content {
            ValueParts::List(items) => parameters::joined_taints(items),
            _ => values[at].1.all_taints(),
        };
        let first = values.first().filter(|_| at > 0).map(|(_, value)| value);
        for front in receiver.into_iter().chain(first) {
            parameters::mark_built(&mut own, front);
        }
        add_taints(taints, &own);
    }
}
