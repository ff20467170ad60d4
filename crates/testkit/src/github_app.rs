//! A fake of GitHub's API for apps: [`AppService`] lists installations and creates their tokens.
//!
//! The fake refuses what GitHub refuses: a proof that is not signed by the key of the app, is not
//! yet or no longer valid, or is valid for more than ten minutes; an unknown installation, and a
//! repository that the installation does not have.

use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use crate::web::{Answer, Service, ServiceRequest};

/// The longest validity of a proof that GitHub accepts, in seconds.
const MAX_LIFETIME: u64 = 600;

/// An app with one installation.
pub struct AppService {
    /// The id of the app.
    pub app: &'static str,
    /// The private key of the app in DER, as PKCS#1.
    pub private_key: Vec<u8>,
    /// The account with the installation.
    pub account: &'static str,
    /// The id of the installation.
    pub installation: u64,
    /// The names of the repositories of the installation.
    pub repositories: &'static [&'static str],
    /// The bodies of the requests for tokens.
    pub requests: Mutex<Vec<Value>>,
}

impl AppService {
    /// Returns the reason why a proof is refused; `None` if it is accepted.
    fn refusal(&self, proof: &str) -> Option<&'static str> {
        let pair = RsaKeyPair::from_der(&self.private_key).ok()?;
        let Some((signed, signature)) = proof.rsplit_once('.') else { return Some("no token") };
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public());
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
        if key.verify(signed.as_bytes(), &signature).is_err() {
            return Some("A JSON web token could not be decoded");
        }
        let claims = signed.split_once('.').map_or("", |(_, claims)| claims);
        let claims = URL_SAFE_NO_PAD.decode(claims).unwrap_or_default();
        let claims: Value = serde_json::from_slice(&claims).unwrap_or_default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let (since, until) = (claims["iat"].as_u64()?, claims["exp"].as_u64()?);
        let is_valid = since <= now && now < until && until - now <= MAX_LIFETIME;
        match is_valid && claims["iss"] == self.app {
            true => None,
            false => Some("'Expiration time' claim is wrong"),
        }
    }

    fn create_token(&self, asked: &ServiceRequest) -> Answer {
        let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        let names: Vec<&str> = body["repositories"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if names.iter().any(|name| !self.repositories.contains(name)) {
            let why = "There is at least one repository that does not exist";
            return Answer::json(422, &json!({ "message": why }));
        }
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(body);
        let token = json!({"token": "ghs_16C7e42F292c6912E7710c838347Ae178B4a", "expires_at": "2030-01-01T00:00:00Z"});
        Answer::json(201, &token)
    }
}

impl Service for AppService {
    fn answer(&self, asked: &ServiceRequest) -> Option<Answer> {
        let proof = asked.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        if let Some(why) = self.refusal(proof.unwrap_or_default()) {
            return Some(Answer::json(401, &json!({ "message": why })));
        }
        let tokens = format!("/app/installations/{}/access_tokens", self.installation);
        Some(match (asked.method.as_str(), asked.path()) {
            ("GET", "/app/installations") => {
                let account = json!({ "login": self.account });
                Answer::json(200, &json!([{ "id": self.installation, "account": account }]))
            }
            ("POST", path) if path == tokens => self.create_token(asked),
            _ => Answer::json(404, &json!({ "message": "Not Found" })),
        })
    }
}
