//! The quality of a value: [`Quality::of`] distinguishes a credential from a word, a reference and
//! a placeholder.

use std::collections::HashMap;

/// The maximum length of a password that a person chose.
const MAX_CHOSEN: usize = 64;

/// The minimum entropy of a random text, in bits per character.
const MIN_ENTROPY: f64 = 3.0;

/// The minimum number of letters and digits without common words; a value with fewer is a
/// placeholder.
const MIN_REMAINDER: usize = 5;

/// The appearance of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Quality {
    /// A word and a number, such as `hunter2`: a name in code, or a poor password.
    Word,
    /// A password that a person could have chosen.
    Chosen,
    /// Random characters.
    Random,
}

/// The minimum length at which a value may contain any four letters by chance.
const MIN_LONG: usize = 20;

/// Texts that replace a credential in examples.
const PLACEHOLDERS: [&str; 17] = [
    "example", "sample", "placeholder", "changeit", "changeme", "change_me", "change-me",
    "changethis", "change-this", "change_this", "redacted", "replace", "undefined", "foobar",
    "notreal", "not-real", "deadbeef",
];

/// Short placeholders. A long value is a placeholder only if it begins with one, or has one next to
/// a sign.
const SHORT_PLACEHOLDERS: [&str; 11] =
    ["xxx", "***", "...", "___", "---", "your", "dummy", "todo", "fixme", "insert", "fill"];

/// Sequences that a person types instead of a value.
const SEQUENCES: [&str; 12] = [
    "12345", "23456", "abcdef", "qwert", "asdf", "abc123", "54321", "98765", "00000", "11111",
    "aaaaa", "67890",
];

/// Words that carry no information in a value.
const COMMON: [&str; 23] = [
    "password", "passwd", "passphrase", "passwort", "passw0rd", "p4ssw0rd", "pa55word", "p@ssw0rd",
    "p@ssword", "pass", "pwd", "secret", "token", "apikey", "key", "test", "fake", "mock", "demo",
    "user", "admin", "value", "login",
];

/// Names of algorithms, encodings and types, which contain digits.
const TECHNICAL: [&str; 27] = [
    "md5", "sha1", "sha2", "sha3", "sha256", "sha384", "sha512", "base64", "base58", "base32",
    "utf8", "utf16", "latin1", "argon2", "pbkdf2", "bcrypt", "scrypt", "ed25519", "x25519",
    "secp256", "oauth", "uint", "int32", "int64", "array", "aes", "rsa",
];

/// The first characters of examples in standards and well-known manuals.
const DOCUMENTED: [&str; 24] = [
    "wJalrXUtnFEMI/", "je7MtGbClwBF/", "Eby8vdM02xNOcqF", "QWxhZGRpbj", "mF_9.B5f-4", "tGzv3JOkF0",
    "2YotnFZFEj", "7Fjfp0ZBr1", "gX1fBat3bV", "czZCaGRSa3", "SlAV32hkKG", "kd94hf93k",
    "j49sk3j29d", "pfkkdhi9sl", "dpf43f3p2l", "dXNlcjpwYXNz", "dXNlcm5hbWU6", "Zm9vOmJhcg",
    "eyJhbGciOiJub25l", "hh5s93j4hd", "9djdj82h48", "kkk9d7dh3k", "hfdp7dh39d", "nnch734d00",
];

impl Quality {
    /// Returns the quality of a value, or `None` if the value is a word, a reference to a value, a
    /// hash of a password or a placeholder.
    pub(super) fn of(value: &str) -> Option<Quality> {
        if !value.is_ascii() && !value.chars().any(|c| c.is_ascii_digit()) {
            return None;
        }
        if is_placeholder(value)
            || is_reference(value)
            || is_hash(value)
            || is_algorithm_suite(value)
        {
            return None;
        }
        let traits = CharacterCounts::of(value);
        if traits.letters == 0 {
            return None;
        }
        if traits.is_random(value) {
            return Some(Quality::Random);
        }
        let is_odd = traits.digits > 0 || has_special_inside(value);
        if !is_odd || value.len() < 6 || value.len() > MAX_CHOSEN || is_technical(value) {
            return None;
        }
        let has_special = traits.specials > 0 && !is_joined_words(value);
        match traits.is_word_and_number(value) {
            _ if has_special => Some(Quality::Chosen),
            true if is_joined_words(value) && value.contains(['_', '-', '.', '/']) => None,
            true => Some(Quality::Word),
            false => Some(Quality::Chosen),
        }
    }
}

