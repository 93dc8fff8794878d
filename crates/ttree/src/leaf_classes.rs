//! Classes of leaves of numbers, for reading and writing.

use forthwith_columns::DType;

/// Type, class, and the letter in titles, which is in lower case for unsigned types.
const CLASSES: [(DType, &str, char); 11] = [
    (DType::Bool, "TLeafO", 'O'),
    (DType::Int8, "TLeafB", 'B'),
    (DType::UInt8, "TLeafB", 'b'),
    (DType::Int16, "TLeafS", 'S'),
    (DType::UInt16, "TLeafS", 's'),
    (DType::Int32, "TLeafI", 'I'),
    (DType::UInt32, "TLeafI", 'i'),
    (DType::Int64, "TLeafL", 'L'),
    (DType::UInt64, "TLeafL", 'l'),
    (DType::Float32, "TLeafF", 'F'),
    (DType::Float64, "TLeafD", 'D'),
];

/// Returns the class of leaves of a type, and its letter.
pub(crate) fn leaf_class(dtype: DType) -> (&'static str, char) {
    let row = CLASSES.iter().find(|row| row.0 == dtype);
    row.map_or(("TLeaf", ' '), |row| (row.1, row.2))
}

/// Returns the type of the numbers of a leaf class, or `None` for other classes. `unsigned` chooses the
/// unsigned type if the class has one.
pub(crate) fn leaf_numbers(class: &str, unsigned: bool) -> Option<DType> {
    // Leaves of `long` are written with 8 bytes as well.
    let class = if class == "TLeafG" { "TLeafL" } else { class };
    let mut rows = CLASSES.iter().filter(|row| row.1 == class);
    let first = rows.next()?;
    rows.next().filter(|_| unsigned).or(Some(first)).map(|row| row.0)
}
