//! Arrow's arrays of checked buffers, and memory that they may take.

use arrow_buffer::Buffer;
use arrow_data::{ArrayData, BufferSpec, layout};
use arrow_schema::DataType;
use forthwith_io::CodecError;
use forthwith_plan::{Error, Result, check_headroom};

/// Rows, validity if any is null.
pub(crate) type Head = (usize, Option<Buffer>);

/// Bytes at which the memory of an expansion is looked at for the first time.
const FIRST_CHECK: usize = 64 << 20;

/// Bytes of rows that few values are copied to, before they are copied: more than memory holds, or a limit allows, are refused
/// at about the first too many.
pub(crate) struct Expansion {
    codec: &'static str,
    what: &'static str,
    limit: Option<usize>,
    bytes: usize,
    next: usize,
}

impl Expansion {
    /// No bytes yet, of rows that errors name.
    pub(crate) const fn new(codec: &'static str, what: &'static str, limit: Option<usize>) -> Self {
        Self { codec, what, limit, bytes: 0, next: FIRST_CHECK }
    }

    /// Counts bytes.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes < self.next {
            return Ok(());
        }
        self.next = self.bytes.saturating_mul(2);
        self.check()
    }

    /// Looks at all bytes.
    pub(crate) fn check(&self) -> Result<()> {
        check_limit(self.codec, self.bytes, self.limit)?;
        // Arrow's array, which grows by doubling, and the columns.
        check_headroom(self.what, self.bytes.saturating_mul(3))
    }
}

/// Refuses more bytes than the limit for memory allows.
pub(crate) fn check_limit(codec: &'static str, bytes: usize, limit: Option<usize>) -> Result<()> {
    match limit {
        Some(limit) if bytes > limit => Err(Error::new(CodecError::OverLimit { codec, limit })),
        _ => Ok(()),
    }
}

/// An array whose contents are validated: lengths of buffers, offsets, UTF-8.
pub(crate) fn built(
    data_type: &DataType,
    (rows, validity): Head,
    mut buffers: Vec<Buffer>,
    children: Vec<ArrayData>,
) -> Result<ArrayData> {
    // Arrow's library panics where bytes are left behind the last number of a buffer.
    for (buffer, spec) in buffers.iter_mut().zip(layout(data_type).buffers) {
        if let BufferSpec::FixedWidth { byte_width, .. } = spec
            && byte_width > 0
        {
            *buffer = buffer.slice_with_length(0, buffer.len() - buffer.len() % byte_width);
        }
    }
    // The one offset of no rows may be any: pyarrow writes that of a slice, which Arrow's library for Rust refuses.
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
