//! Form → plan: places, the values that can stand there, numbers and text.

use super::plan::{Category, Node, Record, Routine, State};
use super::step::{Action, Amount, Command, Out, OutputSpec, Refusal, Step, Var};
use crate::form::{Form, FormError, Index, Kind, Primitive, Text, Unit};
use forthwith_columns::DType;

/// Where a value is expected, and what comes of it.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) path: String,
    /// Before any value.
    pub(super) guard: Vec<Step>,
    /// After any value.
    pub(super) after: Vec<Step>,
    /// The state after that.
    pub(super) next: usize,
    /// Commands that are no values.
    pub(super) closers: Vec<(Command, usize)>,
    pub(super) record: Option<usize>,
    pub(super) list: Option<(Var, u64)>,
    /// The counter of values, if many can be told at once.
    pub(super) counted: Option<Var>,
}

/// One way of beginning a value.
#[derive(Clone)]
pub(super) struct Choice {
    pub(super) command: Command,
    /// The arguments with which it is meant; empty for any.
    pub(super) arguments: Vec<i64>,
    /// The better, the lower.
    pub(super) rank: u8,
    /// The alternatives of unions that lead to it, outermost first.
    pub(super) tags: Vec<usize>,
    pub(super) checks: Vec<Step>,
    pub(super) writes: Vec<Step>,
    /// Whether the value is then complete.
    pub(super) complete: bool,
    pub(super) unit: Option<Unit>,
    pub(super) length: Option<u64>,
    pub(super) category: Option<Category>,
    /// A number with nothing around it.
    pub(super) bulk: Option<(DType, char, Out)>,
}

impl Choice {
    pub(super) fn new(command: Command, rank: u8, checks: Vec<Step>, writes: Vec<Step>) -> Self {
        Self {
            command,
            arguments: Vec::new(),
            rank,
            tags: Vec::new(),
            checks,
            writes,
            complete: true,
            unit: None,
            length: None,
            category: None,
            bulk: None,
        }
    }

    /// The same within something that has to write first.
    pub(super) fn within(mut self, checks: &[Step], writes: &[Step]) -> Self {
        self.checks.splice(0..0, checks.iter().cloned());
        self.writes.splice(0..0, writes.iter().cloned());
        self.bulk = None;
        self
    }
}

/// Bits in a variable: literals have a sign.
pub(super) const BITS: usize = 31;
/// The rank of what is understood and refused all the same.
pub(super) const HOPELESS: u8 = 9;

pub(super) struct Planner {
    pub(super) outputs: Vec<OutputSpec>,
    pub(super) variables: Vec<String>,
    pub(super) states: Vec<State>,
    pub(super) routines: Vec<Routine>,
    pub(super) records: Vec<Record>,
    pub(super) names: Vec<String>,
}

impl Planner {
    pub(super) fn collect_names(&mut self, form: &Form) {
        if let Some(name) = form.record_name()
            && !self.names.iter().any(|known| known == name)
        {
            self.names.push(name.into());
        }
        form.contents().iter().for_each(|content| self.collect_names(content));
    }

    pub(super) fn output(&mut self, form: &Form, part: &str, dtype: DType, offsets: bool) -> Out {
        let name = format!("{}-{part}", key(form));
        self.outputs.push(OutputSpec { name, dtype, offsets });
        self.outputs.len() - 1
    }

    pub(super) fn variable(&mut self, what: &str, form: &Form) -> Var {
        let mut name = format!("{}-{what}", key(form));
        if self.variables.contains(&name) {
            name = format!("{name}-{}", self.variables.len());
        }
        self.variables.push(name);
        self.variables.len() - 1
    }

    pub(super) fn routine(&mut self, what: &str, action: Action) -> usize {
        let at = self.routines.len();
        self.routines.push(Routine { name: format!("{what}{at}"), action });
        at
    }

    pub(super) fn state(&mut self) -> usize {
        self.states.push(State::default());
        self.states.len() - 1
    }

    /// A place for values of a Form: its state, its node, and what a null there does.
    pub(super) fn slot(
        &mut self,
        form: &Form,
        mut place: Place,
    ) -> Result<(usize, Node, Option<Choice>), FormError> {
        let state = self.state();
        // Lists and the top level stay where they are; records go back to choosing a field.
        if place.counted.is_some() {
            place.next = state;
        }
        let (node, choices) = self.choices(form, &place)?;
        self.fill(state, &choices, &mut Vec::new(), form, &place, None);
        let null =
            choices.into_iter().find(|choice| choice.command == Command::Null && choice.rank != HOPELESS);
        Ok((state, node, null))
    }

