//! Patterns of calls and attributes: [`CallPattern`], as rules that follow data write them.
//!
//! `Type.method(…)` matches a call on a value of the type, or on the class or module itself;
//! `new Type(…)` matches a constructor, `name(…)` a function, and `a.b` without parentheses an
//! attribute; `a.b=($)` matches an assignment to an attribute, `a.[]=(_, $)` one to an element, and
//! `flask.return($)` the result of a function that answers a request, in a file that imports
//! `flask`. `|` separates alternatives of types and names, `*` matches any.
//!
//! An argument is `_` (any), `$` (the data that the pattern is about), `$own` (this without the parts
//! of a list or a map), `$...` (this and all further ones), `...` (any further ones), `/regex/` (a
//! constant text), a constant, `<N` (a smaller number), `{Type}` (a value of a type, or a class or
//! constant with this dotted name), `name=argument`, `!name` (no argument of this name), or
//! `["-c", $]` (a list that begins with these parts; all of its parts are marked). The parts of a
//! constant map count as arguments with names.
//!
//! `$Type.method()` marks the receiver. ` -> this` at the end sends the marked data into the receiver,
//! and ` -> arguments` into the arguments.

use regex::Regex;

use super::form::Constant;
use super::lowering::ANY_NAME;
use super::value::{FlowValue, Taint, ValueParts};

/// The evaluated arguments of a call, each with its name.
pub(super) type Values = [(Option<String>, FlowValue)];

/// A pattern of a call, a constructor or an attribute.
#[derive(Debug, Clone)]
pub(super) struct CallPattern {
    is_new: bool,
    types: Vec<String>,
    pub(super) names: Vec<String>,
    /// The arguments; `None` for an attribute.
    arguments: Option<Vec<ArgumentPattern>>,
    pub(super) marks_receiver: bool,
    /// True if the parts of a marked list or map are not marked.
    pub(super) marks_own_data: bool,
    pub(super) goes_to_receiver: bool,
    pub(super) goes_to_arguments: bool,
}

#[derive(Debug, Clone)]
enum ArgumentPattern {
    Any,
    Marked,
    MarkedOwn,
    MarkedRest,
    Rest,
    Matching(Regex),
    Constant(Constant),
    Below(i64),
    OfType(Vec<String>),
    Absent(String),
    Named(String, Box<ArgumentPattern>),
    /// A list whose parts are known, with patterns of the first parts.
    List(Vec<ArgumentPattern>),
}

/// A call, a constructor or an attribute with its evaluated parts.
pub(super) struct CallFacts<'a> {
    pub(super) is_new: bool,
    /// The receiver; `None` for a function and a constructor.
    pub(super) receiver: Option<&'a FlowValue>,
    pub(super) name: &'a str,
    /// The arguments with their names; `None` for an attribute.
    pub(super) arguments: Option<&'a Values>,
}

impl CallPattern {
    /// Parses a pattern.
    pub(super) fn parse(text: &str) -> Result<CallPattern, String> {
        let fail = |why: &str| format!("invalid pattern `{text}`: {why}");
        let (call, target) = match text.trim().rsplit_once("->") {
            Some((call, target)) => (call.trim(), target.trim()),
            None => (text.trim(), ""),
        };
        if !matches!(target, "" | "this" | "arguments") {
            return Err(fail("expected `-> this` or `-> arguments`"));
        }
        let (call, is_new) = match call.strip_prefix("new ") {
            Some(call) => (call.trim(), true),
            None => (call, false),
        };
        let (call, marks_receiver) = match call.strip_prefix('$') {
            Some(call) => (call, true),
            None => (call, false),
        };
        let (head, arguments) = match call.split_once('(') {
            Some((head, rest)) => {
                let inside = rest.strip_suffix(')').ok_or_else(|| fail("missing `)`"))?;
                (head.trim(), Some(parse_arguments(inside).map_err(|why| fail(&why))?))
            }
            None => (call, None),
        };
        let (types, names) = match head.rsplit_once('.') {
            Some((types, names)) if !is_new => (types, names),
            _ => ("", head),
        };
        let names = alternatives(names);
        if names.is_empty() || names.iter().any(|name| !is_name(name)) {
            return Err(fail("expected a name such as `Type.method(…)`"));
        }
        let is_own = |argument: &ArgumentPattern| matches!(argument, ArgumentPattern::MarkedOwn);
        let marks_own_data = arguments.iter().flatten().any(is_own);
        Ok(CallPattern {
            is_new,
            types: alternatives(types),
            names,
            arguments,
            marks_receiver,
            marks_own_data,
            goes_to_receiver: target == "this",
            goes_to_arguments: target == "arguments",
        })
    }

