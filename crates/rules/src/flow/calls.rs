//! Calls in the interpreter: sinks, sources, sanitizers, known functions and propagators, in this
//! order. Each has a module: `sinks`, `sources`, `transfers` (sanitizers and propagators), `instances`
//! (classes and functions that a call reaches).

use std::rc::Rc;

use super::collection_calls;
use super::form::{Argument, Expr, FlowFunction, Node};
use super::frame::{Frame, State};
use super::interpreter::FlowInterpreter;
use super::parameters;
use super::pattern::CallFacts;
use super::text_calls;
use super::value::{FlowValue, Taint};
use crate::language::{Language, is_javascript};

/// The methods whose results carry no text of their receiver.
const NEUTRAL_METHODS: [&str; 82] = [
    "length", "size", "isEmpty", "isBlank", "equals", "equalsIgnoreCase", "contains",
    "containsKey", "containsValue", "indexOf", "lastIndexOf", "hashCode", "compareTo",
    "compareToIgnoreCase", "startsWith", "endsWith", "matches", "getClass", "hasNext",
    "hasMoreElements", "hasMoreTokens", "exists", "isFile", "isDirectory", "canRead", "canWrite",
    "delete", "close", "flush", "available", "intValue", "longValue", "isdigit", "isalnum",
    "isalpha", "isnumeric", "isidentifier", "startswith", "endswith", "find", "count", "index",
    "ordinal", "is_valid", "test", "localeCompare", "charCodeAt", "search", "findIndex",
    "hasOwnProperty", "Length", "Count", "Equals", "Contains", "ContainsKey", "StartsWith",
    "EndsWith", "IndexOf", "LastIndexOf", "CompareTo", "GetHashCode", "GetType", "Any", "All",
    "Exists", "len", "is_empty", "is_some", "is_none", "is_ok", "is_err", "starts_with",
    "ends_with", "contains_key", "eq", "ne", "cmp", "isNullOrEmpty", "isNullOrBlank", "isNotEmpty",
    "isNotBlank", "IsMatch",
];

/// The methods of JavaScript that call a closure with the elements or the result of the receiver.
const ELEMENT_METHODS: [&str; 12] = [
    "map", "forEach", "filter", "flatMap", "find", "findLast", "some", "every", "reduce", "sort",
    "then", "finally",
];

/// A call of a method or a function with the values of its parts.
pub(super) struct EvaluatedCall {
    receiver: Option<FlowValue>,
    pub(super) name: String,
    pub(super) arguments: Vec<(Option<String>, FlowValue)>,
}

impl EvaluatedCall {
    /// Returns the call as patterns see the call.
    pub(super) fn facts(&self) -> CallFacts<'_> {
        CallFacts {
            is_new: false,
            receiver: self.receiver.as_ref(),
            name: &self.name,
            arguments: Some(&self.arguments),
        }
    }
}

