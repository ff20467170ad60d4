//! Abstract values: [`FlowValue`], with the untrusted data that a value may carry.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::form::Constant;

/// The maximum number of constants and types that a value keeps.
const MAX_ALTERNATIVES: usize = 8;

/// The maximum nesting of contents; deeper parts are not known one by one.
const MAX_NESTING: usize = 4;

/// The label of the sanitizers that turn text into numbers.
const NUMBER: &str = "number";

/// The types whose values carry no text of a request.
const PLAIN_TYPES: [&str; 54] = [
    "int", "long", "short", "byte", "boolean", "double", "float", "char", "Integer", "Long",
    "Short", "Boolean", "Double", "Float", "UUID", "BigDecimal", "bool", "int8", "int16", "int32",
    "int64", "uint", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "time.Duration",
    "time.Time", "sbyte", "ushort", "ulong", "nint", "nuint", "decimal", "Guid", "DateTime",
    "DateTimeOffset", "DateOnly", "TimeOnly", "TimeSpan", "i8", "i16", "i32", "i64", "i128", "u8",
    "u16", "u32", "u64", "u128", "f32", "f64",
];

/// The facts about a value at a point of a function.
#[derive(Debug, Clone, Default)]
pub(super) struct FlowValue {
    /// The untrusted data in the value, at most one for each kind of source.
    pub(super) taints: Vec<Taint>,
    /// All values that are possible; `None` if they are not known.
    pub(super) constants: Option<Vec<Constant>>,
    /// Values that are likely although others are possible, such as a default of a lookup.
    pub(super) likely: Vec<Constant>,
    /// The types by simple names, or by dotted names in Python.
    pub(super) types: Vec<Rc<str>>,
    pub(super) content: ValueParts,
    /// True if the value is a class or a module and not an instance.
    pub(super) is_static: bool,
}

/// The parts of a value that are known one by one.
#[derive(Debug, Clone, Default)]
pub(super) enum ValueParts {
    #[default]
    Unknown,
    List(Vec<FlowValue>),
    Map(BTreeMap<Constant, FlowValue>),
    Object(BTreeMap<String, FlowValue>),
}

/// Data from a source.
#[derive(Debug, Clone)]
pub(super) struct Taint {
    /// The kind of the source, such as `request`.
    pub(super) kind: Rc<str>,
    /// The last place that the data passed.
    pub(super) place: Rc<TaintPlace>,
    /// The labels of the sanitizers that the data passed.
    pub(super) cleared: Vec<Rc<str>>,
}

/// A place that data passed, with the place before it.
#[derive(Debug)]
pub(super) struct TaintPlace {
    pub(super) before: Option<Rc<TaintPlace>>,
    /// The number of places up to this one.
    pub(super) length: usize,
    /// The index of the file in the analysed program.
    pub(super) file: usize,
    pub(super) line: u32,
    pub(super) code: String,
}

impl FlowValue {
    pub(super) fn constant(constant: Constant) -> FlowValue {
        let name = match constant {
            Constant::Text(_) => Some("String"),
            Constant::Integer(_) => Some("int"),
            Constant::Character(_) => Some("char"),
            Constant::Boolean(_) => Some("boolean"),
            Constant::Null => None,
        };
        FlowValue {
            constants: Some(vec![constant]),
            types: name.map(Rc::from).into_iter().collect(),
            ..FlowValue::default()
        }
    }

    pub(super) fn of_type(name: &str) -> FlowValue {
        FlowValue { types: vec![Rc::from(name)], ..FlowValue::default() }
    }

    /// Returns a class or a module.
    pub(super) fn static_of(name: &str) -> FlowValue {
        FlowValue { is_static: true, ..FlowValue::of_type(name) }
    }

    pub(super) fn with_taints(taints: Vec<Taint>) -> FlowValue {
        FlowValue { taints, ..FlowValue::default() }
    }

    /// Returns the only possible constant.
    pub(super) fn only_constant(&self) -> Option<&Constant> {
        match self.constants.as_deref() {
            Some([constant]) => Some(constant),
            _ => None,
        }
    }

    /// Returns the truth of a condition; `None` if both outcomes are possible.
    pub(super) fn truth(&self) -> Option<bool> {
        let constants = self.constants.as_deref()?;
        let first = constants.first()?.truth()?;
        constants.iter().all(|constant| constant.truth() == Some(first)).then_some(first)
    }

    /// Returns the constants that the value may have, as far as they are known.
    pub(super) fn possible(&self) -> impl Iterator<Item = &Constant> {
        self.constants.iter().flatten().chain(&self.likely)
    }

    pub(super) fn has_type(&self, name: &str) -> bool {
        self.types.iter().any(|own| &**own == name)
    }

    /// Returns the taint of the value and of its parts.
    pub(super) fn all_taints(&self) -> Vec<Taint> {
        let mut taints = Vec::new();
        self.collect_taints(&mut taints);
        taints
    }

