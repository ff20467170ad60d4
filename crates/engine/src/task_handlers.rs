//! The task handlers of agents: `handlers` registers each kind of task, with reviews, fixes and
//! validation done by the same sessions that the commands use.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use assay_agents::config::roster::AgentConfig;
use assay_agents::task_handler::{HandlerError, HandlerRegistry, Job};
use assay_agents::workflow::command::{CommandHandler, OutputPolicy};
use assay_agents::workflow::fix::FixHandler;
use assay_agents::workflow::review::ReviewHandler;
use assay_agents::workflow::validation::ValidationHandler;
use assay_agents::workflow::{
    self, ChangeFixer, ChangePublisher, ChangeReviewer, Runner, SpecValidator, ValidationOutcome,
    WorkflowContext,
};
use assay_change::{Scope, Selection};
use assay_findings::gate::ReviewMode;
use assay_findings::path::RepoPath;
use assay_findings::post::CommentDialect;
use assay_review::external_reports;
use assay_review::fixer::{FixerError, FixerRequest};
use assay_review::persona::Tier;
use assay_validate::ending::Ending;
use assay_validate::file_names::ESCALATION;
use serde_json::Value;

use crate::comment_commands::{self, CommentCommandHandler};
use crate::config::Configuration;
use crate::config::agents::AgentSettings;
use crate::config::service::SHORT_WAIT;
use crate::environment::Environment;
use crate::handler_error::task_error;
use crate::loop_session::{self, Host, LoopOutcome, NullObserver, SpecLocation};
use crate::models::{self, CachePolicy, ModelOptions, ModelSession, ReviewOptions};
use crate::notify::GithubPublisher;
use crate::publish;
use crate::purpose;
use crate::review_session::ReviewSession;
use crate::safe_fixes::{describe_edits, safe_fixes};
use crate::wording::count;

