//! Safer code that a change replaces by its weaker form, such as `compare_digest(a, b)` by `a == b`.
//!
//! The removed lines of a hunk have the safer form, its added lines have the weaker form on one of the
//! same values, and the file has the safer form less often than before.

use std::sync::LazyLock;

use regex::Regex;

use super::changed_code::{ChangedCode, ChangedHunk};
use super::guard_forms::regex;
use super::{ChangedFile, CheckMatch, FileCheck};
use crate::rule_text::RuleText;

pub(super) const CHECK: FileCheck = FileCheck {
    rule_text: RuleText {
        id: "change/weaker-call",
        grade: "MEDIUM",
        category: "security",
        title: "Safer code replaced by its weaker form",
        message: "The weaker form is not safe for every value.",
        advice: "Keep the safer form, or say in the description of the change why every value is safe.",
    },
    find,
};

/// A protection that code gets from one form, and does not get from another form.
struct Protection {
    /// The protection that the change takes away.
    name: &'static str,
    safer: Regex,
    weaker: Regex,
}

/// The name of a protection, the pattern of the safer form, and the pattern of the weaker form.
const PROTECTIONS: [[&str; 3]; 21] = [
    [
        "a comparison in constant time",
        r"\b(?:compare_digest|constant_time_compare|timingSafeEqual|hash_equals|ConstantTimeCompare|(?:fixed_length_)?secure_compare|safe_str_cmp|CRYPTO_memcmp|timingsafe_\w+|MessageDigest\.isEqual)\(",
        r"[!=]==?|\b(?:memcmp|strcmp|equals)\(",
    ],
    [
        "a limit on the number of bytes",
        r"\b(?:strncpy|strlcpy|strncat|strlcat|v?snprintf|fgets|g_strlcpy|strcpy_s|sprintf_s)\s*\(",
        r"\b(?:strcpy|strcat|v?sprintf|gets)\s*\(",
    ],
    [
        "a check for integer overflow",
        r"\b(?:calloc|reallocarray|kcalloc|kmalloc_array|checked_(?:add|mul|sub)|\w*MallocArray)\s*\(",
        r"\b(?:malloc|realloc|kmalloc)\s*\(|[^=!<>]=\s*\w+\s*[*+-]\s*\w+|wrapping_(?:add|mul|sub)\(",
    ],
    [
        "a wider integer type",
        r"\b(?:u?int64_t|s?size_t|off_t|long long|unsigned long|uintptr_t)\b",
        r"\b(?:unsigned(?: int)?|int|u?int(?:32|16)_t|short)\b|\w\)? \* \(?\w",
    ],
    ["an unsigned type", r"\bunsigned char\b|\buint8_t\b|\bu_char\b", r"\bchar\b"],
    ["an object without a prototype", r"\bObject\.create\(\s*null\s*\)", r"[=:(]\s*\{\s*\}"],
    [
        "a comparison of whole path components",
        r"\b(?:commonpath|is_relative_to|isRelativeTo)\(|\bstarts_?[wW]ith\([^)]*(?:\bsep\b|\bseparator\b|/['\x22])",
        r"\bcommonprefix\(|\bstarts_?[wW]ith\([^)/]*$|\bstarts_?[wW]ith\([\w.$\s,]*\)",
    ],
    [
        "a loader that creates no objects",
        r"\b(?:safe_load(?:_all)?|C?SafeLoader|safeLoad|FAILSAFE_SCHEMA|SafeConstructor|yaml\.safe_load)\b",
        r"\b(?:yaml|YAML|Psych)\.(?:unsafe_|full_)?load(?:_all)?\b|\b(?:Full|Unsafe|C)?Loader\b|\bnew Yaml\(\)",
    ],
    [
        "a parser that runs no code",
        r"\b(?:literal_eval|JSON\.parse|json\.loads?|json_decode|JSON\.load)\(",
        r"(?:^|[^.\w])eval\(|\bnew Function\(|\bpickle\.loads?\(|\bunserialize\(|\bMarshal\.load\(|\bvm\.run\w+\(",
    ],
    [
        "a temporary file with an unpredictable name",
        r"\b(?:mkstemp|mkdtemp|mkdtempSync|NamedTemporaryFile|TemporaryDirectory|TemporaryFile|createTempFile|createTempDirectory|MkdirTemp|CreateTemp)\b",
        r"\b(?:mktemp|tmpnam|tempnam)\(|['\x22]/tmp/|\bgettempdir\(|\btmpdir\(",
    ],
    [
        "unpredictable random bytes",
        r"\b(?:secrets\.\w+|SystemRandom|urandom|randomBytes|randomUUID|getRandomValues|SecureRandom|random_bytes|random_int|getrandom|RAND_bytes|crypto/rand)\b",
        r"\brandom\.(?:random|choice|choices|randint|randrange|getrandbits|sample)\b|\bMath\.random\b|\b(?:mt_rand|rand|uniqid|lcg_value|srand|drand48)\(|\bnew Random\(|\bmath/rand\b",
    ],
    [
        "a command without a shell",
        r"\bexecFile(?:Sync)?\b|\bspawn(?:Sync)?\(|\bshell\s*[=:]\s*[Ff]alse\b|\bsubprocess\.\w+\(\s*\[|\bProcessBuilder\(",
        r"(?:^|[^.\w]|child_process\.|cp\.)exec(?:Sync)?\(|\bshell\s*[=:]\s*[Tt]rue\b|\bos\.(?:system|popen)\(|\bgetRuntime\(\)\.exec\(",
    ],
    [
        "text that is not read as HTML",
        r"\.(?:textContent|innerText)\b|\bcreateTextNode\(|\.text\(|\bv-text\b|\bformat_html\(|\{\{[^!]",
        r"\.(?:inner|outer)HTML\b|\binsertAdjacentHTML\(|\.html\(|\bdocument\.write\(|\bdangerouslySetInnerHTML\b|\bv-html\b|\bmark_safe\(|\{!!|\|\s*safe\b|\|\s*raw\b|<%-|<%==|\{\{\{",
    ],
    [
        "a strong hash function",
        r"(?i)\b(?:hmac_?)?(?:sha-?(?:256|384|512)|sha3_\d+|blake2[bs]|bcrypt|scrypt|argon2(?:id|i)?|pbkdf2\w*)\b",
        r"(?i)\b(?:md[45]|sha-?1|crc32)\b",
    ],
    [
        "an XML parser that loads no entities",
        r"\bdefusedxml\b",
        r"\bxml\.(?:etree|sax|dom)\b|\blxml\b|\bsimplexml_load_\w+\(",
    ],
    [
        "the verification of TLS certificates",
        r"\bcreate_default_context\b|\bCERT_REQUIRED\b|\bVERIFY_PEER\b",
        r"\b_create_unverified_context\b|\bCERT_NONE\b|\bVERIFY_NONE\b|\bwrap_socket\(|\bSSLContext\(",
    ],
    [
        "a path without symbolic links",
        r"\b(?:getCanonicalPath|getCanonicalFile|toRealPath|realpath|realpathSync|EvalSymlinks)\(",
        r"\b(?:getAbsolutePath|getPath|toAbsolutePath|abspath|normpath|resolve|normalize|Clean|Abs|getAbsoluteFile)\(",
    ],
    [
        "a call that does not follow symbolic links",
        r"\b(?:lstat|lstatSync|lchown|lchownSync|Lstat|lexists)\s*\(",
        r"\b(?:stat|statSync|chown|chownSync|Stat|exists)\s*\(",
    ],
    [
        "a match of the whole text",
        r"\bfullmatch\(|\\A.*\\[zZ]|\bmatches\(",
        r"\bre\.(?:match|search)\(|\.(?:match|search|find)\(|\^.*\$",
    ],
    [
        "a file that only its owner can read",
        r"\b0o?[67]00\b|\bS_IRUSR\b|\bS_IRWXU\b",
        r"\b0o?[67](?:[4567][0-7]|[0-7][4567])\b|\bS_IRW?X?[GO]\b",
    ],
    [
        "an address that only this machine can reach",
        r#"["'](?:127\.0\.0\.1|localhost|::1)(?::\d+)?["']"#,
        r#"["'](?:0\.0\.0\.0|::)(?::\d+)?["']"#,
    ],
];

