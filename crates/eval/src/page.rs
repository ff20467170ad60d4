//! A report as one HTML page with plots: no script, no network.

use std::fmt::Write as _;

use crate::report::{EvalReport, ReviewerScore};
use crate::statistics::Estimate;

/// The width and height of a plot, in pixels.
const PLOT: (f64, f64) = (640.0, 320.0);

/// The room for labels around a plot, in pixels.
const MARGIN: f64 = 48.0;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;display:block;overflow-x:auto}\
th,td{padding:.3rem .7rem;text-align:right;border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent)}\
th:first-child,td:first-child{text-align:left}\
svg{max-width:100%;height:auto;font:12px system-ui,sans-serif}\
svg text{fill:currentColor}svg .axis{stroke:currentColor;opacity:.4}\
svg .mark{fill:#2563eb;stroke:#2563eb}svg .line{fill:none;stroke:#2563eb;stroke-width:2}\
.missing{color:#b91c1c}";

/// Returns a report as a page.
pub fn render(report: &EvalReport) -> String {
    let title = format!("Evaluation: {}", escape(&report.set));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    page += &table(&report.reviewers);
    page += "<h2>F1 with its 95 % interval</h2>\n";
    page += &intervals(&report.reviewers);
    page += "<h2>Precision and recall</h2>\n";
    page += &scatter(&report.reviewers);
    for reviewer in &report.reviewers {
        page += &details(reviewer);
    }
    page + "</body>\n</html>\n"
}

fn table(reviewers: &[ReviewerScore]) -> String {
    let mut text = "<table>\n<tr><th>Reviewer</th><th>F1</th><th>Precision</th><th>Recall</th>\
                    <th>Comments per change</th><th>Clean changes blocked</th><th>Duplicates</th></tr>\n"
        .to_owned();
    for reviewer in reviewers {
        let summary = &reviewer.summary;
        let figure = |estimate: Option<Estimate>| {
            estimate.map_or("–".to_owned(), |it| {
                format!("{:.3}<br><small>{:.2}–{:.2}</small>", it.value, it.low, it.high)
            })
        };
        let (blocked, clean) = summary.clean;
        let _ = writeln!(
            text,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{blocked} of {clean}</td><td>{}</td></tr>",
            escape(&reviewer.name),
            figure(summary.f),
            figure(summary.precision),
            figure(summary.recall),
            summary.comments_per_change.map_or("–".to_owned(), |it| format!("{:.1}", it.value)),
            summary.duplicates,
        );
    }
    text + "</table>\n"
}

/// Returns a point of a plot whose axes go from 0 to 1.
fn at(x: f64, y: f64) -> (f64, f64) {
    let (width, height) = (PLOT.0 - 2.0 * MARGIN, PLOT.1 - 2.0 * MARGIN);
    (MARGIN + x * width, PLOT.1 - MARGIN - y * height)
}

fn plot(description: &str, (x_name, y_name): (&str, &str), marks: &str) -> String {
    let ((left, bottom), (right, top)) = (at(0.0, 0.0), at(1.0, 1.0));
    let ticks: String = [0.0, 0.5, 1.0]
        .iter()
        .map(|value| {
            let (x, y) = at(*value, *value);
            format!(
                "<text x=\"{x:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{value}</text>\
                 <text x=\"{:.0}\" y=\"{y:.0}\" text-anchor=\"end\">{value}</text>",
                bottom + 16.0,
                left - 6.0,
            )
        })
        .collect();
    format!(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{description}\">\
         <path class=\"axis\" fill=\"none\" d=\"M{left:.0} {top:.0}V{bottom:.0}H{right:.0}\"/>{ticks}\
         <text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{x_name}</text>\
         <text x=\"{left:.0}\" y=\"{:.0}\">{y_name}</text>{marks}</svg>\n",
        PLOT.0,
        PLOT.1,
        (left + right) / 2.0,
        bottom + 34.0,
        top - 12.0,
    )
}

fn scatter(reviewers: &[ReviewerScore]) -> String {
    let marks: String = reviewers
        .iter()
        .filter_map(|reviewer| {
            let summary = &reviewer.summary;
            let (x, y) = at(summary.recall?.value, summary.precision?.value);
            let name = escape(&reviewer.name);
            Some(format!(
                "<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
                x + 7.0,
                y - 5.0,
            ))
        })
        .collect();
    plot("precision over recall", ("recall", "precision"), &marks)
}

fn intervals(reviewers: &[ReviewerScore]) -> String {
    let row = 26.0;
    let height = row * reviewers.len() as f64 + 30.0;
    let (start, width) = (200.0, PLOT.0 - 240.0);
    let mut text = format!(
        "<svg viewBox=\"0 0 {} {height:.0}\" role=\"img\" aria-label=\"F1 of each reviewer\">",
        PLOT.0
    );
    for (at, reviewer) in reviewers.iter().enumerate() {
        let y = row * at as f64 + 18.0;
        let _ =
            write!(text, "<text x=\"0\" y=\"{:.0}\">{}</text>", y + 4.0, escape(&reviewer.name));
        let Some(Estimate { value, low, high }) = reviewer.summary.f else { continue };
        let x = |value: f64| start + value * width;
        let _ = write!(
            text,
            "<path class=\"line\" d=\"M{:.1} {y:.0}H{:.1}\"/>\
             <circle class=\"mark\" cx=\"{:.1}\" cy=\"{y:.0}\" r=\"4\"/>",
            x(low),
            x(high),
            x(value),
        );
    }
    let y = height - 6.0;
    for value in [0.0, 0.5, 1.0] {
        let x = start + value * width;
        let _ =
            write!(text, "<text x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"middle\">{value}</text>");
    }
    text + "</svg>\n"
}

fn details(reviewer: &ReviewerScore) -> String {
    let mut text = format!("<h2>{}</h2>\n", escape(&reviewer.name));
    if let Some(calibration) = &reviewer.summary.calibration {
        let points: Vec<(f64, f64)> =
            calibration.curve.iter().map(|bin| at(bin.stated, bin.right)).collect();
        let ((x0, y0), (x1, y1)) = (at(0.0, 0.0), at(1.0, 1.0));
        let mut marks = format!("<path class=\"axis\" d=\"M{x0:.0} {y0:.0}L{x1:.0} {y1:.0}\"/>");
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let _ = write!(marks, "<path class=\"line\" d=\"M{}\"/>", path.join("L"));
        for ((x, y), bin) in points.iter().zip(&calibration.curve) {
            let _ = write!(
                marks,
                "<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + 6.0,
                y + 14.0,
                bin.comments,
            );
        }
        let _ = writeln!(text, "<p>Brier score {:.3}</p>", calibration.brier);
        text += &plot(
            "share of right comments over stated confidence",
            ("stated confidence", "share right"),
            &marks,
        );
    }
    for (case, reason) in &reviewer.missing {
        let _ = writeln!(
            text,
            "<p class=\"missing\">Not read: {}: {}</p>",
            escape(case),
            escape(reason)
        );
    }
    text += "<table>\n<tr><th>Case</th><th>Labels named</th><th>Labels</th><th>Comments</th><th>Blocked</th></tr>\n";
    for case in &reviewer.cases {
        let _ = writeln!(
            text,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&case.case),
            case.counts.hits,
            case.counts.labels,
            case.counts.comments,
            if case.blocked { "yes" } else { "no" },
        );
    }
    text + "</table>\n"
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
