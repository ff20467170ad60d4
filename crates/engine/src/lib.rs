//! The application: configuration with the trust rule, the sessions for review, delegated review,
//! loop and gate, publishing and notifying.
//!
//! The command line and the servers call these sessions; a front end converts and calls, and
//! decides nothing. This crate writes nothing to the terminal and reads no environment variables.
//! The front end passes an [`environment::Environment`], and receives messages by
//! [`reporter::Reporter`] and [`review_progress::ReviewProgress`].
//!
//! - [`config`]: the configuration, and the version of it that applies to a change.
//! - [`models`]: the models and personas of a run, with their budget and cache. [`effort`]: how much
//!   they read.
//! - [`review_session`]: a review from end to end. [`safe_fixes`]: fixes that are applied without
//!   asking. [`delegated_review`]: reviews that the model of an agent reads.
//!   [`staged_fixes`]: the same for staged files. [`next_steps`]: the commands that follow a review.
//!   [`interactive_review`]: decisions of a user on each finding.
//!   [`editor_session`]: the review of a work tree while its files are edited.
//! - [`loop_session`]: the validation loop. [`gate_session`], [`gate_run`]: a gate, and its
//!   verification and fixes. [`gate_outcome`]: outcomes of gates in words.
//! - [`loop_views`], [`loop_page`]: validation loops as plain values, and as parts of HTML pages.
//! - [`task_handlers`]: the task handlers of agents, which call these sessions. [`agent_team`],
//!   [`agent_status`]: the workers, and their status. [`queues`], [`new_tasks`]: the configured
//!   queue, and tasks for it.
//! - [`publish`], [`notify`]: reviews on pull requests, and notifications of agents.
//!   [`comment_commands`]: commands that people write in comments on pull requests.
//!   `ticket_update`: the text and the transition of each event on a ticket.
//! - `purpose`, `memory`: the purpose of a change, and memories of earlier runs.
//!   [`finding_ledger`]: decisions of users on findings. [`finding_statistics`]: statistics of the
//!   ledger. [`ledger_transfer`]: copies, exports and pruning of ledgers.
//! - [`report_page`]: the HTML page of a stored review. [`trend_chart`]: findings over time, a part
//!   of pages.
//! - [`dashboard`]: the content and the actions of the dashboard and the HTTP API.
//! - [`evaluation`], [`throwaway_repository`]: reviews of the cases of a set, each in a temporary
//!   repository.
//! - [`rule_catalogue`]: the descriptions of all rules, and tests of a repository's own rules.
//!   [`template_catalogue`]: the templates of findings.
//!   [`rule_options`]: the options of a command that limit the rules of a review.
//!   [`review_command_options`]: all options of a command that a review takes. [`imports`]:
//!   findings that another tool wrote to a file.
//! - [`source_columns`]: the columns of findings in UTF-16, for SARIF.
//! - [`telemetry`]: the export of traces to a collector.
//! - [`diagnosis`]: the programs and settings that are installed, configured or missing.

pub mod agent_status;
pub mod agent_team;
pub mod comment_commands;
pub mod config;
pub mod dashboard;
pub mod dates;
pub mod delegated_review;
pub mod diagnosis;
pub mod editor_session;
pub mod effort;
pub mod environment;
pub mod evaluation;
pub mod finding_ledger;
pub mod finding_statistics;
pub mod gate_outcome;
pub mod gate_run;
pub mod gate_session;
pub mod github_app;
mod handler_error;
pub mod imports;
pub mod interactive_review;
pub mod ledger_transfer;
mod left_out;
pub mod loop_page;
pub mod loop_session;
pub mod loop_views;
mod memory;
pub mod models;
pub mod new_tasks;
pub mod next_steps;
pub mod notify;
pub mod publish;
mod purpose;
pub mod queues;
pub mod report_page;
pub mod reporter;
pub mod review_command_options;
pub mod review_progress;
pub mod review_session;
pub mod rule_catalogue;
pub mod rule_options;
pub mod safe_fixes;
pub mod source_columns;
pub mod staged_fixes;
pub mod task_handlers;
pub mod telemetry;
pub mod template_catalogue;
pub mod throwaway_repository;
mod ticket_update;
pub mod trend_chart;
pub mod unknown_outcome;
pub mod wording;
