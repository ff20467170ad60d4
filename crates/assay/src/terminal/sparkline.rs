//! Small charts in one line of text: [`SparklineStyle`].

/// The characters of a chart, from the smallest bar to the largest.
const UNICODE_BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The same in ASCII.
const ASCII_BARS: [char; 8] = ['.', ':', '-', '=', '+', '*', '%', '#'];

/// The characters that a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SparklineStyle {
    /// Block elements.
    Unicode,
    /// Characters of ASCII, in order of their ink.
    Ascii,
}

impl SparklineStyle {
    /// Returns the style for stdout. Block elements need a terminal whose locale is in UTF-8; as for
    /// hyperlinks, `NO_COLOR` asks for plain text.
    pub(super) fn of(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(&variable);
        let locale = locale.unwrap_or_default().to_ascii_lowercase();
        let is_utf8 = locale.contains("utf-8") || locale.contains("utf8");
        let is_plain =
            variable("NO_COLOR").is_some() || variable("TERM").as_deref() == Some("dumb");
        match is_terminal && is_utf8 && !is_plain {
            true => SparklineStyle::Unicode,
            false => SparklineStyle::Ascii,
        }
    }

    /// Draws a bar for each count; `most` is the count of the largest bar.
    pub(super) fn draw(self, counts: &[u64], most: u64) -> String {
        let (bars, zero) = match self {
            SparklineStyle::Unicode => (UNICODE_BARS, '·'),
            SparklineStyle::Ascii => (ASCII_BARS, '_'),
        };
        let bar = |count: &u64| match *count {
            0 => zero,
            count => {
                let levels = bars.len() as u64;
                let level = count.saturating_mul(levels).div_ceil(most.max(count)) - 1;
                bars[usize::try_from(level).unwrap_or_default().min(bars.len() - 1)]
            }
        };
        counts.iter().map(bar).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_count_has_the_largest_bar_and_zero_has_a_mark() {
        let counts = [0, 1, 50, 100];
        assert_eq!(SparklineStyle::Unicode.draw(&counts, 100), "·▁▄█");
        assert_eq!(SparklineStyle::Ascii.draw(&counts, 100), "_.=#");
        assert_eq!(SparklineStyle::Ascii.draw(&[1, 2], 0), "##");
        assert!(SparklineStyle::Ascii.draw(&[0, 1, 2, 3, 4, 5, 6, 7, 8], 8).is_ascii());
    }

    #[test]
    fn unicode_bars_require_a_utf_8_terminal_that_is_not_plain_text() {
        let style = |is_terminal, variables: &[(&str, &str)]| {
            SparklineStyle::of(is_terminal, |name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        let utf8 = ("LANG", "en_US.UTF-8");
        assert_eq!(style(true, &[utf8]), SparklineStyle::Unicode);
        assert_eq!(style(true, &[utf8, ("TERM", "xterm")]), SparklineStyle::Unicode);
        assert_eq!(style(false, &[utf8]), SparklineStyle::Ascii);
        for plain in [("LC_ALL", "C"), ("NO_COLOR", "1"), ("TERM", "dumb")] {
            assert_eq!(style(true, &[utf8, plain]), SparklineStyle::Ascii, "{plain:?}");
        }
        assert_eq!(style(true, &[]), SparklineStyle::Ascii);
    }
}