/// Counts of the characters of a value.
#[derive(Default)]
struct CharacterCounts {
    upper: usize,
    lower: usize,
    letters: usize,
    digits: usize,
    specials: usize,
    /// The number of letters in possible words of three letters or more.
    in_words: usize,
    /// The number of letters in possible words of four letters or more.
    in_long_words: usize,
    /// The number of changes between kinds of characters; a capital that begins a word does not
    /// count.
    changes: usize,
    /// The number of changes between letters and digits.
    turns: usize,
}

impl CharacterCounts {
    fn of(value: &str) -> CharacterCounts {
        let mut traits = CharacterCounts::default();
        let mut last_is_digit = None;
        for byte in value.bytes() {
            traits.upper += usize::from(byte.is_ascii_uppercase());
            traits.lower += usize::from(byte.is_ascii_lowercase());
            traits.digits += usize::from(byte.is_ascii_digit());
            if byte.is_ascii_alphanumeric() {
                let is_digit = byte.is_ascii_digit();
                traits.turns += usize::from(last_is_digit.is_some_and(|last| last != is_digit));
                last_is_digit = Some(is_digit);
            }
        }
        traits.letters = traits.upper + traits.lower;
        traits.specials =
            value.chars().count() - value.chars().filter(char::is_ascii_alphanumeric).count();
        for word in letter_runs(value).into_iter().filter(|run| is_word(run)) {
            traits.in_words += word.len();
            traits.in_long_words += if word.len() > 3 { word.len() } else { 0 };
        }
        let pairs = value.as_bytes().windows(2);
        traits.changes = pairs.filter(|pair| is_change(pair[0], pair[1])).count();
        traits
    }

    /// Returns true if no person would choose the value as a password or a name.
    fn is_random(&self, value: &str) -> bool {
        if value.len() < 12 || entropy(value) < MIN_ENTROPY {
            return false;
        }
        let words = self.in_long_words as f64 / self.letters as f64;
        let changes = self.changes as f64 / value.len() as f64;
        let is_mixed = self.upper > 0 && self.lower > 0;
        if self.turns < 3 {
            let is_token = value.len() >= 16 && self.upper >= 3 && self.lower >= 3;
            let is_unlike_words = words < 0.4 && changes >= 0.15 && !is_camel_case(value);
            return is_token && is_unlike_words && is_base64(value);
        }
        let is_hex = value.len() >= 32 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_long = value.len() >= 16 && self.turns >= 4;
        is_hex || ((words < 0.5 || changes >= 0.25) && (is_mixed || is_long || self.specials > 1))
    }

    /// Returns true if the value consists of words and a few digits, like names in code.
    fn is_word_and_number(&self, value: &str) -> bool {
        let is_plain =
            value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte));
        is_plain && (self.in_words as f64) >= 0.7 * self.letters as f64 && self.turns <= 3
    }
}

