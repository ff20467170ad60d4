//! The kinds of credential that say of themselves what they are.

/// A kind of credential.
pub(super) struct Kind {
    /// What it is called.
    pub(super) name: &'static str,
    /// A text that every one of them has in it, so that most lines need no pattern.
    pub(super) mark: &'static str,
    /// Its pattern; the first group, where there is one, is what must not be seen.
    pub(super) pattern: &'static str,
}

const fn kind(name: &'static str, mark: &'static str, pattern: &'static str) -> Kind {
    Kind { name, mark, pattern }
}

/// What a private key is called.
pub(super) const KEY: &str = "a private key";

pub(super) const KINDS: &[Kind] = &[
    kind(KEY, "PRIVATE KEY-----", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"),
    kind("an AWS access key", "AKIA", r"\bAKIA[A-Z2-7]{16}\b"),
    kind("a temporary AWS access key", "ASIA", r"\bASIA[A-Z2-7]{16}\b"),
    kind(
        "an AWS secret key",
        "aws_secret_access_key",
        r#"(?i)aws_secret_access_key["']?\s*[:=]\s*["']?([A-Za-z0-9/+]{40})\b"#,
    ),
    kind("an Azure storage key", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{86}==)"),
    kind("a Google API key", "AIza", r"\bAIza[A-Za-z0-9_-]{35}\b"),
    kind("a Google OAuth secret", "GOCSPX-", r"\bGOCSPX-[A-Za-z0-9_-]{28}\b"),
    kind("an Alibaba Cloud key", "LTAI", r"\bLTAI[A-Za-z0-9]{20}\b"),
    kind("a DigitalOcean token", "_v1_", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    kind("a GitHub token", "gh", r"\bgh[pousr]_[A-Za-z0-9]{36,}\b"),
    kind("a GitHub token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{50,}\b"),
    kind("a GitLab token", "gl", r"\bgl(?:pat|dt|rt|ptt|oas|cbt|imt|agent)-[A-Za-z0-9_-]{20,}\b"),
    kind("an Atlassian token", "ATATT3", r"\bATATT3[A-Za-z0-9_=-]{60,}"),
    kind("a Bitbucket app password", "ATBB", r"\bATBB[A-Za-z0-9]{32,}\b"),
    kind("a Slack token", "xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{20,}\b"),
    kind("a Slack app token", "xapp-", r"\bxapp-\d-[A-Z0-9]+-\d+-[a-z0-9]{32,}\b"),
    kind(
        "a Slack webhook",
        "hooks.slack.com/services/",
        r"hooks\.slack\.com/services/(T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,})",
    ),
    kind(
        "a Discord webhook",
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/(\d{17,20}/[A-Za-z0-9_-]{60,})",
    ),
    kind("a Telegram bot token", ":AA", r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    kind("a Stripe key", "k_live_", r"\b[sr]k_live_[A-Za-z0-9]{20,}\b"),
    kind("a Stripe webhook secret", "whsec_", r"\bwhsec_[A-Za-z0-9]{32,}\b"),
    kind("a Square token", "sq0", r"\bsq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}\b"),
    kind("a Shopify token", "shp", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    kind("an Anthropic key", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{30,}"),
    kind("an OpenAI key", "sk-proj-", r"\bsk-proj-[A-Za-z0-9_-]{30,}"),
    kind("an OpenAI key", "T3BlbkFJ", r"\bsk-[A-Za-z0-9_-]*T3BlbkFJ[A-Za-z0-9_-]{20,}"),
    kind("a Hugging Face token", "hf_", r"\bhf_[A-Za-z]{34,}\b"),
    kind("a Groq key", "gsk_", r"\bgsk_[A-Za-z0-9]{52}\b"),
    kind("a Replicate token", "r8_", r"\br8_[A-Za-z0-9]{37}\b"),
    kind("an npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    kind("a PyPI token", "pypi-AgE", r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    kind("a RubyGems key", "rubygems_", r"\brubygems_[a-f0-9]{48}\b"),
    kind("a crates.io token", "cio", r"\bcio[A-Za-z0-9]{32}\b"),
    kind("a NuGet key", "oy2", r"\boy2[a-z0-9]{43}\b"),
    kind("a Docker Hub token", "dckr_pat_", r"\bdckr_pat_[A-Za-z0-9_-]{27,}"),
    kind("a HashiCorp Vault token", "hvs.", r"\bhvs\.[A-Za-z0-9_-]{24,}"),
    kind(
        "a Terraform Cloud token",
        ".atlasv1.",
        r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}",
    ),
    kind("a Databricks token", "dapi", r"\bdapi[a-f0-9]{32}\b"),
    kind("a SendGrid key", "SG.", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b"),
    kind("a Mailgun key", "key-", r"\bkey-[a-f0-9]{32}\b"),
    kind("a Mailchimp key", "-us", r"\b[a-f0-9]{32}-us\d{1,2}\b"),
    kind("a Twilio key", "SK", r"\bSK[a-f0-9]{32}\b"),
    kind("a Linear key", "lin_api_", r"\blin_api_[A-Za-z0-9]{40}\b"),
    kind("a Notion token", "ntn_", r"\bntn_[A-Za-z0-9]{40,}\b"),
    kind("a Grafana token", "glsa_", r"\bglsa_[A-Za-z0-9]{32}_[a-f0-9]{8}\b"),
    kind("a New Relic key", "NRAK-", r"\bNRAK-[A-Z0-9]{27}\b"),
    kind("a Sentry token", "sntrys_", r"\bsntrys_[A-Za-z0-9+/=_-]{60,}"),
    kind("a Doppler token", "dp.", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}"),
    kind("a Postman key", "PMAK-", r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b"),
    kind("a PlanetScale token", "pscale_", r"\bpscale_(?:tkn|oauth|pw)_[A-Za-z0-9_=-]{32,}"),
    kind("a Supabase token", "sbp_", r"\bsbp_[a-f0-9]{40}\b"),
    kind("an age secret key", "AGE-SECRET-KEY-1", r"\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b"),
    kind(
        "a password in a connection address",
        "://",
        r#"\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql)://[^\s:/@"'`$<{]+:([^\s:/@"'`$<{%]{8,})@[A-Za-z0-9.-]+\.[A-Za-z]{2,}"#,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::secret::found;

    /// Characters that look random and are the same in every run.
    fn random(alphabet: &str, count: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        let mut state = 12_345_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            alphabet[(state >> 33) as usize % alphabet.len()]
        };
        (0..count).map(|_| next()).collect()
    }

    /// Makes a credential of a form such as `ghp_ A36`: words stand for themselves, and a letter
    /// with a number for that many random characters. Nothing that looks real is kept in a file.
    fn make(form: &str) -> String {
        let part = |word: &str| {
            let (letter, count) = word.split_at(1);
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
        ("a password in a connection address", "postgres://shop: A16 @db.shop.io/main"),
    ];

    #[test]
    fn every_kind_is_seen_in_a_line_of_code() {
        for (name, form) in FORMS {
            let line = format!("    value = \"{}\";", make(form));
            let names: Vec<&str> = found(&line).into_iter().map(|(name, _)| name).collect();
            assert!(names.contains(name), "{name}: {names:?} in {form}");
        }
        for kind in KINDS.iter().filter(|kind| kind.name != KEY) {
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
            assert_eq!(found(line), [], "{line}");
        }
    }
}
