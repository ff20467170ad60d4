//! Names of credentials: [`NameKind::of`] classifies a name.

/// The kind of credential that a name announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    /// A password, which a person may have chosen.
    Password,
    /// A secret, which is long and usually random.
    Secret,
    /// A key or a token, which is always random; other values have such names too.
    Token,
    /// The user and the password of a registry, in base64.
    Basic,
}

/// The texts of which every such name contains one.
pub(super) const MARKS: [&str; 9] =
    ["pass", "pwd", "secret", "token", "key", "auth", "credential", "kennwort", "bearer"];

/// Words at the end of a name that qualify the use of the value.
const SUFFIXES: [&str; 23] = [
    "prod", "production", "staging", "stage", "live", "dev", "development", "test", "default",
    "value", "old", "new", "primary", "secondary", "backup", "current", "plain", "raw", "string",
    "str", "base64", "b64", "base",
];

/// Words that make a key a secret one.
const KEYS: [&str; 30] = [
    "api", "access", "auth", "secret", "private", "encryption", "encrypt", "signing", "sign",
    "account", "storage", "service", "master", "admin", "app", "session", "consumer",
    "subscription", "client", "deploy", "hmac", "aes", "cipher", "crypto", "webhook", "shared",
    "jwt", "decryption", "license", "security",
];

/// Words before `token` that make it a position in a list or a piece of a text.
const HARMLESS_TOKENS: [&str; 19] = [
    "next", "page", "continuation", "cancel", "cancellation", "sync", "start", "end", "first",
    "last", "current", "prev", "previous", "lex", "syntax", "bos", "change", "request",
    "idempotency",
];

/// Words before `password` that make it the name of an action or a page.
const ACTIONS: [&str; 5] = ["reset", "forgot", "change", "recover", "lost"];

impl NameKind {
    /// Returns the kind that a name such as `DB_PASSWORD`, `clientSecret` or `x-api-key` announces,
    /// or `None` if it is not the name of a credential, such as `password_hash` or `tokenizer`.
    pub(super) fn of(name: &str) -> Option<NameKind> {
        if name == "_auth" || name == "auth" {
            return Some(NameKind::Basic);
        }
        let words = words(name);
        let is_suffix = |word: &String| {
            SUFFIXES.contains(&word.as_str()) || word.bytes().all(|byte| byte.is_ascii_digit())
        };
        let kept = words.iter().rposition(|word| !is_suffix(word))?;
        if words.iter().any(|word| matches!(word.as_str(), "public" | "dummy" | "fake")) {
            return None;
        }
        let last = words[kept].trim_end_matches(|c: char| c.is_ascii_digit());
        let before = kept.checked_sub(1).map(|at| words[at].as_str());
        if before.is_some_and(|word| ACTIONS.contains(&word)) && last == "password" {
            return None;
        }
        let ends = |endings: &[&str]| endings.iter().any(|end| last.ends_with(end));
        if ends(&["password", "passwd", "passphrase", "passwort", "kennwort", "passcode"]) {
            return Some(NameKind::Password);
        }
        match last {
            "pwd" | "pass" | "dbpass" | "storepass" | "keypass" | "requirepass" | "passw" => {
                Some(NameKind::Password)
            }
            "word" if before == Some("pass") => Some(NameKind::Password),
            "phrase" if before == Some("pass") => Some(NameKind::Password),
            "secret" | "secrets" | "clientsecret" | "appsecret" => Some(NameKind::Secret),
            "key" if before.is_some_and(|before| KEYS.contains(&before)) => Some(NameKind::Token),
            "token" if before.is_some_and(|word| HARMLESS_TOKENS.contains(&word)) => None,
            "credential" | "credentials" | "authorization" | "bearer" => Some(NameKind::Token),
            _ if last.ends_with("token") => Some(NameKind::Token),
            _ => {
                let stem = last.strip_suffix("key")?;
                KEYS.iter().any(|word| stem.ends_with(word)).then_some(NameKind::Token)
            }
        }
    }
}

/// Splits a name at all characters that are not letters or digits, and at capitals.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        let bytes = part.as_bytes();
        let mut from = 0;
        for at in 1..bytes.len() {
            let (before, here) = (bytes[at - 1], bytes[at]);
            let after = bytes.get(at + 1);
            let begins = here.is_ascii_uppercase()
                && (before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase()
                        && after.is_some_and(|after| after.is_ascii_lowercase())));
            if begins {
                words.push(part[from..at].to_ascii_lowercase());
                from = at;
            }
        }
        words.push(part[from..].to_ascii_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_credentials_are_recognised_in_every_spelling() {
        for name in [
            "password", "DB_PASSWORD", "dbPassword", "db-passwd", "PGPASSWORD", "smtp_pass",
            "Password2", "DB_PASSWORD_PROD", "MYSQL_PWD", "passPhrase",
        ] {
            assert_eq!(NameKind::of(name), Some(NameKind::Password), "{name}");
        }
        for name in ["secret", "clientSecret", "JWT_SECRET", "webhook-secret"] {
            assert_eq!(NameKind::of(name), Some(NameKind::Secret), "{name}");
        }
        for name in [
            "API_KEY", "apikey", "X-Api-Key", "aws_secret_access_key", "accountKey", "authToken",
            "_authToken", "GITHUB_TOKEN", "CI_API_TOKEN", "APIKey", "SharedAccessKey",
        ] {
            assert_eq!(NameKind::of(name), Some(NameKind::Token), "{name}");
        }
    }

    #[test]
    fn names_of_other_things_are_left_alone() {
        for name in [
            "password_hash", "passwordLabel", "token_url", "secretName", "key", "primary_key",
            "public_key", "publicKeyToken", "max_tokens", "tokenizer", "api_key_env", "author",
            "keyboard", "dummyPassword", "nextToken", "compass_heading", "monkey",
            "AWS_ACCESS_KEY_ID", "passed", "reset_password", "forgotPassword",
        ] {
            assert_eq!(NameKind::of(name), None, "{name}");
        }
    }
}
