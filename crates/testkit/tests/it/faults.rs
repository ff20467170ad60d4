//! Each fault, as it is seen on the wire.

use std::io::{BufRead, BufReader, Read};
use std::time::{Duration, UNIX_EPOCH};

use assay_testkit::model::{Cut, FakeModel, Fault, FixedAnswer, Pause, RetryAfter, Script};
use serde_json::Value;

use crate::{ALL, CHAT, HttpReply, MESSAGES, RESPONSES, ask, body, connect, request};

const SAID: &str = r#"{"findings":[],"residual_risks":["some text to cut in two"]}"#;

fn failing(fault: Fault) -> FakeModel {
    FakeModel::start(FixedAnswer(SAID.to_owned()).with_fault(.., fault))
}

fn check(fault: Fault, stream: bool, expected: impl Fn(&str, HttpReply)) {
    let server = failing(fault);
    for path in ALL {
        expected(path, ask(&server, path, &body(path, "hello", stream)));
    }
}

#[test]
fn an_error_status_has_the_error_body_of_its_provider() {
    for code in [400, 401, 403, 404, 413, 429, 500, 503, 529] {
        check(Fault::status(code), true, |path, got| {
            assert_eq!(got.status, code);
            assert!(!got.head.contains("retry-after"));
            let error = &got.json()["error"];
            assert!(!error["message"].as_str().unwrap().is_empty());
            assert_eq!(path == MESSAGES, got.json()["type"] == "error");
            assert_eq!(path == MESSAGES, error.get("code").is_none());
        });
    }
    check(Fault::status(529), true, |path, got| {
        let expected = if path == MESSAGES { "overloaded_error" } else { "server_error" };
        assert_eq!(got.json()["error"]["type"], expected);
    });
}

#[test]
fn retry_after_is_sent_as_seconds_or_as_a_date() {
    let too_many_requests =
        |retry_after| Fault::Status { code: 429, retry_after: Some(retry_after) };
    check(too_many_requests(RetryAfter::Seconds(7)), true, |_, got| {
        assert!(got.head.contains("\r\nretry-after: 7\r\n"));
    });
    let time = UNIX_EPOCH + Duration::from_secs(784_111_777);
    check(too_many_requests(RetryAfter::At(time)), true, |_, got| {
        assert!(got.head.contains("\r\nretry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n"));
    });
}

#[test]
fn a_too_long_prompt_and_missing_credit_are_reported_in_the_words_of_the_provider() {
    check(Fault::PromptTooLong, true, |path, got| {
        let words = if path == MESSAGES { "prompt is too long" } else { "context_length_exceeded" };
        assert!(got.status == 400 && got.body.contains(words));
    });
    check(Fault::NoCredit, true, |path, got| match path {
        MESSAGES => assert!(got.status == 400 && got.body.contains("credit balance is too low")),
        _ => assert!(got.status == 429 && got.body.contains("insufficient_quota")),
    });
}

#[test]
fn a_hang_sends_the_part_before_its_pause_and_ends_with_the_server() {
    for (pause, stream) in [
        (Pause::BeforeHead, true),
        (Pause::AfterHead, true),
        (Pause::AfterHead, false),
        (Pause::MidStream, true),
        (Pause::MidStream, false),
    ] {
        for path in ALL {
            let server = failing(Fault::Hang(pause));
            let sent = request(path, &body(path, "hello", stream).to_string());
            let mut client = BufReader::new(connect(&server, &sent));
            server.wait_for(1);
            // The part before the hang must arrive before the server is dropped.
            let mut bytes = Vec::new();
            while pause != Pause::BeforeHead && !bytes.ends_with(b"\r\n\r\n") {
                client.read_until(b'\n', &mut bytes).unwrap();
            }
            if pause == Pause::MidStream {
                client.fill_buf().unwrap();
            }
            drop(server);
            client.read_to_end(&mut bytes).unwrap();
            let rest = String::from_utf8(bytes).unwrap();
            assert_eq!(rest.starts_with("HTTP/1.1 200"), pause != Pause::BeforeHead);
            let has_body = rest.split_once("\r\n\r\n").is_some_and(|(_, body)| !body.is_empty());
            assert_eq!(has_body, pause == Pause::MidStream, "{rest}");
            assert!(!rest.ends_with("\r\n0\r\n\r\n"));
        }
    }
}

