//! Charts, each with its numbers as text: [`sparkline`], [`BarChart`] and [`PeriodChart`] as inline
//! SVG, [`HeatMap`] as a table.
//!
//! Sizes and colours are attributes and classes, since the content security policy allows no
//! `style` attribute.

use maud::{Markup, html};

use crate::number::grouped;
use crate::section::path;
use crate::severity::SeverityTone;

/// The width and height of a sparkline.
const SPARKLINE: (f64, f64) = (90.0, 24.0);

/// The width and height of the columns of a period chart.
const COLUMNS: (f64, f64) = (600.0, 120.0);

/// The space below and left of the columns, for labels.
const LABEL_SPACE: (f64, f64) = (34.0, 18.0);

/// Renders numbers as a line. The label says what is counted; the numbers follow it.
pub fn sparkline(label: &str, values: &[u64]) -> Markup {
    let (width, height) = SPARKLINE;
    let max = values.iter().copied().max().unwrap_or(0).max(1) as f64;
    let step = width / (values.len().max(2) - 1) as f64;
    let y = |value: u64| height - 2.0 - value as f64 / max * (height - 4.0);
    let points = values.iter().enumerate().map(|(at, value)| (at as f64 * step, y(*value)));
    let points: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let numbers: Vec<String> = values.iter().map(u64::to_string).collect();
    html! {
        svg.sparkline viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height)
            role="img" aria-label={ (label) ": " (numbers.join(", ")) } {
            title { (label) }
            polyline points=(points.join(" ")) {}
        }
    }
}

/// A bar of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartBar<'a> {
    /// The name.
    pub name: &'a str,
    /// The number, which is shown beside the bar.
    pub value: u64,
    /// The severity that the bar counts; `None` for any.
    pub tone: Option<SeverityTone>,
}

/// Horizontal bars with their names and numbers.
pub struct BarChart<'a> {
    /// The subject of the chart.
    pub label: &'a str,
    /// The bars.
    pub bars: &'a [ChartBar<'a>],
}

impl BarChart<'_> {
    /// Renders the bars as a list.
    pub fn render(&self) -> Markup {
        let max = self.bars.iter().map(|bar| bar.value).max().unwrap_or(0).max(1);
        html! {
            ul.bars aria-label=(self.label) {
                @for bar in self.bars {
                    li {
                        span.name { (bar.name) }
                        (bar_of(bar.value, max, bar.tone))
                        span.value { (grouped(bar.value)) }
                    }
                }
            }
        }
    }
}

/// Renders a bar without its number, which must be written beside it.
pub fn bar_of(value: u64, max: u64, tone: Option<SeverityTone>) -> Markup {
    let share = (value as f64 / max.max(1) as f64).clamp(0.0, 1.0) * 100.0;
    let class = tone.map_or("accent", SeverityTone::class);
    html! {
        svg.bar viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
            rect.track width="100" height="8" {}
            rect.fill.(class) width=(format!("{share:.1}")) height="8" {}
        }
    }
}

/// The numbers of one severity in each period.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartSeries<'a> {
    /// The name of the severity.
    pub name: &'a str,
    /// The colour of the severity.
    pub tone: SeverityTone,
    /// The number in each period.
    pub counts: &'a [u64],
}

/// Stacked columns, one for each period.
pub struct PeriodChart<'a> {
    /// The subject of the chart.
    pub label: &'a str,
    /// The names of the periods, such as their first days.
    pub periods: &'a [String],
    /// The severities, the worst first, which is drawn at the bottom.
    pub series: &'a [ChartSeries<'a>],
}

