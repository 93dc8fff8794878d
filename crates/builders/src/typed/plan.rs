//! From a Form to all that a builder of it can be told, and when.

use super::program::{self, BLANK, FIXED, LENGTH};
use super::step::{Action, Amount, Command, OutputSpec, Refusal, Step};
pub(crate) use super::step::{Out, Var};
use crate::form::{Form, FormError, Index, Kind, Primitive, Text, Unit};
use forthwith_columns::DType;
use forthwith_forth::Dtype;
use std::collections::HashSet;

/// All there is to know about building one Form.
#[derive(Debug)]
pub(crate) struct Plan {
    /// With keys.
    pub(crate) form: Form,
    pub(crate) outputs: Vec<OutputSpec>,
    /// The names of the program's variables.
    pub(crate) variables: Vec<String>,
    pub(crate) states: Vec<State>,
    pub(crate) routines: Vec<Routine>,
    pub(crate) records: Vec<Record>,
    /// Names that `begin_record` knows; their numbers, from 1, are its arguments.
    pub(crate) names: Vec<String>,
    pub(crate) root: Node,
    pub(crate) source: String,
}

/// A place in the structure at which a builder can be, and what it can be told there.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) path: String,
    /// The type expected here, or of the record that is open.
    pub(crate) expected: String,
    pub(crate) actions: Vec<(Command, Action)>,
    /// Commands that several alternatives understand.
    pub(crate) ambiguous: Vec<Command>,
    /// The record whose fields can be selected.
    pub(crate) record: Option<usize>,
    /// The list of one length that is open.
    pub(crate) list: Option<(Var, u64)>,
    /// Items that [`Command::Extend`] takes.
    pub(crate) bulk: Option<DType>,
    /// The units of the times that can be told here.
    pub(crate) datetime: Option<Unit>,
    pub(crate) timedelta: Option<Unit>,
    /// Commands whose values are categories: in the rows that this variable counts.
    pub(crate) categories: Vec<(Command, Category)>,
    /// The length of the strings that can be told here, if it is always the same.
    pub(crate) length: Option<u64>,
}

/// Single values of which a column has each once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Category {
    /// The variable that counts them.
    pub(crate) rows: Var,
    /// Whether integers become real numbers among them.
    pub(crate) real: bool,
}

/// A word of the program.
#[derive(Debug)]
pub(crate) struct Routine {
    pub(crate) name: String,
    pub(crate) action: Action,
}

impl Routine {
    /// Whether it fills places of nulls.
    pub(crate) fn is_blank(&self) -> bool {
        self.name.starts_with(BLANK)
    }
}

/// A record or tuple that can be open.
#[derive(Debug)]
pub(crate) struct Record {
    /// Names of fields, or `0`, `1`, … of slots.
    pub(crate) fields: Vec<String>,
    pub(crate) tuple: bool,
    /// Where the field's bit is, and whether there must be a value.
    pub(crate) places: Vec<(Var, u32, bool)>,
}

/// A node with the outputs it fills.
#[derive(Debug)]
pub(crate) enum Node {
    Empty,
    Number {
        key: String,
        primitive: Primitive,
        output: Out,
    },
    /// A list of bytes that is one string.
    Text {
        key: String,
        bytes_key: String,
        offsets: Out,
        index: Index,
        separate: bool,
        output: Out,
    },
    /// A string of one length.
    Fixed {
        bytes_key: String,
        size: u64,
        output: Out,
    },
    List {
        key: String,
        offsets: Out,
        index: Index,
        separate: bool,
        content: Box<Self>,
    },
    Regular {
        size: u64,
        content: Box<Self>,
    },
    Record {
        contents: Vec<Self>,
    },
    Indexed {
        key: String,
        index: Index,
        output: Out,
        rows: Var,
        content: Box<Self>,
    },
    Option {
        key: String,
        index: Index,
        output: Out,
        content: Box<Self>,
    },
    /// With bits, whether the first is the least significant.
    Masked {
        key: String,
        valid: bool,
        bits: Option<bool>,
        output: Out,
        content: Box<Self>,
    },
    Unmasked {
        content: Box<Self>,
    },
    Union {
        key: String,
        index: Index,
        tags: Out,
        output: Out,
        rows: Vec<Var>,
        contents: Vec<Self>,
    },
}

