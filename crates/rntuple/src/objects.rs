//! Programs that read the objects of streamed fields.

use crate::coding::Stored;
use forthwith_columns::Finisher;
use forthwith_program::Program;
use std::sync::Arc;

/// Program for objects, and the column of their bytes in each representation.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    pub(crate) program: Arc<Program>,
    pub(crate) bytes: Vec<(u32, Stored)>,
}

/// Returns a program whose columns have a prefix, so that their names are unique within the field.
pub(crate) fn renamed(mut program: Program, prefix: &str) -> Program {
    program.form.prefix_keys(prefix);
    for output in &mut program.outputs {
        output.key.insert_str(0, prefix);
    }
    for finisher in &mut program.finish {
        match finisher {
            Finisher::OptionUnion { key, union, .. } | Finisher::Objects { key, union: Some(union) } => {
                key.insert_str(0, prefix);
                union.insert_str(0, prefix);
            }
            Finisher::Option { key, .. }
            | Finisher::Union { key }
            | Finisher::Objects { key, union: None }
            | Finisher::Unpack { key, .. }
            | Finisher::Mixed { key, .. }
            | Finisher::ValidateBool { key }
            | Finisher::Symbols { key, .. }
            | Finisher::NamedNumbers { key, .. }
            | Finisher::Categories { key, .. } => key.insert_str(0, prefix),
            _ => {}
        }
    }
    program
}
