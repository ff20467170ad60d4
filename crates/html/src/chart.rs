//! Charts as inline SVG, each with its numbers as text: [`sparkline`], [`BarChart`],
//! [`PeriodChart`], [`HeatMap`].
//!
//! Sizes and colours are attributes and classes, since the content security policy allows no
//! `style` attribute.

use maud::{Markup, html};

use crate::severity::SeverityTone;

/// The width and height of a sparkline.
const SPARKLINE: (f64, f64) = (90.0, 24.0);

/// The width and height of the columns of a period chart.
const COLUMNS: (f64, f64) = (600.0, 120.0);

/// The space below and left of the columns, for labels.
const LABEL_SPACE: (f64, f64) = (34.0, 18.0);

/// The width of a cell of a heat map, its height, and the width of the names.
const CELL: (f64, f64) = (72.0, 26.0);
const NAME_WIDTH: f64 = 250.0;

/// The maximum length of a name in a heat map, in characters.
const MAX_NAME: usize = 38;

/// The opacity of the darkest cell of a heat map: text on the cell stays readable.
const MAX_OPACITY: f64 = 0.45;

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
                        span.value { (bar.value) }
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
                    @for series in self.series {
                        span { span.key.(series.tone.class()) aria-hidden="true" { "■" } " "
                            (series.name) " " span.count { (series.counts.iter().sum::<u64>()) } }
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
        text x=(left - 4.0) y=(top + 4.0) text-anchor="end" { title { (max) } (short_number(max)) }
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

/// A grid of numbers, of which larger ones are darker.
pub struct HeatMap<'a> {
    /// The subject of the map.
    pub label: &'a str,
    /// The names of the columns.
    pub columns: &'a [&'a str],
    /// The rows.
    pub rows: &'a [HeatRow],
}

impl HeatMap<'_> {
    /// Renders the grid with its numbers.
    pub fn render(&self) -> Markup {
        let width = NAME_WIDTH + CELL.0 * self.columns.len() as f64;
        let height = CELL.1 * (self.rows.len() + 1) as f64;
        let max = self.rows.iter().flat_map(|row| &row.values).copied().max().unwrap_or(0).max(1);
        html! {
            figure.chart.heat tabindex="0" aria-label=(self.label) {
                svg viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img"
                    aria-label={ (self.label) ": " (self.in_words()) } {
                    @for (at, name) in self.columns.iter().enumerate() {
                        text x=(middle(at)) y="16" text-anchor="middle" { (name) }
                    }
                    @for (at, row) in self.rows.iter().enumerate() {
                        (heat_row(row, CELL.1 * (at + 1) as f64, max))
                    }
                }
            }
        }
    }

    fn in_words(&self) -> String {
        let rows = self.rows.iter().map(|row| {
            let numbers = self.columns.iter().zip(&row.values).filter(|(_, value)| **value > 0);
            let numbers: Vec<String> =
                numbers.map(|(column, value)| format!("{value} {column}")).collect();
            format!("{} {}", row.name, numbers.join(", "))
        });
        rows.collect::<Vec<_>>().join("; ")
    }
}

fn middle(column: usize) -> f64 {
    NAME_WIDTH + CELL.0 * (column as f64 + 0.5)
}

fn heat_row(row: &HeatRow, y: f64, max: u64) -> Markup {
    let opacity = |value: u64| value as f64 / max as f64 * MAX_OPACITY;
    html! {
        text.name x="0" y=(y + 17.0) { title { (row.name) } (shorten(&row.name)) }
        @for (at, value) in row.values.iter().enumerate() {
            rect.cell x=(middle(at) - CELL.0 / 2.0 + 1.0) y=(y + 1.0) width=(CELL.0 - 2.0)
                height=(CELL.1 - 2.0) rx="3" {}
            @if *value > 0 {
                rect.fill.accent x=(middle(at) - CELL.0 / 2.0 + 1.0) y=(y + 1.0)
                    width=(CELL.0 - 2.0) height=(CELL.1 - 2.0) rx="3"
                    fill-opacity=(format!("{:.2}", opacity(*value))) {}
                text x=(middle(at)) y=(y + 17.0) text-anchor="middle" { (value) }
            }
        }
    }
}

/// Returns the end of a long name, since the end of a path tells files apart.
fn shorten(name: &str) -> String {
    let length = name.chars().count();
    match length > MAX_NAME {
        true => format!("…{}", name.chars().skip(length - MAX_NAME + 1).collect::<String>()),
        false => name.to_owned(),
    }
}
