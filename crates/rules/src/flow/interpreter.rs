//! The abstract interpreter: [`FlowInterpreter`] runs a function on abstract values and reports the
//! data that reaches a sink.
//!
//! Calls of functions whose code is known are run with their arguments. Every run has a budget of
//! steps and of nested calls, so that it ends.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::form::{
    Argument, BinaryOperator, Case, Expr, FlowClass, FlowFunction, LoopForm, Node, Step,
};
use super::program::Program;
use super::rule_set::FlowRules;
use super::value::{FlowValue, Taint, TaintPlace, ValueParts};
use super::{constants, loops};

/// The maximum number of steps of the analysis of one function.
const MAX_STEPS: usize = 60_000;

/// The maximum nesting of expressions and statements, over all nested calls.
const MAX_DEPTH: usize = 1_500;

/// The maximum number of nested calls that are followed.
const MAX_CALLS: usize = 8;

/// The number of times that the body of a loop is run.
const LOOP_RUNS: usize = 2;

/// The maximum length of the code of a step, in bytes.
const MAX_CODE: usize = 160;

/// The maximum number of places of a trace.
const MAX_PLACES: usize = 24;

/// The label of the sanitizers that turn text into numbers.
const NUMBER: &str = "number";

/// The types whose values carry no text of a request.
const PLAIN_TYPES: [&str; 17] = [
    "int", "long", "short", "byte", "boolean", "double", "float", "char", "Integer", "Long",
    "Short", "Boolean", "Double", "Float", "UUID", "BigDecimal", "bool",
];

/// Data that reached a sink.
pub(super) struct SinkHit {
    /// The index of the rule.
    pub(super) rule: usize,
    pub(super) site: CodeSite,
    /// The calls that lead to the sink, outer ones first.
    pub(super) calls: Vec<CodeSite>,
    /// The last place of the data; `None` for a rule that needs no source.
    pub(super) data: Option<Rc<TaintPlace>>,
}

/// A place in the code of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeSite {
    pub(super) file: usize,
    pub(super) line: u32,
    pub(super) span: Range<usize>,
}

/// The interpreter of one program.
pub(super) struct FlowInterpreter<'a> {
    pub(super) rules: &'a FlowRules,
    /// The rules that apply to the reviewed file.
    pub(super) concerned: &'a [bool],
    pub(super) program: Program<'a>,
    pub(super) hits: Vec<SinkHit>,
    /// The expressions of the reviewed file that build text, and whether the text was always
    /// constant.
    pub(super) built_texts: HashMap<Range<usize>, bool>,
    /// The calls and element accesses of the reviewed file.
    pub(super) opaque_spans: HashSet<Range<usize>>,
    steps: usize,
    depth: usize,
    calls: Vec<CodeSite>,
    running: Vec<Rc<FlowFunction>>,
}

/// The variables at a point of a function.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    variables: HashMap<String, Variable>,
    this: FlowValue,
}

#[derive(Debug, Clone, Default)]
struct Variable {
    value: FlowValue,
    is_plain: bool,
}

/// The function that is run, and the exits that were reached.
pub(super) struct Frame {
    pub(super) file: usize,
    class: String,
    returned: Option<FlowValue>,
    this_after: Option<FlowValue>,
    breaks: Vec<Vec<State>>,
    continues: Vec<Vec<State>>,
}

impl Frame {
    fn new(file: usize, class: &str) -> Frame {
        Frame {
            file,
            class: class.to_owned(),
            returned: None,
            this_after: None,
            breaks: Vec::new(),
            continues: Vec::new(),
        }
    }

    fn returns(&mut self, value: FlowValue, this: &FlowValue) {
        self.returned = Some(match self.returned.take() {
            Some(other) => other.join(&value),
            None => value,
        });
        self.leaves(this);
    }

    fn leaves(&mut self, this: &FlowValue) {
        self.this_after = Some(match self.this_after.take() {
            Some(other) => other.join(this),
            None => this.clone(),
        });
    }
}

