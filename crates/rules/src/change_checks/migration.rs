//! Migrations that cannot be reverted.

use std::sync::LazyLock;

use assay_findings::path::RepoPath;
use regex::Regex;

use super::{ChangedFile, CheckMatch, FileCheck};
use crate::rule_text::RuleText;

pub(super) const CHECK: FileCheck = FileCheck {
    rule_text: RuleText {
        id: "change/migration-without-way-back",
        grade: "MEDIUM",
        category: "reliability",
        title: "Migration without its way back",
        message: "If the release is rolled back, the database keeps the new schema.",
        advice: "Write the down migration, or state in it why there is none.",
    },
    find,
};

static EMPTY_DOWNGRADE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^def downgrade\(.*\).*:\s*\n(?:\s*(?:"""[^"]*""")\s*\n)?\s*(?:pass|return|\.\.\.)\s*(?:\n\S|\z|\n\s*\z)"#)
        .expect("the pattern is valid")
});

static ONE_WAY_STEP: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"migrations\.(?:RunPython\(\s*(?:code\s*=\s*)?[\w.]+\s*,?\s*\)|RunSQL\(\s*(?:[rf]?'[^']*'|[rf]?\x22[^\x22]*\x22)\s*,?\s*\))")
        .expect("the pattern is valid")
});

fn find(view: &ChangedFile<'_>) -> Vec<CheckMatch> {
    let is_new = view.file.old_path.is_none();
    let why = if is_new { missing_part(view) } else { None };
    let seen = why.map(|why| CheckMatch {
        file: view.file.new_path.clone(),
        lines: None,
        note: why.to_owned(),
        subject: String::new(),
    });
    seen.into_iter().collect()
}

/// Returns the missing part of a migration, by the conventions of common tools; `None` if it is
/// complete.
fn missing_part(view: &ChangedFile<'_>) -> Option<&'static str> {
    let path = view.file.new_path.as_deref()?;
    if let Some(stem) = path.strip_suffix(".up.sql") {
        let down = RepoPath::exact(&format!("{stem}.down.sql")).ok()?;
        // A file that cannot be read is not known to be absent; the change records the error.
        let exists = view.change.tree().exists(&down).unwrap_or(true);
        return (!exists).then_some("There is no `.down.sql` beside it.");
    }
    let folder = |name: &str| path.split('/').any(|part| part == name);
    let text = view.after?;
    if path.ends_with(".py") && folder("versions") && text.contains("def upgrade(") {
        let missing = !text.contains("def downgrade(") || EMPTY_DOWNGRADE.is_match(text);
        missing.then_some("`downgrade` does nothing.")
    } else if path.ends_with(".py") && folder("migrations") {
        ONE_WAY_STEP.is_match(text).then_some("A step of it has no reverse.")
    } else if path.ends_with(".rb") && folder("migrate") {
        let one_way = text.contains("def up") && !text.contains("def down");
        one_way.then_some("It has an `up` and no `down`.")
    } else if folder("migrations") && (path.ends_with(".js") || path.ends_with(".ts")) {
        let exports = |name: &str| {
            text.contains(&format!("exports.{name} "))
                || text.contains(&format!("function {name}("))
        };
        (exports("up") && !exports("down")).then_some("It has an `up` and no `down`.")
    } else {
        None
    }
}
