//! How fields are read, in words.

use forthwith::{
    columns::{DType, Encoding},
    plan::{self, Decoder, Kernel},
};
use pyo3::prelude::*;
use std::borrow::Cow;

/// How a field is read.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Description(pub(crate) plan::Description);

impl Description {
    fn reading(&self) -> Option<&plan::Reading> {
        self.0.reading.as_ref().ok()
    }
}

#[pymethods]
impl Description {
    #[getter]
    fn typename(&self) -> &str {
        &self.0.type_name
    }

    #[getter]
    fn entries(&self) -> u64 {
        self.0.entries
    }

    #[getter]
    fn blocks(&self) -> u64 {
        self.0.blocks
    }

    #[getter]
    fn stored_bytes(&self) -> u64 {
        self.0.stored_bytes
    }

    #[getter]
    fn payload_bytes(&self) -> u64 {
        self.0.payload_bytes
    }

    /// Why the field cannot be read, if it cannot.
    #[getter]
    fn problem(&self) -> Option<&str> {
        self.0.reading.as_ref().err().map(String::as_str)
    }

    #[getter]
    fn form(&self) -> Option<String> {
        // A Form that Awkward has no words for would fail when it is read, too; the words it has are the best there is.
        self.reading().map(|reading| {
            let form = &reading.form;
            form.for_awkward()
                .map_or_else(|_| form.to_awkward_json(), |flat| flat.logical().to_logical_json())
        })
    }

    #[getter]
    fn type_string(&self) -> Option<String> {
        self.reading().map(|reading| reading.form.type_string())
    }

    #[getter]
    fn decoder(&self) -> Option<&'static str> {
        self.reading().map(|reading| reading.decoder.kind())
    }

    #[getter]
    fn layout(&self) -> Option<String> {
        self.reading().map(|reading| layout(&reading.decoder))
    }

    #[getter]
    fn reason(&self) -> Option<&str> {
        self.reading().map(|reading| reading.reason.as_str())
    }

    #[getter]
    fn forth(&self) -> Option<Cow<'_, str>> {
        match &self.reading()?.decoder {
            Decoder::Program(program) => Some(Cow::Borrowed(&program.source)),
            other => forthwith::own_program(other).map(Cow::Owned),
        }
    }
}

/// What a decoder does, in a phrase.
fn layout(decoder: &Decoder) -> String {
    match decoder {
        Decoder::Kernel(Kernel::Flat { wire, per_entry: 1 }) => format!("one {} an entry", wire_text(*wire)),
        Decoder::Kernel(Kernel::Flat { wire, per_entry }) => {
            format!("{per_entry} {} an entry", wire_text(*wire))
        }
        Decoder::Kernel(Kernel::Slots { size, slots }) => {
            format!("{} members in {size} bytes an entry", slots.len())
        }
        Decoder::Kernel(Kernel::Jagged { header, wire, per_item }) => {
            let items = if *per_item == 1 { String::new() } else { format!("{per_item} ") };
            let header = if *header == 0 { String::new() } else { format!(" after {header} bytes") };
            format!("lists of {items}{}{header}", wire_text(*wire))
        }
        Decoder::Program(program) => format!("{} outputs", program.outputs.len()),
        other if forthwith::own_program(other).is_some() => "a registered program".into(),
        _ => String::new(),
    }
}

fn wire_text(wire: Encoding) -> String {
    match wire {
        Encoding::Big(dtype) if dtype.size() > 1 => format!("big-endian {dtype}"),
        Encoding::Little(dtype) if dtype.size() > 1 => format!("little-endian {dtype}"),
        Encoding::Big(dtype) | Encoding::Little(dtype) => dtype.to_string(),
        Encoding::Bool | Encoding::StrictBool => "bool".into(),
        Encoding::Widened => "float32 widened to float64".into(),
        Encoding::Scaled { to, .. } => format!("integer scaled to {to}"),
        Encoding::Truncated { bits, to } => format!("{to} with {bits} bits of mantissa"),
        _ => "value".into(),
    }
}

/// NumPy's word for a value as it lies in the file, and its size.
pub(crate) fn raw_type(wire: Encoding) -> (&'static str, usize) {
    match wire {
        Encoding::Big(dtype) => (big(dtype), dtype.size()),
        Encoding::Little(dtype) => (little(dtype), dtype.size()),
        Encoding::Widened => (">f4", 4),
        Encoding::Scaled { .. } => (">u4", 4),
        // Three bytes have no type, and bytes that should be bool may be anything.
        _ => ("|u1", 1),
    }
}

const fn big(dtype: DType) -> &'static str {
    match dtype {
        DType::Int8 => "|i1",
        DType::Int16 => ">i2",
        DType::Int32 => ">i4",
        DType::Int64 => ">i8",
        DType::UInt16 => ">u2",
        DType::UInt32 => ">u4",
        DType::UInt64 => ">u8",
        DType::Float32 => ">f4",
        DType::Float64 => ">f8",
        _ => "|u1",
    }
}

const fn little(dtype: DType) -> &'static str {
    match dtype {
        DType::Int8 => "|i1",
        DType::Int16 => "<i2",
        DType::Int32 => "<i4",
        DType::Int64 => "<i8",
        DType::UInt16 => "<u2",
        DType::UInt32 => "<u4",
        DType::UInt64 => "<u8",
        DType::Float32 => "<f4",
        DType::Float64 => "<f8",
        _ => "|u1",
    }
}