    /// Returns true if the pattern names data of the call.
    pub(super) fn has_mark(&self) -> bool {
        let is_mark = |argument: &ArgumentPattern| argument.is_mark();
        self.marks_receiver || self.arguments.iter().flatten().any(is_mark)
    }

    /// Returns true if the pattern matches a call or an attribute.
    pub(super) fn matches(&self, call: &CallFacts<'_>) -> bool {
        self.is_new == call.is_new
            && self.names.iter().any(|name| name == "*" || name == call.name)
            && self.matches_receiver(call.receiver)
            && match (&self.arguments, call.arguments) {
                (None, None) => true,
                (Some(patterns), Some(arguments)) => match_arguments(patterns, arguments),
                _ => false,
            }
    }

    fn matches_receiver(&self, receiver: Option<&FlowValue>) -> bool {
        match receiver {
            None => self.types.is_empty(),
            Some(value) => self.types.iter().any(|name| name == "*" || value.has_type(name)),
        }
    }

    /// Returns the taint of the data that the pattern marks.
    pub(super) fn marked_taints(&self, facts: &CallFacts<'_>) -> Vec<Taint> {
        let values = facts.arguments.unwrap_or_default();
        let mut all = FlowValue::default();
        for at in self.marked(values) {
            let value = &values[at].1;
            match self.marks_own_data {
                true => all.taint(&value.taints),
                false => all.taint(&value.all_taints()),
            }
        }
        if let Some(owner) = facts.receiver.filter(|_| self.marks_receiver) {
            all.taint(&owner.all_taints());
        }
        all.taints
    }

    /// Returns true if all marked arguments are constant; `None` if no argument is marked.
    pub(super) fn marks_constants_only(&self, facts: &CallFacts<'_>) -> Option<bool> {
        let values = facts.arguments.unwrap_or_default();
        let marked = self.marked(values);
        let is_constant = |at: &usize| values[*at].1.constants.is_some();
        (!marked.is_empty()).then(|| marked.iter().all(is_constant))
    }

    /// Returns the positions of the marked arguments.
    pub(super) fn marked(&self, arguments: &Values) -> Vec<usize> {
        let Some(patterns) = &self.arguments else { return Vec::new() };
        let mut marked = Vec::new();
        let mut at = 0;
        for pattern in patterns {
            match pattern {
                ArgumentPattern::Named(name, inner) => {
                    if inner.is_mark() {
                        marked.extend(find_named(arguments, name));
                    }
                }
                ArgumentPattern::MarkedRest => marked.extend(at..arguments.len()),
                ArgumentPattern::Rest | ArgumentPattern::Absent(_) => {}
                ArgumentPattern::Marked => {
                    marked.push(at);
                    at += 1;
                }
                ArgumentPattern::List(_) if pattern.is_mark() => {
                    marked.push(at);
                    at += 1;
                }
                // An argument with a name is a part of a map in some languages.
                ArgumentPattern::MarkedOwn => {
                    let is_own = arguments.get(at).is_some_and(|(name, _)| name.is_none());
                    marked.extend(is_own.then_some(at));
                    at += 1;
                }
                _ => at += 1,
            }
        }
        marked.retain(|at| *at < arguments.len());
        marked
    }
}

impl ArgumentPattern {
    fn is_mark(&self) -> bool {
        match self {
            ArgumentPattern::Marked | ArgumentPattern::MarkedOwn | ArgumentPattern::MarkedRest => {
                true
            }
            ArgumentPattern::Named(_, inner) => inner.is_mark(),
            ArgumentPattern::List(parts) => parts.iter().any(ArgumentPattern::is_mark),
            _ => false,
        }
    }

    fn matches(&self, value: &FlowValue) -> bool {
        let is_any = |test: &dyn Fn(&Constant) -> bool| value.possible().any(test);
        match self {
            ArgumentPattern::Matching(regex) => {
                is_any(&|constant| matches!(constant, Constant::Text(text) if regex.is_match(text)))
            }
            ArgumentPattern::Constant(wanted) => is_any(&|constant| constant == wanted),
            ArgumentPattern::Below(limit) => {
                is_any(&|constant| matches!(constant, Constant::Integer(own) if own < limit))
            }
            ArgumentPattern::OfType(names) => names.iter().any(|name| value.has_type(name)),
            ArgumentPattern::List(patterns) => match &value.content {
                ValueParts::List(items) => {
                    items.len() >= patterns.len()
                        && patterns.iter().zip(items).all(|(pattern, item)| pattern.matches(item))
                }
                _ => false,
            },
            _ => true,
        }
    }
}

