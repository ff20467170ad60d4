//! The table of credentials that are recognised by their form or their place: [`KINDS`], and
//! [`scan`] for them.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::value::{Quality, decoded, entropy, is_placeholder};
use super::{Certainty, Credential};

/// The minimum entropy of a random token, in bits per character.
const MIN_ENTROPY: f64 = 3.0;

/// The number of bytes before a mark that can belong to a token.
const MAX_BEFORE_TOKEN: usize = 40;

/// The number of bytes before a mark that can belong to a URL or a command.
const MAX_BEFORE_PLACE: usize = 256;

/// The number of bytes after a mark that a pattern is matched against.
const MAX_AFTER_MARK: usize = 512;

/// A kind of credential.
struct Kind {
    /// The kind with its article, such as `a GitHub token`.
    name: &'static str,
    /// Texts of which every credential of the kind contains one, so that most places need no
    /// pattern.
    marks: &'static [&'static str],
    /// The pattern; the first group, or else the whole match, is the secret.
    pattern: &'static str,
    /// Returns the certainty that a match is a credential; `None` if it is not.
    judge: fn(&str) -> Option<Certainty>,
    /// The maximum number of bytes between the start of a match and its mark.
    before: usize,
}

/// Creates a kind whose values are random and follow a prefix that only this kind has.
const fn kind(name: &'static str, marks: &'static [&'static str], pattern: &'static str) -> Kind {
    Kind { name, marks, pattern, judge: token, before: MAX_BEFORE_TOKEN }
}

/// Creates a kind whose values are recognised by the text around them.
const fn placed(
    name: &'static str,
    marks: &'static [&'static str],
    pattern: &'static str,
    judge: fn(&str) -> Option<Certainty>,
) -> Kind {
    Kind { name, marks, pattern, judge, before: MAX_BEFORE_PLACE }
}

