//! The meaning of names in expressions: columns of the table, aliases given, and aliases of the file.

use super::{Computed, missing};
use crate::Table;
use forthwith_expr::{Expression, Named, Program, Spelling};
use forthwith_plan::{Error, ErrorKind, Result, similar_names};
use std::sync::Arc;

/// What names stand for in expressions.
pub(super) struct Names<'t> {
    table: &'t Table,
    given: Vec<(String, Arc<Expression>)>,
    own: Vec<(String, String)>,
}

impl<'t> Names<'t> {
    pub(super) fn new(table: &'t Table, aliases: &[(String, String)]) -> Result<Self> {
        let mut names = Self { table, given: Vec::new(), own: table.aliases()? };
        for (at, (name, text)) in aliases.iter().enumerate() {
            if names.exact(name)?.is_some() {
                let what = format!("the alias {name:?} is the name of a column, which it cannot replace");
                return table.here(Err(ErrorKind::Invalid { what }.into()));
            }
            if aliases[..at].iter().any(|(other, _)| other == name) {
                let what = format!("the alias {name:?} is given twice");
                return table.here(Err(ErrorKind::Invalid { what }.into()));
            }
            let expression = names.parsed(text, Spelling::Python)?;
            names.given.push((name.clone(), Arc::new(expression)));
        }
        Ok(names)
    }

    pub(super) fn parsed(&self, text: &str, spelling: Spelling) -> Result<Expression> {
        let parsed = Expression::parse_as(text, spelling);
        self.table.here(parsed.map_err(|error| ErrorKind::Invalid { what: error.to_string() }.into()))
    }

    /// The field whose path or own name it is.
    fn exact(&self, name: &str) -> Result<Option<u32>> {
        match self.table.find(name) {
            Ok(field) => Ok(Some(field)),
            Err(Error { kind: ErrorKind::NotFound { .. }, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The field that a name in an expression is: dots may stand between the parts of a path.
    pub(super) fn field(&self, name: &str) -> Result<Option<u32>> {
        if let Some(field) = self.exact(name)? {
            return Ok(Some(field));
        }
        let is_alias = self.given.iter().any(|(known, _)| known == name);
        if !name.contains('.')
            || is_alias
            || !name.chars().all(|c| c.is_alphanumeric() || c == '.' || c == '_')
        {
            return Ok(None);
        }
        self.exact(&name.replace('.', "/"))
    }

    /// A text that is no field, as an expression; a name that stands for nothing is an error with similar names.
    pub(super) fn expression(&self, text: &str) -> Result<Arc<Expression>> {
        if let Some(alias) = self.alias(text)? {
            return Ok(alias);
        }
        let parsed = Expression::parse(text);
        if parsed.as_ref().is_ok_and(|expression| expression.names() == [text]) {
            self.table.find(text)?;
        }
        match parsed {
            Ok(expression) => Ok(Arc::new(expression)),
            Err(error) => {
                // What has no operators and cannot be read was meant as a name.
                let near = similar_names(text, self.table.fields()?.iter().map(|field| field.path.as_str()));
                if near.is_empty() {
                    return self.table.here(Err(ErrorKind::Invalid { what: error.to_string() }.into()));
                }
                let what = format!(
                    "{error}\n  there is no branch of this name, either; similar: {}",
                    near.join(", ")
                );
                self.table.here(Err(ErrorKind::Invalid { what }.into()))
            }
        }
    }

    fn alias(&self, name: &str) -> Result<Option<Arc<Expression>>> {
        if let Some((_, alias)) = self.given.iter().find(|(known, _)| known == name) {
            return Ok(Some(Arc::clone(alias)));
        }
        match self.own.iter().find(|(known, _)| known == name) {
            Some((_, text)) => self.parsed(text, Spelling::TTreeFormula).map(|alias| Some(Arc::new(alias))),
            None => Ok(None),
        }
    }

    pub(super) fn program(&self, expressions: &[Arc<Expression>]) -> Result<Computed> {
        let expressions: Vec<&Expression> = expressions.iter().map(AsRef::as_ref).collect();
        let mut failed = None;
        let made = Program::new(&expressions, &mut |name| self.looked_up(name, &mut failed));
        let program = self.made(made, failed)?;
        let mut inputs = Vec::new();
        for name in program.inputs() {
            inputs.push(self.field(name)?.ok_or_else(|| missing(name))?);
        }
        Ok(Computed { program: Arc::new(program), inputs })
    }

    /// Checks the aliases that were given, whether anything uses them or not.
    pub(super) fn check_aliases(&self) -> Result<()> {
        for (name, alias) in &self.given {
            let mut failed = None;
            let made = Program::check_alias(name, alias, &mut |name| self.looked_up(name, &mut failed));
            self.made(made, failed)?;
        }
        Ok(())
    }

    /// What a name stands for; an error of the file goes into `failed`.
    fn looked_up(&self, name: &str, failed: &mut Option<Error>) -> Named {
        self.named(name).unwrap_or_else(|error| {
            let what = error.kind.to_string();
            failed.get_or_insert(error);
            Named::Refused(what)
        })
    }

    fn made<T>(
        &self,
        made: std::result::Result<T, forthwith_expr::Error>,
        failed: Option<Error>,
    ) -> Result<T> {
        match (made, failed) {
            (Ok(made), _) => Ok(made),
            // An error of the file rather than of the expression.
            (Err(_), Some(error)) => Err(error),
            (Err(error), None) => self.table.here(Err(ErrorKind::Invalid { what: error.to_string() }.into())),
        }
    }

    fn named(&self, name: &str) -> Result<Named> {
        if let Some(field) = self.field(name)? {
            return Ok(Named::Column(self.table.form(field)?));
        }
        if let Some(alias) = self.alias(name)? {
            return Ok(Named::Alias(alias));
        }
        let fields = self.table.fields()?.iter().map(|field| field.path.as_str());
        let known = fields.chain(self.given.iter().map(|(name, _)| name.as_str()));
        Ok(Named::Unknown(similar_names(name, known)))
    }
}
