//! Addresses that are built from text: the host of an address whose start is fixed cannot be chosen
//! by the data that follows.

use super::form::Constant;
use super::value::FlowValue;

/// The label of data that stands behind the host of an address.
pub(super) const FIXED_HOST: &str = "fixed-host";

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

fn contains_host(text: &str) -> bool {
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
        for text in ["https://a.example/", "//a.example/x", "/users/", "users/", "http://a?q="] {
            assert!(contains_host(text), "{text}");
        }
        for text in ["", "/", "//", "https://", "https://a.", "http", "/\\", "mailto:a/"] {
            assert!(!contains_host(text), "{text}");
        }
    }
}
