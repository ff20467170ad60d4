//! A look-up that a model requests: [`Request`], parsed from a call.

use assay_findings::path::RepoPath;
use assay_models::ToolCall;
use serde::{Deserialize, Serialize};

/// The maximum number of bytes of the arguments of a call.
pub(super) const MAX_ARGUMENT_BYTES: usize = 2_000;

/// The maximum number of bytes of a text or a name to search for.
const MAX_TEXT_BYTES: usize = 200;

/// The names of the tools, for the error about an unknown tool.
const NAMES: &str = "`read_lines`, `search`, `definition` and `callers`";

/// A look-up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "tool", rename_all = "snake_case")]
pub(super) enum Request {
    /// Lines of a file.
    ReadLines(ReadLines),
    /// The lines that contain a text.
    Search(Search),
    /// The definitions of a name.
    Definition(Named),
    /// The calls of a name.
    Callers(Named),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadLines {
    #[serde(deserialize_with = "repo_path")]
    pub(super) path: RepoPath,
    pub(super) from: u32,
    pub(super) to: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    pub(super) text: String,
    /// The file to search, or a folder with all files below it; `None` for the whole repository.
    #[serde(default, deserialize_with = "optional_repo_path")]
    pub(super) path: Option<RepoPath>,
    #[serde(default)]
    pub(super) whole_words: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    pub(super) name: String,
}

impl Request {
    /// Parses a call. The error tells the model how to correct the call.
    pub(super) fn parse(call: &ToolCall) -> Result<Request, String> {
        if call.arguments.len() > MAX_ARGUMENT_BYTES {
            return Err(format!("the arguments have more than {MAX_ARGUMENT_BYTES} bytes"));
        }
        let request = match call.name.as_str() {
            "read_lines" => Request::ReadLines(arguments(call)?),
            "search" => Request::Search(arguments(call)?),
            "definition" => Request::Definition(arguments(call)?),
            "callers" => Request::Callers(arguments(call)?),
            _ => return Err(format!("there is no such tool; the tools are {NAMES}")),
        };
        request.check()
    }

    fn check(self) -> Result<Request, String> {
        let too_long = |what: &str| Err(format!("`{what}` has more than {MAX_TEXT_BYTES} bytes"));
        match &self {
            Request::ReadLines(lines) if lines.from == 0 || lines.to < lines.from => {
                Err("lines are counted from 1, and `to` is not before `from`".to_owned())
            }
            Request::Search(search) if search.text.trim().is_empty() => {
                Err("`text` is empty; give the text to be found".to_owned())
            }
            Request::Search(search) if search.text.contains(['\n', '\r']) => {
                Err("`text` has several lines; give a text of one line".to_owned())
            }
            Request::Search(search) if search.text.len() > MAX_TEXT_BYTES => too_long("text"),
            Request::Definition(named) | Request::Callers(named) => match named.name.len() {
                0..=MAX_TEXT_BYTES if is_name(&named.name) => Ok(self),
                0..=MAX_TEXT_BYTES => {
                    Err("`name` is no name; give the name alone, such as `total` of \
                                           `Cart::total`"
                        .to_owned())
                }
                _ => too_long("name"),
            },
            Request::ReadLines(_) | Request::Search(_) => Ok(self),
        }
    }

    /// Returns the key of the result: equal requests have equal keys.
    pub(super) fn key(&self) -> String {
        serde_json::to_string(self).expect("a request can be written as JSON")
    }
}

fn arguments<'a, T: Deserialize<'a>>(call: &'a ToolCall) -> Result<T, String> {
    let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    serde_json::from_str(text)
        .map_err(|error| format!("the arguments of `{}` are not valid: {error}", call.name))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn repo_path<'d, D: serde::Deserializer<'d>>(input: D) -> Result<RepoPath, D::Error> {
    let text = String::deserialize(input)?;
    RepoPath::parse(&text, None).map_err(serde::de::Error::custom)
}

fn optional_repo_path<'d, D: serde::Deserializer<'d>>(
    input: D,
) -> Result<Option<RepoPath>, D::Error> {
    let text: Option<String> = Option::deserialize(input)?;
    // Models write an empty path, or a dot, for the whole repository.
    let text = text.filter(|text| !matches!(text.trim(), "" | "." | "./" | "/"));
    let path = text.map(|text| RepoPath::parse(&text, None)).transpose();
    path.map_err(serde::de::Error::custom)
}
