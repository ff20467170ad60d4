//! Expressions: [`FlowInterpreter::eval`] returns the abstract value of an expression.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::address;
use super::constants;
use super::form::{Argument, BinaryOperator, Constant, Expr, FlowClass, Node, SelectArm};
use super::frame::{Frame, State};
use super::interpreter::{FlowInterpreter, MAX_STEPS};
use super::parameters;
use super::pattern::CallFacts;
use super::text_calls;
use super::value::{FlowValue, ValueParts, is_plain_type};

/// The maximum nesting of expressions and statements, over all nested calls.
const MAX_DEPTH: usize = 1_500;

impl FlowInterpreter<'_> {
    /// Returns the value of an expression, and runs its calls and assignments.
    pub(super) fn eval(&mut self, node: &Node, state: &mut State, frame: &mut Frame) -> FlowValue {
        self.steps += 1;
        if self.depth > MAX_DEPTH {
            self.steps = MAX_STEPS;
        }
        if self.steps >= MAX_STEPS {
            return FlowValue::default();
        }
        self.depth += 1;
        let value = self.eval_within_budget(node, state, frame);
        self.depth -= 1;
        value
    }

    fn eval_within_budget(
        &mut self,
        node: &Node,
        state: &mut State,
        frame: &mut Frame,
    ) -> FlowValue {
        if state.is_trusted(node) {
            return FlowValue::default();
        }
        match &node.expr {
            // A part of the function is not known, so its analysis is not complete.
            Expr::Unread => {
                self.steps = MAX_STEPS;
                FlowValue::default()
            }
            Expr::Constant(constant) => FlowValue::constant(constant.clone()),
            Expr::Name(name) => self.name(node, name, state, frame),
            Expr::This => state.this.clone(),
            Expr::Field(object, name) => self.field(node, object, name, state, frame),
            Expr::Index(collection, index) => {
                self.record_opaque(node, frame);
                let collection = self.eval(collection, state, frame);
                let index = self.eval(index, state, frame);
                let character =
                    text_calls::character_at(self.program.language, &collection, &index);
                character.unwrap_or_else(|| collection.element_at(&index))
            }
            Expr::Call { receiver, name, arguments } => {
                self.record_opaque(node, frame);
                self.call(node, receiver.as_deref(), name, arguments, state, frame)
            }
            Expr::New { type_name, arguments } => {
                self.record_opaque(node, frame);
                self.construct(node, type_name, arguments, state, frame)
            }
            Expr::Binary(operator, left, right) => {
                let left = self.eval(left, state, frame);
                let right = self.eval(right, state, frame);
                let value = binary(*operator, &left, &right);
                if *operator == BinaryOperator::Add {
                    self.record_constancy(node, value.constants.is_some(), frame);
                }
                value
            }
            Expr::Not(inner) => {
                let truth = self.eval(inner, state, frame).truth();
                truth.map_or_else(FlowValue::default, |truth| {
                    FlowValue::constant(Constant::Boolean(!truth))
                })
            }
            Expr::Ternary(condition, then, otherwise) => {
                self.ternary(condition, then, otherwise, state, frame)
            }
            Expr::List(items) => {
                let items =
                    items.iter().map(|item| self.eval(item, state, frame).into_part()).collect();
                FlowValue { content: ValueParts::List(items), ..FlowValue::default() }
            }
            Expr::Map(items) => self.map(items, state, frame),
            Expr::Text(parts) => {
                let value = self.text(parts, state, frame);
                // A literal builds no text.
                if !parts.iter().all(|part| matches!(part.expr, Expr::Constant(_))) {
                    self.record_constancy(node, value.constants.is_some(), frame);
                }
                value
            }
            Expr::Assign(target, value) => {
                let mut own = self.eval(value, state, frame);
                self.pass(&mut own, value, frame);
                self.check_assignment(node, target, &own, state, frame);
                self.assign(target, own.clone(), state, frame);
                own
            }
            Expr::Extend(target, value) => {
                let old = self.eval(target, state, frame);
                let new = self.eval(value, state, frame);
                let mut own = binary(BinaryOperator::Add, &old, &new);
                self.pass(&mut own, value, frame);
                self.check_assignment(node, target, &own, state, frame);
                self.assign(target, own.clone(), state, frame);
                own
            }
            Expr::Cast(name, inner) => self.cast(name.as_deref(), inner, state, frame),
            Expr::Lambda(parameters, body) => {
                self.run_lambda(parameters, body, &FlowValue::default(), state, frame);
                FlowValue::default()
            }
            Expr::Block(steps, value) => {
                let Some(after) = self.block(steps, Some(state.clone()), frame) else {
                    return FlowValue::default();
                };
                *state = after;
                let value = value.as_deref().map(|value| self.eval(value, state, frame));
                value.unwrap_or_default()
            }
            Expr::Select(subject, arms) => self.select(subject, arms, state, frame),
            Expr::Opaque(parts) => {
                parts.iter().for_each(|part| {
                    self.eval(part, state, frame);
                });
                FlowValue::default()
            }
            Expr::Mixed(parts) => {
                let mut own = FlowValue::default();
                for part in parts {
                    let taints = self.eval(part, state, frame).all_taints();
                    own.taint(&taints);
                }
                own
            }
        }
    }

    fn ternary(
        &mut self,
        condition: &Node,
        then: &Node,
        otherwise: &Node,
        state: &mut State,
        frame: &mut Frame,
    ) -> FlowValue {
        match self.eval(condition, state, frame).truth() {
            Some(true) => self.eval(then, state, frame),
            Some(false) => self.eval(otherwise, state, frame),
            None => {
                let mut inner = state.clone();
                self.refine(condition, true, &mut inner, frame);
                let then = self.eval(then, &mut inner, frame);
                let mut inner = state.clone();
                self.refine(condition, false, &mut inner, frame);
                then.join(&self.eval(otherwise, &mut inner, frame))
            }
        }
    }

    /// Returns the values of all arms that the subject can choose.
    fn select(
        &mut self,
        subject: &Node,
        arms: &[SelectArm],
        state: &mut State,
        frame: &mut Frame,
    ) -> FlowValue {
        let subject = self.eval(subject, state, frame);
        let labels: Vec<&[Node]> = arms.iter().map(|arm| arm.labels.as_slice()).collect();
        let reached = self.reached_cases(&subject, &labels, state, frame);
        let reached = arms.iter().zip(reached).filter(|(_, is_reached)| *is_reached);
        let mut chosen: Option<FlowValue> = None;
        for (arm, _) in reached {
            let value = self.eval(&arm.value, &mut state.clone(), frame);
            chosen = Some(match chosen {
                Some(other) => other.join(&value),
                None => value,
            });
        }
        chosen.unwrap_or_default()
    }

    fn map(&mut self, items: &[(Node, Node)], state: &mut State, frame: &mut Frame) -> FlowValue {
        let mut known = BTreeMap::new();
        let mut own = FlowValue::default();
        for (key, value) in items {
            let key = self.eval(key, state, frame);
            let value = self.eval(value, state, frame);
            match key.only_constant() {
                Some(key) => {
                    known.insert(key.clone(), value.into_part());
                }
                None => own.taint(&value.all_taints()),
            }
        }
        own.content = ValueParts::Map(known);
        own
    }

    fn text(&mut self, parts: &[Node], state: &mut State, frame: &mut Frame) -> FlowValue {
        let empty = FlowValue::constant(Constant::Text(String::new()));
        parts.iter().fold(empty, |text, part| {
            let part = self.eval(part, state, frame);
            binary(BinaryOperator::Add, &text, &part)
        })
    }

    fn cast(
        &mut self,
        name: Option<&str>,
        inner: &Node,
        state: &mut State,
        frame: &mut Frame,
    ) -> FlowValue {
        let mut own = self.eval(inner, state, frame);
        if is_plain_type(name) {
            return own.into_number();
        }
        if let Some(name) = name.filter(|_| own.types.is_empty()) {
            own.types.push(Rc::from(name));
        }
        own
    }

    fn name(&mut self, node: &Node, name: &str, state: &mut State, frame: &mut Frame) -> FlowValue {
        if let Some(variable) = state.variables.get(name) {
            return variable.value.clone();
        }
        if let ValueParts::Object(fields) = &state.this.content
            && let Some(value) = fields.get(name)
        {
            return value.clone();
        }
        if let Some(mut value) = self.class_field(&frame.class.clone(), name, frame.file) {
            value.taint(&state.this.taints);
            return value;
        }
        if let Some(value) = self.global_source(node, name, frame) {
            return value;
        }
        if let Some(dotted) = self.program.files[frame.file].imports.get(name) {
            return FlowValue::static_of(dotted);
        }
        if name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return FlowValue::static_of(name);
        }
        // A module or a built-in name is matched by its own name.
        FlowValue::static_of(name)
    }

    /// Returns the declared facts of a field of a class.
    pub(super) fn class_field(
        &mut self,
        class: &str,
        name: &str,
        from: usize,
    ) -> Option<FlowValue> {
        let (file, class) = self.program.class(class, from)?;
        let in_class = class.fields.iter().find(|field| field.name == name).is_some();
        let class = if in_class { class } else { self.outer_class(file, name)? };
        let field = class.fields.iter().find(|field| field.name == name)?;
        let mut value = match &field.value {
            Some(node) if is_constant(node) => {
                let mut frame = Frame::new(file, &class.name);
                self.eval(node, &mut State::default(), &mut frame)
            }
            _ => FlowValue::default(),
        };
        if let Some(name) = field.type_name.as_deref().filter(|_| value.types.is_empty()) {
            value.types.push(Rc::from(name));
        }
        Some(value)
    }

    /// Returns another class of the file with a field, which may be an outer class.
    fn outer_class(&self, file: usize, field: &str) -> Option<Rc<FlowClass>> {
        let classes = self.program.files[file].classes.iter();
        let mut classes = classes.filter(|class| class.fields.iter().any(|own| own.name == field));
        classes.next().cloned()
    }

    fn field(
        &mut self,
        node: &Node,
        object: &Node,
        name: &str,
        state: &mut State,
        frame: &mut Frame,
    ) -> FlowValue {
        let owner = self.eval(object, state, frame);
        if let Some(value) = self.attribute_source(node, &owner, name, frame) {
            return value;
        }
        if let ValueParts::Object(fields) = &owner.content
            && let Some(value) = fields.get(name)
        {
            return value.clone();
        }
        if let ValueParts::Map(items) = &owner.content
            && let Some(value) = items.get(&Constant::Text(name.to_owned()))
        {
            return value.clone();
        }
        if name == "length" {
            return FlowValue::default();
        }
        if let Some(type_name) = self.attribute_type(&owner, name) {
            return FlowValue { types: vec![type_name], ..FlowValue::with_taints(owner.taints) };
        }
        for class in owner.types.clone() {
            if let Some(mut value) = self.class_field(&class, name, frame.file) {
                let type_name = value.types.first().cloned();
                value.taint(&owner.taints);
                return if is_plain_type(type_name.as_deref()) {
                    value.into_number()
                } else {
                    value
                };
            }
        }
        if owner.is_static {
            let dotted = owner.types.first().map(|own| format!("{own}.{name}"));
            return dotted.map(|dotted| FlowValue::static_of(&dotted)).unwrap_or_default();
        }
        let mut value = FlowValue::with_taints(parameters::attribute_taints(&owner));
        let facts = CallFacts { is_new: false, receiver: Some(&owner), name, arguments: None };
        let named = self.rules.types().named(name).find(|(pattern, _)| pattern.matches(&facts));
        value.types.extend(named.map(|(_, name)| Rc::from(name.as_str())));
        value
    }

    /// Returns the type of an attribute by the shared lists.
    fn attribute_type(&self, owner: &FlowValue, name: &str) -> Option<Rc<str>> {
        let facts = CallFacts { is_new: false, receiver: Some(owner), name, arguments: None };
        let named = self.rules.types().named(name).find(|(pattern, _)| pattern.matches(&facts));
        named.map(|(_, name)| Rc::from(name.as_str()))
    }

    /// Returns the values of arguments, and runs the closures among them later.
    pub(super) fn arguments(
        &mut self,
        arguments: &[Argument],
        state: &mut State,
        frame: &mut Frame,
    ) -> Vec<(Option<String>, FlowValue)> {
        let is_closure = |argument: &&Argument| matches!(argument.value.expr, Expr::Lambda(..));
        let plain = arguments
            .iter()
            .filter(|argument| !is_closure(argument) || argument.name.as_deref() != Some(""));
        plain
            .map(|argument| {
                let value = match &argument.value.expr {
                    Expr::Lambda(..) => FlowValue::default(),
                    _ => self.eval(&argument.value, state, frame),
                };
                (argument.name.clone(), value)
            })
            .collect()
    }

    /// Records that code builds text or sends data to a sink, and whether this is constant.
    pub(super) fn record_constancy(&mut self, node: &Node, is_constant: bool, frame: &Frame) {
        if frame.file == 0 {
            *self.constancy.entry(node.span.clone()).or_insert(true) &= is_constant;
        }
    }

    fn record_opaque(&mut self, node: &Node, frame: &Frame) {
        if frame.file == 0 {
            self.opaque_spans.insert(node.span.clone());
        }
    }
}

