//! Lowering of the statements of Rust.

use crate::flow::form::{Case, Expr, LoopForm, Node, Step};
use crate::flow::lowering::{MAX_LOWERING_DEPTH, named_children, node, text_of};
use crate::syntax::SyntaxNode;

use super::patterns::is_variable;
use super::{RustLowering, inner_type};

impl RustLowering<'_, '_> {
    /// Lowers code whose value a function returns.
    pub(super) fn returning(&self, code: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
        if level > MAX_LOWERING_DEPTH {
            return vec![Step::Evaluate(node(code, Expr::Unread))];
        }
        match &*code.kind() {
            "block" => {
                let (mut steps, last) = self.parts(code, level);
                steps.extend(last.iter().flat_map(|own| self.returning(own, level + 1)));
                steps
            }
            "unsafe_block" | "async_block" | "else_clause" => {
                let inner = named_children(code);
                inner.last().map(|own| self.returning(own, level + 1)).unwrap_or_default()
            }
            "if_expression" => self.branch(code, level, &Self::returning),
            "match_expression" => self.switch(code, level, &Self::returning),
            "return_expression" | "loop_expression" | "while_expression" | "for_expression" => {
                self.step(code, level)
            }
            _ => vec![Step::Return(Some(self.expr(code, level + 1)))],
        }
    }

