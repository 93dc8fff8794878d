//! Files of Arrow's IPC format, by Arrow's own library.

use arrow_array::RecordBatch;
use arrow_ipc::{
    CompressionType,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};
use arrow_schema::Schema;

/// A file, or a stream, of these batches. `how` chooses between both, and the codec.
pub fn ipc_file(schema: &Schema, batches: &[RecordBatch], how: u8) -> Option<Vec<u8>> {
    let codec = match how >> 1 & 3 {
        1 => Some(CompressionType::LZ4_FRAME),
        2 => Some(CompressionType::ZSTD),
        _ => None,
    };
    let options = IpcWriteOptions::default().try_with_compression(codec).ok()?;
    let mut bytes = Vec::new();
    if how & 1 == 0 {
        let mut writer = FileWriter::try_new_with_options(&mut bytes, schema, options).ok()?;
        batches.iter().try_for_each(|batch| writer.write(batch)).ok()?;
        writer.finish().ok()?;
    } else {
        let mut writer = StreamWriter::try_new_with_options(&mut bytes, schema, options).ok()?;
        batches.iter().try_for_each(|batch| writer.write(batch)).ok()?;
        writer.finish().ok()?;
    }
    Some(bytes)
}
