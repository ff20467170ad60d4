//! The teams of the authors of findings: [`Teams`], from `ledger.teams` or from CODEOWNERS.

use std::collections::BTreeMap;

use anyhow::anyhow;
use assay_change::code_owners::CodeOwners;
use assay_review::ledger::FileGlob;
use assay_store::ledger::facts::FindingFacts;

use crate::wording::count;

/// The maximum number of authors without a team that are named.
const MAX_NAMED_AUTHORS: usize = 5;

/// The teams by which findings are grouped.
pub(super) enum Teams {
    /// The members of each team, from the configuration.
    OfAuthors(Vec<Team>),
    /// The owners of files. No team is configured.
    OfFiles(CodeOwners),
}

/// A team with its members.
pub(super) struct Team {
    name: String,
    /// Patterns of email addresses in lower case.
    members: Vec<FileGlob>,
}

impl Teams {
    /// Reads the configured teams; `None` if none is configured. Fails if an address is no pattern.
    pub(super) fn configured(
        teams: &BTreeMap<String, Vec<String>>,
    ) -> anyhow::Result<Option<Teams>> {
        let team = |(name, members): (&String, &Vec<String>)| {
            let matcher = |pattern: &String| {
                pattern.to_lowercase().parse::<FileGlob>().map_err(|why| {
                    anyhow!("invalid `ledger.teams.{name}`: `{pattern}` is no pattern: {why}")
                })
            };
            let members = members.iter().map(matcher).collect::<anyhow::Result<_>>()?;
            Ok(Team { name: name.clone(), members })
        };
        let teams = teams.iter().map(team).collect::<anyhow::Result<Vec<Team>>>()?;
        Ok((!teams.is_empty()).then_some(Teams::OfAuthors(teams)))
    }

    /// Returns the teams of a finding; none if its author is unknown or in no team.
    pub(super) fn of(&self, finding: &FindingFacts) -> Vec<String> {
        match self {
            Teams::OfAuthors(teams) => {
                let Some(author) = &finding.author else { return Vec::new() };
                let has = |team: &&Team| team.members.iter().any(|member| member.matches(author));
                teams.iter().filter(has).map(|team| team.name.clone()).collect()
            }
            Teams::OfFiles(owners) => {
                let file = finding.file.as_deref();
                file.map(|file| owners.owners(file).to_vec()).unwrap_or_default()
            }
        }
    }

    /// Returns notes on the origin of the teams, and on findings without one.
    pub(super) fn notes(&self, findings: &[FindingFacts]) -> Vec<String> {
        match self {
            Teams::OfAuthors(_) => self.author_notes(findings),
            Teams::OfFiles(owners) => owner_notes(owners),
        }
    }

    fn author_notes(&self, findings: &[FindingFacts]) -> Vec<String> {
        let mut notes =
            vec!["teams are those of `ledger.teams`, by the authors of the lines".to_owned()];
        let unknown = findings.iter().filter(|finding| finding.author.is_none()).count();
        if unknown > 0 {
            notes.push(format!("{} without a known author", count(unknown, "finding")));
        }
        let mut others: BTreeMap<&str, usize> = BTreeMap::new();
        for finding in findings.iter().filter(|finding| self.of(finding).is_empty()) {
            finding.author.iter().for_each(|author| *others.entry(author).or_default() += 1);
        }
        if !others.is_empty() {
            let mut others: Vec<(&str, usize)> = others.into_iter().collect();
            others.sort_by_key(|(_, findings)| std::cmp::Reverse(*findings));
            let shown = others.iter().take(MAX_NAMED_AUTHORS);
            let shown: Vec<String> =
                shown.map(|(author, findings)| format!("{author} ({findings})")).collect();
            let more = others.len().saturating_sub(MAX_NAMED_AUTHORS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            notes.push(format!("authors in no team: {}{more}", shown.join(", ")));
        }
        notes
    }
}

/// Returns the notes on the file that names the owners.
fn owner_notes(owners: &CodeOwners) -> Vec<String> {
    let path = owners.path();
    let mut notes = vec![format!(
        "teams are the owners of the files in `{path}` at `HEAD`; to group by the authors of the \
         lines, set `ledger.teams`"
    )];
    if !owners.skipped_lines().is_empty() {
        let lines: Vec<String> = owners.skipped_lines().iter().map(usize::to_string).collect();
        notes.push(format!("not understood in `{path}`, and not used: line {}", lines.join(", ")));
    }
    notes
}
