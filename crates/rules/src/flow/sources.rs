//! Sources in the interpreter: calls, attributes and variables that carry untrusted data.

use std::rc::Rc;

use super::form::Node;
use super::frame::Frame;
use super::interpreter::FlowInterpreter;
use super::pattern::CallFacts;
use super::value::{FlowValue, Taint};
use crate::language::Language;

impl FlowInterpreter<'_> {
    pub(super) fn source(
        &self,
        node: &Node,
        facts: &CallFacts<'_>,
        frame: &Frame,
    ) -> Option<FlowValue> {
        let patterns = self.rules.sources().named(facts.name);
        let kinds = patterns.filter(|(own, _)| !own.goes_to_arguments && own.matches(facts));
        let kinds: Vec<&String> = kinds.map(|(_, kind)| kind).collect();
        if kinds.is_empty() {
            return None;
        }
        let site = self.site(node, frame);
        let mut value = FlowValue::default();
        let taints: Vec<Taint> = kinds.iter().map(|kind| self.new_taint(kind, &site)).collect();
        value.taint(&taints);
        let named =
            self.rules.types().named(facts.name).find(|(pattern, _)| pattern.matches(facts));
        value.types = named.map(|(_, name)| Rc::from(name.as_str())).into_iter().collect();
        Some(value)
    }

    /// Returns the value of an attribute that is a source.
    pub(super) fn attribute_source(
        &self,
        node: &Node,
        owner: &FlowValue,
        name: &str,
        frame: &Frame,
    ) -> Option<FlowValue> {
        let facts = CallFacts { is_new: false, receiver: Some(owner), name, arguments: None };
        self.source(node, &facts, frame)
    }

    /// Returns the data of a name that no code defines, such as a superglobal of PHP. In Ruby, such
    /// a name is a call.
    pub(super) fn global_source(
        &mut self,
        node: &Node,
        name: &str,
        frame: &mut Frame,
    ) -> Option<FlowValue> {
        let facts = CallFacts { is_new: false, receiver: None, name, arguments: None };
        if let Some(value) = self.source(node, &facts, frame) {
            return Some(value);
        }
        if self.program.language != Language::Ruby {
            return None;
        }
        let functions = self.functions_in_scope(&frame.class.clone(), name, &[], frame.file);
        let this = self.instance(&frame.class);
        self.run_functions(&functions, node, this, &[], frame).map(|(value, _)| value)
    }
}
