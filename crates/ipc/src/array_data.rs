//! Construction of validated Arrow arrays, and checks of the memory that they need.

use arrow_buffer::Buffer;
use arrow_data::{ArrayData, BufferSpec, layout};
use arrow_schema::DataType;
use forthwith_io::CodecError;
use forthwith_plan::{Error, Result, check_headroom};

/// Number of rows, and the validity bitmap if any row is null.
pub(crate) type Head = (usize, Option<Buffer>);

/// Number of bytes of an expansion at which memory is checked for the first time.
const FIRST_CHECK: usize = 64 << 20;

/// Counter of the bytes of an expansion, in which few values are copied to many rows. It is checked before
/// they are copied, so that an expansion beyond free memory or the limit is an error soon after it exceeds
/// them.
pub(crate) struct Expansion {
    codec: &'static str,
    what: &'static str,
    limit: Option<usize>,
    bytes: usize,
    next: usize,
}

impl Expansion {
    /// Creates a counter. Errors contain `codec` and `what`.
    pub(crate) const fn new(codec: &'static str, what: &'static str, limit: Option<usize>) -> Self {
        Self { codec, what, limit, bytes: 0, next: FIRST_CHECK }
    }

    /// Adds to the counter, and checks memory each time the sum doubles.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes < self.next {
            return Ok(());
        }
        self.next = self.bytes.saturating_mul(2);
        self.check()
    }

    /// Checks the counted bytes against the limit and free memory.
    pub(crate) fn check(&self) -> Result<()> {
        check_limit(self.codec, self.bytes, self.limit)?;
        // Three times the size: for Arrow's array, which grows by doubling, and for the columns.
        check_headroom(self.what, self.bytes.saturating_mul(3))
    }
}

/// Checks a number of bytes against the memory limit.
pub(crate) fn check_limit(codec: &'static str, bytes: usize, limit: Option<usize>) -> Result<()> {
    match limit {
        Some(limit) if bytes > limit => Err(Error::new(CodecError::OverLimit { codec, limit })),
        _ => Ok(()),
    }
}

/// Creates an array, and validates its buffer lengths, offsets and UTF-8.
pub(crate) fn built(
    data_type: &DataType,
    (rows, validity): Head,
    mut buffers: Vec<Buffer>,
    children: Vec<ArrayData>,
) -> Result<ArrayData> {
    // The Arrow library panics if a buffer ends with a part of a number.
    for (buffer, spec) in buffers.iter_mut().zip(layout(data_type).buffers) {
        if let BufferSpec::FixedWidth { byte_width, .. } = spec
            && byte_width > 0
        {
            *buffer = buffer.slice_with_length(0, buffer.len() - buffer.len() % byte_width);
        }
    }
    // The single offset of an empty array may have any value: pyarrow writes that of a slice, which arrow-rs
    // rejects.
    let has_offsets = matches!(
        data_type,
        DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::List(_)
            | DataType::LargeList(_)
            | DataType::Map(..)
    );
    if let (0, true, Some(offsets)) = (rows, has_offsets, buffers.first_mut()) {
        *offsets = Buffer::from_vec(vec![0_i64]);
    }
    let data = ArrayData::builder(data_type.clone())
        .len(rows)
        .null_bit_buffer(validity)
        .buffers(buffers)
        .child_data(children)
        .align_buffers(true);
    data.build().map_err(|error| Error::fault(error.to_string()))
}
