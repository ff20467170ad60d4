//! The variables that a loop assigns: [`assigned`].

use super::form::{Expr, LoopForm, Node, Step};

/// Returns the names of the variables that a loop assigns.
pub(super) fn assigned(form: &LoopForm) -> Vec<String> {
    let mut names = Vec::new();
    in_steps(&form.body, &mut names);
    in_steps(&form.update, &mut names);
    if let Some(condition) = &form.condition {
        in_node(condition, &mut names);
    }
    names
}

fn in_steps(steps: &[Step], names: &mut Vec<String>) {
    for step in steps {
        in_step(step, names);
    }
}

fn in_step(step: &Step, names: &mut Vec<String>) {
    match step {
        Step::Declare { value, .. } => {
            if let Some(value) = value {
                in_node(value, names);
            }
        }
        Step::Evaluate(node) => in_node(node, names),
        Step::Branch { condition, then, otherwise } => {
            in_node(condition, names);
            in_steps(then, names);
            in_steps(otherwise, names);
        }
        Step::Loop(form) => {
            in_steps(&form.start, names);
            names.extend(assigned(form));
        }
        Step::Switch { cases, .. } => cases.iter().for_each(|case| in_steps(&case.body, names)),
        Step::Try { body, handlers, finally } => {
            in_steps(body, names);
            handlers.iter().for_each(|handler| in_steps(handler, names));
            in_steps(finally, names);
        }
        Step::Block(steps) => in_steps(steps, names),
        Step::Return(_) | Step::Break | Step::Continue | Step::Throw(_) => {}
    }
}

fn in_node(node: &Node, names: &mut Vec<String>) {
    match &node.expr {
        Expr::Assign(target, value) | Expr::Extend(target, value) => {
            match &target.expr {
                Expr::Name(name) => names.push(name.clone()),
                Expr::List(targets) => {
                    names.extend(targets.iter().filter_map(|target| match &target.expr {
                        Expr::Name(name) => Some(name.clone()),
                        _ => None,
                    }));
                }
                _ => {}
            }
            in_node(value, names);
        }
        Expr::Binary(_, left, right) => {
            in_node(left, names);
            in_node(right, names);
        }
        Expr::Call { arguments, .. } | Expr::New { arguments, .. } => {
            arguments.iter().for_each(|argument| in_node(&argument.value, names));
        }
        Expr::Lambda(_, body) => in_steps(body, names),
        Expr::Not(inner) | Expr::Cast(_, inner) => in_node(inner, names),
        Expr::Block(steps, value) => {
            in_steps(steps, names);
            value.iter().for_each(|value| in_node(value, names));
        }
        Expr::Select(_, arms) => arms.iter().for_each(|arm| in_node(&arm.value, names)),
        Expr::Opaque(parts) | Expr::Mixed(parts) => {
            parts.iter().for_each(|part| in_node(part, names));
        }
        _ => {}
    }
}
