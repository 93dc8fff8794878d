//! The classes of leaves of numbers, for those that are read and those that are written.

use forthwith_columns::DType;

/// Number, class, and the letter in titles: a small one has no sign.
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

/// The class of leaves of such numbers, and their letter.
pub(crate) fn leaf_class(dtype: DType) -> (&'static str, char) {
    let row = CLASSES.iter().find(|row| row.0 == dtype);
    row.map_or(("TLeaf", ' '), |row| (row.1, row.2))
}

/// The numbers of leaves of a class, where the class has such without a sign or the leaf says nothing of it.
pub(crate) fn leaf_numbers(class: &str, unsigned: bool) -> Option<DType> {
    // A `long`, which is written with 8 bytes as well.
    let class = if class == "TLeafG" { "TLeafL" } else { class };
    let mut rows = CLASSES.iter().filter(|row| row.1 == class);
    let first = rows.next()?;
    rows.next().filter(|_| unsigned).or(Some(first)).map(|row| row.0)
}
