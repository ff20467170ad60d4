//! Parameters of exported functions as sources: their callers are not known, so a value of a
//! parameter may be untrusted.
//!
//! A function that passes a whole parameter on, such as `run(command)`, does what its name says. Data
//! that became a part of a built text is another kind, [`BUILT_PARAMETER`], which rules about text
//! with a grammar use.

use std::rc::Rc;

use super::form::{Constant, FlowFunction, FlowParameter};
use super::value::{FlowValue, Taint, ValueParts, add_taints};
use crate::language::{Language, is_javascript};

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

/// Returns true for the kinds of parameters.
pub(super) fn is_parameter_kind(kind: &str) -> bool {
    matches!(kind, PARAMETER | BUILT_PARAMETER)
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

/// Removes the data of parameters from an attribute. Only in JavaScript, options are often the
/// attributes of a parameter.
pub(super) fn keep_attribute(language: Language, taints: Vec<Taint>) -> Vec<Taint> {
    if is_javascript(language) { taints } else { without_parameters(taints) }
}

fn without_parameters(mut taints: Vec<Taint>) -> Vec<Taint> {
    taints.retain(|taint| !is_parameter_kind(&taint.kind));
    taints
}

/// Adds the kind of built text to data of parameters.
pub(super) fn mark_built(taints: &mut Vec<Taint>) {
    let built: Vec<Taint> = taints
        .iter()
        .filter(|taint| &*taint.kind == PARAMETER)
        .map(|taint| Taint { kind: Rc::from(BUILT_PARAMETER), ..taint.clone() })
        .collect();
    add_taints(taints, &built);
}

/// Returns true if a value holds text in front of which data changes its meaning: constant text with
/// a letter or a digit, or a value that is not known.
pub(super) fn holds_text(value: &FlowValue) -> bool {
    let has_word = |constant: &Constant| match constant {
        Constant::Text(text) => text.chars().any(char::is_alphanumeric),
        _ => false,
    };
    match (&value.constants, &value.content) {
        (Some(constants), _) => constants.iter().any(has_word),
        (None, ValueParts::List(items)) => items.iter().any(|item| {
            item.constants.as_ref().is_some_and(|constants| constants.iter().any(has_word))
        }),
        (None, ValueParts::Unknown) => true,
        (None, _) => false,
    }
}