    /// Fills a state in: everything that can be told there, if these alternatives are chosen already.
    pub(super) fn fill(
        &mut self,
        state: usize,
        choices: &[Choice],
        tags: &mut Vec<usize>,
        form: &Form,
        place: &Place,
        retag: Option<&Action>,
    ) {
        let fitting: Vec<&Choice> = choices.iter().filter(|choice| choice.tags.starts_with(tags)).collect();
        let mut filled = State {
            path: place.path.clone(),
            expected: form.type_string(),
            record: place.record,
            list: place.list,
            ..State::default()
        };
        // The alternatives first: the states behind them are needed.
        let mut alternatives: Vec<usize> =
            fitting.iter().filter_map(|choice| choice.tags.get(tags.len()).copied()).collect();
        alternatives.sort_unstable();
        alternatives.dedup();
        let mut tag = retag.cloned();
        if !alternatives.is_empty() {
            let numbered: Vec<_> = alternatives.into_iter().map(|tag| (tag, self.state())).collect();
            let cases = numbered.iter().map(|(tag, state)| {
                let steps = place.guard.iter().cloned().chain([Step::State(*state)]);
                (*tag as i64, steps.collect())
            });
            let action = Action::Cases(cases.collect());
            for (tag, state) in numbered {
                tags.push(tag);
                let inner = alternative(form, tags);
                let place = Place { path: format!("{}|{tag}", place.path), ..place.clone() };
                self.fill(state, choices, tags, inner, &place, Some(&action));
                // The message names the type of the alternative.
                self.states[state].expected = inner.type_string();
                tags.pop();
            }
            tag = Some(action);
        }

        let mut commands: Vec<Command> = Vec::new();
        for choice in &fitting {
            if !commands.contains(&choice.command) {
                commands.push(choice.command);
            }
        }
        for command in commands {
            let of: Vec<&Choice> =
                fitting.iter().copied().filter(|choice| choice.command == command).collect();
            match command {
                Command::BeginTuple | Command::BeginRecord => {
                    let mut arguments: Vec<i64> =
                        of.iter().flat_map(|choice| choice.arguments.clone()).collect();
                    arguments.sort_unstable();
                    arguments.dedup();
                    let mut cases = Vec::new();
                    for argument in arguments {
                        let meant: Vec<&Choice> = of
                            .iter()
                            .copied()
                            .filter(|choice| choice.arguments.contains(&argument))
                            .collect();
                        match best(&meant) {
                            Some(choice) => cases.push((argument, complete(choice, place, state))),
                            None => filled.ambiguous.push(command),
                        }
                    }
                    filled.actions.push((command, Action::Cases(cases)));
                }
                _ => match best(&of) {
                    Some(choice) => {
                        filled.categories.extend(choice.category.map(|category| (command, category)));
                        match command {
                            Command::Datetime => filled.datetime = choice.unit,
                            Command::Timedelta => filled.timedelta = choice.unit,
                            Command::String | Command::Bytestring => filled.length = choice.length,
                            _ => {}
                        }
                        if let (Some((dtype, parser, output)), Some(count)) = (choice.bulk, place.counted)
                            && filled.bulk.is_none()
                        {
                            filled.bulk = Some(dtype);
                            let item = dtype.size();
                            let mut steps = Vec::new();
                            if let Some((count, size)) = place.list {
                                steps.push(Step::RoomForAll { count, size, item });
                            }
                            steps.push(Step::Bulk { parser, item, output, count });
                            filled.actions.push((Command::Extend, Action::Steps(steps)));
                        }
                        filled.actions.push((command, Action::Steps(complete(choice, place, state))));
                    }
                    None => filled.ambiguous.push(command),
                },
            }
        }
        // Values can only be told again where `index` refers to the same rows.
        let again = filled.categories.iter().find(|(command, _)| *command == Command::Index);
        let again = again.map(|(_, category)| category.rows);
        filled
            .categories
            .retain(|(command, category)| *command != Command::Index && Some(category.rows) == again);
        // Likely ones first.
        filled.actions.sort_by_key(|(command, _)| (*command == Command::Extend, *command == Command::Null));
        filled.actions.extend(tag.map(|action| (Command::Tag, action)));
        for (command, routine) in &place.closers {
            if !filled.actions.iter().any(|(known, _)| known == command) {
                filled.actions.push((*command, Action::Steps(vec![Step::Call(*routine)])));
            }
        }
        self.states[state] = filled;
    }

