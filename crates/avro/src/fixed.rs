//! Records of fixed size: numbers at fixed offsets are read by a kernel instead of a program.

use forthwith_columns::Form;
use forthwith_plan::{ColumnSpec, Kernel, Slot};
use forthwith_program::Layout;

/// Returns the kernel of a layout, with the Form and the columns it fills; `None` unless values have a fixed
/// size and all kept values are numbers.
pub(crate) fn kernel(layout: &Layout) -> Option<(Kernel, Form, Vec<ColumnSpec>)> {
    let size = layout.fixed_bytes().filter(|size| *size > 0)?;
    if let Layout::Number(wire) = layout {
        let (form, column) = number(0, *wire, "");
        return Some((Kernel::Flat { wire: *wire, per_entry: 1 }, form, vec![column]));
    }
    let Layout::Arranged { name, fields, order } = layout else { return None };
    let mut starts = Vec::with_capacity(fields.len());
    let mut at = 0u64;
    for (_, field) in fields {
        starts.push(at);
        at = at.checked_add(field.fixed_bytes()?)?;
    }
    let (mut names, mut contents) = (Vec::new(), Vec::new());
    let (mut slots, mut columns) = (Vec::new(), Vec::new());
    for (place, field) in order.iter().enumerate() {
        let (called, Layout::Number(wire)) = fields.get(*field as usize)? else { return None };
        let (form, column) = number(place, *wire, called);
        names.push(called.clone());
        contents.push(form);
        columns.push(column);
        slots.push(Slot { at: *starts.get(*field as usize)?, wire: *wire, count: 1 });
    }
    let form = Form::Record { fields: Some(names), contents, name: name.clone() };
    let kernel = match &slots[..] {
        [] => return None,
        [only] if only.wire.width() as u64 == size => Kernel::Flat { wire: only.wire, per_entry: 1 },
        _ => Kernel::Slots { size, slots },
    };
    Some((kernel, form, columns))
}

fn number(place: usize, wire: forthwith_columns::Encoding, member: &str) -> (Form, ColumnSpec) {
    let (key, dtype) = (format!("node{place}"), wire.dtype());
    let column = ColumnSpec {
        key: format!("{key}-data"),
        dtype,
        offsets: false,
        member: member.to_owned(),
        bytes_per_payload_byte: 0,
    };
    (Form::Numpy { key, dtype, shape: vec![] }, column)
}
