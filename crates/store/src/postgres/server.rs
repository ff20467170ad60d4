//! How the server is reached: its URL, with TLS where it asks for it.

use std::path::Path;
use std::time::Duration;

use assay_base::percent;
use postgres::config::SslMode;
use postgres::{Client, Config};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::queue::QueueError;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);

/// How long a connection may be silent before the other side is asked whether it is there, and how
/// long it may then take to answer.
const SILENCE: Duration = Duration::from_secs(20);

/// What every connection is asked for. All our statements find rows by an index, and tables that
/// fill and empty within a second have no statistics to go by; so the plan is settled beforehand.
const SESSION: [&str; 7] = [
    "SET plan_cache_mode = force_generic_plan",
    "SET enable_seqscan = off",
    "SET enable_bitmapscan = off",
    "SET enable_hashjoin = off",
    "SET enable_mergejoin = off",
    "SET jit = off",
    "SET client_min_messages = warning",
];

/// A server as its URL names it.
pub(super) struct Server {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    /// Whether a connection without TLS will do if one with it fails.
    or_plain: bool,
}

impl Server {
    /// Reads a URL such as `postgres://user:password@host:5432/database?sslmode=verify-full`.
    ///
    /// With `sslmode=require`, `verify-ca` or `verify-full` the server has to prove who it is, to the
    /// authorities that browsers trust or to those in the file `sslrootcert`.
    pub(super) fn parse(url: &str) -> Result<Server, QueueError> {
        let (plain, options) = split(url);
        let mut config: Config = plain.parse().map_err(|_| no_url())?;
        let mode = options.mode.as_deref().unwrap_or("prefer");
        config.ssl_mode(match mode {
            "disable" => SslMode::Disable,
            "allow" | "prefer" => SslMode::Prefer,
            "require" | "verify-ca" | "verify-full" => SslMode::Require,
            _ => return Err(no_url()),
        });
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config.keepalives_idle(SILENCE).tcp_user_timeout(SILENCE);
        if config.get_application_name().is_none() {
            config.application_name("assay");
        }
        let encrypted = config.get_ssl_mode() != SslMode::Disable;
        let tls = encrypted.then(|| connector(options.roots.as_deref())).transpose()?;
        let or_plain = config.get_ssl_mode() == SslMode::Prefer;
        Ok(Server { config, tls, or_plain })
    }

    /// Makes a connection, set up as ours are.
    pub(super) fn connect(&self) -> Result<Client, postgres::Error> {
        let mut client = self.reach()?;
        if client.batch_execute(&SESSION.join(";")).is_err() {
            // An engine that is no PostgreSQL may not know one of them, and can do without.
            for setting in SESSION {
                match client.batch_execute(setting) {
                    Err(error) if error.as_db_error().is_none() => return Err(error),
                    Ok(()) | Err(_) => {}
                }
            }
        }
        Ok(client)
    }

    fn reach(&self) -> Result<Client, postgres::Error> {
        let Some(tls) = &self.tls else {
            return self.config.connect(postgres::NoTls);
        };
        match self.config.connect(tls.clone()) {
            Err(error) if self.or_plain && error.as_db_error().is_none() => {
                let mut plain = self.config.clone();
                plain.ssl_mode(SslMode::Disable);
                plain.connect(postgres::NoTls).map_err(|_| error)
            }
            connected => connected,
        }
    }
}

/// What a URL says of TLS.
#[derive(Default)]
struct TlsOptions {
    mode: Option<String>,
    roots: Option<String>,
}

/// Takes what is ours to read from a URL's options.
fn split(url: &str) -> (String, TlsOptions) {
    let mut options = TlsOptions::default();
    // A password may have anything in it but an `@`.
    let host = url.find('@').unwrap_or(0);
    let Some(question) = url[host..].find('?') else {
        return (url.to_owned(), options);
    };
    let (start, query) = (&url[..host + question], &url[host + question + 1..]);
    let mut rest = Vec::new();
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslmode", mode)) => options.mode = Some(mode.to_owned()),
            Some(("sslrootcert", path)) => options.roots = Some(percent::decode(path)),
            Some(_) | None => rest.push(pair),
        }
    }
    let plain =
        if rest.is_empty() { start.to_owned() } else { format!("{start}?{}", rest.join("&")) };
    (plain, options)
}

fn connector(roots: Option<&str>) -> Result<MakeRustlsConnect, QueueError> {
    let Some(path) = roots else {
        return Ok(MakeRustlsConnect::with_webpki_roots());
    };
    let unusable = |why: String| QueueError::Database {
        message: format!("the certificates in `{path}` cannot be used: {why}"),
    };
    let mut store = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(Path::new(path))
        .map_err(|error| unusable(error.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        store.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    let config = ClientConfig::builder().with_root_certificates(store).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// Says nothing of what was given, since a password is part of it.
fn no_url() -> QueueError {
    QueueError::Database {
        message: "its URL cannot be read; it has to look like \
                  `postgres://user:password@host:5432/database?sslmode=verify-full`, with `%40` for \
                  an `@` in a password"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_cannot_be_read_is_not_repeated() {
        for url in [
            "postgres://me:s3cret@host:port/db",
            "postgres://me:s3cret@host/db?s3cret=1",
            "postgres://me:s3cret@host/db?sslmode=s3cret",
            "s3cret",
        ] {
            let error = Server::parse(url).err().expect("it is none").to_string();
            assert!(!error.contains("s3c"), "{error}");
        }
    }

    #[test]
    fn what_is_said_of_tls_is_read() {
        let (plain, options) = split(
            "postgres://h/db?sslmode=verify-full&connect_timeout=3&sslrootcert=%2Fetc%2Fca.pem",
        );
        assert_eq!(plain, "postgres://h/db?connect_timeout=3");
        assert_eq!(options.mode.as_deref(), Some("verify-full"));
        assert_eq!(options.roots.as_deref(), Some("/etc/ca.pem"));
    }
}