    /// The ways in which a value of a Form can begin, with the states behind them.
    pub(super) fn choices(&mut self, form: &Form, place: &Place) -> Result<(Node, Vec<Choice>), FormError> {
        let key = key(form).to_owned();
        if let Some(text) = form.as_text() {
            return Ok(self.text(form, text));
        }
        match &form.kind {
            Kind::Empty => Ok((Node::Empty, Vec::new())),
            Kind::Numpy { primitive, shape } => match shape.split_first() {
                None => Ok(self.number(form, *primitive)),
                Some((size, rest)) => {
                    let kind = Kind::Numpy { primitive: *primitive, shape: rest.to_vec() };
                    let inner = Form { kind, ..form.clone() };
                    self.list(form, &inner, ListKind::Regular(*size), place)
                }
            },
            Kind::Regular { size, content } => self.list(form, content, ListKind::Regular(*size), place),
            Kind::ListOffset { offsets, content } => {
                self.list(form, content, ListKind::Offsets { index: *offsets, separate: false }, place)
            }
            Kind::List { starts, content } => {
                self.list(form, content, ListKind::Offsets { index: *starts, separate: true }, place)
            }
            Kind::Record { fields, contents } => self.record(form, fields.as_deref(), contents, place),
            Kind::Indexed { index, content } => {
                refuse_within(form, content, false)?;
                let output = self.output(form, "index", dtype_of(*index), false);
                let rows = self.variable("rows", form);
                let (content, inner) = self.choices(content, place)?;
                single_categories(form, &inner)?;
                let checks = below(rows, *index);
                let mut choices = within_rows(form, inner, &checks, rows, output);
                let again = vec![Step::Argument { output }];
                let mut choice = Choice::new(Command::Index, 0, vec![Step::Reference { rows }], again);
                choice.category = form.is_categorical().then_some(Category { rows, number: None });
                choices.push(choice);
                Ok((Node::Indexed { key, index: *index, output, rows, content: Box::new(content) }, choices))
            }
            Kind::IndexedOption { index, content } => {
                refuse_within(form, content, false)?;
                let output = self.output(form, "index", dtype_of(*index), false);
                let rows = self.variable("rows", form);
                let (content, inner) = self.choices(content, place)?;
                single_categories(form, &inner)?;
                let checks = below(rows, *index);
                let mut choices = within_rows(form, inner, &checks, rows, output);
                if form.is_categorical() {
                    let again = vec![Step::Argument { output }];
                    let mut choice = Choice::new(Command::Index, 0, vec![Step::Reference { rows }], again);
                    choice.category = Some(Category { rows, number: None });
                    choices.push(choice);
                }
                let null = vec![Step::Literal { value: -1, output }];
                choices.push(Choice::new(Command::Null, 0, Vec::new(), null));
                Ok((Node::Option { key, index: *index, output, content: Box::new(content) }, choices))
            }
            Kind::ByteMasked { valid_when, content } => self.masked(form, content, *valid_when, None, place),
            Kind::BitMasked { valid_when, lsb_order, content } => {
                self.masked(form, content, *valid_when, Some(*lsb_order), place)
            }
            Kind::Unmasked { content } => {
                refuse_within(form, content, false)?;
                let (content, choices) = self.choices(content, place)?;
                Ok((Node::Unmasked { content: Box::new(content) }, choices))
            }
            Kind::Union { index, contents } => self.union(form, *index, contents, place),
        }
    }

