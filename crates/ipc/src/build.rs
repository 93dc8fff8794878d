//! Arrow's arrays of checked buffers, and memory that they may take.

use arrow_buffer::Buffer;
use arrow_data::{ArrayData, BufferSpec, layout};
use arrow_schema::DataType;
use forthwith_io::CodecError;
use forthwith_plan::{Error, Result};

/// Rows, validity if any is null.
pub(crate) type Head = (usize, Option<Buffer>);

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
