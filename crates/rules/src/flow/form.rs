//! The common form of functions: [`FlowFunction`], lowered from the syntax tree of a language.
//!
//! The form keeps the structure of the code (branches, loops, handlers) and drops everything that
//! moves no data. A construct that a language has and the form has not becomes
//! [`Expr::Mixed`], whose parts are evaluated, so that no call inside of it is lost.

use std::ops::Range;
use std::rc::Rc;

/// A type of the source code: its methods and fields.
#[derive(Debug, Default)]
pub(super) struct FlowClass {
    pub(super) name: String,
    /// The supertypes by their simple names.
    pub(super) supertypes: Vec<String>,
    pub(super) functions: Vec<Rc<FlowFunction>>,
    pub(super) fields: Vec<FlowField>,
}

/// A field of a type, or a variable of a module.
#[derive(Debug)]
pub(super) struct FlowField {
    pub(super) name: String,
    pub(super) type_name: Option<String>,
    /// The initial value; `None` if the field has none or may change.
    pub(super) value: Option<Node>,
}

/// A function or method.
#[derive(Debug)]
pub(super) struct FlowFunction {
    pub(super) name: String,
    /// The simple name of the class; empty for a function of a module.
    pub(super) class: String,
    pub(super) parameters: Vec<FlowParameter>,
    /// The decorators of the function by their dotted names.
    pub(super) decorators: Vec<String>,
    pub(super) is_constructor: bool,
    /// True if code of other files can call the function.
    pub(super) is_exported: bool,
    /// True if a call may leave parameters out.
    pub(super) has_defaults: bool,
    pub(super) body: Vec<Step>,
    /// The lines of the function, from 1.
    pub(super) lines: (u32, u32),
    /// The names of the functions that the body calls.
    pub(super) calls: Vec<String>,
}

/// A parameter of a function.
#[derive(Debug, Clone)]
pub(super) struct FlowParameter {
    pub(super) name: String,
    pub(super) type_name: Option<String>,
    /// The annotations by their simple names.
    pub(super) annotations: Vec<String>,
    pub(super) line: u32,
    pub(super) span: Range<usize>,
}

/// A parameter of a closure.
#[derive(Debug)]
pub(super) struct ClosureParameter {
    pub(super) name: String,
    /// The type; `None` if a value without a type has none.
    pub(super) type_name: Option<String>,
}

impl ClosureParameter {
    /// Creates a parameter without a type.
    pub(super) fn untyped(name: String) -> ClosureParameter {
        ClosureParameter { name, type_name: None }
    }
}

/// A statement.
#[derive(Debug)]
pub(super) enum Step {
    Declare { name: String, type_name: Option<String>, value: Option<Node> },
    Evaluate(Node),
    Branch { condition: Node, then: Vec<Step>, otherwise: Vec<Step> },
    Loop(Box<LoopForm>),
    Switch { subject: Node, cases: Vec<Case>, falls_through: bool },
    Try { body: Vec<Step>, handlers: Vec<Vec<Step>>, finally: Vec<Step> },
    Return(Option<Node>),
    Break,
    Continue,
    Throw(Option<Node>),
    Block(Vec<Step>),
}

/// A loop of any kind.
#[derive(Debug)]
pub(super) struct LoopForm {
    /// The steps before the loop.
    pub(super) start: Vec<Step>,
    /// The variable that each element is bound to, with the collection.
    pub(super) element: Option<(Node, Option<String>, Node)>,
    pub(super) condition: Option<Node>,
    pub(super) update: Vec<Step>,
    pub(super) body: Vec<Step>,
    /// True if the body runs before the condition.
    pub(super) runs_first: bool,
}

/// A case of a switch; the default case has no labels.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) labels: Vec<Node>,
    pub(super) body: Vec<Step>,
}

/// A value that a choice has for some labels; the default arm has no labels.
#[derive(Debug)]
pub(super) struct SelectArm {
    pub(super) labels: Vec<Node>,
    pub(super) value: Node,
}

/// An expression with its place.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) expr: Expr,
    pub(super) line: u32,
    pub(super) span: Range<usize>,
}

/// An expression.
#[derive(Debug)]
pub(super) enum Expr {
    Constant(Constant),
    Name(String),
    /// The receiver of the method.
    This,
    Field(Box<Node>, String),
    Index(Box<Node>, Box<Node>),
    Call {
        receiver: Option<Box<Node>>,
        name: String,
        arguments: Vec<Argument>,
    },
    New {
        type_name: String,
        arguments: Vec<Argument>,
    },
    Binary(BinaryOperator, Box<Node>, Box<Node>),
    Not(Box<Node>),
    Ternary(Box<Node>, Box<Node>, Box<Node>),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    /// Text that is built from parts.
    Text(Vec<Node>),
    Assign(Box<Node>, Box<Node>),
    /// An assignment that keeps the old value as a part, such as `+=`.
    Extend(Box<Node>, Box<Node>),
    Cast(Option<String>, Box<Node>),
    Lambda(Vec<ClosureParameter>, Vec<Step>),
    /// Statements with the value of the last one.
    Block(Vec<Step>, Option<Box<Node>>),
    /// A choice among values by a subject.
    Select(Box<Node>, Vec<SelectArm>),
    /// A value that carries no data of its parts, such as a comparison of types.
    Opaque(Vec<Node>),
    /// A value that may carry the data of its parts.
    Mixed(Vec<Node>),
    /// Code that is nested too deeply to be lowered.
    Unread,
}

/// An argument of a call.
#[derive(Debug)]
pub(super) struct Argument {
    pub(super) name: Option<String>,
    pub(super) value: Node,
}

/// An operator with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
    /// Membership, such as `in` of Python.
    In,
    Other,
}

impl BinaryOperator {
    /// Returns the operator of a sign that has the same meaning in all languages with this sign.
    pub(super) fn of_sign(sign: &str) -> BinaryOperator {
        match sign {
            "+" => BinaryOperator::Add,
            "-" => BinaryOperator::Subtract,
            "*" => BinaryOperator::Multiply,
            "/" => BinaryOperator::Divide,
            "%" => BinaryOperator::Remainder,
            "<" => BinaryOperator::Less,
            "<=" => BinaryOperator::LessOrEqual,
            ">" => BinaryOperator::Greater,
            ">=" => BinaryOperator::GreaterOrEqual,
            "==" => BinaryOperator::Equal,
            "!=" => BinaryOperator::NotEqual,
            "&&" => BinaryOperator::And,
            "||" => BinaryOperator::Or,
            _ => BinaryOperator::Other,
        }
    }
}

/// A value that is known before the program runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Constant {
    Null,
    Boolean(bool),
    Integer(i64),
    Character(char),
    Text(String),
}

impl FlowFunction {
    /// Returns true if the function takes the number of arguments.
    pub(super) fn takes(&self, arguments: usize) -> bool {
        self.parameters.len() == arguments
    }
}
