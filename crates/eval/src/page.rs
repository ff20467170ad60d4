//! Renders a report as one HTML page with plots, without scripts and without network access.

use std::fmt::Write as _;

use assay_base::text::first_chars;

use crate::report::{EvalReport, ReviewerScore};
use crate::statistics::Estimate;
use crate::table::facts;

/// The width and height of a plot, in pixels: narrow, so that its text can be read on a phone.
const PLOT: (f64, f64) = (360.0, 260.0);

/// The margin for text around a plot, in pixels.
const MARGIN: f64 = 36.0;

/// The maximum length of a name in a plot, in characters.
const MAX_NAME: usize = 24;

const STYLE: &str = "\
:root{color-scheme:light dark;--mark:light-dark(#2563eb,#8ab4ff);--bad:light-dark(#b91c1c,#ff9a9a)}\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}\
.wide{overflow-x:auto}table{border-collapse:collapse}\
th,td{padding:.3rem .7rem;text-align:right;border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent);overflow-wrap:normal}\
td{white-space:nowrap}\
th:first-child,td:first-child{text-align:left;white-space:normal;min-width:8rem;overflow-wrap:break-word}\
dt{font-weight:600;margin-top:.5rem}dd{margin:0}summary{cursor:pointer;margin:1rem 0 .5rem}\
svg{display:block;width:100%;max-width:30rem;height:auto;font:12px system-ui,sans-serif}\
svg text{fill:currentColor}svg .axis{stroke:currentColor;opacity:.4}\
svg .mark{fill:var(--mark);stroke:var(--mark)}svg .line{fill:none;stroke:var(--mark);stroke-width:2}\
.missing{color:var(--bad)}";

/// Renders a report as an HTML page.
pub fn render(report: &EvalReport) -> String {
    let title = format!("Evaluation: {}", escape(&report.set));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
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
    let mut text = "<div class=\"wide\"><table>\n<tr><th>Reviewer</th><th>F1</th><th>Precision</th><th>Recall</th>\
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
    text + "</table></div>\n"
}

/// Returns the pixel position of a point in a plot whose axes go from 0 to 1.
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
            let name = escape(&short(&reviewer.name));
            // A name is placed on the side with more space.
            let (anchor, shift) = match x > PLOT.0 / 2.0 {
                true => ("end", -7.0),
                false => ("start", 7.0),
            };
            Some(format!(
                "<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{name}</text>",
                x + shift,
                y - 5.0,
            ))
        })
        .collect();
    plot("precision over recall", ("recall", "precision"), &marks)
}

fn intervals(reviewers: &[ReviewerScore]) -> String {
    // A row contains the name, and the interval below the name.
    let row = 40.0;
    let height = row * reviewers.len() as f64 + 24.0;
    let (start, width) = (10.0, PLOT.0 - 30.0);
    let x = |value: f64| start + value * width;
    let mut text = format!(
        "<svg viewBox=\"0 0 {} {height:.0}\" role=\"img\" aria-label=\"F1 of each reviewer\">",
        PLOT.0
    );
    for (at, reviewer) in reviewers.iter().enumerate() {
        let y = row * at as f64 + 14.0;
        let name = escape(&short(&reviewer.name));
        let _ = write!(text, "<text x=\"{start}\" y=\"{y:.0}\">{name}</text>");
        let Some(Estimate { value, low, high }) = reviewer.summary.f else { continue };
        let _ = write!(
            text,
            "<path class=\"line\" d=\"M{:.1} {y:.0}H{:.1}\"/>\
             <circle class=\"mark\" cx=\"{:.1}\" cy=\"{y:.0}\" r=\"4\"/>",
            x(low),
            x(high),
            x(value),
            y = y + 12.0,
        );
    }
    let bottom = height - 18.0;
    let _ = write!(text, "<path class=\"axis\" d=\"M{:.0} {bottom:.0}H{:.0}\"/>", x(0.0), x(1.0));
    for value in [0.0, 0.5, 1.0] {
        let _ = write!(
            text,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{value}</text>",
            x(value),
            height - 4.0,
        );
    }
    text + "</svg>\n"
}

/// Truncates a name so that it fits into a plot.
fn short(name: &str) -> String {
    match name.chars().count() > MAX_NAME {
        true => format!("{}…", first_chars(name, MAX_NAME - 1)),
        false => name.to_owned(),
    }
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
        text += &plot(
            "share of right comments over stated confidence",
            ("stated confidence", "share right"),
            &marks,
        );
    }
    text += "<dl>\n";
    for (name, entries) in facts(reviewer) {
        let class = if name == "NOT READ" { " class=\"missing\"" } else { "" };
        let entries = escape(&entries.join(", "));
        let _ = writeln!(text, "<dt{class}>{name}</dt><dd{class}>{entries}</dd>");
    }
    text += "</dl>\n";
    text + &cases(reviewer)
}

fn cases(reviewer: &ReviewerScore) -> String {
    let mut text = format!(
        "<details>\n<summary>Cases: {}</summary>\n<div class=\"wide\"><table>\n<tr><th>Case</th>\
         <th>Labels named</th><th>Labels</th><th>Comments</th><th>Blocked</th></tr>\n",
        reviewer.cases.len()
    );
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
    text + "</table></div>\n</details>\n"
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
