//! Creates tickets: [`Jira::create`], and an epic with its tickets.

use assay_store::pulls::TicketKey;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::field::Field;
use super::{Flavour, Jira, JiraError};
use crate::http::{Call, ServiceError, encode_path_segment};

/// The types of the custom fields with which a JIRA server stores an epic's name, and a ticket's
/// epic.
const EPIC_NAME: &str = "com.pyxis.greenhopper.jira:gh-epic-label";
const EPIC_LINK: &str = "com.pyxis.greenhopper.jira:gh-epic-link";

/// The maximum age, in JQL, of a ticket that can be the one whose response was lost.
const MAX_CREATED_AGE: &str = "-10m";

/// The content of a new ticket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TicketDraft {
    /// The title, on one line.
    pub summary: String,
    /// The description.
    pub description: String,
    /// The labels.
    pub labels: Vec<String>,
}

/// The type of a new ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewTicket {
    /// A ticket of any type, such as `Task`, that may belong to an epic.
    Issue {
        /// The issue type.
        kind: String,
        /// The epic; `None` for a ticket without one.
        epic: Option<TicketKey>,
    },
    /// An epic.
    Epic,
    /// A subtask of a ticket that is no epic.
    Subtask {
        /// The ticket.
        parent: TicketKey,
    },
}

/// A ticket that is created together with its epic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpicChild {
    /// The issue type, such as `Task`.
    pub kind: String,
    /// The content.
    pub draft: TicketDraft,
}

#[derive(Deserialize)]
struct CreatedIssue {
    key: TicketKey,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Project {
    #[serde(default)]
    issue_types: Vec<IssueType>,
}

#[derive(Deserialize)]
struct IssueType {
    name: String,
    #[serde(default)]
    subtask: bool,
}

impl Jira {
    /// Creates a ticket in a project.
    pub fn create(
        &self,
        project: &str,
        what: &NewTicket,
        draft: &TicketDraft,
    ) -> Result<TicketKey, JiraError> {
        self.create_unless_known(project, what, draft, &[])
    }

    /// Creates an epic and its tickets, one after the other. The first failure ends the creation,
    /// and the error lists the tickets that exist.
    pub fn create_epic_with(
        &self,
        project: &str,
        epic: &TicketDraft,
        children: &[EpicChild],
    ) -> Result<(TicketKey, Vec<TicketKey>), JiraError> {
        let epic_key = self.create(project, &NewTicket::Epic, epic)?;
        let mut made: Vec<TicketKey> = Vec::new();
        for EpicChild { kind, draft } in children {
            let what = NewTicket::Issue { kind: kind.clone(), epic: Some(epic_key.clone()) };
            match self.create_unless_known(project, &what, draft, &made) {
                Ok(key) => made.push(key),
                Err(error) => {
                    let drafts = children.iter().map(|child| &child.draft);
                    let all = std::iter::once((&epic_key, epic)).chain(made.iter().zip(drafts));
                    let describe = |(key, draft): (&TicketKey, &TicketDraft)| {
                        format!("{} {}", key.as_str(), draft.summary)
                    };
                    return Err(JiraError::PartlyCreated {
                        made: all.map(describe).collect(),
                        failed: draft.summary.clone(),
                        source: Box::new(error),
                    });
                }
            }
        }
        Ok((epic_key, made))
    }

    /// Creates a ticket. If its response is lost, the ticket is searched for; `known` tickets are
    /// excluded from that search.
    fn create_unless_known(
        &self,
        project: &str,
        what: &NewTicket,
        draft: &TicketDraft,
        known: &[TicketKey],
    ) -> Result<TicketKey, JiraError> {
        let kind = self.issue_type(project, what)?;
        let fields = self.new_fields(project, &kind, what, draft)?;
        let call = Call::post(self.path("issue"), json!({ "fields": fields }));
        match self.api.json::<CreatedIssue>(&call) {
            Ok(created) => Ok(created.key),
            Err(source) if source.is_outcome_unknown() => {
                self.find_created(project, &kind, draft, known, source)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the name of the issue type. Each project has its own name for subtasks.
    fn issue_type(&self, project: &str, what: &NewTicket) -> Result<String, JiraError> {
        match what {
            NewTicket::Issue { kind, .. } => return Ok(kind.clone()),
            NewTicket::Epic => return Ok("Epic".to_owned()),
            NewTicket::Subtask { .. } => {}
        }
        let call = Call::get(self.path(&format!("project/{}", encode_path_segment(project))));
        let kinds = self.api.json::<Project>(&call)?.issue_types;
        let part = kinds.into_iter().find(|kind| kind.subtask);
        let none = || JiraError::NoSubtasks { project: project.to_owned() };
        part.map(|kind| kind.name).ok_or_else(none)
    }

    fn new_fields(
        &self,
        project: &str,
        kind: &str,
        what: &NewTicket,
        draft: &TicketDraft,
    ) -> Result<Map<String, Value>, JiraError> {
        let mut fields = Map::new();
        fields.insert("project".to_owned(), json!({ "key": project }));
        fields.insert("issuetype".to_owned(), json!({ "name": kind }));
        fields.insert("summary".to_owned(), json!(draft.summary));
        if !draft.description.trim().is_empty() {
            fields.insert("description".to_owned(), self.body(&draft.description));
        }
        if !draft.labels.is_empty() {
            fields.insert("labels".to_owned(), json!(draft.labels));
        }
        let on_server = self.flavour == Flavour::Server;
        match what {
            NewTicket::Epic if on_server => {
                fields.insert(self.custom_field_id(EPIC_NAME)?, json!(draft.summary));
            }
            NewTicket::Issue { epic: Some(epic), .. } if on_server => {
                fields.insert(self.custom_field_id(EPIC_LINK)?, json!(epic));
            }
            NewTicket::Issue { epic: Some(parent), .. } | NewTicket::Subtask { parent } => {
                fields.insert("parent".to_owned(), json!({ "key": parent }));
            }
            NewTicket::Epic | NewTicket::Issue { epic: None, .. } => {}
        }
        Ok(fields)
    }

    /// Returns the id of the custom field of a type that only JIRA servers have.
    fn custom_field_id(&self, custom: &str) -> Result<String, JiraError> {
        let fields: Vec<Field> = self.fields()?;
        let found = fields.into_iter().find(|field| field.schema.custom == custom);
        let missing = || JiraError::NoField { name: custom.to_owned(), alike: Vec::new() };
        found.map(|field| field.id).ok_or_else(missing)
    }

    /// Returns the ticket whose response was lost: a recent one with the same title and type. Fails
    /// if there is none.
    fn find_created(
        &self,
        project: &str,
        kind: &str,
        draft: &TicketDraft,
        known: &[TicketKey],
        source: ServiceError,
    ) -> Result<TicketKey, JiraError> {
        let jql = format!(
            "project = \"{}\" AND reporter = currentUser() AND created >= \"{MAX_CREATED_AGE}\" \
             ORDER BY created DESC",
            project.replace(['"', '\\'], "")
        );
        let is_it = |listed: &super::IssueHeader| {
            listed.summary == draft.summary
                && listed.kind.eq_ignore_ascii_case(kind)
                && !known.contains(&listed.key)
        };
        let found = self.search(&jql, 50)?.issues.into_iter().find(is_it);
        let unclear = || JiraError::OutcomeUnknown { summary: draft.summary.clone(), source };
        found.map(|listed| listed.key).ok_or_else(unclear)
    }
}
