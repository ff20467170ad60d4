//! A fake Linear: [`FakeLinear`] holds issues and comments of one team.
//!
//! The fake answers the operations of the product by their names. It is stricter than the real
//! Linear: it refuses and records every invalid request.

use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use crate::web::{Answer, RunningService, Service, ServiceRequest};

/// The valid API key.
pub const KEY: &str = "lin_api_0123456789abcdef";

/// The id of the only team.
pub const TEAM: &str = "7f9c3f1e-8a55-4c0e-9d9e-2f0b1c6a7d10";
/// The key of the team, which users see.
pub const TEAM_KEY: &str = "ENG";

/// The workflow states of the team.
const STATES: [&str; 5] = ["Backlog", "Todo", "In Progress", "In Review", "Done"];

/// A fault that occurs once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A cut connection; the request has no effect.
    CutBefore,
    /// A cut connection; the request takes effect.
    CutAfter,
    /// An answer with a status; the request has no effect.
    Before(u16),
    /// A rate limit.
    Limit,
    /// An internal error, in an answer with status 200.
    Inner,
}

/// A Linear in memory.
#[derive(Clone, Default)]
pub struct FakeLinear(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    issues: Vec<Issue>,
    comments: Vec<Comment>,
    faults: Vec<(String, Fault)>,
    asked: Vec<String>,
    sent: Vec<Value>,
    problems: Vec<String>,
}

struct Issue {
    id: String,
    title: String,
    description: String,
    state: String,
}

struct Comment {
    id: String,
    body: String,
}

impl FakeLinear {
    /// Serves the fake over TCP.
    pub fn serve(&self) -> RunningService {
        RunningService::start(Arc::new(self.clone()))
    }

    /// Injects a fault into the next request with an operation.
    pub fn fail(&self, operation: &str, fault: Fault) {
        self.state().faults.push((operation.to_owned(), fault));
    }

    /// Returns the title, description and state of each issue.
    pub fn issues(&self) -> Vec<(String, String, String)> {
        let summary = |it: &Issue| (it.title.clone(), it.description.clone(), it.state.clone());
        self.state().issues.iter().map(summary).collect()
    }

    /// Returns the texts of all comments in order.
    pub fn comments(&self) -> Vec<String> {
        self.state().comments.iter().map(|comment| comment.body.clone()).collect()
    }

    /// Returns the names of all operations so far.
    pub fn asked(&self) -> Vec<String> {
        self.state().asked.clone()
    }

    /// Returns the bodies of all requests so far.
    pub fn sent(&self) -> Vec<Value> {
        self.state().sent.clone()
    }