static PATTERNS: LazyLock<Vec<Protection>> = LazyLock::new(|| {
    let protection = |[name, safer, weaker]: [&'static str; 3]| Protection {
        name,
        safer: regex(safer),
        weaker: regex(weaker),
    };
    PROTECTIONS.map(protection).into()
});

fn find(view: &ChangedFile<'_>) -> Vec<CheckMatch> {
    let Some(code) = ChangedCode::of(view) else { return Vec::new() };
    let match_of = |protection: &Protection| {
        code.lost_protection(protection.name, &protection.safer, |hunk| {
            protection.replaced_in(hunk)
        })
    };
    PATTERNS.iter().filter_map(match_of).collect()
}

impl Protection {
    /// Returns the safer form that a hunk removes, and the line of the weaker form that replaces it.
    fn replaced_in<'v>(&self, hunk: &ChangedHunk<'v>) -> Option<(&'v str, u32)> {
        let is_weaker = |line: &str| {
            self.weaker.is_match(line)
                && !self.safer.is_match(line)
                && !hunk.removed.contains(&line)
        };
        hunk.removed.iter().find_map(|removed| {
            let form = self.safer.find(removed)?;
            let line = hunk.replacement_of(removed, form.range(), is_weaker)?;
            Some((form.as_str(), line))
        })
    }
}
