//! Compilation of syntax to steps: names are resolved, types are checked, and lists are aligned.

mod decimals;
mod element;
mod formula;
mod iteration;
mod leaf;
mod lists;
mod logic;
mod statistics;
mod subscripts;
mod times;

pub(crate) use leaf::{Leaf, is_list};
use leaf::{has_options, without_options};

use crate::{
    error::{Error, Fault, Span},
    expression::{Expression, Named},
    functions,
    program::{CONSTANT, ENTRIES, Input, Kind, Made, Output, Program, Register, Space, SpaceId, Step, Text},
    scalar::{Number, Typed},
    syntax::{self, Spelling},
};
use forthwith_columns::LogicalType;
use std::{collections::HashMap, sync::Arc};

/// Upper bound on the nesting of aliases.
const DEEPEST: usize = 50;
/// Upper bound on the steps of a program.
const MOST: usize = 100_000;

impl Program {
    /// Compiles expressions. `names` resolves a name; it is called once for each.
    ///
    /// # Errors
    /// Returns an error, with the position in the text, if a name is unknown, if an operation does not
    /// support the types of its operands, or if lists of fixed length differ in length.
    pub fn new(expressions: &[&Expression], names: &mut dyn FnMut(&str) -> Named) -> Result<Self, Error> {
        let mut forms = Vec::new();
        let program = Self::checked(expressions, &mut |name| {
            let named = names(name);
            forms.push((name.to_owned(), named.clone()));
            named
        })?;
        let may_lack = |input: &Input| has_options(&input.form);
        if !program.inputs.iter().any(may_lack) {
            return Ok(program);
        }
        let plain = Self::checked(expressions, &mut |name| {
            let known = forms.iter().find(|(known, _)| known == name).map(|(_, named)| named.clone());
            match known {
                Some(Named::Column(form)) => Named::Column(without_options(form)),
                Some(named) => named,
                None => Named::Unknown(Vec::new()),
            }
        })?;
        // Both variants have to take the same arrays.
        let same = |(a, b): (&Input, &Input)| a.name == b.name && a.used == b.used;
        let is_alike =
            plain.inputs.len() == program.inputs.len() && program.inputs.iter().zip(&plain.inputs).all(same);
        Ok(Self { plain: is_alike.then(|| Arc::new(plain)), ..program })
    }

    /// Checks an alias that may be unused. Its value may have any type that an expression can use, such as a
    /// text.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new).
    pub fn check_alias(
        name: &str,
        alias: &Expression,
        names: &mut dyn FnMut(&str) -> Named,
    ) -> Result<(), Error> {
        let mut compiler = Compiler::new(names);
        compiler.within.push(name.to_owned());
        compiler.expression(alias, Some(name)).map(|_| ())
    }

    fn checked(expressions: &[&Expression], names: &mut dyn FnMut(&str) -> Named) -> Result<Self, Error> {
        let mut compiler = Compiler::new(names);
        let mut outputs = Vec::new();
        for expression in expressions {
            let value = compiler.expression(expression, None)?;
            let whole = Span::new(0, expression.text.len());
            let output = compiler.output(&value, whole);
            outputs.push(output.map_err(|fault| fault.within(&expression.text, None))?);
        }
        let Compiler { texts, inputs, spaces, steps, .. } = compiler;
        Ok(Self { texts, inputs, spaces, steps, outputs, plain: None })
    }
}

/// The value of a node.
#[derive(Clone, Debug)]
enum Value {
    /// A constant number, which takes the type of the other operand.
    Number(Number),
    /// A constant text.
    Text(Arc<str>),
    /// A column, by the index of its input.
    Column(u32),
    Operand(Operand),
}

/// Values in registers.
#[derive(Clone, Copy, Debug)]
struct Operand {
    register: Register,
    kind: Kind,
    space: SpaceId,
    /// Validity of the values, if some may be missing.
    valid: Option<Register>,
    /// Validity of its lists: a row of [`Compiler::list_validity`].
    lists: u32,
}

