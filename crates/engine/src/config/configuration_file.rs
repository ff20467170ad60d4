//! The files of the configuration: [`ConfigurationFile`], and [`ConfigurationLayers`] of the user
//! and of a repository.
//!
//! A repository has one file, at one of [`PATHS`]. The user's file applies to all repositories and
//! has lower priority. It cannot set keys that decide which findings a repository's review reports,
//! nor keys of the work that several users share.

use std::fs;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_agents::config::ConfigError;
use assay_change::Change;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::effective_files::{may_belong, read_before, read_optional, touches};
use super::located_value::LocatedContent;
use super::{Configuration, PATH, expand_variables};
use crate::environment::Environment;

/// The paths of the configuration in a repository, of which a repository has one.
pub const PATHS: [&str; 4] = [PATH, "assay.yaml", ".assay.yaml", ".assay/config.yaml"];

/// The sections that describe the work of a repository, which several users share.
const SHARED_SECTIONS: [&str; 6] = ["gates", "qa", "task", "safeguards", "queue", "workflow"];

/// The keys that decide which parts of a change are reviewed.
const REVIEW_KEYS: [&[&str]; 6] = [
    &["coverage"],
    &["review", "ignore"],
    &["review", "max_file_kib"],
    &["review", "nothing_to_review"],
    &["review", "rules"],
    &["review", "rule_paths"],
];

/// A configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigurationFile {
    /// The path for messages: relative to the root of the repository, or as the user gave it.
    pub path: String,
    /// The text of the file.
    pub text: String,
}

impl ConfigurationFile {
    /// Reads the configuration of a work tree; `None` if there is none.
    pub(crate) fn on_disk(root: &Path) -> anyhow::Result<Option<ConfigurationFile>> {
        let found = find(|path| read_optional(root, path))?;
        let misnamed = PATHS.map(|path| path.replace(".yaml", ".yml"));
        if let Some(path) = misnamed.iter().find(|path| root.join(path).exists()) {
            let right = path.replace(".yml", ".yaml");
            bail!(
                "`{path}` is not read: the name of the configuration is `{right}`; rename the file"
            );
        }
        Ok(found)
    }

    /// Reads the configuration before a change; `None` if there was none.
    fn before(change: &Change) -> anyhow::Result<Option<ConfigurationFile>> {
        find(|path| read_before(change, path))
    }

    /// Reads the configuration that applies to a change: that before the change if the change
    /// touches a file of the configuration or may contain one, otherwise the one in the work tree.
    /// Adds a note if the change touches one, or if the work tree differs from the version before.
    pub(super) fn of(
        change: &Change,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Option<ConfigurationFile>> {
        let before = || ConfigurationFile::before(change);
        if PATHS.iter().any(|path| touches(change, path)) {
            let what = "the change modifies the configuration";
            notes.push(format!("{what}; using the version before the change"));
            return before();
        }
        let (before, now) = (before()?, ConfigurationFile::on_disk(&change.root)?);
        if now != before && PATHS.iter().any(|path| may_belong(change, path)) {
            let what = "the configuration may belong to the change";
            notes.push(format!("{what}; using the version before the change"));
            return Ok(before);
        }
        if now != before && now.is_some() {
            notes.push("using an uncommitted version of the configuration".to_owned());
        }
        Ok(now)
    }

    /// Reads the file that the user names.
    pub(crate) fn given(path: &Path) -> anyhow::Result<ConfigurationFile> {
        let text = fs::read_to_string(path);
        let text = text.with_context(|| format!("cannot read `{}`", path.display()))?;
        Ok(ConfigurationFile { path: path.display().to_string(), text })
    }

    /// Reads the user's configuration; `None` if there is none. Fails if it is in the work tree: a
    /// change could edit it there.
    fn of_user(
        environment: &Environment,
        root: &Path,
    ) -> anyhow::Result<Option<ConfigurationFile>> {
        let Some(path) = user_path(environment) else { return Ok(None) };
        match fs::symlink_metadata(&path) {
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(None),
            _ => {}
        }
        if is_inside(&path, root) {
            bail!(
                "the configuration of the user, `{}`, is in the work tree, where a change can edit \
                 it; set `XDG_CONFIG_HOME` to a folder outside",
                path.display()
            );
        }
        ConfigurationFile::given(&path).map(Some)
    }

    /// Parses the file as a value of some type. An error names the file, the line and the key.
    fn parse<T: DeserializeOwned>(&self, environment: &Environment) -> anyhow::Result<Option<T>> {
        self.parse_text(&expand_variables(environment, &self.path, &self.text)?)
    }

    fn parse_text<T: DeserializeOwned>(&self, text: &str) -> anyhow::Result<Option<T>> {
        // The YAML parser rejects a text that has only comments.
        if text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#')) {
            return Ok(None);
        }
        // The parser counts comments towards a limit, and a configuration is mostly comments. A
        // line quoted in an error may hold the value of a variable.
        let options = serde_saphyr::options! { emit_comments: false, with_snippet: false };
        let read = serde_saphyr::from_str_with_options(text, options);
        Ok(Some(read.map_err(|error| {
            ConfigError::in_yaml(&self.path, text, &error).with_value(&self.text, text)
        })?))
    }

    /// Returns the values of the file with their lines. Fails if the file is not a configuration.
    pub(crate) fn values(&self, environment: &Environment) -> anyhow::Result<LocatedContent> {
        self.parse::<Configuration>(environment)?;
        let values = self.parse(environment)?;
        Ok(values.unwrap_or_else(|| LocatedContent::Map(Default::default())))
    }

