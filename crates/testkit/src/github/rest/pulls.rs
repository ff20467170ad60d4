//! Pull requests.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::call::{Call, Fields, Outcome, Reply, check_length};
use super::super::diff::Diff;
use super::super::json;
use super::super::refusal::Refusal;
use super::super::state::{BranchHead, Pull, PullState, Repo};

/// The maximum size of a diff: files, lines, bytes.
const MAX_DIFF: (usize, usize, usize) = (300, 20_000, 1_000_000);

/// The maximum number of listed files.
const MAX_FILES: usize = 3_000;

pub(super) fn list(call: &mut Call<'_>, repo: &str) -> Outcome {
    let state = call.word("state", &["open", "closed", "all"])?;
    let sort = call.word("sort", &["created", "updated", "popularity", "long-running"])?;
    let default = if sort == "created" { ["desc", "asc"] } else { ["asc", "desc"] };
    let direction = call.word("direction", &default)?;
    let repo = call.state.repo(repo)?;
    let head = |pull: &Pull| format!("{}:{}", owner(&pull.head_repo), pull.head.branch);
    let mut pulls: Vec<&Pull> = repo
        .pulls
        .values()
        .filter(|pull| state == "all" || (state == "open") == pull.is_open())
        // A head without an owner is not a filter, so everything is listed.
        .filter(|pull| call.param("head").is_none_or(|it| !it.contains(':') || it == head(pull)))
        .filter(|pull| call.param("base").is_none_or(|base| base == pull.base.branch))
        .collect();
    match sort {
        "updated" => pulls.sort_by_key(|pull| (pull.updated, pull.number)),
        "popularity" => pulls.sort_by_key(|pull| (pull.comments.len(), pull.number)),
        _ => pulls.sort_by_key(|pull| (pull.created, pull.number)),
    }
    if direction == "desc" {
        pulls.reverse();
    }
    let pulls: Vec<Value> =
        pulls.into_iter().map(|pull| json::pull_in_list(call.state, repo, pull)).collect();
    Ok(call.list(&pulls))
}

pub(super) fn get(call: &mut Call<'_>, repo: &str, number: u64) -> Outcome {
    let pull = call.state.pull(repo, number)?;
    if call.accept.contains("diff") {
        check_size(&pull.diff)?;
        return Ok(Reply::text(&pull.diff.text));
    }
    Ok(Reply::unchanged(json::pull(call.state, call.state.repo(repo)?, pull)))
}

fn check_size(diff: &Diff) -> Result<(), Refusal> {
    let (files, lines, bytes) = MAX_DIFF;
    let exceeded = if diff.files.len() > files {
        format!("number of files ({files})")
    } else if diff.text.lines().count() > lines {
        format!("number of lines ({lines})")
    } else if diff.text.len() > bytes {
        format!("size ({bytes} bytes)")
    } else {
        return Ok(());
    };
    let message = format!(
        "Sorry, the diff exceeded the maximum {exceeded}. Consider using 'List pull requests \
         files' API or locally cloning the repository instead."
    );
    let error = json!({ "resource": "PullRequest", "field": "diff", "code": "too_large" });
    Err(Refusal::new(406, &message).with("errors", json!([error])))
}

pub(super) fn files(call: &mut Call<'_>, repo: &str, number: u64) -> Outcome {
    let pull = call.state.pull(repo, number)?;
    let repo = call.state.repo(repo)?;
    let files = pull.diff.files.iter().take(MAX_FILES);
    let files: Vec<Value> = files.map(|file| json::file(call.state, repo, pull, file)).collect();
    Ok(call.list(&files))
}

