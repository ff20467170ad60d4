//! The colours of the theme can be read, in both themes and on paper.

use std::collections::HashMap;

use assay_html::page::THEME;

/// The minimum contrast of text, by WCAG 2.2, level AA.
const MIN_CONTRAST: f64 = 4.5;

/// Returns the colours of each block that sets custom properties: light, dark, paper.
fn palettes() -> Vec<HashMap<&'static str, [f64; 3]>> {
    let blocks = THEME.split(":root {").skip(1).map(|block| block.split('}').next().unwrap());
    let palettes = blocks.map(|block| {
        let properties = block.split(';').filter_map(|property| property.split_once(": #"));
        properties.map(|(name, value)| (name.trim(), colour(value))).collect()
    });
    palettes.collect()
}

fn colour(digits: &str) -> [f64; 3] {
    assert_eq!(digits.len(), 6, "{digits}");
    [0, 2, 4].map(|at| f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap()) / 255.0)
}

fn luminance(colour: [f64; 3]) -> f64 {
    let [r, g, b] = colour.map(|part| match part <= 0.04045 {
        true => part / 12.92,
        false => ((part + 0.055) / 1.055).powf(2.4),
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn text_has_enough_contrast_in_light_and_dark_and_on_paper() {
    let palettes = palettes();
    assert_eq!(palettes.len(), 3);
    for (number, palette) in palettes.iter().enumerate() {
        let texts =
            ["--ink", "--dim", "--accent", "--critical", "--high", "--medium", "--low", "--good"];
        let pairs = texts.iter().flat_map(|text| ["--bg", "--panel"].map(|below| (*text, below)));
        let code = ["--ink", "--dim"].into_iter();
        let code =
            code.flat_map(|text| ["--added", "--removed", "--marked"].map(|below| (text, below)));
        let signs = [("--good", "--marked"), ("--critical", "--marked")];
        for (text, below) in pairs.chain(code).chain(signs) {
            let contrast = contrast(palette[text], palette[below]);
            assert!(contrast >= MIN_CONTRAST, "{text} on {below} in {number}: {contrast:.2}");
        }
    }
}

#[test]
fn a_heat_map_can_be_read_at_its_darkest_cell() {
    let darkest = ".heat-4 { background: color-mix(in srgb, var(--accent) 45%, var(--track)); }";
    assert!(THEME.contains(darkest));
    for palette in &palettes()[..2] {
        let mixed =
            [0, 1, 2].map(|at| 0.45 * palette["--accent"][at] + 0.55 * palette["--track"][at]);
        let contrast = contrast(palette["--ink"], mixed);
        assert!(contrast >= MIN_CONTRAST, "{contrast:.2}");
    }
}

#[test]
fn cells_show_their_headings_on_a_phone() {
    let phone = THEME.split("@media (max-width: 640px)").nth(1).unwrap();
    assert!(phone.contains("td::before { content: attr(data-label);"));
}