/// All kinds. `[\t -:<-{}~]` is a character of a command, which excludes `;` and `|`; in ASCII,
/// since a repeated class of Unicode takes long to compile.
const KINDS: [Kind; 68] = [
    kind("an AWS access key", &["AKIA"], r"\bAKIA[A-Z2-7]{16}\b"),
    kind("a temporary AWS access key", &["ASIA"], r"\bASIA[A-Z2-7]{16}\b"),
    kind(
        "an AWS secret key",
        &[
            "aws_secret", "AWS_SECRET", "awsSecret", "AwsSecret", "SecretAccessKey",
            "secretAccessKey",
        ],
        r#"(?i)(?:aws_?)?secret_?(?:access_?)?key[\\"']*\]?\s*(?:=>|:=|[:=,])?\s*[\\"']*([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
    ),
    kind("an Azure storage key", &["AccountKey="], r"AccountKey=([A-Za-z0-9+/]{86}==)"),
    kind("a Google API key", &["AIza"], r"\bAIza[A-Za-z0-9_-]{35}\b"),
    kind("a Google OAuth secret", &["GOCSPX-"], r"\bGOCSPX-[A-Za-z0-9_-]{28}\b"),
    kind("an Alibaba Cloud key", &["LTAI"], r"\bLTAI[A-Za-z0-9]{20}\b"),
    kind(
        "a DigitalOcean token",
        &["doo_v1_", "dop_v1_", "dor_v1_"],
        r"\bdo[opr]_v1_[a-f0-9]{64}\b",
    ),
    kind(
        "a GitHub token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        r"\bgh[pousr]_[A-Za-z0-9]{36,}\b",
    ),
    kind("a GitHub token", &["github_pat_"], r"\bgithub_pat_[A-Za-z0-9_]{50,}\b"),
    kind(
        "a GitLab token",
        &["glpat-", "gldt-", "glrt-", "glptt-", "gloas-", "glcbt-", "glimt-", "glagent-"],
        r"\bgl(?:pat|dt|rt|ptt|oas|cbt|imt|agent)-[A-Za-z0-9_-]{20,}\b",
    ),
    kind("an Atlassian token", &["ATATT3"], r"\bATATT3[A-Za-z0-9_=-]{60,}"),
    kind("a Bitbucket app password", &["ATBB"], r"\bATBB[A-Za-z0-9]{32,}\b"),
    kind(
        "a Slack token",
        &["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
        r"\bxox[abeoprs]-[A-Za-z0-9-]{20,}\b",
    ),
    kind("a Slack app token", &["xapp-"], r"\bxapp-\d-[A-Z0-9]+-\d+-[a-z0-9]{32,}\b"),
    kind(
        "a Slack webhook",
        &["hooks.slack.com/services/"],
        r"hooks\.slack\.com/services/(T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,})",
    ),
    kind(
        "a Discord webhook",
        &["/api/webhooks/"],
        r"discord(?:app)?\.com/api/webhooks/(\d{17,20}/[A-Za-z0-9_-]{60,})",
    ),
    kind("a Telegram bot token", &[":AA"], r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    kind("a Stripe key", &["k_live_"], r"\b[sr]k_live_[A-Za-z0-9]{20,}\b"),
    kind("a Stripe webhook secret", &["whsec_"], r"\bwhsec_[A-Za-z0-9]{32,}\b"),
    kind(
        "a Square token",
        &["sq0atp-", "sq0csp-", "sq0idp-"],
        r"\bsq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}\b",
    ),
    kind(
        "a Shopify token",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b",
    ),
    kind("an Anthropic key", &["sk-ant-"], r"\bsk-ant-[A-Za-z0-9_-]{30,}"),
    kind("an OpenAI key", &["sk-proj-"], r"\bsk-proj-[A-Za-z0-9_-]{30,}"),
    kind("an OpenAI key", &["T3BlbkFJ"], r"\bsk-[A-Za-z0-9_-]*T3BlbkFJ[A-Za-z0-9_-]{20,}"),
    kind("a Hugging Face token", &["hf_"], r"\bhf_[A-Za-z]{34,}\b"),
    kind("a Groq key", &["gsk_"], r"\bgsk_[A-Za-z0-9]{52}\b"),
    kind("a Replicate token", &["r8_"], r"\br8_[A-Za-z0-9]{37}\b"),
    kind("an npm token", &["npm_"], r"\bnpm_[A-Za-z0-9]{36}\b"),
    kind("a PyPI token", &["pypi-AgE"], r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    kind("a RubyGems key", &["rubygems_"], r"\brubygems_[a-f0-9]{48}\b"),
    kind("a crates.io token", &["cio"], r"\bcio[A-Za-z0-9]{32}\b"),
    kind("a NuGet key", &["oy2"], r"\boy2[a-z0-9]{43}\b"),
    kind("a Docker Hub token", &["dckr_pat_"], r"\bdckr_pat_[A-Za-z0-9_-]{27,}"),
    kind("a HashiCorp Vault token", &["hvs."], r"\bhvs\.[A-Za-z0-9_-]{24,}"),
    kind(
        "a Terraform Cloud token",
        &[".atlasv1."],
        r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}",
    ),
    kind("a Databricks token", &["dapi"], r"\bdapi[a-f0-9]{32}\b"),
    kind("a SendGrid key", &["SG."], r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b"),
    kind("a Mailgun key", &["key-"], r"\bkey-[a-f0-9]{32}\b"),
    kind("a Mailchimp key", &["-us"], r"\b[a-f0-9]{32}-us\d{1,2}\b"),
    kind("a Twilio key", &["SK"], r"\bSK[a-f0-9]{32}\b"),
    kind("a Linear key", &["lin_api_"], r"\blin_api_[A-Za-z0-9]{40}\b"),
    kind("a Notion token", &["ntn_"], r"\bntn_[A-Za-z0-9]{40,}\b"),
    kind("a Grafana token", &["glsa_"], r"\bglsa_[A-Za-z0-9]{32}_[a-f0-9]{8}\b"),
    kind("a New Relic key", &["NRAK-"], r"\bNRAK-[A-Z0-9]{27}\b"),
    kind("a Sentry token", &["sntrys_"], r"\bsntrys_[A-Za-z0-9+/=_-]{60,}"),
    kind(
        "a Doppler token",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."],
        r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}",
    ),
    kind("a Postman key", &["PMAK-"], r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b"),
    kind("a PlanetScale token", &["pscale_"], r"\bpscale_(?:tkn|oauth|pw)_[A-Za-z0-9_=-]{32,}"),
    kind("a Supabase token", &["sbp_"], r"\bsbp_[a-f0-9]{40}\b"),
    kind("an age secret key", &["AGE-SECRET-KEY-1"], r"\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b"),
    placed(
        "a private key in base64",
        &["LS0tLS1CRUdJTi"],
        r"LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJ|BFQyBQUklW|BPUEVOU1NI|BEU0EgUFJJ|BFTkNSWVBURUQ)[A-Za-z0-9+/]{40,}={0,2}",
        |_| Some(Certainty::Certain),
    ),
    placed(
        "a JSON Web Token",
        &["eyJ"],
        r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}",
        web_token,
    ),
    placed(
        "a bearer token",
        &["earer ", "EARER "],
        r"(?i)\bbearer\s+([A-Za-z0-9._~+/-]{16,}=*)",
        random,
    ),
    placed(
        "an authorization header",
        &["uthorization", "UTHORIZATION"],
        r#"(?i)authorization[\\"']*\]?\s*[:=,]?\s*[\\"'`]*(?:token|apikey|digest|negotiate)\s+([A-Za-z0-9._~+/=-]{16,})"#,
        random,
    ),
    placed(
        "a password in an authorization header",
        &["asic ", "ASIC "],
        r"(?i)\bbasic\s+([A-Za-z0-9+/_-]{8,}={0,2})",
        login,
    ),
    placed(
        "a password in an address",
        &["://"],
        r#"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s:/@"'`<>{}$\\]*:([^\s/@"'`<>{}\\]{3,}@[A-Za-z0-9.\[_-]+)"#,
        in_address,
    ),
    placed(
        "a password on a command line",
        &["curl"],
        r#"\bcurl\b[\t -:<-{}~]{0,200}?[\s"'](?:-u|--user|-U|--proxy-user)[\s="',\\]*[^\s:"'$<{/]+:([^\s"'\\]{4,})"#,
        on_command_line,
    ),
    placed(
        "a password on a command line",
        &["mysql", "mariadb"],
        r#"\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump)\b[\t -:<-{}~]{0,200}?[\s"']-p["']?([^\s"'`$<>=\\)-][^\s"'`\\]{3,})"#,
        on_command_line,
    ),
    placed(
        "a password on a command line",
        &["PGPASSWORD=", "MYSQL_PWD="],
        r#"(?:PGPASSWORD|MYSQL_PWD)=["']?([^\s"'`$<\\]{4,})"#,
        on_command_line,
    ),
    placed(
        "a password on a command line",
        &["sshpass"],
        r#"\bsshpass[\s"',]+-p[\s"',]*([^\s"'`$<\\]{4,})"#,
        on_command_line,
    ),
    placed(
        "a password on a command line",
        &["redis-cli"],
        r#"\bredis-cli\b[\t -:<-{}~]{0,200}?\s-a[\s="']+([^\s"'`$<\\]{4,})"#,
        on_command_line,
    ),
    placed(
        "a password on a command line",
        &[" login ", "mongo", "sqlcmd", "ldap"],
        r#"\b(?:(?:docker|podman|helm|az|oc)\b[\t -:<-{}~]{0,40}?\slogin|mongosh?|mongodump|sqlcmd|ldap[a-z]+)\b[\t -:<-{}~]{0,200}?\s-[pPw][\s="']+([^\s"'`$<\\-][^\s"'`\\]{3,})"#,
        on_command_line,
    ),
    placed(
        "a password on a command line",
        &["pass:"],
        r#"-pass(?:in|out)?[\s="']+pass:([^\s"'`$<\\]{4,})"#,
        on_command_line,
    ),
    placed(
        "a password in SQL",
        &["IDENTIFIED", "identified"],
        r#"(?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?["']([^"'\n]{4,})["']"#,
        chosen,
    ),
    placed(
        "a password in SQL",
        &["PASSWORD '", "password '"],
        r"(?i)\bpassword\s+'([^'\n]{4,})'",
        chosen,
    ),
    placed(
        "a password in a netrc file",
        &["password "],
        r"\b(?:machine\s+\S+|default)\s+login\s+\S+\s+(?:account\s+\S+\s+)?password\s+(\S{4,})",
        on_command_line,
    ),
    placed(
        "a password in a pgpass file",
        &[":5432:", ":*:"],
        r"(?m)^[A-Za-z0-9.*_-]+:(?:\d{2,5}|\*):[A-Za-z0-9.*_-]+:[A-Za-z0-9.*_-]+:([^\s:]{4,})$",
        on_command_line,
    ),
];

/// The marks of all kinds, and the kind of each.
struct Marks {
    automaton: AhoCorasick,
    kinds: Vec<usize>,
}

static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let marks = KINDS.iter().enumerate();
    let marks: Vec<(usize, &str)> =
        marks.flat_map(|(at, kind)| kind.marks.iter().map(move |mark| (at, *mark))).collect();
    let automaton = AhoCorasick::new(marks.iter().map(|(_, mark)| mark));
    let automaton = automaton.expect("the marks are few and short");
    Marks { automaton, kinds: marks.into_iter().map(|(at, _)| at).collect() }
});

