//! Parameters of exported functions as sources: their callers are not known, so a value of a
//! parameter may be untrusted.
//!
//! A function that passes a whole parameter on, such as `run(command)`, does what its name says. Data
//! that became a part of a built text is another kind, [`BUILT_PARAMETER`], which rules about text
//! with a grammar use; [`PLACED_PARAMETER`] if the text in front of it is constant, for paths.

use std::rc::Rc;

use super::form::{Constant, FlowFunction, FlowParameter};
use super::value::{FlowValue, Taint, ValueParts, add_taints};

/// The kind of data from a parameter of an exported function.
pub(super) const PARAMETER: &str = "parameter";

/// The kind of data from such a parameter that stands behind other text.
pub(super) const BUILT_PARAMETER: &str = "built-parameter";

/// The words in types whose values can hold any text.
const TEXT_TYPES: [&str; 45] = [
    "str", "string", "String", "bytes", "bytearray", "byte", "char", "CharSequence", "AnyStr",
    "Any", "any", "object", "Object", "unknown", "dict", "Dict", "list", "List", "tuple", "Tuple",
    "Sequence", "Iterable", "Mapping", "Map", "Record", "Collection", "Set", "set", "array",
    "Array", "iterable", "mixed", "Optional", "Union", "Buffer", "Uint8Array", "InputStream",
    "io.Reader", "Reader", "io.BytesIO", "StringBuilder", "Properties", "interface{}", "IO",
    "BinaryIO",
];

/// The methods of text and collections that return data of their receiver.
const TEXT_METHODS: [&str; 62] = [
    "strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "replace", "split",
    "rsplit", "splitlines", "partition", "rpartition", "format", "join", "encode", "decode", "get",
    "pop", "items", "values", "keys", "read", "readline", "readlines", "trim", "trimStart",
    "trimEnd", "toLowerCase", "toUpperCase", "toString", "substring", "substr", "slice", "concat",
    "replaceAll", "replaceFirst", "getBytes", "toCharArray", "charAt", "intern", "downcase",
    "upcase", "to_s", "to_str", "sub", "gsub", "chomp", "chop", "squeeze", "fetch", "first",
    "last", "dup", "map", "filter", "forEach", "flat", "at", "normalize", "stream", "expandtabs",
];

/// The kind of data from such a parameter that stands behind constant text.
pub(super) const PLACED_PARAMETER: &str = "placed-parameter";

/// The kind of what the user of a terminal writes: arguments and lines of input.
const CONSOLE: &str = "console";

/// Returns true for data that an attacker may or may not control: parameters, whose callers are not
/// known, and what the user of a terminal writes.
pub(super) fn is_weak_kind(kind: &str) -> bool {
    is_parameter_kind(kind) || kind == CONSOLE
}

/// Returns true for the kinds of parameters.
fn is_parameter_kind(kind: &str) -> bool {
    matches!(kind, PARAMETER | BUILT_PARAMETER | PLACED_PARAMETER)
}

/// Returns true if callers of the function are not known, and the parameter may hold any text.
pub(super) fn is_source(function: &FlowFunction, parameter: &FlowParameter) -> bool {
    function.is_exported && may_hold_text(parameter)
}

fn may_hold_text(parameter: &FlowParameter) -> bool {
    // A parameter without a type has its own name as its type in some languages.
    let written = parameter.type_name.as_deref().filter(|written| *written != parameter.name);
    let Some(written) = written else { return true };
    let words = written.split(['[', ']', '<', '>', '|', ',', ' ', '?', '"', '\'']);
    words.map(str::trim).any(|word| TEXT_TYPES.contains(&word))
}

/// Removes the data of parameters from the result of a method that does not return data of its
/// receiver.
pub(super) fn keep_text_of_receiver(name: &str, taints: Vec<Taint>) -> Vec<Taint> {
    match TEXT_METHODS.contains(&name) {
        true => taints,
        false => without_parameters(taints),
    }
}

/// Returns the data of an attribute. The attributes of a parameter are parts of an object; only
/// those of a destructured parameter of JavaScript, which has no name, are parameters themselves.
pub(super) fn attribute_taints(owner: &FlowValue) -> Vec<Taint> {
    let is_destructured = owner.types.first().is_some_and(|name| name.starts_with('<'));
    let taints = owner.taints.clone();
    if is_destructured { taints } else { without_parameters(taints) }
}

fn without_parameters(mut taints: Vec<Taint>) -> Vec<Taint> {
    taints.retain(|taint| !is_parameter_kind(&taint.kind));
    taints
}

/// Adds the kinds of built text to data of parameters that stands behind other text.
pub(super) fn mark_built(taints: &mut Vec<Taint>, front: &FlowValue) {
    let kinds: &[&str] = match front_of(front) {
        None => return,
        Some(Front::Constant) => &[BUILT_PARAMETER, PLACED_PARAMETER],
        Some(Front::Unknown) => &[BUILT_PARAMETER],
    };
    let parameters: Vec<Taint> =
        taints.iter().filter(|taint| &*taint.kind == PARAMETER).cloned().collect();
    for kind in kinds {
        let built = parameters.iter().map(|taint| Taint { kind: Rc::from(*kind), ..taint.clone() });
        add_taints(taints, &built.collect::<Vec<_>>());
    }
}

/// The text in front of data.
enum Front {
    /// Constant text with a letter or a digit.
    Constant,
    /// A value that is not known.
    Unknown,
}

/// Returns the kind of a value as text in front of data; `None` for a value that adds no word.
fn front_of(value: &FlowValue) -> Option<Front> {
    let has_word = |constant: &Constant| match constant {
        Constant::Text(text) => text.chars().any(char::is_alphanumeric),
        _ => false,
    };
    match (&value.constants, &value.content) {
        (Some(constants), _) => constants.iter().any(has_word).then_some(Front::Constant),
        (None, ValueParts::Unknown) => Some(Front::Unknown),
        (None, _) => None,
    }
}

/// Returns the data of the parts of a list, as text that is built from the parts in their order.
pub(super) fn joined_taints(items: &[FlowValue]) -> Vec<Taint> {
    let mut taints = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let mut own = item.all_taints();
        if at > 0 {
            mark_built(&mut own, &items[0]);
        }
        add_taints(&mut taints, &own);
    }
    taints
}