fn find_named(arguments: &Values, name: &str) -> Option<usize> {
    arguments.iter().position(|(own, _)| own.as_deref() == Some(name))
}

/// Returns the value of an argument with a name, or of the part of a constant map with this key.
fn value_named<'v>(arguments: &'v Values, name: &str) -> Option<&'v FlowValue> {
    let of_map = |value: &'v FlowValue| match &value.content {
        ValueParts::Map(items) => items.get(&Constant::Text(name.to_owned())),
        _ => None,
    };
    let of_maps = || arguments.iter().find_map(|(_, value)| of_map(value));
    find_named(arguments, name).map(|at| &arguments[at].1).or_else(of_maps)
}

fn match_arguments(patterns: &[ArgumentPattern], arguments: &Values) -> bool {
    let mut at = 0;
    let mut has_rest = false;
    for pattern in patterns {
        match pattern {
            ArgumentPattern::Rest | ArgumentPattern::MarkedRest => has_rest = true,
            ArgumentPattern::Absent(name) => {
                if value_named(arguments, name).or(value_named(arguments, ANY_NAME)).is_some() {
                    return false;
                }
            }
            ArgumentPattern::Named(name, inner) => {
                let value = value_named(arguments, name);
                if !value.is_some_and(|value| inner.matches(value)) {
                    return false;
                }
            }
            _ => {
                let Some((_, value)) = arguments.get(at) else { return false };
                if !pattern.matches(value) {
                    return false;
                }
                at += 1;
            }
        }
    }
    has_rest || arguments.iter().skip(at).all(|(name, _)| name.is_some())
}

fn alternatives(text: &str) -> Vec<String> {
    text.split('|').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn is_name(text: &str) -> bool {
    text == "*"
        || text.chars().all(|c| {
            c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '=' | '?' | '!' | '[' | ']')
        })
}

fn parse_arguments(text: &str) -> Result<Vec<ArgumentPattern>, String> {
    split_arguments(text).iter().map(|argument| parse_argument(argument)).collect()
}

/// Splits arguments at the commas outside of regular expressions, quotes and lists.
fn split_arguments(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote: Option<char> = None;
    let mut is_escaped = false;
    let mut depth = 0_usize;
    for c in text.chars() {
        let was_escaped = is_escaped;
        is_escaped = c == '\\' && !was_escaped;
        match quote {
            _ if was_escaped => {}
            Some(end) if c == end => quote = None,
            None if matches!(c, '/' | '"') => quote = Some(c),
            None if c == '[' => depth += 1,
            None if c == ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match parts.last_mut() {
            Some(part) if c != ',' || quote.is_some() || depth > 0 => part.push(c),
            _ => parts.push(String::new()),
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn parse_argument(text: &str) -> Result<ArgumentPattern, String> {
    Ok(match text {
        "_" => ArgumentPattern::Any,
        "$" => ArgumentPattern::Marked,
        "$own" => ArgumentPattern::MarkedOwn,
        "$..." => ArgumentPattern::MarkedRest,
        "..." => ArgumentPattern::Rest,
        "true" | "True" => ArgumentPattern::Constant(Constant::Boolean(true)),
        "false" | "False" => ArgumentPattern::Constant(Constant::Boolean(false)),
        _ => return parse_other_argument(text),
    })
}

fn parse_other_argument(text: &str) -> Result<ArgumentPattern, String> {
    if let Some(regex) = text.strip_prefix('/').and_then(|text| text.strip_suffix('/')) {
        let regex = Regex::new(regex).map_err(|error| error.to_string())?;
        return Ok(ArgumentPattern::Matching(regex));
    }
    if let Some(text) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        return Ok(ArgumentPattern::Constant(Constant::Text(text.to_owned())));
    }
    if let Some(name) = text.strip_prefix('!') {
        return Ok(ArgumentPattern::Absent(name.trim().to_owned()));
    }
    if let Some(parts) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        return Ok(ArgumentPattern::List(parse_arguments(parts)?));
    }
    if let Some(names) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        return Ok(ArgumentPattern::OfType(alternatives(names)));
    }
    if let Some(limit) = text.strip_prefix('<') {
        let limit = limit.trim().parse().map_err(|_| format!("expected a number in `{text}`"))?;
        return Ok(ArgumentPattern::Below(limit));
    }
    if let Ok(number) = text.parse() {
        return Ok(ArgumentPattern::Constant(Constant::Integer(number)));
    }
    match text.split_once('=') {
        Some((name, inner)) => {
            let inner = parse_argument(inner.trim())?;
            Ok(ArgumentPattern::Named(name.trim().to_owned(), Box::new(inner)))
        }
        None => Err(format!("unknown argument `{text}`")),
    }
}
