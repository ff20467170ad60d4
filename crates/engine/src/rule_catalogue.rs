//! The rules for users: [`RuleCatalogue`] lists and describes them, and [`test_rules`] runs the
//! examples of a repository's own rules.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use assay_base::nearest::{did_you_mean, nearest};
use assay_rules::examples::{self, ExampleCounts};
use assay_rules::{RuleDescription, Rulebook};

use crate::config::{self, Configuration};
use crate::environment::Environment;

/// The endings of the file with the examples of a rule.
const EXAMPLE_ENDINGS: [&str; 2] = ["test.yml", "test.yaml"];

/// All rules: the built-in ones, and those of a repository.
#[derive(Debug)]
pub struct RuleCatalogue {
    rules: Vec<RuleDescription>,
}

impl RuleCatalogue {
    /// Reads the rules of the repository around a folder, and their settings, as they are in the
    /// work tree. Outside of a repository, these are the built-in rules.
    pub fn open(environment: &Environment, folder: &Path) -> anyhow::Result<RuleCatalogue> {
        let Ok(root) = assay_change::root(folder) else { return RuleCatalogue::builtin() };
        let rulebook = Rulebook::with_repository_rules(config::rules_on_disk(&root)?)?;
        let configuration = Configuration::on_disk_or_default(environment, &root)?;
        let rulebook = rulebook.with_selection(configuration.rule_selection()?)?;
        let mut rules = rulebook.describe()?;
        for rule in &mut rules {
            let Some(file) = rule.file.clone() else { continue };
            if let Some(examples) = examples_beside(&root, &file)? {
                rule.add_examples(&file, &examples)?;
            }
        }
        Ok(RuleCatalogue { rules })
    }

    /// Returns the built-in rules alone.
    pub fn builtin() -> anyhow::Result<RuleCatalogue> {
        Ok(RuleCatalogue { rules: Rulebook::builtin().describe()? })
    }

    /// Returns all rules, sorted by id.
    pub fn rules(&self) -> &[RuleDescription] {
        &self.rules
    }

    /// Returns the rules that read files of a language, including those that read every text file.
    pub fn of_language(&self, name: &str) -> anyhow::Result<Vec<&RuleDescription>> {
        if !Rulebook::knows_language(name) {
            let known = Rulebook::languages();
            let near = nearest(name, known.iter().map(String::as_str));
            let question = did_you_mean(&near);
            bail!("unknown language `{name}`{question} Languages: {}", known.join(", "));
        }
        Ok(self.rules.iter().filter(|rule| rule.reads_language(name)).collect())
    }

    /// Returns the descriptions of a rule: several if the repository replaces a built-in rule in
    /// some of its languages.
    pub fn find(&self, id: &str) -> anyhow::Result<Vec<&RuleDescription>> {
        let found: Vec<&RuleDescription> = self.rules.iter().filter(|rule| rule.id == id).collect();
        if found.is_empty() {
            let names = nearest(id, self.rules.iter().map(|rule| rule.id.as_str()));
            let question = did_you_mean(&names);
            return Err(anyhow!("no rule `{id}`{question} (`assay rules list` lists all rules)"));
        }
        Ok(found)
    }
}

/// Reads the examples next to a rule file; `None` if there are none.
pub(crate) fn examples_beside(root: &Path, file: &str) -> anyhow::Result<Option<String>> {
    for ending in EXAMPLE_ENDINGS {
        let beside = Path::new(file).with_extension(ending);
        let beside = beside.to_str().ok_or_else(|| anyhow!("`{file}` is no text"))?;
        if let Some(text) = config::read_optional(root, beside)? {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// The result of the examples of one rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExampleOutcome {
    /// All examples have the expected result.
    Passed(ExampleCounts),
    /// The file has no examples, so nothing is tested.
    Untested,
    /// A rule or an example is wrong, for this reason.
    Failed(String),
}

/// A rule file with the result of its examples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleTest {
    /// The path of the rule file.
    pub file: String,
    /// The result of its examples.
    pub outcome: ExampleOutcome,
}

/// Runs the examples of the repository's rules, in the work tree around a folder.
pub fn test_repository_rules(folder: &Path) -> anyhow::Result<Vec<RuleTest>> {
    let root = assay_change::root(folder)?;
    let files = config::rules_on_disk(&root)?;
    let tests = files.into_iter().map(|(file, rule)| {
        let examples = examples_beside(&root, &file)?;
        Ok(RuleTest { outcome: test_examples(&file, &rule, examples.as_deref()), file })
    });
    tests.collect()
}

/// Runs the examples of a rule file, or of all rule files below a folder. Fails if there is none.
pub fn test_rules(path: &Path) -> anyhow::Result<Vec<RuleTest>> {
    let mut files = Vec::new();
    add_rule_files(path, &mut files)?;
    if files.is_empty() {
        bail!("no rule files in `{}`: expected files such as `no-floats.yml`", path.display());
    }
    files.sort();
    let tests = files.into_iter().map(|file| {
        let rule = read(&file)?;
        let beside = EXAMPLE_ENDINGS.map(|ending| file.with_extension(ending));
        let examples = beside.iter().find(|beside| beside.is_file());
        let examples = examples.map(|beside| read(beside)).transpose()?;
        let name = file.display().to_string();
        Ok(RuleTest { outcome: test_examples(&name, &rule, examples.as_deref()), file: name })
    });
    tests.collect()
}

fn read(file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).map_err(|error| anyhow!("cannot read `{}`: {error}", file.display()))
}

fn add_rule_files(path: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let fail = |error| anyhow!("cannot read `{}`: {error}", path.display());
    if !fs::metadata(path).map_err(fail)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        // A link may lead out of the folder, or back to it.
        let kind = entry.file_type().map_err(fail)?;
        let is_rule = entry.file_name().to_str().is_some_and(config::is_rule_file);
        if kind.is_dir() || (kind.is_file() && is_rule) {
            add_rule_files(&entry.path(), files)?;
        }
    }
    Ok(())
}

fn test_examples(name: &str, rule: &str, examples: Option<&str>) -> ExampleOutcome {
    let Some(examples) = examples else {
        let read = Rulebook::with_repository_rules([(name.to_owned(), rule.to_owned())]);
        return match read {
            Ok(_) => ExampleOutcome::Untested,
            Err(error) => ExampleOutcome::Failed(error.to_string()),
        };
    };
    match examples::check_examples(name, rule, examples) {
        Ok(counts) => ExampleOutcome::Passed(counts),
        Err(error) => ExampleOutcome::Failed(error.to_string()),
    }
}