/// The patterns, each compiled when a text first contains its mark.
static PATTERNS: LazyLock<Vec<OnceLock<Regex>>> =
    LazyLock::new(|| KINDS.iter().map(|_| OnceLock::new()).collect());

fn pattern(kind: usize) -> &'static Regex {
    PATTERNS[kind].get_or_init(|| {
        // Credentials are ASCII, and Unicode word boundaries would make the search slow.
        let pattern = KINDS[kind].pattern.replace(r"\b", r"(?-u:\b)");
        Regex::new(&pattern).expect("a test tries every pattern")
    })
}

/// Finds the credentials that are recognised by their form or their place.
pub(super) fn scan(text: &str) -> Vec<Credential> {
    let mut found: Vec<Credential> = Vec::new();
    let mut read_until = [0; KINDS.len()];
    for mark in MARKS.automaton.find_overlapping_iter(text) {
        let at = MARKS.kinds[mark.pattern().as_usize()];
        if mark.start() >= read_until[at] {
            for (end, credential) in find_around(text, at, mark.range()) {
                read_until[at] = end;
                found.extend(credential);
            }
        }
    }
    found
}

/// Finds the matches of a kind around a mark: the end of each, and the credential if it is one. No
/// mark before that end is matched again, so the scan stays linear.
fn find_around(text: &str, at: usize, mark: Range<usize>) -> Vec<(usize, Option<Credential>)> {
    let kind = &KINDS[at];
    let window = window(text, &mark, kind.before);
    let within = |found: regex::Match<'_>| window.start + found.start()..window.start + found.end();
    let mut matches = Vec::new();
    for groups in pattern(at).captures_iter(&text[window.clone()]) {
        let Some(whole) = groups.get(0).map(within) else { continue };
        let is_cut = whole.start == window.start && is_inside_word(text, window.start);
        if whole.start > mark.start || whole.end < mark.end || is_cut {
            continue;
        }
        let group = groups.get(1).map(within);
        let has_prefix = group.is_none();
        let piece = until_token_end(text, group.unwrap_or(whole), window.end);
        let certainty = (kind.judge)(&text[piece.clone()]);
        let end = piece.end;
        let piece = kind.without_host(text, piece);
        let credential = certainty.map(|certainty| Credential {
            has_prefix,
            ..Credential::new(kind.name, certainty, piece)
        });
        matches.push((end, credential));
    }
    matches
}

