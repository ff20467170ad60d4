//! Dependencies added without their lock file.

use std::collections::BTreeSet;

use assay_change::diff::FileDiff;
use assay_findings::grounding::Tree;
use assay_findings::path::RepoPath;
use serde_json::Value;

use super::{ChangeCheck, ChangeFacts, CheckMatch};
use crate::rule_text::RuleText;

pub(super) const CHECK: ChangeCheck = ChangeCheck {
    rule_text: RuleText {
        id: "change/lock-file-not-updated",
        grade: "MEDIUM",
        category: "supply_chain",
        title: "Dependency added without the lock file",
        message: "The next install gets the newest version at that time, or an error if the lock \
                  file is enforced.",
        advice: "Run the package manager's install and commit the lock file with the manifest.",
    },
    find,
};

/// A manifest, its possible lock files, and the parser of its dependencies.
struct Manifest {
    name: &'static str,
    locks: &'static [&'static str],
    dependencies: fn(&str) -> BTreeSet<String>,
}

const MANIFESTS: &[Manifest] = &[
    Manifest {
        name: "package.json",
        locks: &["package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"],
        dependencies: |text| {
            json_keys(text, &["dependencies", "devDependencies", "optionalDependencies"])
        },
    },
    Manifest {
        name: "composer.json",
        locks: &["composer.lock"],
        dependencies: |text| json_keys(text, &["require", "require-dev"]),
    },
    Manifest { name: "Cargo.toml", locks: &["Cargo.lock"], dependencies: toml_keys },
    Manifest {
        name: "pyproject.toml",
        locks: &["poetry.lock", "uv.lock", "pdm.lock"],
        dependencies: toml_keys,
    },
    Manifest { name: "Gemfile", locks: &["Gemfile.lock"], dependencies: gem_names },
    Manifest { name: "go.mod", locks: &["go.sum"], dependencies: module_names },
];

fn find(change_facts: &ChangeFacts<'_>) -> Vec<CheckMatch> {
    let touched: BTreeSet<&str> = change_facts.change.files.iter().map(FileDiff::path).collect();
    let mut seen = Vec::new();
    for (file, _) in change_facts.reviewed_files() {
        let (folder, name) = file.path().rsplit_once('/').unwrap_or(("", file.path()));
        let Some(manifest) = MANIFESTS.iter().find(|manifest| manifest.name == name) else {
            continue;
        };
        let locks = locks_above(change_facts, manifest, folder);
        if locks.is_empty() || locks.iter().any(|lock| touched.contains(lock.as_str())) {
            continue;
        }
        seen.extend(added_without_lock(change_facts, file, manifest, &locks[0]));
    }
    seen
}

/// Returns the nearest lock files that may belong to a manifest in a folder.
fn locks_above(change_facts: &ChangeFacts<'_>, manifest: &Manifest, folder: &str) -> Vec<String> {
    let mut folder = Some(folder);
    while let Some(here) = folder {
        let path = |lock: &&str| {
            if here.is_empty() { (*lock).to_owned() } else { format!("{here}/{lock}") }
        };
        let there = |path: &String| {
            // If git fails, the change records the error, and the review is incomplete.
            let exists = |path: RepoPath| change_facts.change.base().exists(&path).unwrap_or(true);
            RepoPath::exact(path).is_ok_and(exists)
        };
        let locks: Vec<String> = manifest.locks.iter().map(path).filter(there).collect();
        if !locks.is_empty() {
            return locks;
        }
        folder = match here {
            "" => None,
            here => Some(here.rsplit_once('/').map_or("", |(above, _)| above)),
        };
    }
    Vec::new()
}

fn added_without_lock(
    change_facts: &ChangeFacts<'_>,
    file: &FileDiff,
    manifest: &Manifest,
    lock: &str,
) -> Option<CheckMatch> {
    let read = |tree: &dyn Tree, path: Option<&str>| {
        let text = tree.read(&RepoPath::exact(path?).ok()?).ok()??;
        Some((manifest.dependencies)(&text))
    };
    let before = read(change_facts.change.base(), file.old_path.as_deref()).unwrap_or_default();
    let after = read(change_facts.change.tree(), file.new_path.as_deref())?;
    let new: Vec<&String> = after.difference(&before).collect();
    let first = new.first()?;
    let more = if new.len() > 1 { format!(" and {} more", new.len() - 1) } else { String::new() };
    Some(CheckMatch {
        file: file.new_path.clone(),
        lines: None,
        note: format!("`{first}`{more} is not in `{lock}`."),
        subject: new.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(","),
    })
}

fn json_keys(text: &str, sections: &[&str]) -> BTreeSet<String> {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let tables = sections.iter().filter_map(|section| value[section].as_object());
    tables.flat_map(|table| table.keys().cloned()).collect()
}

/// Parses the keys of tables with dependencies, and the entries of lists of requirements.
fn toml_keys(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut in_table = false;
    let mut in_list = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') && !in_list {
            in_table = line.contains("dependencies") && line.ends_with(']');
            // `[dependencies.serde]` names a single dependency.
            if let Some((_, name)) = line.trim_end_matches(']').split_once("dependencies.") {
                names.extend((!name.contains('.')).then(|| name.to_owned()));
                in_table = false;
            }
            continue;
        }
        if line.starts_with("dependencies") && line.contains('[') {
            in_list = !line.contains(']');
            names.extend(requirements(line));
        } else if in_list {
            in_list = !line.starts_with(']');
            names.extend(requirements(line));
        } else if in_table && let Some((name, value)) = line.split_once('=') {
            // A dependency in the same repository needs no lock.
            let name = name.trim().trim_matches('"');
            let is_path = value.contains("path =") || name.ends_with(".workspace");
            names.extend((!is_path && !line.starts_with('#')).then(|| name.to_owned()));
        }
    }
    names
}

/// Returns the packages of quoted requirements such as `"requests>=2"`.
fn requirements(line: &str) -> impl Iterator<Item = String> {
    line.split('"').skip(1).step_by(2).map(|requirement| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        requirement.chars().take_while(|c| is_name(*c)).collect()
    })
}

fn gem_names(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("gem "));
    lines.filter_map(|rest| rest.split(['"', '\'']).nth(1)).map(str::to_owned).collect()
}

fn module_names(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(|line| line.trim().trim_start_matches("require "));
    let modules =
        lines.filter(|line| line.split_whitespace().nth(1).is_some_and(|v| v.starts_with('v')));
    modules.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_read_from_every_kind_of_manifest() {
        let names = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(
            names(json_keys(r#"{"dependencies": {"a": "1", "@s/b": "2"}}"#, &["dependencies"])),
            "@s/b a"
        );
        assert_eq!(
            names(toml_keys(
                "[package]\nname = \"x\"\n[dependencies]\na = \"1\"\nb = { path = \"../b\" }\n[dev-dependencies.c]\nversion = \"1\"\n"
            )),
            "a c"
        );
        assert_eq!(
            names(toml_keys("[project]\ndependencies = [\n  \"requests>=2\",\n  \"rich\",\n]\n")),
            "requests rich"
        );
        assert_eq!(names(gem_names("source 'x'\ngem 'rails', '~> 7'\n  gem \"pg\"\n")), "pg rails");
        assert_eq!(
            names(module_names(
                "module x\n\ngo 1.22\n\nrequire (\n\ta.io/b v1.2.3\n)\nrequire c.io/d v0.1.0\n"
            )),
            "a.io/b c.io/d"
        );
    }
}