pub(super) fn open(call: &mut Call<'_>, name: &str) -> Outcome {
    let known = ["title", "head", "head_repo", "base", "body", "maintainer_can_modify", "draft"];
    let fields = Fields::read(call.body, &known)?;
    let title = fields.needed("title")?;
    let (head, base) = (fields.needed("head")?, fields.needed("base")?);
    let body = fields.text("body")?;
    let draft = fields.flag("draft")?.unwrap_or(false);
    let maintainer_can_modify = fields.flag("maintainer_can_modify")?.unwrap_or(false);
    check_length("PullRequest", body.unwrap_or_default())?;
    let repo = call.state.repo(name)?;
    let (head_repo, branch) = match head.split_once(':') {
        Some((owner, branch)) => (format!("{owner}/{}", short(name)), branch),
        None => (name.to_owned(), head),
    };
    let head = call.state.repo(&head_repo).ok().and_then(|repo| end(repo, branch));
    let head = head.ok_or_else(|| invalid("head", "invalid", ""))?;
    let base = end(repo, base).ok_or_else(|| invalid("base", "invalid", ""))?;
    if head.sha == base.sha {
        let message = format!("No commits between {} and {}", base.branch, head.branch);
        return Err(invalid("head", "custom", &message));
    }
    let is_same = |pull: &&Pull| {
        pull.is_open()
            && pull.head_repo == head_repo
            && pull.head.branch == head.branch
            && pull.base.branch == base.branch
    };
    if repo.pulls.values().any(|pull| is_same(&pull)) {
        let label = format!("{}:{}", owner(&head_repo), head.branch);
        let message = format!("A pull request already exists for {label}.");
        return Err(invalid("head", "custom", &message));
    }
    let diff = call.state.repo(&head_repo)?.diffs.get(&head.sha).cloned().unwrap_or_default();
    let number = repo.pulls.keys().next_back().map_or(1, |last| last + 1);
    let pull = Pull {
        id: call.state.next_id(),
        number,
        title: title.to_owned(),
        body: body.map(str::to_owned),
        state: PullState::Open,
        draft,
        labels: Vec::new(),
        author: call.token.login.clone(),
        head_repo,
        head,
        base,
        maintainer_can_modify,
        created: call.now,
        updated: call.now,
        diff,
        ancestors: BTreeMap::new(),
        threads: Vec::new(),
        reviews: Vec::new(),
        comments: Vec::new(),
    };
    call.state.repo_mut(name)?.pulls.insert(number, pull);
    let (repo, pull) = (call.state.repo(name)?, call.state.pull(name, number)?);
    Ok(Reply::done(201, json::pull(call.state, repo, pull)))
}

pub(super) fn update(call: &mut Call<'_>, name: &str, number: u64) -> Outcome {
    let known = ["title", "body", "state", "base", "maintainer_can_modify"];
    let fields = Fields::read(call.body, &known)?;
    let title = fields.has("title").then(|| fields.needed("title")).transpose()?;
    let body = fields.text("body")?;
    let state = fields.word("state", &["open", "closed"])?;
    let can_modify = fields.flag("maintainer_can_modify")?;
    check_length("PullRequest", body.unwrap_or_default())?;
    let base = match fields.text("base")? {
        None => None,
        Some(base) => {
            let end = end(call.state.repo(name)?, base);
            Some(end.ok_or_else(|| invalid("base", "invalid", ""))?)
        }
    };
    let now = call.now;
    let pull = call.state.pull_mut(name, number)?;
    pull.state = match (pull.state, state) {
        (PullState::Merged { .. }, Some("open")) => {
            return Err(invalid("state", "invalid", "state cannot be changed. It was merged."));
        }
        (PullState::Open, Some("closed")) => PullState::Closed { at: now },
        (PullState::Closed { .. }, Some("open")) => PullState::Open,
        (state, _) => state,
    };
    if let Some(title) = title {
        pull.title = title.to_owned();
    }
    if let Some(body) = body {
        pull.body = Some(body.to_owned());
    }
    if let Some(base) = base {
        pull.base = base;
    }
    pull.maintainer_can_modify = can_modify.unwrap_or(pull.maintainer_can_modify);
    pull.updated = now;
    let (repo, pull) = (call.state.repo(name)?, call.state.pull(name, number)?);
    Ok(Reply::done(200, json::pull(call.state, repo, pull)))
}

fn end(repo: &Repo, branch: &str) -> Option<BranchHead> {
    let sha = repo.branches.get(branch)?.clone();
    Some(BranchHead { branch: branch.to_owned(), sha })
}

fn invalid(field: &str, code: &str, message: &str) -> Refusal {
    Refusal::invalid("PullRequest", field, code, message)
}

fn owner(full_name: &str) -> &str {
    full_name.split('/').next().unwrap_or_default()
}

fn short(full_name: &str) -> &str {
    full_name.split('/').next_back().unwrap_or_default()
}