/// Extends a match that ends at the window's end up to the end of the token.
fn until_token_end(text: &str, piece: Range<usize>, window: usize) -> Range<usize> {
    let is_token = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-+/=.".contains(byte);
    match piece.end == window {
        true => piece.start..window + text.as_bytes()[window..].iter().take_while(is_token).count(),
        false => piece,
    }
}

impl Kind {
    /// Removes the host from the match in a URL; the host is needed for the decision, and is not
    /// secret.
    fn without_host(&self, text: &str, piece: Range<usize>) -> Range<usize> {
        let is_address = self.marks == ["://"];
        let at = text[piece.clone()].rfind('@').filter(|_| is_address);
        at.map_or(piece.clone(), |at| piece.start..piece.start + at)
    }
}

/// Returns the part of a text around a mark that a pattern is matched against.
fn window(text: &str, mark: &Range<usize>, before: usize) -> Range<usize> {
    let mut start = mark.start.saturating_sub(before);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = (mark.end + MAX_AFTER_MARK).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

fn is_inside_word(text: &str, at: usize) -> bool {
    at > 0 && text.as_bytes()[at - 1].is_ascii_alphanumeric()
}

/// Rates a token whose form belongs to one kind of credential.
fn token(token: &str) -> Option<Certainty> {
    let is_real = !is_placeholder(token) && entropy(token) >= MIN_ENTROPY;
    is_real.then_some(Certainty::Certain)
}

/// Rates a value that is a credential only if it is random.
fn random(value: &str) -> Option<Certainty> {
    (Quality::of(value)? == Quality::Random).then_some(Certainty::Likely)
}

/// Rates a value that a person may have chosen.
fn chosen(value: &str) -> Option<Certainty> {
    Some(match Quality::of(value)? {
        Quality::Random => Certainty::Likely,
        Quality::Chosen | Quality::Word => Certainty::Possible,
    })
}

/// Rates a JSON Web Token. The examples of the standard and its tools are public.
fn web_token(token: &str) -> Option<Certainty> {
    const PUBLIC: [&str; 4] = [
        "eyJzdWIiOiIxMjM0NTY3ODkw", "eyJpc3MiOiJqb2UiLA0K", "eyJmb28iOiJiYXIi",
        "eyJzb21lIjoicGF5bG9hZCJ",
    ];
    let payload = token.split('.').nth(1).unwrap_or_default();
    let is_public = PUBLIC.iter().any(|public| payload.starts_with(public));
    let signature = token.rsplit('.').next().unwrap_or_default();
    let is_real = !is_public && !is_placeholder(signature) && entropy(signature) >= MIN_ENTROPY;
    is_real.then_some(Certainty::Likely)
}

/// Rates a user and a password in base64.
fn login(value: &str) -> Option<Certainty> {
    let login = decoded(value)?;
    let (_, password) = login.split_once(':')?;
    (!is_placeholder(value) && is_secret_word(password)).then_some(Certainty::Likely)
}

/// Rates the password in a URL, together with its host.
fn in_address(value: &str) -> Option<Certainty> {
    const LOCAL: [&str; 5] = ["localhost", "127.0.0.1", "[::1", "0.0.0.0", "host"];
    let (password, host) = value.rsplit_once('@')?;
    let host = host.to_ascii_lowercase();
    let is_local = LOCAL.iter().any(|name| host.starts_with(name));
    if host.contains("example") {
        return None;
    }
    match Quality::of(password)? {
        Quality::Random if is_local => Some(Certainty::Likely),
        Quality::Random => Some(Certainty::Certain),
        Quality::Chosen | Quality::Word if is_local => Some(Certainty::Possible),
        Quality::Chosen | Quality::Word => Some(Certainty::Likely),
    }
}

/// Rates a value that can only be a password, because of its command.
fn on_command_line(value: &str) -> Option<Certainty> {
    is_secret_word(value).then_some(Certainty::Likely)
}

/// Returns true if a value that can only be a password is neither a placeholder nor a variable.
pub(super) fn is_secret_word(value: &str) -> bool {
    const POOR: [&str; 16] = [
        "root", "guest", "mysql", "postgres", "vagrant", "docker", "minioadmin", "localhost",
        "host", "foo", "bar", "baz", "mypass", "none", "null", "prompt",
    ];
    let folded = value.to_ascii_lowercase();
    let is_variable = value.starts_with(['$', '<', '{', '[', '%', '/', '(', '-']);
    let is_template = ["${", "$(", "{{", "%s", "}}"].iter().any(|sign| value.contains(sign));
    let is_word = POOR.contains(&folded.as_str());
    value.len() >= 4 && !is_variable && !is_template && !is_word && !is_placeholder(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns characters that look random and are the same in every run.
    fn random(alphabet: &str, count: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        let mut state = 12_345_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            alphabet[(state >> 33) as usize % alphabet.len()]
        };
        (0..count).map(|_| next()).collect()
    }

    /// Builds a credential from a form such as `ghp_ A36`: a word is copied, and a letter with a
    /// number becomes that many random characters; `␣` is a blank and `⏎` a line end. So no file
    /// contains a text that looks like a real credential.
    fn make(form: &str) -> String {
        let part = |word: &str| {
            let (letter, count) = word.split_at_checked(1).unwrap_or((word, ""));
            let Ok(count) = count.parse() else { return word.to_owned() };
            match letter {
                "A" => {
                    random("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", count)
                }
                "U" => random("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", count),
                "L" => random("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", count),
                "l" => random("abcdefghijklmnopqrstuvwxyz0123456789", count),
                "X" => random("0123456789abcdef", count),
                "D" => random("123456789", count),
                _ => word.to_owned(),
            }
        };
        form.split(' ').map(part).collect()
    }

    const FORMS: &[(&str, &str)] = &[
        ("an AWS access key", "AKIA U16"),
        ("a temporary AWS access key", "ASIA U16"),
        ("an AWS secret key", "aws_secret_access_key= A40"),
        ("an Azure storage key", "AccountKey= A86 =="),
        ("a Google API key", "AIza A35"),
        ("a Google OAuth secret", "GOCSPX- A28"),
        ("an Alibaba Cloud key", "LTAI A20"),
        ("a DigitalOcean token", "dop_v1_ X64"),
        ("a GitHub token", "ghp_ A36"),
        ("a GitHub token", "github_pat_ A60"),
        ("a GitLab token", "glpat- A20"),
        ("an Atlassian token", "ATATT3 A70"),
        ("a Bitbucket app password", "ATBB A32"),
        ("a Slack token", "xoxb- D12 - A24"),
        ("a Slack app token", "xapp-1- U11 - D13 - X64"),
        ("a Slack webhook", "https://hooks.slack.com/services/T U9 /B U9 / A24"),
        ("a Discord webhook", "https://discord.com/api/webhooks/ D18 / A68"),
        ("a Telegram bot token", "D9 :AA A33"),
        ("a Stripe key", "sk_live_ A24"),
        ("a Stripe webhook secret", "whsec_ A32"),
        ("a Square token", "sq0atp- A22"),
        ("a Shopify token", "shpat_ X32"),
        ("an Anthropic key", "sk-ant- A90"),
        ("an OpenAI key", "sk-proj- A40"),
        ("an OpenAI key", "sk- A20 T3BlbkFJ A20"),
        ("a Hugging Face token", "hf_ L34"),
        ("a Groq key", "gsk_ A52"),
        ("a Replicate token", "r8_ A37"),
        ("an npm token", "npm_ A36"),
        ("a PyPI token", "pypi-AgE A60"),
        ("a RubyGems key", "rubygems_ X48"),
        ("a crates.io token", "cio A32"),
        ("a NuGet key", "oy2 l43"),
        ("a Docker Hub token", "dckr_pat_ A27"),
        ("a HashiCorp Vault token", "hvs. A90"),
        ("a Terraform Cloud token", "A14 .atlasv1. A64"),
        ("a Databricks token", "dapi X32"),
        ("a SendGrid key", "SG. A22 . A43"),
        ("a Mailgun key", "key- X32"),
        ("a Mailchimp key", "X32 -us12"),
        ("a Twilio key", "SK X32"),
        ("a Linear key", "lin_api_ A40"),
        ("a Notion token", "ntn_ A46"),
        ("a Grafana token", "glsa_ A32 _ X8"),
        ("a New Relic key", "NRAK- U27"),
        ("a Sentry token", "sntrys_ A70"),
        ("a Doppler token", "dp.pt. A43"),
        ("a Postman key", "PMAK- X24 - X34"),
        ("a PlanetScale token", "pscale_tkn_ A43"),
        ("a Supabase token", "sbp_ X40"),
        ("an age secret key", "AGE-SECRET-KEY-1 U58"),
        ("a password in an address", "postgres://shop: A16 @db.shop.io/main"),
        ("a private key in base64", "LS0tLS1CRUdJTi BQUklWQVRF A60"),
        ("a JSON Web Token", "eyJ A20 .eyJ A20 . A43"),
        ("a bearer token", "Bearer␣ A40"),
        ("an authorization header", "Authorization:␣token␣ A40"),
        ("a password in an authorization header", "Basic␣ ZGVwbG95Okt4 N3JUOXdR Mm1aNQ =="),
        ("a password on a command line", "curl␣-u␣shop: A16 ␣https://shop.io"),
        ("a password on a command line", "mysql␣-u␣shop␣-p A16 ␣shop"),
        ("a password on a command line", "sshpass␣-p␣ A16 ␣ssh␣shop.io"),
        ("a password on a command line", "PGPASSWORD= A16 ␣psql"),
        ("a password on a command line", "redis-cli␣-a␣ A16 ␣ping"),
        ("a password on a command line", "docker␣login␣-u␣shop␣-p␣ A16"),
        ("a password on a command line", "openssl␣rsa␣-passin␣pass: A16"),
        ("a password in SQL", "IDENTIFIED␣BY␣' A16 '"),
        ("a password in SQL", "WITH␣PASSWORD␣' A16 '"),
        ("a password in a netrc file", "machine␣shop.io␣login␣shop␣password␣ A16 ␣"),
        ("a password in a pgpass file", "x⏎db.shop.io:5432:shop:shop: A16 ⏎"),
    ];

    #[test]
    fn every_kind_of_credential_is_found_in_a_line_of_code() {
        for (name, form) in FORMS {
            let text = make(form).replace('␣', " ").replace('⏎', "\n");
            let line = format!("    value = \"{text}\";");
            let found = crate::credentials::scan(&line);
            let names: Vec<&str> = found.iter().map(|one| one.kind).collect();
            assert!(names.contains(name), "{name}: {names:?} in {form}");
        }
        for kind in KINDS.iter() {
            assert!(FORMS.iter().any(|(name, _)| *name == kind.name), "{} is untried", kind.name);
        }
    }

    #[test]
    fn placeholders_are_not_taken_for_credentials() {
        for line in [
            "token = \"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
            "key: AKIAIOSFODNN7EXAMPLE",
            "DATABASE_URL=postgres://user:password@db.example.com/app",
            "url = f\"postgres://{user}:{password}@{host}/app\"",
            "url = \"postgres://shop:${PASSWORD}@db.shop.io/main\"",
            "stripe = \"sk_live_000000000000000000000000\"",
            "the prefix `glpat-` stands for a personal token",
            "integrity sha512-SKabc",
        ] {
            assert_eq!(crate::credentials::scan(line), [], "{line}");
        }
    }
}
