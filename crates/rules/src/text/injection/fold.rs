//! Normalization of text: removes characters that hide or disguise letters.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use assay_base::text::first_bytes;
use regex::Regex;

/// The maximum number of bytes of a text that are shown.
pub(super) const MAX_SHOWN: usize = 160;

/// Letters that look like Latin ones, each followed by the Latin letter.
const LOOKALIKES: &str = "аaеeоoрpсcуyхxіiјjѕsԁdһhӏlкkмmтtвbнhгrпnґrԛqԝwьbАAВBЕEКKМMНHОOРPСCТTХXІIЈJЅSУYԌGԚQԜW\
αaοoνvρpτtυuχxιiκkηnγyεeωwσoβbΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX\
ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢzɑaɡgıiⅰiⅼlⅽcⅾdⅿmℓl℮eℐIℑIℒLℓlℕNℙPℚQℛRℜRℝRℤZℬBℰEℱFℳMℴo\
àaáaâaãaäaåaāaăaąaæaçcćcĉcčcďdđdèeéeêeëeēeĕeėeęeěeĝgğgġgģgĥhħhìiíiîiïiĩiīiĭiįiĵjķkĺlļlľlłlñnńnņnňnòoóoôoõoöoøoōoŏoőoŕrřrśsŝsşsšsßsţtťtŧtùuúuûuüuũuūuŭuůuűuųuŵwýyÿyŷyźzżzžz\
ÀAÁAÂAÃAÄAÅAÇCÈEÉEÊEËEÌIÍIÎIÏIÑNÒOÓOÔOÕOÖOØOÙUÚUÛUÜUÝYŠSŽZ";

static TABLE: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let chars: Vec<char> = LOOKALIKES.chars().collect();
    let mut table: Vec<(char, char)> = chars.chunks_exact(2).map(|two| (two[0], two[1])).collect();
    table.sort_unstable();
    table.dedup_by_key(|(from, _)| *from);
    table
});

/// Returns the plain character for a disguised one; `None` for an invisible one.
pub(super) fn fold(c: char) -> Option<char> {
    if c.is_ascii() {
        return (!c.is_ascii_control() || c.is_ascii_whitespace()).then_some(c);
    }
    if is_invisible(c) {
        return None;
    }
    let code = u32::from(c);
    let from = |first: u32, letter: u8| char::from_u32(u32::from(letter) + code - first);
    match code {
        0xe0020..=0xe007e => from(0xe0020, b' '),
        0xff01..=0xff5e => from(0xff01, b'!'),
        // The mathematical alphabets follow each other, capitals first.
        0x1d400..=0x1d6a3 => {
            let at = (code - 0x1d400) % 52;
            char::from_u32(if at < 26 { at + 65 } else { at + 71 })
        }
        0x1d7ce..=0x1d7ff => char::from_u32((code - 0x1d7ce) % 10 + 48),
        0x24b6..=0x24cf => from(0x24b6, b'A'),
        0x24d0..=0x24e9 => from(0x24d0, b'a'),
        0x1f130..=0x1f149 => from(0x1f130, b'A'),
        0x1f150..=0x1f169 => from(0x1f150, b'A'),
        0x1f170..=0x1f189 => from(0x1f170, b'A'),
        0x1f1e6..=0x1f1ff => from(0x1f1e6, b'A'),
        0x2018 | 0x2019 | 0x201b | 0x2b9 | 0x2bc | 0x2032 => Some('\''),
        0x201c..=0x201f | 0xab | 0xbb => Some('"'),
        0x2010..=0x2015 | 0x2212 => Some('-'),
        0xa0 | 0x1680 | 0x2000..=0x200a | 0x202f | 0x205f | 0x3000 | 0x2028 | 0x2029 => Some(' '),
        _ => {
            let found = TABLE.binary_search_by_key(&c, |(from, _)| *from);
            Some(found.map_or(c, |at| TABLE[at].1))
        }
    }
}

/// Returns true if a character has no width and is not visible.
fn is_invisible(c: char) -> bool {
    matches!(u32::from(c),
        0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f | 0x3164 | 0xfeff
        | 0xffa0 | 0x80..=0x9f | 0x300..=0x36f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff
        | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f
        | 0xe0000..=0xe001f | 0xe007f | 0xe0100..=0xe01ef)
}

