//! Reviewers and rules whose findings are mostly dismissed, and the way to switch each of them off:
//! [`MostlyDismissed`].

use assay_review::persona::{Persona, Personas};
use assay_rules::{RuleDefinition, Rulebook};
use schemars::JsonSchema;
use serde::Serialize;

use super::group::GroupStatistics;

/// The minimum number of decided findings; fewer say little.
const MIN_DECIDED: u64 = 5;

/// The folder of a repository's rules.
const RULES_FOLDER: &str = ".assay/rules";

/// The folder of a repository's personas.
const PERSONAS_FOLDER: &str = ".assay/personas";

/// The kind of a source of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// A rule.
    Rule,
    /// A reviewer: the rules, an analyser or a persona.
    Reviewer,
}

/// A reviewer or rule with at least five decided findings, of which fewer than half are accepted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MostlyDismissed {
    /// The kind of the source.
    pub kind: SourceKind,
    /// The name of the source.
    pub name: String,
    /// The number of accepted findings.
    pub accepted: u64,
    /// The number of decided findings.
    pub decided: u64,
    /// The way to switch the source off, in words.
    pub remedy: String,
    /// The shell command that switches the source off; null if there is no such command.
    pub command: Option<String>,
}

/// The remedy for a source of findings.
#[derive(Debug, PartialEq, Eq)]
struct SwitchOff {
    remedy: String,
    command: Option<String>,
}

impl SwitchOff {
    fn by_hand(remedy: impl Into<String>) -> SwitchOff {
        SwitchOff { remedy: remedy.into(), command: None }
    }
}

/// The reviewers that reviews use today.
pub(super) struct ConfiguredReviewers {
    pub(super) rules: Rulebook,
    pub(super) personas: Personas,
    /// The repository's own personas: path and content of each file.
    pub(super) persona_files: Vec<(String, String)>,
    /// The names of the configured analysers.
    pub(super) analysers: Vec<String>,
}

impl ConfiguredReviewers {
    /// Returns the reviewers and rules whose findings are mostly dismissed and that are still in
    /// use.
    pub(super) fn mostly_dismissed(
        &self,
        reviewers: &[GroupStatistics],
        rules: &[GroupStatistics],
    ) -> Vec<MostlyDismissed> {
        let reviewers = reviewers.iter().filter_map(|group| {
            let name = group.name.as_deref()?;
            advise(group, SourceKind::Reviewer, || self.switch_off_reviewer(name))
        });
        let rules = rules.iter().filter_map(|group| {
            let name = group.name.as_deref()?;
            advise(group, SourceKind::Rule, || self.switch_off_rule(name))
        });
        reviewers.chain(rules).collect()
    }

    /// Returns the way to switch a reviewer off; `None` if the reviewer is not in use.
    fn switch_off_reviewer(&self, name: &str) -> Option<SwitchOff> {
        if name == assay_rules::REVIEWER {
            return Some(SwitchOff::by_hand("only single rules can be switched off"));
        }
        if self.analysers.iter().any(|analyser| analyser == name) {
            let remedy = format!("remove `{name}` from `review.commands` in the configuration");
            return Some(SwitchOff::by_hand(remedy));
        }
        let persona = self.personas.get(name)?;
        if persona.trigger.is_never() {
            return None;
        }
        Some(match self.file_of_persona(name) {
            Some(path) => SwitchOff::by_hand(format!("set `trigger: never` in `{path}`")),
            None => switch_off_shipped_persona(persona),
        })
    }

    fn file_of_persona(&self, name: &str) -> Option<&str> {
        let mut files = self.persona_files.iter().rev();
        let is_named = |(path, text): &&(String, String)| {
            Persona::read(path, text).is_ok_and(|persona| persona.name == name)
        };
        files.find(is_named).map(|(path, _)| path.as_str())
    }

