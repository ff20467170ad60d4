//! Traces of OpenTelemetry: [`TraceLayer`] turns spans of `tracing` into spans of OpenTelemetry,
//! and [`TraceExport`] sends them to a collector over OTLP/HTTP.
//!
//! The export never delays or fails the work that it describes. A span that ends is put into a
//! queue with a bound, and a thread sends the queue in batches. If the collector cannot be reached,
//! spans are dropped and counted, and the end of the process waits for the last batch for one
//! second at most.
//!
//! The encodings are written by hand. The crates of OpenTelemetry would add an async runtime of
//! their own, `tonic`'s types and `prost` to a message of four levels, and two more HTTP clients.

mod encoding;
mod export_queue;
mod exporter;
mod fields;
mod layer;
mod open_span;
mod sampler;
mod settings;
mod span;
mod trace_context;

pub use self::export_queue::{ExportCounts, ExportSummary, OnFirstFailure, TraceExport};
pub use self::layer::TraceLayer;
pub use self::settings::{SettingsReport, TraceSettings};
pub use self::trace_context::TraceContext;