    /// Returns the values as they are written, with variables, and with their lines.
    pub(super) fn written_values(&self) -> anyhow::Result<LocatedContent> {
        let written: Option<LocatedContent> = self.parse_text(&self.text)?;
        Ok(written.unwrap_or_else(|| LocatedContent::Map(Default::default())))
    }

    /// Fails if the user's file has a key that only a repository may set.
    fn check_user_keys(&self, environment: &Environment) -> anyhow::Result<()> {
        let values = self.values(environment)?;
        let shared = SHARED_SECTIONS.iter().map(std::slice::from_ref);
        let shared =
            shared.map(|keys| (keys, "several users share the work that the key describes"));
        let review = REVIEW_KEYS.iter().map(|keys| {
            (*keys, "the key decides what is reviewed, which must be the same for every user")
        });
        for (keys, reason) in shared.chain(review) {
            if let Some(found) = values.find(keys) {
                let (path, line, key) = (&self.path, found.line, keys.join("."));
                bail!(
                    "`{path}`, line {line}: `{key}` can only be set in the configuration of a \
                     repository, such as `{}`: {reason}",
                    PATHS[1]
                );
            }
        }
        Ok(())
    }
}

/// Returns the path of the user's configuration; `None` if no home is known.
pub(crate) fn user_path(environment: &Environment) -> Option<PathBuf> {
    let home = || Some(PathBuf::from(environment.variable("HOME")?).join(".config"));
    let folder = environment.variable("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
    folder.filter(|folder| folder.is_absolute()).map(|folder| folder.join("assay/config.yaml"))
}

/// Returns true if a file is in a folder, as named or with links resolved.
fn is_inside(file: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real(folder);
    let parent = file.parent().map(real);
    real(file).starts_with(&folder) || parent.is_some_and(|parent| parent.starts_with(&folder))
}

/// Returns the paths of the user's configuration and that of a work tree, as far as they exist.
pub(crate) fn paths_on_disk(environment: &Environment, root: &Path) -> anyhow::Result<Vec<String>> {
    let own = ConfigurationFile::on_disk(root)?;
    let layers = ConfigurationLayers::above_user(environment, root, own)?;
    Ok(layers.files().map(|file| file.path.clone()).collect())
}

/// Finds the file of a tree. Fails if there are two.
fn find(
    read: impl Fn(&str) -> anyhow::Result<Option<String>>,
) -> anyhow::Result<Option<ConfigurationFile>> {
    let mut found: Option<ConfigurationFile> = None;
    for path in PATHS {
        let Some(text) = read(path)? else { continue };
        if let Some(other) = &found {
            bail!(
                "two configuration files, `{}` and `{path}`: move the keys of one to the other, and \
                 delete the one",
                other.path
            );
        }
        found = Some(ConfigurationFile { path: path.to_owned(), text });
    }
    Ok(found)
}

/// The files of the configuration: that of the user, and that of the repository or of an option,
/// which has precedence.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConfigurationLayers {
    pub(crate) user: Option<ConfigurationFile>,
    pub(crate) own: Option<ConfigurationFile>,
}

impl ConfigurationLayers {
    /// Returns the layers of a work tree: the user's file, and `own` above it.
    pub(crate) fn above_user(
        environment: &Environment,
        root: &Path,
        own: Option<ConfigurationFile>,
    ) -> anyhow::Result<ConfigurationLayers> {
        Ok(ConfigurationLayers { user: ConfigurationFile::of_user(environment, root)?, own })
    }

    /// Returns the files, the one with precedence last.
    pub(crate) fn files(&self) -> impl Iterator<Item = &ConfigurationFile> {
        self.user.iter().chain(&self.own)
    }

    /// Parses all files. A key of a later file replaces the same key of an earlier one; maps are
    /// merged key by key.
    pub(super) fn parse(&self, environment: &Environment) -> anyhow::Result<Configuration> {
        if let Some(user) = &self.user {
            user.check_user_keys(environment)?;
        }
        let mut merged = Value::Object(Default::default());
        for file in self.files() {
            let Some(configuration) = file.parse::<Configuration>(environment)? else { continue };
            if self.files().count() == 1 {
                return Ok(configuration);
            }
            merge(&mut merged, file.values(environment)?.to_json());
        }
        serde_json::from_value(merged).with_context(|| self.title("cannot merge"))
    }

    /// Adds the place of the wrong value to an error about the values of the files: the line of the
    /// innermost key that the error names, in the file whose key applies.
    pub(super) fn explain(&self, environment: &Environment, error: anyhow::Error) -> anyhow::Error {
        if self.files().next().is_none() {
            return error;
        }
        let message = format!("{error:#}");
        let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        // The file with precedence is the last one.
        let found = self.files().filter_map(|file| {
            let values = file.values(environment).ok()?;
            let (line, key) = values.find_named(&names)?;
            Some(format!("invalid configuration in `{}`, line {line} (`{key}`)", file.path))
        });
        match found.last() {
            Some(place) => error.context(place),
            None => error.context(self.title("invalid configuration in")),
        }
    }

    /// Returns a message about the files.
    pub(super) fn title(&self, what: &str) -> String {
        let files: Vec<String> = self.files().map(|file| format!("`{}`", file.path)).collect();
        format!("{what} {}", files.join(" and "))
    }
}

/// Merges a value over another one: maps key by key, and any other value as a whole.
fn merge(below: &mut Value, above: Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                merge(below.entry(key).or_insert(Value::Null), value);
            }
        }
        (below, above) => *below = above,
    }
}
