//! Settings that protect and that a change removes, such as `resolve_entities=False` or
//! `@login_required`, while the code that they protect stays.

use std::sync::LazyLock;

use regex::Regex;

use super::changed_code::{ChangedCode, ChangedHunk, RemovedRun};
use super::guard_forms::regex;
use super::{ChangedFile, CheckMatch, FileCheck};
use crate::rule_text::RuleText;

pub(super) const CHECK: FileCheck = FileCheck {
    rule_text: RuleText {
        id: "change/setting-removed",
        grade: "LOW",
        category: "security",
        title: "Protective setting removed",
        message: "The code that the setting protected is still there.",
        advice: "Keep the setting, or say in the description of the change what protects the code now.",
    },
    find,
};

/// The maximum number of removed lines without a replacement, of which one is a setting. More lines
/// are code that leaves with its settings.
const MAX_REMOVED: usize = 6;

/// The name of a setting, and its pattern.
const SETTINGS: [[&str; 2]; 15] = [
    [
        "an option that forbids an XML parser to load entities",
        r"\bresolve_entities\s*=\s*False|\bno_network\s*=\s*True|disallow-doctype-decl|external-(?:general|parameter)-entities|load-external-dtd|\bFEATURE_SECURE_PROCESSING\b|\bSUPPORT_DTD\b|\bIS_SUPPORTING_EXTERNAL_ENTITIES\b|\blibxml_disable_entity_loader\b|\bACCESS_EXTERNAL_\w+|\bsetExpandEntityReferences\(\s*false|\bXML_PARSE_(?:NONET|NO_XXE)\b|\bforbid_(?:dtd|entities|external)\b|\bDtdProcessing\.Prohibit\b",
    ],
    [
        "a check of the user",
        r"@(?:login_required|permission_required|user_passes_test|staff_member_required|requires?_\w+|PreAuthorize|PostAuthorize|Secured|RolesAllowed|jwt_required|authenticated|admin_required|has_permission)\b|\bbefore_action\s+:(?:authenticate|authori[sz]e|require|verify|check)\w*|\bpermission_classes\b|(?i:\bauth_?required\b|\brequires?_?auth\w*)|\bcurrent_user_can\(|\b(?:require_capability|require_login|require_permission)\(",
    ],
    [
        "a check of the origin of a request",
        r"@csrf_protect\b|\b(?:check_(?:admin|ajax)_referer|wp_verify_nonce|csrf_check|verify_csrf\w*|validate_csrf\w*|check_csrf\w*|require_sesskey|confirm_sesskey)\(|\bprotect_from_forgery\b|\bverify_authenticity_token\b|\bCsrfViewMiddleware\b|\bcheckToken\(",
    ],
    [
        "a flag of a cookie",
        r"(?i)\bhttp_?only\b|\bsame_?site\b|\bsetSecure\(\s*true|\bcookie_secure\b|\bsession_cookie_secure\b",
    ],
    [
        "an option that forbids following symbolic links",
        r"\bO_NOFOLLOW\b|\bO_EXCL\b|\bfollow_symlinks\s*=\s*False|\bAT_SYMLINK_NOFOLLOW\b|\bNOFOLLOW_LINKS\b|\bfilter\s*=\s*['\x22](?:data|tar)['\x22]",
    ],
    [
        "an option that escapes text",
        r"\bautoescape\s*=\s*(?:True\b|select_autoescape)|\bENT_QUOTES\b|\bquote\s*=\s*True\b|\bescape(?:Html|HTML)?\s*:\s*true\b|'escape'\s*=>\s*true\b|\bauto_?escape\(",
    ],
    [
        "an option that forbids following redirects",
        r"\b(?:allow|follow)_redirects\s*=\s*False|\bmaxRedirects\s*:|\bredirect\s*:\s*['\x22](?:manual|error)['\x22]|\bsetFollowRedirects\(\s*false|\bErrUseLastResponse\b",
    ],
    [
        "a security header of responses",
        r"(?i)\bX-Frame-Options\b|\bContent-Security-Policy\b|\bnosniff\b|\bX-Content-Type-Options\b|\bContent-Disposition\b|\bnoopener\b|\bStrict-Transport-Security\b",
    ],
    [
        "an option that verifies the server of a connection",
        r"\bverify\s*=\s*True\b|\brejectUnauthorized\s*:\s*true\b|\bcheck_hostname\s*=\s*True\b|\bCERT_REQUIRED\b|\bSSL_VERIFY_PEER\b|\bcheckServerIdentity\b|\bVERIFY_PEER\b|\bVERIFY_X509_STRICT\b|\bassert_hostname\b|\bsetHostnameVerification\w*",
    ],
    [
        "an option that verifies a token",
        r"\balgorithms\s*[=:]|\bverify_(?:signature|aud|exp|iss)\b|\bignoreExpiration\s*:\s*false\b|\brequire_exp\b",
    ],
    ["the `--` that ends the options of a command", r#"["']--["']\s*[,\])]"#],
    [
        "a step that drops privileges",
        r"\bset(?:e|res)?[ug]id\(|\bsetgroups\(|\binitgroups\(|\bumask\(|\bchroot\(|\bpledge\(|\bPR_SET_NO_NEW_PRIVS\b|\bclearenv\(",
    ],
    [
        "a step that erases a secret",
        r"\b(?:OPENSSL_cleanse|explicit_bzero|memset_s|memzero_explicit|sodium_memzero|zeroize|SecureZeroMemory)\b",
    ],
    [
        "a limit on the size of input",
        r"(?i)\b(?:max_?(?:length|len|size|bytes|depth|fields|entries|content_?length|header_?size|input\w*|iterations|recursion\w*|nesting\w*|members|parts|memory\w*|num_?\w*))\b\s*(?::|=[^=])",
    ],
    [
        "a lock",
        r"\b(?:pthread_)?mutex_lock\(|\bspin_lock\w*\(|\bsynchronized\b|\bwith\s+[\w.]*lock\b|\.Lock\(\)|\bdown_(?:read|write)\(|\bflock\(",
    ],
];

static PATTERNS: LazyLock<Vec<(&str, Regex)>> =
    LazyLock::new(|| SETTINGS.map(|[name, pattern]| (name, regex(pattern))).into());

/// The start of a definition, or of an import.
static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?:def|class|function|func|fn|import|require|include|use|interface|struct|enum)\b|^#include|^[\w*\s]+\w+\([^;]*\)\s*\{$",
    )
});

