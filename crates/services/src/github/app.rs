//! Installation tokens of a GitHub App: [`AppKey`] signs the proof of the app, which
//! [`GitHub::installation_token`] exchanges for a token.
//!
//! A token is valid for an hour, for the repositories of one installation or some of them.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde::Deserialize;
use serde_json::json;

use super::GitHub;
use crate::http::{Call, ServiceError};
use assay_sandbox::Key;

/// The age that a proof claims, because the clocks of GitHub and of this machine may differ.
const CLOCK_DIFFERENCE: Duration = Duration::from_secs(60);

/// The time for which a proof is valid; GitHub allows ten minutes.
const PROOF_LIFETIME: Duration = Duration::from_secs(540);

/// The maximum number of installations that are searched.
const MAX_INSTALLATIONS: usize = 1_000;

/// The private key of a GitHub App.
#[derive(Debug)]
pub struct AppKey(RsaKeyPair);

/// The reason why a private key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the private key is not usable: {0}")]
pub struct AppKeyError(String);

/// An installation of an app.
#[derive(Debug, Deserialize)]
struct Installation {
    id: u64,
    account: Option<Account>,
}

#[derive(Debug, Deserialize)]
struct Account {
    #[serde(default)]
    login: String,
}

/// The token of an installation. Only requests to GitHub contain it.
#[derive(Debug)]
pub struct InstallationToken {
    /// The token.
    pub token: Key,
    /// The end of its validity, as GitHub states it.
    pub expires_at: String,
}

#[derive(Deserialize)]
struct ApiToken {
    token: String,
    expires_at: String,
}

impl AppKey {
    /// Reads a private key in PEM, as GitHub generates it (PKCS#1) or as other programs convert it
    /// (PKCS#8).
    pub fn from_pem(text: &str) -> Result<AppKey, AppKeyError> {
        let error = |why: String| AppKeyError(why);
        let body = |label: &str| {
            let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
            let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
            Some(body.split_whitespace().collect::<String>())
        };
        let decode = |body: String| {
            STANDARD.decode(body).map_err(|_| error("its PEM is no base64".to_owned()))
        };
        let pair = match (body("RSA PRIVATE KEY"), body("PRIVATE KEY")) {
            (Some(body), _) => RsaKeyPair::from_der(&decode(body)?),
            (None, Some(body)) => RsaKeyPair::from_pkcs8(&decode(body)?),
            (None, None) => return Err(error("it is no RSA key in PEM".to_owned())),
        };
        pair.map(AppKey).map_err(|why| error(why.to_string()))
    }

    /// Returns the proof of an app at a time since 1970: a JSON web token. `app` is the id of the
    /// app, or its client id.
    pub fn proof(&self, app: &str, now: Duration) -> Result<Key, AppKeyError> {
        let since = now.saturating_sub(CLOCK_DIFFERENCE).as_secs();
        let until = (now + PROOF_LIFETIME).as_secs();
        let encode = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let header = encode(json!({"alg": "RS256", "typ": "JWT"}));
        let claims = encode(json!({"iat": since, "exp": until, "iss": app}));
        let signed = format!("{header}.{claims}");
        let mut signature = vec![0; self.0.public().modulus_len()];
        self.0
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature)
            .map_err(|_| AppKeyError("it cannot sign".to_owned()))?;
        Ok(Key::new(&format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))))
    }
}

impl GitHub {
    /// Returns the id of the installation on the account of a user or an organisation; `None` if
    /// there is none. The client has the proof of the app as its key.
    pub fn installation_on(&self, account: &str) -> Result<Option<u64>, ServiceError> {
        let call = Call::get(format!("{}/app/installations", self.prefix));
        let (installations, _) = self.read_pages::<Installation>(&call, MAX_INSTALLATIONS)?;
        let is_on = |found: &Installation| {
            found.account.as_ref().is_some_and(|own| own.login.eq_ignore_ascii_case(account))
        };
        Ok(installations.into_iter().find(is_on).map(|found| found.id))
    }

    /// Creates a token of an installation for some of its repositories, by their names without the
    /// owner; for all of them if there are none. The client has the proof of the app as its key.
    pub fn installation_token(
        &self,
        installation: u64,
        repositories: &[&str],
    ) -> Result<InstallationToken, ServiceError> {
        let path = format!("{}/app/installations/{installation}/access_tokens", self.prefix);
        let body = match repositories {
            [] => json!({}),
            some => json!({ "repositories": some }),
        };
        let token: ApiToken = self.api.json(&Call::post(path, body))?;
        Ok(InstallationToken { token: Key::new(&token.token), expires_at: token.expires_at })
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
    use serde_json::Value;

    use super::*;

    const PKCS1: &str = include_str!("../../tests/app-key/pkcs1.pem");
    const PKCS8: &str = include_str!("../../tests/app-key/pkcs8.pem");

    #[test]
    fn a_proof_is_signed_and_valid_for_less_than_ten_minutes() {
        let key = AppKey::from_pem(PKCS1).unwrap();
        let now = Duration::from_secs(1_800_000_000);
        let proof = key.proof("Iv1.abc", now).unwrap();
        let (signed, signature) = proof.reveal().rsplit_once('.').unwrap();
        let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.0.public());
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        public.verify(signed.as_bytes(), &signature).unwrap();
        let part = |text: &str| -> Value {
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
        };
        let (header, claims) = signed.split_once('.').unwrap();
        assert_eq!(part(header), json!({"alg": "RS256", "typ": "JWT"}));
        let claims = part(claims);
        assert_eq!(claims, json!({"iat": 1_799_999_940, "exp": 1_800_000_540, "iss": "Iv1.abc"}));
    }

    #[test]
    fn both_forms_of_a_key_make_the_same_proof() {
        let proof = |pem| AppKey::from_pem(pem).unwrap().proof("1", Duration::from_secs(90));
        assert_eq!(proof(PKCS1).unwrap(), proof(PKCS8).unwrap());
    }

    #[test]
    fn another_text_is_no_key_and_is_not_quoted() {
        let damaged = PKCS1.replacen("MII", "MIX", 1);
        for text in ["", "secret words", damaged.as_str()] {
            let why = AppKey::from_pem(text).unwrap_err().to_string();
            assert!(why.starts_with("the private key is not usable: "), "{why}");
            assert!(!why.contains("secret") && !why.contains("MIX"), "{why}");
        }
    }
}
