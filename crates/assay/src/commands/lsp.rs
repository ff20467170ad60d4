//! `assay lsp`: findings in an editor, over stdin and stdout.

use anyhow::Context;
use assay_base::shutdown::Shutdown;
use assay_serve::lsp::{self, LspContext, LspEnd};

use super::mcp::duplicate_stdio;
use crate::exit::Exit;
use crate::process::{environment, user_name};
use crate::signals;

/// Arguments of `assay lsp`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Use stdin and stdout; editors pass this option, and there is no other way
    #[arg(long)]
    stdio: bool,
}

pub(crate) fn run(_args: &Args) -> anyhow::Result<Exit> {
    let shutdown = Shutdown::default();
    signals::end_server(shutdown.clone());
    let (input, output) = duplicate_stdio()?;
    let context =
        LspContext { environment: environment(), version: env!("CARGO_PKG_VERSION"), user_name };
    let end = lsp::serve(input, output, context, &shutdown)
        .context("could not write to the editor; start `assay lsp` again")?;
    Ok(match end {
        LspEnd::AfterShutdown => Exit::Ready,
        LspEnd::WithoutShutdown => Exit::NotReady,
    })
}