impl<'a> FlowInterpreter<'a> {
    pub(super) fn new(
        rules: &'a FlowRules,
        concerned: &'a [bool],
        program: Program<'a>,
    ) -> FlowInterpreter<'a> {
        FlowInterpreter {
            rules,
            concerned,
            program,
            hits: Vec::new(),
            built_texts: HashMap::new(),
            opaque_spans: HashSet::new(),
            steps: 0,
            depth: 0,
            calls: Vec::new(),
            running: Vec::new(),
        }
    }

    /// Runs a function of the reviewed file with unknown arguments. Returns false if the budget was
    /// used up before the end.
    pub(super) fn run_entry(&mut self, function: &Rc<FlowFunction>) -> bool {
        self.steps = 0;
        let mut state = State { this: self.instance(&function.class), ..State::default() };
        for parameter in &function.parameters {
            let mut value =
                parameter.type_name.as_deref().map(FlowValue::of_type).unwrap_or_default();
            let is_plain = is_plain_type(parameter.type_name.as_deref());
            let site = CodeSite { file: 0, line: parameter.line, span: parameter.span.clone() };
            let kinds = self.rules.kinds_of_parameter(&parameter.annotations, &function.decorators);
            let taints: Vec<Taint> = kinds.iter().map(|kind| self.new_taint(kind, &site)).collect();
            value.taint(&taints);
            if is_plain {
                value = as_number(value);
            }
            state.variables.insert(parameter.name.clone(), Variable { value, is_plain });
        }
        let mut frame = Frame::new(0, &function.class);
        self.running.push(Rc::clone(function));
        self.block(&function.body, Some(state), &mut frame);
        self.running.pop();
        self.steps < MAX_STEPS
    }

    fn instance(&self, class: &str) -> FlowValue {
        FlowValue {
            types: vec![Rc::from(class)],
            content: ValueParts::Object(BTreeMap::new()),
            ..FlowValue::default()
        }
    }

    // ---- statements

    fn block(&mut self, steps: &[Step], state: Option<State>, frame: &mut Frame) -> Option<State> {
        let mut state = state;
        for step in steps {
            self.steps += 1;
            if self.steps >= MAX_STEPS {
                return None;
            }
            let before = state?;
            self.depth += 1;
            state = self.step(step, before, frame);
            self.depth -= 1;
        }
        state
    }

    fn step(&mut self, step: &Step, mut state: State, frame: &mut Frame) -> Option<State> {
        match step {
            Step::Declare { name, type_name, value } => {
                self.declare(name, type_name.as_deref(), value.as_ref(), &mut state, frame);
            }
            Step::Evaluate(node) => {
                self.eval(node, &mut state, frame);
            }
            Step::Branch { condition, then, otherwise } => {
                return self.branch(condition, then, otherwise, state, frame);
            }
            Step::Loop(form) => return self.run_loop(form, state, frame),
            Step::Switch { subject, cases, falls_through } => {
                return self.switch(subject, cases, *falls_through, state, frame);
            }
            Step::Try { body, handlers, finally } => {
                return self.run_try(body, handlers, finally, state, frame);
            }
            Step::Return(value) => {
                let value = value.as_ref().map(|node| self.eval(node, &mut state, frame));
                frame.returns(value.unwrap_or_default(), &state.this);
                return None;
            }
            Step::Throw(value) => {
                if let Some(node) = value {
                    self.eval(node, &mut state, frame);
                }
                return None;
            }
            Step::Break => {
                if let Some(breaks) = frame.breaks.last_mut() {
                    breaks.push(state);
                }
                return None;
            }
            Step::Continue => {
                if let Some(continues) = frame.continues.last_mut() {
                    continues.push(state);
                }
                return None;
            }
            Step::Block(steps) => return self.block(steps, Some(state), frame),
        }
        Some(state)
    }

    fn declare(
        &mut self,
        name: &str,
        type_name: Option<&str>,
        value: Option<&Node>,
        state: &mut State,
        frame: &mut Frame,
    ) {
        let is_plain = is_plain_type(type_name);
        let mut own = match value {
            Some(node) => {
                let mut own = self.eval(node, state, frame);
                self.pass(&mut own, node, frame);
                own
            }
            None => FlowValue::default(),
        };
        if is_plain {
            own = as_number(own);
        }
        if let Some(name) = type_name.filter(|_| own.types.is_empty()) {
            own.types.push(Rc::from(name));
        }
        state.variables.insert(name.to_owned(), Variable { value: own, is_plain });
    }

    fn branch(
        &mut self,
        condition: &Node,
        then: &[Step],
        otherwise: &[Step],
        mut state: State,
        frame: &mut Frame,
    ) -> Option<State> {
        let truth = self.eval(condition, &mut state, frame).truth();
        let mut run = |own: &mut Self, steps: &[Step], outcome: bool| {
            let mut state = state.clone();
            own.refine(condition, outcome, &mut state, frame);
            own.block(steps, Some(state), frame)
        };
        match truth {
            Some(true) => run(self, then, true),
            Some(false) => run(self, otherwise, false),
            None => {
                let then = run(self, then, true);
                let otherwise = run(self, otherwise, false);
                join_states(then, otherwise)
            }
        }
    }

    fn run_loop(&mut self, form: &LoopForm, state: State, frame: &mut Frame) -> Option<State> {
        let mut before = self.block(&form.start, Some(state), frame)?;
        for name in loops::assigned(form) {
            if let Some(variable) = before.variables.get_mut(&name) {
                variable.value.constants = None;
            }
        }
        if let Some((_, _, values)) = &form.element {
            self.eval(values, &mut before, frame);
        }
        let mut exits: Option<State> = None;
        let mut entry = before;
        for run in 0..LOOP_RUNS {
            let mut state = entry.clone();
            let truth = match &form.condition {
                Some(node) => self.eval(node, &mut state, frame).truth(),
                None if form.element.is_some() => None,
                None => Some(true),
            };
            let skips = truth == Some(false) && !(form.runs_first && run == 0);
            if truth != Some(true) && !(form.runs_first && run == 0) {
                exits = join_states(exits, Some(state.clone()));
            }
            if skips {
                break;
            }
            let (after, broken) = self.loop_body(form, state, frame);
            exits = join_states(exits, broken);
            let Some(after) = after else { break };
            let joined = join_states(Some(entry), Some(after));
            let Some(joined) = joined else { break };
            entry = joined;
            if run + 1 == LOOP_RUNS && truth != Some(true) {
                exits = join_states(exits, Some(entry.clone()));
            }
        }
        exits
    }

    fn loop_body(
        &mut self,
        form: &LoopForm,
        mut state: State,
        frame: &mut Frame,
    ) -> (Option<State>, Option<State>) {
        if let Some(condition) = &form.condition {
            self.refine(condition, true, &mut state, frame);
        }
        if let Some((target, type_name, values)) = &form.element {
            let mut element = self.eval(values, &mut state, frame).any_element();
            if let Some(name) = type_name.as_deref() {
                element.types = vec![Rc::from(name)];
            }
            element.constants = None;
            self.pass(&mut element, values, frame);
            if is_plain_type(type_name.as_deref()) {
                element = as_number(element);
            }
            self.assign(target, element, &mut state, frame);
        }
        frame.breaks.push(Vec::new());
        frame.continues.push(Vec::new());
        let mut after = self.block(&form.body, Some(state), frame);
        for state in frame.continues.pop().unwrap_or_default() {
            after = join_states(after, Some(state));
        }
        let breaks = frame.breaks.pop().unwrap_or_default();
        let after = self.block(&form.update, after, frame);
        let broken = breaks.into_iter().fold(None, |all, state| join_states(all, Some(state)));
        (after, broken)
    }

    fn switch(
        &mut self,
        subject: &Node,
        cases: &[Case],
        falls_through: bool,
        mut state: State,
        frame: &mut Frame,
    ) -> Option<State> {
        let subject = self.eval(subject, &mut state, frame);
        let reached = self.reached_cases(&subject, cases, &mut state, frame);
        let is_exhaustive = cases.iter().any(|case| case.labels.is_empty())
            || (subject.only_constant().is_some() && reached.contains(&true));
        frame.breaks.push(Vec::new());
        let mut after = if is_exhaustive { None } else { Some(state.clone()) };
        let mut falling: Option<State> = None;
        for (case, is_reached) in cases.iter().zip(reached) {
            let entry = if is_reached { Some(state.clone()) } else { None };
            let entry = join_states(entry, falling.take());
            let end = self.block(&case.body, entry, frame);
            if falls_through {
                falling = end;
            } else {
                after = join_states(after, end);
            }
        }
        let breaks = frame.breaks.pop().unwrap_or_default();
        breaks
            .into_iter()
            .fold(join_states(after, falling), |all, state| join_states(all, Some(state)))
    }

    /// Returns for each case whether it may be the first to run.
    fn reached_cases(
        &mut self,
        subject: &FlowValue,
        cases: &[Case],
        state: &mut State,
        frame: &mut Frame,
    ) -> Vec<bool> {
        let mut matched = false;
        let mut reached: Vec<Option<bool>> = Vec::new();
        for case in cases {
            if case.labels.is_empty() {
                reached.push(None);
                continue;
            }
            let mut may_match = false;
            for label in &case.labels {
                let label = self.eval(label, state, frame);
                may_match |= match (subject.only_constant(), label.only_constant()) {
                    (Some(subject), Some(label)) => {
                        matched |= subject == label;
                        subject == label
                    }
                    _ => true,
                };
            }
            reached.push(Some(may_match));
        }
        reached.into_iter().map(|reached| reached.unwrap_or(!matched)).collect()
    }

    fn run_try(
        &mut self,
        body: &[Step],
        handlers: &[Vec<Step>],
        finally: &[Step],
        state: State,
        frame: &mut Frame,
    ) -> Option<State> {
        let after = self.block(body, Some(state.clone()), frame);
        let failed = join_states(Some(state), after.clone());
        let mut end = after;
        for handler in handlers {
            let handled = self.block(handler, failed.clone(), frame);
            end = join_states(end, handled);
        }
        match end {
            Some(end) => self.block(finally, Some(end), frame),
            None => {
                self.block(finally, failed, frame);
                None
            }
        }
    }

    // ---- expressions

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
        match &node.expr {
            // A part of the function is not known, so its analysis is not complete.
            Expr::Unread => {
                self.steps = MAX_STEPS;
                FlowValue::default()
            }
            Expr::Constant(constant) => FlowValue::constant(constant.clone()),
            Expr::Name(name) => self.name(name, state, frame),
            Expr::This => state.this.clone(),
            Expr::Field(object, name) => self.field(node, object, name, state, frame),
            Expr::Index(collection, index) => {
                self.record_opaque(node, frame);
                let collection = self.eval(collection, state, frame);
                let index = self.eval(index, state, frame);
                element_at(&collection, &index)
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
                    self.record_text(node, &value, frame);
                }
                value
            }
            Expr::Not(inner) => {
                let truth = self.eval(inner, state, frame).truth();
                truth.map_or_else(FlowValue::default, |truth| {
                    FlowValue::constant(super::form::Constant::Boolean(!truth))
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
                    self.record_text(node, &value, frame);
                }
                value
            }
            Expr::Assign(target, value) => {
                let mut own = self.eval(value, state, frame);
                self.pass(&mut own, value, frame);
                self.assign(target, own.clone(), state, frame);
                own
            }
            Expr::Extend(target, value) => {
                let old = self.eval(target, state, frame);
                let new = self.eval(value, state, frame);
                let mut own = binary(BinaryOperator::Add, &old, &new);
                self.pass(&mut own, value, frame);
                self.assign(target, own.clone(), state, frame);
                own
            }
            Expr::Cast(name, inner) => self.cast(name.as_deref(), inner, state, frame),
            Expr::Lambda(parameters, body) => {
                self.run_lambda(parameters, body, &FlowValue::default(), state, frame);
                FlowValue::default()
            }
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
        let empty = FlowValue::constant(super::form::Constant::Text(String::new()));
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
            return as_number(own);
        }
        if let Some(name) = name.filter(|_| own.types.is_empty()) {
            own.types.push(Rc::from(name));
        }
        own
    }

    fn name(&mut self, name: &str, state: &mut State, frame: &mut Frame) -> FlowValue {
        if let Some(variable) = state.variables.get(name) {
            return variable.value.clone();
        }
        if let ValueParts::Object(fields) = &state.this.content
            && let Some(value) = fields.get(name)
        {
            return value.clone();
        }
        if let Some(value) = self.class_field(&frame.class.clone(), name, frame.file) {
            return value;
        }
        if let Some(dotted) = self.program.files[frame.file].imports.get(name) {
            return static_value(dotted);
        }
        if name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return static_value(name);
        }
        // A module or a built-in name is matched by its own name.
        FlowValue { types: vec![Rc::from(name)], is_static: true, ..FlowValue::default() }
    }

    /// Returns the declared facts of a field of a class.
    fn class_field(&mut self, class: &str, name: &str, from: usize) -> Option<FlowValue> {
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
        if name == "length" && matches!(owner.content, ValueParts::List(_)) {
            return FlowValue::default();
        }
        for class in owner.types.clone() {
            if let Some(value) = self.class_field(&class, name, frame.file) {
                return value;
            }
        }
        if owner.is_static {
            let dotted = owner.types.first().map(|own| format!("{own}.{name}"));
            return dotted.map(|dotted| static_value(&dotted)).unwrap_or_default();
        }
        FlowValue::with_taints(owner.taints)
    }

    // ---- places

    /// Writes a value to a variable, a field or an element.
    pub(super) fn assign(
        &mut self,
        target: &Node,
        value: FlowValue,
        state: &mut State,
        frame: &mut Frame,
    ) {
        match &target.expr {
            Expr::Name(name) => self.assign_name(name, value, state, frame),
            Expr::List(targets) => self.unpack(targets, &value, state, frame),
            Expr::Index(collection, index) => {
                let index = self.eval(index, state, frame);
                self.update(collection, state, &mut |own| set_element(own, &index, &value));
            }
            Expr::Field(object, name) => {
                self.update(object, state, &mut |own| set_field(own, name, &value));
            }
            _ => {}
        }
    }

    fn assign_name(&mut self, name: &str, value: FlowValue, state: &mut State, frame: &Frame) {
        if let Some(variable) = state.variables.get_mut(name) {
            let mut value = if variable.is_plain { as_number(value) } else { value };
            if value.types.is_empty() {
                value.types = std::mem::take(&mut variable.value.types);
            }
            variable.value = value;
            return;
        }
        let is_field =
            !frame.class.is_empty() && self.class_field(&frame.class, name, frame.file).is_some();
        if is_field {
            set_field(&mut state.this, name, &value);
        } else {
            state.variables.insert(name.to_owned(), Variable { value, is_plain: false });
        }
    }

    fn unpack(
        &mut self,
        targets: &[Node],
        value: &FlowValue,
        state: &mut State,
        frame: &mut Frame,
    ) {
        for (at, target) in targets.iter().enumerate() {
            let part = match &value.content {
                ValueParts::List(items) if items.len() == targets.len() => items[at].clone(),
                _ => value.any_element(),
            };
            self.assign(target, part, state, frame);
        }
    }

    /// Changes the value at a place, if the place is known.
    pub(super) fn update(
        &self,
        place: &Node,
        state: &mut State,
        change: &mut dyn FnMut(&mut FlowValue),
    ) {
        match &place.expr {
            Expr::Name(name) => {
                if let Some(variable) = state.variables.get_mut(name) {
                    change(&mut variable.value);
                } else if let ValueParts::Object(fields) = &mut state.this.content {
                    change(fields.entry(name.clone()).or_default());
                }
            }
            Expr::This => change(&mut state.this),
            Expr::Field(object, name) => {
                self.update(object, state, &mut |owner| {
                    if let ValueParts::Object(fields) = &mut owner.content {
                        change(fields.entry(name.clone()).or_default());
                    } else {
                        let mut value = FlowValue::default();
                        change(&mut value);
                        owner.taint(&value.all_taints());
                    }
                });
            }
            Expr::Index(collection, _) => {
                self.update(collection, state, &mut |owner| {
                    let mut value = owner.any_element();
                    change(&mut value);
                    owner.taint(&value.all_taints());
                });
            }
            // The calls of a builder return the builder.
            Expr::Call { receiver: Some(receiver), .. } => self.update(receiver, state, change),
            Expr::Cast(_, inner) => self.update(inner, state, change),
            _ => {}
        }
    }

    // ---- calls of known functions

    /// Runs the functions that a call may reach. Returns `None` if no code is known.
    pub(super) fn run_functions(
        &mut self,
        functions: &[(usize, Rc<FlowFunction>)],
        node: &Node,
        this: FlowValue,
        arguments: &[(Option<String>, FlowValue)],
        frame: &Frame,
    ) -> Option<(FlowValue, FlowValue)> {
        let mut result: Option<(FlowValue, FlowValue)> = None;
        for (file, function) in functions {
            let ran = self.run_function(*file, function, node, this.clone(), arguments, frame);
            result = Some(match result {
                Some((value, this)) => (value.join(&ran.0), this.join(&ran.1)),
                None => ran,
            });
        }
        result
    }

    fn run_function(
        &mut self,
        file: usize,
        function: &Rc<FlowFunction>,
        node: &Node,
        this: FlowValue,
        arguments: &[(Option<String>, FlowValue)],
        caller: &Frame,
    ) -> (FlowValue, FlowValue) {
        let is_running = self.running.iter().any(|own| Rc::ptr_eq(own, function));
        if is_running || self.running.len() > MAX_CALLS {
            let mut value = FlowValue::default();
            arguments.iter().for_each(|(_, argument)| value.taint(&argument.all_taints()));
            return (value, this);
        }
        let mut state = State { this, ..State::default() };
        self.bind(function, node, arguments, caller, &mut state);
        let mut frame = Frame::new(file, &function.class);
        let site = CodeSite { file: caller.file, line: node.line, span: node.span.clone() };
        self.calls.push(site);
        self.running.push(Rc::clone(function));
        let end = self.block(&function.body, Some(state), &mut frame);
        self.running.pop();
        self.calls.pop();
        if let Some(end) = end {
            frame.leaves(&end.this);
        }
        (frame.returned.unwrap_or_default(), frame.this_after.unwrap_or_default())
    }

    fn bind(
        &mut self,
        function: &FlowFunction,
        node: &Node,
        arguments: &[(Option<String>, FlowValue)],
        caller: &Frame,
        state: &mut State,
    ) {
        for (at, parameter) in function.parameters.iter().enumerate() {
            let named = arguments.iter().find(|(name, _)| name.as_deref() == Some(&parameter.name));
            let placed = arguments.get(at).filter(|(name, _)| name.is_none());
            let mut value = named.or(placed).map(|(_, value)| value.clone()).unwrap_or_default();
            self.pass(&mut value, node, caller);
            let is_plain = is_plain_type(parameter.type_name.as_deref());
            if is_plain {
                value = as_number(value);
            }
            if let Some(name) = parameter.type_name.as_deref().filter(|_| value.types.is_empty()) {
                value.types.push(Rc::from(name));
            }
            state.variables.insert(parameter.name.clone(), Variable { value, is_plain });
        }
    }

    /// Runs the body of a closure; its parameters may hold `data`.
    pub(super) fn run_lambda(
        &mut self,
        parameters: &[String],
        body: &[Step],
        data: &FlowValue,
        state: &mut State,
        frame: &mut Frame,
    ) -> FlowValue {
        let mut inner = state.clone();
        for name in parameters {
            let variable = Variable { value: data.clone(), is_plain: false };
            inner.variables.insert(name.clone(), variable);
        }
        let mut own = Frame::new(frame.file, &frame.class);
        let end = self.block(body, Some(inner), &mut own);
        // A closure may change the variables around it.
        if let Some(mut end) = end {
            end.variables.retain(|name, _| !parameters.contains(name));
            if let Some(joined) = join_states(Some(state.clone()), Some(end)) {
                *state = joined;
            }
        }
        own.returned.unwrap_or_default()
    }

    fn record_text(&mut self, node: &Node, value: &FlowValue, frame: &Frame) {
        if frame.file == 0 {
            let is_constant = self.built_texts.entry(node.span.clone()).or_insert(true);
            *is_constant &= value.constants.is_some();
        }
    }

    fn record_opaque(&mut self, node: &Node, frame: &Frame) {
        if frame.file == 0 {
            self.opaque_spans.insert(node.span.clone());
        }
    }

    // ---- traces

    pub(super) fn site(&self, node: &Node, frame: &Frame) -> CodeSite {
        CodeSite { file: frame.file, line: node.line, span: node.span.clone() }
    }

    pub(super) fn new_taint(&self, kind: &str, site: &CodeSite) -> Taint {
        let place = TaintPlace {
            before: None,
            length: 1,
            file: site.file,
            line: site.line,
            code: self.code(site),
        };
        Taint { kind: Rc::from(kind), place: Rc::new(place), cleared: Vec::new() }
    }

    /// Records that data passed a place.
    pub(super) fn pass(&self, value: &mut FlowValue, node: &Node, frame: &Frame) {
        for taint in &mut value.taints {
            let last = &taint.place;
            let is_same = last.file == frame.file && last.line == node.line;
            if is_same || last.length >= MAX_PLACES {
                continue;
            }
            taint.place = Rc::new(TaintPlace {
                before: Some(Rc::clone(last)),
                length: last.length + 1,
                file: frame.file,
                line: node.line,
                code: self.code(&self.site(node, frame)),
            });
        }
    }

    /// Returns the code of a place on one line.
    pub(super) fn code(&self, site: &CodeSite) -> String {
        let text = self.program.files[site.file].text.get(site.span.clone()).unwrap_or_default();
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assay_base::text::first_chars(&line, MAX_CODE).to_owned()
    }

    pub(super) fn hit(&mut self, rule: usize, site: CodeSite, data: Option<Rc<TaintPlace>>) {
        let is_known = self.hits.iter().any(|hit| {
            hit.rule == rule && hit.site == site && hit.calls.first() == self.calls.first()
        });
        if !is_known {
            self.hits.push(SinkHit { rule, site, calls: self.calls.clone(), data });
        }
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

    pub(super) fn class_of(frame: &Frame) -> &str {
        &frame.class
    }

    pub(super) fn this_of(state: &State) -> FlowValue {
        state.this.clone()
    }

    pub(super) fn set_this(state: &mut State, this: FlowValue) {
        state.this = this;
    }

    /// Replaces the value of a variable.
    pub(super) fn set_variable(state: &mut State, name: &str, value: FlowValue) {
        if let Some(variable) = state.variables.get_mut(name) {
            variable.value = value;
        }
    }

    /// Removes the taint of a variable whose value was checked.
    pub(super) fn trust_variable(state: &mut State, name: &str) {
        if let Some(variable) = state.variables.get_mut(name) {
            variable.value = without_taint(std::mem::take(&mut variable.value));
        }
    }
}

