//! The tickets of a fake JIRA: [`Tickets`] with their fields, workflow and comments.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{PROJECT, RequestError, adf};

/// The issue types with their level in the hierarchy: an epic above a task above a sub-task.
const KINDS: [(&str, i8); 5] =
    [("Epic", 1), ("Story", 0), ("Task", 0), ("Bug", 0), ("Sub-task", -1)];

/// The workflow: the status, the transition, and the next status.
const WORKFLOW: [(&str, &str, &str); 9] = [
    ("To Do", "Start", "In Progress"),
    ("To Do", "Ask for review", "Code Review"),
    ("In Progress", "Code Review", "Code Review"),
    ("Code Review", "Approved", "Approved"),
    ("Code Review", "Request changes", "Changes Requested"),
    ("Changes Requested", "Code Review", "Code Review"),
    ("Changes Requested", "Approved", "Approved"),
    ("Approved", "Done", "Done"),
    ("Approved", "Code Review", "Code Review"),
];

/// A field: its id, its name, its type, the type of its items, and the kind of a custom field.
type Field = (&'static str, &'static str, &'static str, &'static str, &'static str);

const FIELDS: [Field; 13] = [
    ("summary", "Summary", "string", "", ""),
    ("description", "Description", "string", "", ""),
    ("issuetype", "Issue Type", "issuetype", "", ""),
    ("status", "Status", "status", "", ""),
    ("assignee", "Assignee", "user", "", ""),
    ("labels", "Labels", "array", "string", ""),
    ("priority", "Priority", "priority", "", ""),
    ("customfield_10001", "Story Points", "number", "", ":float"),
    ("customfield_10002", "Team", "option", "", ":select"),
    ("customfield_10003", "Notes", "string", "", ":textarea"),
    ("customfield_10004", "Team", "string", "", ":textfield"),
    ("customfield_10005", "Epic Name", "string", "", "com.pyxis.greenhopper.jira:gh-epic-label"),
    ("customfield_10006", "Epic Link", "any", "", "com.pyxis.greenhopper.jira:gh-epic-link"),
];

struct Ticket {
    kind: String,
    status: String,
    fields: Map<String, Value>,
    comments: Vec<Value>,
}

/// All tickets of a JIRA.
pub(super) struct Tickets {
    is_cloud: bool,
    all: BTreeMap<u32, Ticket>,
    said: u32,
}

impl Tickets {
    pub(super) fn new(is_cloud: bool) -> Tickets {
        Tickets { is_cloud, all: BTreeMap::new(), said: 0 }
    }

    pub(super) fn add(&mut self, kind: &str, summary: &str) -> String {
        let number = u32::try_from(self.all.len()).unwrap() + 1;
        let fields = Map::from_iter([("summary".to_owned(), json!(summary))]);
        let (kind, status) = (kind.to_owned(), "To Do".to_owned());
        self.all.insert(number, Ticket { kind, status, fields, comments: Vec::new() });
        format!("{PROJECT}-{number}")
    }

    pub(super) fn keys(&self) -> Vec<String> {
        self.all.keys().map(|number| format!("{PROJECT}-{number}")).collect()
    }

    fn get(&self, key: &str) -> Result<&Ticket, RequestError> {
        let gone = || {
            RequestError::new(404, "Issue does not exist or you do not have permission to see it.")
        };
        let number =
            key.strip_prefix(PROJECT).and_then(|rest| rest.strip_prefix('-')?.parse().ok());
        number.and_then(|number: u32| self.all.get(&number)).ok_or_else(gone)
    }

    fn get_mut(&mut self, key: &str) -> Result<&mut Ticket, RequestError> {
        self.get(key)?;
        let number: u32 = key.rsplit('-').next().unwrap().parse().unwrap();
        Ok(self.all.get_mut(&number).unwrap())
    }

    pub(super) fn set(&mut self, key: &str, field: &str, value: Value) {
        let ticket = self.get_mut(key).unwrap();
        match field {
            "status" => ticket.status = value.as_str().unwrap().to_owned(),
            field => drop(ticket.fields.insert(field.to_owned(), value)),
        }
    }

    pub(super) fn status(&self, key: &str) -> String {
        self.get(key).map(|ticket| ticket.status.clone()).unwrap_or_default()
    }

    pub(super) fn field(&self, key: &str, field: &str) -> Value {
        let ticket = self.get(key).ok();
        ticket.and_then(|ticket| ticket.fields.get(field).cloned()).unwrap_or_default()
    }

    pub(super) fn comments(&self, key: &str) -> Vec<Value> {
        let all = self.comment_beans(key).unwrap_or_default();
        all.into_iter().map(|comment| comment["body"].clone()).collect()
    }

    pub(super) fn comment_beans(&self, key: &str) -> Result<Vec<Value>, RequestError> {
        Ok(self.get(key)?.comments.clone())
    }

    pub(super) fn comment(&mut self, key: &str, author: &str, body: Value) -> Value {
        self.said += 1;
        let minute = self.said;
        let comment = json!({
            "id": (10_000 + self.said).to_string(), "author": { "displayName": author }, "body": body,
            "created": format!("2026-03-01T{:02}:{:02}:00.000+0000", minute / 60, minute % 60),
        });
        let ticket = self.get_mut(key).unwrap();
        ticket.comments.push(comment.clone());
        comment
    }

    pub(super) fn add_comment(&mut self, key: &str, body: &Value) -> Result<Value, RequestError> {
        self.get(key)?;
        self.check_text("comment", body)?;
        Ok(self.comment(key, "Ada", body.clone()))
    }

    /// Replaces the text of a comment. Only its author may do that.
    pub(super) fn edit_comment(
        &mut self,
        key: &str,
        id: &str,
        body: &Value,
    ) -> Result<Value, RequestError> {
        self.check_text("comment", body)?;
        let comments = &mut self.get_mut(key)?.comments;
        let comment = comments.iter_mut().find(|comment| comment["id"] == id);
        let comment = comment.ok_or_else(|| RequestError::new(404, "no such comment"))?;
        if comment["author"]["displayName"] != "Ada" {
            return Err(RequestError::new(403, "only the author may edit a comment"));
        }
        comment["body"] = body.clone();
        Ok(comment.clone())
    }

    /// Fails if a value is not a text: a document in the cloud, a string on a server.
    fn check_text(&self, field: &str, value: &Value) -> Result<(), RequestError> {
        if self.is_cloud {
            let wrong = |_| {
                RequestError::field(
                    field,
                    "Operation value must be an Atlassian Document (see the Atlassian Document Format)",
                )
            };
            return adf::check(value).map_err(wrong);
        }
        match value.as_str() {
            Some(text) if text.len() <= 32_767 && !text.trim().is_empty() => Ok(()),
            _ => Err(RequestError::field(field, "Operation value must be a string")),
        }
    }

    pub(super) fn fields(&self) -> Value {
        let field = |(id, name, kind, items, custom): &Field| {
            let mut schema = json!({ "type": kind });
            if !items.is_empty() {
                schema["items"] = json!(items);
            }
            match custom.is_empty() {
                true => schema["system"] = json!(id),
                false => {
                    schema["custom"] = json!(custom);
                    schema["customId"] =
                        json!(id.trim_start_matches("customfield_").parse::<u32>().unwrap());
                }
            }
            json!({
                "id": id, "key": id, "name": name, "custom": !custom.is_empty(), "navigable": true,
                "orderable": true, "searchable": true, "clauseNames": [name], "schema": schema,
            })
        };
        let is_here =
            |(id, ..): &&Field| !self.is_cloud || !id.ends_with('5') && !id.ends_with('6');
        FIELDS.iter().filter(is_here).map(field).collect()
    }

    pub(super) fn project(&self, key: &str) -> Result<Value, RequestError> {
        if key != PROJECT {
            return Err(RequestError::new(
                404,
                format!("No project could be found with key '{key}'."),
            ));
        }
        let kind = |(name, level): &(&str, i8)| json!({ "id": name, "name": name, "subtask": *level < 0, "hierarchyLevel": level });
        Ok(
            json!({ "id": "10000", "key": key, "name": "Project", "issueTypes": KINDS.iter().map(kind).collect::<Vec<_>>() }),
        )
    }

    pub(super) fn issue(&self, key: &str, wanted: &str) -> Result<Value, RequestError> {
        let ticket = self.get(key)?;
        let mut fields = ticket.fields.clone();
        fields.insert("status".to_owned(), json!({ "id": "1", "name": ticket.status }));
        fields.insert("issuetype".to_owned(), json!({ "id": "1", "name": ticket.kind }));
        fields.entry("labels").or_insert(json!([]));
        fields.entry("description").or_insert(Value::Null);
        fields.entry("assignee").or_insert(Value::Null);
        let wanted: Vec<&str> = wanted.split(',').collect();
        fields.retain(|name, _| wanted == ["*all"] || wanted.contains(&name.as_str()));
        let id = key.rsplit('-').next().unwrap_or_default();
        Ok(
            json!({ "id": id, "key": key, "self": format!("https://jira.example/{id}"), "fields": fields }),
        )
    }

    pub(super) fn create(&mut self, fields: &Value) -> Result<String, RequestError> {
        let fields =
            fields.as_object().ok_or_else(|| RequestError::new(400, "there are no fields"))?;
        if fields.get("project") != Some(&json!({ "key": PROJECT })) {
            return Err(RequestError::field("project", "valid project is required"));
        }
        let kind =
            fields.get("issuetype").and_then(|kind| kind["name"].as_str()).unwrap_or_default();
        let level = KINDS.iter().find(|(name, _)| *name == kind).map(|(_, level)| *level);
        let level =
            level.ok_or_else(|| RequestError::field("issuetype", "Specify a valid issue type"))?;
        let summary = fields.get("summary").and_then(Value::as_str).unwrap_or_default().trim();
        if summary.is_empty() || summary.contains('\n') || summary.chars().count() > 255 {
            return Err(RequestError::field("summary", "You must specify a summary of the issue."));
        }
        self.check_parent(level, fields)?;
        for (name, value) in fields
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "project" | "issuetype" | "parent"))
        {
            self.check_value(name, value)?;
        }
        let kept =
            fields.iter().filter(|(name, _)| !matches!(name.as_str(), "project" | "issuetype"));
        let kept: Map<String, Value> =
            kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        let key = self.add(kind, summary);
        self.get_mut(&key).map(|ticket| ticket.fields = kept)?;
        Ok(key)
    }

    /// Fails if the parent of a ticket is not exactly one level above it.
    fn check_parent(&self, level: i8, fields: &Map<String, Value>) -> Result<(), RequestError> {
        let has = |field: &str| fields.contains_key(field);
        if !self.is_cloud && level == 1 && !has("customfield_10005") {
            return Err(RequestError::field("customfield_10005", "Epic Name is required."));
        }
        let link = fields.get("customfield_10006").filter(|_| level == 0);
        let parent = fields.get("parent").map(|parent| &parent["key"]).or(link);
        let Some(parent) = parent else {
            return match level {
                -1 => Err(RequestError::field(
                    "parent",
                    "Issue type is a sub-task but parent issue key or id not specified.",
                )),
                _ => Ok(()),
            };
        };
        if !self.is_cloud && level == 0 && has("parent") {
            return Err(RequestError::field("parent", "Field 'parent' cannot be set."));
        }
        let above = self.get(parent.as_str().unwrap_or_default())?.kind.clone();
        let above = KINDS.iter().find(|(name, _)| *name == above).map_or(0, |(_, level)| *level);
        match above == level + 1 {
            true => Ok(()),
            false => Err(RequestError::field(
                "parent",
                "Given parent issue does not belong to the appropriate hierarchy.",
            )),
        }
    }

    pub(super) fn update(&mut self, key: &str, fields: &Value) -> Result<(), RequestError> {
        self.get(key)?;
        let fields =
            fields.as_object().ok_or_else(|| RequestError::new(400, "there are no fields"))?;
        for (name, value) in fields {
            self.check_value(name, value)?;
        }
        self.get_mut(key)?.fields.extend(fields.clone());
        Ok(())
    }

    fn check_value(&self, name: &str, value: &Value) -> Result<(), RequestError> {
        let field = FIELDS.iter().find(|(id, ..)| *id == name);
        let unknown = || {
            RequestError::field(
                name,
                "Field cannot be set. It is not on the appropriate screen, or unknown.",
            )
        };
        let (id, _, kind, _, custom) = field.ok_or_else(unknown)?;
        if value.is_null() && *id != "summary" {
            return Ok(());
        }
        if *id == "description" || *custom == ":textarea" {
            return self.check_text(name, value);
        }
        let is_named = |value: &Value, by: &str| {
            value
                .as_object()
                .is_some_and(|it| it.len() == 1 && it.get(by).is_some_and(Value::is_string))
        };
        let fits = match *kind {
            "string" | "any" => value.as_str().is_some_and(|text| !text.contains('\n')),
            "number" => value.is_number(),
            "option" => {
                is_named(value, "value") && matches!(value["value"].as_str(), Some("Red" | "Blue"))
            }
            "priority" => is_named(value, "name"),
            "user" => is_named(value, if self.is_cloud { "accountId" } else { "name" }),
            "array" => value.as_array().is_some_and(|all| {
                all.iter().all(|it| it.as_str().is_some_and(|text| !text.contains(' ')))
            }),
            _ => false,
        };
        if fits { Ok(()) } else { Err(RequestError::field(name, "Specify a valid value")) }
    }

    pub(super) fn transitions(&self, key: &str) -> Result<Value, RequestError> {
        let status = &self.get(key)?.status;
        let offered = WORKFLOW.iter().enumerate().filter(|(_, (from, ..))| from == status);
        let told = offered.map(|(id, (_, name, to))| {
            json!({ "id": (id + 1).to_string(), "name": name, "to": { "id": "1", "name": to } })
        });
        Ok(told.collect())
    }

    pub(super) fn transition(&mut self, key: &str, id: &str) -> Result<(), RequestError> {
        let status = self.get(key)?.status.clone();
        let way = id.parse::<usize>().ok().and_then(|id| WORKFLOW.get(id.checked_sub(1)?));
        match way.filter(|(from, ..)| *from == status) {
            Some((_, _, to)) => {
                self.get_mut(key)?.status = (*to).to_owned();
                Ok(())
            }
            None => Err(RequestError::new(
                400,
                "It seems that you have tried to perform an illegal workflow operation.",
            )),
        }
    }

    /// Returns the keys of the tickets that match a search, the newest first. Only the searches of
    /// the product are supported.
    pub(super) fn matching(&self, jql: &str) -> Result<Vec<String>, RequestError> {
        let (condition, order) = jql.split_once(" ORDER BY ").unwrap_or((jql, "created DESC"));
        if !matches!(order, "created DESC" | "created ASC") {
            return Err(RequestError::new(400, format!("nothing is ordered by `{order}`")));
        }
        let mut keys = Vec::new();
        for key in self.keys() {
            let mut fits = true;
            for clause in condition.split(" AND ") {
                fits &= self.fits(&key, clause.trim())?;
            }
            keys.extend(fits.then_some(key));
        }
        if order == "created DESC" {
            keys.reverse();
        }
        Ok(keys)
    }

    fn fits(&self, key: &str, clause: &str) -> Result<bool, RequestError> {
        let ticket = self.get(key)?;
        let wrong = || RequestError::new(400, format!("Error in the JQL Query: `{clause}`"));
        if clause == "reporter = currentUser()" || clause.starts_with("created >= \"-") {
            return Ok(true);
        }
        let (field, value) = clause.split_once(" = ").ok_or_else(wrong)?;
        let value = value.trim_matches('"');
        Ok(match field {
            "project" => value == PROJECT,
            "status" => ticket.status.eq_ignore_ascii_case(value),
            "issuetype" => ticket.kind == value,
            "key" => key == value,
            _ => {
                return Err(RequestError::new(
                    400,
                    format!(
                        "Field '{field}' does not exist or you do not have permission to view it."
                    ),
                ));
            }
        })
    }
}
