//! A client of Linear, over its GraphQL API: [`Linear`].
//!
//! A spec has one issue, and each message about the spec is one comment. Linear lets the client
//! choose the id of a new object ([`LinearId`]). So an existing object is found by its id, and
//! creating it twice is refused: no message is sent twice, even if a response is lost. The messages
//! themselves are chosen by the caller.

mod id;
mod queries;

use std::sync::Arc;

use assay_sandbox::Keys;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use self::id::LinearId;
pub use self::queries::{LinearOperation, OPERATIONS};
use crate::http::{Api, Authorization, Call, ServiceClock, ServiceError, Transport};
use crate::outcome::{CommentOutcome, TransitionOutcome};

/// The address of Linear's API.
pub const API_URL: &str = "https://api.linear.app";

/// The path of GraphQL.
const GRAPHQL_PATH: &str = "/graphql";

/// The reason why a call to Linear failed.
#[derive(Debug, thiserror::Error)]
pub enum LinearError {
    /// Linear could not be called, or refused the call.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The team has no state with this name.
    #[error("unknown state `{wanted}` of the Linear team; known states: {}", .states.join(", "))]
    NoState {
        /// The requested name.
        wanted: String,
        /// The names of the team's states.
        states: Vec<String>,
    },
}

/// An issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinearIssue {
    /// The id of the issue.
    pub id: String,
    /// The readable identifier, such as `ENG-12`.
    pub identifier: String,
    /// The name of its state.
    pub state: String,
}

/// A client of a team in Linear.
#[derive(Clone)]
pub struct Linear {
    api: Api,
    team: String,
}

#[derive(Deserialize)]
struct ApiResponse {
    #[serde(default)]
    data: Value,
    #[serde(default)]
    errors: Vec<ApiError>,
}

#[derive(Deserialize)]
struct ApiError {
    #[serde(default)]
    message: String,
    #[serde(default)]
    extensions: Value,
}

#[derive(Deserialize)]
struct Nodes<T> {
    nodes: Vec<T>,
}

#[derive(Deserialize)]
struct ApiState {
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct IssueNode {
    id: String,
    identifier: String,
    state: ApiState,
}

#[derive(Deserialize)]
struct Team {
    id: String,
    states: Nodes<ApiState>,
}

impl From<IssueNode> for LinearIssue {
    fn from(node: IssueNode) -> LinearIssue {
        LinearIssue { id: node.id, identifier: node.identifier, state: node.state.name }
    }
}

impl Linear {
    /// Creates a client for a team, by its id or key. The clock limits the time of each wait.
    pub fn new(
        transport: Arc<dyn Transport>,
        keys: Arc<Keys>,
        team: &str,
        clock: Arc<dyn ServiceClock>,
    ) -> Linear {
        let api = Api::new("Linear", transport, keys, Authorization::Plain, clock);
        Linear { api: api.with_header("accept", "application/json"), team: team.to_owned() }
    }

    /// Returns an issue by its readable identifier.
    pub fn issue(&self, identifier: &str) -> Result<LinearIssue, LinearError> {
        let node: IssueNode =
            self.execute(&queries::ISSUE, json!({ "id": identifier }), "issue")?;
        Ok(node.into())
    }

