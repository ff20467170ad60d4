//! The schema of a persona report: its constraints, and its explanations.

use assay_findings::script_api;
use serde_json::{Map, Value, json};

/// Returns the constraints of a report, without explanations.
fn constraints() -> Value {
    let strings = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "type": "object",
        "required": ["reviewer", "findings", "residual_risks", "testing_gaps"],
        "properties": {
            "reviewer": { "type": "string" },
            "findings": { "type": "array", "items": {
                "type": "object",
                "required": [
                    "title", "severity", "file", "line", "why_it_matters", "autofix_class", "owner",
                    "requires_verification", "confidence", "evidence", "pre_existing",
                ],
                "properties": {
                    "title": { "type": "string", "maxLength": 100 },
                    "severity": { "type": "string", "enum": ["P0", "P1", "P2", "P3"] },
                    "file": { "type": "string" },
                    "line": { "type": "integer", "minimum": 1 },
                    "why_it_matters": { "type": "string" },
                    "autofix_class": {
                        "type": "string", "enum": ["safe_auto", "gated_auto", "manual", "advisory"],
                    },
                    "owner": {
                        "type": "string",
                        "enum": ["review-fixer", "downstream-resolver", "human", "release"],
                    },
                    "requires_verification": { "type": "boolean" },
                    "suggested_fix": { "type": ["string", "null"] },
                    "confidence": { "type": "integer", "enum": [0, 25, 50, 75, 100] },
                    "evidence": {
                        "type": "array", "items": { "type": "string" }, "minItems": 1,
                    },
                    "pre_existing": { "type": "boolean" },
                },
            }},
            "residual_risks": strings,
            "testing_gaps": strings,
        },
    })
}

fn schema() -> Value {
    script_api::schema("persona").unwrap()
}

/// Removes the explanations of a schema; a member called `title` is none.
fn without_annotations(schema: &Value) -> Value {
    let Some(members) = schema.as_object() else { return schema.clone() };
    let is_annotation = |(name, value): &(&String, &Value)| {
        let explains = ["$schema", "title", "description"].contains(&name.as_str());
        (explains && value.is_string()) || name.as_str() == "_meta"
    };
    let members = members.iter().filter(|member| !is_annotation(member));
    let members: Map<String, Value> =
        members.map(|(name, value)| (name.clone(), without_annotations(value))).collect();
    members.into()
}

fn names(object: &Value) -> Vec<&str> {
    object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .filter(|it| *it != "description")
        .collect()
}

#[test]
fn annotations_of_the_schema_do_not_change_its_constraints() {
    assert_eq!(without_annotations(&schema()), constraints());
}

#[test]
fn every_member_of_a_report_is_explained() {
    let schema = schema();
    let finding = &schema["properties"]["findings"]["items"];
    for part in [&schema, finding] {
        for (name, member) in part["properties"].as_object().unwrap() {
            let explained = member["description"].as_str().is_some_and(|text| text.len() > 20);
            assert!(explained, "`{name}` is not explained");
        }
    }
}

#[test]
fn every_value_of_a_report_is_defined() {
    let schema = schema();
    let (meta, finding) = (&schema["_meta"], &schema["properties"]["findings"]["items"]);
    for (part, member) in [
        ("confidence_anchors", "confidence"),
        ("severity_definitions", "severity"),
        ("autofix_classes", "autofix_class"),
        ("owners", "owner"),
    ] {
        let values = finding["properties"][member]["enum"].as_array().unwrap();
        let values: Vec<String> = values
            .iter()
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            .collect();
        assert_eq!(names(&meta[part]), values, "{part}");
    }
    assert_eq!(names(&meta["confidence_thresholds"]), ["suppress", "report"]);
}

#[test]
fn every_member_of_a_finding_is_in_exactly_one_tier() {
    let schema = schema();
    let tiers = &schema["_meta"]["return_tiers"];
    let (merge, detail) = (tiers["merge_tier"].as_str().unwrap(), &tiers["detail_tier"]);
    let details = ["why_it_matters", "evidence"];
    for name in names(&schema["properties"]["findings"]["items"]["properties"]) {
        let is_detail = details.contains(&name);
        assert_eq!(detail.as_str().unwrap().contains(name), is_detail, "{name}");
        assert_eq!(merge.contains(name), !is_detail, "{name}");
    }
}