struct Compiler<'n> {
    names: &'n mut dyn FnMut(&str) -> Named,
    texts: Vec<Text>,
    inputs: Vec<Input>,
    spaces: Vec<Space>,
    /// A space whose lists are known to equal those of a space; the space itself for a representative.
    same: Vec<SpaceId>,
    interned: HashMap<Space, SpaceId>,
    steps: Vec<Made>,
    known: HashMap<Step, Register>,
    aliases: HashMap<String, Value>,
    /// Validity of lists: rows with a register for each level from the outside in, or `None` for a level
    /// without missing lists. The first row is empty, since all lists are valid; other rows end with a
    /// register.
    list_validity: Vec<Vec<Option<Register>>>,
    /// Aliases that are being compiled, outermost first.
    within: Vec<String>,
    /// Index of the text that is being compiled.
    text: u32,
    /// Whether the rules of TTreeFormula apply.
    formula: bool,
}

type Checked<T> = Result<T, Fault>;

impl<'n> Compiler<'n> {
    fn new(names: &'n mut dyn FnMut(&str) -> Named) -> Self {
        Self {
            names,
            texts: Vec::new(),
            inputs: Vec::new(),
            spaces: vec![Space::Constant, Space::Entries],
            same: vec![CONSTANT, ENTRIES],
            interned: HashMap::new(),
            steps: Vec::new(),
            known: HashMap::new(),
            aliases: HashMap::new(),
            list_validity: vec![Vec::new()],
            within: Vec::new(),
            text: 0,
            formula: false,
        }
    }
}

