//! The set-up of an HTTP agent: no redirects, no proxy on this machine, a bound on connecting.

use std::net::IpAddr;
use std::time::Duration;

use ureq::Agent;

/// Creates an agent for requests to one host; the caller bounds the time of each request.
///
/// An error status is a response like any other, and so is a redirect: to follow a redirect would
/// send the key and the content to another server. A proxy cannot reach a server on this machine,
/// so requests to this machine use none.
pub fn agent(host: &str, connect_timeout: Duration) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(connect_timeout))
        .user_agent(concat!("assay/", env!("CARGO_PKG_VERSION")));
    let config = if is_loopback(host) { config.proxy(None) } else { config };
    config.build().into()
}

/// Returns true if a host, without its port, is this machine: `localhost` or a loopback address,
/// with or without brackets. Names are not resolved.
pub fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["localhost.example", "127.example", "10.0.0.1", "0.0.0.0", "[::]", ""] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
