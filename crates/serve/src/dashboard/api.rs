//! The operations of the HTTP API, below `/api/v1`.
//!
//! [`operations`] is the list from which both the routes and the OpenAPI description are made, so
//! that neither can have an operation that the other lacks.

use std::sync::Arc;

use assay_engine::dashboard::actions::{
    ActionView, AuditListView, DashboardAction, DismissalInput, GateAcceptInput, LoopSignOffInput,
};
use assay_engine::dashboard::audit_log::ActionOrigin;
use assay_engine::dashboard::calibration::CalibrationListView;
use assay_engine::dashboard::finding_views::{
    FindingDetailView, FindingListQuery, FindingListView,
};
use assay_engine::dashboard::gate_views::{GateDetailView, GateListView};
use assay_engine::dashboard::loop_list::LoopListView;
use assay_engine::dashboard::run_views::{RunDetailView, RunListQuery, RunListView};
use assay_engine::dashboard::task_views::{
    AgentListView, QueueListView, TaskDetailView, TaskListQuery, TaskListView,
};
use assay_engine::dashboard::{Dashboard, DashboardError, MAX_LIMIT, StatisticsQuery};
use assay_engine::finding_statistics::LedgerStatistics;
use assay_engine::loop_views::LoopDetailView;
use axum::Router;
use axum::body::to_bytes;
use axum::extract::{RawPathParams, Request, State};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use axum::routing::{MethodRouter, get, post};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::DashboardService;
use super::answer::{ApiError, ApiErrorKind, json};
use super::form::parse_query;

/// The path before the paths of all operations.
pub(super) const BASE: &str = "/api/v1";

/// The maximum size of a body in bytes.
pub(super) const MAX_BODY: usize = 16 << 10;

/// A request without parameters.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParameters {}

/// The parts of a request that an operation uses.
pub(super) struct ApiRequest {
    /// The id in the path; empty if the path has none.
    id: String,
    query: String,
    body: Vec<u8>,
}

type Run = Arc<dyn Fn(&Dashboard, &ApiRequest) -> Result<Value, DashboardError> + Send + Sync>;
type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

/// The effect of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ApiEffect {
    /// The operation reads, by GET.
    Reads,
    /// The operation changes a task, an agent, a finding, a loop or a gate, by POST.
    Changes,
}

/// An operation of the API.
pub(super) struct ApiOperation {
    /// The effect, which decides on the method.
    pub(super) effect: ApiEffect,
    /// The path below [`BASE`], such as `/runs/{id}`.
    pub(super) path: &'static str,
    /// The unique name of the operation.
    pub(super) name: &'static str,
    /// The summary, in one line.
    pub(super) summary: &'static str,
    /// The schema of the parameters in the query.
    pub(super) query: MakeSchema,
    /// The schema of the body; `None` if the operation takes none.
    pub(super) body: Option<MakeSchema>,
    /// The schema of the answer.
    pub(super) answer: MakeSchema,
    run: Run,
}

impl ApiOperation {
    /// Creates an operation that reads by an id in the path and the parameters of a query.
    fn read<Q, A>(
        path: &'static str,
        name: &'static str,
        summary: &'static str,
        read: fn(&Dashboard, &str, &Q) -> Result<A, DashboardError>,
    ) -> ApiOperation
    where
        Q: DeserializeOwned + JsonSchema + 'static,
        A: Serialize + JsonSchema + 'static,
    {
        let run = move |dashboard: &Dashboard, request: &ApiRequest| {
            let query = parse_query(&request.query)?;
            to_value(&read(dashboard, &request.id, &query)?)
        };
        ApiOperation {
            effect: ApiEffect::Reads,
            path,
            name,
            summary,
            query: |generator| generator.root_schema_for::<Q>(),
            body: None,
            answer: SchemaGenerator::subschema_for::<A>,
            run: Arc::new(run),
        }
    }

    /// Creates an operation that carries out an action.
    fn act(
        path: &'static str,
        name: &'static str,
        summary: &'static str,
        action: fn(String) -> DashboardAction,
    ) -> ApiOperation {
        let run = move |dashboard: &Dashboard, request: &ApiRequest| {
            request.body_of::<NoParameters>()?;
            carry_out(dashboard, request, action(request.id.clone()))
        };
        ApiOperation::change(path, name, summary, None, Arc::new(run))
    }