/// Returns true if two characters are of different kinds. A capital followed by a small letter is
/// not a change, since words begin so.
fn is_change(first: u8, second: u8) -> bool {
    let kind = |byte: u8| match byte {
        b'A'..=b'Z' => 0,
        b'a'..=b'z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let (first, second) = (kind(first), kind(second));
    first != second && first.max(second) < 3 && (first, second) != (0, 1)
}

/// Returns the runs of letters of a value, split before capitals that follow small letters.
fn letter_runs(value: &str) -> Vec<&str> {
    let bytes = value.as_bytes();
    let mut runs = Vec::new();
    let mut from = 0;
    for at in 0..=bytes.len() {
        let is_letter = at < bytes.len() && bytes[at].is_ascii_alphabetic();
        let is_hump = is_letter
            && at > from
            && bytes[at].is_ascii_uppercase()
            && (bytes[at - 1].is_ascii_lowercase()
                || bytes.get(at + 1).is_some_and(|next| next.is_ascii_lowercase()));
        if !is_letter || is_hump {
            if at > from {
                runs.extend(value.get(from..at));
            }
            from = if is_hump { at } else { at + 1 };
        }
    }
    runs
}

/// Returns true if a value consists of parts that look like the words of a name: `jiraCloudApi`. A random
/// text of this length has more capitals, next to each other.
fn is_camel_case(value: &str) -> bool {
    // Twice the minimum mean length of a part.
    const MIN_TWO_PARTS: usize = 7;
    let runs = letter_runs(value);
    let letters: usize = runs.iter().map(|run| run.len()).sum();
    let is_like_word =
        |run: &&&str| run.len() > 1 && run[1..].bytes().all(|byte| byte.is_ascii_lowercase());
    let others = runs.iter().filter(|run| !is_like_word(run)).count();
    others <= 1 && 2 * letters >= MIN_TWO_PARTS * runs.len()
}

/// For each letter, the letters that often follow it in words; all other pairs are rare.
const PAIRS: [&str; 26] = [
    "bcdgilmnprstuvy", "aeilorsu", "acehiklorstu", "adeiosu", "acdefglmnpqrstvwx", "aefiloru",
    "aehinrsu", "aeiot", "abcdefglmnoprstvxz", "aeou", "eis", "adeilostuy", "abeimopsu",
    "acdefginostuv", "abcdgilmnoprstuvw", "aeiloprstuy", "u", "acdegiklmnorstuvy", "acehilopstuy",
    "acehilorstuy", "abceilmnprst", "aei", "aeio", "ept", "eops", "aeio",
];

/// Returns true if a run of letters has the capitals and the pairs of letters of a word.
fn is_word(run: &str) -> bool {
    let rest = &run[1..];
    let is_one_case = rest.bytes().all(|byte| byte.is_ascii_lowercase())
        || run.bytes().all(|byte| byte.is_ascii_uppercase());
    if run.len() < 3 || !is_one_case {
        return false;
    }
    let folded = run.to_ascii_lowercase();
    let is_common = |pair: &&[u8]| PAIRS[usize::from(pair[0] - b'a')].as_bytes().contains(&pair[1]);
    let common = folded.as_bytes().windows(2).filter(is_common).count();
    common * 10 >= (run.len() - 1) * 8
}

/// Returns true if a value contains a word of five letters or more, like names.
pub(super) fn has_word(value: &str) -> bool {
    letter_runs(value).into_iter().any(|run| run.len() >= 5 && is_word(run))
}

/// Returns true if a value consists of words and numbers with separators, like an identifier.
fn is_joined_words(value: &str) -> bool {
    value.split(['_', '-', '.', '/', ' ']).all(|part| {
        let stem = part.trim_end_matches(|c: char| c.is_ascii_digit());
        stem.is_empty()
            || letter_runs(stem).len() <= 3 && stem.bytes().all(|byte| byte.is_ascii_alphabetic())
    })
}

fn is_technical(value: &str) -> bool {
    let folded = value.to_ascii_lowercase();
    is_number(value) || TECHNICAL.iter().any(|word| folded.contains(word))
}

/// Returns true for a number in the syntax of a program: `0x102C`, `0b0100`, `1_000`, `2.5e-3`.
fn is_number(value: &str) -> bool {
    let has_base = ["0x", "0X", "0b", "0B", "0o"].iter().any(|base| value.starts_with(base));
    has_base || value.bytes().all(|b| b.is_ascii_digit() || b".+-eEfL_".contains(&b))
}

/// Returns true for the name of a set of algorithms, such as `aes256-cts-hmac-sha1-96`.
fn is_algorithm_suite(value: &str) -> bool {
    let parts: Vec<String> = value.split(['-', '_']).map(str::to_ascii_lowercase).collect();
    let named = parts.iter().filter(|part| TECHNICAL.iter().any(|word| part.contains(word)));
    named.count() >= 2 && parts.iter().all(|part| part.len() <= 8)
}

/// Returns true if a special character other than those of names is between letters or digits.
fn has_special_inside(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.windows(3).any(|three| {
        three[0].is_ascii_alphanumeric()
            && b"!@#$%^&*?~+=".contains(&three[1])
            && three[2].is_ascii_alphanumeric()
    })
}

/// Returns true if a value consists of the characters of base64 in either alphabet.
fn is_base64(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-.".contains(&byte))
}

/// Returns true if a value is a placeholder for a credential.
pub(super) fn is_placeholder(value: &str) -> bool {
    let folded = value.to_ascii_lowercase();
    if PLACEHOLDERS.iter().any(|word| folded.contains(word))
        || DOCUMENTED.iter().any(|start| value.starts_with(start))
        || SHORT_PLACEHOLDERS.iter().any(|word| has_placeholder(&folded, word))
        || is_alphabet(&folded)
    {
        return true;
    }
    if value.len() < MIN_LONG && SEQUENCES.iter().any(|sequence| folded.contains(sequence)) {
        return true;
    }
    let rest = count_besides_common(&folded);
    rest < MIN_REMAINDER.min(value.len()) || count_besides_common(&with_letters(&folded)) == 0
}

/// Returns the number of letters and digits of a value besides words that carry no information.
fn count_besides_common(folded: &str) -> usize {
    let mut rest = folded.to_owned();
    for word in COMMON {
        if rest.contains(word) {
            rest = rest.replace(word, "");
        }
    }
    rest.bytes().filter(u8::is_ascii_alphanumeric).count()
}

/// Returns a value with letters for the digits and signs that look like them, such as `secret` for
/// `53cr3t`.
fn with_letters(folded: &str) -> String {
    let letter = |c: char| match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    };
    folded.chars().map(letter).collect()
}