impl Plan {
    pub(crate) fn new(form: &Form) -> Result<Self, FormError> {
        let form = form.clone().with_keys()?;
        let mut planner = Planner {
            outputs: Vec::new(),
            variables: FIXED.iter().map(|name| (*name).into()).collect(),
            states: Vec::new(),
            routines: Vec::new(),
            records: Vec::new(),
            names: Vec::new(),
        };
        planner.collect_names(&form);
        let place = Place {
            path: String::new(),
            guard: Vec::new(),
            after: vec![Step::Add { variable: LENGTH, value: 1 }],
            next: 0,
            closers: Vec::new(),
            record: None,
            list: None,
            counted: Some(LENGTH),
        };
        let (_, root, _) = planner.slot(&form, place)?;
        let Planner { outputs, variables, states, routines, records, names } = planner;
        let mut plan =
            Self { form, outputs, variables, states, routines, records, names, root, source: String::new() };
        plan.source = program::write(&plan);
        Ok(plan)
    }
}

/// Where a value is expected, and what comes of it.
#[derive(Clone)]
struct Place {
    path: String,
    /// Before any value.
    guard: Vec<Step>,
    /// After any value.
    after: Vec<Step>,
    /// The state after that.
    next: usize,
    /// Commands that are no values.
    closers: Vec<(Command, usize)>,
    record: Option<usize>,
    list: Option<(Var, u64)>,
    /// The counter of values, if many can be told at once.
    counted: Option<Var>,
}

/// One way of beginning a value.
#[derive(Clone)]
struct Choice {
    command: Command,
    /// The arguments with which it is meant; empty for any.
    arguments: Vec<i64>,
    /// The better, the lower.
    rank: u8,
    /// The alternatives of unions that lead to it, outermost first.
    tags: Vec<usize>,
    checks: Vec<Step>,
    writes: Vec<Step>,
    /// Whether the value is then complete.
    complete: bool,
    unit: Option<Unit>,
    length: Option<u64>,
    category: Option<Category>,
    /// A number with nothing around it.
    bulk: Option<(DType, char, Out)>,
}

impl Choice {
    fn new(command: Command, rank: u8, checks: Vec<Step>, writes: Vec<Step>) -> Self {
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
    fn within(mut self, checks: &[Step], writes: &[Step]) -> Self {
        self.checks.splice(0..0, checks.iter().cloned());
        self.writes.splice(0..0, writes.iter().cloned());
        self.bulk = None;
        self
    }
}

/// Bits in a variable: literals have a sign.
const BITS: usize = 31;
/// The rank of what is understood and refused all the same.
const HOPELESS: u8 = 9;

struct Planner {
    outputs: Vec<OutputSpec>,
    variables: Vec<String>,
    states: Vec<State>,
    routines: Vec<Routine>,
    records: Vec<Record>,
    names: Vec<String>,
}

impl Planner {
    fn collect_names(&mut self, form: &Form) {
        if let Some(name) = form.record_name()
            && !self.names.iter().any(|known| known == name)
        {
            self.names.push(name.into());
        }
        form.contents().iter().for_each(|content| self.collect_names(content));
    }

    fn output(&mut self, form: &Form, part: &str, dtype: Dtype, offsets: bool) -> Out {
        let name = format!("{}-{part}", key(form));
        self.outputs.push(OutputSpec { name, dtype, offsets });
        self.outputs.len() - 1
    }

    fn variable(&mut self, what: &str, form: &Form) -> Var {
        let mut name = format!("{}-{what}", key(form));
        if self.variables.contains(&name) {
            name = format!("{name}-{}", self.variables.len());
        }
        self.variables.push(name);
        self.variables.len() - 1
    }

    fn routine(&mut self, what: &str, action: Action) -> usize {
        let at = self.routines.len();
        self.routines.push(Routine { name: format!("{what}{at}"), action });
        at
    }

    fn state(&mut self) -> usize {
        self.states.push(State::default());
        self.states.len() - 1
    }

