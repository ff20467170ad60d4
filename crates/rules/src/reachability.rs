//! Reachable code: [`walk`] visits a syntax tree and determines for each node whether a run reaches
//! it, and whether a failure there is swallowed.

use std::ops::Range;

use assay_base::text::first_chars;

use crate::conditions::{Truth, of_cfg};
use crate::language::Language;
use crate::syntax::{Syntax, SyntaxNode};

/// The maximum nesting of code that is analysed.
const MAX_DEPTH: usize = 400;

/// The reach of code when its file is loaded or its function is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// The code is reached.
    Reached,
    /// The code is reached under a condition that cannot be decided without running it.
    Conditional(String),
    /// No run reaches the code, for this reason.
    Never(String),
}

/// The kind of the innermost scope around a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    Module,
    Class,
    Function,
}

/// The position of a node in the tree, and the control flow to it.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    pub(crate) reach: Reach,
    /// The statement that swallows a failure; `None` if none does.
    pub(crate) swallowed_by: Option<&'static str>,
    pub(crate) scope: ScopeKind,
    /// The node id of the function or type around the node; 0 for the file.
    pub(crate) scope_id: usize,
    pub(crate) scope_range: Range<usize>,
    /// The `if` around the node, and true if the node is in its alternative.
    pub(crate) branch: Option<(usize, bool)>,
    /// The attributes of Rust before the node.
    pub(crate) attributes: Vec<String>,
    /// True if the node is part of an assertion.
    pub(crate) is_in_assertion: bool,
}

impl Flow {
    fn start(root: &SyntaxNode<'_>) -> Flow {
        Flow {
            reach: Reach::Reached,
            swallowed_by: None,
            scope: ScopeKind::Module,
            scope_id: 0,
            scope_range: root.range(),
            branch: None,
            attributes: Vec::new(),
            is_in_assertion: false,
        }
    }

    fn never(&self, why: String) -> Flow {
        let reach = match &self.reach {
            never @ Reach::Never(_) => never.clone(),
            Reach::Reached | Reach::Conditional(_) => Reach::Never(why),
        };
        Flow { reach, ..self.clone() }
    }

    fn conditional(&self, why: String) -> Flow {
        let reach = match &self.reach {
            Reach::Reached => Reach::Conditional(why),
            other => other.clone(),
        };
        Flow { reach, ..self.clone() }
    }

    fn under(&self, truth: Truth, condition: &str) -> Flow {
        let condition = assay_base::text::single_spaced(condition);
        match truth {
            Truth::Always | Truth::Environment => self.clone(),
            Truth::Never => self.never(format!("`{condition}` never holds")),
            Truth::Unknown => self.conditional(format!("only if `{condition}`")),
        }
    }
}

/// Visits all nodes of a file, parents first. `asserts` returns true for assertions.
pub(crate) fn walk<'s>(
    syntax: &'s Syntax,
    asserts: &dyn Fn(&SyntaxNode<'s>) -> bool,
    see: &mut dyn FnMut(&SyntaxNode<'s>, &Flow),
) {
    let root = syntax.root();
    let flow = Flow::start(&root);
    let mut walk = Walk { language: syntax.language(), asserts, see };
    walk.node(&root, &flow, 0);
}

struct Walk<'w, 's> {
    language: Language,
    asserts: &'w dyn Fn(&SyntaxNode<'s>) -> bool,
    see: &'w mut dyn FnMut(&SyntaxNode<'s>, &Flow),
}

