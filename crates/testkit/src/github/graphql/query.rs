//! A parser of GraphQL: [`Operation`], for the part of the language that our client uses.

use serde_json::{Map, Value, json};

/// An operation with its variables replaced.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) is_mutation: bool,
    pub(super) fields: Vec<Field>,
}

/// A selected field.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
    pub(super) inner: Vec<Field>,
}

/// The remaining tokens, and the variables.
struct Reader<'a> {
    tokens: Vec<String>,
    at: usize,
    given: &'a Map<String, Value>,
    declared: Vec<String>,
    used: Vec<String>,
}

/// Returns the kind and the name of the operation in a body: `("query", "ReviewState")`.
pub(in crate::github) fn title(body: &Value) -> Option<(String, String)> {
    let tokens = tokens(body["query"].as_str()?).ok()?;
    let mut tokens = tokens.into_iter();
    Some((tokens.next()?, tokens.next()?))
}

impl Operation {
    /// Parses the only operation of a text. The error is the message that GitHub returns.
    pub(super) fn parse(text: &str, given: &Map<String, Value>) -> Result<Operation, String> {
        let tokens = tokens(text)?;
        let mut reader = Reader { tokens, at: 0, given, declared: Vec::new(), used: Vec::new() };
        let is_mutation = match reader.next()?.as_str() {
            "query" => false,
            "mutation" => true,
            other => return Err(format!("Parse error on \"{other}\"")),
        };
        reader.name()?;
        if reader.takes("(") {
            while !reader.takes(")") {
                reader.declaration()?;
            }
        }
        reader.expect("{")?;
        let fields = reader.selection()?;
        if reader.at < reader.tokens.len() {
            return Err(format!("Parse error on \"{}\"", reader.tokens[reader.at]));
        }
        reader.check_variables()?;
        Ok(Operation { is_mutation, fields })
    }
}

impl Reader<'_> {
    fn next(&mut self) -> Result<String, String> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token.ok_or_else(|| "Unexpected end of document".to_owned())
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_next = self.tokens.get(self.at).is_some_and(|token| token == sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        match self.next()? {
            token if token == sign => Ok(()),
            token => Err(format!("Parse error on \"{token}\", expected \"{sign}\"")),
        }
    }

    fn name(&mut self) -> Result<String, String> {
        let name = self.next()?;
        match name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            true => Ok(name),
            false => Err(format!("Parse error on \"{name}\", expected a name")),
        }
    }

    /// Parses `$name: Type!`, and checks the value of the variable.
    fn declaration(&mut self) -> Result<(), String> {
        self.expect("$")?;
        let name = self.name()?;
        self.expect(":")?;
        let kind = self.name()?;
        let is_required = self.takes("!");
        let given = self.given.get(&name).unwrap_or(&Value::Null);
        let fits = match kind.as_str() {
            "String" | "ID" => given.is_string(),
            "Int" => given.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
            "Boolean" => given.is_boolean(),
            _ => return Err(format!("{kind} isn't a defined input type (on ${name})")),
        };
        if !fits && (is_required || !given.is_null()) {
            let kind = if is_required { format!("{kind}!") } else { kind };
            return Err(format!("Variable ${name} of type {kind} was provided invalid value"));
        }
        self.declared.push(name);
        Ok(())
    }

    fn check_variables(&self) -> Result<(), String> {
        if let Some(name) = self.declared.iter().find(|name| !self.used.contains(name)) {
            return Err(format!("Variable ${name} is declared but not used"));
        }
        match self.given.keys().find(|name| !self.declared.contains(name)) {
            Some(name) => Err(format!("Variable ${name} is given but not declared")),
            None => Ok(()),
        }
    }

    /// Parses fields up to the closing brace.
    fn selection(&mut self) -> Result<Vec<Field>, String> {
        let mut fields = Vec::new();
        while !self.takes("}") {
            let name = self.name()?;
            let mut arguments = Map::new();
            if self.takes("(") {
                while !self.takes(")") {
                    let (name, value) = self.argument()?;
                    arguments.insert(name, value);
                }
            }
            let inner = if self.takes("{") { self.selection()? } else { Vec::new() };
            fields.push(Field { name, arguments, inner });
        }
        Ok(fields)
    }

    fn argument(&mut self) -> Result<(String, Value), String> {
        let name = self.name()?;
        self.expect(":")?;
        Ok((name, self.value()?))
    }

    fn value(&mut self) -> Result<Value, String> {
        let token = self.next()?;
        Ok(match token.as_str() {
            "$" => {
                let name = self.name()?;
                if !self.declared.contains(&name) {
                    return Err(format!("Variable ${name} is used but not declared"));
                }
                let value = self.given.get(&name).cloned().unwrap_or_default();
                self.used.push(name);
                value
            }
            "{" => {
                let mut fields = Map::new();
                while !self.takes("}") {
                    let (name, value) = self.argument()?;
                    fields.insert(name, value);
                }
                Value::Object(fields)
            }
            "null" => Value::Null,
            "true" | "false" => json!(token == "true"),
            // Strings and numbers are written as in JSON, and enums are treated as strings.
            _ => serde_json::from_str(&token).unwrap_or_else(|_| json!(token)),
        })
    }
}

/// Splits a text into words, numbers, strings and punctuation.
fn tokens(text: &str) -> Result<Vec<String>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = match first {
            ',' => 1,
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' => {
                let end = rest[1..].find('"').ok_or("Parse error on an open string")?;
                end + 2
            }
            c if is_word(c) || c == '-' => {
                rest[1..].find(|c| !is_word(c)).map_or(rest.len(), |end| end + 1)
            }
            '{' | '}' | '(' | ')' | ':' | '!' | '$' => 1,
            other => return Err(format!("Parse error on \"{other}\"")),
        };
        if first != ',' && first != '#' {
            tokens.push(rest[..length].to_owned());
        }
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}
