//! The fake over TCP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use assay_testkit::github::{Fault, FaultTiming, Server};

use super::{REPO, github};

/// Sends requests over one connection, and returns all answers.
fn send(server: &Server, requests: &str) -> String {
    let mut stream = TcpStream::connect(server.url().strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(requests.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    // A cut connection may be reset.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

fn request(method: &str, below: &str, body: &str, more: &str) -> String {
    format!(
        "{method} /repos/{REPO}{below} HTTP/1.1\r\nhost: x\r\nuser-agent: test\r\n\
         authorization: Bearer t-rev\r\n{more}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn requests_over_http_change_the_in_process_github() {
    let github = Arc::new(github());
    let server = Arc::clone(&github).serve();
    let comment = "/issues/1/comments";
    let requests = [
        request("POST", comment, r#"{"body":"x"}"#, ""),
        request("POST", comment, r#"{"body":"y"}"#, ""),
        request("GET", &format!("{comment}?per_page=1"), "", "connection: close\r\n"),
    ];
    let got = send(&server, &requests.concat());
    assert_eq!(got.matches("HTTP/1.1 201 Created").count(), 2);
    let next = format!("<{}/repos/{REPO}{comment}?per_page=1&page=2>; rel=\"next\"", server.url());
    assert!(got.contains(&next), "{got}");
    assert_eq!(github.comments(REPO, 1).len(), 2);
}

#[test]
fn a_cut_fault_closes_the_connection_without_an_answer() {
    let github = Arc::new(github());
    let server = Arc::clone(&github).serve();
    let comment = request("POST", "/issues/1/comments", r#"{"body":"x"}"#, "");
    for (when, done) in [(FaultTiming::BeforeEffect, 0), (FaultTiming::AfterEffect, 1)] {
        github.fail_next("POST", Fault::Cut(when));
        assert_eq!(send(&server, &comment), "");
        assert_eq!(github.comments(REPO, 1).len(), done);
    }
}

#[test]
fn dropping_the_server_ends_a_slow_request() {
    let github = Arc::new(github());
    let server = Arc::clone(&github).serve();
    github.fail_next("GET", Fault::Slow(Duration::from_secs(3600)));
    let address = server.url().strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request("GET", "", "", "").as_bytes()).unwrap();
    while github.log().is_empty() {
        std::thread::yield_now();
    }
    drop(server);
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(rest.is_empty());
}
