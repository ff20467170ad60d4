//! The GraphQL operations for Linear: [`OPERATIONS`].

/// A GraphQL operation for Linear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearOperation {
    /// The name of the operation.
    pub name: &'static str,
    /// The text of the operation.
    pub query: &'static str,
    /// True for a mutation.
    pub writes: bool,
}

/// All operations.
pub const OPERATIONS: [LinearOperation; 7] =
    [ISSUE, FIND_ISSUE, CREATE_ISSUE, TEAM, MOVE_ISSUE, FIND_COMMENT, COMMENT];

pub(super) const ISSUE: LinearOperation = LinearOperation {
    name: "AssayIssue",
    query: "query AssayIssue($id: String!) { \
        issue(id: $id) { id identifier state { id name } } }",
    writes: false,
};

pub(super) const FIND_ISSUE: LinearOperation = LinearOperation {
    name: "AssayFindIssue",
    query: "query AssayFindIssue($id: ID!) { \
        issues(first: 1, includeArchived: true, filter: { id: { eq: $id } }) { \
        nodes { id identifier state { id name } } } }",
    writes: false,
};

pub(super) const CREATE_ISSUE: LinearOperation = LinearOperation {
    name: "AssayCreateIssue",
    query: "mutation AssayCreateIssue($input: IssueCreateInput!) { \
        issueCreate(input: $input) { success issue { id identifier state { id name } } } }",
    writes: true,
};

pub(super) const TEAM: LinearOperation = LinearOperation {
    name: "AssayTeam",
    query: "query AssayTeam($id: String!) { \
        team(id: $id) { id states(first: 100) { nodes { id name } } } }",
    writes: false,
};

pub(super) const MOVE_ISSUE: LinearOperation = LinearOperation {
    name: "AssayMoveIssue",
    query: "mutation AssayMoveIssue($id: String!, $input: IssueUpdateInput!) { \
        issueUpdate(id: $id, input: $input) { success } }",
    writes: true,
};

pub(super) const FIND_COMMENT: LinearOperation = LinearOperation {
    name: "AssayFindComment",
    query: "query AssayFindComment($id: ID!) { \
        comments(first: 1, includeArchived: true, filter: { id: { eq: $id } }) { nodes { id } } }",
    writes: false,
};

pub(super) const COMMENT: LinearOperation = LinearOperation {
    name: "AssayComment",
    query: "mutation AssayComment($input: CommentCreateInput!) { \
        commentCreate(input: $input) { success comment { id } } }",
    writes: true,
};
