//! Encoding of values without nested values.

use super::{
    meant::{UUID, class},
    nodes::{Node, Of},
    refused::{Trouble, Walked, Why},
    walk::{NEAR, Walk},
};
use crate::builders::Kind;
use forthwith::avro::put_long;
use pyo3::{
    prelude::*,
    types::{PyBool, PyBytes, PyFloat, PyString},
};

/// Penalty of text as bytes and of bytes as text, which are the last choice.
const FAR: u32 = 20;
/// Penalty of text as a symbol, and of bytes as a fixed type: as for arrays, types without a restriction are
/// preferred.
const NARROW: u32 = 3;

impl Walk<'_, '_> {
    pub(super) fn scalar(
        &mut self,
        at: usize,
        node: &Node,
        object: &Bound<'_, PyAny>,
        kind: Kind,
        out: &mut Vec<u8>,
    ) -> Walked<u32> {
        let wrong = || Trouble::refused(at, Why::Type(object.clone().unbind()));
        let beyond = || Trouble::refused(at, Why::Range(object.clone().unbind()));
        Ok(match (&node.of, kind) {
            (Of::Null, Kind::None) => 0,
            (Of::Boolean, Kind::Bool) => {
                out.push(object.cast::<PyBool>()?.is_true().into());
                0
            }
            (Of::Int, Kind::Int) => {
                put_long(object.extract::<i32>().map_err(|_| beyond())?.into(), out);
                0
            }
            (Of::Long, Kind::Int) => {
                put_long(object.extract::<i64>().map_err(|_| beyond())?, out);
                0
            }
            (Of::Double, Kind::Float | Kind::Int) => {
                out.extend(object.extract::<f64>().map_err(|_| beyond())?.to_le_bytes());
                if kind == Kind::Float { 0 } else { NEAR }
            }
            (Of::Float, Kind::Float | Kind::Int) => {
                let real = match kind {
                    Kind::Float => object.cast::<PyFloat>()?.value(),
                    _ => object.extract::<f64>().map_err(|_| beyond())?,
                };
                let single = real as f32;
                if single.is_infinite() && real.is_finite() {
                    return Err(beyond());
                }
                out.extend(single.to_le_bytes());
                // Python's floats have double precision.
                if kind == Kind::Float { 1 } else { NEAR + 1 }
            }
            (Of::String | Of::Bytes | Of::Enum(_) | Of::Fixed(_), Kind::Str) => {
                let text = object.cast::<PyString>()?;
                // Unpaired surrogates have no UTF-8 encoding.
                let text = text.to_str().map_err(|_| beyond())?;
                return self.text(node, text.as_bytes(), false, out).ok_or_else(beyond);
            }
            (Of::String | Of::Bytes | Of::Fixed(_), Kind::Bytes) => {
                let bytes = object.cast::<PyBytes>()?.as_bytes();
                return self.text(node, bytes, true, out).ok_or_else(beyond);
            }
            (Of::String, Kind::Other) if object.is_instance(class(self.py, &UUID, "uuid", "UUID")?)? => {
                let text = object.str()?;
                return self
                    .text(node, text.to_str()?.as_bytes(), false, out)
                    .map(|_| NEAR)
                    .ok_or_else(beyond);
            }
            _ => return Err(wrong()),
        })
    }

    /// Encodes text or bytes and returns the penalty; `None` if they do not match the type.
    #[expect(clippy::unused_self, reason = "one of the ways a walk puts values")]
    fn text(&self, node: &Node, bytes: &[u8], binary: bool, out: &mut Vec<u8>) -> Option<u32> {
        match &node.of {
            Of::Enum(symbols) => {
                put_long(*symbols.get(std::str::from_utf8(bytes).ok()?)?, out);
                return Some(NARROW);
            }
            Of::Fixed(size) => {
                if bytes.len() != *size {
                    return None;
                }
                out.extend_from_slice(bytes);
                return Some(if binary { NARROW } else { FAR + 1 });
            }
            Of::String if binary && std::str::from_utf8(bytes).is_err() => return None,
            _ => {}
        }
        put_long(bytes.len() as i64, out);
        out.extend_from_slice(bytes);
        Some(if binary == matches!(node.of, Of::Bytes) { 0 } else { FAR })
    }
}
