//! Personas: models with a role, each described in one Markdown file.
//!
//! [`Persona`] is such a file: its trigger ([`trigger`]), the worst grade that it may give, and its
//! brief. A persona that carries others is a *reading*: it reads the change once for all of their
//! concerns. [`Personas`] are the shipped ones and those of the repository. [`reviewer`] lets a
//! persona read a change, part by part ([`reading`]), and [`validator`] takes second looks at
//! findings.
//!
//! `context` is the context that all personas of a run share, `conversation` asks a question with
//! the look-ups before its answer, and `handover` retains an entry of a persona's brief only if the
//! persona that it names reads the change. Every class of defect in `personas/defect-classes.txt`
//! has a persona that owns it, and every persona a reading that carries it; tests check both.

mod context;
mod conversation;
mod handover;
pub(crate) mod reading;
mod reviewer;
mod shipped;
mod signals;
mod trigger;
pub mod validator;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_findings::grade::Grade;
use serde::Deserialize;

use crate::prompt::Role;

pub use self::context::{Models, PersonaContext};
pub use self::reviewer::PersonaReviewer;
pub use self::signals::Signals;
pub use self::trigger::Trigger;

/// The persona that takes second looks at findings; it is on no roster.
pub const VALIDATOR: &str = "validator";

/// A model with a role.
#[derive(Debug, Clone)]
pub struct Persona {
    /// The name, under which the persona reports.
    pub name: String,
    /// The purpose of the persona, on one line.
    pub about: String,
    /// The defects that a reading looks for on behalf of this persona.
    pub concern: String,
    /// The names of the personas whose concerns this persona carries; empty for a persona that
    /// reads for itself.
    pub carries: Vec<String>,
    /// The tier of the persona's model.
    pub tier: Tier,
    /// The worst grade that the persona may give.
    pub cap: Grade,
    /// True if a change cannot be ready without an answer of the persona.
    pub required: bool,
    /// The classes of defect that the persona is responsible for.
    pub owns: Vec<String>,
    /// The condition on a change under which the persona reads.
    pub trigger: Trigger,
    /// The prompt of the persona: its role, the defects to look for, the levels of confidence, and
    /// the defects to leave alone.
    pub brief: String,
}

/// The tier of a persona's model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// A cheap model.
    Cheap,
    /// The usual model.
    Default,
    /// The best model.
    Premium,
}

/// The error for an invalid file of a persona.
#[derive(Debug, thiserror::Error)]
#[error("the persona `{file}` cannot be used: {message}")]
pub struct PersonaError {
    file: String,
    message: String,
}

/// The front matter of a persona's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    name: String,
    #[serde(default)]
    about: String,
    concern: Option<String>,
    #[serde(default)]
    carries: Vec<String>,
    #[serde(default = "default_tier")]
    tier: Tier,
    #[serde(default = "default_cap")]
    cap: String,
    #[serde(default)]
    required: bool,
    #[serde(default)]
    owns: Vec<String>,
    trigger: trigger::PredicateSource,
}

fn default_tier() -> Tier {
    Tier::Default
}

fn default_cap() -> String {
    "P0".to_owned()
}

impl Persona {
    /// Parses a persona from the text of its file.
    pub fn read(file: &str, text: &str) -> Result<Persona, PersonaError> {
        let fail = |message: String| PersonaError { file: file.to_owned(), message };
        let parts = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
        let Some((matter, brief)) = parts else {
            return Err(fail(
                "missing front matter between lines `---` at the beginning of the file".into(),
            ));
        };
        // The line with the dashes counts too, so that the line numbers of errors are right.
        let options = serde_saphyr::options! { with_snippet: false, emit_comments: false };
        let matter: FrontMatter =
            serde_saphyr::from_str_with_options(&format!("\n{matter}"), options)
                .map_err(|error| fail(explain_error(&error.to_string())))?;
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if matter.name.is_empty() || !matter.name.chars().all(is_name) {
            let name = &matter.name;
            return Err(fail(format!(
                "invalid name `{name}`: expected lower-case letters, digits and dashes"
            )));
        }
        let cap = Grade::from_word(&matter.cap);
        if cap.is_unmapped() {
            return Err(fail(format!("invalid `cap` `{}`: expected a severity", matter.cap)));
        }
        if brief.trim().is_empty() {
            return Err(fail("the file has no text after the front matter".to_owned()));
        }
        Ok(Persona {
            trigger: Trigger::new(matter.trigger).map_err(fail)?,
            name: matter.name,
            concern: matter.concern.unwrap_or_else(|| matter.about.clone()),
            about: matter.about,
            carries: matter.carries,
            tier: matter.tier,
            required: matter.required,
            owns: matter.owns,
            brief: brief.trim().to_owned(),
            cap,
        })
    }

    /// Returns the role of the persona for its prompts.
    pub(crate) fn role(&self) -> Role<'_> {
        Role { name: &self.name, brief: &self.brief, cap: self.cap.word() }
    }
}

/// Returns a message for users about an error in front matter.
fn explain_error(error: &str) -> String {
    match error.contains("untagged enum") {
        true => {
            "invalid `trigger`: expected `always`, `full`, `never`, or predicates under `any`, \
             `all` and `not`"
                .to_owned()
        }
        false => error.trim_start_matches("error: ").to_owned(),
    }
}

