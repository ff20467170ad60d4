//! The state of a function that is run: its variables ([`State`]) and its exits ([`Frame`]).

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::form::{Constant, Expr, Node};
use super::value::{FlowValue, Taint};

/// The variables at a point of a function.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) variables: HashMap<String, Variable>,
    pub(super) this: FlowValue,
    /// The attributes whose values were checked, such as `req.query.sort`.
    pub(super) trusted: BTreeSet<String>,
    /// The indices of the rules that report nothing after a call on the way here.
    pub(super) ended_rules: BTreeSet<usize>,
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

    /// Marks all variables as sanitized whose data has the same source as checked data: a check of a
    /// file is a check of the name that the file was made from.
    pub(super) fn clear_same_data(&mut self, checked: &[Taint], label: &Rc<str>) {
        if checked.is_empty() {
            return;
        }
        let values = self.variables.values_mut().map(|variable| &mut variable.value);
        for value in values.chain([&mut self.this]) {
            for taint in &mut value.taints {
                if checked.iter().any(|other| other.has_same_source(taint)) {
                    taint.clear(label);
                }
            }
        }
    }

    /// Removes the data from all variables that has the same source as checked data.
    pub(super) fn remove_same_data(&mut self, checked: &[Taint]) {
        if checked.is_empty() {
            return;
        }
        let is_other = |taint: &Taint| !checked.iter().any(|other| other.has_same_source(taint));
        for variable in self.variables.values_mut() {
            if !variable.value.all_taints().iter().all(is_other) {
                variable.value.forget_parts();
                variable.value.taints.retain(is_other);
            }
        }
    }

    /// Removes the taint of a variable or an attribute whose value was checked.
    pub(super) fn trust(&mut self, place: &Node) {
        if let Expr::Name(name) = &place.expr {
            if let Some(variable) = self.variables.get_mut(name) {
                variable.value = std::mem::take(&mut variable.value).into_trusted();
            }
        } else {
            self.trusted.extend(attribute_path(place));
        }
    }

    /// Returns true if a node is an attribute whose value was checked.
    pub(super) fn is_trusted(&self, node: &Node) -> bool {
        let is_known = |path: String| self.trusted.contains(&path);
        !self.trusted.is_empty() && attribute_path(node).is_some_and(is_known)
    }

    /// Ends the trust in the attributes of a place that gets another value.
    pub(super) fn distrust(&mut self, place: &Node) {
        if self.trusted.is_empty() {
            return;
        }
        let path = match &place.expr {
            Expr::Name(name) => Some(name.clone()),
            _ => attribute_path(place),
        };
        let Some(path) = path else { return };
        let is_part = |own: &str| own.strip_prefix(path.as_str()).is_some_and(starts_part);
        self.trusted.retain(|own| !is_part(own));
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
    let trusted = a.trusted.intersection(&b.trusted).cloned().collect();
    let ended_rules = a.ended_rules.intersection(&b.ended_rules).copied().collect();
    Some(State { variables, this: a.this.join(&b.this), trusted, ended_rules })
}

fn starts_part(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('.')
}

/// Returns the path of an attribute or of an element with a constant name, such as
/// `req.query.sort`; `None` for all other code.
fn attribute_path(node: &Node) -> Option<String> {
    let (object, name) = match &node.expr {
        Expr::Field(object, name) => (object, name.as_str()),
        Expr::Index(object, index) => match &index.expr {
            Expr::Constant(Constant::Text(name)) => (object, name.as_str()),
            Expr::Text(parts) => match parts.as_slice() {
                [Node { expr: Expr::Constant(Constant::Text(name)), .. }] => {
                    (object, name.as_str())
                }
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    };
    let owner = match &object.expr {
        Expr::Name(name) => name.clone(),
        Expr::This => "this".to_owned(),
        _ => attribute_path(object)?,
    };
    Some(format!("{owner}.{name}"))
}