    /// Creates an operation that carries out an action with an input in the body.
    fn act_with<I: DeserializeOwned + JsonSchema + 'static>(
        path: &'static str,
        name: &'static str,
        summary: &'static str,
        action: fn(String, I) -> DashboardAction,
    ) -> ApiOperation {
        let run = move |dashboard: &Dashboard, request: &ApiRequest| {
            let input = request.body_of()?;
            carry_out(dashboard, request, action(request.id.clone(), input))
        };
        let body: MakeSchema = SchemaGenerator::subschema_for::<I>;
        ApiOperation::change(path, name, summary, Some(body), Arc::new(run))
    }

    fn change(
        path: &'static str,
        name: &'static str,
        summary: &'static str,
        body: Option<MakeSchema>,
        run: Run,
    ) -> ApiOperation {
        ApiOperation {
            effect: ApiEffect::Changes,
            path,
            name,
            summary,
            query: |generator| generator.root_schema_for::<NoParameters>(),
            body,
            answer: SchemaGenerator::subschema_for::<ActionView>,
            run,
        }
    }
}

impl ApiRequest {
    /// Parses the body as JSON; an empty body has no fields.
    fn body_of<T: DeserializeOwned>(&self) -> Result<T, DashboardError> {
        let body = if self.body.trim_ascii().is_empty() { &b"{}"[..] } else { &self.body };
        serde_json::from_slice(body)
            .map_err(|error| DashboardError::Invalid(format!("invalid body: {error}")))
    }
}

/// Returns all operations.
pub(super) fn operations() -> Vec<ApiOperation> {
    vec![
        ApiOperation::read::<RunListQuery, RunListView>(
            "/runs",
            "listRuns",
            "Returns the stored reviews, the newest first, page by page.",
            |dashboard, _, query| dashboard.runs(query),
        ),
        ApiOperation::read::<NoParameters, RunDetailView>(
            "/runs/{id}",
            "getRun",
            "Returns a review with its findings.",
            |dashboard, id, _| dashboard.run(id),
        ),
        ApiOperation::read::<FindingListQuery, FindingListView>(
            "/findings",
            "listFindings",
            "Returns the findings of the ledger, the worst first, page by page.",
            |dashboard, _, query| dashboard.findings(query),
        ),
        ApiOperation::read::<NoParameters, FindingDetailView>(
            "/findings/{id}",
            "getFinding",
            "Returns a finding with its history, by its id or the beginning of the id.",
            |dashboard, id, _| dashboard.finding(id),
        ),
        ApiOperation::read::<NoParameters, QueueListView>(
            "/queues",
            "listQueues",
            "Returns the queues with the number of their tasks by state.",
            |dashboard, _, _| dashboard.queues(),
        ),
        ApiOperation::read::<TaskListQuery, TaskListView>(
            "/tasks",
            "listTasks",
            "Returns tasks in the order in which agents would claim them.",
            |dashboard, _, query| dashboard.tasks(query),
        ),
        ApiOperation::read::<NoParameters, TaskDetailView>(
            "/tasks/{id}",
            "getTask",
            "Returns a task with its attempts.",
            |dashboard, id, _| dashboard.task(id),
        ),
        ApiOperation::read::<NoParameters, AgentListView>(
            "/agents",
            "listAgents",
            "Returns the agents with their last heartbeats.",
            |dashboard, _, _| dashboard.agents(),
        ),
        ApiOperation::read::<NoParameters, LoopListView>(
            "/loops",
            "listLoops",
            "Returns the validation loops of all specs with their status.",
            |dashboard, _, _| dashboard.loops(),
        ),
        ApiOperation::read::<NoParameters, LoopDetailView>(
            "/loops/{id}",
            "getLoop",
            "Returns a validation loop with its rounds, checks, criteria and journal.",
            |dashboard, id, _| dashboard.loop_detail(id),
        ),
        ApiOperation::read::<NoParameters, GateListView>(
            "/gates",
            "listGates",
            "Returns the quality gates that have a list of items.",
            |dashboard, _, _| dashboard.gates(),
        ),
        ApiOperation::read::<NoParameters, GateDetailView>(
            "/gates/{id}",
            "getGate",
            "Returns a quality gate with its items, by its phase.",
            |dashboard, id, _| dashboard.gate(id),
        ),
        ApiOperation::read::<StatisticsQuery, LedgerStatistics>(
            "/statistics",
            "getStatistics",
            "Returns the statistics of the ledger.",
            |dashboard, _, query| dashboard.statistics_of(query),
        ),
        ApiOperation::read::<NoParameters, CalibrationListView>(
            "/calibration",
            "listCalibration",
            "Returns stated confidence against the share that was right, of the last evaluations.",
            |dashboard, _, _| dashboard.calibration(),
        ),
        ApiOperation::read::<NoParameters, AuditListView>(
            "/audit",
            "listActions",
            "Returns the newest actions of users.",
            |dashboard, _, _| dashboard.audit(MAX_LIMIT),
        ),
        ApiOperation::act(
            "/tasks/{id}/retry",
            "retryTask",
            "Makes a failed or cancelled task pending again.",
            DashboardAction::RetryTask,
        ),
        ApiOperation::act(
            "/tasks/{id}/cancel",
            "cancelTask",
            "Cancels a pending or running task.",
            DashboardAction::CancelTask,
        ),
        ApiOperation::act(
            "/agents/{id}/pause",
            "pauseAgent",
            "Stops an agent from claiming tasks; the id `all` means all agents.",
            DashboardAction::PauseAgent,
        ),
        ApiOperation::act(
            "/agents/{id}/resume",
            "resumeAgent",
            "Lets an agent claim tasks again; the id `all` means all agents.",
            DashboardAction::ResumeAgent,
        ),
        ApiOperation::act_with::<DismissalInput>(
            "/findings/{id}/dismiss",
            "dismissFinding",
            "Dismisses a finding with a reason, so that later reviews do not report it.",
            DashboardAction::DismissFinding,
        ),
        ApiOperation::act(
            "/findings/{id}/reopen",
            "reopenFinding",
            "Revokes the dismissal of a finding.",
            DashboardAction::ReopenFinding,
        ),
        ApiOperation::act_with::<LoopSignOffInput>(
            "/loops/{id}/sign-off",
            "signOffLoop",
            "Signs off the current tree of a loop, or decides one of its issues.",
            DashboardAction::SignOffLoop,
        ),
        ApiOperation::act_with::<GateAcceptInput>(
            "/gates/{id}/accept",
            "acceptGateItem",
            "Accepts a failed item of a gate, with a reason.",
            DashboardAction::AcceptGateItem,
        ),
    ]
}