impl<'s> Walk<'_, 's> {
    fn node(&mut self, node: &SyntaxNode<'s>, flow: &Flow, level: usize) {
        (self.see)(node, flow);
        if level >= MAX_DEPTH {
            return;
        }
        let kind = node.kind().into_owned();
        let mut inside = Flow { attributes: Vec::new(), ..enter(node, &kind, flow) };
        inside.is_in_assertion |= (self.asserts)(node);
        if is_if(&kind) {
            self.branches(node, &kind, &inside, level);
        } else if is_try(&kind) {
            self.attempt(node, &inside, level);
        } else if is_block(&kind) {
            self.block(node, &inside, level);
        } else {
            let inside = loop_or_match(node, &kind, &inside);
            for child in node.children() {
                self.node(&child, &inside, level + 1);
            }
        }
    }

    fn branches(&mut self, node: &SyntaxNode<'s>, kind: &str, flow: &Flow, level: usize) {
        let Some(condition) = condition_of(node) else {
            for child in node.children() {
                self.node(&child, flow, level + 1);
            }
            return;
        };
        let text = condition.text().into_owned();
        let mut truth = Truth::of_expression(&condition);
        if kind.starts_with("unless") || kind.starts_with("until") {
            truth = negate(truth);
        }
        if kind.starts_with("preproc") && truth == Truth::Unknown {
            truth = Truth::Environment;
        }
        let alternative = node.field("alternative").map(|node| node.node_id());
        let branch = |is_alternative| flow.branch.or(Some((node.node_id(), is_alternative)));
        for child in node.children() {
            let is_alternative = Some(child.node_id()) == alternative
                || matches!(
                    &*child.kind(),
                    "else_clause"
                        | "elif_clause"
                        | "else"
                        | "elsif"
                        | "preproc_else"
                        | "preproc_elif"
                );
            let own = match (child.node_id() == condition.node_id(), is_alternative) {
                (true, _) => flow.clone(),
                (false, true) => {
                    let own = flow.under(negate(truth), &format!("not {text}"));
                    Flow { branch: branch(true), ..own }
                }
                (false, false) => Flow { branch: branch(false), ..flow.under(truth, &text) },
            };
            self.node(&child, &own, level + 1);
        }
    }

    fn attempt(&mut self, node: &SyntaxNode<'s>, flow: &Flow, level: usize) {
        let swallows = node.children().any(|child| swallows(&child));
        for child in node.children() {
            let kind = child.kind().into_owned();
            let own = match kind.as_str() {
                "except_clause" | "catch_clause" | "rescue" | "except_group_clause" => {
                    flow.conditional("only if something fails before".to_owned())
                }
                "finally_clause" | "ensure" | "else_clause" | "else" => flow.clone(),
                _ if swallows => {
                    Flow { swallowed_by: Some("a handler that swallows"), ..flow.clone() }
                }
                _ => flow.clone(),
            };
            self.node(&child, &own, level + 1);
        }
    }

    fn block(&mut self, node: &SyntaxNode<'s>, flow: &Flow, level: usize) {
        let mut flow = flow.clone();
        // `#![cfg(…)]` applies to all nodes of its block.
        for inner in node.children().filter(|child| &*child.kind() == "inner_attribute_item") {
            flow = under_attribute(&flow, &inner.text());
        }
        let base = flow.clone();
        let mut ended: Option<String> = None;
        let mut attributes: Vec<String> = Vec::new();
        for child in node.children() {
            let kind = child.kind().into_owned();
            if kind == "labeled_statement" {
                ended = None;
            }
            if kind == "attribute_item" {
                attributes.push(child.text().into_owned());
                continue;
            }
            let mut own = match &ended {
                Some(end) if !self.is_hoisted(&kind) => {
                    base.never(format!("stands behind `{end}`"))
                }
                _ => base.clone(),
            };
            if !kind.contains("comment") {
                for attribute in &attributes {
                    own = under_attribute(&own, attribute);
                }
                own.attributes = std::mem::take(&mut attributes);
            }
            self.node(&child, &own, level + 1);
            if ended.is_none() && ends(&child, 0) {
                let text = child.text();
                let line = text.lines().next().unwrap_or_default();
                ended = Some(first_chars(line.trim(), 60).to_owned());
            }
        }
    }

    /// Returns true if a definition is valid in its whole block, at any position.
    fn is_hoisted(&self, kind: &str) -> bool {
        match self.language {
            Language::Rust => kind.ends_with("_item"),
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                matches!(kind, "function_declaration" | "generator_function_declaration")
            }
            Language::Php => matches!(kind, "function_definition" | "class_declaration"),
            _ => false,
        }
    }
}

fn negate(truth: Truth) -> Truth {
    match truth {
        Truth::Always => Truth::Never,
        Truth::Never => Truth::Always,
        other => other,
    }
}

fn under_attribute(flow: &Flow, attribute: &str) -> Flow {
    let text = attribute.trim().trim_start_matches(['#', '!', '[']).trim_end_matches(']').trim();
    let cfg = text.strip_prefix("cfg").map(str::trim_start);
    match cfg.and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')')) {
        Some(predicate) => flow.under(of_cfg(predicate), &format!("cfg({predicate})")),
        None => flow.clone(),
    }
}

