//! Connections to the server: the parsed URL, `Server`, and TLS.

use std::path::Path;
use std::time::Duration;

use assay_base::percent;
use postgres::config::{Host, SslMode};
use postgres::{Client, Config};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::queue::QueueError;

/// The default timeout for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The time without traffic before a keep-alive probe, and the timeout for unacknowledged data.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);

/// The settings of every connection. All statements find rows by an index, and tables that fill and
/// empty within a second have no useful statistics; so the settings fix the plan.
const SESSION_SETTINGS: [&str; 7] = [
    "SET plan_cache_mode = force_generic_plan",
    "SET enable_seqscan = off",
    "SET enable_bitmapscan = off",
    "SET enable_hashjoin = off",
    "SET enable_mergejoin = off",
    "SET jit = off",
    "SET client_min_messages = warning",
];

/// A URL that names no usable server. The message does not repeat the URL, which may contain a
/// password.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ServerUrlError(String);

impl From<ServerUrlError> for QueueError {
    fn from(error: ServerUrlError) -> QueueError {
        QueueError::Database { message: error.to_string() }
    }
}

/// The configuration of a server, parsed from its URL.
pub(crate) struct Server {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    /// True if a connection without TLS is acceptable when TLS fails.
    allows_plain: bool,
}

impl Server {
    /// Parses a URL such as `postgres://user:password@host:5432/database?sslmode=verify-full`.
    ///
    /// With `sslmode=require`, `verify-ca` or `verify-full` the certificate of the server must be
    /// valid for the authorities that browsers trust, or for those in the file `sslrootcert`.
    pub(crate) fn parse(url: &str) -> Result<Server, ServerUrlError> {
        let (plain, options) = split_tls_options(url);
        let mut config: Config = plain.parse().map_err(|_| invalid_url())?;
        let mode = options.mode.as_deref().unwrap_or("prefer");
        config.ssl_mode(match mode {
            "disable" => SslMode::Disable,
            "allow" | "prefer" => SslMode::Prefer,
            "require" | "verify-ca" | "verify-full" => SslMode::Require,
            _ => return Err(invalid_url()),
        });
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        config.keepalives_idle(KEEPALIVE_TIMEOUT).tcp_user_timeout(KEEPALIVE_TIMEOUT);
        if config.get_application_name().is_none() {
            config.application_name("assay");
        }
        let encrypted = config.get_ssl_mode() != SslMode::Disable;
        let tls = encrypted.then(|| tls_connector(options.roots.as_deref())).transpose()?;
        let allows_plain = config.get_ssl_mode() == SslMode::Prefer;
        Ok(Server { config, tls, allows_plain })
    }

    /// Returns the address of the database without user, password and options, for messages.
    pub(crate) fn address(&self) -> String {
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            #[cfg(unix)]
            Some(Host::Unix(folder)) => folder.display().to_string(),
            None => "localhost".to_owned(),
        };
        let port = self.config.get_ports().first().filter(|port| **port != 5432);
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        format!("postgres://{host}{port}/{database}")
    }

    /// Opens a connection and applies the settings of queues.
    pub(super) fn connect(&self) -> Result<Client, postgres::Error> {
        let mut client = self.open()?;
        if client.batch_execute(&SESSION_SETTINGS.join(";")).is_err() {
            // A compatible engine may reject a setting, and works without it.
            for setting in SESSION_SETTINGS {
                match client.batch_execute(setting) {
                    Err(error) if error.as_db_error().is_none() => return Err(error),
                    Ok(()) | Err(_) => {}
                }
            }
        }
        Ok(client)
    }

    /// Opens a connection.
    pub(crate) fn open(&self) -> Result<Client, postgres::Error> {
        let Some(tls) = &self.tls else {
            return self.config.connect(postgres::NoTls);
        };
        match self.config.connect(tls.clone()) {
            Err(error) if self.allows_plain && error.as_db_error().is_none() => {
                let mut plain = self.config.clone();
                plain.ssl_mode(SslMode::Disable);
                plain.connect(postgres::NoTls).map_err(|_| error)
            }
            connected => connected,
        }
    }
}

/// The TLS options of a URL.
#[derive(Default)]
struct TlsOptions {
    mode: Option<String>,
    roots: Option<String>,
}

/// Removes the TLS options from a URL and returns both.
fn split_tls_options(url: &str) -> (String, TlsOptions) {
    let mut options = TlsOptions::default();
    // A password may contain any character except `@`.
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

fn tls_connector(roots: Option<&str>) -> Result<MakeRustlsConnect, ServerUrlError> {
    let Some(path) = roots else {
        return Ok(MakeRustlsConnect::with_webpki_roots());
    };
    let unusable =
        |why: String| ServerUrlError(format!("cannot use the certificates in `{path}`: {why}"));
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

fn invalid_url() -> ServerUrlError {
    ServerUrlError(
        "invalid database URL: expected \
         `postgres://user:password@host:5432/database?sslmode=verify-full`, with `%40` for an `@` \
         in a password"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_url_is_not_repeated_in_the_error() {
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
    fn the_address_for_messages_has_neither_user_nor_password() {
        let address = |url: &str| Server::parse(url).unwrap().address();
        assert_eq!(
            address("postgres://me:s3cret@db:6000/team?sslmode=disable"),
            "postgres://db:6000/team"
        );
        assert_eq!(address("postgres://me:s3cret@db"), "postgres://db/me");
    }

    #[test]
    fn tls_options_are_split_from_the_url() {
        let (plain, options) = split_tls_options(
            "postgres://h/db?sslmode=verify-full&connect_timeout=3&sslrootcert=%2Fetc%2Fca.pem",
        );
        assert_eq!(plain, "postgres://h/db?connect_timeout=3");
        assert_eq!(options.mode.as_deref(), Some("verify-full"));
        assert_eq!(options.roots.as_deref(), Some("/etc/ca.pem"));
    }
}