    /// Returns the way to switch a rule off; `None` if the rule is off.
    fn switch_off_rule(&self, id: &str) -> Option<SwitchOff> {
        if let Some(RuleDefinition { file, is_off, .. }) = self.rules.repository_definition(id) {
            let remedy = format!("set `severity: off` in `{file}`");
            return (!is_off).then(|| SwitchOff::by_hand(remedy));
        }
        Some(match Rulebook::builtin_definition(id) {
            Some(RuleDefinition { language, .. }) => switch_off_builtin_rule(id, &language),
            None => SwitchOff::by_hand(
                "no key of assay switches this rule off; for the rule of an analyser, use the \
                 configuration of the analyser",
            ),
        })
    }
}

/// Returns the advice on a group that is mostly dismissed; `None` for other groups.
fn advise(
    group: &GroupStatistics,
    kind: SourceKind,
    switch_off: impl FnOnce() -> Option<SwitchOff>,
) -> Option<MostlyDismissed> {
    let &GroupStatistics { accepted, decided, .. } = group;
    if decided < MIN_DECIDED || accepted * 2 >= decided {
        return None;
    }
    let SwitchOff { remedy, command } = switch_off()?;
    let name = group.name.clone().unwrap_or_default();
    Some(MostlyDismissed { kind, name, accepted, decided, remedy, command })
}

/// Returns the way to switch a built-in rule off: a rule of the repository with the same id.
fn switch_off_builtin_rule(id: &str, language: &str) -> SwitchOff {
    let file = format!("{RULES_FOLDER}/off-{}.yml", id.replace('/', "-"));
    let lines = [
        format!("id: {id}"),
        format!("language: {language}"),
        "severity: off".to_owned(),
        "rule: { regex: \"^$\" }".to_owned(),
    ];
    SwitchOff {
        remedy: format!("write `{file}`, and commit it in a change of its own"),
        command: Some(write_command(RULES_FOLDER, &file, &lines)),
    }
}

/// Returns the way to switch a shipped persona off: a persona of the repository with the same name.
/// A reading carries the same personas as before, so that they do not read separately.
fn switch_off_shipped_persona(persona: &Persona) -> SwitchOff {
    let Persona { name, carries, .. } = persona;
    let file = format!("{PERSONAS_FOLDER}/{name}.md");
    let mut lines = vec!["---".to_owned(), format!("name: {name}"), "trigger: never".to_owned()];
    if !carries.is_empty() {
        lines.push(format!("carries: [{}]", carries.join(", ")));
    }
    lines.extend(["---", "Switched off."].map(str::to_owned));
    SwitchOff {
        remedy: format!("write `{file}`, and commit it in a change of its own"),
        command: Some(write_command(PERSONAS_FOLDER, &file, &lines)),
    }
}

/// Returns a shell command that writes lines to a file. The lines have no single quotes.
fn write_command(folder: &str, file: &str, lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("'{line}'")).collect();
    format!("mkdir -p {folder} && printf '%s\\n' {} > {file}", lines.join(" "))
}

#[cfg(test)]
mod tests {
    use super::super::group::Tally;
    use super::*;

    fn configured(rules: &[(&str, &str)], personas: &[(&str, &str)]) -> ConfiguredReviewers {
        let own = |files: &[(&str, &str)]| -> Vec<(String, String)> {
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
        };
        ConfiguredReviewers {
            rules: Rulebook::with_repository_rules(own(rules)).unwrap(),
            personas: Personas::with_repository_personas(own(personas)).unwrap(),
            persona_files: own(personas),
            analysers: vec!["ruff".to_owned()],
        }
    }

    fn group(name: &str, accepted: u64, decided: u64) -> GroupStatistics {
        let group = Tally::default().finish(Some(name.to_owned()), None);
        GroupStatistics { accepted, decided, ..group }
    }

    /// Returns the lines that a command writes, and the file.
    fn written(command: &str) -> (String, String) {
        let (_, rest) = command.split_once("printf '%s\\n' '").unwrap();
        let (lines, file) = rest.split_once("' > ").unwrap();
        (file.to_owned(), lines.replace("' '", "\n") + "\n")
    }