    pub(super) fn number(&mut self, form: &Form, primitive: Primitive) -> (Node, Vec<Choice>) {
        let (dtype, _) = primitive.stored();
        // Half floats wait in full precision, so that they are rounded once.
        let dtype = if primitive == Primitive::Float16 { DType::Float64 } else { dtype };
        let output = self.output(form, "data", dtype, false);
        let scalar = |parser| vec![Step::Scalar { parser, output }];
        let kept = || vec![Step::Kept { output }];
        let imaginary = |parser| vec![Step::Scalar { parser, output }, Step::Literal { value: 0, output }];
        let value = |command, rank, writes| Choice::new(command, rank, Vec::new(), writes);
        let whole = |low, high| {
            vec![
                Choice::new(Command::Integer, 0, vec![Step::Keep { low, high }], kept()),
                Choice::new(Command::Unsigned, HOPELESS, vec![Step::Refuse(Refusal::Range)], Vec::new()),
            ]
        };
        let time = |command, unit| vec![Choice { unit: Some(unit), ..value(command, 0, scalar('q')) }];
        let mut choices = match primitive {
            Primitive::Bool => vec![value(Command::Boolean, 0, scalar('?'))],
            Primitive::Int8 => whole(i8::MIN.into(), i8::MAX.into()),
            Primitive::Int16 => whole(i16::MIN.into(), i16::MAX.into()),
            Primitive::Int32 => whole(i32::MIN.into(), i32::MAX.into()),
            Primitive::UInt8 => whole(0, u8::MAX.into()),
            Primitive::UInt16 => whole(0, u16::MAX.into()),
            Primitive::UInt32 => whole(0, u32::MAX.into()),
            Primitive::Int64 => vec![
                value(Command::Integer, 0, scalar('q')),
                Choice::new(Command::Unsigned, HOPELESS, vec![Step::Refuse(Refusal::Range)], Vec::new()),
            ],
            Primitive::UInt64 => vec![
                Choice::new(Command::Integer, 0, vec![Step::Keep { low: 0, high: i64::MAX }], kept()),
                value(Command::Unsigned, 0, scalar('Q')),
            ],
            Primitive::Float16 | Primitive::Float32 | Primitive::Float64 => vec![
                value(Command::Real, 0, scalar('d')),
                value(Command::Integer, 1, scalar('q')),
                value(Command::Unsigned, 1, scalar('Q')),
            ],
            Primitive::Complex64 | Primitive::Complex128 => vec![
                value(Command::Complex, 0, vec![Step::Pair { parser: 'd', output }]),
                value(Command::Real, 1, imaginary('d')),
                value(Command::Integer, 2, imaginary('q')),
                value(Command::Unsigned, 2, imaginary('Q')),
            ],
            Primitive::Datetime64(unit) => time(Command::Datetime, unit),
            Primitive::Timedelta64(unit) => time(Command::Timedelta, unit),
        };
        let bulk = match primitive {
            Primitive::Bool | Primitive::Complex64 | Primitive::Complex128 => None,
            Primitive::Datetime64(_) | Primitive::Timedelta64(_) => None,
            _ => Some((dtype, dtype.letter(), output)),
        };
        choices[0].bulk = bulk; // every list above has a first
        (Node::Number { key: key(form).into(), primitive, output }, choices)
    }

    pub(super) fn text(&mut self, form: &Form, text: Text) -> (Node, Vec<Choice>) {
        let command = if text == Text::String { Command::String } else { Command::Bytestring };
        let content = &form.contents()[0]; // lists have one
        let bytes_key = key(content).to_owned();
        let (index, separate) = match &form.kind {
            Kind::Regular { size, .. } => {
                let output = self.output(content, "data", DType::UInt8, false);
                let writes = vec![Step::Bytes { offsets: None, data: output }];
                let mut choice = Choice::new(command, 0, vec![Step::Length { bytes: *size }], writes);
                choice.length = Some(*size);
                return (Node::Fixed { bytes_key, size: *size, output }, vec![choice]);
            }
            Kind::List { starts, .. } => (*starts, true),
            Kind::ListOffset { offsets, .. } => (*offsets, false),
            _ => (Index::I64, false), // never: strings are lists
        };
        let offsets = self.output(form, "offsets", dtype_of(index), true);
        let output = self.output(content, "data", DType::UInt8, false);
        let mut choice =
            Choice::new(command, 0, Vec::new(), vec![Step::Bytes { offsets: Some(offsets), data: output }]);
        if index != Index::I64 {
            let total = self.variable("total", form);
            choice.checks.push(Step::Fits { total, amount: Amount::Bytes, index });
            choice.writes.push(Step::Grow { total, amount: Amount::Bytes });
        }
        (Node::Text { key: key(form).into(), bytes_key, offsets, index, separate, output }, vec![choice])
    }
}

