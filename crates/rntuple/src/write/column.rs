//! Encodings of columns: ROOT's defaults, unless the options of the field or a parent choose another.

use super::describe::{Describer, Refusal, Step};
use super::options::Floats;
use super::record::ColumnRecord;
use crate::coding::Kind;
use forthwith_columns::DType;
use forthwith_root::write::Compression;

impl Describer<'_> {
    /// Enters a field, which inherits the options of its parent.
    pub(super) fn enter(&mut self, name: &str, item: bool) {
        let name = name.to_owned();
        let step = match self.path.last() {
            Some(&Step { compression, floats, nulls, ref asked, .. }) => {
                Step { name, item, compression, floats, nulls, asked: asked.clone() }
            }
            None => {
                let (compression, nulls) = (self.options.compression, self.options.nulls);
                Step { name, item, compression, floats: Floats::Whole, nulls, asked: None }
            }
        };
        self.path.push(step);
    }

    /// Applies the options of the entered field.
    pub(super) fn choose(&mut self, id: u32) -> Result<(), Refusal> {
        let path = self.path_text();
        let (Some(choice), Some(step)) = (self.choices.get(&path), self.path.last_mut()) else {
            return Ok(());
        };
        // Items of a list have its path, but not its options.
        if step.item {
            return Ok(());
        }
        step.compression = choice.compression.unwrap_or(step.compression);
        step.nulls = choice.nulls.or(step.nulls);
        if let Some(floats) = choice.floats {
            if let Some(why) = floats.refusal() {
                return Err(why);
            }
            (step.floats, step.asked) = (floats, Some(path.clone()));
        }
        if let Some(field) = self.all.fields.get_mut(id as usize) {
            field.description.clone_from(&choice.description);
        }
        self.used.insert(path);
        Ok(())
    }

    /// Returns the path of the entered field. Items of lists have the path of these.
    pub(super) fn path_text(&self) -> String {
        let named = self.path.iter().filter(|step| !step.item).map(|step| &*step.name);
        named.collect::<Vec<_>>().join("/")
    }

    pub(super) fn names(&self, between: &str) -> String {
        self.path.iter().map(|step| &*step.name).collect::<Vec<_>>().join(between)
    }

    /// Returns whether pages are compressed, so that numbers are stored in planes of bytes.
    fn split(&self) -> bool {
        self.path.last().map_or(self.options.compression, |step| step.compression) != Compression::NONE
    }

    pub(super) fn ends(&mut self, field: u32, first: Option<u64>) -> usize {
        self.column(field, if self.split() { "SplitIndex64" } else { "Index64" }, first)
    }

    pub(super) fn column(&mut self, field: u32, type_name: &str, first: Option<u64>) -> usize {
        let (kind, code, bits) = Kind::named(type_name).unwrap_or((Kind::Byte, 1, 8)); // a test looks for the names
        let compression = self.path.last().map_or(self.options.compression, |step| step.compression);
        self.all.columns.push(ColumnRecord {
            kind,
            code,
            bits,
            field,
            first,
            from: None,
            range: None,
            compression,
        });
        self.all.columns.len() - 1
    }

    /// Adds a column of numbers, with ROOT's default encoding unless another is requested for floats.
    pub(super) fn number(&mut self, field: u32, dtype: DType, first: Option<u64>) -> usize {
        let is_float = matches!(dtype, DType::Float32 | DType::Float64);
        let (floats, asked) = match self.path.last() {
            Some(step) if is_float => (step.floats, step.asked.clone()),
            _ => (Floats::Whole, None),
        };
        self.used_floats.extend(asked);
        let (type_name, bits, range) = match floats {
            Floats::Whole => return self.column(field, self.real(dtype), first),
            Floats::Single if dtype == DType::Float32 => return self.column(field, self.real(dtype), first),
            Floats::Single => (self.real(DType::Float32), None, None),
            Floats::Half => ("Real16", None, None),
            Floats::Truncated { bits } => ("Real32Trunc", Some(bits), None),
            Floats::Quantised { bits, low, high } => ("Real32Quant", Some(bits), Some((low, high))),
        };
        let column = self.column(field, type_name, first);
        if let Some(of) = self.all.columns.last_mut() {
            (of.from, of.range, of.bits) = (Some(dtype), range, bits.unwrap_or(of.bits));
        }
        column
    }

    /// Returns ROOT's default type of a column of numbers.
    fn real(&self, dtype: DType) -> &'static str {
        let kind = match (dtype, self.split()) {
            (DType::Bool, _) => Kind::Bit,
            // The kind alone does not distinguish it from characters.
            (DType::Int8, _) => return "Int8",
            (DType::UInt8, _) | (_, false) => Kind::Plain(dtype),
            (DType::Int16 | DType::Int32 | DType::Int64, true) => Kind::Zigzag(dtype),
            (_, true) => Kind::Split(dtype),
        };
        kind.name()
    }
}
