//! Classes, instances and the functions that a call may reach.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::collection_calls;
use super::form::{Argument, FlowClass, FlowFunction, Node};
use super::frame::{Frame, State};
use super::interpreter::FlowInterpreter;
use super::pattern::{CallFacts, Values};
use super::value::{FlowValue, ValueParts};
use crate::language::Language;

/// The maximum depth of supertypes that are searched for a method.
const MAX_SUPERTYPES: usize = 4;

impl FlowInterpreter<'_> {
    /// Returns an instance of a class whose code is not known, in languages without `new`.
    pub(super) fn new_instance(&self, facts: &CallFacts<'_>) -> FlowValue {
        let is_class = facts.name.starts_with(|c: char| c.is_ascii_uppercase());
        if self.program.language != Language::Python || !is_class {
            return FlowValue::default();
        }
        match facts.receiver {
            Some(owner) => {
                let dotted = owner.types.first().filter(|_| owner.is_static);
                let dotted = dotted.map(|own| format!("{own}.{}", facts.name));
                let values = facts.arguments.unwrap_or_default();
                let content = || collection_calls::new_collection(facts.name, values);
                let of_type = |dotted: String| FlowValue {
                    content: content(),
                    ..FlowValue::of_type(&dotted)
                };
                dotted.map(of_type).unwrap_or_default()
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

    /// Returns the class that a call without a receiver creates, in languages without `new`.
    pub(super) fn class_by_call(
        &mut self,
        name: &str,
        frame: &Frame,
    ) -> Option<(usize, Rc<FlowClass>)> {
        let has_new = self.program.language != Language::Python;
        if has_new || !name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return None;
        }
        self.program.class(name, frame.file)
    }

    /// Returns the functions that a call without a receiver may reach: of the class, its
    /// supertypes, or another class of the file.
    pub(super) fn functions_in_scope(
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
    pub(super) fn methods(
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

    pub(super) fn class_or_module(
        &mut self,
        name: &str,
        from: usize,
    ) -> Option<(usize, Rc<FlowClass>)> {
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