    /// Lowers the statements of a block, and returns its last expression, which is its value.
    pub(super) fn parts<'t>(
        &self,
        block: &SyntaxNode<'t>,
        level: usize,
    ) -> (Vec<Step>, Option<SyntaxNode<'t>>) {
        let mut children = named_children(block);
        let is_value = |own: &SyntaxNode<'_>| {
            !own.kind().ends_with("_statement")
                && !own.kind().ends_with("_item")
                && !own.kind().ends_with("_declaration")
                && &*own.kind() != "label"
        };
        // `if` and `match` at the end are statements of the grammar without a `;`.
        let last = match children.last() {
            Some(own) if is_value(own) => children.pop(),
            Some(own) if &*own.kind() == "expression_statement" && !own.text().ends_with(';') => {
                children.pop().and_then(|own| named_children(&own).into_iter().next())
            }
            _ => None,
        };
        let steps = children.iter().flat_map(|own| self.step(own, level + 1)).collect();
        (steps, last)
    }

    /// Lowers code whose value is not used.
    pub(super) fn steps(&self, code: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
        match &*code.kind() {
            "block" => {
                let (mut steps, last) = self.parts(code, level);
                steps.extend(last.iter().flat_map(|own| self.step(own, level + 1)));
                steps
            }
            _ => self.step(code, level),
        }
    }

    fn step(&self, step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
        if level > MAX_LOWERING_DEPTH {
            return vec![Step::Evaluate(node(step, Expr::Unread))];
        }
        let children = || named_children(step);
        match &*step.kind() {
            "let_declaration" => self.variable(step, level),
            "expression_statement" | "else_clause" => {
                let inner = children();
                inner.first().map(|own| self.steps(own, level + 1)).unwrap_or_default()
            }
            "unsafe_block" | "async_block" => {
                let inner = children();
                inner.last().map(|own| self.steps(own, level + 1)).unwrap_or_default()
            }
            "block" => vec![Step::Block(self.steps(step, level + 1))],
            "if_expression" => self.branch(step, level, &Self::steps),
            "match_expression" => self.switch(step, level, &Self::steps),
            "while_expression" | "loop_expression" => vec![self.while_loop(step, level)],
            "for_expression" => self.for_loop(step, level).into_iter().collect(),
            "return_expression" => {
                let inner = children();
                vec![Step::Return(inner.first().map(|own| self.expr(own, level + 1)))]
            }
            "break_expression" => vec![Step::Break],
            "continue_expression" => vec![Step::Continue],
            "empty_statement" | "attribute_item" | "label" => Vec::new(),
            kind if kind.ends_with("_item") || kind.ends_with("_declaration") => Vec::new(),
            _ => vec![Step::Evaluate(self.expr(step, level + 1))],
        }
    }

    fn variable(&self, step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
        let Some(pattern) = step.field("pattern") else { return Vec::new() };
        let type_text = step.field("type").map(|own| inner_type(&text_of(&own)));
        let Some(value) = step.field("value") else {
            let type_name = type_text.as_deref().map(super::simple_type);
            return vec![Step::Declare { name: text_of(&pattern), type_name, value: None }];
        };
        let mut steps = Vec::new();
        if let Some(other) = step.field("alternative") {
            let condition = node(&other, Expr::Opaque(Vec::new()));
            let then = self.steps(&other, level + 1);
            steps.push(Step::Branch { condition, then, otherwise: Vec::new() });
        }
        let value = self.expr(&value, level + 1);
        steps.extend(self.bind(&pattern, value, type_text.as_deref(), level + 1));
        steps
    }

    fn branch(
        &self,
        step: &SyntaxNode<'_>,
        level: usize,
        body: &dyn Fn(&Self, &SyntaxNode<'_>, usize) -> Vec<Step>,
    ) -> Vec<Step> {
        let Some(condition) = step.field("condition") else { return Vec::new() };
        let (condition, mut then) = self.condition(&condition, level + 1);
        let consequence = step.field("consequence");
        then.extend(consequence.map(|own| body(self, &own, level + 1)).unwrap_or_default());
        let otherwise = step.field("alternative").and_then(|own| {
            let inner = named_children(&own).into_iter().next()?;
            Some(body(self, &inner, level + 1))
        });
        vec![Step::Branch { condition, then, otherwise: otherwise.unwrap_or_default() }]
    }

    /// Lowers a condition, with the steps that bind the variables of its patterns.
    pub(super) fn condition(&self, condition: &SyntaxNode<'_>, level: usize) -> (Node, Vec<Step>) {
        let children = named_children(condition);
        match &*condition.kind() {
            "let_condition" => {
                let steps = match (condition.field("pattern"), condition.field("value")) {
                    (Some(pattern), Some(value)) => {
                        let value = self.expr(&value, level + 1);
                        self.bind(&pattern, value, None, level + 1)
                    }
                    _ => Vec::new(),
                };
                (node(condition, Expr::Opaque(Vec::new())), steps)
            }
            "let_chain" => {
                let mut parts = Vec::new();
                let mut steps = Vec::new();
                for child in &children {
                    let (part, own) = self.condition(child, level + 1);
                    parts.push(part);
                    steps.extend(own);
                }
                (node(condition, Expr::Opaque(parts)), steps)
            }
            _ => (self.expr(condition, level + 1), Vec::new()),
        }
    }

    fn switch(
        &self,
        step: &SyntaxNode<'_>,
        level: usize,
        body: &dyn Fn(&Self, &SyntaxNode<'_>, usize) -> Vec<Step>,
    ) -> Vec<Step> {
        let Some((start, name)) = self.subject(step, level) else { return Vec::new() };
        let cases = arms_of(step).into_iter().filter_map(|arm| {
            let (labels, mut steps) = self.arm(&arm, &name, level)?;
            let value = arm.field("value")?;
            steps.extend(body(self, &value, level + 1));
            Some(Case { labels, body: steps })
        });
        let cases = cases.collect();
        let subject = node(step, Expr::Name(name));
        vec![start, Step::Switch { subject, cases, falls_through: false }]
    }

    /// Stores the subject of `match` in a variable, and returns the name of the variable.
    pub(super) fn subject(&self, step: &SyntaxNode<'_>, level: usize) -> Option<(Step, String)> {
        let value = step.field("value")?;
        // A plain name stays one, so that its value is known in each arm.
        let name = match &*value.kind() {
            "identifier" => format!("<match on {}>", text_of(&value)),
            _ => format!("<match at {}>", step.range().start),
        };
        let value = Some(self.expr(&value, level + 1));
        Some((Step::Declare { name: name.clone(), type_name: None, value }, name))
    }

    /// Lowers the pattern of an arm: its constants, and the steps that bind its variables.
    pub(super) fn arm(
        &self,
        arm: &SyntaxNode<'_>,
        subject: &str,
        level: usize,
    ) -> Option<(Vec<Node>, Vec<Step>)> {
        let pattern = arm.field("pattern")?;
        let inner = named_children(&pattern).into_iter().next();
        let has_guard = pattern.field("condition").is_some();
        let Some(inner) = inner else { return Some((Vec::new(), Vec::new())) };
        let mut constants = Vec::new();
        let is_constant = self.collect_constants(&inner, &mut constants, level);
        let is_default = &*inner.kind() == "identifier" && is_variable(&inner.text()) && !has_guard;
        let labels = match (is_constant && !has_guard, is_default) {
            (true, _) => constants,
            (false, true) => Vec::new(),
            // The pattern may or may not match.
            (false, false) => vec![node(&pattern, Expr::Opaque(Vec::new()))],
        };
        let steps = match is_constant {
            true => Vec::new(),
            false => {
                let value = node(&inner, Expr::Name(subject.to_owned()));
                self.bind(&inner, value, None, level + 1)
            }
        };
        Some((labels, steps))
    }

    /// Collects the constants of a pattern; returns false if the pattern has other parts.
    fn collect_constants(
        &self,
        pattern: &SyntaxNode<'_>,
        into: &mut Vec<Node>,
        level: usize,
    ) -> bool {
        match &*pattern.kind() {
            kind if kind.ends_with("_literal") => {
                into.push(self.expr(pattern, level + 1));
                true
            }
            "or_pattern" if level < MAX_LOWERING_DEPTH => {
                let parts = named_children(pattern);
                parts.iter().all(|part| self.collect_constants(part, into, level + 1))
            }
            _ => false,
        }
    }

    fn while_loop(&self, step: &SyntaxNode<'_>, level: usize) -> Step {
        let (condition, mut body) = match step.field("condition") {
            Some(condition) => {
                let (condition, steps) = self.condition(&condition, level + 1);
                (Some(condition), steps)
            }
            None => (None, Vec::new()),
        };
        body.extend(step.field("body").map(|own| self.steps(&own, level + 1)).unwrap_or_default());
        Step::Loop(Box::new(LoopForm {
            start: Vec::new(),
            element: None,
            condition,
            update: Vec::new(),
            body,
            runs_first: false,
        }))
    }

    fn for_loop(&self, step: &SyntaxNode<'_>, level: usize) -> Option<Step> {
        let (pattern, values) = (step.field("pattern")?, step.field("value")?);
        let name = match &*pattern.kind() {
            "identifier" => text_of(&pattern),
            _ => format!("<element at {}>", pattern.range().start),
        };
        let element = node(&pattern, Expr::Name(name.clone()));
        let mut body = match &*pattern.kind() {
            "identifier" => Vec::new(),
            _ => self.bind(&pattern, node(&pattern, Expr::Name(name)), None, level + 1),
        };
        body.extend(step.field("body").map(|own| self.steps(&own, level + 1)).unwrap_or_default());
        Some(Step::Loop(Box::new(LoopForm {
            start: Vec::new(),
            element: Some((element, None, self.expr(&values, level + 1))),
            condition: None,
            update: Vec::new(),
            body,
            runs_first: false,
        })))
    }
}

/// Returns the arms of `match`.
pub(super) fn arms_of<'t>(step: &SyntaxNode<'t>) -> Vec<SyntaxNode<'t>> {
    let body = step.field("body").map(|body| named_children(&body)).unwrap_or_default();
    body.into_iter().filter(|own| &*own.kind() == "match_arm").collect()
}
