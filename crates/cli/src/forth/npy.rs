//! The `.npy` format, version 1.0.

use forthwith::forth::{DType, Output};
use std::io::{self, Write};

/// Writes an output as a one-dimensional array.
pub(crate) fn write(output: &Output, to: &mut dyn Write) -> io::Result<()> {
    let header = header(output.dtype(), output.len());
    to.write_all(b"\x93NUMPY\x01\x00")?;
    to.write_all(&u16::try_from(header.len()).map_err(|_| io::ErrorKind::InvalidData)?.to_le_bytes())?;
    to.write_all(header.as_bytes())?;
    to.write_all(output.as_bytes())
}

fn header(dtype: DType, items: usize) -> String {
    let order = match dtype.size() {
        1 => '|',
        _ if cfg!(target_endian = "big") => '>',
        _ => '<',
    };
    let kind = match dtype {
        DType::Bool => 'b',
        DType::Float32 | DType::Float64 => 'f',
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => 'u',
        DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => 'i',
    };
    let mut header = format!(
        "{{'descr': '{order}{kind}{}', 'fortran_order': False, 'shape': ({items},), }}",
        dtype.size()
    );
    // With ten bytes before the header and a line feed at its end, the data begin at a multiple of 64.
    let padding = (11 + header.len()).next_multiple_of(64) - 11 - header.len();
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_is_aligned() {
        for items in [0, 1, 99, 12_345_678_901] {
            let header = header(DType::Float32, items);
            assert!((10 + header.len()).is_multiple_of(64) && header.ends_with(" \n"));
            assert!(header.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': ("));
        }
    }
}