    fn collect_taints(&self, taints: &mut Vec<Taint>) {
        add_taints(taints, &self.taints);
        self.parts().for_each(|part| part.collect_taints(taints));
    }

    /// Returns the parts that are known one by one.
    fn parts(&self) -> Box<dyn Iterator<Item = &FlowValue> + '_> {
        match &self.content {
            ValueParts::Unknown => Box::new(std::iter::empty()),
            ValueParts::List(items) => Box::new(items.iter()),
            ValueParts::Map(items) => Box::new(items.values()),
            ValueParts::Object(items) => Box::new(items.values()),
        }
    }

    /// Returns the value as a part of another value, without parts that are nested too deeply.
    pub(super) fn into_part(mut self) -> FlowValue {
        if self.nesting() + 1 >= MAX_NESTING {
            self.forget_parts();
        }
        self
    }

    fn nesting(&self) -> usize {
        self.parts().map(|part| part.nesting() + 1).max().unwrap_or(0)
    }

    /// Adds taint to the value.
    pub(super) fn taint(&mut self, taints: &[Taint]) {
        add_taints(&mut self.taints, taints);
        if !taints.is_empty() {
            self.constants = None;
        }
    }

    /// Removes the parts that are known one by one; their taint stays.
    pub(super) fn forget_parts(&mut self) {
        self.taints = self.all_taints();
        self.content = ValueParts::Unknown;
    }

    /// Marks the data of the value and of its parts as sanitized.
    pub(super) fn clear(&mut self, label: &Rc<str>) {
        self.forget_parts_of_collections();
        for taint in &mut self.taints {
            taint.clear(label);
        }
    }

    /// Returns the value as a number, whose data holds no text.
    pub(super) fn into_number(mut self) -> FlowValue {
        self.clear(&Rc::from(NUMBER));
        self
    }

    /// Returns the value without its taint.
    pub(super) fn into_trusted(mut self) -> FlowValue {
        if !self.all_taints().is_empty() {
            self.content = ValueParts::Unknown;
            self.taints.clear();
        }
        self
    }

    fn forget_parts_of_collections(&mut self) {
        if !matches!(self.content, ValueParts::Unknown) && !self.all_taints().is_empty() {
            self.forget_parts();
        }
    }

    /// Returns the element of a collection that is not known by its position.
    pub(super) fn any_element(&self) -> FlowValue {
        let mut element = FlowValue::with_taints(self.taints.clone());
        let named = self.types.iter().filter_map(|name| name.strip_prefix("[]"));
        element.types = named.map(Rc::from).collect();
        let mut parts: Option<FlowValue> = None;
        let mut add = |item: &FlowValue| {
            parts = Some(match parts.take() {
                Some(joined) => joined.join(item),
                None => item.clone(),
            });
        };
        match &self.content {
            ValueParts::Unknown | ValueParts::Object(_) => {}
            ValueParts::List(items) => items.iter().for_each(&mut add),
            ValueParts::Map(items) => items.values().for_each(&mut add),
        }
        if let Some(parts) = parts {
            let own = std::mem::take(&mut element.taints);
            element = parts;
            element.taint(&own);
        }
        element
    }

    /// Returns an element of a collection.
    pub(super) fn element_at(&self, index: &FlowValue) -> FlowValue {
        let known = index.only_constant().and_then(|index| match &self.content {
            ValueParts::List(items) => items.get(index.position()?).cloned(),
            ValueParts::Map(items) => Some(items.get(index).cloned().unwrap_or_default()),
            _ => None,
        });
        let Some(mut value) = known else { return self.any_element() };
        value.taint(&self.taints);
        value
    }

    /// Writes an element of a collection.
    pub(super) fn set_element(&mut self, index: &FlowValue, value: &FlowValue) {
        match (&mut self.content, index.only_constant()) {
            (ValueParts::Map(items), Some(key)) => {
                items.insert(key.clone(), value.clone().into_part());
            }
            (ValueParts::List(items), Some(index))
                if index.position().is_some_and(|at| at < items.len()) =>
            {
                if let Some(item) = index.position().and_then(|at| items.get_mut(at)) {
                    *item = value.clone().into_part();
                }
            }
            _ => {
                self.forget_parts();
                self.taint(&value.all_taints());
            }
        }
    }

    /// Writes a field of an object.
    pub(super) fn set_field(&mut self, name: &str, value: &FlowValue) {
        if let ValueParts::Unknown = self.content {
            self.content = ValueParts::Object(BTreeMap::new());
        }
        match &mut self.content {
            ValueParts::Object(fields) => {
                fields.insert(name.to_owned(), value.clone().into_part());
            }
            ValueParts::Map(items) => {
                items.insert(Constant::Text(name.to_owned()), value.clone().into_part());
            }
            _ => {}
        }
    }

    /// Returns the facts that hold if either value is possible.
    pub(super) fn join(&self, other: &FlowValue) -> FlowValue {
        let mut taints = self.taints.clone();
        add_taints(&mut taints, &other.taints);
        let mut types = self.types.clone();
        for name in &other.types {
            if !types.contains(name) && types.len() < MAX_ALTERNATIVES {
                types.push(Rc::clone(name));
            }
        }
        let mut joined = FlowValue {
            taints,
            constants: join_constants(self.constants.as_deref(), other.constants.as_deref()),
            likely: join_likely(self, other),
            types,
            content: ValueParts::Unknown,
            is_static: self.is_static && other.is_static,
        };
        match join_content(&self.content, &other.content) {
            Some(content) => joined.content = content,
            None => {
                add_taints(&mut joined.taints, &self.all_taints());
                add_taints(&mut joined.taints, &other.all_taints());
            }
        }
        joined
    }
}

