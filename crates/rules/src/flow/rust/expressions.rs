//! Lowering of the expressions of Rust.

use crate::flow::form::{
    Argument, BinaryOperator, ClosureParameter, Constant, Expr, Node, SelectArm,
};
use crate::flow::lowering::{
    MAX_LOWERING_DEPTH, lower_prefix_operator, named_children, node, text_of,
};
use crate::syntax::SyntaxNode;

use super::statements::arms_of;
use super::{RustLowering, inner_type, simple_type};

/// The methods whose result is the value of their receiver, or the value inside of it.
const UNWRAPPING: [&str; 34] = [
    "unwrap", "expect", "unwrap_or_default", "clone", "cloned", "copied", "as_ref", "as_mut",
    "as_str", "as_bytes", "as_slice", "as_deref", "as_path", "to_owned", "to_string", "to_vec",
    "into", "into_inner", "into_owned", "into_string", "into_boxed_str", "borrow", "borrow_mut",
    "deref", "iter", "into_iter", "by_ref", "trim", "to_path_buf", "to_string_lossy", "to_str",
    "ok", "lock", "unwrap_unchecked",
];

/// The constructors whose value is their argument.
const TRANSPARENT: [&str; 8] =
    ["Some", "Ok", "Box.new", "Arc.new", "Rc.new", "Cow.Borrowed", "Cow.Owned", "String.from"];

impl RustLowering<'_, '_> {
    /// Lowers an expression.
    pub(super) fn expr(&self, expr: &SyntaxNode<'_>, level: usize) -> Node {
        if level > MAX_LOWERING_DEPTH {
            return node(expr, Expr::Unread);
        }
        let last = || named_children(expr).pop();
        let lowered = match &*expr.kind() {
            "identifier" | "type_identifier" => Some(self.name(&expr.text())),
            "self" => Some(Expr::This),
            "scoped_identifier" => Some(self.path_value(expr)),
            "string_literal" | "raw_string_literal" => {
                Some(Expr::Constant(Constant::Text(string(&expr.text()))))
            }
            "char_literal" => {
                let text = expr.text();
                let letter = text.trim_matches('\'').chars().next().unwrap_or('\'');
                Some(Expr::Constant(Constant::Character(letter)))
            }
            "integer_literal" => Some(integer(&expr.text())),
            "boolean_literal" => Some(Expr::Constant(Constant::Boolean(&*expr.text() == "true"))),
            // These wrap one expression.
            "parenthesized_expression"
            | "try_expression"
            | "await_expression"
            | "reference_expression"
            | "unsafe_block"
            | "async_block"
            | "try_block"
            | "const_block"
            | "expression_statement"
            | "else_clause" => {
                return match last() {
                    Some(inner) => self.expr(&inner, level + 1),
                    None => node(expr, Expr::Opaque(Vec::new())),
                };
            }
            "field_expression" => self.field(expr, level),
            "index_expression" => self.index(expr, level),
            "call_expression" => self.call(expr, level),
            "macro_invocation" => Some(self.macro_call(expr, level)),
            "struct_expression" => self.structure(expr, level),
            "assignment_expression" => self.assignment(expr, level, false),
            "compound_assignment_expr" => self.assignment(expr, level, true),
            "binary_expression" => self.binary(expr, level),
            "unary_expression" => self.unary(expr, level),
            "type_cast_expression" => expr.field("value").map(|value| {
                let name = expr.field("type").map(|own| simple_type(&own.text()));
                Expr::Cast(name, Box::new(self.expr(&value, level + 1)))
            }),
            "tuple_expression" | "array_expression" => Some(Expr::List(self.all(expr, level))),
            "closure_expression" => Some(self.closure(expr, level)),
            "block" => Some(self.block_value(expr, level)),
            "if_expression" => self.choice(expr, level),
            "match_expression" => self.selection(expr, level),
            "return_expression"
            | "break_expression"
            | "continue_expression"
            | "while_expression"
            | "loop_expression"
            | "for_expression" => Some(Expr::Block(self.steps(expr, level + 1), None)),
            "float_literal" | "range_expression" | "unit_expression" | "let_condition" => {
                Some(Expr::Opaque(Vec::new()))
            }
            _ => None,
        };
        node(expr, lowered.unwrap_or_else(|| Expr::Mixed(self.all(expr, level))))
    }

    fn all(&self, expr: &SyntaxNode<'_>, level: usize) -> Vec<Node> {
        named_children(expr).iter().map(|child| self.expr(child, level + 1)).collect()
    }

    fn name(&self, text: &str) -> Expr {
        let is_own = text == "Self" && !self.class.is_empty();
        Expr::Name(if is_own { self.class.clone() } else { text.to_owned() })
    }

    /// Lowers the path of a constant or a function that is a value.
    fn path_value(&self, expr: &SyntaxNode<'_>) -> Expr {
        let text = text_of(expr);
        let mut parts = text.rsplit("::");
        let last = parts.next().unwrap_or_default().to_owned();
        match parts.next().filter(|own| own.starts_with(|c: char| c.is_uppercase())) {
            Some(owner) => Expr::Field(Box::new(node(expr, self.name(owner))), last),
            None => Expr::Name(last),
        }
    }

