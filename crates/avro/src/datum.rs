//! Values without a file round them: datums one after the other, datums apart, and the single-object
//! encoding.

use crate::{resolve::Fields, schema::Schema, table::specs, translate::DIALECT, write::refused};
use bytes::Bytes;
use forthwith_columns::Array;
use forthwith_encode::Encoder;
use forthwith_plan::{
    Block, BlockFormat, Decoder, Error, ErrorKind, Group, NameListing, Plan, Reading, Result, Scratch,
    Stored, Task,
};
use forthwith_program::translate_checking;
use std::{collections::HashMap, sync::Arc};

/// The bytes that stand before the fingerprint of a message.
const MESSAGE: [u8; 2] = [0xc3, 0x01];
/// That and the fingerprint.
const HEAD: usize = 10;
/// Datums are decoded in steps of this number of bytes.
const TASK: usize = 256 << 10;

/// How datums are read: the schema they were written with, and the one they are wanted as.
///
/// The plans it makes hold the bytes themselves; any source will do to read them.
#[derive(Clone, Debug)]
pub struct Datums {
    fields: Fields,
    is_record: bool,
    /// The fields that are no parts of others.
    wanted: Vec<u32>,
}

impl Datums {
    /// Datums of one schema, as another wants them.
    ///
    /// # Errors
    /// The one cannot be read as the other; a type that has no columns.
    pub fn new(writer: &Arc<Schema>, reader: Option<&Arc<Schema>>) -> Result<Self> {
        let fields = match reader {
            None => Fields::of(writer),
            Some(reader) => Fields::resolved(writer, reader)
                .map_err(|why| Error::invalid(format!("the schema asked for: {why}")))?,
        };
        let listed = (0..).zip(fields.fields()).filter(|(_, field)| !field.is_part);
        let (is_record, wanted) = (fields.is_record(), listed.map(|(number, _)| number).collect());
        Ok(Self { fields, is_record, wanted })
    }

    /// A plan for `entries` datums, one directly after the other. There must be nothing behind them.
    ///
    /// # Errors
    /// A type that has no columns.
    pub fn joined(&self, bytes: impl Into<Bytes>, count: u64) -> Result<Plan> {
        let mut plan = self.plan(count, false)?;
        let bytes: Bytes = bytes.into();
        if count == 0 && !bytes.is_empty() {
            return Err(Error::fault(format!("{} bytes are left over", bytes.len())));
        }
        if count > 0 {
            plan.tasks.push(Task::of(0, 0, 0..count, Stored::Inline(bytes)));
        }
        Ok(plan)
    }

    /// A plan for datums that are given one by one: each has to end where its bytes do.
    ///
    /// # Errors
    /// A type that has no columns; a datum of 4 GiB.
    pub fn apart<'d>(&self, datums: impl IntoIterator<Item = &'d [u8]>) -> Result<Plan> {
        let mut plan = self.plan(0, true)?;
        let (mut first, mut next) = (0u64, 0u64);
        let (mut payload, mut bounds) = (Vec::new(), vec![0u32]);
        let mut end = |payload: &mut Vec<u8>, bounds: &mut Vec<u32>, next: u64| {
            if bounds.len() > 1 {
                payload.extend(bounds.iter().flat_map(|bound| bound.to_le_bytes()));
                let number = plan.tasks.len() as u64;
                plan.tasks.push(Task::of(
                    0,
                    number,
                    first..next,
                    Stored::Inline(std::mem::take(payload).into()),
                ));
            }
            bounds.truncate(1);
            first = next;
        };
        for datum in datums {
            payload.extend_from_slice(datum);
            let Ok(bound) = u32::try_from(payload.len()) else {
                return Err(Error::invalid(format!("datum {next} has 4 GiB or more")));
            };
            bounds.push(bound);
            next += 1;
            if payload.len() >= TASK {
                end(&mut payload, &mut bounds, next);
            }
        }
        end(&mut payload, &mut bounds, next);
        plan.entries = 0..next;
        Ok(plan)
    }

    fn plan(&self, count: u64, bounded: bool) -> Result<Plan> {
        let layout = self.fields.layout(&self.wanted)?;
        // Datums have no blocks to be read again for the place of an error.
        let program =
            translate_checking(&layout, &DIALECT, bounded, "", 0).map_err(|why| Error::unsupported(why.0))?;
        let columns = specs(&program);
        let reading = Reading::program(program, "datums are whole values, one after the other");
        let group = Group::of("", reading, columns);
        Ok(Plan {
            format: DatumFormat.id().into(),
            uri: "datums".into(),
            entries: 0..count,
            groups: vec![group],
            delivered: 1,
            utf8: true,
            bits: false,
            views: false,
            ..Plan::default()
        })
    }

    /// Whether the values are records.
    #[must_use]
    pub const fn is_record(&self) -> bool {
        self.is_record
    }
}