/// All personas.
#[derive(Debug, Clone)]
pub struct Personas {
    by_name: BTreeMap<String, Persona>,
    /// The names of the repository's own personas.
    own: BTreeSet<String>,
}

impl Personas {
    /// Returns the shipped personas, with those of a repository added or replacing them. Each file
    /// comes with its name.
    pub fn with_repository_personas(
        files: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Personas, PersonaError> {
        let mut all = Personas { by_name: BTreeMap::new(), own: BTreeSet::new() };
        for persona in shipped::personas() {
            all.insert(persona.clone());
        }
        let mut readings: Vec<(String, Vec<String>, Vec<String>)> = Vec::new();
        for (file, text) in files {
            let persona = Persona::read(&file, &text)?;
            let fail = |message| PersonaError { file: file.clone(), message };
            // A test checks the triggers of the shipped personas.
            persona.trigger.check().map_err(fail)?;
            all.own.insert(persona.name.clone());
            let left_to =
                handover::referenced_personas(&persona.brief).map(str::to_owned).collect();
            readings.push((file, persona.carries.clone(), left_to));
            all.insert(persona);
        }
        for (file, carries, left_to) in readings {
            if let Some(name) = carries.iter().find(|name| all.get(name).is_none()) {
                let message = format!("unknown persona `{name}` in `carries`");
                return Err(PersonaError { file, message });
            }
            if let Some(name) = left_to.iter().find(|name| all.get(name).is_none()) {
                let message = format!("the text refers to the unknown persona `{name}`");
                return Err(PersonaError { file, message });
            }
        }
        Ok(all)
    }

    fn insert(&mut self, persona: Persona) {
        self.by_name.insert(persona.name.clone(), persona);
    }

    /// Returns all personas, in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Persona> {
        self.by_name.values()
    }

    /// Returns a persona by its name.
    pub fn get(&self, name: &str) -> Option<&Persona> {
        self.by_name.get(name)
    }

    /// Returns the reviewers of changes: the named personas, or else all, whose triggers decide.
    pub fn reviewers(
        &self,
        named: &[String],
        context: &Arc<PersonaContext>,
    ) -> Vec<PersonaReviewer> {
        if named.is_empty() {
            return self.grouped_reviewers(&[], context);
        }
        let named = named.iter().filter_map(|name| self.get(name));
        let reviewer = |persona: &Persona| {
            let reviewer = PersonaReviewer::always_reading(persona.clone(), context.clone());
            reviewer.with_carried(self.carried_by(persona))
        };
        PersonaReviewer::form_panel(named.map(reviewer).collect())
    }

    /// Returns the readings, and the personas that no reading carries, whose triggers decide. The
    /// personas in `added` read in addition, whatever their triggers.
    pub fn grouped_reviewers(
        &self,
        added: &[String],
        context: &Arc<PersonaContext>,
    ) -> Vec<PersonaReviewer> {
        let reviewer = |persona: &Persona| match added.contains(&persona.name) {
            true => PersonaReviewer::always_reading(persona.clone(), context.clone())
                .with_carried(self.carried_by(persona)),
            false => {
                PersonaReviewer::new(persona.clone(), self.carried_by(persona), context.clone())
            }
        };
        let reads =
            |persona: &&Persona| added.contains(&persona.name) || !self.is_carried(&persona.name);
        let reviewers = self.on_roster().into_iter().filter(reads).map(reviewer).collect();
        PersonaReviewer::form_panel(reviewers)
    }

    /// Returns a reviewer for each persona that reads for itself; triggers decide which of them
    /// read.
    pub fn separate_reviewers(
        &self,
        added: &[String],
        context: &Arc<PersonaContext>,
    ) -> Vec<PersonaReviewer> {
        let reviewer = |persona: &Persona| match added.contains(&persona.name) {
            true => PersonaReviewer::always_reading(persona.clone(), context.clone()),
            false => PersonaReviewer::new(persona.clone(), Vec::new(), context.clone()),
        };
        let all = self.on_roster().into_iter();
        let alone = all.filter(|persona| persona.carries.is_empty());
        PersonaReviewer::form_panel(alone.map(reviewer).collect())
    }

    /// Returns the personas that a reading carries.
    fn carried_by(&self, reading: &Persona) -> Vec<Persona> {
        let carried = self.iter().filter(|persona| self.carries(reading, &persona.name));
        carried.cloned().collect()
    }

    /// Returns true if any reading carries a persona.
    pub fn is_carried(&self, name: &str) -> bool {
        self.iter().any(|reading| self.carries(reading, name))
    }

    /// Returns true if a given reading carries a persona. The authors of a repository's own persona
    /// want its text to be used, so only a reading of the repository carries it.
    fn carries(&self, reading: &Persona, name: &str) -> bool {
        let is_named = reading.carries.iter().any(|carried| carried == name);
        is_named && (!self.own.contains(name) || self.own.contains(&reading.name))
    }

    /// Returns the personas that can be on a roster, the required ones first, since a budget may
    /// not suffice for all.
    pub fn on_roster(&self) -> Vec<&Persona> {
        let mut all: Vec<&Persona> = self.iter().filter(|p| p.name != VALIDATOR).collect();
        all.sort_by_key(|persona| (!persona.required, &persona.name));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trigger_pattern_of_the_shipped_personas_is_valid() {
        for persona in Personas::with_repository_personas([]).unwrap().iter() {
            persona.trigger.check().unwrap_or_else(|why| panic!("{}: {why}", persona.name));
        }
    }
}
