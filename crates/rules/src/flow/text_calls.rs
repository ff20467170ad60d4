//! Methods of text whose results are known: [`evaluate`].

use super::form::Constant;
use super::pattern::Values;
use super::value::FlowValue;
use crate::language::{Language, is_javascript};

/// Returns a character of a constant text, in languages whose texts consist of texts.
pub(super) fn character_at(
    language: Language,
    owner: &FlowValue,
    index: &FlowValue,
) -> Option<FlowValue> {
    if language != Language::Python && language != Language::Php && !is_javascript(language) {
        return None;
    }
    let Constant::Text(text) = owner.only_constant()? else { return None };
    let found = text.chars().nth(index.only_constant()?.position()?)?;
    Some(FlowValue::constant(Constant::Text(found.to_string())))
}

/// Returns the result of a method of a constant text; `None` if it is not known.
pub(super) fn evaluate(owner: &FlowValue, name: &str, values: &Values) -> Option<FlowValue> {
    let Constant::Text(text) = owner.only_constant()? else { return None };
    let first = values.first().map(|(_, value)| value.only_constant());
    let result = match (name, first) {
        ("charAt", Some(Some(index))) => Constant::Character(text.chars().nth(index.position()?)?),
        ("length", None) => Constant::Integer(i64::try_from(text.chars().count()).ok()?),
        ("isEmpty", None) => Constant::Boolean(text.is_empty()),
        ("toString" | "intern", None) | ("getBytes" | "encode" | "decode" | "toCharArray", _) => {
            Constant::Text(text.clone())
        }
        ("trim" | "strip", None) => Constant::Text(text.trim().to_owned()),
        ("toUpperCase" | "upper", None) => Constant::Text(text.to_uppercase()),
        ("toLowerCase" | "lower", None) => Constant::Text(text.to_lowercase()),
        ("equals", Some(Some(other))) => Constant::Boolean(&Constant::Text(text.clone()) == other),
        _ => return None,
    };
    Some(FlowValue::constant(result))
}
