//! A sender of webhooks: signed deliveries in GitHub's format, and a connection to send them.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use ring::hmac;
use serde_json::{Value, json};

/// The time limit of an answer.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the signature of a body for the header `X-Hub-Signature-256`.
pub fn signature(secret: &str, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let digits = hmac::sign(&key, body).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let digits: String = digits;
    format!("sha256={digits}")
}

/// Returns a commit id with a number.
pub fn commit(number: usize) -> String {
    format!("{number:040x}")
}

/// Returns a user as it is in deliveries.
fn user(login: &str) -> Value {
    json!({
        "login": login, "id": 1, "node_id": "MDQ6VXNlcjE=", "site_admin": false,
        "type": if login.ends_with("[bot]") { "Bot" } else { "User" },
        "url": format!("https://api.github.com/users/{login}"),
    })
}

/// Returns a repository as it is in deliveries.
fn repository_object(repository: &str) -> Value {
    let (owner, name) = repository.split_once('/').unwrap_or((repository, ""));
    let links = [
        "archive", "assignees", "blobs", "branches", "commits", "compare", "contents",
        "deployments", "events", "forks", "git_refs", "git_tags", "hooks", "issues", "keys",
    ];
    let mut repo = json!({
        "id": 1_296_269, "full_name": repository, "name": name, "private": true,
        "owner": user("octocat"),
        "default_branch": "main", "topics": ["octocat", "api"], "license": null,
        "html_url": format!("https://github.com/{repository}"),
    });
    for link in links {
        let url = format!("https://api.github.com/repos/{owner}/{name}/{link}{{/sha}}");
        repo[format!("{link}_url")] = json!(url);
    }
    repo
}

/// Returns the body of GitHub's delivery about a comment on a pull request, with fields that assay
/// does not use.
pub fn issue_comment(
    action: &str,
    repository: &str,
    number: u64,
    (id, author, body): (u64, &str, &str),
) -> Value {
    let api = format!("https://api.github.com/repos/{repository}");
    let page = format!("https://github.com/{repository}/pull/{number}");
    json!({
        "action": action,
        "issue": {
            "url": format!("{api}/issues/{number}"), "html_url": page, "id": 279_147_437,
            "number": number, "title": "Add a login", "user": user("octocat"), "labels": [],
            "state": "open", "locked": false, "draft": false, "comments": 1,
            "author_association": "OWNER", "body": "What it is for.",
            "pull_request": {
                "url": format!("{api}/pulls/{number}"), "html_url": page,
                "diff_url": format!("{page}.diff"), "patch_url": format!("{page}.patch"),
                "merged_at": null,
            },
        },
        "comment": {
            "id": id, "node_id": format!("IC_{id}"), "url": format!("{api}/issues/comments/{id}"),
            "html_url": format!("{page}#issuecomment-{id}"), "user": user(author), "body": body,
            "issue_url": format!("{api}/issues/{number}"), "author_association": "NONE",
            "created_at": "2026-02-03T10:00:00Z", "updated_at": "2026-02-03T10:00:00Z",
            "performed_via_github_app": null, "reactions": { "total_count": 0 },
        },
        "repository": repository_object(repository),
        "sender": user(author),
    })
}

/// Returns the body of GitHub's delivery about a pull request, with fields that assay does not use.
pub fn pull_request(action: &str, repository: &str, number: u64, head: &str) -> Value {
    let (user, repo) = (user("octocat"), repository_object(repository));
    json!({
        "action": action,
        "number": number,
        "pull_request": {
            "url": format!("https://api.github.com/repos/{repository}/pulls/{number}"),
            "html_url": format!("https://github.com/{repository}/pull/{number}"),
            "id": 279_147_437, "number": number, "state": "open", "locked": false, "draft": false,
            "title": "Add a login", "user": user, "labels": [], "milestone": null,
            "body": "What it is for, and how it was tried out.\r\n".repeat(40),
            "head": {
                "label": "octocat:feature/PROJ-123-login", "ref": "feature/PROJ-123-login",
                "sha": head, "user": user, "repo": repo,
            },
            "base": {
                "label": "octocat:main", "ref": "main", "user": user, "repo": repo,
                "sha": commit(0),
            },
            "merged": false, "comments": 0, "commits": 1, "additions": 100, "deletions": 3,
        },
        "repository": repo,
        "sender": user,
    })
}

/// The answer of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The head of the answer, unchanged.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Answer {
    /// Parses the body. Panics if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A connection for several requests.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    address: String,
}

impl Connection {
    /// Connects to an address.
    pub fn open(address: &str) -> io::Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(RESPONSE_TIMEOUT))?;
        Ok(Connection { stream, address: address.to_owned() })
    }

    /// Sends a request and waits for the answer. Adds `host` and `content-length` unless they are
    /// among the headers.
    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Answer> {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        let says = |name: &str| headers.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
        if !says("host") {
            head += &format!("host: {}\r\n", self.address);
        }
        if !says("content-length") && !says("transfer-encoding") {
            head += &format!("content-length: {}\r\n", body.len());
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let request = [head.as_bytes(), b"\r\n", body].concat();
        // A server that refuses early may stop reading; its answer is still returned.
        let sent = self.stream.write_all(&request);
        self.answer().or_else(|error| sent.and(Err(error)))
    }

    fn answer(&mut self) -> io::Result<Answer> {
        let broken = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            self.stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let fields = head.lines().filter_map(|line| line.split_once(':'));
        let length = fields.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length: usize =
            length.filter_map(|(_, value)| value.trim().parse::<usize>().ok()).sum();
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        let body = String::from_utf8_lossy(&body).into_owned();
        Ok(Answer { status: status.ok_or_else(broken)?, head, body })
    }
}

/// Sends one request over its own connection.
pub fn send(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<Answer> {
    Connection::open(address)?.send(method, path, headers, body)
}

/// Sends a signed delivery as GitHub does.
pub fn deliver(
    connection: &mut Connection,
    secret: &str,
    id: &str,
    event: &str,
    body: &[u8],
) -> io::Result<Answer> {
    let signed = signature(secret, body);
    let headers = [
        ("content-type", "application/json"),
        ("user-agent", "GitHub-Hookshot/044aadd"),
        ("x-github-event", event),
        ("x-github-delivery", id),
        ("x-hub-signature-256", &signed),
    ];
    connection.send("POST", "/webhooks/github", &headers, body)
}