/// Returns the handlers for all kinds of tasks that agents do in a repository.
pub fn handlers(root: &Path, settings: &AgentSettings) -> anyhow::Result<HandlerRegistry> {
    let publisher = open_publisher(root, &settings.configuration)?;
    let environment = settings.configuration.environment();
    let state = environment.state_of(root);
    let workflow_context = WorkflowContext {
        publisher,
        root: root.to_owned(),
        worktrees: state.open("worktrees")?.path().to_owned(),
        state: state.clone(),
        workflow: settings.configuration.workflow.clone(),
        roster: settings.roster.clone(),
        clock: environment.clock().clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    // If the program of an agent runs assay, that assay must use the same seals.
    let needed = Runner::required_variables().chain(["XDG_STATE_HOME"]);
    let variables = needed.filter_map(|name| Some((name.to_owned(), environment.variable(name)?)));
    let (root, mcp) = (root.to_owned(), settings.mcp.clone());
    let runner = Runner { root: root.clone(), mcp, variables: variables.collect() };
    let local_services = LocalServices { environment: environment.clone(), root: root.clone() };
    let by_program = |output_policy| CommandHandler {
        workflow_context: workflow_context.clone(),
        runner: runner.clone(),
        output_policy,
    };
    let works = HandlerRegistry::default()
        .with(
            "review",
            ReviewHandler {
                workflow_context: workflow_context.clone(),
                reviewer: local_services.clone(),
            },
        )
        .with("implementation", by_program(OutputPolicy::Commit))
        .with("architecture", by_program(OutputPolicy::Summary))
        .with("planning", by_program(OutputPolicy::Summary))
        .with("qa_verification", by_program(OutputPolicy::Findings))
        .with(
            "validation",
            ValidationHandler {
                workflow_context: workflow_context.clone(),
                validator: local_services.clone(),
            },
        )
        .with("fix", FixHandler { workflow_context, fixer: local_services, runner })
        .with(
            comment_commands::TASK_KIND,
            CommentCommandHandler {
                environment: environment.clone(),
                root,
                services: settings.configuration.services(),
                reviewer: settings.configuration.workflow.reviewer.clone(),
            },
        );
    Ok(works)
}

/// Returns a publisher on GitHub; `None` if no repository is configured, or no token.
fn open_publisher(
    root: &Path,
    configuration: &Configuration,
) -> anyhow::Result<Option<Arc<dyn ChangePublisher>>> {
    let github = &configuration.github;
    let repositories = github.repositories.clone();
    if repositories.is_empty() {
        return Ok(None);
    }
    let Some(github) = github.open(SHORT_WAIT, |_| {})? else { return Ok(None) };
    Ok(Some(Arc::new(GithubPublisher { root: root.to_owned(), github, repositories })))
}

/// Reviews, fixes and validates in a repository, as `assay review`, `assay fix` and `assay qa` do.
#[derive(Clone)]
struct LocalServices {
    environment: Environment,
    root: PathBuf,
}

impl ChangeReviewer for LocalServices {
    fn review(
        &self,
        scope: &Scope,
        job: &Job<'_>,
    ) -> Result<workflow::ReviewOutcome, HandlerError> {
        let LocalServices { environment, root } = self;
        let models = ModelOptions::if_configured();
        let also = persona(job.agent);
        let options = ReviewOptions {
            models: &models,
            cache_policy: CachePolicy::On,
            model_session: None,
            also,
        };
        let prepared =
            ReviewSession::open(environment, root, scope, &Selection::default(), options);
        let external_reports =
            external_reports::for_task(&environment.state_of(root), &job.task.id);
        let external_reports = external_reports.map_err(|error| task_error(&error.into()))?;
        let mut prepared =
            prepared.map_err(|error| task_error(&error))?.with_external_reports(external_reports);
        prepared.state_purpose(&purpose::of_task(job));
        if prepared.panel.is_some() {
            match purpose::of_ticket(&prepared.services, job) {
                Ok(text) => prepared.state_purpose(&text.unwrap_or_default()),
                Err(error) => {
                    job.log.warning(&format!(
                        "reviewers do not get the text of the ticket: {error:#}"
                    ));
                }
            }
        }
        if let Some(trouble) = prepared.memory_warning() {
            job.log.warning(trouble);
        }
        let reviewed = prepared.review_without_progress(ReviewMode::ReportOnly);
        // Without a stored review, the reason for an approval could not be looked up.
        let kept = reviewed.save(&prepared).map_err(|error| {
            HandlerError::transient(format!(
                "cannot store the review, so it does not count: {error:#}"
            ))
        })?;
        if let Some(trouble) = &kept.warning {
            job.log.warning(trouble);
        }
        let head = prepared.change.pull_head().map(str::to_owned);
        let draft = head.as_ref().map(|head| {
            let terms = publish::DraftTerms {
                head,
                when_ready: prepared.services.github.when_ready,
                dialect: CommentDialect::GitHub,
            };
            let draft =
                publish::compose_draft(&prepared.change, &reviewed.synthesis, Some(&kept), terms);
            Box::new(draft.with_base(job.context("base_branch").map(str::to_owned)))
        });
        Ok(workflow::ReviewOutcome {
            may_answer_later: reviewed.may_succeed_later(),
            run: Some(kept.id),
            tracked: kept.tracked,
            draft,
            head,
            messages: prepared.change.messages(),
            synthesis: reviewed.synthesis,
        })
    }
}

/// Returns the prompt of an agent as a persona, by name and content of its file; `None` if the
/// prompt is empty.
fn persona(agent: &AgentConfig) -> Option<(String, String)> {
    let AgentConfig { id, name, prompt, tier, .. } = agent;
    let tier = match tier {
        Tier::Cheap => "cheap",
        Tier::Default => "default",
        Tier::Premium => "premium",
    };
    let about = Value::from(name.as_str());
    let matter =
        format!("name: {id}\nabout: {about}\ntier: {tier}\ntrigger: always\nrequired: true");
    let file = format!("config/agents.yaml ({id})");
    (!prompt.trim().is_empty()).then(|| (file, format!("---\n{matter}\n---\n\n{prompt}")))
}

impl ChangeFixer for LocalServices {
    fn fix(
        &self,
        folder: &Path,
        base: Option<&str>,
        job: &Job<'_>,
    ) -> Result<String, HandlerError> {
        let LocalServices { environment, root } = self;
        let base = require_base(base)?;
        let mut done = safe_fixes(environment, folder, base).map_err(|error| task_error(&error))?;
        let configuration =
            Configuration::on_disk(environment, root).map_err(|error| task_error(&error))?;
        let models = configuration.as_ref().map(Configuration::models);
        if let Some(models) = models.filter(|models| models.is_configured()) {
            let model_session = ModelSession::open(&ModelOptions::default(), models, root);
            let model_session = model_session.map_err(|error| task_error(&error))?;
            let fixer = models::open_fixer(models, job.agent.tier, &model_session);
            let fixer = fixer.map_err(|error| task_error(&error))?;
            let files = files_of(job);
            let (brief, findings) = (&job.agent.prompt, &job.task.description);
            let errand = FixerRequest { brief, findings, files: &files };
            match fixer.fix(folder, &errand) {
                Ok(mended) => done.extend(describe_edits(mended)),
                Err(FixerError::NothingToShow) => {}
                Err(error) => {
                    let is_transient = error.is_transient();
                    return Err(HandlerError { error: error.to_string(), is_transient });
                }
            }
        }
        Ok(match done.is_empty() {
            true => "no safe fix applies to the remaining findings".to_owned(),
            false => done.join("\n"),
        })
    }
}

/// Fails if the base of the change is not known.
fn require_base(base: Option<&str>) -> Result<&str, HandlerError> {
    base.ok_or_else(|| {
        HandlerError::permanent(
            "the base of the change is unknown, so its configuration cannot be separated from \
             yours; set `base` in the task's context",
        )
    })
}

impl SpecValidator for LocalServices {
    fn validate(
        &self,
        folder: &Path,
        base: Option<&str>,
        spec: &str,
        job: &Job<'_>,
    ) -> Result<ValidationOutcome, HandlerError> {
        let LocalServices { environment, root } = self;
        let base = Some(require_base(base)?);
        let place =
            SpecLocation::of(environment, folder, spec).map_err(|error| task_error(&error))?;
        if let Err(missing) = place.check_complete() {
            return Ok(ValidationOutcome::Unfinished { missing: missing.to_string() });
        }
        let models = &ModelOptions::if_configured();
        // The remaining tenth of the time is for committing the result.
        let seconds = (job.agent.timeout * 9 / 10).as_secs().max(1);
        let host = Some(Host { root, seconds });
        let options =
            loop_session::LoopOptions { base, resumes: false, sign_off: None, models, host };
        let warn = |text: &str| job.log.warning(text);
        let loop_outcome = loop_session::validate(&place, options, &NullObserver, &warn);
        let (loop_outcome, standing) = loop_outcome.map_err(|error| task_error(&error))?;
        match loop_outcome {
            LoopOutcome::AlreadyApproved | LoopOutcome::Ended(Ending::Approved) => {
                let rounds = count(standing.epoch().len(), "round");
                let why = Ending::Approved.reason();
                Ok(ValidationOutcome::Approved { summary: format!("{why}, after {rounds}") })
            }
            // No state of the loop is kept, so a retry does not find the loop waiting for a person.
            LoopOutcome::Ended(ending @ Ending::Errors { .. }) => {
                Err(HandlerError::transient(ending.reason()))
            }
            LoopOutcome::Waits(ending) | LoopOutcome::Ended(ending) => {
                Ok(ValidationOutcome::Escalated {
                    reason: ending.reason(),
                    paper: place.spec.folder.join(ESCALATION).display().to_string(),
                })
            }
        }
    }
}

/// Returns the files of the findings of a task.
fn files_of(job: &Job<'_>) -> Vec<RepoPath> {
    let findings = job.task.context.get("structured_findings");
    let findings = findings.and_then(|found| found["findings"].as_array());
    let files = findings.into_iter().flatten().filter_map(|finding| finding["file"].as_str());
    let mut files: Vec<RepoPath> = files.filter_map(|file| RepoPath::exact(file).ok()).collect();
    files.sort();
    files.dedup();
    files
}

/// Returns the host name of this machine.
pub fn host() -> anyhow::Result<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    let name = name.or_else(|_| std::fs::read_to_string("/etc/hostname"));
    Ok(name.context("cannot read the host name of this machine")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_without_a_known_base_is_refused() {
        assert_eq!(require_base(Some("main")).unwrap(), "main");
        assert!(!require_base(None).unwrap_err().is_transient);
    }
}
