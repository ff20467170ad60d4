//! The templates of findings: the files that are shipped with assay, and those of a repository.
//! Types and matching are in `findings::template`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use assay_findings::template::{ClaimFacts, FindingTemplate, TemplateSet};

/// The error for an invalid file of a template.
#[derive(Debug, thiserror::Error)]
#[error("the template `{file}` cannot be used: {message}")]
pub struct TemplateError {
    file: String,
    message: String,
}

/// Returns the templates that are shipped with assay. Their files are parsed once in a process.
pub fn builtin() -> &'static TemplateSet {
    static TEMPLATES: LazyLock<TemplateSet> = LazyLock::new(|| {
        let templates = FILES.iter().map(|(file, text)| read(file, text));
        let templates: Result<Vec<_>, _> = templates.collect();
        TemplateSet::new(templates.expect("shipped templates are valid"), [])
    });
    &TEMPLATES
}

/// Returns the shipped templates with those of a repository.
pub fn with_own(own: Vec<FindingTemplate>) -> TemplateSet {
    TemplateSet::new(builtin().iter().map(|(template, _)| template.clone()), own)
}

/// Parses the templates of a repository: path and content of each file. Fails if a file is invalid,
/// or if two files have the same name of a template.
pub fn read_all(files: &[(String, String)]) -> Result<Vec<FindingTemplate>, TemplateError> {
    let mut by_name: BTreeMap<String, &str> = BTreeMap::new();
    let mut templates = Vec::new();
    for (file, text) in files {
        let template = read(file, text)?;
        if let Some(other) = by_name.insert(template.name.clone(), file) {
            let message = format!("`{other}` has the same name `{}`", template.name);
            return Err(TemplateError { file: file.clone(), message });
        }
        templates.push(template);
    }
    Ok(templates)
}

fn read(file: &str, text: &str) -> Result<FindingTemplate, TemplateError> {
    let fail = |message: String| TemplateError { file: file.to_owned(), message };
    let options = serde_saphyr::options! { with_snippet: false, emit_comments: false };
    let template: FindingTemplate = serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| fail(error.to_string()))?;
    match template.fault() {
        Some(fault) => Err(fail(fault)),
        None => Ok(template),
    }
}

/// Returns the examples of a template that do not hold, in words.
pub fn failed_examples(templates: &TemplateSet, template: &FindingTemplate) -> Vec<String> {
    let found = |title: &str| {
        templates.recognise(&ClaimFacts::of_title(title)).map(|(found, _)| found.name.clone())
    };
    let mut failed = Vec::new();
    for title in &template.examples.matching {
        match found(title) {
            Some(name) if name == template.name => {}
            Some(name) => failed.push(format!("matches `{name}` instead: {title}")),
            None => failed.push(format!("does not match: {title}")),
        }
    }
    for title in &template.examples.other {
        if found(title).is_some_and(|name| name == template.name) {
            failed.push(format!("matches, but is of another kind: {title}"));
        }
    }
    failed
}

/// The name and the text of each file.
const FILES: &[(&str, &str)] = &[
    ("blocking-in-async.yml", include_str!("../templates/blocking-in-async.yml")),
    ("breaking-api-change.yml", include_str!("../templates/breaking-api-change.yml")),
    ("code-injection.yml", include_str!("../templates/code-injection.yml")),
    ("command-injection.yml", include_str!("../templates/command-injection.yml")),
    ("cross-site-request-forgery.yml", include_str!("../templates/cross-site-request-forgery.yml")),
    ("cross-site-scripting.yml", include_str!("../templates/cross-site-scripting.yml")),
    ("deadlock.yml", include_str!("../templates/deadlock.yml")),
    ("hard-coded-credential.yml", include_str!("../templates/hard-coded-credential.yml")),
    ("ineffective-test.yml", include_str!("../templates/ineffective-test.yml")),
    ("insecure-cors.yml", include_str!("../templates/insecure-cors.yml")),
    ("insecure-file-permissions.yml", include_str!("../templates/insecure-file-permissions.yml")),
    ("insecure-temporary-file.yml", include_str!("../templates/insecure-temporary-file.yml")),
    ("mass-assignment.yml", include_str!("../templates/mass-assignment.yml")),
    ("missing-authentication.yml", include_str!("../templates/missing-authentication.yml")),
    ("missing-authorization.yml", include_str!("../templates/missing-authorization.yml")),
    ("missing-await.yml", include_str!("../templates/missing-await.yml")),
    ("missing-test.yml", include_str!("../templates/missing-test.yml")),
    ("missing-timeout.yml", include_str!("../templates/missing-timeout.yml")),
    ("nosql-injection.yml", include_str!("../templates/nosql-injection.yml")),
    ("null-dereference.yml", include_str!("../templates/null-dereference.yml")),
    ("off-by-one.yml", include_str!("../templates/off-by-one.yml")),
    ("open-redirect.yml", include_str!("../templates/open-redirect.yml")),
    ("path-traversal.yml", include_str!("../templates/path-traversal.yml")),
    ("predictable-randomness.yml", include_str!("../templates/predictable-randomness.yml")),
    ("query-in-loop.yml", include_str!("../templates/query-in-loop.yml")),
    ("race-condition.yml", include_str!("../templates/race-condition.yml")),
    ("regex-denial-of-service.yml", include_str!("../templates/regex-denial-of-service.yml")),
    ("resource-leak.yml", include_str!("../templates/resource-leak.yml")),
    ("secret-in-log.yml", include_str!("../templates/secret-in-log.yml")),
    (
        "server-side-request-forgery.yml",
        include_str!("../templates/server-side-request-forgery.yml"),
    ),
    ("skipped-test.yml", include_str!("../templates/skipped-test.yml")),
    ("sql-injection.yml", include_str!("../templates/sql-injection.yml")),
    ("swallowed-error.yml", include_str!("../templates/swallowed-error.yml")),
    ("template-injection.yml", include_str!("../templates/template-injection.yml")),
    ("tls-verification-off.yml", include_str!("../templates/tls-verification-off.yml")),
    ("unbounded-input.yml", include_str!("../templates/unbounded-input.yml")),
    ("unsafe-deserialization.yml", include_str!("../templates/unsafe-deserialization.yml")),
    ("unverified-signature.yml", include_str!("../templates/unverified-signature.yml")),
    ("weak-cryptography.yml", include_str!("../templates/weak-cryptography.yml")),
    ("xml-external-entity.yml", include_str!("../templates/xml-external-entity.yml")),
];