/// Returns the flow inside of a function or a type; unchanged for other nodes.
fn enter(node: &SyntaxNode<'_>, kind: &str, flow: &Flow) -> Flow {
    let is_named_function = matches!(
        kind,
        "function_item"
            | "function_definition"
            | "function_declaration"
            | "method_declaration"
            | "method_definition"
            | "method"
            | "singleton_method"
            | "constructor_declaration"
            | "generator_function_declaration"
    );
    let is_function = is_named_function
        || matches!(
            kind,
            "arrow_function"
                | "function_expression"
                | "generator_function"
                | "lambda"
                | "closure_expression"
                | "func_literal"
                | "anonymous_function"
                | "lambda_expression"
                | "lambda_literal"
                | "do_block"
        );
    let is_class = matches!(
        kind,
        "class_definition"
            | "class_declaration"
            | "class"
            | "class_body"
            | "impl_item"
            | "trait_item"
            | "class_specifier"
            | "interface_declaration"
            | "record_declaration"
    );
    if !is_function && !is_class {
        return flow.clone();
    }
    // A condition around a function applies to the function, not to each of its statements.
    let reach = match &flow.reach {
        never @ Reach::Never(_) => never.clone(),
        Reach::Conditional(_) if is_function => Reach::Reached,
        other => other.clone(),
    };
    Flow {
        reach,
        swallowed_by: flow.swallowed_by.filter(|_| !is_named_function),
        scope: if is_function { ScopeKind::Function } else { ScopeKind::Class },
        scope_id: node.node_id(),
        scope_range: node.range(),
        branch: flow.branch.filter(|_| !is_function),
        ..flow.clone()
    }
}

fn is_if(kind: &str) -> bool {
    matches!(
        kind,
        "if_statement"
            | "elif_clause"
            | "if_expression"
            | "while_statement"
            | "while_expression"
            | "if"
            | "elsif"
            | "unless"
            | "while"
            | "until"
            | "if_modifier"
            | "unless_modifier"
            | "preproc_if"
            | "preproc_elif"
            | "conditional_expression"
            | "ternary_expression"
    )
}

fn is_try(kind: &str) -> bool {
    matches!(kind, "try_statement" | "begin" | "try_with_resources_statement")
}

fn is_block(kind: &str) -> bool {
    matches!(
        kind,
        "module"
            | "block"
            | "statement_block"
            | "compound_statement"
            | "program"
            | "source_file"
            | "body_statement"
            | "declaration_list"
            | "class_body"
            | "then"
            | "statement_list"
            | "translation_unit"
            | "constructor_body"
            | "do_block"
    )
}

fn condition_of<'s>(node: &SyntaxNode<'s>) -> Option<SyntaxNode<'s>> {
    node.field("condition").or_else(|| {
        // Python's `a if c else b` has no fields.
        let named: Vec<SyntaxNode<'s>> = node.children().filter(|child| child.is_named()).collect();
        match named.as_slice() {
            [_, condition, _] if &*node.kind() == "conditional_expression" => {
                Some(condition.clone())
            }
            _ => None,
        }
    })
}

/// Returns the flow in a loop, a `match` or a `with`.
fn loop_or_match(node: &SyntaxNode<'_>, kind: &str, flow: &Flow) -> Flow {
    match kind {
        "for_statement"
        | "for_in_statement"
        | "for_expression"
        | "enhanced_for_statement"
        | "for" => {
            let over = node.field("right").or_else(|| node.field("value"));
            let is_empty = over.is_some_and(|over| {
                matches!(&*over.text(), "[]" | "()" | "{}" | "range(0)" | "set()" | "\"\"" | "0..0")
            });
            match is_empty {
                true => flow.never("a loop over nothing never runs".to_owned()),
                false => flow.conditional("only if a loop runs".to_owned()),
            }
        }
        "match_statement" | "switch_statement" | "match_expression" | "switch_expression"
        | "case" => flow.conditional("only if a case matches".to_owned()),
        "with_statement" => {
            let head = node.children().find(|child| &*child.kind() == "with_clause");
            let swallows = head.is_some_and(|head| {
                let text = head.text();
                text.contains("suppress(")
                    && ["Exception", "AssertionError"].iter().any(|name| text.contains(name))
            });
            let swallowed_by = swallows.then_some("`suppress`").or(flow.swallowed_by);
            Flow { swallowed_by, ..flow.clone() }
        }
        _ => flow.clone(),
    }
}