#[derive(Clone, Copy)]
pub(super) enum ListKind {
    Regular(u64),
    Offsets { index: Index, separate: bool },
}

/// Only of what is told at once it is known whether it is there already.
fn single_categories(form: &Form, inner: &[Choice]) -> Result<(), FormError> {
    if form.is_categorical() && inner.iter().any(|choice| !choice.complete) {
        return Err(FormError::Unsupported {
            what: format!("{}: categories that are no single values", form.type_string()),
        });
    }
    Ok(())
}

/// The content of the rows of an indexed node.
pub(super) fn within_rows(
    form: &Form,
    inner: Vec<Choice>,
    checks: &[Step],
    rows: Var,
    output: Out,
) -> Vec<Choice> {
    let number = match &form.contents()[0].kind {
        Kind::Numpy { primitive, .. } if inner.iter().any(|choice| choice.command == Command::Real) => {
            Some(*primitive)
        }
        _ => None,
    };
    let each = inner.into_iter().map(|choice| {
        let mut choice = choice.within(checks, &[Step::Next { rows, output }]);
        if form.is_categorical() && choice.complete {
            choice.category = Some(Category { rows, number });
        }
        choice
    });
    each.collect()
}

/// All steps of a value told in a state.
pub(super) fn complete(choice: &Choice, place: &Place, state: usize) -> Vec<Step> {
    let mut steps = place.guard.clone();
    steps.extend(choice.checks.iter().cloned());
    steps.extend(choice.writes.iter().cloned());
    if choice.complete {
        steps.extend(place.after.iter().cloned());
        if place.next != state {
            steps.push(Step::State(place.next));
        }
    }
    steps
}

/// The one that is meant; none if two are as good.
pub(super) fn best<'a>(choices: &[&'a Choice]) -> Option<&'a Choice> {
    let rank = choices.iter().map(|choice| choice.rank).min()?;
    let mut good = choices.iter().filter(|choice| choice.rank == rank);
    let first = good.next()?;
    // A null is the same in all alternatives, and so is a refusal.
    let unique = good.next().is_none() || first.command == Command::Null || rank == HOPELESS;
    unique.then_some(first)
}

/// The Form behind some alternatives.
pub(super) fn alternative<'a>(form: &'a Form, tags: &[usize]) -> &'a Form {
    match (&form.kind, tags.split_first()) {
        (Kind::Union { contents, .. }, Some((tag, rest))) => {
            contents.get(*tag).map_or(form, |content| alternative(content, rest))
        }
        (_, Some(_)) => form.contents().first().map_or(form, |content| alternative(content, tags)),
        (_, None) => form,
    }
}

pub(super) fn is_option(form: &Form) -> bool {
    matches!(
        form.kind,
        Kind::IndexedOption { .. } | Kind::ByteMasked { .. } | Kind::BitMasked { .. } | Kind::Unmasked { .. }
    )
}

/// Refuses what Awkward Array has no Forms for: options and indirections directly around each other or around unions.
pub(super) fn refuse_within(form: &Form, content: &Form, union: bool) -> Result<(), FormError> {
    let wrong = matches!(content.kind, Kind::Union { .. })
        || (!union && (is_option(content) || matches!(content.kind, Kind::Indexed { .. })));
    if !wrong {
        return Ok(());
    }
    let what = match (union, &content.kind) {
        (true, _) => "a union directly within a union",
        (false, Kind::Union { .. }) => {
            "an option or indirection directly around a union (it belongs into the alternatives)"
        }
        (false, _) => "an option or indirection directly around another",
    };
    Err(FormError::Unsupported { what: format!("{}: {what}", form.type_string()) })
}

pub(super) fn below(rows: Var, index: Index) -> Vec<Step> {
    if index == Index::I64 { Vec::new() } else { vec![Step::Below { rows, index }] }
}

/// The key of a node; all have one here.
pub(super) fn key(form: &Form) -> &str {
    form.key.as_deref().unwrap_or_default()
}

pub(super) const fn dtype_of(index: Index) -> DType {
    match index {
        Index::I32 => DType::Int32,
        Index::U32 => DType::UInt32,
        Index::I64 => DType::Int64,
    }
}