#[test]
fn a_body_is_cut_at_the_requested_byte() {
    for stream in [true, false] {
        let cut = |by| Fault::Cut { after: 100, by };
        check(cut(Cut::Close), stream, |_, got| {
            assert_eq!((got.body.len(), got.is_whole, got.is_reset), (100, false, false));
        });
        check(cut(Cut::Reset), stream, |_, got| {
            assert_eq!((got.body.len(), got.is_whole), (100, false));
            assert!(got.is_reset || !cfg!(target_os = "linux"));
        });
        check(cut(Cut::Neatly), stream, |_, got| {
            assert_eq!((got.body.len(), got.is_whole, got.is_reset), (100, true, false));
        });
    }
}

#[test]
fn bad_events_contain_invalid_json() {
    check(Fault::BadEvents, false, |_, got| {
        assert!(got.is_whole && serde_json::from_str::<Value>(&got.body).is_err());
    });
    check(Fault::BadEvents, true, |_, got| {
        let data = got.body.lines().filter_map(|line| line.strip_prefix("data: "));
        let is_broken = |data: &&str| serde_json::from_str::<Value>(data).is_err();
        let broken = data.filter(|data| *data != "[DONE]").filter(is_broken).count();
        assert!(got.is_whole && broken == 1, "{}", got.body);
    });
}

#[test]
fn the_garbage_fault_answers_with_an_html_page() {
    check(Fault::Garbage, true, |_, got| {
        assert!(got.status == 200 && got.head.contains("text/html"));
        assert!(got.body.starts_with("<!DOCTYPE html>"));
    });
}

#[test]
fn an_empty_answer_has_no_text() {
    check(Fault::Empty, false, |path, got| {
        let got = got.json();
        match path {
            MESSAGES => assert_eq!(got["content"], Value::Array(Vec::new())),
            CHAT => assert_eq!(got["choices"][0]["message"]["content"], ""),
            _ => assert_eq!(got["output"][0]["content"][0]["text"], ""),
        }
    });
    check(Fault::Empty, true, |_, got| assert!(!got.body.contains("_delta\"}")));
}

#[test]
fn a_refusal_is_reported_in_the_format_of_the_provider() {
    for stream in [true, false] {
        check(Fault::Refusal, stream, |path, got| {
            let sign = match path {
                MESSAGES => r#""stop_reason":"refusal""#,
                CHAT => r#""finish_reason":"content_filter""#,
                _ => r#""type":"refusal""#,
            };
            assert!(got.body.contains(sign), "{}", got.body);
        });
    }
}

#[test]
fn a_cut_off_answer_reports_the_token_limit_as_its_stop_reason() {
    for stream in [true, false] {
        check(Fault::CutOff, stream, |path, got| {
            let sign = match path {
                MESSAGES => r#""stop_reason":"max_tokens""#,
                CHAT => r#""finish_reason":"length""#,
                _ => r#""incomplete_details":{"reason":"max_output_tokens"}"#,
            };
            assert!(got.body.contains(sign) && !got.body.contains("cut in two"), "{}", got.body);
            assert_eq!(
                got.body.contains("event: response.incomplete"),
                stream && path == RESPONSES
            );
        });
    }
}

#[test]
fn an_error_event_can_occur_in_the_middle_of_a_stream() {
    check(Fault::ErrorEvent, true, |path, got| {
        assert!(got.status == 200 && got.is_whole);
        let last = got.data().pop().unwrap();
        match path {
            MESSAGES => assert_eq!(last["error"]["type"], "overloaded_error"),
            CHAT => assert_eq!(last["error"]["type"], "server_error"),
            _ => assert_eq!(last["response"]["error"]["code"], "server_error"),
        }
    });
    check(Fault::ErrorEvent, false, |_, got| assert_eq!(got.status, 500));
}

#[test]
fn json_can_come_in_place_of_a_stream() {
    check(Fault::NotStreamed, true, |_, got| {
        assert!(got.head.contains("content-type: application/json"));
        assert!(got.json().is_object());
    });
}

#[test]
fn json_can_be_of_another_schema() {
    check(Fault::WrongSchema, false, |_, got| assert!(got.body.contains("of_no_schema")));
}

#[test]
fn a_slow_answer_arrives_complete() {
    let slow = Fault::Drip { bytes: 64, every: Duration::from_millis(1) };
    for stream in [true, false] {
        check(slow.clone(), stream, |_, got| {
            assert!(got.is_whole);
            assert!(if stream { got.data().len() > 3 } else { got.json().is_object() });
        });
    }
}

#[test]
fn a_fault_affects_only_the_requests_of_its_range() {
    let script = FixedAnswer(SAID.to_owned())
        .with_fault(1..=1, Fault::status(429))
        .with_fault(3.., Fault::status(500));
    let server = FakeModel::start(script);
    let status = || ask(&server, CHAT, &body(CHAT, "hello", false)).status;
    assert_eq!([status(), status(), status(), status()], [429, 200, 500, 500]);
}