impl FlowInterpreter<'_> {
    /// Evaluates a call.
    pub(super) fn call(
        &mut self,
        node: &Node,
        receiver: Option<&Node>,
        name: &str,
        arguments: &[Argument],
        state: &mut State,
        frame: &mut Frame,
    ) -> FlowValue {
        let call = self.evaluate_call(receiver, name, arguments, state, frame);
        let facts = call.facts();
        self.end_rules(&facts, state);
        self.check_sinks(node, &facts, state, frame);
        self.fill_arguments(node, arguments, &facts, state, frame);
        let closure_result = self.run_closures(arguments, &facts, state, frame);
        let outside = self.ended_rules.clone();
        self.ended_rules.extend(&state.ended_rules);
        let mut result = self.result(node, receiver, &facts, state, frame);
        self.ended_rules = outside;
        result.taint(&closure_result.all_taints());
        let checked: Vec<Taint> =
            call.arguments.iter().flat_map(|(_, value)| value.all_taints()).collect();
        self.clear_checked(name, &checked, state);
        let named =
            self.rules.types().named(&call.name).find(|(pattern, _)| pattern.matches(&facts));
        if let Some((_, name)) = named {
            result.types = vec![Rc::from(name.as_str())];
        }
        result
    }

    /// Evaluates the receiver and the arguments of a call.
    pub(super) fn evaluate_call(
        &mut self,
        receiver: Option<&Node>,
        name: &str,
        arguments: &[Argument],
        state: &mut State,
        frame: &mut Frame,
    ) -> EvaluatedCall {
        let (receiver, name) = match receiver {
            Some(receiver) => (Some(self.eval(receiver, state, frame)), name.to_owned()),
            None => self.imported(name, frame),
        };
        EvaluatedCall { receiver, name, arguments: self.arguments(arguments, state, frame) }
    }

    /// Returns the module and the name of an imported function.
    fn imported(&self, name: &str, frame: &Frame) -> (Option<FlowValue>, String) {
        let dotted = self.program.files[frame.file].imports.get(name);
        match dotted.map(|dotted| (dotted, dotted.rsplit_once('.'))) {
            Some((_, Some((module, name)))) => {
                (Some(FlowValue::static_of(module)), name.to_owned())
            }
            // The function that a package exports has the name of the package.
            Some((package, None)) if self.is_package(package) => (None, package.clone()),
            _ => (None, name.to_owned()),
        }
    }

    /// Returns true if an import names a package of JavaScript and no module of the repository.
    fn is_package(&self, dotted: &str) -> bool {
        is_javascript(self.program.language) && !dotted.starts_with('/')
    }

    fn result(
        &mut self,
        node: &Node,
        receiver: Option<&Node>,
        facts: &CallFacts<'_>,
        state: &mut State,
        frame: &mut Frame,
    ) -> FlowValue {
        let values = facts.arguments.unwrap_or_default();
        if let Some(mut value) = self.source(node, facts, frame) {
            // The data of a source is harmless for some rules.
            self.sanitizers_of(facts).for_each(|(_, label)| value.clear(&Rc::from(label.as_str())));
            return value;
        }
        if let Some(value) = self.sanitized(receiver, facts, state) {
            return value;
        }
        if let Some(value) = self.known_call(node, receiver, facts, state, frame) {
            return value;
        }
        if let Some(owner) = facts.receiver {
            if let Some(value) = text_calls::evaluate(owner, facts.name, values) {
                return value;
            }
            let mut changed = owner.clone();
            if let Some(value) = collection_calls::evaluate(&mut changed, facts.name, values) {
                if let Some(receiver) = receiver {
                    self.update(receiver, state, &mut |own| *own = changed.clone());
                }
                return value;
            }
        }
        if let Some(value) = self.propagated(receiver, facts, state) {
            return value;
        }
        match facts.receiver {
            Some(owner)
                if !NEUTRAL_METHODS.contains(&facts.name) && !owner.all_taints().is_empty() =>
            {
                let taints = parameters::keep_text_of_receiver(facts.name, owner.all_taints());
                FlowValue::with_taints(taints)
            }
            _ => self.new_instance(facts),
        }
    }

    fn known_call(
        &mut self,
        node: &Node,
        receiver: Option<&Node>,
        facts: &CallFacts<'_>,
        state: &mut State,
        frame: &mut Frame,
    ) -> Option<FlowValue> {
        let values = facts.arguments.unwrap_or_default();
        let Some(owner) = facts.receiver else {
            if let Some((file, class)) = self.class_by_call(facts.name, frame) {
                return Some(self.instantiate(file, &class, node, values, frame));
            }
            let class = frame.class.clone();
            let mut functions = self.functions_in_scope(&class, facts.name, values, frame.file);
            if functions.is_empty() {
                functions = self.package_functions("", facts.name, frame.file);
            }
            let this = state.this.clone();
            let (value, this) = self.run_functions(&functions, node, this, values, frame)?;
            state.this = this;
            return Some(value);
        };
        let mut functions: Vec<(usize, Rc<FlowFunction>)> = Vec::new();
        for name in owner.types.clone() {
            let known = self.methods(&name, facts.name, values, frame.file, 0);
            if known.is_empty() {
                let name = if owner.is_static { format!("{name}.") } else { name.to_string() };
                functions.extend(self.package_functions(&name, facts.name, frame.file));
            }
            functions.extend(known);
        }
        let is_static = owner.is_static;
        let this = owner.clone();
        let (value, this) = self.run_functions(&functions, node, this, values, frame)?;
        if let Some(receiver) = receiver.filter(|_| !is_static) {
            self.update(receiver, state, &mut |own| *own = this.clone());
        }
        Some(value)
    }

    pub(super) fn run_closures(
        &mut self,
        arguments: &[Argument],
        facts: &CallFacts<'_>,
        state: &mut State,
        frame: &mut Frame,
    ) -> FlowValue {
        let mut result = FlowValue::default();
        for argument in arguments {
            let Expr::Lambda(parameters, body) = &argument.value.expr else { continue };
            let data = self.closure_data(facts);
            let returned = self.run_lambda(parameters, body, &data, state, frame);
            result.taint(&returned.all_taints());
        }
        result
    }

    /// Returns the data that the parameters of a closure may hold.
    fn closure_data(&self, facts: &CallFacts<'_>) -> FlowValue {
        let of_receiver = || facts.receiver.map(FlowValue::any_element).unwrap_or_default();
        if self.program.language == Language::Go {
            return FlowValue::default();
        }
        if is_javascript(self.program.language) {
            // Other closures are callbacks: their parameters are results of the call.
            let is_given = ELEMENT_METHODS.contains(&facts.name);
            return if is_given { of_receiver() } else { FlowValue::default() };
        }
        let mut data = of_receiver();
        let values = facts.arguments.unwrap_or_default();
        values.iter().for_each(|(_, value)| data.taint(&value.all_taints()));
        data
    }
}