    /// Returns the issue with an id that the client chose, and creates it if it does not exist.
    pub fn get_or_create_issue(
        &self,
        id: &LinearId,
        title: &str,
        description: &str,
    ) -> Result<LinearIssue, LinearError> {
        if let Some(issue) = self.find_issue(id)? {
            return Ok(issue);
        }
        let team = self.team()?.id;
        let input = json!({
            "id": id, "teamId": team, "title": title, "description": description,
        });
        #[derive(Deserialize)]
        struct CreatedIssue {
            issue: Option<IssueNode>,
        }
        let made = self.execute::<CreatedIssue>(
            &queries::CREATE_ISSUE,
            json!({ "input": input }),
            "issueCreate",
        );
        match made {
            Ok(CreatedIssue { issue: Some(node) }) => Ok(node.into()),
            Ok(CreatedIssue { issue: None }) => Err(self.unreadable(&queries::CREATE_ISSUE).into()),
            Err(error) if error.is_outcome_unknown() => self.find_issue(id)?.ok_or(error.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn find_issue(&self, id: &LinearId) -> Result<Option<LinearIssue>, LinearError> {
        let found: Nodes<IssueNode> =
            self.execute(&queries::FIND_ISSUE, json!({ "id": id }), "issues")?;
        Ok(found.nodes.into_iter().next().map(LinearIssue::from))
    }

    fn team(&self) -> Result<Team, LinearError> {
        Ok(self.execute(&queries::TEAM, json!({ "id": self.team }), "team")?)
    }

    /// Moves an issue to a state of the team, by the name of the state.
    pub fn move_to(
        &self,
        issue: &LinearIssue,
        state: &str,
    ) -> Result<TransitionOutcome, LinearError> {
        let is_same_name = |name: &str| name.trim().to_lowercase() == state.trim().to_lowercase();
        if is_same_name(&issue.state) {
            return Ok(TransitionOutcome::Unchanged { status: issue.state.clone() });
        }
        let states = self.team()?.states.nodes;
        let Some(wanted) = states.iter().find(|it| is_same_name(&it.name)) else {
            let states = states.iter().map(|state| format!("`{}`", state.name)).collect();
            return Err(LinearError::NoState { wanted: state.trim().to_owned(), states });
        };
        let variables = json!({ "id": issue.id, "input": { "stateId": wanted.id } });
        let execute =
            || self.execute::<Value>(&queries::MOVE_ISSUE, variables.clone(), "issueUpdate");
        match execute() {
            // Moving the issue twice has the same result, so the write can be repeated.
            Err(error) if error.is_outcome_unknown() => execute()?,
            moved => moved?,
        };
        Ok(TransitionOutcome::Moved { from: issue.state.clone(), to: wanted.name.clone() })
    }

    /// Creates a comment on an issue unless a comment with that id exists.
    pub fn comment_once(
        &self,
        issue: &LinearIssue,
        id: &LinearId,
        text: &str,
    ) -> Result<CommentOutcome, LinearError> {
        if self.has_comment(id)? {
            return Ok(CommentOutcome::Existing);
        }
        let input = json!({ "id": id, "issueId": issue.id, "body": text });
        let variables = json!({ "input": input });
        match self.execute::<Value>(&queries::COMMENT, variables, "commentCreate") {
            Ok(_) => Ok(CommentOutcome::Created),
            Err(error) if error.is_outcome_unknown() && self.has_comment(id)? => {
                Ok(CommentOutcome::Created)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn has_comment(&self, id: &LinearId) -> Result<bool, LinearError> {
        let found: Nodes<Value> =
            self.execute(&queries::FIND_COMMENT, json!({ "id": id }), "comments")?;
        Ok(!found.nodes.is_empty())
    }

    /// Sends an operation and returns one field of its data. Errors arrive with a success status.
    fn execute<T: DeserializeOwned>(
        &self,
        operation: &LinearOperation,
        variables: Value,
        field: &str,
    ) -> Result<T, ServiceError> {
        let body = json!({
            "operationName": operation.name, "query": operation.query, "variables": variables,
        });
        let call = Call::post(GRAPHQL_PATH, body);
        let call = if operation.writes { call } else { call.read_only() };
        let mut answer: ApiResponse = self.api.json(&call)?;
        if let Some(first) = answer.errors.first() {
            let is_inner = first.extensions["code"] == "INTERNAL_SERVER_ERROR";
            let messages: Vec<&str> = answer.errors.iter().map(|it| it.message.as_str()).collect();
            return Err(ServiceError::Refused {
                service: self.api.service(),
                what: operation.name.to_owned(),
                status: 200,
                message: self.api.sanitize(&messages.join("; ")),
                is_outcome_unknown: operation.writes && is_inner,
            });
        }
        serde_json::from_value(answer.data[field].take()).map_err(|_| self.unreadable(operation))
    }

    fn unreadable(&self, operation: &LinearOperation) -> ServiceError {
        ServiceError::InvalidResponse {
            service: self.api.service(),
            what: operation.name.to_owned(),
            why: "the requested data is missing".to_owned(),
            is_outcome_unknown: operation.writes,
        }
    }
}
