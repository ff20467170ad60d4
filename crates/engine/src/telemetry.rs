//! The export of traces, as the variables of OpenTelemetry set it: [`start`].

use assay_services::telemetry::{SettingsReport, TraceSettings};

use crate::environment::Environment;

pub use assay_services::telemetry::{ExportCounts, OnFirstFailure, TraceExport, TraceLayer};

/// The export of a process, and the warnings about its variables.
pub struct Telemetry {
    /// The export; `None` if no endpoint is set, or if the export is switched off.
    pub export: Option<TraceExport>,
    /// The variables that are ignored or that prevent the export, with the reasons.
    pub warnings: Vec<String>,
}

/// Reads the variables of OpenTelemetry and prepares the export. `on_first_failure` is called with
/// the first failure, for a process that runs until it is stopped. The texts of all spans are
/// redacted by the detector that redacts findings.
pub fn start(environment: &Environment, on_first_failure: Option<OnFirstFailure>) -> Telemetry {
    let variable = |name: &str| environment.variable(name);
    let SettingsReport { settings, warnings } = TraceSettings::read(variable, assay_rules::redact);
    let export = settings.map(|settings| TraceExport::new(settings, on_first_failure));
    Telemetry { export, warnings }
}
