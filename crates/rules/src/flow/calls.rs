//! Calls in the interpreter: sinks, sources, sanitizers, known functions and propagators, in this
//! order.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::collection_calls;
use super::flow_rule::FlowRule;
use super::form::{Argument, Expr, FlowClass, FlowFunction, Node};
use super::frame::{Frame, State};
use super::interpreter::{CodeSite, FlowInterpreter};
use super::parameters;
use super::pattern::{CallFacts, CallPattern};
use super::text_calls;
use super::value::{FlowValue, Taint, TaintPlace, ValueParts, add_taints};
use crate::language::{Language, is_javascript};

/// The maximum depth of supertypes that are searched for a method.
const MAX_SUPERTYPES: usize = 4;

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

/// The name under which patterns see the result of a function that answers a request.
const ANSWER: &str = "return";

/// The evaluated arguments of a call, each with its name.
type Values = [(Option<String>, FlowValue)];

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
        if let Some(value) = self.source(node, facts, frame) {
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

    /// Returns an instance of a class whose code is not known, in languages without `new`.
    fn new_instance(&self, facts: &CallFacts<'_>) -> FlowValue {
        let is_class = facts.name.starts_with(|c: char| c.is_ascii_uppercase());
        if self.program.language != Language::Python || !is_class {
            return FlowValue::default();
        }
        match facts.receiver {
            Some(owner) => {
                let dotted = owner.types.first().filter(|_| owner.is_static);
                let dotted = dotted.map(|own| format!("{own}.{}", facts.name));
                dotted.map(|dotted| FlowValue::of_type(&dotted)).unwrap_or_default()
            }
            None => FlowValue::of_type(facts.name),
        }
    }

    /// Evaluates a constructor.
    pub(super) fn construct(
        &mut self,
        node: &Node,
        type_name: &str,
        arguments: &[Argument],
        state: &mut State,
        frame: &mut Frame,
    ) -> FlowValue {
        let values = self.arguments(arguments, state, frame);
        let facts =
            CallFacts { is_new: true, receiver: None, name: type_name, arguments: Some(&values) };
        self.check_sinks(node, &facts, state, frame);
        self.run_closures(arguments, &facts, state, frame);
        if let Some(mut value) = self.source(node, &facts, frame) {
            value.types = vec![Rc::from(type_name)];
            return value;
        }
        if matches!(self.program.language, Language::Go | Language::Rust) {
            return struct_value(type_name, &values);
        }
        if let Some((file, class)) = self.program.class(type_name, frame.file) {
            return self.instantiate(file, &class, node, &values, frame);
        }
        let mut value = FlowValue::of_type(type_name);
        value.content = collection_calls::new_collection(type_name, &values);
        let sanitized = self.sanitized(None, &facts, state);
        match (&value.content, sanitized) {
            (_, Some(clean)) => value.taint(&clean.all_taints()),
            (ValueParts::Unknown, None) => {
                values.iter().for_each(|(_, argument)| value.taint(&argument.all_taints()));
            }
            _ => {}
        }
        if let [(_, only)] = values.as_slice()
            && matches!(type_name, "String" | "StringBuilder" | "StringBuffer")
        {
            value.constants = only.constants.clone().filter(|_| type_name == "String");
        }
        value
    }

    /// Creates an object of a known class and runs its constructor.
    pub(super) fn instantiate(
        &mut self,
        file: usize,
        class: &Rc<FlowClass>,
        node: &Node,
        values: &Values,
        frame: &Frame,
    ) -> FlowValue {
        let this = FlowValue {
            types: vec![Rc::from(class.name.as_str())],
            content: ValueParts::Object(BTreeMap::new()),
            ..FlowValue::default()
        };
        let constructors = class.functions.iter().filter(|own| own.is_constructor);
        let fits = |own: &FlowFunction| {
            own.takes(values.len()) || (own.has_defaults && own.parameters.len() > values.len())
        };
        let fitting = constructors.filter(|own| fits(own));
        let fitting: Vec<(usize, Rc<FlowFunction>)> =
            fitting.map(|own| (file, Rc::clone(own))).take(1).collect();
        match self.run_functions(&fitting, node, this.clone(), values, frame) {
            Some((_, this)) => this,
            None => {
                let mut this = this;
                for (name, value) in values {
                    match name.as_deref().filter(|name| is_member(name)) {
                        Some(name) => this.set_field(name, value),
                        None => this.taint(&value.all_taints()),
                    }
                }
                this
            }
        }
    }

    // ---- sinks and sources

    /// Ends the rules that report nothing from a call on, such as one that sets a type of the response
    /// that is not HTML.
    fn end_rules(&self, facts: &CallFacts<'_>, state: &mut State) {
        let named = self.rules.unless().named(facts.name);
        let matching = named.filter(|(pattern, _)| pattern.matches(facts));
        state.ended_rules.extend(matching.map(|(_, rule)| *rule));
    }

    fn check_sinks(&mut self, node: &Node, facts: &CallFacts<'_>, state: &State, frame: &Frame) {
        let rules = self.rules;
        let values = facts.arguments.unwrap_or_default();
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
            let marked = marked_taints(pattern, facts, values);
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
            let strongest = harmful.min_by_key(|taint| parameters::is_parameter_kind(&taint.kind));
            if let Some(taint) = strongest {
                self.hit(*at, site, Some(taint));
            }
        }
    }

    /// Returns true if the code of a sink, or of a place on the way to the sink, has the text that
    /// a rule demands.
    fn has_text(&self, rule: &FlowRule, sink: &CodeSite, taint: &Taint) -> bool {
        let Some(text) = &rule.text else { return true };
        let mut places = std::iter::successors(Some(&taint.place), |own| own.before.as_ref());
        let is_in_line = |place: &Rc<TaintPlace>| {
            let line = self.program.files[place.file].text.lines().nth(place.line as usize - 1);
            line.is_some_and(|line| text.is_match(line))
        };
        text.is_match(&self.code(sink))
            || places.any(|place| text.is_match(&place.code) || is_in_line(place))
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

    fn source(&self, node: &Node, facts: &CallFacts<'_>, frame: &Frame) -> Option<FlowValue> {
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

    /// Returns the result of a sanitizer: the data of its arguments, with the labels of the
    /// sanitizer. A sanitizer with a marked receiver changes the receiver.
    fn sanitized(
        &self,
        receiver: Option<&Node>,
        facts: &CallFacts<'_>,
        state: &mut State,
    ) -> Option<FlowValue> {
        let values = facts.arguments.unwrap_or_default();
        let patterns = self.rules.sanitizers().named(facts.name);
        let matching: Vec<&(CallPattern, String)> =
            patterns.filter(|(pattern, _)| pattern.matches(facts)).collect();
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
    fn propagated(
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
            let mut taints = marked_taints(pattern, facts, values);
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
    fn fill_arguments(
        &self,
        node: &Node,
        arguments: &[Argument],
        facts: &CallFacts<'_>,
        state: &mut State,
        frame: &Frame,
    ) {
        let values = facts.arguments.unwrap_or_default();
        let patterns = self.rules.propagators().named(facts.name);
        let filling = patterns.filter(|(pattern, ())| pattern.goes_to_arguments);
        let mut taints: Vec<Taint> = Vec::new();
        for (pattern, ()) in filling.filter(|(pattern, ())| pattern.matches(facts)) {
            add_taints(&mut taints, &marked_taints(pattern, facts, values));
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

    // ---- known functions

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

    /// Returns the class that a call without a receiver creates, in languages without `new`.
    fn class_by_call(&mut self, name: &str, frame: &Frame) -> Option<(usize, Rc<FlowClass>)> {
        let has_new = self.program.language != Language::Python;
        if has_new || !name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return None;
        }
        self.program.class(name, frame.file)
    }

    /// Returns the functions that a call without a receiver may reach: of the class, its
    /// supertypes, or another class of the file.
    fn functions_in_scope(
        &mut self,
        class: &str,
        name: &str,
        values: &Values,
        file: usize,
    ) -> Vec<(usize, Rc<FlowFunction>)> {
        let own = self.methods(class, name, values, file, 0);
        if !own.is_empty() {
            return own;
        }
        let functions = self.program.files[file].functions();
        let named: Vec<Rc<FlowFunction>> = functions
            .filter(|(_, own)| own.name == name && !own.is_constructor)
            .map(|(_, own)| Rc::clone(own))
            .collect();
        best_overload(&named, values).map(|own| (file, own)).into_iter().collect()
    }

    /// Returns the method of a class or of its supertypes, or the function of a module.
    fn methods(
        &mut self,
        class: &str,
        name: &str,
        values: &Values,
        from: usize,
        level: usize,
    ) -> Vec<(usize, Rc<FlowFunction>)> {
        if level > MAX_SUPERTYPES {
            return Vec::new();
        }
        let Some((file, class)) = self.class_or_module(class, from) else { return Vec::new() };
        let named: Vec<Rc<FlowFunction>> = class
            .functions
            .iter()
            .filter(|own| own.name == name && !own.is_constructor && !own.body.is_empty())
            .cloned()
            .collect();
        if let Some(own) = best_overload(&named, values) {
            return vec![(file, own)];
        }
        let supertypes = class.supertypes.clone();
        let inherited =
            supertypes.iter().map(|own| self.methods(own, name, values, file, level + 1));
        inherited.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    fn class_or_module(&mut self, name: &str, from: usize) -> Option<(usize, Rc<FlowClass>)> {
        if let Some(found) = self.program.class(name, from) {
            return Some(found);
        }
        if matches!(self.program.language, Language::Java | Language::CSharp | Language::Kotlin) {
            return None;
        }
        let file = self.program.file_of(name)?;
        let classes = &self.program.files[file].classes;
        classes.iter().find(|class| class.name.is_empty()).map(|class| (file, Rc::clone(class)))
    }

    // ---- closures and conditions

    fn run_closures(
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

/// Returns true if the name of an argument is the name of a member.
fn is_member(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns a struct whose fields have these values.
fn struct_value(type_name: &str, values: &Values) -> FlowValue {
    let mut value = FlowValue::of_type(type_name);
    let mut fields = BTreeMap::new();
    for (name, field) in values {
        match name {
            Some(name) => {
                fields.insert(name.clone(), field.clone().into_part());
            }
            None => value.taint(&field.all_taints()),
        }
    }
    value.content = ValueParts::Object(fields);
    value
}

/// Returns the taint of the data that a pattern marks.
fn marked_taints(pattern: &CallPattern, facts: &CallFacts<'_>, values: &Values) -> Vec<Taint> {
    let mut all = FlowValue::default();
    for at in pattern.marked(values) {
        let value = &values[at].1;
        match pattern.marks_own_data {
            true => all.taint(&value.taints),
            false => all.taint(&value.all_taints()),
        }
    }
    if let Some(owner) = facts.receiver.filter(|_| pattern.marks_receiver) {
        all.taint(&owner.all_taints());
    }
    all.taints
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

/// Returns the function that fits the arguments best, by their number and types.
fn best_overload(named: &[Rc<FlowFunction>], values: &Values) -> Option<Rc<FlowFunction>> {
    let fits = |own: &FlowFunction| {
        let typed = own.parameters.iter().zip(values);
        typed
            .filter(|(parameter, (_, value))| {
                parameter.type_name.as_deref().is_some_and(|name| value.has_type(name))
            })
            .count()
    };
    let has_names = values.iter().any(|(name, _)| name.is_some());
    let fitting =
        named.iter().filter(|own| own.takes(values.len()) || has_names || own.has_defaults);
    let fitting = fitting.enumerate();
    let best = fitting.max_by_key(|(at, own)| (fits(own), std::cmp::Reverse(*at)));
    best.map(|(_, own)| Rc::clone(own))
}
