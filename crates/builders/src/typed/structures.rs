//! Form → plan: lists, records, masks and unions.

use super::plan::{Node, Record, State};
use super::planner::{
    BITS, Choice, HOPELESS, ListKind, Place, Planner, below, dtype_of, is_option, key, refuse_within,
};
use super::program::BLANK;
use super::step::{Action, Amount, Command, Refusal, Step, Var};
use crate::form::{Form, FormError, Index};
use forthwith_forth::DType;
use std::collections::HashSet;

impl Planner {
    pub(super) fn list(
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

    pub(super) fn record(
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

    pub(super) fn masked(
        &mut self,
        form: &Form,
        content: &Form,
        valid: bool,
        bits: Option<bool>,
        place: &Place,
    ) -> Result<(Node, Vec<Choice>), FormError> {
        refuse_within(form, content, false)?;
        let output = self.output(form, "mask", DType::Int8, false);
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

    pub(super) fn union(
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
        let tags = self.output(form, "tags", DType::Int8, false);
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

    /// The steps that fill the place of a null under a mask; `None` if no value can.
    pub(super) fn default(&mut self, node: &Node) -> Option<Vec<Step>> {
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
