//! Expressions as they are written.

use crate::{
    error::{Error, Fault},
    parser,
    syntax::{Kind, Node, Spelling},
};
use forthwith_columns::Form;
use std::sync::Arc;

/// A text that was understood, of whose names nothing is known yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub(crate) text: Arc<str>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) spelling: Spelling,
}

/// The meaning of a name.
#[derive(Clone, Debug)]
pub enum Named {
    /// A column of this Form.
    Column(Form),
    /// Another expression.
    Alias(Arc<Expression>),
    /// Nothing; these names are similar.
    Unknown(Vec<String>),
    /// Something that cannot be had, for this reason.
    Refused(String),
}

impl Expression {
    /// Reads an expression in Python's spelling.
    ///
    /// # Errors
    /// Text that is no expression, with the place in it.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::parse_as(text, Spelling::Python)
    }

    /// The same in another spelling.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_as(text: &str, spelling: Spelling) -> Result<Self, Error> {
        let shared: Arc<str> = text.into();
        let nodes = parser::parse(text, spelling).map_err(|fault: Fault| fault.within(&shared, None))?;
        Ok(Self { text: shared, nodes, spelling })
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of columns and aliases in it, each once, in their order. Variables of TTreeFormula, such as `Entry$`, are not
    /// among them.
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
