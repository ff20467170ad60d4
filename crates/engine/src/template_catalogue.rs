//! The templates of findings for users: [`TemplateCatalogue`] lists them, and runs their examples.

use std::path::Path;

use anyhow::anyhow;
use assay_base::nearest::{did_you_mean, nearest};
use assay_findings::template::{ClaimFacts, FindingTemplate, MatchMethod, TemplateSet};
use assay_review::templates;

use crate::config;

/// All templates: the built-in ones, and those of a repository.
#[derive(Debug)]
pub struct TemplateCatalogue {
    templates: TemplateSet,
}

/// The examples of one template.
#[derive(Debug)]
pub struct TemplateTest {
    /// The name of the template.
    pub name: String,
    /// The number of examples.
    pub examples: usize,
    /// The examples that do not hold, in words.
    pub failed: Vec<String>,
}

impl TemplateCatalogue {
    /// Reads the templates of the repository around a folder, as they are in the work tree. Outside
    /// of a repository, these are the built-in templates.
    pub fn open(folder: &Path) -> anyhow::Result<TemplateCatalogue> {
        let Ok(root) = assay_change::root(folder) else {
            return Ok(TemplateCatalogue { templates: templates::builtin().clone() });
        };
        let own = templates::read_all(&config::templates_on_disk(&root)?)?;
        Ok(TemplateCatalogue { templates: templates::with_own(own) })
    }

    /// Returns all templates, those of the repository first; true marks one of the repository.
    pub fn templates(&self) -> impl Iterator<Item = (&FindingTemplate, bool)> {
        self.templates.iter()
    }

    /// Returns a template by its name, and true if it is one of the repository.
    pub fn find(&self, name: &str) -> anyhow::Result<(&FindingTemplate, bool)> {
        let found = self.templates().find(|(template, _)| template.name == name);
        found.ok_or_else(|| {
            let near = nearest(name, self.templates().map(|(template, _)| template.name.as_str()));
            let question = did_you_mean(&near);
            let list = "`assay findings templates list` lists all templates";
            anyhow!("no template `{name}`{question} ({list})")
        })
    }

    /// Runs the examples of all templates.
    pub fn test(&self) -> Vec<TemplateTest> {
        let test = |(template, _): (&FindingTemplate, bool)| TemplateTest {
            name: template.name.clone(),
            examples: template.examples.matching.len() + template.examples.other.len(),
            failed: templates::failed_examples(&self.templates, template),
        };
        self.templates().map(test).collect()
    }

    /// Returns the template that a finding would get, and the way by which it is recognised.
    pub fn recognise(&self, facts: &ClaimFacts<'_>) -> Option<(&FindingTemplate, MatchMethod)> {
        self.templates.recognise(facts)
    }
}
