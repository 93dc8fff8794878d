//! Bulk commands: nested values, and slices of items.

use super::offers::Failure;
use super::{Argument, CommandError, CommandErrorKind, Told, TypedArrayBuilder};
use crate::Command;
use forthwith_columns::{DType, Native, Value, bytes_of, with_integer};

impl TypedArrayBuilder {
    /// Appends a value with all its contents, or nothing if a part is refused. If several alternatives of a
    /// union are possible, the first that accepts the whole value is chosen.
    ///
    /// # Errors
    /// Returns the error of the refused part.
    pub fn append(&mut self, value: &Value) -> Told {
        let before = self.checkpoint();
        self.put(value, 0).inspect_err(|_| _ = self.rollback(&before))
    }

    fn put(&mut self, value: &Value, depth: u32) -> Told {
        if depth > DEEPEST {
            return Err(self.too_deep());
        }
        let here = self.position();
        match self.attempt(value, depth) {
            // The ambiguity is that of this value, not of one within it.
            Err(error)
                if matches!(error.kind(), CommandErrorKind::Ambiguous(_)) && self.position() == here =>
            {
                let before = self.checkpoint();
                for tag in 0.. {
                    // The loop ends: a tag that does not exist is refused.
                    if self.tag(tag).is_err() {
                        break;
                    }
                    match self.put(value, depth + 1) {
                        Ok(()) => return Ok(()),
                        Err(_) => _ = self.rollback(&before),
                    }
                }
                Err(error)
            }
            told => told,
        }
    }

    fn attempt(&mut self, value: &Value, depth: u32) -> Told {
        match value {
            Value::Null => self.null(),
            Value::Bool(value) => self.boolean(*value),
            Value::Int(value) => self.integer(*value),
            Value::UInt(value) => self.unsigned(*value),
            Value::Float32(value) => self.real(f64::from(*value)),
            Value::Float64(value) => self.real(*value),
            Value::String(value) => self.string(value),
            Value::Bytes(value) => self.bytestring(value),
            Value::List(items) => {
                self.begin_list()?;
                items.iter().try_for_each(|item| self.put(item, depth + 1))?;
                self.end_list()
            }
            Value::Record(fields) => {
                self.begin_record(None)?;
                for (name, value) in fields {
                    self.field(name)?;
                    self.put(value, depth + 1)?;
                }
                self.end_record()
            }
            Value::Tuple(slots) => {
                self.begin_tuple(slots.len())?;
                for (at, slot) in slots.iter().enumerate() {
                    self.index(at)?;
                    self.put(slot, depth + 1)?;
                }
                self.end_tuple()
            }
            _ => Err(self.error(Command::Null, CommandErrorKind::Deep)), // there are no other values
        }
    }

    /// Appends items of one type in native byte order, or none if one is refused. They are copied at once if
    /// the column has this dtype and is directly in a list or at the top level, and otherwise appended one by
    /// one. Bytes after the last whole item are ignored.
    ///
    /// # Errors
    /// Returns the error of the refused item.
    pub fn extend_bytes(&mut self, dtype: DType, bytes: &[u8]) -> Told {
        let whole = bytes.len() - bytes.len() % dtype.size();
        let bytes = &bytes[..whole];
        if let Some(done) = self.state.extend(dtype, bytes) {
            return done.map_err(|failure| self.extend_failed(failure));
        }
        let before = self.checkpoint();
        self.one_by_one(dtype, bytes).inspect_err(|_| _ = self.rollback(&before))
    }

    /// Appends items of one type, or none if one is refused; see [`extend_bytes`](Self::extend_bytes).
    ///
    /// # Errors
    /// Returns the error of the refused item.
    pub fn extend<T: Native>(&mut self, items: &[T]) -> Told {
        self.extend_bytes(T::DTYPE, bytes_of(items))
    }

    #[cold]
    fn extend_failed(&mut self, failure: Failure) -> CommandError {
        match failure {
            Failure::Refused(_) => {
                let kind = CommandErrorKind::Full(self.state.items().1);
                CommandError::new("extend", kind, self.len(), self.state.path())
            }
            Failure::OutOfMemory => self.failed(Command::Null, failure, Argument::None),
        }
    }

    fn one_by_one(&mut self, dtype: DType, bytes: &[u8]) -> Told {
        macro_rules! each {
            ($type:ty, $item:ident => $told:expr) => {{
                for item in bytes.as_chunks::<{ size_of::<$type>() }>().0 {
                    let $item = <$type>::from_ne_bytes(*item);
                    $told?;
                }
            }};
        }
        with_integer!(dtype,
            T => each!(T, item => match i64::try_from(i128::from(item)) {
                Ok(item) => self.integer(item),
                Err(_) => self.unsigned(item as u64),
            }),
            DType::Bool => each!(u8, item => self.boolean(item != 0)),
            DType::Float32 => each!(f32, item => self.real(item.into())),
            DType::Float64 => each!(f64, item => self.real(item)),
        );
        Ok(())
    }
}

/// Maximum nesting depth of a value. No Form is deeper, and recursion must not exhaust the stack.
const DEEPEST: u32 = 600;