fn carry_out(
    dashboard: &Dashboard,
    request: &ApiRequest,
    action: DashboardAction,
) -> Result<Value, DashboardError> {
    parse_query::<NoParameters>(&request.query)?;
    to_value(&dashboard.act(&action, ActionOrigin::Api)?)
}

fn to_value<T: Serialize>(answer: &T) -> Result<Value, DashboardError> {
    serde_json::to_value(answer).map_err(|error| DashboardError::Failed(error.into()))
}

/// Returns the routes of all operations.
pub(super) fn routes() -> Router<Arc<DashboardService>> {
    operations().into_iter().fold(Router::new(), |routes, operation| {
        let path = format!("{BASE}{}", operation.path);
        routes.route(&path, route(operation))
    })
}

fn route(operation: ApiOperation) -> MethodRouter<Arc<DashboardService>> {
    let run = operation.run;
    let handler = move |State(service): State<Arc<DashboardService>>,
                        parameters: RawPathParams,
                        request: Request| {
        let run = Arc::clone(&run);
        async move {
            match answer(&service, run, &parameters, request).await {
                Ok(value) => json(StatusCode::OK, &value),
                Err(error) => error.into_response(),
            }
        }
    };
    match operation.effect {
        ApiEffect::Reads => get(handler),
        ApiEffect::Changes => post(handler),
    }
}

async fn answer(
    service: &DashboardService,
    run: Run,
    parameters: &RawPathParams,
    request: Request,
) -> Result<Value, ApiError> {
    let id = parameters.iter().next().map(|(_, id)| id.to_owned()).unwrap_or_default();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let body = read_body(request).await?;
    let request = ApiRequest { id, query, body };
    Ok(service.run(move |dashboard| run(dashboard, &request)).await?)
}

/// Reads a body of at most [`MAX_BODY`] bytes.
pub(super) async fn read_body(request: Request) -> Result<Vec<u8>, ApiError> {
    let too_large = |_| {
        let message = format!("the body is incomplete, or has more than {MAX_BODY} bytes");
        ApiError::new(ApiErrorKind::TooLarge, message)
    };
    to_bytes(request.into_body(), MAX_BODY).await.map(Vec::from).map_err(too_large)
}
