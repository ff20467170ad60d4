//! Conditions: [`FlowInterpreter::refine`] applies the outcome of a condition to the variables that
//! the condition checks.

use std::rc::Rc;

use super::address::FIXED_HOST;
use super::form::{Argument, BinaryOperator as Op, Constant, Expr, Node};
use super::frame::{Frame, State, join_states};
use super::interpreter::FlowInterpreter;

/// The label of sanitizers of paths in the libraries.
const PATH_LABEL: &str = "path";

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
            // The result of a search is a position, such as in `allowed.indexOf(name) === -1`.
            Expr::Binary(operator, search, number)
                if let Some((receiver, sought)) = search_for_position(search)
                    && let Some(found) = outcome_if_found(*operator, number) =>
            {
                if is_path_part(sought) {
                    self.trust_path(receiver, state, frame);
                } else if found == outcome {
                    self.trust_member(receiver, sought, state, frame);
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
                self.trust_member(right, left, state, frame);
            }
            // A check for the parts of a path, such as `..`.
            Expr::Binary(Op::In, left, right) if is_path_part(left) => {
                self.trust_path(right, state, frame);
            }
            Expr::Call { receiver: Some(receiver), name, arguments }
                if let [sought, ..] = &arguments[..]
                    && searches_for_path_part(name, &sought.value) =>
            {
                self.trust_path(receiver, state, frame);
            }
            // A value without content, such as null and an empty text, carries no data.
            Expr::Name(_) | Expr::Field(..) | Expr::Index(..) if !outcome => state.trust(condition),
            Expr::Call { receiver, name, arguments } if outcome => {
                self.refine_call(receiver.as_deref(), name, arguments, state, frame);
            }
            _ => {}
        }
    }

    /// Trusts a value that is in a collection which no data chose.
    fn trust_member(
        &mut self,
        collection: &Node,
        member: &Node,
        state: &mut State,
        frame: &mut Frame,
    ) {
        if self.eval(collection, state, frame).all_taints().is_empty() {
            self.trust_host(member, state, frame);
            state.trust(member);
        }
    }

    /// Trusts the address from which a checked host was read, such as in `new URL(address).host`.
    fn trust_host(&mut self, checked: &Node, state: &mut State, frame: &mut Frame) {
        if is_host(checked) {
            let taints = self.eval(checked, &mut state.clone(), frame).all_taints();
            state.clear_same_data(&taints, &Rc::from(FIXED_HOST));
        }
    }

    /// Trusts a value that code searched for the parts of a path, and as a path the data that the
    /// value was computed from, such as by `path.relative(root, file)`.
    fn trust_path(&mut self, checked: &Node, state: &mut State, frame: &mut Frame) {
        let taints = self.eval(checked, &mut state.clone(), frame).all_taints();
        state.clear_same_data(&taints, &Rc::from(PATH_LABEL));
        state.trust(checked);
    }

    fn refine_equal(&mut self, checked: &Node, other: &Node, state: &mut State, frame: &mut Frame) {
        let other = self.eval(other, state, frame);
        if !matches!(other.only_constant(), Some(Constant::Text(_) | Constant::Null)) {
            return;
        }
        self.trust_host(checked, state, frame);
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
        if let Some((collection, member)) = membership(receiver, name, arguments) {
            self.trust_member(collection, member, state, frame);
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
                match name {
                    "startsWith" | "start_with?" => self.trust_path(checked, state, frame),
                    _ => state.trust(checked),
                }
            }
        }
    }
}

/// Returns the collection and the value of a call that asks if the collection has the value.
fn membership<'n>(
    receiver: Option<&'n Node>,
    name: &str,
    arguments: &'n [Argument],
) -> Option<(&'n Node, &'n Node)> {
    match (receiver, name, arguments) {
        (
            Some(collection),
            "includes" | "has" | "include?" | "member?" | "key?" | "has_key?" | "hasOwnProperty",
            [member],
        ) => Some((collection, &member.value)),
        (Some(Node { expr: Expr::Name(class), .. }), "hasOwn", [collection, member])
            if class == "Object" =>
        {
            Some((&collection.value, &member.value))
        }
        (Some(Node { expr: Expr::Field(_, method), .. }), "call", [collection, member])
            if method == "hasOwnProperty" =>
        {
            Some((&collection.value, &member.value))
        }
        _ => None,
    }
}

/// Returns the searched value and the sought value of a call that returns a position.
fn search_for_position(call: &Node) -> Option<(&Node, &Node)> {
    let Expr::Call { receiver: Some(receiver), name, arguments } = &call.expr else { return None };
    match (name.as_str(), &arguments[..]) {
        ("indexOf" | "IndexOf" | "find" | "index", [sought]) => Some((receiver, &sought.value)),
        _ => None,
    }
}

/// Returns the outcome of a comparison of a position with a number that means that the search found
/// its value; `None` if neither outcome means that.
fn outcome_if_found(operator: Op, number: &Node) -> Option<bool> {
    let Expr::Constant(Constant::Integer(number)) = &number.expr else { return None };
    match (operator, number) {
        (Op::NotEqual | Op::Greater, -1) | (Op::GreaterOrEqual, 0) => Some(true),
        (Op::Equal | Op::LessOrEqual, -1) | (Op::Less, 0) => Some(false),
        _ => None,
    }
}

/// Returns true for a call that searches text for the parts of a path. Text that begins with `/`
/// may contain `..` all the same.
fn searches_for_path_part(name: &str, sought: &Node) -> bool {
    match name {
        "contains" | "Contains" | "includes" | "IndexOf" | "indexOf" => is_path_part(sought),
        "StartsWith" | "startsWith" | "startswith" | "start_with?" => is_parent_folder(sought),
        _ => false,
    }
}

/// Returns true for the name of a function that checks a value, such as `is_valid_language` and
/// `checkSignature`.
fn is_named_as_check(name: &str) -> bool {
    let folded: String = name.chars().filter(|c| *c != '_').collect::<String>().to_lowercase();
    let states = ["isvalid", "isallowed", "issafe", "ispermitted", "istrusted", "iswhitelisted"];
    let asks = ["check", "verify", "validate"];
    let checked = ["signature", "hmac", "path", "filename", "url", "redirect"];
    states.iter().any(|start| folded.starts_with(start))
        || (asks.iter().any(|start| folded.starts_with(start))
            && checked.iter().any(|part| folded.contains(part)))
}

/// Returns true for the host of an address, by its name.
fn is_host(node: &Node) -> bool {
    let name = match &node.expr {
        Expr::Name(name) | Expr::Field(_, name) | Expr::Call { name, .. } => name.to_lowercase(),
        _ => return false,
    };
    ["host", "hostname", "netloc", "origin", "domain"].iter().any(|end| name.ends_with(end))
}

/// Returns true for a constant text with which code checks paths.
fn is_path_part(node: &Node) -> bool {
    is_parent_folder(node) || constant_text(node) == Some("/")
}

fn is_parent_folder(node: &Node) -> bool {
    matches!(constant_text(node), Some(".." | "../" | "/.." | "..\\"))
}

fn constant_text(node: &Node) -> Option<&str> {
    match &node.expr {
        Expr::Constant(Constant::Text(text)) => Some(text),
        Expr::Text(parts) => match parts.as_slice() {
            [only] => constant_text(only),
            _ => None,
        },
        _ => None,
    }
}
