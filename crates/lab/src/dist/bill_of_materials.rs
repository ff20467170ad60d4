//! The crates that the program is built from, with their licences: [`BillOfMaterials`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, bail};
use assay_testenv::workspace::{command, root};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{LICENSE, SUMMARY, version};
use crate::workspace::output;

/// The beginnings of the names of files with licence texts.
const LICENSE_FILES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT"];

/// A crate that the program is built from.
struct Component {
    name: String,
    version: String,
    /// The SPDX expression; `None` if the crate names a file only.
    license: Option<String>,
    /// The path of the crate's `Cargo.toml`.
    manifest: String,
    /// The checksum of the crate in the registry; `None` for crates of the workspace.
    sha256: Option<String>,
    /// True if the crate is part of this workspace.
    is_own: bool,
    /// The ids of the crates that the crate uses.
    uses: BTreeSet<String>,
}

impl Component {
    /// Returns the package URL of the crate, by which tools identify it.
    fn url(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }
}

/// The crates that the program is built from, by the id that cargo gives them.
pub(super) struct BillOfMaterials(BTreeMap<String, Component>);

impl BillOfMaterials {
    /// Returns the crates of the program on a target: what `assay` uses at run time, and what those
    /// crates use.
    pub(super) fn of_product(triple: &str) -> anyhow::Result<BillOfMaterials> {
        let args = ["metadata", "--locked", "--format-version", "1", "--filter-platform", triple];
        let metadata: Value = serde_json::from_str(&output(command("cargo", &args))?)?;
        let lock = std::fs::read_to_string(root().join("Cargo.lock"))?;
        BillOfMaterials::read(&metadata, &checksums(&lock))
    }

    /// Reads the output of `cargo metadata`, with the checksums of `Cargo.lock`.
    fn read(metadata: &Value, checksums: &Checksums) -> anyhow::Result<BillOfMaterials> {
        let packages = list(metadata, "packages")?;
        let by_id: BTreeMap<&str, &Value> =
            packages.iter().map(|package| (text(package, "id"), package)).collect();
        let nodes = list(&metadata["resolve"], "nodes")?;
        let uses: BTreeMap<&str, BTreeSet<String>> =
            nodes.iter().map(|node| (text(node, "id"), used_at_run_time(node))).collect();
        let program = packages.iter().find(|package| text(package, "name") == "assay");
        let mut waiting = vec![text(program.context("no package is called `assay`")?, "id")];
        let mut components = BTreeMap::new();
        while let Some(id) = waiting.pop() {
            if components.contains_key(id) {
                continue;
            }
            let (Some(package), Some(used)) = (by_id.get(id), uses.get(id)) else {
                bail!("`cargo metadata` does not describe `{id}`");
            };
            waiting.extend(used.iter().map(String::as_str));
            components.insert(id.to_owned(), component(package, used.clone(), checksums));
        }
        Ok(BillOfMaterials(components))
    }

    /// Returns the bill in the JSON format of CycloneDX 1.6, with a time in seconds since 1970.
    pub(super) fn to_json(&self, time: u64) -> anyhow::Result<String> {
        let time = Timestamp::from_second(i64::try_from(time)?)?;
        let others = || self.0.values().filter(|component| component.name != "assay");
        let dependencies = self.0.values().map(|component| {
            let used = component.uses.iter().filter_map(|id| Some(self.0.get(id)?.url()));
            json!({ "ref": component.url(), "dependsOn": used.collect::<BTreeSet<_>>() })
        });
        let bill = json!({
            "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {
                "timestamp": time.to_string(),
                "component": {
                    "type": "application",
                    "bom-ref": format!("pkg:cargo/assay@{}", version()),
                    "name": "assay",
                    "version": version(),
                    "description": SUMMARY,
                    "licenses": [{ "expression": LICENSE }],
                },
            },
            "components": others().map(component_json).collect::<Vec<_>>(),
            "dependencies": dependencies.collect::<Vec<_>>(),
        });
        Ok(format!("{bill:#}\n"))
    }

    /// Returns the licence texts of all crates of other projects. Crates with the same text are
    /// listed above it together.
    pub(super) fn licenses(&self) -> anyhow::Result<String> {
        let mut by_text: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for component in self.0.values().filter(|component| !component.is_own) {
            let shown = format!(
                "{} {} ({})",
                component.name,
                component.version,
                component.license.as_deref().unwrap_or("see the text")
            );
            for text in license_texts(Path::new(&component.manifest))? {
                by_text.entry(text).or_default().insert(shown.clone());
            }
        }
        let mut sections: Vec<String> = by_text
            .into_iter()
            .map(|(text, crates)| {
                let crates: Vec<String> = crates.into_iter().collect();
                format!("{}\n\n{text}\n", crates.join("\n"))
            })
            .collect();
        sections.sort();
        Ok(sections.join(&format!("\n{}\n\n", "-".repeat(72))))
    }
}

/// The checksums of crates, by name and version.
type Checksums = BTreeMap<(String, String), String>;