/// Returns true if at least half of the characters are the successor of the one before, which no
/// secret has.
fn is_alphabet(folded: &str) -> bool {
    let pairs = folded.as_bytes().windows(2);
    pairs.filter(|pair| pair[1] == pair[0].wrapping_add(1)).count() * 2 >= folded.len().max(12)
}

fn has_placeholder(folded: &str, word: &str) -> bool {
    let is_sign = |at: usize| !folded.as_bytes()[at].is_ascii_alphanumeric();
    let is_apart = |at: usize| at == 0 || is_sign(at - 1) || is_sign(at);
    folded.match_indices(word).any(|(at, _)| folded.len() < MIN_LONG || is_apart(at))
}

/// Returns true if a value refers to a credential and is none: a variable, a template, a URL, a
/// path, a name with dots.
fn is_reference(value: &str) -> bool {
    let has = |signs: &[&str]| signs.iter().any(|sign| value.contains(sign));
    if has(&[
        "${", "{{", "}}", "$(", "<%", "%>", "%(", "%s", "%d", "%v", "{}", "://", "::", "->", "()",
        "-----", "<", ">", "&&", "||", "#{", "\\u", "\\x", "][",
    ]) || value.contains(char::is_whitespace)
        || value.starts_with(['$', '/', '~', '@', '.', '{', '[', '(', '%', '#', '&', '*', '^'])
        || has(&["[a-z", "[A-Z", "[0-9", "\\d", "\\w", ".*", "(?"])
    {
        return true;
    }
    is_call(value) || is_dotted(value) || is_path(value) || is_email(value) || has_scheme(value)
}

fn is_call(value: &str) -> bool {
    let opened = value.find(['(', '[', '{']);
    opened.is_some_and(|at| at > 0 && value.ends_with([')', ']', '}', '(', ',']))
}

fn is_identifier(part: &str) -> bool {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '$';
    part.starts_with(is_start)
        && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$?!".contains(&byte))
}

fn is_dotted(value: &str) -> bool {
    let parts: Vec<&str> = value.split(['.', ':']).collect();
    let is_wordy = |part: &&str| {
        let runs = letter_runs(part);
        is_identifier(part) && runs.iter().any(|run| is_word(run) || run.len() < 4)
    };
    let has_words = || parts.iter().filter(|part| has_word(part)).count() >= 2;
    parts.len() > 1
        && parts.iter().all(is_wordy)
        && (entropy(value) < 4.3 || parts.len() > 2 && has_words())
}

