//! Calls of functions whose code is known: [`FlowInterpreter::run_functions`].

use std::rc::Rc;

use super::form::{ClosureParameter, FlowFunction, Node, Step};
use super::frame::{Frame, State, Variable, join_states};
use super::interpreter::{CodeSite, FlowInterpreter};
use super::pattern::Values;
use super::value::{FlowValue, is_plain_type};

/// The maximum number of nested calls that are followed.
const MAX_CALLS: usize = 8;

impl FlowInterpreter<'_> {
    /// Runs the functions that a call may reach. Returns `None` if no code is known.
    pub(super) fn run_functions(
        &mut self,
        functions: &[(usize, Rc<FlowFunction>)],
        node: &Node,
        this: FlowValue,
        arguments: &Values,
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
        arguments: &Values,
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
        arguments: &Values,
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
                value = value.into_number();
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
        parameters: &[ClosureParameter],
        body: &[Step],
        data: &FlowValue,
        state: &mut State,
        frame: &mut Frame,
    ) -> FlowValue {
        let mut inner = state.clone();
        for parameter in parameters {
            let mut value = data.clone();
            if let Some(name) = parameter.type_name.as_deref().filter(|_| value.types.is_empty()) {
                value.types.push(Rc::from(name));
            }
            let variable = Variable { value, is_plain: false };
            inner.variables.insert(parameter.name.clone(), variable);
        }
        let mut own = Frame::new(frame.file, &frame.class);
        let end = self.block(body, Some(inner), &mut own);
        // A closure may change the variables around it.
        if let Some(mut end) = end {
            end.variables.retain(|name, _| parameters.iter().all(|own| own.name != *name));
            if let Some(joined) = join_states(Some(state.clone()), Some(end)) {
                *state = joined;
            }
        }
        own.returned.unwrap_or_default()
    }
}