    /// Returns the reasons of all invalid requests so far.
    pub fn problems(&self) -> Vec<String> {
        self.state().problems.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

impl Service for FakeLinear {
    fn answer(&self, asked: &ServiceRequest) -> Option<Answer> {
        let mut state = self.state();
        let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        let name = body["operationName"].as_str().unwrap_or_default().to_owned();
        state.asked.push(name.clone());
        state.sent.push(body.clone());
        let fault = state.faults.iter().position(|(operation, _)| *operation == name);
        match fault.map(|at| state.faults.remove(at).1) {
            Some(Fault::CutBefore) => return None,
            Some(Fault::CutAfter) => {
                state.answer(asked, &name, &body);
                return None;
            }
            Some(Fault::Before(status)) => return Some(Answer::empty(status)),
            Some(Fault::Limit) => return Some(refusal(400, "Rate limit exceeded", "RATELIMITED")),
            Some(Fault::Inner) => return Some(refusal(200, "Broken", "INTERNAL_SERVER_ERROR")),
            None => {}
        }
        Some(state.answer(asked, &name, &body))
    }
}

fn refusal(status: u16, message: &str, code: &str) -> Answer {
    let error = json!({ "message": message, "extensions": { "code": code } });
    Answer::json(status, &json!({ "errors": [error] }))
}

impl State {
    fn answer(&mut self, asked: &ServiceRequest, name: &str, body: &Value) -> Answer {
        if asked.header("authorization") != Some(KEY) {
            return refusal(
                401,
                "Authentication required, not authenticated",
                "AUTHENTICATION_ERROR",
            );
        }
        if (asked.method.as_str(), asked.path()) != ("POST", "/graphql") {
            return Answer::empty(404);
        }
        let query = body["query"].as_str().unwrap_or_default();
        let is_named = [" ", "("].iter().any(|end| query.contains(&format!("{name}{end}")));
        let fields = body.as_object().map(|body| body.keys().cloned().collect::<Vec<_>>());
        let is_whole = fields.is_some_and(|mut fields| {
            fields.sort();
            fields == ["operationName", "query", "variables"]
        });
        let done = match is_named && is_whole {
            true => self.execute(name, &body["variables"]),
            false => Err("Must provide operation".to_owned()),
        };
        match done {
            Ok(data) => Answer::json(200, &json!({ "data": data })),
            Err(why) => {
                self.problems.push(format!("{name}: {why}"));
                refusal(200, &why, "INPUT_ERROR")
            }
        }
    }

    fn execute(&mut self, name: &str, variables: &Value) -> Result<Value, String> {
        match name {
            "AssayIssue" => {
                let id = only(variables, ["id"])?[0].clone();
                let at = self.issues.iter().position(|it| it.id == id);
                let number = id.strip_prefix("ENG-").and_then(|it| it.parse::<usize>().ok());
                let at =
                    at.or(number.map(|number| number - 1).filter(|at| *at < self.issues.len()));
                let at = at.ok_or("Entity not found: Issue")?;
                Ok(json!({ "issue": self.issue_json(at) }))
            }
            "AssayFindIssue" => {
                let id = only(variables, ["id"])?[0].clone();
                let found = self.issues.iter().position(|it| it.id == id);
                let nodes: Vec<Value> = found.map(|at| self.issue_json(at)).into_iter().collect();
                Ok(json!({ "issues": { "nodes": nodes } }))
            }
            "AssayTeam" => {
                let id = only(variables, ["id"])?[0].clone();
                if id != TEAM && id != TEAM_KEY {
                    return Err("Entity not found: Team".to_owned());
                }
                let states =
                    STATES.map(|name| json!({ "id": format!("state-{name}"), "name": name }));
                Ok(json!({ "team": { "id": TEAM, "states": { "nodes": states } } }))
            }
            "AssayCreateIssue" => {
                let [id, team, title, description] =
                    only(&variables["input"], ["id", "teamId", "title", "description"])?;
                if team != TEAM || title.is_empty() || !is_uuid(&id) || self.is_taken(&id) {
                    return Err("Argument Validation Error".to_owned());
                }
                let state = "Backlog".to_owned();
                self.issues.push(Issue { id, title, description, state });
                let issue = self.issue_json(self.issues.len() - 1);
                Ok(json!({ "issueCreate": { "success": true, "issue": issue } }))
            }
            "AssayMoveIssue" => {
                let id = variables["id"].as_str().unwrap_or_default().to_owned();
                let [state] = only(&variables["input"], ["stateId"])?;
                let known = STATES.into_iter().find(|name| state == format!("state-{name}"));
                let known = known.ok_or("Entity not found: WorkflowState")?;
                let issue = self.issues.iter_mut().find(|it| it.id == id);
                issue.ok_or("Entity not found: Issue")?.state = known.to_owned();
                Ok(json!({ "issueUpdate": { "success": true } }))
            }
            "AssayFindComment" => {
                let id = only(variables, ["id"])?[0].clone();
                let found = self.comments.iter().filter(|it| it.id == id);
                let nodes: Vec<Value> = found.map(|it| json!({ "id": it.id })).collect();
                Ok(json!({ "comments": { "nodes": nodes } }))
            }
            "AssayComment" => {
                let [id, issue, body] = only(&variables["input"], ["id", "issueId", "body"])?;
                let is_there = self.issues.iter().any(|it| it.id == issue);
                if !is_there || body.is_empty() || !is_uuid(&id) || self.is_taken(&id) {
                    return Err("Argument Validation Error".to_owned());
                }
                self.comments.push(Comment { id: id.clone(), body });
                Ok(json!({ "commentCreate": { "success": true, "comment": { "id": id } } }))
            }
            other => Err(format!("Unknown operation named \"{other}\"")),
        }
    }

    fn is_taken(&self, id: &str) -> bool {
        self.issues.iter().any(|it| it.id == id) || self.comments.iter().any(|it| it.id == id)
    }

    fn issue_json(&self, at: usize) -> Value {
        let issue = &self.issues[at];
        let state = json!({ "id": format!("state-{}", issue.state), "name": issue.state });
        json!({ "id": issue.id, "identifier": format!("{TEAM_KEY}-{}", at + 1), "state": state })
    }
}

/// Returns the texts with these names. Fails if there are other fields.
fn only<const N: usize>(value: &Value, names: [&str; N]) -> Result<[String; N], String> {
    let fields = value.as_object().ok_or("the variables are no object")?;
    if fields.len() != N {
        return Err(format!("there are other variables than {names:?}"));
    }
    let texts: Option<Vec<String>> =
        names.iter().map(|name| Some(fields.get(*name)?.as_str()?.to_owned())).collect();
    let texts = texts.ok_or_else(|| format!("one of {names:?} is no text"))?;
    Ok(texts.try_into().unwrap())
}

fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [8, 4, 4, 4, 12] && parts[2].starts_with('4')
}
