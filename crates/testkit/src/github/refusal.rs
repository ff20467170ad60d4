//! Error responses of GitHub: [`Refusal`].

use serde_json::{Value, json};

const DOCS: &str = "https://docs.github.com/rest";

/// An error response in GitHub's format.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) body: Value,
    pub(super) headers: Vec<(String, String)>,
}

impl Refusal {
    pub(super) fn new(status: u16, message: &str) -> Refusal {
        let body = json!({
            "message": message, "documentation_url": DOCS, "status": status.to_string(),
        });
        Refusal { status, body, headers: Vec::new() }
    }

    pub(super) fn not_found() -> Refusal {
        Refusal::new(404, "Not Found")
    }

    /// Returns the error for a token without permission.
    pub(super) fn inaccessible() -> Refusal {
        Refusal::new(403, "Resource not accessible by integration")
    }

    /// Returns the error for a body that does not match the schema of the endpoint.
    pub(super) fn malformed(what: &str) -> Refusal {
        Refusal::new(422, &format!("Invalid request.\n\n{what}"))
    }

    /// Returns the error for a body that matches the schema and violates a rule.
    pub(super) fn invalid(resource: &str, field: &str, code: &str, message: &str) -> Refusal {
        let error = json!({
            "resource": resource, "field": field, "code": code, "message": message,
        });
        Refusal::new(422, "Validation Failed").with("errors", json!([error]))
    }

    /// Returns the error for a review, which does not name the comment that causes it.
    pub(super) fn unprocessable(message: &str) -> Refusal {
        Refusal::new(422, "Unprocessable Entity").with("errors", json!([message]))
    }

    /// Returns the error for too many writes.
    pub(super) fn secondary(status: u16, retry_after: Option<u64>) -> Refusal {
        let refusal = Refusal::new(
            status,
            "You have exceeded a secondary rate limit. Please wait a few minutes before you try \
             again.",
        );
        refusal.retry_after(retry_after)
    }

    /// Returns the error for too many writes, in the form of an error of the content.
    pub(super) fn abuse() -> Refusal {
        Refusal::invalid("Comment", "base", "abuse", "was submitted too quickly")
    }

    fn retry_after(mut self, seconds: Option<u64>) -> Refusal {
        let seconds = seconds.map(|seconds| ("retry-after".to_owned(), seconds.to_string()));
        self.headers.extend(seconds);
        self
    }

    pub(super) fn with(mut self, name: &str, value: Value) -> Refusal {
        self.body[name] = value;
        self
    }
}
