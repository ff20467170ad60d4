//! Methods of lists and maps whose parts are known one by one.

use std::collections::BTreeMap;

use super::form::Constant;
use super::pattern::Values;
use super::value::{FlowValue, ValueParts};

/// The maximum number of parts that are known one by one.
const MAX_PARTS: usize = 256;

/// Returns the content of a new collection.
pub(super) fn new_collection(type_name: &str, values: &Values) -> ValueParts {
    let copied = values.first().map(|(_, value)| value.content.clone());
    match (type_name, copied) {
        ("ArrayList" | "LinkedList" | "Vector" | "Stack" | "ArrayDeque", None) => {
            ValueParts::List(Vec::new())
        }
        ("ArrayList" | "LinkedList" | "Vector", Some(ValueParts::List(items))) => {
            ValueParts::List(items)
        }
        // A number is the initial size.
        ("ArrayList" | "Vector", Some(_)) if values[0].1.only_constant().is_some() => {
            ValueParts::List(Vec::new())
        }
        ("HashMap" | "LinkedHashMap" | "TreeMap" | "Hashtable" | "ConcurrentHashMap", None) => {
            ValueParts::Map(BTreeMap::new())
        }
        ("ConfigParser" | "RawConfigParser" | "SafeConfigParser", _) => {
            ValueParts::Map(BTreeMap::new())
        }
        ("HashMap" | "LinkedHashMap" | "TreeMap", Some(ValueParts::Map(items))) => {
            ValueParts::Map(items)
        }
        _ => ValueParts::Unknown,
    }
}

/// Runs a method of a collection, which may change it. Returns `None` if the method is not known.
pub(super) fn evaluate(owner: &mut FlowValue, name: &str, values: &Values) -> Option<FlowValue> {
    let parts: Vec<&FlowValue> = values.iter().map(|(_, value)| value).collect();
    if let (true, [key, default]) = (is_lookup(name), parts.as_slice()) {
        return Some(lookup(owner, key, default));
    }
    match &owner.content {
        ValueParts::List(items) if items.len() > MAX_PARTS => {
            owner.forget_parts();
            None
        }
        ValueParts::List(_) => in_list(owner, name, &parts),
        ValueParts::Map(_) if is_config_parser(owner) => in_config_parser(owner, name, &parts),
        ValueParts::Map(_) => in_map(owner, name, &parts),
        ValueParts::Unknown | ValueParts::Object(_) => None,
    }
}

fn is_lookup(name: &str) -> bool {
    matches!(name, "getProperty" | "getOrDefault")
}

/// Returns the value of a lookup with a default. The default is likely, and others are possible.
fn lookup(owner: &FlowValue, key: &FlowValue, default: &FlowValue) -> FlowValue {
    let mut value = owner.element_at(key);
    if matches!(owner.content, ValueParts::Map(_)) {
        return value.join(default);
    }
    value.taint(&default.all_taints());
    value.constants = None;
    value.likely = default.possible().cloned().collect();
    value.types = default.types.clone();
    value
}

fn in_list(owner: &mut FlowValue, name: &str, parts: &[&FlowValue]) -> Option<FlowValue> {
    let position = |value: &FlowValue| value.only_constant().and_then(|own| own.position());
    let ValueParts::List(items) = &mut owner.content else { return None };
    match (name, parts) {
        ("add" | "append" | "addElement" | "addLast" | "offer", [value]) => {
            items.push((*value).clone().into_part());
            Some(FlowValue::default())
        }
        ("push", [value]) => {
            items.push((*value).clone().into_part());
            Some(FlowValue::default())
        }
        ("add" | "insert", [at, value]) => {
            match position(at).filter(|at| *at <= items.len()) {
                Some(at) => items.insert(at, (*value).clone().into_part()),
                None => {
                    owner.forget_parts();
                    owner.taint(&value.all_taints());
                }
            }
            Some(FlowValue::default())
        }
        ("addAll" | "extend", [other]) => {
            match &other.content {
                ValueParts::List(others) => items.extend(others.iter().cloned()),
                _ => {
                    owner.forget_parts();
                    owner.taint(&other.all_taints());
                }
            }
            Some(FlowValue::default())
        }
        ("remove" | "pop", [at]) => Some(match position(at).filter(|at| *at < items.len()) {
            Some(at) => items.remove(at),
            None => {
                let element = owner.any_element();
                owner.forget_parts();
                element
            }
        }),
        ("get" | "elementAt", [at]) => Some(owner.element_at(at)),
        ("getFirst" | "firstElement", []) => Some(items.first().cloned().unwrap_or_default()),
        ("getLast" | "lastElement", []) => Some(items.last().cloned().unwrap_or_default()),
        ("set", [at, value]) => {
            owner.set_element(at, value);
            Some(FlowValue::default())
        }
        ("clear", []) => {
            items.clear();
            owner.taints.clear();
            Some(FlowValue::default())
        }
        ("toArray" | "stream" | "iterator" | "toList", _) => Some(owner.clone()),
        _ => None,
    }
}

/// Returns true for a `ConfigParser` of Python: a map whose keys are sections with options.
fn is_config_parser(owner: &FlowValue) -> bool {
    owner.types.iter().any(|name| name.ends_with("ConfigParser"))
}

fn in_config_parser(owner: &mut FlowValue, name: &str, parts: &[&FlowValue]) -> Option<FlowValue> {
    let option = |section: &FlowValue, option: &FlowValue| match (
        section.only_constant(),
        option.only_constant(),
    ) {
        (Some(Constant::Text(section)), Some(Constant::Text(option))) => {
            FlowValue::constant(Constant::Text(format!("{section}\0{option}")))
        }
        _ => FlowValue::default(),
    };
    match (name, parts) {
        ("add_section", _) => Some(FlowValue::default()),
        ("set", [section, key, value]) => {
            owner.set_element(&option(section, key), value);
            Some(FlowValue::default())
        }
        ("get", [section, key]) => Some(owner.element_at(&option(section, key))),
        _ => None,
    }
}

fn in_map(owner: &mut FlowValue, name: &str, parts: &[&FlowValue]) -> Option<FlowValue> {
    match (name, parts) {
        ("put" | "setProperty" | "putIfAbsent", [key, value]) => {
            owner.set_element(key, value);
            Some(FlowValue::default())
        }
        ("get" | "getProperty", [key]) => Some(owner.element_at(key)),
        ("get", [key, default]) => Some(owner.element_at(key).join(default)),
        ("values" | "entrySet", []) => Some(owner.any_element()),
        ("clear", []) => {
            owner.content = ValueParts::Map(BTreeMap::new());
            owner.taints.clear();
            Some(FlowValue::default())
        }
        _ => None,
    }
}