fn find(view: &ChangedFile<'_>) -> Vec<CheckMatch> {
    let Some(code) = ChangedCode::of(view) else { return Vec::new() };
    let match_of = |(name, pattern): &(&str, Regex)| {
        code.lost_protection(name, pattern, |hunk| lost_in(hunk, pattern))
    };
    PATTERNS.iter().filter_map(match_of).collect()
}

/// Returns the setting that a hunk removes while the code around it stays, and its place: a line that
/// is written again without the setting, or a few removed lines.
fn lost_in<'v>(hunk: &ChangedHunk<'v>, pattern: &Regex) -> Option<(&'v str, u32)> {
    if hunk.added.iter().any(|(_, line)| pattern.is_match(line)) {
        return None;
    }
    let rewritten = hunk.removed.iter().find_map(|removed| {
        let setting = pattern.find(removed)?;
        let place = hunk.replacement_of(removed, setting.range(), |_| true)?;
        Some((setting.as_str(), place))
    });
    let is_small = |run: &&RemovedRun<'v>| {
        run.lines.len() <= MAX_REMOVED && !run.lines.iter().any(|line| DEFINITION.is_match(line))
    };
    rewritten.or_else(|| {
        hunk.runs.iter().filter(is_small).find_map(|run| {
            let setting = run.lines.iter().find_map(|line| pattern.find(line))?;
            Some((setting.as_str(), run.place))
        })
    })
}