/// Returns the checksums in the text of a `Cargo.lock`, which has one key on each line.
fn checksums(lock: &str) -> Checksums {
    let mut found = Checksums::new();
    let (mut name, mut version) = ("", "");
    for line in lock.lines() {
        let Some((key, value)) = line.split_once(" = ") else { continue };
        let value = value.trim_matches('"');
        match key {
            "name" => name = value,
            "version" => version = value,
            "checksum" => {
                found.insert((name.to_owned(), version.to_owned()), value.to_owned());
            }
            _ => {}
        }
    }
    found
}

fn component(package: &Value, uses: BTreeSet<String>, checksums: &Checksums) -> Component {
    let (name, version) = (text(package, "name").to_owned(), text(package, "version").to_owned());
    let sha256 = checksums.get(&(name.clone(), version.clone())).cloned();
    Component {
        // Older crates write `MIT/Apache-2.0`, which is no expression of SPDX.
        license: package["license"].as_str().map(|license| license.replace('/', " OR ")),
        manifest: text(package, "manifest_path").to_owned(),
        is_own: package["source"].is_null(),
        sha256,
        uses,
        name,
        version,
    }
}

/// Returns the ids of the crates that a crate uses at run time, without those of build scripts and
/// tests.
fn used_at_run_time(node: &Value) -> BTreeSet<String> {
    let used = node["deps"].as_array().into_iter().flatten().filter(|used| {
        let kinds = used["dep_kinds"].as_array();
        kinds.into_iter().flatten().any(|kind| kind["kind"].is_null())
    });
    used.map(|used| text(used, "pkg").to_owned()).collect()
}

fn component_json(component: &Component) -> Value {
    let mut value = json!({
        "type": "library",
        "bom-ref": component.url(),
        "name": component.name,
        "version": component.version,
        "purl": component.url(),
    });
    if let Some(license) = &component.license {
        value["licenses"] = json!([{ "expression": license }]);
    }
    if let Some(sha256) = &component.sha256 {
        value["hashes"] = json!([{ "alg": "SHA-256", "content": sha256 }]);
    }
    value
}

/// Returns the licence texts in the folder of a crate, sorted by file name.
fn license_texts(manifest: &Path) -> anyhow::Result<Vec<String>> {
    let folder = manifest.parent().context("a manifest is in a folder")?;
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        let is_license = LICENSE_FILES.iter().any(|start| name.starts_with(start));
        if is_license && entry.file_type()?.is_file() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    let read = paths.iter().map(|path| {
        let bytes = super::read(path)?;
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
        Ok(text.trim_end().to_owned())
    });
    read.collect()
}

fn list<'v>(value: &'v Value, key: &str) -> anyhow::Result<&'v Vec<Value>> {
    value[key].as_array().with_context(|| format!("`cargo metadata` has no list `{key}`"))
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, source: Option<&str>, license: &str) -> Value {
        json!({
            "id": name, "name": name, "version": "1.0.0", "source": source, "license": license,
            "manifest_path": format!("/crates/{name}/Cargo.toml"),
        })
    }

    fn uses(name: &str, used: &[(&str, Value)]) -> Value {
        let deps: Vec<Value> = used
            .iter()
            .map(|(name, kind)| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] }))
            .collect();
        json!({ "id": name, "deps": deps })
    }

    fn bill() -> BillOfMaterials {
        let registry = Some("registry");
        let metadata = json!({
            "packages": [
                package("assay", None, "MIT"),
                package("inner", registry, "MIT/Apache-2.0"),
                package("test-only", registry, "MIT"),
                package("build-only", registry, "MIT"),
                package("unused", registry, "MIT"),
            ],
            "resolve": { "nodes": [
                uses("assay", &[
                    ("inner", Value::Null),
                    ("test-only", json!("dev")),
                    ("build-only", json!("build")),
                ]),
                uses("inner", &[("inner", Value::Null)]),
            ] },
        });
        let lock = "[[package]]\nname = \"inner\"\nversion = \"1.0.0\"\nchecksum = \"abc\"\n";
        BillOfMaterials::read(&metadata, &checksums(lock)).unwrap()
    }

    #[test]
    fn crates_of_tests_and_build_scripts_are_no_part_of_the_program() {
        let names: Vec<String> = bill().0.into_values().map(|part| part.name).collect();
        assert_eq!(names, ["assay", "inner"]);
    }

    #[test]
    fn a_component_has_license_checksum_and_dependencies() {
        let json: Value = serde_json::from_str(&bill().to_json(0).unwrap()).unwrap();
        assert_eq!(json["metadata"]["timestamp"], "1970-01-01T00:00:00Z");
        assert_eq!(
            json["components"],
            json!([{
                "type": "library",
                "bom-ref": "pkg:cargo/inner@1.0.0",
                "name": "inner",
                "version": "1.0.0",
                "purl": "pkg:cargo/inner@1.0.0",
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
                "hashes": [{ "alg": "SHA-256", "content": "abc" }],
            }])
        );
        assert_eq!(json["dependencies"][0]["dependsOn"], json!(["pkg:cargo/inner@1.0.0"]));
    }

    #[test]
    fn a_crate_that_cargo_does_not_describe_is_an_error() {
        let metadata = json!({
            "packages": [package("assay", None, "MIT")],
            "resolve": { "nodes": [uses("assay", &[("gone", Value::Null)])] },
        });
        let error = BillOfMaterials::read(&metadata, &Checksums::new()).err().unwrap();
        assert!(error.to_string().contains("`gone`"), "{error}");
    }
}