/// Returns true if the values of a type carry no text of a request.
pub(super) fn is_plain_type(name: Option<&str>) -> bool {
    name.is_some_and(|name| PLAIN_TYPES.contains(&name))
}

fn join_constants(a: Option<&[Constant]>, b: Option<&[Constant]>) -> Option<Vec<Constant>> {
    let mut all = a?.to_vec();
    for constant in b? {
        if !all.contains(constant) {
            all.push(constant.clone());
        }
    }
    (all.len() <= MAX_ALTERNATIVES).then_some(all)
}

/// Returns the constants that either value may have.
fn join_likely(a: &FlowValue, b: &FlowValue) -> Vec<Constant> {
    let mut all: Vec<Constant> = Vec::new();
    for constant in a.possible().chain(b.possible()) {
        if !all.contains(constant) && all.len() < MAX_ALTERNATIVES {
            all.push(constant.clone());
        }
    }
    all
}

/// Joins the parts of two values; `None` if the parts do not correspond.
fn join_content(a: &ValueParts, b: &ValueParts) -> Option<ValueParts> {
    match (a, b) {
        (ValueParts::Unknown, ValueParts::Unknown) => Some(ValueParts::Unknown),
        (ValueParts::List(a), ValueParts::List(b)) if a.len() == b.len() => {
            Some(ValueParts::List(a.iter().zip(b).map(|(a, b)| a.join(b)).collect()))
        }
        (ValueParts::Map(a), ValueParts::Map(b)) => Some(ValueParts::Map(join_parts(a, b))),
        (ValueParts::Object(a), ValueParts::Object(b)) => {
            Some(ValueParts::Object(join_parts(a, b)))
        }
        // A reference that may be null has the parts of the other one.
        (ValueParts::Object(parts), ValueParts::Unknown)
        | (ValueParts::Unknown, ValueParts::Object(parts)) => {
            Some(ValueParts::Object(parts.clone()))
        }
        // The data of the other value is its own, which every element gets when it is read.
        (ValueParts::List(items), ValueParts::Unknown)
        | (ValueParts::Unknown, ValueParts::List(items)) => {
            let unknown = FlowValue::default();
            Some(ValueParts::List(items.iter().map(|item| item.join(&unknown)).collect()))
        }
        _ => None,
    }
}

fn join_parts<K: Ord + Clone>(
    a: &BTreeMap<K, FlowValue>,
    b: &BTreeMap<K, FlowValue>,
) -> BTreeMap<K, FlowValue> {
    let mut joined = a.clone();
    for (key, value) in b {
        let value = match a.get(key) {
            Some(own) => own.join(value),
            None => value.clone(),
        };
        joined.insert(key.clone(), value);
    }
    joined
}

/// Adds taints, one for each kind. Only a sanitizer that all data of a kind passed counts.
pub(super) fn add_taints(taints: &mut Vec<Taint>, others: &[Taint]) {
    for other in others {
        match taints.iter_mut().find(|own| own.kind == other.kind) {
            Some(own) => own.weaken(other),
            None => taints.push(other.clone()),
        }
    }
}

impl Taint {
    /// Returns true if the data of both comes from one place.
    pub(super) fn has_same_source(&self, other: &Taint) -> bool {
        let first = |taint: &Taint| {
            let places = std::iter::successors(Some(&taint.place), |own| own.before.as_ref());
            places.last().map(|place| (place.file, place.line, place.code.clone()))
        };
        self.kind == other.kind && first(self) == first(other)
    }

    fn weaken(&mut self, other: &Taint) {
        if other.cleared.len() < self.cleared.len() {
            self.place = Rc::clone(&other.place);
        }
        self.cleared.retain(|label| other.cleared.contains(label));
    }

    pub(super) fn clear(&mut self, label: &Rc<str>) {
        if !self.cleared.contains(label) {
            self.cleared.push(Rc::clone(label));
        }
    }
}
