//! Messages that are given one by one.

use crate::{
    fields::Fields,
    format::MessagesFormat,
    layout::{Mapping, dialect},
    schema::Schema,
};
use forthwith_plan::{BlockFormat, Error, Plan, Result, Stored, Task};
use forthwith_program::Frame;

/// Size in bytes at which a task of a plan ends.
const TASK: usize = 1 << 20;
/// Maximum number of messages of a task; they may be empty.
const MOST_IN_TASK: usize = 1 << 18;

/// Decoder of messages of one type. Its plans contain the bytes: they can be read with any source.
#[derive(Clone, Debug)]
pub struct Messages(Fields);

impl Messages {
    /// Creates a decoder for the message type `message`; if `None`, for the only type of the schema that is
    /// not used by another.
    ///
    /// # Errors
    /// Returns an error if the schema has no such type.
    pub fn new(schema: &Schema, message: Option<&str>, mapping: Mapping) -> Result<Self> {
        Ok(Self(Fields::new(schema, schema.message(message)?, mapping)))
    }

    /// Returns a plan that decodes messages, each given as its bytes without framing.
    ///
    /// # Errors
    /// Returns an error if the message type has no columns, or if a message has 4 GiB or more.
    pub fn plan<'m>(&self, messages: impl IntoIterator<Item = &'m [u8]>) -> Result<Plan> {
        let (mut group, _) = self.0.group(&self.0.whole(), &dialect(Frame::None))?;
        group.split = false;
        let mut plan = Plan {
            format: MessagesFormat.id().into(),
            uri: "messages".into(),
            groups: vec![group],
            delivered: 1,
            utf8: true,
            ..Plan::default()
        };
        let (mut first, mut next) = (0u64, 0u64);
        let (mut payload, mut bounds) = (Vec::new(), vec![0u32]);
        let mut end = |payload: &mut Vec<u8>, bounds: &mut Vec<u32>, next: u64| {
            if bounds.len() > 1 {
                payload.extend(bounds.iter().flat_map(|bound| bound.to_le_bytes()));
                let number = plan.tasks.len() as u64;
                let stored = Stored::Inline(std::mem::take(payload).into());
                plan.tasks.push(Task::of(0, number, first..next, stored));
            }
            bounds.truncate(1);
            first = next;
        };
        for message in messages {
            payload.extend_from_slice(message);
            let bound = u32::try_from(payload.len());
            bounds.push(bound.map_err(|_| Error::invalid(format!("message {next} has 4 GiB or more")))?);
            next += 1;
            if payload.len() >= TASK || bounds.len() > MOST_IN_TASK {
                end(&mut payload, &mut bounds, next);
            }
        }
        end(&mut payload, &mut bounds, next);
        plan.entries = 0..next;
        Ok(plan)
    }
}