fn is_path(value: &str) -> bool {
    let traits = CharacterCounts::of(value);
    value.contains('/') && traits.in_words * 2 >= traits.letters && traits.turns <= 2
}

fn is_email(value: &str) -> bool {
    let Some((user, host)) = value.rsplit_once('@') else { return false };
    let top = host.rsplit_once('.').map_or("", |(_, top)| top);
    let is_top = top.len() >= 2 && top.bytes().all(|byte| byte.is_ascii_lowercase());
    !user.is_empty()
        && is_top
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
}

/// Returns true for `vault:…`, `env:…`, `arn:…` and the like.
fn has_scheme(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once(':') else { return false };
    if scheme == "arn" {
        return true;
    }
    scheme.len() >= 2
        && scheme.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        && is_word_like(rest)
}

fn is_word_like(rest: &str) -> bool {
    rest.is_empty() || rest.split(['/', ':', '#']).all(is_joined_words)
}

/// Returns true if a value is the hash of a password or of a file, which is not secret.
fn is_hash(value: &str) -> bool {
    const STARTS: [&str; 14] = [
        "pbkdf2", "argon2", "bcrypt", "scrypt", "md5:", "md5$", "sha1:", "sha1$", "sha256:",
        "sha256$", "sha256-", "sha384-", "sha512-", "SCRAM-SHA",
    ];
    STARTS.iter().any(|start| value.starts_with(start))
}

/// Returns true if a value is a UUID, which is more often an identifier than a credential.
pub(super) fn is_uuid(value: &str) -> bool {
    let parts: Vec<&str> = value.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [8, 4, 4, 4, 12]
        && parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Returns the entropy of a text in bits per character.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts: HashMap<char, f64> = HashMap::new();
    for c in text.chars() {
        *counts.entry(c).or_default() += 1.0;
    }
    let total = text.chars().count() as f64;
    -counts.values().map(|count| count / total * (count / total).log2()).sum::<f64>()
}

/// Decodes a base64 value; returns `None` if the result is not printable.
pub(super) fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in value.trim_end_matches('=').bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(six)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    text.chars().all(|c| !c.is_control() || c.is_whitespace()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_and_chosen_values_are_distinguished() {
        for value in [
            "kT9vQ2mX7pLw",
            "a8F3kQ9zT1bV6nM2",
            "pR7xW2kL9mQ4",
            "9f86d081884c7d659a2feaa0c55ad015",
            "kTvQzXmXgpLwRbQsJd",
            "hGbxPlqTrnvWmcZtyQ",
        ] {
            assert_eq!(Quality::of(value), Some(Quality::Random), "{value}");
        }
        for value in ["Tr0ub4dor&3", "Winter!2024", "s3cr3tSauce!9", "P@$$w0rt-77x"] {
            assert!(
                Quality::of(value) >= Some(Quality::Chosen),
                "{value}: {:?}",
                Quality::of(value)
            );
        }
        assert_eq!(Quality::of("hunter2"), Some(Quality::Word));
    }

    #[test]
    fn words_references_and_placeholders_are_no_credentials() {
        for value in [
            "correct-horse",
            "changeme",
            "${DB_SECRET_1}",
            "your-api-key-123",
            "spring.datasource.password",
            "aaaaaaaaaaaa1",
            "vault:secret/app1",
            "password123",
            "53cr3t",
            "<your-key>",
            "xxxx",
            "Passwort",
            "Passwort*",
            "os.environ.get",
            "user2@shop.org",
            "/run/secrets/db1",
            "$2b$12$abc",
            "my-secret-key-2",
            "sha256",
            "test_password_1",
            "{{ password1 }}",
            "config/app1.yaml",
            "%(password2)s",
            "Uint8Array",
            "0X102C",
            "0b0000100",
            "aes256-cts-hmac-sha1-96",
            "identity.loading._plugins.generic.v3:OpenIDConnectPassword",
            "jiraSoftwareCloudApi",
            "microsoftDynamicsOAuth2Api",
            "facebookLeadAdsOAuth2Api",
        ] {
            assert_eq!(Quality::of(value), None, "{value}");
        }
    }
}