/// Returns true if a handler catches a failed assertion and the run continues.
fn swallows(handler: &SyntaxNode<'_>) -> bool {
    let kind = handler.kind().into_owned();
    if !matches!(kind.as_str(), "except_clause" | "catch_clause" | "rescue" | "except_group_clause")
    {
        return false;
    }
    let text = handler.text();
    let head = text.lines().next().unwrap_or_default();
    let catches = match kind.as_str() {
        "except_clause" | "except_group_clause" => {
            let named = head.trim_start_matches("except").split(':').next().unwrap_or_default();
            let names = ["Exception", "AssertionError", "BaseException"];
            let words: Vec<&str> = named
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .collect();
            words.is_empty() || words.iter().any(|word| names.contains(word))
        }
        // Java names the caught types; a script catches everything.
        "catch_clause" => {
            let caught =
                handler.children().find(|child| &*child.kind() == "catch_formal_parameter");
            caught.is_none_or(|caught| {
                let text = caught.text();
                ["Throwable", "Error"].iter().any(|name| text.contains(name))
            })
        }
        _ => head.contains("Exception") || head.contains("Assertion"),
    };
    let goes_on = !handler.dfs().any(|inner| {
        let kind = inner.kind().into_owned();
        matches!(kind.as_str(), "raise_statement" | "throw_statement" | "assert_statement")
            || (kind.contains("call") || kind == "method_invocation")
                && is_failing_call(&inner.text().to_lowercase())
    });
    catches && goes_on
}

fn is_failing_call(text: &str) -> bool {
    let callee = text.split('(').next().unwrap_or_default();
    ["fail", "assert", "expect", "done", "reject", "raise", "exit"]
        .iter()
        .any(|word| callee.contains(word))
}

/// Returns true if no statement after this one is reached.
pub(crate) fn ends(node: &SyntaxNode<'_>, level: usize) -> bool {
    let kind = node.kind().into_owned();
    let inner = |node: &SyntaxNode<'_>| ends(node, level + 1);
    if level > 20 {
        return false;
    }
    match kind.as_str() {
        "return_statement"
        | "raise_statement"
        | "throw_statement"
        | "break_statement"
        | "continue_statement"
        | "return_expression"
        | "break_expression"
        | "continue_expression"
        | "return"
        | "break"
        | "next" => true,
        "expression_statement" => {
            node.children().filter(|child| child.is_named()).any(|child| inner(&child))
        }
        "call"
        | "call_expression"
        | "macro_invocation"
        | "method_invocation"
        | "identifier"
        | "member_call_expression" => is_end(&node.text()),
        "block" | "statement_block" | "compound_statement" | "then" | "else_clause"
        | "statement_list" | "with_statement" | "else" | "unsafe_block" => {
            node.children().any(|child| inner(&child))
        }
        "if_statement" | "if_expression" | "if" => {
            let Some(condition) = condition_of(node) else { return false };
            let then = node.field("consequence").is_some_and(|then| inner(&then));
            let otherwise = node.field("alternative").is_some_and(|other| inner(&other));
            match Truth::of_expression(&condition) {
                Truth::Always => then,
                Truth::Never => otherwise,
                Truth::Environment | Truth::Unknown => {
                    let has_elif = node.children().any(|child| &*child.kind() == "elif_clause");
                    then && otherwise && !has_elif
                }
            }
        }
        _ => false,
    }
}

/// The calls that end a run, or skip the test that contains them.
const ENDING_CALLS: [&str; 31] = [
    "sys.exit", "exit", "quit", "os._exit", "os.abort", "process.exit", "process.abort",
    "std::process::exit", "process::exit", "std::process::abort", "panic!", "unreachable!",
    "todo!", "unimplemented!", "System.exit", "os.Exit", "pytest.skip", "pytest.xfail",
    "pytest.exit", "self.skipTest", "t.Skip", "t.SkipNow", "t.Skipf", "t.skip", "t.todo",
    "this.skip", "skip", "pending", "$this->markTestSkipped", "$this->markTestIncomplete",
    "GTEST_SKIP",
];

fn is_end(text: &str) -> bool {
    let callee = text.split(['(', ' ', '\n']).next().unwrap_or_default();
    ENDING_CALLS.contains(&callee)
}