/// The [`BlockFormat`] of datums. Where the program wants to know where each begins and ends, that stands
/// behind them.
#[derive(Clone, Copy, Debug)]
pub struct DatumFormat;

impl BlockFormat for DatumFormat {
    fn id(&self) -> &'static str {
        "avro.datums"
    }

    fn unit(&self) -> &'static str {
        "piece"
    }

    fn unframe<'a>(
        &self,
        group: &Group,
        task: &Task,
        stored: &'a [u8],
        _scratch: &'a mut Scratch,
    ) -> Result<Block<'a>> {
        let entries = task.entries.end.saturating_sub(task.entries.start);
        let bounded = matches!(&group.decoder, Decoder::Program(program) if program.bounded);
        if !bounded {
            return Ok(Block { payload: stored, entries, bounds: &[], origin: 0 });
        }
        let bytes = usize::try_from(entries.saturating_add(1)).ok().and_then(|n| n.checked_mul(4));
        let parts = bytes.and_then(|n| stored.split_at_checked(stored.len().checked_sub(n)?));
        let (payload, bounds) =
            parts.ok_or(ErrorKind::Invalid { what: "datums without their bounds".into() })?;
        let mut last = 0;
        for bound in bounds.as_chunks::<4>().0.iter().map(|bound| u32::from_le_bytes(*bound)) {
            if bound < last || bound as usize > payload.len() {
                return Err(Error::invalid("datums whose bounds fall"));
            }
            last = bound;
        }
        Ok(Block { payload, entries, bounds, origin: 0 })
    }
}

/// Schemas by their fingerprints: whom messages may be of.
#[derive(Clone, Debug, Default)]
pub struct SchemaStore(HashMap<u64, Arc<Schema>>);

impl SchemaStore {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a schema, under the fingerprint that is answered.
    pub fn add(&mut self, schema: Arc<Schema>) -> u64 {
        let fingerprint = schema.fingerprint();
        self.0.insert(fingerprint, schema);
        fingerprint
    }

    /// The schema a message (single-object encoding) was written with, and the datum in it.
    ///
    /// # Errors
    /// It is no message, or of a schema that is not known.
    pub fn open<'d>(&self, message: &'d [u8]) -> Result<(&Arc<Schema>, &'d [u8])> {
        let Some((head, datum)) = message.split_first_chunk::<HEAD>() else {
            return Err(Error::truncated("the head of a message", HEAD, message.len()));
        };
        let [first, second, fingerprint @ ..] = *head;
        if [first, second] != MESSAGE {
            return Err(Error::not_a(
                "a message in Avro's single-object encoding",
                format!("{first:#04x} {second:#04x} where c3 01 should be"),
            ));
        }
        let fingerprint = u64::from_le_bytes(fingerprint);
        match self.0.get(&fingerprint) {
            Some(schema) => Ok((schema, datum)),
            None => Err(ErrorKind::NotFound {
                what: "schema with the fingerprint",
                name: format!("{fingerprint:016x}"),
                near: Vec::new(),
                known: NameListing::default(),
            }
            .into()),
        }
    }
}

/// What stands before a datum of this schema in a message (single-object encoding).
#[must_use]
pub fn message_head(schema: &Schema) -> Vec<u8> {
    let mut head = MESSAGE.to_vec();
    head.extend(schema.fingerprint().to_le_bytes());
    head
}

/// Datums, written: all of them, one directly after the other, and where each ends.
///
/// With `message` they are in the single-object encoding, each with the schema's fingerprint before it.
///
/// # Errors
/// Columns that do not fit the schema.
pub fn encode_datums(schema: &Schema, array: &Array, message: bool) -> Result<(Vec<u8>, Vec<usize>)> {
    let layout = crate::translate::Layouts::new(schema).whole(schema.root_id())?;
    let encoder = Encoder::new(&layout, &DIALECT, array).map_err(refused)?;
    let head = if message { message_head(schema) } else { Vec::new() };
    let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(encoder.rows() as usize));
    for row in 0..encoder.rows() {
        bytes.extend(&head);
        encoder.row(row, &mut bytes).map_err(refused)?;
        ends.push(bytes.len());
    }
    Ok((bytes, ends))
}
