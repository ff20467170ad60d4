//! Addresses that are built from text: the host of an address whose start is fixed cannot be chosen
//! by the data that follows.

use super::form::Constant;
use super::value::FlowValue;

/// The label of data that stands behind the host of an address.
pub(super) const FIXED_HOST: &str = "fixed-host";

/// The label of data that stands behind the start of a web address.
pub(super) const WEB_ADDRESS: &str = "web-address";

/// Returns true if data behind this text cannot change the host of an address: the text contains
/// the host, or is a part that no data chose, such as a configured address.
pub(super) fn has_fixed_host(start: &FlowValue) -> bool {
    let is_fixed = |constant: &Constant| match constant {
        Constant::Text(text) => contains_host(text),
        _ => false,
    };
    match &start.constants {
        Some(constants) => constants.iter().all(is_fixed),
        None => {
            let taints = start.all_taints();
            taints.iter().all(|taint| taint.cleared.iter().any(|label| &**label == FIXED_HOST))
        }
    }
}

/// Returns true if a text begins with the host of a page, so that it names no file.
pub(super) fn is_web_address(start: &FlowValue) -> bool {
    let is_address = |constant: &Constant| match constant {
        Constant::Text(text) => text.starts_with("http://") || text.starts_with("https://"),
        _ => false,
    };
    start.constants.as_ref().is_some_and(|all| !all.is_empty() && all.iter().all(is_address))
        || start.taints.iter().any(|own| own.cleared.iter().any(|label| &**label == WEB_ADDRESS))
}

fn contains_host(text: &str) -> bool {
    let is_location = text.get(..9).is_some_and(|own| own.eq_ignore_ascii_case("location:"));
    let text = if is_location { text[9..].trim_start() } else { text };
    let ends_host = |rest: &str| rest.find(['/', '?', '#']).is_some_and(|at| at > 0);
    match text.split_once("//") {
        Some((scheme, rest)) if scheme.is_empty() || scheme.ends_with(':') => ends_host(rest),
        _ => match text.strip_prefix('/') {
            Some(rest) => !rest.is_empty() && !rest.starts_with('\\'),
            None => !text.contains(':') && ends_host(text),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::contains_host;

    #[test]
    fn data_behind_a_host_or_a_path_cannot_choose_the_host() {
        for text in [
            "https://a.example/", "//a.example/x", "/users/", "users/", "http://a?q=",
            "Location: /users/",
        ] {
            assert!(contains_host(text), "{text}");
        }
        for text in
            ["", "/", "//", "https://", "https://a.", "http", "/\\", "mailto:a/", "Location: "]
        {
            assert!(!contains_host(text), "{text}");
        }
    }
}