    fn field(&self, expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
        let owner = Box::new(self.expr(&expr.field("value")?, level + 1));
        let name = text_of(&expr.field("field")?);
        // The element of a tuple; that of a tuple struct is its value.
        Some(match name.parse::<i64>() {
            Ok(0) => Expr::Mixed(vec![*owner]),
            Ok(at) => {
                let at = node(expr, Expr::Constant(Constant::Integer(at)));
                Expr::Index(owner, Box::new(at))
            }
            Err(_) => Expr::Field(owner, name),
        })
    }

    /// Lowers an element of a collection. A part of text or of a slice is text, too.
    fn index(&self, expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
        let children = named_children(expr);
        let owner = self.expr(children.first()?, level + 1);
        let index = children.last()?;
        if &*index.kind() == "range_expression" {
            return Some(Expr::Mixed(vec![owner]));
        }
        Some(Expr::Index(Box::new(owner), Box::new(self.expr(index, level + 1))))
    }

    fn call(&self, expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
        let function = expr.field("function")?;
        let generic = (&*function.kind() == "generic_function").then(|| function.field("function"));
        let parsed_type = function.field("type_arguments").map(|own| {
            let text = text_of(&own);
            simple_type(text.trim_start_matches("::").trim_start_matches('<').trim_end_matches('>'))
        });
        let function = generic.flatten().unwrap_or(function);
        let arguments = self.arguments(expr, level);
        match &*function.kind() {
            "field_expression" => self.method(&function, arguments, parsed_type, level),
            "identifier" => Some(function_call(None, text_of(&function), arguments)),
            "scoped_identifier" => {
                let text = text_of(&function);
                let mut parts = text.rsplit("::").filter(|own| !own.starts_with('<'));
                let name = parts.next()?.to_owned();
                let owner = parts.next().filter(|own| !matches!(*own, "crate" | "self" | "super"));
                let owner = owner.map(|own| Box::new(node(&function, self.name(own))));
                Some(function_call(owner, name, arguments))
            }
            _ => {
                let callee = self.expr(&function, level + 1);
                let values = arguments.into_iter().map(|argument| argument.value);
                Some(Expr::Mixed(std::iter::once(callee).chain(values).collect()))
            }
        }
    }

    fn method(
        &self,
        function: &SyntaxNode<'_>,
        arguments: Vec<Argument>,
        parsed_type: Option<String>,
        level: usize,
    ) -> Option<Expr> {
        let receiver = self.expr(&function.field("value")?, level + 1);
        let name = text_of(&function.field("field")?);
        let is_unwrapping =
            UNWRAPPING.contains(&name.as_str()) && (arguments.is_empty() || name == "expect");
        if is_unwrapping {
            return Some(receiver.expr);
        }
        if let ("parse", Some(own)) = (name.as_str(), parsed_type) {
            return Some(Expr::Cast(Some(own), Box::new(receiver)));
        }
        Some(Expr::Call { receiver: Some(Box::new(receiver)), name, arguments })
    }

    fn arguments(&self, expr: &SyntaxNode<'_>, level: usize) -> Vec<Argument> {
        let values = expr.field("arguments").map(|list| self.all(&list, level));
        let of = |value| Argument { name: None, value };
        values.unwrap_or_default().into_iter().map(of).collect()
    }

    fn structure(&self, expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
        let type_name = match simple_type(&expr.field("name")?.text()).as_str() {
            "Self" => self.class.clone(),
            other => other.to_owned(),
        };
        let mut arguments = Vec::new();
        for field in named_children(&expr.field("body")?) {
            let (name, value) = match &*field.kind() {
                "shorthand_field_initializer" => {
                    let own = named_children(&field).into_iter().next()?;
                    (Some(text_of(&own)), self.expr(&own, level + 1))
                }
                "field_initializer" => {
                    let name = field.field("field").map(|own| text_of(&own));
                    (name, self.expr(&field.field("value")?, level + 1))
                }
                _ => continue,
            };
            arguments.push(Argument { name, value });
        }
        Some(Expr::New { type_name, arguments })
    }

    fn assignment(&self, expr: &SyntaxNode<'_>, level: usize, extends: bool) -> Option<Expr> {
        let left = Box::new(self.expr(&expr.field("left")?, level + 1));
        let right = Box::new(self.expr(&expr.field("right")?, level + 1));
        Some(if extends { Expr::Extend(left, right) } else { Expr::Assign(left, right) })
    }

    fn binary(&self, expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
        let left = Box::new(self.expr(&expr.field("left")?, level + 1));
        let right = Box::new(self.expr(&expr.field("right")?, level + 1));
        let operator = BinaryOperator::of_sign(&expr.field("operator")?.text());
        Some(Expr::Binary(operator, left, right))
    }

