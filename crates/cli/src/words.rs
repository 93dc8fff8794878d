//! What the things in a file of a format are called.

use crate::human;

/// The words of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// A table.
    pub(crate) table: &'static str,
    /// One column and several.
    pub(crate) column: [&'static str; 2],
    /// What the bytes of columns lie in.
    pub(crate) block: [&'static str; 2],
    /// Whether a block has the values of all columns, so that a column has no size of its own.
    pub(crate) rows: bool,
}

impl Words {
    /// Those of a format by its name.
    pub(crate) fn of(format: &str) -> Self {
        let column = ["column", "columns"];
        match format {
            "ROOT" => Self {
                table: "tree",
                column: ["branch", "branches"],
                block: ["basket", "baskets"],
                rows: false,
            },
            "Parquet" => Self { table: "table", column, block: ["row group", "row groups"], rows: false },
            "Avro" => Self { table: "table", column, block: ["block", "blocks"], rows: true },
            _ => Self { table: "table", column, block: ["block", "blocks"], rows: false },
        }
    }

    /// Those of the file a table is in.
    pub(crate) fn of_table(table: &forthwith::Table) -> Self {
        Self::of(table.file().info().as_ref().map_or("", |info| &info.format))
    }

    /// `3 branches`.
    pub(crate) fn columns(&self, number: u64) -> String {
        human::counted(number, self.column[0], self.column[1])
    }

    /// `12 baskets`.
    pub(crate) fn blocks(&self, number: u64) -> String {
        human::counted(number, self.block[0], self.block[1])
    }
}
