//! Sinks in the interpreter: calls, assignments and answers to requests that data must not reach.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::flow_rule::FlowRule;
use super::form::{Expr, Node};
use super::frame::{Frame, State};
use super::interpreter::{CodeSite, FlowInterpreter};
use super::parameters;
use super::pattern::CallFacts;
use super::value::{FlowValue, Taint, TaintPlace, ValueParts};

/// The name under which patterns see the result of a function that answers a request.
const ANSWER: &str = "return";

impl FlowInterpreter<'_> {
    /// Ends the rules that report nothing from a call on, such as one that sets a type of the response
    /// that is not HTML.
    pub(super) fn end_rules(&self, facts: &CallFacts<'_>, state: &mut State) {
        let named = self.rules.unless().named(facts.name);
        let matching = named.filter(|(pattern, _)| pattern.matches(facts));
        state.ended_rules.extend(matching.map(|(_, rule)| *rule));
    }

    pub(super) fn check_sinks(
        &mut self,
        node: &Node,
        facts: &CallFacts<'_>,
        state: &State,
        frame: &Frame,
    ) {
        let rules = self.rules;
        for (pattern, at) in rules.sinks().named(facts.name) {
            let is_ended = state.ended_rules.contains(at) || self.ended_rules.contains(at);
            if !self.concerned[*at] || is_ended || !pattern.matches(facts) {
                continue;
            }
            let site = self.site(node, frame);
            if !pattern.has_mark() {
                self.hit(*at, site, None);
                continue;
            }
            if let Some(is_constant) = pattern.marks_constants_only(facts) {
                self.record_constancy(node, is_constant, frame);
            }
            let marked = pattern.marked_taints(facts);
            let rule = &rules.rules[*at];
            let is_harmful = |taint: &&Taint| {
                rule.kinds.iter().any(|kind| **kind == *taint.kind)
                    && !taint
                        .cleared
                        .iter()
                        .any(|label| rule.labels.iter().any(|own| **own == **label))
            };
            let has_text =
                |taint: &&Taint| rule.text.is_none() || self.has_text(rule, &site, taint);
            let harmful = marked.iter().filter(is_harmful).filter(has_text);
            // Untrusted data is stronger evidence than a parameter.
            let strongest = harmful.min_by_key(|taint| parameters::is_weak_kind(&taint.kind));
            if let Some(taint) = strongest {
                self.hit(*at, site, Some(taint));
            }
        }
    }

    /// Returns true if the code of a sink, or of a place on the way to the sink, has the text that
    /// a rule demands. On the way, the name of a variable is no text.
    pub(super) fn has_text(&self, rule: &FlowRule, sink: &CodeSite, taint: &Taint) -> bool {
        let Some(text) = &rule.text else { return true };
        let mut places = std::iter::successors(Some(&taint.place), |own| own.before.as_ref());
        let is_name = |code: &str| code.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_in_line = |place: &Rc<TaintPlace>| {
            let line = self.program.files[place.file].text.lines().nth(place.line as usize - 1);
            line.is_some_and(|line| text.is_match(line))
        };
        text.is_match(&self.code(sink))
            || places.any(|place| {
                !is_name(&place.code) && text.is_match(&place.code) || is_in_line(place)
            })
    }

    /// Checks an assignment to a field as a call of `field=` with the value, and an assignment to an
    /// element as a call of `[]=` with the key and the value, or of `[][]=` with two keys.
    pub(super) fn check_assignment(
        &mut self,
        node: &Node,
        target: &Node,
        value: &FlowValue,
        state: &mut State,
        frame: &mut Frame,
    ) {
        let (object, keys, name) = match &target.expr {
            Expr::Field(object, field) => (object, Vec::new(), format!("{field}=")),
            Expr::Index(outer, key) => match &outer.expr {
                Expr::Index(object, first) => (object, vec![first, key], "[][]=".to_owned()),
                _ => (outer, vec![key], "[]=".to_owned()),
            },
            _ => return,
        };
        if self.rules.sinks().by_own_name(&name).is_none() {
            return;
        }
        let owner = self.eval(object, state, frame);
        let keys: Vec<FlowValue> =
            keys.into_iter().map(|key| self.eval(key, state, frame)).collect();
        let values: Vec<_> =
            keys.into_iter().chain([value.clone()]).map(|value| (None, value)).collect();
        let receiver = Some(&owner);
        let facts = CallFacts { is_new: false, receiver, name: &name, arguments: Some(&values) };
        self.check_sinks(node, &facts, state, frame);
    }

    /// Checks the result of a function that answers a request as a call of `return` on the framework
    /// that the file imports. Of several results, the first one is the content.
    pub(super) fn check_answer(
        &mut self,
        node: &Node,
        value: &FlowValue,
        state: &State,
        frame: &Frame,
    ) {
        let [entry] = self.running.as_slice() else { return };
        let rules = self.rules;
        if rules.sinks().by_own_name(ANSWER).is_none() || !rules.answers(&entry.decorators) {
            return;
        }
        let imports = self.program.files[frame.file].imports.values();
        let packages: BTreeSet<&str> =
            imports.map(|dotted| dotted.split('.').next().unwrap_or(dotted)).collect();
        let owner = FlowValue {
            types: packages.into_iter().map(Rc::from).collect(),
            is_static: true,
            ..FlowValue::default()
        };
        let content = match &value.content {
            ValueParts::List(items) => items.first().cloned().unwrap_or_default(),
            _ => value.clone(),
        };
        let values = [(None, content)];
        let receiver = Some(&owner);
        let facts = CallFacts { is_new: false, receiver, name: ANSWER, arguments: Some(&values) };
        self.check_sinks(node, &facts, state, frame);
    }
}