    #[test]
    fn a_reviewer_with_five_decisions_and_less_than_half_accepted_is_listed() {
        let all = configured(&[], &[]);
        let named = |accepted, decided| {
            let groups = [group("ruff", accepted, decided)];
            !all.mostly_dismissed(&groups, &[]).is_empty()
        };
        assert!(named(2, 5) && named(0, 5) && named(2, 6));
        assert!(!named(0, 4), "few decisions");
        assert!(!named(3, 5) && !named(3, 6), "half accepted");
    }

    #[test]
    fn an_analyser_is_removed_from_the_configuration() {
        let all = configured(&[], &[]);
        let named = all.mostly_dismissed(&[group("ruff", 0, 9), group("rules", 0, 9)], &[]);
        let key = "remove `ruff` from `review.commands` in the configuration";
        assert_eq!((named[0].remedy.as_str(), named[0].command.as_deref()), (key, None));
        assert_eq!((named.len(), named[1].command.as_deref()), (2, None));
        assert!(all.mostly_dismissed(&[group("removed-analyser", 0, 9)], &[]).is_empty());
    }

    #[test]
    fn the_command_for_a_built_in_rule_switches_the_rule_off() {
        let all = configured(&[], &[]);
        let mut checked = 0;
        for (name, _) in Rulebook::builtin().files() {
            let id = name.trim_end_matches(".yml");
            if Rulebook::builtin_definition(id).is_none() {
                continue;
            }
            checked += 1;
            let off = all.switch_off_rule(id).unwrap();
            let (file, text) = written(&off.command.unwrap());
            let after = configured(&[(&file, &text)], &[]);
            assert!(after.rules.repository_definition(id).unwrap().is_off, "{text}");
            assert_eq!(after.switch_off_rule(id), None, "{id} is off");
        }
        assert!(checked > 20, "{checked}");
    }

    #[test]
    fn a_rule_of_the_repository_is_switched_off_in_its_file() {
        let rule = "id: house/x\nlanguage: Python\nmessage: x\nseverity: warning\n\
                    metadata: { grade: HIGH, category: style }\nrule: { pattern: f($X) }\n";
        let all = configured(&[(".assay/rules/x.yml", rule)], &[]);
        let off = all.switch_off_rule("house/x").unwrap();
        assert_eq!(off, SwitchOff::by_hand("set `severity: off` in `.assay/rules/x.yml`"));
        let off = all.switch_off_rule("F401").unwrap();
        assert!(off.command.is_none() && off.remedy.contains("configuration of the analyser"));
    }

    #[test]
    fn the_command_for_a_shipped_persona_switches_it_off_and_activates_no_other() {
        let all = configured(&[], &[]);
        let shipped: Vec<&Persona> = all.personas.on_roster();
        for persona in &shipped {
            let off = all.switch_off_reviewer(&persona.name).unwrap();
            let (file, text) = written(&off.command.unwrap());
            let after = configured(&[], &[(&file, &text)]);
            assert_eq!(after.switch_off_reviewer(&persona.name), None, "{text}");
            for other in shipped.iter().filter(|other| other.name != persona.name) {
                let is_carried = |all: &ConfiguredReviewers| all.personas.is_carried(&other.name);
                assert_eq!(is_carried(&after), is_carried(&all), "{} {}", persona.name, other.name);
            }
        }
        assert!(shipped.len() > 10);
    }

    #[test]
    fn a_persona_of_the_repository_is_switched_off_in_its_file() {
        let own = "---\nname: house\ntrigger: always\n---\nRead.\n";
        let all = configured(&[], &[(".assay/personas/own.md", own)]);
        let off = all.switch_off_reviewer("house").unwrap();
        assert_eq!(off, SwitchOff::by_hand("set `trigger: never` in `.assay/personas/own.md`"));
    }
}
