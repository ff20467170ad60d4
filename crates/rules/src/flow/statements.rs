//! Statements: [`FlowInterpreter::block`] runs the statements of a function.

use std::rc::Rc;

use super::form::{Case, Expr, LoopForm, Node, Step};
use super::frame::{Frame, State, Variable, join_states};
use super::interpreter::{FlowInterpreter, MAX_STEPS};
use super::loops;
use super::value::{FlowValue, is_plain_type};

/// The number of times that the body of a loop is run.
const LOOP_RUNS: usize = 2;

impl FlowInterpreter<'_> {
    /// Runs statements one after the other. Returns `None` if the end is not reached.
    pub(super) fn block(
        &mut self,
        steps: &[Step],
        state: Option<State>,
        frame: &mut Frame,
    ) -> Option<State> {
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
                let place = value.as_ref();
                let value = place.map(|node| self.returned(node, &mut state, frame));
                if let Some((place, value)) = place.zip(value.as_ref()) {
                    self.check_answer(place, value, &state, frame);
                }
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

    /// Evaluates a returned expression. Text that is built here is a step of its data.
    fn returned(&mut self, node: &Node, state: &mut State, frame: &mut Frame) -> FlowValue {
        let mut value = self.eval(node, state, frame);
        let is_built = match &node.expr {
            Expr::Text(_) | Expr::Binary(..) => true,
            Expr::Call { receiver: Some(receiver), .. } => {
                matches!(receiver.expr, Expr::Text(_) | Expr::Constant(_))
            }
            _ => false,
        };
        if is_built {
            self.pass(&mut value, node, frame);
        }
        value
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
            own = own.into_number();
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
                let is_left = then.is_none() != otherwise.is_none();
                let mut after = join_states(then, otherwise);
                if let Some(after) = after.as_mut().filter(|_| is_left && self.counts_guards) {
                    self.clear_guarded(condition, after, frame);
                }
                after
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
                element = element.into_number();
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
        let labels: Vec<&[Node]> = cases.iter().map(|case| case.labels.as_slice()).collect();
        let reached = self.reached_cases(&subject, &labels, &mut state, frame);
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

    /// Returns for each case, given by its labels, whether it may be the first to run.
    pub(super) fn reached_cases(
        &mut self,
        subject: &FlowValue,
        cases: &[&[Node]],
        state: &mut State,
        frame: &mut Frame,
    ) -> Vec<bool> {
        let mut matched = false;
        let mut reached: Vec<Option<bool>> = Vec::new();
        for labels in cases {
            if labels.is_empty() {
                reached.push(None);
                continue;
            }
            let mut may_match = false;
            for label in *labels {
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
}
