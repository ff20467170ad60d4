//! A [`Server`] behind the handler trait of the SDK.

use std::sync::Arc;

use assay_base::clock::Stopwatch;
use assay_base::text::first_chars;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ContentBlock, CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as SdkTool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::{Effect, MAX_CONCURRENT_CALLS, Png, Server, Tool, ToolAnswer};

/// The handler of one connection or many. All clones share the limit of concurrent calls.
#[derive(Clone)]
pub(super) struct Handler {
    server: Server,
    places: Arc<Semaphore>,
}

impl Handler {
    pub(super) fn new(server: Server) -> Handler {
        Handler { server, places: Arc::new(Semaphore::new(MAX_CONCURRENT_CALLS)) }
    }

    /// Calls a tool on a thread for blocking work.
    async fn call(&self, request: CallToolRequestParams) -> Result<CallToolResult, ErrorData> {
        let name = request.name.as_ref();
        if self.server.tool(name).is_none() {
            let known: Vec<&str> = self.server.tools.iter().map(Tool::name).collect();
            let message = format!("unknown tool {name:?}; known tools: {}", known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.expect("nobody closes the semaphore");
        let server = self.server.clone();
        let called = spawn_blocking(move || {
            let arguments = Value::Object(request.arguments.unwrap_or_default());
            let (tool, started) = (&*request.name, Stopwatch::start());
            tracing::debug!(tool, "calling the tool");
            let result = server.tool(tool).map(|tool| tool.call(arguments));
            let is_refused = matches!(result, Some(Err(_)));
            tracing::debug!(tool, elapsed = ?started.elapsed(), is_refused, "the tool answered");
            drop(place);
            result.expect("it was looked up before")
        });
        match called.await {
            Ok(Ok(answer)) => Ok(to_call_result(answer)),
            Ok(Err(refusal)) => {
                Ok(CallToolResult::error(vec![ContentBlock::text(refusal.to_string())]))
            }
            Err(_) => Err(ErrorData::internal_error("assay has a bug: the tool panicked", None)),
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(self.server.name, self.server.version))
            .with_instructions(self.server.instructions.clone())
    }

    fn get_tool(&self, name: &str) -> Option<SdkTool> {
        self.server.tool(name).map(to_sdk_tool)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.server.tools.iter().map(to_sdk_tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request).await.map(Into::into)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A request that names its revision is self-contained: that revision has no handshake and
        // no ping.
        let is_stateless = context.meta.0.contains_key(REVISION_KEY);
        match is_stateless && HANDSHAKE_METHODS.contains(&request.method.as_str()) {
            true => Err(method_not_found(&request.method)),
            false => Err(refuse_request(&request.method)),
        }
    }

    // By default, the SDK answers these methods with empty lists, as if they were offered.

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(method_not_found("prompts/list"))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(method_not_found("resources/list"))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(method_not_found("resources/templates/list"))
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(method_not_found("completion/complete"))
    }
}

/// The methods that a server of tools answers. With valid parameters, each of them is handled by
/// another function.
const ANSWERED_METHODS: [&str; 5] =
    ["initialize", "ping", "server/discover", "tools/list", "tools/call"];

/// The methods that only revisions with a handshake have.
const HANDSHAKE_METHODS: [&str; 2] = ["initialize", "ping"];

/// The member of a request that names the revision of the protocol.
const REVISION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// Refuses a request whose parameters are invalid, or whose method is not supported.
fn refuse_request(method: &str) -> ErrorData {
    match ANSWERED_METHODS.contains(&method) {
        true => ErrorData::invalid_params(format!("invalid `params` for `{method}`"), None),
        false => method_not_found(method),
    }
}

fn method_not_found(method: &str) -> ErrorData {
    let method = first_chars(method, 100);
    let message = format!("unknown method {method:?}; this server offers tools only");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

/// Converts an answer into the result type of the SDK.
fn to_call_result(answer: ToolAnswer) -> CallToolResult {
    let mut result = CallToolResult::structured(answer.value);
    if let Some(Png(bytes)) = answer.picture {
        result.content.push(ContentBlock::image(BASE64_STANDARD.encode(bytes), "image/png"));
    }
    result
}

fn to_sdk_tool(tool: &Tool) -> SdkTool {
    let hints = ToolAnnotations::new()
        .read_only(tool.effect() == Effect::Reads)
        .destructive(tool.effect() == Effect::Changes)
        .open_world(false);
    SdkTool::new(tool.name(), tool.description(), Arc::new(tool.input().clone()))
        .with_raw_output_schema(Arc::new(tool.output().clone()))
        .with_annotations(hints)
}