    fn unary(&self, expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
        let operand = self.expr(named_children(expr).first()?, level + 1);
        let operator = expr.children().next()?;
        Some(match &*operator.text() {
            "*" => operand.expr,
            operator => lower_prefix_operator(operator, operand),
        })
    }

    fn closure(&self, expr: &SyntaxNode<'_>, level: usize) -> Expr {
        let list = expr.field("parameters").map(|list| named_children(&list)).unwrap_or_default();
        let mut parameters = Vec::new();
        let mut steps = Vec::new();
        for own in &list {
            let (pattern, type_text) = match own.field("pattern") {
                Some(pattern) => (pattern, own.field("type").map(|own| text_of(&own))),
                None => (own.clone(), None),
            };
            let is_name = &*pattern.kind() == "identifier";
            let name = match is_name {
                true => text_of(&pattern),
                false => format!("<parameter at {}>", pattern.range().start),
            };
            if !is_name {
                let value = node(&pattern, Expr::Name(name.clone()));
                let own_type = type_text.as_deref().map(inner_type);
                steps.extend(self.bind(&pattern, value, own_type.as_deref(), level + 1));
            }
            let type_name = type_text.as_deref().map(simple_type);
            parameters.push(ClosureParameter { name, type_name });
        }
        steps.extend(expr.field("body").map(|b| self.returning(&b, level + 1)).unwrap_or_default());
        Expr::Lambda(parameters, steps)
    }

    fn block_value(&self, block: &SyntaxNode<'_>, level: usize) -> Expr {
        let (steps, last) = self.parts(block, level + 1);
        Expr::Block(steps, last.map(|own| Box::new(self.expr(&own, level + 1))))
    }

    fn choice(&self, expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
        let (condition, bindings) = self.condition(&expr.field("condition")?, level + 1);
        let then = expr.field("consequence")?;
        let (steps, last) = self.parts(&then, level + 1);
        let steps = bindings.into_iter().chain(steps).collect();
        let value = last.map(|own| Box::new(self.expr(&own, level + 1)));
        let then = node(&then, Expr::Block(steps, value));
        let otherwise = match expr.field("alternative") {
            Some(own) => self.expr(&own, level + 1),
            None => node(expr, Expr::Opaque(Vec::new())),
        };
        Some(Expr::Ternary(Box::new(condition), Box::new(then), Box::new(otherwise)))
    }

    fn selection(&self, expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
        let (start, name) = self.subject(expr, level)?;
        let arms = arms_of(expr).into_iter().filter_map(|arm| {
            let (labels, steps) = self.arm(&arm, &name, level)?;
            let value = self.expr(&arm.field("value")?, level + 1);
            let value = node(&arm, Expr::Block(steps, Some(Box::new(value))));
            Some(SelectArm { labels, value })
        });
        let arms = arms.collect();
        let subject = Box::new(node(expr, Expr::Name(name)));
        let value = node(expr, Expr::Select(subject, arms));
        Some(Expr::Block(vec![start], Some(Box::new(value))))
    }
}

/// Returns the call of a function or of a function of a type. A name with a capital creates a
/// value; wrappers such as `Some` are the value inside.
fn function_call(owner: Option<Box<Node>>, name: String, mut arguments: Vec<Argument>) -> Expr {
    let path = match owner.as_deref() {
        Some(Node { expr: Expr::Name(owner), .. }) => format!("{owner}.{name}"),
        _ => name.clone(),
    };
    if TRANSPARENT.contains(&path.as_str()) && arguments.len() == 1 {
        let value = arguments.remove(0).value;
        let is_text = path == "String.from";
        return if is_text {
            Expr::Cast(Some("String".to_owned()), Box::new(value))
        } else {
            value.expr
        };
    }
    // A message of an error is no result.
    if path == "Err" {
        return Expr::Opaque(arguments.into_iter().map(|argument| argument.value).collect());
    }
    match owner {
        None if name.starts_with(|c: char| c.is_uppercase()) => {
            Expr::New { type_name: name, arguments }
        }
        receiver => Expr::Call { receiver, name, arguments },
    }
}

fn integer(text: &str) -> Expr {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    let digits = digits.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let digits = match text.find(['i', 'u']) {
        Some(at) if !text.starts_with("0x") => text[..at].replace('_', ""),
        _ => digits.to_owned(),
    };
    match digits.parse() {
        Ok(value) => Expr::Constant(Constant::Integer(value)),
        Err(_) => Expr::Opaque(Vec::new()),
    }
}

/// Returns the content of a string literal.
fn string(text: &str) -> String {
    let start = text.find('"').map_or(0, |at| at + 1);
    let end = text.rfind('"').filter(|at| *at >= start).unwrap_or(text.len());
    let inside = &text[start..end];
    if text[..start].contains('r') {
        return inside.to_owned();
    }
    let pairs = [("\\n", "\n"), ("\\t", "\t"), ("\\\"", "\""), ("\\'", "'"), ("\\\\", "\\")];
    pairs.iter().fold(inside.to_owned(), |text, (from, to)| text.replace(from, to))
}
