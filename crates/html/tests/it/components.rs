use assay_findings::verdict::VerdictState;
use assay_html::chart::{
    BarChart, ChartBar, ChartSeries, HeatMap, HeatRow, PeriodChart, sparkline,
};
use assay_html::code::{CodeExcerpt, CodeLine, CodeLineKind, LineReplacement};
use assay_html::number::grouped;
use assay_html::section::{anchor, folded, path, prose};
use assay_html::severity::{SeverityTone, badge};
use assay_html::table::{HtmlTable, TableColumn};
use assay_html::verdict_banner::VerdictBanner;
use expect_test::{Expect, expect};
use maud::{Markup, html};

fn check(markup: &Markup, expected: Expect) {
    expected.assert_eq(&markup.0);
}

/// Writes a hunk as text: the sign, the number and the text of each line.
fn hunk(first: u32, before: &[&str], removed: &[&str], added: &[&str], after: &[&str]) -> String {
    let lines = LineReplacement { first, before, removed, added, after }.hunk();
    let text = lines.iter().map(|line| {
        let sign = match line.kind {
            CodeLineKind::Context => ' ',
            CodeLineKind::Added => '+',
            CodeLineKind::Removed => '-',
            CodeLineKind::Gap => '~',
        };
        format!("{sign}{} {}\n", line.number.unwrap(), line.text)
    });
    text.collect()
}

