//! Assignments: [`FlowInterpreter::assign`] writes a value to a place, and
//! [`FlowInterpreter::update`] changes the value of a place.

use super::form::{Expr, Node};
use super::frame::{Frame, State, Variable};
use super::interpreter::FlowInterpreter;
use super::value::{FlowValue, ValueParts};
use crate::language::Language;

impl FlowInterpreter<'_> {
    /// Writes a value to a variable, a field or an element.
    pub(super) fn assign(
        &mut self,
        target: &Node,
        value: FlowValue,
        state: &mut State,
        frame: &mut Frame,
    ) {
        state.distrust(target);
        match &target.expr {
            Expr::Name(name) => self.assign_name(name, value, state, frame),
            Expr::List(targets) => self.unpack(targets, &value, state, frame),
            Expr::Index(collection, index) => {
                let index = self.eval(index, state, frame);
                self.update(collection, state, &mut |own| own.set_element(&index, &value));
            }
            Expr::Field(object, name) => {
                self.update(object, state, &mut |own| own.set_field(name, &value));
            }
            _ => {}
        }
    }

    fn assign_name(&mut self, name: &str, value: FlowValue, state: &mut State, frame: &Frame) {
        if let Some(variable) = state.variables.get_mut(name) {
            let mut value = if variable.is_plain { value.into_number() } else { value };
            if value.types.is_empty() {
                value.types = std::mem::take(&mut variable.value.types);
            }
            variable.value = value;
            return;
        }
        let is_field =
            !frame.class.is_empty() && self.class_field(&frame.class, name, frame.file).is_some();
        if is_field {
            state.this.set_field(name, &value);
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
                // A function of Go whose code is not known: its first result.
                ValueParts::Unknown if at == 0 && self.program.language == Language::Go => {
                    value.clone()
                }
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
}
