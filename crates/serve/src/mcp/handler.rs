//! A [`Server`] as the SDK knows one.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool as Published, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::{AT_A_TIME, Answer, Effect, Png, Server, Tool};

/// Answers what comes in over one connection or many. All clones share their places.
#[derive(Clone)]
pub(super) struct Handler {
    server: Server,
    places: Arc<Semaphore>,
}

impl Handler {
    pub(super) fn new(server: Server) -> Handler {
        Handler { server, places: Arc::new(Semaphore::new(AT_A_TIME)) }
    }

    /// Calls a tool on a thread where it may block.
    async fn call(&self, request: CallToolRequestParams) -> Result<CallToolResult, ErrorData> {
        let name = request.name.as_ref();
        if self.server.tool(name).is_none() {
            let known: Vec<&str> = self.server.tools.iter().map(Tool::name).collect();
            let message = format!("there is no tool {name:?}; there are {}", known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.expect("nobody closes the semaphore");
        let server = self.server.clone();
        let called = spawn_blocking(move || {
            let arguments = Value::Object(request.arguments.unwrap_or_default());
            let result = server.tool(&request.name).map(|tool| tool.call(arguments));
            drop(place);
            result.expect("it was looked up before")
        });
        match called.await {
            Ok(Ok(answer)) => Ok(told(answer)),
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

    fn get_tool(&self, name: &str) -> Option<Published> {
        self.server.tool(name).map(published)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.server.tools.iter().map(published).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request).await.map(Into::into)
    }
}

/// Gives an answer as clients take it.
fn told(answer: Answer) -> CallToolResult {
    let mut result = CallToolResult::structured(answer.value);
    if let Some(Png(bytes)) = answer.picture {
        result.content.push(ContentBlock::image(BASE64_STANDARD.encode(bytes), "image/png"));
    }
    result
}

fn published(tool: &Tool) -> Published {
    let hints = ToolAnnotations::new()
        .read_only(tool.effect() == Effect::Reads)
        .destructive(tool.effect() == Effect::Changes)
        .open_world(false);
    Published::new(tool.name(), tool.description(), Arc::new(tool.input().clone()))
        .with_raw_output_schema(Arc::new(tool.output().clone()))
        .with_annotations(hints)
}