fn static_value(name: &str) -> FlowValue {
    FlowValue { types: vec![Rc::from(name)], is_static: true, ..FlowValue::default() }
}

fn is_constant(node: &Node) -> bool {
    match &node.expr {
        Expr::Constant(_) => true,
        Expr::Binary(_, left, right) => is_constant(left) && is_constant(right),
        Expr::List(items) => items.iter().all(is_constant),
        _ => false,
    }
}

fn is_plain_type(name: Option<&str>) -> bool {
    name.is_some_and(|name| PLAIN_TYPES.contains(&name))
}

/// Marks the data of a number, which holds no text.
fn as_number(mut value: FlowValue) -> FlowValue {
    value.clear(&Rc::from(NUMBER));
    value
}

fn without_taint(mut value: FlowValue) -> FlowValue {
    if !value.all_taints().is_empty() {
        value.content = ValueParts::Unknown;
        value.taints.clear();
    }
    value
}

fn join_states(a: Option<State>, b: Option<State>) -> Option<State> {
    let (Some(a), Some(b)) = (&a, &b) else { return a.or(b) };
    let mut variables = a.variables.clone();
    for (name, variable) in &b.variables {
        match variables.get_mut(name) {
            Some(own) => own.value = own.value.join(&variable.value),
            None => {
                variables.insert(name.clone(), variable.clone());
            }
        }
    }
    Some(State { variables, this: a.this.join(&b.this) })
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
            own.constants = Some(vec![super::form::Constant::Boolean(false)]);
        }
        Op::Or if a == Some(true) || b == Some(true) => {
            own.constants = Some(vec![super::form::Constant::Boolean(true)]);
        }
        Op::Add | Op::Remainder | Op::Other | Op::Divide | Op::Or | Op::And => {
            own.taint(&left.all_taints());
            own.taint(&right.all_taints());
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

/// Returns an element of a collection.
pub(super) fn element_at(collection: &FlowValue, index: &FlowValue) -> FlowValue {
    let known = index.only_constant().and_then(|index| match &collection.content {
        ValueParts::List(items) => items.get(index.position()?).cloned(),
        ValueParts::Map(items) => items.get(index).cloned().or_else(|| Some(FlowValue::default())),
        _ => None,
    });
    let Some(mut value) = known else { return collection.any_element() };
    value.taint(&collection.taints);
    value
}

/// Writes an element of a collection.
pub(super) fn set_element(collection: &mut FlowValue, index: &FlowValue, value: &FlowValue) {
    match (&mut collection.content, index.only_constant()) {
        (ValueParts::Map(items), Some(key)) => {
            items.insert(key.clone(), value.clone().into_part());
        }
        (ValueParts::List(items), Some(index))
            if index.position().is_some_and(|at| at < items.len()) =>
        {
            if let Some(item) = index.position().and_then(|at| items.get_mut(at)) {
                *item = value.clone().into_part();
            }
        }
        _ => {
            collection.forget_parts();
            collection.taint(&value.all_taints());
        }
    }
}

fn set_field(owner: &mut FlowValue, name: &str, value: &FlowValue) {
    if let ValueParts::Unknown = owner.content {
        owner.content = ValueParts::Object(BTreeMap::new());
    }
    if let ValueParts::Object(fields) = &mut owner.content {
        fields.insert(name.to_owned(), value.clone().into_part());
    }
}
