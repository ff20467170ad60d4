//! Guards: conditions on data before an exit, such as `if name in reserved: raise`, and calls of
//! functions that are named as checks.
//!
//! No rule knows if a guard makes data safe, so guards count in one place alone: where a change
//! removes a guard, the flows that it guarded are compared before and after the change
//! (`uncovered_flows`).

use super::form::{BinaryOperator as Op, Constant, Expr, Node};
use super::frame::{Frame, State};
use super::interpreter::FlowInterpreter;
use super::value::Taint;

/// The functions that ask if there is a value at all, which is no check of its text.
const PRESENCE: [&str; 14] = [
    "isset", "empty", "is_null", "isNull", "isEmpty", "isBlank", "is_empty", "isNullOrEmpty",
    "IsNullOrEmpty", "blank?", "nil?", "present?", "len", "length",
];

/// The starts of the names of functions that check their arguments.
const CHECKS: [&str; 7] = ["check", "validate", "verify", "ensure", "reject", "forbid", "sanitize"];

impl FlowInterpreter<'_> {
    /// Removes the data that a condition checks from the state after an arm that was left.
    pub(super) fn clear_guarded(&mut self, condition: &Node, state: &mut State, frame: &mut Frame) {
        for place in guarded_places(condition) {
            let value = self.eval(place, &mut state.clone(), frame);
            state.remove_same_data(&value.all_taints());
            state.trust(place);
        }
    }

    /// Removes the data of the arguments of a call that is named as a check.
    pub(super) fn clear_checked(&self, name: &str, taints: &[Taint], state: &mut State) {
        let folded = name.trim_start_matches('_').to_lowercase();
        if self.counts_guards && CHECKS.iter().any(|start| folded.starts_with(start)) {
            state.remove_same_data(taints);
        }
    }
}

/// Returns the places that a condition checks. A question for the presence of a value checks
/// nothing.
fn guarded_places(condition: &Node) -> Vec<&Node> {
    let mut places = Vec::new();
    match &condition.expr {
        Expr::Not(inner) => places.extend(guarded_places(inner)),
        Expr::Binary(Op::And | Op::Or, left, right) => {
            places.extend(guarded_places(left));
            places.extend(guarded_places(right));
        }
        // The result of a search, such as `name.find("..") >= 0`, is no value that is present.
        Expr::Binary(_, left, right) if is_nothing(left) || is_nothing(right) => {
            let other = if is_nothing(left) { right } else { left };
            if matches!(other.expr, Expr::Call { .. }) {
                places.extend(guarded_places(other));
            }
        }
        Expr::Binary(_, left, right) => {
            collect_places(left, &mut places);
            collect_places(right, &mut places);
        }
        Expr::Call { name, .. } if PRESENCE.contains(&name.as_str()) => {}
        Expr::Call { .. } => collect_places(condition, &mut places),
        Expr::Opaque(parts) | Expr::Mixed(parts) => {
            places.extend(parts.iter().flat_map(guarded_places));
        }
        _ => {}
    }
    places
}

/// Returns true for null and for a constant without text.
fn is_nothing(node: &Node) -> bool {
    match &node.expr {
        Expr::Constant(Constant::Text(text)) => text.is_empty(),
        Expr::Constant(Constant::Null | Constant::Boolean(_) | Constant::Integer(_)) => true,
        Expr::Text(parts) => parts.is_empty(),
        _ => false,
    }
}

/// Collects the variables and attributes of an expression.
fn collect_places<'n>(node: &'n Node, places: &mut Vec<&'n Node>) {
    match &node.expr {
        Expr::Name(_) | Expr::Field(..) => places.push(node),
        Expr::Index(object, index) => {
            places.push(node);
            collect_places(object, places);
            collect_places(index, places);
        }
        Expr::Call { receiver, arguments, .. } => {
            receiver.iter().for_each(|own| collect_places(own, places));
            arguments.iter().for_each(|own| collect_places(&own.value, places));
        }
        Expr::New { arguments, .. } => {
            arguments.iter().for_each(|own| collect_places(&own.value, places));
        }
        Expr::Binary(_, left, right) => {
            collect_places(left, places);
            collect_places(right, places);
        }
        Expr::Not(inner) | Expr::Cast(_, inner) => collect_places(inner, places),
        Expr::List(parts) | Expr::Text(parts) | Expr::Opaque(parts) | Expr::Mixed(parts) => {
            parts.iter().for_each(|part| collect_places(part, places));
        }
        _ => {}
    }
}
