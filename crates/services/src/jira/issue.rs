//! Reads tickets: [`Jira::search`] and [`Jira::issue`].

use assay_store::pulls::TicketKey;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Flavour, Jira, JiraError, document};
use crate::http::{Call, ServiceError};

/// The fields that are requested for tickets in a list.
const HEADER_FIELDS: [&str; 6] = ["summary", "status", "issuetype", "assignee", "labels", "parent"];

/// The number of tickets per page.
const PAGE_SIZE: usize = 50;

/// A ticket in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueHeader {
    /// The key of the ticket.
    pub key: TicketKey,
    /// The title.
    pub summary: String,
    /// The name of the status.
    pub status: String,
    /// The issue type, such as `Bug`.
    pub kind: String,
    /// The name of the assignee; `None` if there is none.
    pub assignee: Option<String>,
    /// The labels.
    pub labels: Vec<String>,
    /// The parent ticket or epic; `None` if there is none.
    pub parent: Option<TicketKey>,
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// The tickets that were found.
    pub issues: Vec<IssueHeader>,
    /// True if there are more.
    pub more: bool,
}

/// A ticket with its comments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The fields that lists have, too.
    pub header: IssueHeader,
    /// The description, as plain text.
    pub description: String,
    /// The comments, the latest first.
    pub comments: Vec<Comment>,
    /// The number of older comments that are not in `comments`.
    pub older_comments: usize,
}

/// A comment on a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The id of the comment.
    pub id: String,
    /// The name of the author.
    pub author: String,
    /// The time of creation, in the format of JIRA.
    pub created: String,
    /// The text, as plain text.
    pub text: String,
}

#[derive(Deserialize)]
struct SearchPage {
    #[serde(default)]
    issues: Vec<ApiIssue>,
    #[serde(rename = "nextPageToken")]
    next: Option<String>,
    total: Option<usize>,
}

#[derive(Deserialize)]
struct ApiIssue {
    key: TicketKey,
    #[serde(default)]
    fields: Map<String, Value>,
}

#[derive(Deserialize)]
pub(super) struct CommentPage {
    pub(super) comments: Vec<ApiComment>,
    pub(super) total: usize,
}

#[derive(Deserialize)]
pub(super) struct ApiComment {
    pub(super) id: String,
    #[serde(default)]
    author: Value,
    #[serde(default)]
    created: String,
    #[serde(default)]
    pub(super) body: Value,
}

impl ApiIssue {
    fn text(&self, field: &str, name: &str) -> String {
        let field = self.fields.get(field).map(|field| &field[name]);
        field.and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn header(&self) -> IssueHeader {
        let labels = self.fields.get("labels").and_then(Value::as_array).into_iter().flatten();
        let summary = self.fields.get("summary").and_then(Value::as_str);
        IssueHeader {
            key: self.key.clone(),
            summary: summary.unwrap_or_default().to_owned(),
            status: self.text("status", "name"),
            kind: self.text("issuetype", "name"),
            assignee: Some(self.text("assignee", "displayName")).filter(|name| !name.is_empty()),
            labels: labels.filter_map(|label| label.as_str().map(str::to_owned)).collect(),
            parent: self.text("parent", "key").parse().ok(),
        }
    }
}

impl ApiComment {
    fn comment(&self) -> Comment {
        Comment {
            id: self.id.clone(),
            author: self.author["displayName"].as_str().unwrap_or_default().to_owned(),
            created: self.created.clone(),
            text: document::read(&self.body),
        }
    }
}

impl Jira {
    /// Searches for tickets by JQL, at most `most`.
    pub fn search(&self, jql: &str, most: usize) -> Result<SearchResult, JiraError> {
        let mut found = SearchResult::default();
        let mut next = None;
        loop {
            let wanted = (most - found.issues.len()).min(PAGE_SIZE);
            let call = self.search_call(jql, wanted, found.issues.len(), next.as_deref());
            let page: SearchPage = self.api.json(&call)?;
            let came = page.issues.len();
            let fits = most - found.issues.len();
            found.issues.extend(page.issues.iter().take(fits).map(ApiIssue::header));
            found.more = match self.flavour {
                Flavour::Cloud { .. } => page.next.is_some(),
                Flavour::Server => page.total.is_some_and(|total| total > found.issues.len()),
            };
            // After an empty page, the same page would be requested again and again.
            if !found.more || came == 0 || found.issues.len() >= most {
                found.more |= came > fits;
                return Ok(found);
            }
            next = page.next;
        }
    }

    fn search_call(&self, jql: &str, wanted: usize, start: usize, next: Option<&str>) -> Call {
        let mut body = json!({ "jql": jql, "fields": HEADER_FIELDS, "maxResults": wanted });
        let path = match self.flavour {
            Flavour::Cloud { .. } => {
                if let Some(next) = next {
                    body["nextPageToken"] = json!(next);
                }
                "search/jql"
            }
            Flavour::Server => {
                body["startAt"] = json!(start);
                "search"
            }
        };
        Call::post(self.path(path), body).read_only()
    }

    /// Reads a ticket, with its latest comments, at most `comments`.
    pub fn issue(&self, key: &TicketKey, comments: usize) -> Result<Issue, JiraError> {
        let mut fields = HEADER_FIELDS.to_vec();
        fields.push("description");
        let call = Call::get(self.path_of(key.as_str(), "")).query("fields", fields.join(","));
        let issue: ApiIssue = self.api.json(&call)?;
        let page = match comments {
            0 => CommentPage { comments: Vec::new(), total: 0 },
            most => self.comments(key, 0, most)?,
        };
        let description = issue.fields.get("description").unwrap_or(&Value::Null);
        Ok(Issue {
            header: issue.header(),
            description: document::read(description),
            older_comments: page.total.saturating_sub(page.comments.len()),
            comments: page.comments.iter().map(ApiComment::comment).collect(),
        })
    }

    /// Returns the status of a ticket, or `None` if the ticket does not exist.
    pub fn status_of(&self, key: &TicketKey) -> Result<Option<String>, ServiceError> {
        let call = Call::get(self.path_of(key.as_str(), "")).query("fields", "status");
        match self.api.json::<ApiIssue>(&call) {
            Ok(issue) => Ok(Some(issue.text("status", "name"))),
            Err(error) if error.status() == Some(404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the status of a ticket.
    pub(super) fn status(&self, key: &TicketKey) -> Result<String, JiraError> {
        let call = Call::get(self.path_of(key.as_str(), "")).query("fields", "status");
        let issue: ApiIssue = self.api.json(&call)?;
        Ok(issue.text("status", "name"))
    }

    /// Returns a page of comments, the latest first.
    pub(super) fn comments(
        &self,
        key: &TicketKey,
        start: usize,
        most: usize,
    ) -> Result<CommentPage, JiraError> {
        let call = Call::get(self.path_of(key.as_str(), "/comment"))
            .query("orderBy", "-created")
            .query("startAt", start)
            .query("maxResults", most);
        Ok(self.api.json(&call)?)
    }
}