fn is_constant(node: &Node) -> bool {
    match &node.expr {
        Expr::Constant(_) => true,
        Expr::Binary(_, left, right) => is_constant(left) && is_constant(right),
        Expr::List(items) | Expr::Text(items) => items.iter().all(is_constant),
        _ => false,
    }
}

/// Returns the result of an operator.
fn binary(operator: BinaryOperator, left: &FlowValue, right: &FlowValue) -> FlowValue {
    use BinaryOperator as Op;
    let mut own = FlowValue::default();
    if let (Some(a), Some(b)) = (&left.constants, &right.constants) {
        own.constants = constants::fold_all(operator, a, b);
    }
    let (a, b) = (left.truth(), right.truth());
    match operator {
        Op::And if a == Some(false) || b == Some(false) => {
            own.constants = Some(vec![Constant::Boolean(false)]);
        }
        Op::Or if a == Some(true) || b == Some(true) => {
            own.constants = Some(vec![Constant::Boolean(true)]);
        }
        Op::Add | Op::Remainder | Op::Other | Op::Divide | Op::Or | Op::And => {
            own.taint(&left.all_taints());
            let mut after = right.all_taints();
            let is_format =
                matches!(operator, Op::Remainder | Op::Other) && left.constants.is_some();
            if operator == Op::Add || is_format {
                parameters::mark_built(&mut after, left);
            }
            if operator == Op::Add && address::has_fixed_host(left) {
                after.iter_mut().for_each(|taint| taint.clear(&Rc::from(address::FIXED_HOST)));
            }
            if operator == Op::Add && address::is_web_address(left) {
                after.iter_mut().for_each(|taint| taint.clear(&Rc::from(address::WEB_ADDRESS)));
            }
            own.taint(&after);
            if operator == Op::Add && [left, right].iter().any(|value| value.has_type("String")) {
                own.types = vec![Rc::from("String")];
            }
            if operator == Op::Divide {
                own.types = left.types.clone();
            }
        }
        _ => {}
    }
    own
}