impl PeriodChart<'_> {
    /// Renders the columns with a legend. Each column has its numbers as a title.
    pub fn render(&self) -> Markup {
        let (width, height) = (COLUMNS.0 + LABEL_SPACE.0, COLUMNS.1 + LABEL_SPACE.1 + 8.0);
        let max = (0..self.periods.len()).map(|at| self.total(at)).max().unwrap_or(0).max(1);
        html! {
            // A narrow screen scrolls the chart, so it must be reachable with the keyboard.
            figure.chart tabindex="0" aria-label=(self.label) {
                svg viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img"
                    aria-label={ (self.label) ": " (self.in_words()) } {
                    (axis(max))
                    @for at in 0..self.periods.len() { (self.column(at, max)) }
                    (self.ends())
                }
                figcaption.legend {
                    // Severities of one colour share one key.
                    @for series in self.series.chunk_by(|a, b| a.tone == b.tone) {
                        span { @for (at, one) in series.iter().enumerate() {
                            @if at == 0 { span.key.(one.tone.class()) aria-hidden="true" { "■" } }
                            " " (one.name) " " span.count { (one.counts.iter().sum::<u64>()) }
                        } }
                    }
                }
            }
        }
    }

    fn total(&self, at: usize) -> u64 {
        self.series.iter().filter_map(|series| series.counts.get(at)).sum()
    }

    fn in_words(&self) -> String {
        let sums = self
            .series
            .iter()
            .map(|series| format!("{} {}", series.counts.iter().sum::<u64>(), series.name));
        sums.collect::<Vec<_>>().join(", ")
    }

    fn column(&self, at: usize, max: u64) -> Markup {
        let step = COLUMNS.0 / self.periods.len().max(1) as f64;
        let (x, width) = (LABEL_SPACE.0 + at as f64 * step, (step * 0.8).min(28.0));
        let mut y = COLUMNS.1 + 8.0;
        let parts = self.series.iter().filter_map(|series| {
            let count = *series.counts.get(at).filter(|count| **count > 0)?;
            let height = count as f64 / max as f64 * COLUMNS.1;
            y -= height;
            Some((series.tone.class(), y, height))
        });
        let parts: Vec<(&str, f64, f64)> = parts.collect();
        let counts = self.series.iter().filter_map(|series| {
            let count = series.counts.get(at).filter(|count| **count > 0)?;
            Some(format!("{count} {}", series.name))
        });
        let counts: Vec<String> = counts.collect();
        html! {
            @if !parts.is_empty() {
                g {
                    title { (self.periods[at]) ": " (counts.join(", ")) }
                    @for (class, y, height) in parts {
                        rect.fill.(class) x=(format!("{x:.1}")) y=(format!("{y:.1}"))
                            width=(format!("{width:.1}")) height=(format!("{height:.1}")) {}
                    }
                }
            }
        }
    }

    /// Renders the names of the first and the last period.
    fn ends(&self) -> Markup {
        let y = COLUMNS.1 + LABEL_SPACE.1 + 6.0;
        html! {
            @if let Some(first) = self.periods.first() { text x=(LABEL_SPACE.0) y=(y) { (first) } }
            @if let [_, .., last] = self.periods {
                text x=(LABEL_SPACE.0 + COLUMNS.0) y=(y) text-anchor="end" { (last) }
            }
        }
    }
}

/// Renders the axis of numbers: 0 and the largest number.
fn axis(max: u64) -> Markup {
    let (left, right) = (LABEL_SPACE.0 - 6.0, LABEL_SPACE.0 + COLUMNS.0);
    let (top, bottom) = (8.0, COLUMNS.1 + 8.0);
    html! {
        path.axis d={ "M" (left) " " (top) "H" (right) "M" (left) " " (bottom) "H" (right) } {}
        text x=(left - 4.0) y=(top + 4.0) text-anchor="end" { title { (grouped(max)) } (short_number(max)) }
        text x=(left - 4.0) y=(bottom + 4.0) text-anchor="end" { "0" }
    }
}

/// Formats a number in at most four characters, for the small space beside an axis.
fn short_number(number: u64) -> String {
    match number {
        0..=9_999 => number.to_string(),
        10_000..=999_999 => format!("{}k", number / 1_000),
        1_000_000..=999_999_999 => format!("{}M", number / 1_000_000),
        _ => format!("{}G", number / 1_000_000_000),
    }
}

/// A row of a heat map.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatRow {
    /// The name, such as a path.
    pub name: String,
    /// The number in each column.
    pub values: Vec<u64>,
}

/// A table of numbers, in which larger numbers have a darker ground.
pub struct HeatMap<'a> {
    /// The subject of the map.
    pub label: &'a str,
    /// The heading of the names of the rows.
    pub row_heading: &'a str,
    /// The names of the columns.
    pub columns: &'a [&'a str],
    /// The rows.
    pub rows: &'a [HeatRow],
}

impl HeatMap<'_> {
    /// Renders the table.
    pub fn render(&self) -> Markup {
        let max = self.rows.iter().flat_map(|row| &row.values).copied().max().unwrap_or(0).max(1);
        html! {
            table.heat {
                caption.hidden-text { (self.label) }
                thead {
                    tr {
                        th scope="col" { (self.row_heading) }
                        @for name in self.columns { th.number scope="col" { (name) } }
                    }
                }
                tbody {
                    @for row in self.rows {
                        tr {
                            th.mono scope="row" { (path(&row.name)) }
                            @for value in &row.values {
                                td.number.(heat_class(*value, max)) { (grouped(*value)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the class of a cell: `heat-0` for 0, and `heat-1` to `heat-4` for the quarters up to the
/// largest number.
fn heat_class(value: u64, max: u64) -> String {
    format!("heat-{}", (u128::from(value) * 4).div_ceil(u128::from(max)))
}
