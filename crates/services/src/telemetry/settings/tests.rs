use expect_test::{Expect, expect};

use super::*;

fn read(variables: &[(&str, &str)]) -> SettingsReport {
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    TraceSettings::read(variable, |text| Cow::Borrowed(text))
}

fn check(variables: &[(&str, &str)], expected: Expect) {
    let SettingsReport { settings, warnings } = read(variables);
    let mut text = settings.map_or("off\n".to_owned(), |settings| {
        format!("{:?} to {}\n", settings.encoding, settings.endpoint)
    });
    warnings.iter().for_each(|warning| text += &format!("warning: {warning}\n"));
    expected.assert_eq(&text);
}

const LOCAL: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318");

#[test]
fn the_path_of_traces_is_added_to_the_common_endpoint_alone() {
    check(&[], expect!["off\n"]);
    check(&[LOCAL], expect!["Protobuf to http://localhost:4318/v1/traces\n"]);
    check(
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "https://otel.example/base/")],
        expect!["Protobuf to https://otel.example/base/v1/traces\n"],
    );
    check(
        &[LOCAL, ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces.example/in")],
        expect!["Protobuf to https://traces.example/in\n"],
    );
    let keyed = ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://otel.example/base?tenant=7");
    let endpoint = read(&[keyed]).settings.unwrap().endpoint;
    assert_eq!(endpoint.uri().to_string(), "https://otel.example/base/v1/traces?tenant=7");
}

#[test]
fn the_export_can_be_switched_off() {
    check(&[LOCAL, ("OTEL_SDK_DISABLED", "TRUE")], expect!["off\n"]);
    check(&[LOCAL, ("OTEL_TRACES_EXPORTER", "none")], expect!["off\n"]);
    check(
        &[LOCAL, ("OTEL_SDK_DISABLED", "false"), ("OTEL_TRACES_EXPORTER", "console, otlp")],
        expect!["Protobuf to http://localhost:4318/v1/traces\n"],
    );
    check(
        &[LOCAL, ("OTEL_TRACES_EXPORTER", "zipkin")],
        expect![[r#"
            off
            warning: `OTEL_TRACES_EXPORTER` has no exporter that assay supports, so no traces are sent; use `otlp`
        "#]],
    );
}

#[test]
fn a_setting_that_cannot_be_followed_switches_the_export_off() {
    check(
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317")],
        expect![[r#"
            off
            warning: `OTEL_EXPORTER_OTLP_ENDPOINT` is not usable, so no traces are sent: expected a URL such as `http://localhost:8000/mcp`
        "#]],
    );
    check(
        &[LOCAL, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
        expect![[r#"
            off
            warning: `OTEL_EXPORTER_OTLP_PROTOCOL` has a protocol that assay does not support, so no traces are sent; use `http/protobuf` or `http/json`, on port 4318 of most collectors
        "#]],
    );
    check(
        &[LOCAL, ("OTEL_EXPORTER_OTLP_HEADERS", "no pair")],
        expect![[r#"
            off
            warning: `OTEL_EXPORTER_OTLP_HEADERS` is not `NAME=VALUE,…`, so no traces are sent
        "#]],
    );
    check(
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://otel.example:4318"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=abc"),
        ],
        expect![[r#"
            off
            warning: `OTEL_EXPORTER_OTLP_HEADERS` is sent in clear text to another machine, so no traces are sent; use an `https` endpoint, or a collector on this machine
        "#]],
    );
}

#[test]
fn other_settings_that_cannot_be_read_are_replaced_by_their_defaults() {
    check(
        &[
            LOCAL,
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "0"),
            ("OTEL_TRACES_SAMPLER", "xray"),
            ("TRACEPARENT", "00-1-2-3"),
            ("OTEL_RESOURCE_ATTRIBUTES", "team=shop,odd"),
        ],
        expect![[r#"
            Protobuf to http://localhost:4318/v1/traces
            warning: `OTEL_BSP_MAX_QUEUE_SIZE` is no positive number; 2048 is used
            warning: `OTEL_RESOURCE_ATTRIBUTES` has a part that is not `NAME=VALUE`
            warning: `OTEL_EXPORTER_OTLP_COMPRESSION` is neither `gzip` nor `none`, so traces are not compressed
            warning: `OTEL_EXPORTER_OTLP_TIMEOUT` is no number of milliseconds; 10000 is used
            warning: `OTEL_TRACES_SAMPLER` is unknown, or its ratio in `OTEL_TRACES_SAMPLER_ARG` is not from 0 to 1, so all traces are sent
            warning: `TRACEPARENT` is ignored: expected `00-TRACE-SPAN-FLAGS` with 32, 16 and 2 hexadecimal digits, as W3C Trace Context
        "#]],
    );
}

#[test]
fn headers_and_attributes_are_pairs_in_percent_encoding() {
    let settings = read(&[
        LOCAL,
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20YTpi, x-tenant = 7,"),
        (
            "OTEL_RESOURCE_ATTRIBUTES",
            "deployment.environment.name=ci,service.name=other,note=a%2Cb",
        ),
        ("OTEL_SERVICE_NAME", "shop gate"),
    ]);
    let settings = settings.settings.unwrap();
    let headers: Vec<String> = settings
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    assert_eq!(headers, ["authorization: Basic YTpi", "x-tenant: 7"]);
    assert_eq!(settings.encoding, Encoding::Json);
    let resource = |name: &str| {
        let found = settings.resource.iter().filter(|attribute| attribute.name == name);
        found.map(|attribute| attribute.value.clone()).collect::<Vec<_>>()
    };
    let text = |text: &str| vec![AttributeValue::Text(text.to_owned())];
    assert_eq!(resource("service.name"), text("shop gate"));
    assert_eq!(resource("deployment.environment.name"), text("ci"));
    assert_eq!(resource("note"), text("a,b"));
}
