//! The part of `package.json` that decides what a test run does.

use serde_json::{Map, Value};

/// Members of `package.json` that define scripts and configure runners.
const KEPT: [&str; 12] = [
    "scripts", "jest", "vitest", "mocha", "ava", "tap", "c8", "nyc", "babel", "playwright",
    "cypress", "wireit",
];

/// The member that maps names of modules to files of the package.
const IMPORTS: &str = "imports";

/// Returns the map of modules with the entries of an earlier version and those that are new; `None`
/// if all earlier entries are the same.
fn kept_imports(now: Option<&Value>, kept: Option<&Value>) -> Option<Value> {
    let kept = kept?.as_object()?;
    let now = now.and_then(Value::as_object).cloned().unwrap_or_default();
    if kept.iter().all(|(name, file)| now.get(name) == Some(file)) {
        return None;
    }
    let mut imports = now;
    imports.extend(kept.iter().map(|(name, file)| (name.clone(), file.clone())));
    Some(Value::Object(imports))
}

/// Returns the current `package.json` with the kept members of an earlier version; `None` if they
/// are the same.
pub(super) fn package_json(now: &str, kept: &str) -> Option<String> {
    let parse = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(members)) => Some(members),
        Ok(_) | Err(_) => None,
    };
    let kept = if kept.trim().is_empty() { Map::new() } else { parse(kept).unwrap_or_default() };
    let Some(mut members) = parse(now) else {
        // No runner can read an invalid file either, so only the kept members are written.
        return serde_json::to_string_pretty(&kept).ok();
    };
    let imports = kept_imports(members.get(IMPORTS), kept.get(IMPORTS));
    if KEPT.iter().all(|key| members.get(*key) == kept.get(*key)) && imports.is_none() {
        return None;
    }
    for key in KEPT {
        match kept.get(key) {
            Some(value) => drop(members.insert(key.to_owned(), value.clone())),
            None => drop(members.shift_remove(key)),
        }
    }
    if let Some(imports) = imports {
        members.insert(IMPORTS.to_owned(), imports);
    }
    serde_json::to_string_pretty(&members).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_taken_from_the_earlier_version_and_dependencies_from_the_current_one() {
        let before = r#"{"scripts": {"test": "node --test"}, "dependencies": {}}"#;
        let now =
            r#"{"scripts": {"test": "exit 0"}, "dependencies": {"left-pad": "*"}, "jest": {}}"#;
        let spliced = package_json(now, before).unwrap();
        assert!(spliced.contains("node --test") && spliced.contains("left-pad"), "{spliced}");
        assert!(!spliced.contains("jest"), "{spliced}");
    }

    #[test]
    fn earlier_import_names_keep_their_targets_and_new_ones_stay() {
        let before = r##"{"imports": {"#check": "./lib/check.js"}}"##;
        let now = r##"{"imports": {"#check": "./lib/soft.js", "#new": "./new.js"}}"##;
        let spliced = package_json(now, before).unwrap();
        assert!(spliced.contains("./lib/check.js") && spliced.contains("./new.js"), "{spliced}");
        let added = r##"{"imports": {"#check": "./lib/check.js", "#new": "./new.js"}}"##;
        assert_eq!(package_json(added, before), None);
    }

    #[test]
    fn a_new_dependency_changes_no_kept_setting() {
        let before = r#"{"scripts": {"test": "node --test"}}"#;
        let now = r#"{"dependencies": {"left-pad": "*"}, "scripts": {"test": "node --test"}}"#;
        assert_eq!(package_json(now, before), None);
    }
}
