//! Check runs and their annotations.

use serde_json::{Value, json};

use super::super::call::{Call, Fields, Outcome, Reply};
use super::super::json;
use super::super::refusal::Refusal;
use super::super::state::{Access, CheckRun};

const CONCLUSIONS: [&str; 7] =
    ["action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"];
const FIELDS: [&str; 10] = [
    "name", "head_sha", "details_url", "external_id", "status", "started_at", "conclusion",
    "completed_at", "output", "actions",
];
const ANNOTATION: [&str; 9] = [
    "path", "start_line", "end_line", "start_column", "end_column", "annotation_level", "message",
    "title", "raw_details",
];
const MAX_ANNOTATIONS: usize = 50;

/// The maximum length of a summary or text in characters, and of a message in bytes.
const MAX_TEXT: (usize, usize) = (65_535, 64 * 1024);

pub(super) fn list(call: &mut Call<'_>, name: &str, reference: &str) -> Outcome {
    let filter = call.word("filter", &["latest", "all"])?;
    let repo = call.state.repo(name)?;
    let Some(sha) = repo.resolve(reference) else {
        return Err(Refusal::new(422, &format!("No commit found for SHA: {reference}")));
    };
    let runs: Vec<&CheckRun> = repo
        .check_runs
        .iter()
        .filter(|run| run.head_sha == sha)
        .filter(|run| call.param("check_name").is_none_or(|name| name == run.name))
        .filter(|run| call.param("status").is_none_or(|status| status == run.status))
        .collect();
    let is_latest =
        |run: &CheckRun| !runs.iter().any(|other| other.name == run.name && other.id > run.id);
    let runs: Vec<Value> = runs
        .iter()
        .filter(|run| filter == "all" || is_latest(run))
        .map(|run| json::check_run(call.state, repo, run))
        .collect();
    let (page, headers) = call.page(&runs);
    let body = json!({ "total_count": runs.len(), "check_runs": page });
    Ok(Reply { headers, ..Reply::unchanged(body) })
}

pub(super) fn create(call: &mut Call<'_>, name: &str) -> Outcome {
    check_app(call)?;
    let fields = Fields::read(call.body, &FIELDS)?;
    let mut run = CheckRun {
        id: 0,
        name: fields.needed("name")?.to_owned(),
        head_sha: fields.needed("head_sha")?.to_owned(),
        status: "queued".to_owned(),
        conclusion: None,
        details_url: None,
        external_id: None,
        started: call.now,
        completed: None,
        title: None,
        summary: None,
        text: None,
        annotations: Vec::new(),
    };
    if !call.state.repo(name)?.commits.contains(&run.head_sha) {
        let message = format!("No commit found for SHA: {}", run.head_sha);
        return Err(Refusal::new(422, &message));
    }
    fill(call, &mut run, &fields)?;
    run.id = call.state.next_id();
    call.state.repo_mut(name)?.check_runs.push(run.clone());
    Ok(Reply::done(201, json::check_run(call.state, call.state.repo(name)?, &run)))
}

pub(super) fn update(call: &mut Call<'_>, name: &str, id: u64) -> Outcome {
    check_app(call)?;
    let fields = Fields::read(call.body, &FIELDS)?;
    if fields.has("head_sha") {
        return Err(Refusal::malformed("\"head_sha\" is not a permitted key."));
    }
    let runs = &call.state.repo(name)?.check_runs;
    let place = runs.iter().position(|run| run.id == id).ok_or_else(Refusal::not_found)?;
    let mut run = runs[place].clone();
    if fields.has("name") {
        run.name = fields.needed("name")?.to_owned();
    }
    fill(call, &mut run, &fields)?;
    call.state.repo_mut(name)?.check_runs[place] = run.clone();
    Ok(Reply::done(200, json::check_run(call.state, call.state.repo(name)?, &run)))
}

fn check_app(call: &Call<'_>) -> Result<(), Refusal> {
    match call.token.access {
        Access::App => Ok(()),
        Access::Read | Access::User => {
            Err(Refusal::new(403, "You must authenticate via a GitHub App."))
        }
    }
}

