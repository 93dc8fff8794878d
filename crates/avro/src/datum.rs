//! Values without a container file: concatenated datums, single datums, and the single-object encoding.

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

/// First bytes of a message, before the fingerprint.
const MESSAGE: [u8; 2] = [0xc3, 0x01];
/// Size in bytes of the head of a message: the first bytes and the fingerprint.
const HEAD: usize = 10;
/// Size in bytes at which a task of a plan ends.
const TASK: usize = 256 << 10;

/// Decoder of datums, from the schema they were written with to the schema they are read as.
///
/// Its plans contain the bytes: they can be read with any source.
#[derive(Clone, Debug)]
pub struct Datums {
    fields: Fields,
    is_record: bool,
    /// Fields of the record, without parts of fields.
    wanted: Vec<u32>,
}

impl Datums {
    /// Creates a decoder of datums of the schema `writer`, read as `reader` if given.
    ///
    /// # Errors
    /// Returns an error if one schema cannot be read as the other, or if a type has no columns.
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

    /// Returns a plan that decodes `count` concatenated datums, which must take all of `bytes`.
    ///
    /// # Errors
    /// Returns an error if a type has no columns.
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

    /// Returns a plan that decodes datums, each of which must take all of its bytes.
    ///
    /// # Errors
    /// Returns an error if a type has no columns, or if a datum has 4 GiB or more.
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
        // The program checks each value where it is decoded: datums cannot be read again to locate an error.
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

/// [`BlockFormat`] of datums. If the program is bounded, the bounds of the datums follow them as `u32`
/// offsets.
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

/// Schemas by their fingerprints, for messages in the single-object encoding.
#[derive(Clone, Debug, Default)]
pub struct SchemaStore(HashMap<u64, Arc<Schema>>);

impl SchemaStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a schema and returns its fingerprint.
    pub fn add(&mut self, schema: Arc<Schema>) -> u64 {
        let fingerprint = schema.fingerprint();
        self.0.insert(fingerprint, schema);
        fingerprint
    }

    /// Returns the schema of a message in the single-object encoding, and the datum in the message.
    ///
    /// # Errors
    /// Returns an error if the bytes are not such a message, or if the fingerprint of its schema is unknown.
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

/// Returns the bytes before a datum of this schema in the single-object encoding.
#[must_use]
pub fn message_head(schema: &Schema) -> Vec<u8> {
    let mut head = MESSAGE.to_vec();
    head.extend(schema.fingerprint().to_le_bytes());
    head
}

/// Encodes the values of an array; returns the concatenated datums, and the end of each.
///
/// With `message`, each datum is in the single-object encoding, which begins with the fingerprint of the
/// schema.
///
/// # Errors
/// Returns an error if the array does not match the schema.
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
