//! `/metrics`: numbers in the text format of Prometheus.

use std::fmt::Write as _;
use std::sync::Arc;

use assay_engine::dashboard::task_views::{AgentView, QueueView};
use assay_engine::dashboard::{Dashboard, DashboardError};
use assay_engine::finding_statistics::LedgerStatistics;
use assay_engine::telemetry::{ExportCounts, TraceExport};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::DashboardService;
use super::answer::{ApiError, PRIVATE_HEADERS};

pub(super) async fn answer(
    State(service): State<Arc<DashboardService>>,
) -> Result<Response, ApiError> {
    let traces = service.traces.as_ref().map(TraceExport::counts);
    let text = service.run(move |dashboard| metrics(dashboard, traces)).await?;
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((PRIVATE_HEADERS, kind, text).into_response())
}

fn metrics(dashboard: &Dashboard, traces: Option<ExportCounts>) -> Result<String, DashboardError> {
    let mut text = MetricText::default();
    text.queues(&dashboard.queues()?.queues);
    text.agents(&dashboard.agents()?.agents);
    text.ledger(&dashboard.statistics()?.overview);
    if let Some(counts) = traces {
        text.traces(counts);
    }
    Ok(text.0)
}

/// Metrics in the text format, one family after the other.
#[derive(Default)]
struct MetricText(String);

impl MetricText {
    /// Begins a family of samples.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value)));
        let labels: Vec<String> = labels.collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn queues(&mut self, queues: &[QueueView]) {
        let name = "assay_queue_tasks";
        self.family(name, "gauge", "Tasks of a queue by state.");
        for queue in queues {
            let counts = [
                ("ready", queue.ready),
                ("waiting", queue.waiting),
                ("blocked", queue.blocked),
                ("in_progress", queue.in_progress),
                ("completed", queue.completed),
                ("failed", queue.failed),
                ("cancelled", queue.cancelled),
            ];
            for (state, count) in counts {
                self.sample(name, &[("queue", &queue.queue), ("state", state)], count as f64);
            }
        }
    }

    fn agents(&mut self, agents: &[AgentView]) {
        let name = "assay_agent_up";
        self.family(name, "gauge", "1 if the agent is alive, else 0.");
        for agent in agents {
            let labels = [("agent", agent.id.as_str()), ("queue", &agent.queue)];
            self.sample(name, &labels, f64::from(u8::from(agent.alive)));
        }
        let name = "assay_agent_paused";
        self.family(name, "gauge", "1 if the agent must not claim tasks, else 0.");
        for agent in agents {
            let labels = [("agent", agent.id.as_str()), ("queue", &agent.queue)];
            self.sample(name, &labels, f64::from(u8::from(agent.paused)));
        }
    }

    fn traces(&mut self, counts: ExportCounts) {
        let name = "assay_trace_spans_total";
        self.family(name, "counter", "Spans of traces of this process by outcome.");
        let outcomes =
            [("sent", counts.sent), ("failed", counts.failed), ("dropped", counts.dropped)];
        for (outcome, count) in outcomes {
            self.sample(name, &[("outcome", outcome)], count as f64);
        }
    }

    fn ledger(&mut self, statistics: &LedgerStatistics) {
        let total = &statistics.total;
        self.family("assay_findings", "gauge", "Findings of the ledger by state.");
        let states =
            [("open", total.open), ("gone", total.resolved), ("dismissed", total.dismissed)];
        for (state, count) in states {
            self.sample("assay_findings", &[("state", state)], count as f64);
        }
        self.family("assay_findings_open", "gauge", "Open findings by severity.");
        for group in statistics.overview.iter().flat_map(|overview| &overview.severities) {
            let severity = group.name.as_deref().unwrap_or("unknown");
            self.sample("assay_findings_open", &[("severity", severity)], group.open as f64);
        }
        self.family("assay_reviews_total", "counter", "Reviews in the ledger.");
        for (complete, count) in
            [("true", statistics.runs.complete), ("false", statistics.runs.incomplete)]
        {
            self.sample("assay_reviews_total", &[("complete", complete)], count as f64);
        }
        let Some(cost) = &total.cost else { return };
        for (name, help, value) in [
            ("assay_model_calls_total", "Calls of models.", cost.calls as f64),
            ("assay_model_tokens_total", "Input and output tokens of models.", cost.tokens as f64),
            ("assay_model_cost_usd_total", "Cost of models with known prices.", cost.usd),
        ] {
            self.family(name, "counter", help);
            self.sample(name, &[], value);
        }
    }
}

/// Escapes the value of a label.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_labels_are_escaped() {
        let mut text = MetricText::default();
        text.sample("x", &[("a", "q\"\\\n")], 1.5);
        text.sample("x", &[], 2.0);
        assert_eq!(text.0, "x{a=\"q\\\"\\\\\\n\"} 1.5\nx 2\n");
    }
}