/// Applies the fields of a request, if all of them are valid.
fn fill(call: &Call<'_>, run: &mut CheckRun, fields: &Fields<'_>) -> Result<(), Refusal> {
    let status = fields.word("status", &["queued", "in_progress", "completed"])?;
    let conclusion = fields.word("conclusion", &CONCLUSIONS)?;
    match (status, conclusion) {
        (Some("completed"), None) => {
            return Err(Refusal::malformed("\"conclusion\" wasn't supplied."));
        }
        (Some("queued" | "in_progress"), Some(_)) => {
            return Err(Refusal::malformed("\"conclusion\" is not for a run that goes on."));
        }
        (_, Some(conclusion)) => {
            run.status = "completed".to_owned();
            run.conclusion = Some(conclusion.to_owned());
            run.completed = Some(call.now);
        }
        (Some(status), None) => run.status = status.to_owned(),
        (None, None) => {}
    }
    let owned = |name| Ok::<_, Refusal>(fields.text(name)?.map(str::to_owned));
    run.details_url = owned("details_url")?.or(run.details_url.take());
    run.external_id = owned("external_id")?.or(run.external_id.take());
    check_actions(fields.list("actions")?)?;
    match fields.value("output") {
        Some(output) => fill_output(run, output),
        None => Ok(()),
    }
}

fn fill_output(run: &mut CheckRun, output: &Value) -> Result<(), Refusal> {
    let fields = Fields::read(output, &["title", "summary", "text", "annotations", "images"])?;
    let (title, summary) = (fields.needed("title")?, fields.needed("summary")?);
    let text = fields.text("text")?;
    for (field, text) in [("summary", summary), ("text", text.unwrap_or_default())] {
        if text.chars().count() > MAX_TEXT.0 {
            let message = format!("Only {} characters are allowed", MAX_TEXT.0);
            return Err(invalid(field, &message));
        }
    }
    let annotations = fields.list("annotations")?;
    if annotations.len() > MAX_ANNOTATIONS {
        let message = format!(
            "No more than {MAX_ANNOTATIONS} items are allowed; {} were supplied.",
            annotations.len()
        );
        return Err(Refusal::malformed(&message));
    }
    annotations.iter().try_for_each(check_annotation)?;
    run.title = Some(title.to_owned());
    run.summary = Some(summary.to_owned());
    run.text = text.map(str::to_owned).or(run.text.take());
    run.annotations.extend_from_slice(annotations);
    Ok(())
}

fn check_annotation(annotation: &Value) -> Result<(), Refusal> {
    let fields = Fields::read(annotation, &ANNOTATION)?;
    fields.needed("path")?;
    let number = |name: &str| {
        let missing = || Refusal::malformed(&format!("\"{name}\" wasn't supplied."));
        fields.number(name)?.filter(|number| *number > 0).ok_or_else(missing)
    };
    let (start, end) = (number("start_line")?, number("end_line")?);
    if start > end {
        return Err(invalid("end_line", "end_line must not be before start_line"));
    }
    let columns = (fields.number("start_column")?, fields.number("end_column")?);
    if start != end && columns != (None, None) {
        return Err(invalid("start_column", "columns are only for annotations on one line"));
    }
    if let (Some(first), Some(last)) = columns
        && first > last
    {
        return Err(invalid("end_column", "end_column must not be before start_column"));
    }
    let level = fields.word("annotation_level", &["notice", "warning", "failure"])?;
    level.ok_or_else(|| Refusal::malformed("\"annotation_level\" wasn't supplied."))?;
    let details = fields.text("raw_details")?.unwrap_or_default();
    if fields.needed("message")?.len() > MAX_TEXT.1 || details.len() > MAX_TEXT.1 {
        return Err(invalid("message", "64 KB are the most"));
    }
    match fields.text("title")?.is_some_and(|title| title.chars().count() > 255) {
        true => Err(invalid("title", "255 characters are the most")),
        false => Ok(()),
    }
}

fn check_actions(actions: &[Value]) -> Result<(), Refusal> {
    if actions.len() > 3 {
        return Err(Refusal::malformed("No more than 3 items are allowed."));
    }
    for action in actions {
        let fields = Fields::read(action, &["label", "description", "identifier"])?;
        for (name, most) in [("label", 20), ("description", 40), ("identifier", 20)] {
            if fields.needed(name)?.chars().count() > most {
                let message = format!("For '{name}', {most} characters are the most.");
                return Err(Refusal::malformed(&message));
            }
        }
    }
    Ok(())
}

fn invalid(field: &str, message: &str) -> Refusal {
    Refusal::invalid("CheckRun", field, "custom", message)
}