/// Returns a text as it looks: with single blanks, without invisible characters, with plain letters
/// for fancy ones. Letters of other scripts stay unchanged.
pub(super) fn to_readable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let is_script = |c: char| TABLE.binary_search_by_key(&c, |(from, _)| *from).is_ok();
    let seen = |c: char| if !c.is_ascii() && is_script(c) { Some(c) } else { fold(c) };
    for c in text.chars().filter_map(seen) {
        match c.is_whitespace() {
            true if out.ends_with(' ') || out.is_empty() => {}
            true => out.push(' '),
            false => out.push(c),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// The value of each ASCII character in a squeezed text, with letters for the digits that replace
/// them; 0 for a character that is left out.
const SQUEEZED: [u8; 128] = {
    let mut table = [0; 128];
    let mut byte: u8 = 0;
    while byte < 128 {
        table[byte as usize] = match byte.to_ascii_lowercase() {
            b'0' => b'o',
            // An `l` looks like an `i`, and a `1` replaces either.
            b'1' | b'l' | b'!' => b'i',
            b'3' => b'e',
            b'4' | b'@' => b'a',
            b'5' | b'$' => b's',
            b'7' => b't',
            letter if letter.is_ascii_alphanumeric() => letter,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// Appends the letters and digits of a text, without the characters between them.
pub(super) fn squeeze_into(text: &str, out: &mut Vec<u8>) {
    if text.is_ascii() {
        out.extend(text.bytes().map(|byte| SQUEEZED[byte as usize]).filter(|byte| *byte != 0));
        return;
    }
    for c in text.chars().filter_map(fold) {
        match c.is_ascii() {
            true => out.extend(Some(SQUEEZED[c as usize]).filter(|byte| *byte != 0)),
            false if c.is_alphanumeric() => {
                let c = lower(c);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            false => {}
        }
    }
}

/// Returns the letters and digits of a text, without the characters between them.
pub(super) fn squeeze(text: &str) -> String {
    let mut out = Vec::new();
    squeeze_into(text, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the small letter, folded again: it may look like a Latin letter even if the capital does
/// not.
fn lower(c: char) -> char {
    let lower = c.to_lowercase().next().unwrap_or(c);
    if lower.is_ascii() { lower } else { fold(lower).unwrap_or(lower) }
}

/// Returns a text with folded small letters, for patterns in another script.
pub(super) fn folded(text: &str) -> String {
    text.chars().filter_map(fold).map(|c| if c.is_ascii() { c } else { lower(c) }).collect()
}

/// A match of a pattern.
pub(super) struct PatternMatch {
    /// The byte range in the joined text.
    pub(super) span: Range<usize>,
    /// The indices of the lines that the match touches.
    pub(super) lines: Range<usize>,
    /// The beginning of the matched text.
    pub(super) text: String,
}

/// Returns the part of a text that is shown.
pub(super) fn shorten(text: &str) -> &str {
    first_bytes(text, MAX_SHOWN)
}

/// Several lines as one text, with the start of each line.
#[derive(Default)]
pub(super) struct JoinedLines {
    pub(super) text: String,
    starts: Vec<(usize, usize)>,
}

impl JoinedLines {
    /// Joins the words of some lines, with one blank between any two of them.
    pub(super) fn words(lines: &[Cow<'_, str>], first: usize) -> JoinedLines {
        let mut joined = JoinedLines::default();
        for (line, at) in lines.iter().zip(first..) {
            joined.begin(at, ' ');
            joined.push_words(line);
        }
        joined
    }

    /// Joins lines with their punctuation, without the delimiters of comments.
    pub(super) fn marks(lines: &[Cow<'_, str>], first: usize) -> JoinedLines {
        let mut joined = JoinedLines::default();
        for (line, at) in lines.iter().zip(first..) {
            joined.begin(at, '\n');
            let line = line.trim_start();
            let bare = line.trim_start_matches(['/', '*', ';', '%', '\'', '"', '`', ' ', '\t']);
            joined.push_marks(bare);
        }
        joined
    }

    /// Joins the letters of some lines.
    pub(super) fn letters(lines: &[Cow<'_, str>], first: usize) -> JoinedLines {
        let mut joined = JoinedLines::default();
        for (line, at) in lines.iter().zip(first..) {
            joined.starts.push((joined.text.len(), at));
            joined.text.push_str(&squeeze(line));
        }
        joined
    }

    /// Returns the matches of a pattern.
    pub(super) fn find_matches(&self, pattern: &Regex) -> Vec<PatternMatch> {
        let place = |found: regex::Match<'_>| PatternMatch {
            span: found.range(),
            lines: self.line_at(found.start())
                ..self.line_at(found.end().max(found.start() + 1) - 1) + 1,
            text: to_readable(shorten(found.as_str())),
        };
        pattern.find_iter(&self.text).map(place).collect()
    }

    /// Returns the line at an offset of the text.
    fn line_at(&self, offset: usize) -> usize {
        let after = self.starts.partition_point(|(start, _)| *start <= offset);
        self.starts[after.max(1) - 1].1
    }

    fn begin(&mut self, line: usize, between: char) {
        let wants_gap = !self.text.is_empty() && !self.text.ends_with(between);
        self.text.extend(wants_gap.then_some(between));
        self.starts.push((self.text.len(), line));
    }

    fn push_words(&mut self, line: &str) {
        let mut rest = line;
        let mut gap = false;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            let Some(c) = fold(c) else { continue };
            let joins = matches!(c, '\'' | '`')
                && !gap
                && rest.starts_with(|next: char| next.is_alphanumeric());
            if c.is_alphanumeric() {
                let wants_gap = gap && !self.text.is_empty() && !self.text.ends_with(' ');
                self.text.extend(wants_gap.then_some(' '));
                self.text.push(if c.is_ascii() { c.to_ascii_lowercase() } else { lower(c) });
                gap = false;
            } else if !joins {
                gap = true;
            }
        }
    }

    fn push_marks(&mut self, line: &str) {
        for c in line.chars().filter_map(fold) {
            match c {
                c if c.is_whitespace() => {
                    let wants_gap = !self.text.ends_with([' ', '\n']);
                    self.text.extend(wants_gap.then_some(' '));
                }
                '\'' => self.text.push('"'),
                c if c.is_ascii() => self.text.push(c.to_ascii_lowercase()),
                c => self.text.push(lower(c)),
            }
        }
    }
}

/// Removes tags that change the look of a text and not its content.
pub(super) fn without_tags(text: Cow<'_, str>) -> Cow<'_, str> {
    let mut out = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices('<') {
        // A tag may be inside of one that was removed already.
        let length = inline_tag(&text[at..]).filter(|_| from <= at);
        if let Some(length) = length {
            out.push_str(&text[from..at]);
            from = at + length;
        }
    }
    if from == 0 {
        return text;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Returns the length of a tag that changes the look of a text and not its content.
fn inline_tag(text: &str) -> Option<usize> {
    const NAMES: [&str; 17] = [
        "b", "i", "u", "em", "strong", "span", "br", "p", "code", "tt", "small", "sub", "sup",
        "wbr", "mark", "font", "s",
    ];
    let end = text.bytes().take(12).position(|byte| byte == b'>')?;
    let name = text[1..end].trim_matches(['/', ' ']);
    // An empty comment is removed; any other stays.
    if text[1..end].starts_with("!--") {
        return text[1..end].trim_matches(['!', '-', ' ']).is_empty().then_some(end + 1);
    }
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known)).then_some(end + 1)
}

/// Inserts a blank before each capital that begins a new word of a name.
pub(super) fn split_humps(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    let mut before = ' ';
    for c in name.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            out.push(' ');
        }
        out.push(c);
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        let lines: Vec<Cow<'_, str>> = text.lines().map(Cow::Borrowed).collect();
        JoinedLines::words(&lines, 0).text
    }

    #[test]
    fn disguised_letters_are_folded_to_the_letters_they_resemble() {
        assert_eq!(words("іgn\u{200b}оre \u{ff50}rior"), "ignore prior");
        assert_eq!(words("𝐢𝓰𝔫𝕠𝗿𝘦 ⓐⓛⓛ"), "ignore all");
        assert_eq!(words("i\u{301}gn\u{ad}ore \u{e0061}\u{e006c}\u{e006c}"), "ignore all");
        assert_eq!(words("Don’t ignore\n// it_all"), "dont ignore it all");
        assert_eq!(without_tags("<b>ig</b>n<!---->ore <a>".into()), "ignore <a>");
    }

    #[test]
    fn squeezing_replaces_digits_with_the_letters_they_resemble() {
        assert_eq!(squeeze("1 G-n_0.r3 a11"), squeeze("ignore all"));
    }
}
