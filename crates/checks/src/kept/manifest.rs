//! The part of `package.json` that decides what a test run does.

use serde_json::{Map, Value};

/// Members of `package.json` that say what is run and how a runner is configured.
const KEPT: [&str; 12] = [
    "scripts", "jest", "vitest", "mocha", "ava", "tap", "c8", "nyc", "babel", "playwright",
    "cypress", "wireit",
];

/// Returns `package.json` as it is now with the kept members of an earlier version; `None` if they are
/// the same.
pub(super) fn package_json(now: &str, kept: &str) -> Option<String> {
    let parse = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(members)) => Some(members),
        Ok(_) | Err(_) => None,
    };
    let kept = if kept.trim().is_empty() { Map::new() } else { parse(kept).unwrap_or_default() };
    let Some(mut members) = parse(now) else {
        // No runner reads it either, so the earlier one as a whole is all there is.
        return serde_json::to_string_pretty(&kept).ok();
    };
    if KEPT.iter().all(|key| members.get(*key) == kept.get(*key)) {
        return None;
    }
    for key in KEPT {
        match kept.get(key) {
            Some(value) => drop(members.insert(key.to_owned(), value.clone())),
            None => drop(members.shift_remove(key)),
        }
    }
    serde_json::to_string_pretty(&members).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_come_from_before_and_dependencies_from_now() {
        let before = r#"{"scripts": {"test": "node --test"}, "dependencies": {}}"#;
        let now =
            r#"{"scripts": {"test": "exit 0"}, "dependencies": {"left-pad": "*"}, "jest": {}}"#;
        let spliced = package_json(now, before).unwrap();
        assert!(spliced.contains("node --test") && spliced.contains("left-pad"), "{spliced}");
        assert!(!spliced.contains("jest"), "{spliced}");
    }

    #[test]
    fn a_new_dependency_touches_nothing_that_is_kept() {
        let before = r#"{"scripts": {"test": "node --test"}}"#;
        let now = r#"{"dependencies": {"left-pad": "*"}, "scripts": {"test": "node --test"}}"#;
        assert_eq!(package_json(now, before), None);
    }
}