    /// A place for values of a Form: its state, its node, and what a null there does.
    fn slot(&mut self, form: &Form, mut place: Place) -> Result<(usize, Node, Option<Choice>), FormError> {
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
    fn fill(
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
                // What the message says is the alternative's.
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
    fn choices(&mut self, form: &Form, place: &Place) -> Result<(Node, Vec<Choice>), FormError> {
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
                let checks = below(rows, *index);
                let mut choices = within_rows(form, inner, &checks, rows, output);
                let again = vec![Step::Argument { output }];
                let mut choice = Choice::new(Command::Index, 0, vec![Step::Reference { rows }], again);
                choice.category = form.is_categorical().then_some(Category { rows, real: false });
                choices.push(choice);
                Ok((Node::Indexed { key, index: *index, output, rows, content: Box::new(content) }, choices))
            }
            Kind::IndexedOption { index, content } => {
                refuse_within(form, content, false)?;
                let output = self.output(form, "index", dtype_of(*index), false);
                let rows = self.variable("rows", form);
                let (content, inner) = self.choices(content, place)?;
                let checks = below(rows, *index);
                let mut choices = within_rows(form, inner, &checks, rows, output);
                if form.is_categorical() {
                    let again = vec![Step::Argument { output }];
                    let mut choice = Choice::new(Command::Index, 0, vec![Step::Reference { rows }], again);
                    choice.category = Some(Category { rows, real: false });
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

    fn number(&mut self, form: &Form, primitive: Primitive) -> (Node, Vec<Choice>) {
        let (dtype, _) = primitive.stored();
        // Half floats wait in full precision, so that they are rounded once.
        let dtype = if primitive == Primitive::Float16 { DType::Float64 } else { dtype };
        let output = self.output(form, "data", machine_dtype(dtype), false);
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
            _ => Some((dtype, parser(dtype), output)),
        };
        choices[0].bulk = bulk; // every list above has a first
        (Node::Number { key: key(form).into(), primitive, output }, choices)
    }

    fn text(&mut self, form: &Form, text: Text) -> (Node, Vec<Choice>) {
        let command = if text == Text::String { Command::String } else { Command::Bytestring };
        let content = &form.contents()[0]; // lists have one
        let bytes_key = key(content).to_owned();
        let (index, separate) = match &form.kind {
            Kind::Regular { size, .. } => {
                let output = self.output(content, "data", Dtype::UInt8, false);
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
        let output = self.output(content, "data", Dtype::UInt8, false);
        let mut choice =
            Choice::new(command, 0, Vec::new(), vec![Step::Bytes { offsets: Some(offsets), data: output }]);
        if index != Index::I64 {
            let total = self.variable("total", form);
            choice.checks.push(Step::Fits { total, amount: Amount::Bytes, index });
            choice.writes.push(Step::Grow { total, amount: Amount::Bytes });
        }
        (Node::Text { key: key(form).into(), bytes_key, offsets, index, separate, output }, vec![choice])
    }

    fn list(
        &mut self,
        form: &Form,
        content: &Form,
        kind: ListKind,
        place: &Place,
    ) -> Result<(Node, Vec<Choice>), FormError> {
        let count = self.variable("count", form);
        let mut end = Vec::new();
        let mut guard = Vec::new();
        let mut offsets_output = 0;
        let mut fixed = None;
        match kind {
            ListKind::Regular(size) => {
                if i64::try_from(size).is_err() {
                    return Err(FormError::Unsupported { what: format!("lists of {size} items") });
                }
                end.push(Step::Complete { count, size });
                guard.push(Step::Room { count, size });
                fixed = Some((count, size));
            }
            ListKind::Offsets { index, .. } => {
                offsets_output = self.output(form, "offsets", dtype_of(index), true);
                let amount = Amount::Count(count);
                let total = (index != Index::I64).then(|| self.variable("total", form));
                end.extend(total.map(|total| Step::Fits { total, amount, index }));
                end.push(Step::Offset { count, output: offsets_output });
                end.extend(total.map(|total| Step::Grow { total, amount }));
            }
        }
        end.extend(place.after.iter().cloned());
        end.push(Step::State(place.next));
        let end = self.routine("end", Action::Steps(end));
        let inner = Place {
            path: format!("{}[]", place.path),
            guard,
            after: vec![Step::Add { variable: count, value: 1 }],
            next: 0,
            closers: vec![(Command::EndList, end)],
            record: None,
            list: fixed,
            counted: Some(count),
        };
        let (state, node, _) = self.slot(content, inner)?;
        let begin = vec![Step::Set { variable: count, value: 0 }, Step::State(state)];
        let mut choice = Choice::new(Command::BeginList, 0, Vec::new(), begin);
        choice.complete = false;
        let content = Box::new(node);
        let node = match kind {
            ListKind::Regular(size) => Node::Regular { size, content },
            ListKind::Offsets { index, separate } => {
                let key = key(form).into();
                Node::List { key, offsets: offsets_output, index, separate, content }
            }
        };
        Ok((node, vec![choice]))
    }

    fn record(
        &mut self,
        form: &Form,
        fields: Option<&[String]>,
        contents: &[Form],
        place: &Place,
    ) -> Result<(Node, Vec<Choice>), FormError> {
        if let Some(fields) = fields {
            let mut seen = HashSet::new();
            if let Some(twice) = fields.iter().find(|name| !seen.insert(name.as_str())) {
                return Err(FormError::Unsupported { what: format!("a record with two fields {twice:?}") });
            }
        }
        let tuple = fields.is_none();
        let names: Vec<String> = match fields {
            Some(fields) => fields.to_vec(),
            None => (0..contents.len()).map(|slot| slot.to_string()).collect(),
        };
        let masks: Vec<Var> =
            (0..contents.len().div_ceil(BITS)).map(|_| self.variable("filled", form)).collect();
        let between = self.state();
        let record = self.records.len();
        self.records.push(Record { fields: names.clone(), tuple, places: Vec::new() });
        // Both are written when the states they lead to are known.
        let select = self.routine("select", Action::Steps(Vec::new()));
        let end = self.routine("end", Action::Steps(Vec::new()));
        let closers = if tuple {
            vec![(Command::Index, select), (Command::EndTuple, end)]
        } else {
            vec![(Command::Field, select), (Command::EndRecord, end)]
        };

        let mut cases = Vec::new();
        let mut nodes = Vec::new();
        let mut places = Vec::new();
        let (mut checks, mut writes) = (Vec::new(), Vec::new());
        for (at, content) in contents.iter().enumerate() {
            let (filled, bit) = (masks[at / BITS], (at % BITS) as u32);
            let inner = Place {
                path: format!("{}.{}", place.path, names[at]),
                guard: Vec::new(),
                after: vec![Step::Add { variable: filled, value: 1 << bit }],
                next: between,
                closers: closers.clone(),
                record: Some(record),
                list: None,
                counted: None,
            };
            let (state, node, null) = self.slot(content, inner)?;
            cases.push((at as i64, vec![Step::Unfilled { filled, bit }, Step::State(state)]));
            nodes.push(node);
            places.push((filled, bit, null.is_none()));
            if let Some(null) = null {
                if !null.checks.is_empty() {
                    checks.push(Step::IfUnfilled { filled, bit, steps: null.checks });
                }
                writes.push(Step::IfUnfilled { filled, bit, steps: null.writes });
            }
        }
        let mut finish: Vec<Step> = Vec::new();
        for &filled in &masks {
            let bits = places.iter().filter(|(mask, _, required)| *mask == filled && *required);
            let bits = bits.fold(0, |bits, (_, bit, _)| bits | 1 << bit);
            if bits != 0 {
                finish.push(Step::Filled { filled, bits });
            }
        }
        finish.extend(checks);
        finish.extend(writes);
        finish.extend(place.after.iter().cloned());
        finish.push(Step::State(place.next));
        self.routines[select].action = Action::Cases(cases);
        self.routines[end].action = Action::Steps(finish);
        self.records[record].places = places;
        self.states[between] = State {
            path: place.path.clone(),
            expected: form.type_string(),
            actions: closers
                .iter()
                .map(|(command, at)| (*command, Action::Steps(vec![Step::Call(*at)])))
                .collect(),
            record: Some(record),
            ..State::default()
        };

        let mut begin: Vec<Step> =
            masks.iter().map(|filled| Step::Set { variable: *filled, value: 0 }).collect();
        begin.push(Step::State(between));
        let command = if tuple { Command::BeginTuple } else { Command::BeginRecord };
        let mut choice = Choice::new(command, 0, Vec::new(), begin);
        choice.complete = false;
        choice.arguments = if tuple {
            vec![contents.len() as i64]
        } else {
            let number =
                form.record_name().and_then(|name| self.names.iter().position(|known| known == name));
            [0].into_iter().chain(number.map(|number| number as i64 + 1)).collect()
        };
        Ok((Node::Record { contents: nodes }, vec![choice]))
    }

    fn masked(
        &mut self,
        form: &Form,
        content: &Form,
        valid: bool,
        bits: Option<bool>,
        place: &Place,
    ) -> Result<(Node, Vec<Choice>), FormError> {
        refuse_within(form, content, false)?;
        let output = self.output(form, "mask", Dtype::Int8, false);
        let (content, inner) = self.choices(content, place)?;
        let there = Step::Literal { value: valid.into(), output };
        let mut choices: Vec<_> =
            inner.into_iter().map(|choice| choice.within(&[], std::slice::from_ref(&there))).collect();
        let null = match self.default(&content) {
            Some(steps) => {
                let mask = Step::Literal { value: (!valid).into(), output };
                Choice::new(Command::Null, 0, Vec::new(), std::iter::once(mask).chain(steps).collect())
            }
            None => Choice::new(Command::Null, HOPELESS, vec![Step::Refuse(Refusal::Placeless)], Vec::new()),
        };
        choices.push(null);
        Ok((Node::Masked { key: key(form).into(), valid, bits, output, content: Box::new(content) }, choices))
    }

    fn union(
        &mut self,
        form: &Form,
        index: Index,
        contents: &[Form],
        place: &Place,
    ) -> Result<(Node, Vec<Choice>), FormError> {
        if i8::try_from(contents.len()).is_err() || contents.len() < 2 {
            return Err(FormError::Unsupported { what: format!("a union of {} types", contents.len()) });
        }
        let options = contents.iter().filter(|content| is_option(content)).count();
        if options != 0 && options != contents.len() {
            let what =
                format!("{}: a union has options in all alternatives or in none; this", form.type_string());
            return Err(FormError::Unsupported { what });
        }
        let tags = self.output(form, "tags", Dtype::Int8, false);
        let output = self.output(form, "index", dtype_of(index), false);
        let (mut choices, mut nodes, mut all_rows) = (Vec::new(), Vec::new(), Vec::new());
        for (tag, content) in contents.iter().enumerate() {
            refuse_within(form, content, true)?;
            let rows = self.variable(&format!("rows{tag}"), form);
            let (node, inner) = self.choices(content, place)?;
            let writes = [Step::Literal { value: tag as i64, output: tags }, Step::Next { rows, output }];
            choices.extend(inner.into_iter().map(|choice| {
                let mut choice = choice.within(&below(rows, index), &writes);
                choice.tags.insert(0, tag);
                choice
            }));
            nodes.push(node);
            all_rows.push(rows);
        }
        let key = key(form).into();
        Ok((Node::Union { key, index, tags, output, rows: all_rows, contents: nodes }, choices))
    }

    /// What stands in the place of a null under a mask; nothing if nothing can.
    fn default(&mut self, node: &Node) -> Option<Vec<Step>> {
        Some(match node {
            Node::Empty => return None,
            Node::Number { primitive, output, .. } => {
                let zero = Step::Literal { value: 0, output: *output };
                vec![zero; primitive.stored().1]
            }
            Node::Text { offsets, .. } => vec![Step::Repeat { output: *offsets }],
            Node::Fixed { size: 0, .. } => Vec::new(),
            Node::Fixed { size, output, .. } => vec![Step::Zeros { output: *output, items: *size }],
            Node::List { offsets, .. } => vec![Step::Repeat { output: *offsets }],
            Node::Regular { size: 0, .. } => Vec::new(),
            Node::Regular { size, content } => match &**content {
                Node::Number { primitive, output, .. } => {
                    let items = size.saturating_mul(primitive.stored().1 as u64);
                    vec![Step::Zeros { output: *output, items }]
                }
                content => {
                    let steps = self.default(content)?;
                    if steps.is_empty() {
                        return Some(steps);
                    }
                    let routine = self.routine(BLANK, Action::Steps(steps));
                    vec![Step::Times { times: *size, routine }]
                }
            },
            Node::Record { contents } => {
                let mut steps = Vec::new();
                for content in contents {
                    steps.extend(self.default(content)?);
                }
                if steps.len() > 4 {
                    steps = vec![Step::Call(self.routine(BLANK, Action::Steps(steps)))];
                }
                steps
            }
            Node::Option { output, .. } => vec![Step::Literal { value: -1, output: *output }],
            Node::Indexed { output, rows, content, .. } => {
                let mut steps = vec![Step::Next { rows: *rows, output: *output }];
                steps.extend(self.default(content)?);
                steps
            }
            Node::Masked { valid, output, content, .. } => {
                let mut steps = vec![Step::Literal { value: (!valid).into(), output: *output }];
                steps.extend(self.default(content)?);
                steps
            }
            Node::Unmasked { content } => self.default(content)?,
            Node::Union { tags, output, rows, contents, .. } => {
                let (tag, content, rows) =
                    contents.iter().zip(rows).enumerate().find_map(|(tag, (content, rows))| {
                        self.default(content).map(|steps| (tag, steps, *rows))
                    })?;
                let mut steps = vec![
                    Step::Literal { value: tag as i64, output: *tags },
                    Step::Next { rows, output: *output },
                ];
                steps.extend(content);
                steps
            }
        })
    }
}

#[derive(Clone, Copy)]
enum ListKind {
    Regular(u64),
    Offsets { index: Index, separate: bool },
}

/// What goes into the rows of an indexed node.
fn within_rows(form: &Form, inner: Vec<Choice>, checks: &[Step], rows: Var, output: Out) -> Vec<Choice> {
    let real = inner.iter().any(|choice| choice.command == Command::Real);
    let each = inner.into_iter().map(|choice| {
        let mut choice = choice.within(checks, &[Step::Next { rows, output }]);
        if form.is_categorical() && choice.complete {
            choice.category = Some(Category { rows, real });
        }
        choice
    });
    each.collect()
}

/// All steps of a value told in a state.
fn complete(choice: &Choice, place: &Place, state: usize) -> Vec<Step> {
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
fn best<'a>(choices: &[&'a Choice]) -> Option<&'a Choice> {
    let rank = choices.iter().map(|choice| choice.rank).min()?;
    let mut good = choices.iter().filter(|choice| choice.rank == rank);
    let first = good.next()?;
    // A null is the same in all alternatives, and so is a refusal.
    let unique = good.next().is_none() || first.command == Command::Null || rank == HOPELESS;
    unique.then_some(first)
}

/// The Form behind some alternatives.
fn alternative<'a>(form: &'a Form, tags: &[usize]) -> &'a Form {
    match (&form.kind, tags.split_first()) {
        (Kind::Union { contents, .. }, Some((tag, rest))) => {
            contents.get(*tag).map_or(form, |content| alternative(content, rest))
        }
        (_, Some(_)) => form.contents().first().map_or(form, |content| alternative(content, tags)),
        (_, None) => form,
    }
}

fn is_option(form: &Form) -> bool {
    matches!(
        form.kind,
        Kind::IndexedOption { .. } | Kind::ByteMasked { .. } | Kind::BitMasked { .. } | Kind::Unmasked { .. }
    )
}

/// Refuses what Awkward Array has no Forms for: options and indirections directly around each other or around unions.
fn refuse_within(form: &Form, content: &Form, union: bool) -> Result<(), FormError> {
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

fn below(rows: Var, index: Index) -> Vec<Step> {
    if index == Index::I64 { Vec::new() } else { vec![Step::Below { rows, index }] }
}

/// The key of a node; all have one here.
fn key(form: &Form) -> &str {
    form.key.as_deref().unwrap_or_default()
}

const fn dtype_of(index: Index) -> Dtype {
    match index {
        Index::I32 => Dtype::Int32,
        Index::U32 => Dtype::UInt32,
        Index::I64 => Dtype::Int64,
    }
}

pub(crate) const fn machine_dtype(dtype: DType) -> Dtype {
    match dtype {
        DType::Bool => Dtype::Bool,
        DType::Int8 => Dtype::Int8,
        DType::Int16 => Dtype::Int16,
        DType::Int32 => Dtype::Int32,
        DType::UInt8 => Dtype::UInt8,
        DType::UInt16 => Dtype::UInt16,
        DType::UInt32 => Dtype::UInt32,
        DType::UInt64 => Dtype::UInt64,
        DType::Float32 => Dtype::Float32,
        DType::Float64 => Dtype::Float64,
        _ => Dtype::Int64,
    }
}

/// The machine's parser for items of a type.
const fn parser(dtype: DType) -> char {
    match dtype {
        DType::Bool => '?',
        DType::Int8 => 'b',
        DType::Int16 => 'h',
        DType::Int32 => 'i',
        DType::UInt8 => 'B',
        DType::UInt16 => 'H',
        DType::UInt32 => 'I',
        DType::UInt64 => 'Q',
        DType::Float32 => 'f',
        DType::Float64 => 'd',
        _ => 'q',
    }
}
