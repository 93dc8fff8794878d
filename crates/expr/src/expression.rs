//! Parsed expressions.

use crate::{
    error::{Error, Fault},
    parser,
    syntax::{Kind, Node, Spelling},
};
use forthwith_columns::Form;
use std::sync::Arc;

/// A parsed text, whose names are not resolved yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub(crate) text: Arc<str>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) spelling: Spelling,
}

/// Meaning of a name.
#[derive(Clone, Debug)]
pub enum Named {
    /// A column of this Form.
    Column(Form),
    /// Another expression.
    Alias(Arc<Expression>),
    /// An unknown name, with similar ones.
    Unknown(Vec<String>),
    /// An unavailable name, with the reason.
    Refused(String),
}

impl Expression {
    /// Parses an expression in Python's syntax.
    ///
    /// # Errors
    /// The text is not an expression, with the position of the error.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::parse_as(text, Spelling::Python)
    }

    /// Parses an expression in a given syntax.
    ///
    /// # Errors
    /// Errors of [`parse`](Self::parse).
    pub fn parse_as(text: &str, spelling: Spelling) -> Result<Self, Error> {
        let shared: Arc<str> = text.into();
        let nodes = parser::parse(text, spelling).map_err(|fault: Fault| fault.within(&shared, None))?;
        Ok(Self { text: shared, nodes, spelling })
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the distinct names of columns and aliases in order of occurrence, without variables of
    /// TTreeFormula such as `Entry$`.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut found = Vec::new();
        for node in &self.nodes {
            if let Kind::Name { name, .. } = &node.kind
                && !name.ends_with('$')
                && !found.contains(&name.as_str())
            {
                found.push(name.as_str());
            }
        }
        found
    }
}
