//! Conditions: [`FlowInterpreter::refine`] applies the outcome of a condition to the variables that
//! the condition checks.

use super::form::{Argument, BinaryOperator as Op, Constant, Expr, Node};
use super::frame::{Frame, State, join_states};
use super::interpreter::FlowInterpreter;

impl FlowInterpreter<'_> {
    /// Applies the outcome of a condition to the variables that it checks.
    pub(super) fn refine(
        &mut self,
        condition: &Node,
        outcome: bool,
        state: &mut State,
        frame: &mut Frame,
    ) {
        match &condition.expr {
            Expr::Not(inner) => self.refine(inner, !outcome, state, frame),
            Expr::Binary(Op::And, left, right) if outcome => {
                self.refine(left, true, state, frame);
                self.refine(right, true, state, frame);
            }
            Expr::Binary(Op::Or, left, right) if !outcome => {
                self.refine(left, false, state, frame);
                self.refine(right, false, state, frame);
            }
            // Either side may decide, so that a value is checked if both sides check it.
            Expr::Binary(Op::And, left, right) | Expr::Binary(Op::Or, left, right) => {
                let mut first = state.clone();
                self.refine(left, outcome, &mut first, frame);
                let mut second = state.clone();
                self.refine(left, !outcome, &mut second, frame);
                self.refine(right, outcome, &mut second, frame);
                if let Some(joined) = join_states(Some(first), Some(second)) {
                    *state = joined;
                }
            }
            Expr::Binary(Op::Equal, left, right) if outcome => {
                self.refine_equal(left, right, state, frame);
                self.refine_equal(right, left, state, frame);
            }
            Expr::Binary(Op::NotEqual, left, right) if !outcome => {
                self.refine_equal(left, right, state, frame);
                self.refine_equal(right, left, state, frame);
            }
            Expr::Binary(Op::In, left, right) if outcome => {
                let allowed = self.eval(right, state, frame);
                if allowed.all_taints().is_empty() {
                    state.trust(left);
                }
            }
            // A check for the parts of a path, such as `..`.
            Expr::Binary(Op::In, left, right) if is_path_part(left) => state.trust(right),
            Expr::Call { receiver: Some(receiver), name, arguments }
                if is_search(name)
                    && arguments.first().is_some_and(|own| is_path_part(&own.value)) =>
            {
                state.trust(receiver);
            }
            Expr::Call { receiver, name, arguments } if outcome => {
                self.refine_call(receiver.as_deref(), name, arguments, state, frame);
            }
            _ => {}
        }
    }

    fn refine_equal(&mut self, checked: &Node, other: &Node, state: &mut State, frame: &mut Frame) {
        let other = self.eval(other, state, frame);
        if !matches!(other.only_constant(), Some(Constant::Text(_))) {
            return;
        }
        match &checked.expr {
            Expr::Name(name) => state.set_variable(name, other),
            _ => state.trust(checked),
        }
    }

    fn refine_call(
        &mut self,
        receiver: Option<&Node>,
        name: &str,
        arguments: &[Argument],
        state: &mut State,
        frame: &mut Frame,
    ) {
        if let (Some(receiver), "equals", [argument]) = (receiver, name, arguments) {
            self.refine_equal(receiver, &argument.value, state, frame);
            self.refine_equal(&argument.value, receiver, state, frame);
            return;
        }
        // Membership in a collection that no data chose.
        if let (Some(receiver), [argument]) = (receiver, arguments)
            && matches!(name, "includes" | "has" | "include?" | "member?" | "key?" | "has_key?")
            && self.eval(receiver, state, frame).all_taints().is_empty()
        {
            state.trust(&argument.value);
        }
        if is_named_as_check(name) {
            arguments.iter().for_each(|argument| state.trust(&argument.value));
        }
        let call = self.evaluate_call(receiver, name, arguments, state, frame);
        let facts = call.facts();
        let patterns = self.rules.validators().named(&call.name);
        for (pattern, ()) in patterns.filter(|(pattern, ())| pattern.matches(&facts)) {
            let of_arguments =
                pattern.marked(&call.arguments).into_iter().map(|at| &arguments[at].value);
            let of_receiver = receiver.filter(|_| pattern.marks_receiver);
            for checked in of_arguments.chain(of_receiver) {
                state.trust(checked);
            }
        }
    }
}

/// Returns true for the methods that search text for a part.
fn is_search(name: &str) -> bool {
    matches!(name, "contains" | "Contains" | "includes" | "IndexOf" | "indexOf" | "StartsWith")
}

/// Returns true for the name of a function that checks a value, such as `is_valid_language`.
fn is_named_as_check(name: &str) -> bool {
    let folded: String = name.chars().filter(|c| *c != '_').collect::<String>().to_lowercase();
    ["isvalid", "isallowed", "issafe", "ispermitted", "istrusted", "iswhitelisted"]
        .iter()
        .any(|start| folded.starts_with(start))
}

/// Returns true for a constant text with which code checks paths.
fn is_path_part(node: &Node) -> bool {
    let is_part = |text: &str| matches!(text, ".." | "../" | "/.." | "/" | "..\\");
    match &node.expr {
        Expr::Constant(Constant::Text(text)) => is_part(text),
        Expr::Text(parts) => matches!(parts.as_slice(), [only] if is_path_part(only)),
        _ => false,
    }
}
