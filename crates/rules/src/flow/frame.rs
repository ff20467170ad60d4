//! The state of a function that is run: its variables ([`State`]) and its exits ([`Frame`]).

use std::collections::HashMap;

use super::value::FlowValue;

/// The variables at a point of a function.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) variables: HashMap<String, Variable>,
    pub(super) this: FlowValue,
}

/// A variable, and whether its type carries no text.
#[derive(Debug, Clone, Default)]
pub(super) struct Variable {
    pub(super) value: FlowValue,
    pub(super) is_plain: bool,
}

impl State {
    /// Replaces the value of a variable.
    pub(super) fn set_variable(&mut self, name: &str, value: FlowValue) {
        if let Some(variable) = self.variables.get_mut(name) {
            variable.value = value;
        }
    }

    /// Removes the taint of a variable whose value was checked.
    pub(super) fn trust_variable(&mut self, name: &str) {
        if let Some(variable) = self.variables.get_mut(name) {
            variable.value = std::mem::take(&mut variable.value).into_trusted();
        }
    }
}

/// The function that is run, and the exits that were reached.
pub(super) struct Frame {
    pub(super) file: usize,
    pub(super) class: String,
    pub(super) returned: Option<FlowValue>,
    pub(super) this_after: Option<FlowValue>,
    pub(super) breaks: Vec<Vec<State>>,
    pub(super) continues: Vec<Vec<State>>,
}

impl Frame {
    pub(super) fn new(file: usize, class: &str) -> Frame {
        Frame {
            file,
            class: class.to_owned(),
            returned: None,
            this_after: None,
            breaks: Vec::new(),
            continues: Vec::new(),
        }
    }

    pub(super) fn returns(&mut self, value: FlowValue, this: &FlowValue) {
        self.returned = Some(match self.returned.take() {
            Some(other) => other.join(&value),
            None => value,
        });
        self.leaves(this);
    }

    pub(super) fn leaves(&mut self, this: &FlowValue) {
        self.this_after = Some(match self.this_after.take() {
            Some(other) => other.join(this),
            None => this.clone(),
        });
    }
}

/// Returns the state after two paths; a path that was left has no state.
pub(super) fn join_states(a: Option<State>, b: Option<State>) -> Option<State> {
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
