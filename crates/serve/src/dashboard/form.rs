//! Queries and forms: `a=1&b=x+y` as pairs, and pairs as a typed value.

use assay_base::percent;
use assay_engine::dashboard::DashboardError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Parses the text of a query or a form of a page. Fields that the user left empty are left out.
pub(super) fn parse_pairs(text: &str) -> Vec<(String, String)> {
    decode_pairs(text).filter(|(_, value)| !value.is_empty()).collect()
}

/// Parses the query of a program. Fails for unknown, repeated and empty parameters, so that neither
/// a misspelt filter nor an empty variable of a script selects everything.
pub(super) fn parse_query<T: DeserializeOwned>(text: &str) -> Result<T, DashboardError> {
    let pairs: Vec<(String, String)> = decode_pairs(text).collect();
    match pairs.iter().find(|(_, value)| value.is_empty()) {
        Some((name, _)) => {
            let message = format!("the parameter {name:?} has no value: leave it out, or set it");
            Err(DashboardError::Invalid(message))
        }
        None => from_pairs(pairs),
    }
}

fn decode_pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    let decode = |part: &str| percent::decode(&part.replace('+', " "));
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(move |(name, value)| (decode(name), decode(value)))
}

/// Returns the value of a name; `None` if there is none.
pub(super) fn find<'p>(pairs: &'p [(String, String)], name: &str) -> Option<&'p str> {
    pairs.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
}

/// Converts pairs to a type whose fields are texts. Fails for unknown and repeated names.
pub(super) fn from_pairs<T: DeserializeOwned>(
    pairs: Vec<(String, String)>,
) -> Result<T, DashboardError> {
    let mut map = Map::new();
    for (name, value) in pairs {
        if map.insert(name.clone(), Value::String(value)).is_some() {
            return Err(DashboardError::Invalid(format!("the parameter {name:?} is repeated")));
        }
    }
    serde_json::from_value(Value::Object(map))
        .map_err(|error| DashboardError::Invalid(format!("invalid parameters: {error}")))
}

#[cfg(test)]
mod tests {
    use assay_engine::dashboard::run_views::RunListQuery;

    use super::*;

    #[test]
    fn pairs_are_decoded_and_empty_values_are_absent() {
        let pairs = parse_pairs("after=a%2Fb+c&limit=&x&=y&limit=7");
        let text = |text: &str| text.to_owned();
        let expected =
            [(text("after"), text("a/b c")), (text(""), text("y")), (text("limit"), text("7"))];
        assert_eq!(pairs, expected);
        assert_eq!(find(&pairs, "limit"), Some("7"));
    }

    #[test]
    fn a_parameter_of_a_program_without_a_value_is_refused() {
        let parse = |text: &str| parse_query::<RunListQuery>(text).map_err(|it| it.to_string());
        assert_eq!(parse("").unwrap(), RunListQuery::default());
        assert_eq!(parse("limit=7&").unwrap().limit.as_deref(), Some("7"));
        for text in ["limit=", "limit", "after=1.x&limit="] {
            let expected = "the parameter \"limit\" has no value: leave it out, or set it";
            assert_eq!(parse(text).unwrap_err(), expected, "{text}");
        }
    }

    #[test]
    fn unknown_and_repeated_parameters_are_refused_with_their_name() {
        let parse = |text: &str| from_pairs::<RunListQuery>(parse_pairs(text));
        assert_eq!(parse("limit=7").unwrap().limit.as_deref(), Some("7"));
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(error("limit=7&limit=8"), "the parameter \"limit\" is repeated");
        assert!(error("page=7").starts_with("invalid parameters: unknown field `page`"));
    }
}