#[test]
fn a_badge_has_the_word_and_the_colour_of_its_severity() {
    check(&badge(SeverityTone::High, "P1"), expect![[r#"<span class="badge high">P1</span>"#]]);
    let tones = [0, 1, 2, 3, 4, 5, 6].map(|level| SeverityTone::from_impact(level).class());
    assert_eq!(tones, ["critical", "high", "high", "medium", "low", "low", "low"]);
}

#[test]
fn a_banner_has_the_state_as_heading_and_the_reasons_as_a_list() {
    let banner = VerdictBanner {
        state: VerdictState::NotReady,
        caveat: Some("rules only"),
        reasons: vec![html! { "1 finding must be fixed" }],
    };
    check(
        &banner.render(),
        expect![[
            r#"<section class="verdict critical" aria-labelledby="verdict"><p class="label">Verdict</p><h1 id="verdict"><span class="sign" aria-hidden="true">✕</span> Not ready <small>(rules only)</small></h1><ul class="reasons"><li>1 finding must be fixed</li></ul></section>"#
        ]],
    );
}

#[test]
fn an_excerpt_has_numbers_and_marks() {
    let mut lines = [
        CodeLine::new(CodeLineKind::Context, 9, "fn a() {"),
        CodeLine::new(CodeLineKind::Added, 10, "    b(\"<x>\");"),
        CodeLine::gap("3 lines"),
    ];
    lines[1].is_marked = true;
    check(
        &CodeExcerpt { caption: "src/a.rs:10", lines: &lines }.render(),
        expect![[r#"
            <figure class="code"><figcaption>src/a.rs:10</figcaption><pre tabindex="0" role="group" aria-label="Code of src/a.rs:10"><code><span class="l ctx"><span class="n">9</span><span class="s"> </span>fn a() {
            </span><span class="l add hit"><span class="n">10</span><span class="s">+</span><mark>    b(&quot;&lt;x&gt;&quot;);
            </mark></span><span class="l gap"><span class="n"></span><span class="s"> </span>3 lines
            </span></code></pre></figure>"#]],
    );
}

#[test]
fn a_replacement_shows_only_the_lines_that_differ_as_changed() {
    let text = hunk(3, &["a"], &["same", "old", "end"], &["same", "new", "more", "end"], &["z"]);
    assert_eq!(text, " 2 a\n 3 same\n-4 old\n+4 new\n+5 more\n 6 end\n 7 z\n");
}

#[test]
fn a_replacement_that_only_removes_lines_has_no_added_line() {
    assert_eq!(hunk(2, &["a"], &["b", "c"], &[], &["d"]), " 1 a\n-2 b\n-3 c\n 2 d\n");
    assert_eq!(hunk(1, &[], &["b", "c", "d"], &["b", "d"], &[]), " 1 b\n-2 c\n 2 d\n");
}

#[test]
fn a_replacement_that_only_adds_lines_has_no_removed_line() {
    assert_eq!(hunk(2, &["a"], &["b"], &["b", "c"], &["d"]), " 1 a\n 2 b\n+3 c\n 4 d\n");
    assert_eq!(hunk(1, &[], &["b"], &["a", "b"], &[]), "+1 a\n 2 b\n");
    assert_eq!(hunk(1, &[], &["x"], &["x", "x"], &[]), " 1 x\n+2 x\n");
}

#[test]
fn every_cell_of_a_table_has_the_heading_of_its_column() {
    let columns = [TableColumn::text("Reviewer"), TableColumn::number("Votes")];
    let rows = vec![vec![html! { "rules" }, html! { "2" }]];
    check(
        &HtmlTable { caption: "Reviewers", columns: &columns, rows }.render(),
        expect![[
            r#"<table><caption class="hidden-text">Reviewers</caption><thead><tr><th class="" scope="col">Reviewer</th><th class="number" scope="col">Votes</th></tr></thead><tbody><tr><th scope="row" data-label="Reviewer"><span>rules</span></th><td class="number" data-label="Votes"><span>2</span></td></tr></tbody></table>"#
        ]],
    );
}

#[test]
fn a_chart_has_its_numbers_as_text() {
    check(
        &sparkline("Findings by week", &[0, 4, 2]),
        expect![[
            r#"<svg class="sparkline" viewBox="0 0 90 24" width="90" height="24" role="img" aria-label="Findings by week: 0, 4, 2"><title>Findings by week</title><polyline points="0.0,22.0 45.0,2.0 90.0,12.0"></polyline></svg>"#
        ]],
    );
    let bars = [ChartBar { name: "HIGH", value: 3, tone: Some(SeverityTone::High) }];
    let bars = BarChart { label: "Severities", bars: &bars }.render().0;
    assert!(bars.contains(r#"<span class="name">HIGH</span>"#), "{bars}");
    assert!(bars.contains(r#"<span class="value">3</span>"#), "{bars}");
    let periods = ["2026-01-01".to_owned(), "2026-01-08".to_owned()];
    let series = [ChartSeries { name: "LOW", tone: SeverityTone::Low, counts: &[0, 5] }];
    let chart = PeriodChart { label: "Findings", periods: &periods, series: &series }.render().0;
    assert!(chart.contains(r#"aria-label="Findings: 5 LOW""#), "{chart}");
    assert!(chart.contains("<title>2026-01-08: 5 LOW</title>"), "{chart}");
    assert!(!chart.contains("<title>2026-01-01"), "{chart}");
    let rows = [HeatRow { name: "src/a.rs".to_owned(), values: vec![0, 2] }];
    let columns = ["HIGH", "LOW"];
    let map = HeatMap { label: "Files", row_heading: "File", columns: &columns, rows: &rows };
    check(
        &map.render(),
        expect![[
            r#"<table class="heat"><caption class="hidden-text">Files</caption><thead><tr><th scope="col">File</th><th class="number" scope="col">HIGH</th><th class="number" scope="col">LOW</th></tr></thead><tbody><tr><th class="mono" scope="row">src/<wbr>a.rs</th><td class="number heat-0">0</td><td class="number heat-4">2</td></tr></tbody></table>"#
        ]],
    );
}

#[test]
fn a_larger_number_of_a_heat_map_is_darker() {
    let rows = [HeatRow { name: "a".to_owned(), values: vec![0, 1, 25, 26, 50, 51, 75, 76, 100] }];
    let map = HeatMap { label: "Files", row_heading: "File", columns: &[], rows: &rows }.render().0;
    let classes = map.split("heat-").skip(1).map(|rest| &rest[..1]);
    assert_eq!(classes.collect::<String>(), "011223344");
}

#[test]
fn severities_of_one_colour_share_a_key() {
    let series = |name, tone| ChartSeries { name, tone, counts: &[2] };
    let series = [
        series("HIGH", SeverityTone::High),
        series("MAJOR", SeverityTone::High),
        series("LOW", SeverityTone::Low),
    ];
    let periods = ["2026-01-01".to_owned()];
    let chart = PeriodChart { label: "Findings", periods: &periods, series: &series }.render().0;
    assert_eq!(chart.matches("■").count(), 2, "{chart}");
    for name in ["HIGH", "MAJOR", "LOW"] {
        assert!(chart.contains(&format!(" {name} <span class=\"count\">2</span>")), "{chart}");
    }
}

#[test]
fn a_path_can_be_broken_after_its_slashes_alone() {
    check(&path("src/a-b.rs:4"), expect!["src/<wbr>a-b.rs:4"]);
    check(&path("<x>/y/"), expect!["&lt;x&gt;/<wbr>y/<wbr>"]);
}

#[test]
fn a_number_beside_an_axis_has_at_most_four_characters() {
    let axis = |count: u64| {
        let (periods, counts) = (["2026-01-01".to_owned()], [count]);
        let series = [ChartSeries { name: "LOW", tone: SeverityTone::Low, counts: &counts }];
        let chart = PeriodChart { label: "Findings", periods: &periods, series: &series };
        let text = chart.render().0;
        let number =
            text.split(&format!("<title>{}</title>", grouped(count))).nth(1).unwrap().to_owned();
        number.split('<').next().unwrap().to_owned()
    };
    let numbers = [7, 9_999, 10_000, 99_999, 123_456, 1_000_000, 7_654_321, 999_999_999];
    let shown: Vec<String> = numbers.into_iter().map(axis).collect();
    assert_eq!(shown, ["7", "9999", "10k", "99k", "123k", "1M", "7M", "999M"]);
    assert_eq!(axis(2_000_000_000), "2G");
}

#[test]
fn charts_without_numbers_are_rendered() {
    for chart in [
        sparkline("Nothing", &[]),
        sparkline("One", &[1]),
        BarChart { label: "Nothing", bars: &[] }.render(),
        PeriodChart { label: "Nothing", periods: &[], series: &[] }.render(),
        HeatMap { label: "Nothing", row_heading: "File", columns: &[], rows: &[] }.render(),
    ] {
        assert!(!chart.0.contains("NaN") && !chart.0.contains("inf"), "{}", chart.0);
    }
}

#[test]
fn a_folded_part_has_the_number_of_its_entries() {
    check(
        &folded("Residual risks", 2, &html! { p { "x" } }),
        expect![[
            r#"<details class="folded"><summary>Residual risks <span class="count">2</span></summary><p>x</p></details>"#
        ]],
    );
    assert_eq!(anchor("finding", "f-1 <\"x\">"), "finding-f-1---x--");
}

#[test]
fn text_between_back_ticks_is_code() {
    check(
        &prose("use `a<b>`, or `c`."),
        expect!["use <code>a&lt;b&gt;</code>, or <code>c</code>."],
    );
    for text in ["no code", "one ` tick", "``", "`two\nlines`", ""] {
        assert_eq!(prose(text).0, text);
    }
    check(&prose("a `` b `c`"), expect!["a `<code> b </code>c`"]);
}