impl Compiler<'_> {
    fn expression(&mut self, expression: &Expression, alias: Option<&str>) -> Result<Value, Error> {
        let outer = (self.text, self.formula);
        self.text = self.texts.len() as u32;
        let text = Text { text: Arc::clone(&expression.text), alias: alias.map(str::to_owned) };
        self.texts.push(text);
        let iterations = self.iterations(expression, alias)?;
        let mut values: Vec<Value> = Vec::with_capacity(expression.nodes.len());
        for (id, node) in (0..).zip(&expression.nodes) {
            self.formula = expression.spelling == Spelling::TTreeFormula;
            let value = match &node.kind {
                syntax::Kind::Name { name, quoted } => {
                    self.named(expression, name, *quoted, node.at, alias)?
                }
                syntax::Kind::Iteration { length } => {
                    self.iteration(*length, iterations.get(&id), node.at)
                        .map_err(|fault| fault.within(&expression.text, alias))?
                }
                _ => self.node(node, &values).map_err(|fault| fault.within(&expression.text, alias))?,
            };
            values.push(value);
        }
        (self.text, self.formula) = outer;
        values
            .pop()
            .ok_or_else(|| Fault::new(Span::default(), "an empty expression").within(&expression.text, alias))
    }

    fn named(
        &mut self,
        expression: &Expression,
        name: &str,
        quoted: bool,
        at: Span,
        alias: Option<&str>,
    ) -> Result<Value, Error> {
        if let Some(known) = self.aliases.get(name) {
            return Ok(known.clone());
        }
        let here = |what: String| Fault::new(at, what).within(&expression.text, alias);
        if self.within.iter().any(|outer| outer == name) {
            return Err(here(format!("the alias {name:?} refers to itself")));
        }
        let value = match (self.names)(name) {
            Named::Column(form) => {
                self.inputs.push(Input { name: name.to_owned(), form, path: Vec::new(), used: false });
                Value::Column(self.inputs.len() as u32 - 1)
            }
            Named::Alias(inner) => {
                if self.within.len() >= DEEPEST {
                    return Err(here(format!("more than {DEEPEST} aliases within each other")));
                }
                self.within.push(name.to_owned());
                let value = self.expression(&inner, Some(name))?;
                self.within.pop();
                value
            }
            Named::Unknown(near) => match functions::constant(name) {
                Some(constant) if !quoted => Value::Number(Number::Float(constant)),
                _ => {
                    if let Some(why) = functions::refused(name) {
                        return Err(here(format!("{name} is not supported: {why}")));
                    }
                    let near = functions::suggested(&near);
                    return Err(here(format!("there is no column {name:?}{near}")));
                }
            },
            Named::Refused(what) => return Err(here(what)),
        };
        self.aliases.insert(name.to_owned(), value.clone());
        Ok(value)
    }

    fn node(&mut self, node: &syntax::Node, values: &[Value]) -> Checked<Value> {
        let at = node.at;
        let value = |id: syntax::Id| &values[id as usize];
        if self.formula
            && let Some(value) = self.formula_node(node, values)?
        {
            return Ok(value);
        }
        match &node.kind {
            syntax::Kind::Int(value) => Ok(Value::Number(Number::Int(*value))),
            syntax::Kind::Float(value) => Ok(Value::Number(Number::Float(*value))),
            syntax::Kind::Bool(value) => Ok(Value::Number(Number::Bool(*value))),
            syntax::Kind::Text(text) => Ok(Value::Text(text.as_str().into())),
            syntax::Kind::Name { .. } | syntax::Kind::Iteration { .. } => {
                Err(Fault::new(at, "a name was not looked up"))
            }
            syntax::Kind::Unary(operation, x) => self.unary(*operation, value(*x), at),
            syntax::Kind::Binary(operation, x, y) => self.binary(*operation, value(*x), value(*y), at),
            syntax::Kind::Where(condition, x, y) => self.choose(value(*condition), value(*x), value(*y), at),
            syntax::Kind::Cast(to, x) => self.converted(*to, value(*x), at),
            syntax::Kind::Filter { items, condition } => self.filter(value(*items), value(*condition), at),
            syntax::Kind::Reduce { by, items, axis } => self.reduce(*by, value(*items), *axis, at),
            syntax::Kind::IsNone { x, axis } => self.is_none(value(*x), *axis, at),
            syntax::Kind::Item { items, position } => self.item(value(*items), *position, at),
            syntax::Kind::Subscript { items, selectors, innermost } => {
                self.subscript(value(*items), selectors, *innermost, at)
            }
            syntax::Kind::Round { x, digits } => self.rounded(value(*x), *digits, at),
            syntax::Kind::Contains { text, part } => self.contains(value(*text), value(*part), at),
            syntax::Kind::ReduceEntry { by, items } => self.of_entry(*by, value(*items), at),
            syntax::Kind::FilterEntry { items, condition } => {
                self.filter_entry(value(*items), value(*condition), at)
            }
            syntax::Kind::Alternative(x, y) => self.alternative(value(*x), value(*y), at),
            syntax::Kind::Formula(function, x) => self.formula_function(*function, value(*x), at),
        }
    }

    fn output(&mut self, value: &Value, at: Span) -> Checked<Output> {
        if let Value::Column(input) = value {
            return Ok(Output::Column(*input));
        }
        if let Value::Text(text) = value {
            let what =
                format!("a text alone is no column: the name of a column has no quotes, as in `{text}`");
            return Err(Fault::new(at, what));
        }
        let operand = self.operand(value, at)?;
        let dtype = match operand.kind {
            Kind::Number(dtype) => dtype,
            Kind::Text => return Err(Fault::new(at, "a text alone is no column")),
            Kind::Time(_, meaning) => return Err(Fault::new(at, only_compared(meaning))),
        };
        let path = if operand.space == CONSTANT { Vec::new() } else { self.path(operand.space) };
        let lists = (0..path.len()).map(|level| self.lists_there(operand, level)).collect();
        Ok(Output::Numbers { dtype, values: operand.register, valid: operand.valid, path, lists })
    }

    /// Loads a value into registers. A constant number gets its default type.
    fn operand(&mut self, value: &Value, at: Span) -> Checked<Operand> {
        match value {
            Value::Operand(operand) => Ok(*operand),
            Value::Number(number) => {
                let dtype = number.own_type();
                let typed =
                    number.typed(dtype).ok_or_else(|| Fault::new(at, format!("{number} is too large")))?;
                self.constant(typed, at)
            }
            Value::Text(_) => Err(Fault::new(at, "text against numbers")),
            Value::Column(input) => self.load(*input, at),
        }
    }

    fn constant(&mut self, typed: Typed, at: Span) -> Checked<Operand> {
        let register = self.step(Step::Constant(typed), CONSTANT, at)?;
        Ok(Operand { register, kind: Kind::Number(typed.dtype), space: CONSTANT, valid: None, lists: 0 })
    }

    fn load(&mut self, input: u32, at: Span) -> Checked<Operand> {
        let Input { name, form, .. } = &self.inputs[input as usize];
        let kind = Leaf::of(form).kind.map_err(|what| {
            let what = format!("{name:?} is {}: {what}", form.type_string());
            Fault::new(at, what)
        })?;
        let there = self.presence(input, at)?;
        let dtype = (kind != Kind::Text).then(|| kind.dtype());
        let loaded = self.made(Step::Load { input, dtype }, there, at)?;
        Ok(Operand { kind, ..loaded })
    }

    /// Loads the validity of a column and of its lists. The register of the operand does not have values.
    fn presence(&mut self, input: u32, at: Span) -> Checked<Operand> {
        let leaf = Leaf::of(&self.inputs[input as usize].form);
        let mut space = ENTRIES;
        let (mut path, mut there) = (Vec::new(), Vec::new());
        for (level, found) in leaf.levels.iter().enumerate() {
            there.push(match found.lacking {
                true => {
                    let step = Step::ListsValid { input, level: level as u32 };
                    Some(self.step(step, space, at)?)
                }
                false => None,
            });
            space = self.space(match &found.size {
                None => Space::Lists { parent: space, input, level: level as u32 },
                Some(size) => Space::Regular { parent: space, size: *size },
            });
            path.push(space);
        }
        self.inputs[input as usize].path = path;
        self.inputs[input as usize].used = true;
        let valid = match leaf.lacking {
            true => Some(self.step(Step::Valid { input }, space, at)?),
            false => None,
        };
        let lists = self.levels_there(there);
        Ok(Operand { register: Register::MAX, kind: Kind::Text, space, valid, lists })
    }

    fn space(&mut self, space: Space) -> SpaceId {
        if let Some(known) = self.interned.get(&space) {
            return *known;
        }
        let id = self.spaces.len() as SpaceId;
        self.spaces.push(space.clone());
        self.same.push(id);
        self.interned.insert(space, id);
        id
    }

    /// Returns the register of a step. Equal steps are computed once.
    fn step(&mut self, step: Step, space: SpaceId, at: Span) -> Checked<Register> {
        if let Some(known) = self.known.get(&step) {
            return Ok(*known);
        }
        if self.steps.len() >= MOST {
            return Err(Fault::new(at, format!("more than {MOST} steps to compute")));
        }
        let register = self.steps.len() as Register;
        self.known.insert(step.clone(), register);
        self.steps.push(Made { step, space, text: self.text, at });
        Ok(register)
    }

    /// Adds a step whose result has a value for each value of another operand.
    fn made(&mut self, step: Step, like: Operand, at: Span) -> Checked<Operand> {
        let kind = step.kind();
        Ok(Operand { register: self.step(step, like.space, at)?, kind, ..like })
    }
}

fn only_compared(meaning: LogicalType) -> String {
    if matches!(meaning, LogicalType::Decimal { .. }) {
        return format!(
            "a {meaning} can only be compared, counted, and asked for by is_none; float64(…) makes floats of it"
        );
    }
    format!("a {meaning} can only be compared, counted, and asked for by is_none")
}
