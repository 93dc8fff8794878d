//! The programs that read what is no plain row of numbers.

use forthwith_columns::{DType, Encoding, Form};
use forthwith_program::{Fault, Idiom, Member, OutputBinding, Program};

use super::columns::{LeafMember, Many};

/// Strings of a `TLeafC`: as others, except that an empty one takes no bytes at all.
pub(super) fn leaf_strings(member: &str) -> Program {
    let key = "node0".to_owned();
    let lines = text_if_any(&key);
    let lines = lines.each_ref().map(String::as_str);
    let outputs = vec![
        output("node0-offsets", DType::Int64, true, member),
        output("node0-data", DType::UInt8, false, member),
    ];
    by_hand(&[], &lines, outputs, Form::String { key, binary: false }, member)
}

/// A leaf list whose last leaf varies in size, and fills the entry to its end. `None` if a number has no
/// word.
pub(super) fn leaf_list(members: &[(String, LeafMember)], member: &str) -> Option<Program> {
    let (mut lines, mut outputs) = (Vec::new(), Vec::new());
    let (mut names, mut contents) = (Vec::new(), Vec::new());
    let mut node = 0;
    let mut key = || {
        node += 1;
        format!("node{}", node - 1)
    };
    let counted = |at: usize| {
        members
            .iter()
            .any(|(_, kind)| matches!(kind, LeafMember::Numbers { many: Many::As(of), .. } if *of == at))
    };
    let mut variables = Vec::new();
    for (at, (name, kind)) in members.iter().enumerate() {
        let path = format!("{member}.{name}");
        names.push(name.clone());
        match kind {
            LeafMember::Text => {
                let key = key();
                outputs.push(output(&format!("{key}-offsets"), DType::Int64, true, &path));
                outputs.push(output(&format!("{key}-data"), DType::UInt8, false, &path));
                lines.extend(text_if_any(&key));
                contents.push(Form::String { key, binary: false });
            }
            LeafMember::Numbers { wire, shape, many } => {
                let (word, dtype) = (parser(*wire)?, wire.dtype());
                let count = shape.iter().try_fold(1u64, |all, &size| all.checked_mul(size))?;
                let count = i32::try_from(count).ok()?;
                let offsets = (*many != Many::One).then(&mut key);
                let data = key();
                if let Some(offsets) = &offsets {
                    outputs.push(output(&format!("{offsets}-offsets"), DType::Int64, true, &path));
                    let (offsets, count) = (format!("{offsets}-offsets"), count.to_string());
                    let many_of = format!("data #{word}-> {data}-data");
                    let given = [("OFFSETS", &*offsets), ("MANY", &*many_of)];
                    let of_count: [String; 2] = match many {
                        Many::As(of) => {
                            let items = format!("count{of} @ dup 0 < if {FAULT_NEGATIVE} halt then");
                            Idiom::ListOfRuns.lines(&[given[0], given[1], ("READ", &items), ("N", &count)])
                        }
                        _ => {
                            let bytes = (wire.width() as i32).checked_mul(count.parse().ok()?)?.to_string();
                            let given = [given[0], given[1], ("N", &*bytes), ("M", &*count)];
                            let [a, b, c, d] = given;
                            Idiom::Rest.lines(&[a, b, c, d, ("DATA", "data"), ("STOP", "stop")])
                        }
                    };
                    lines.extend(of_count);
                } else if counted(at) {
                    if count != 1 || matches!(dtype, DType::Float32 | DType::Float64) {
                        return None;
                    }
                    variables.push(format!("count{at}"));
                    lines.push(format!("data {word}-> stack dup count{at} ! {data}-data <- stack"));
                } else {
                    let many = format!("data #{word}-> {data}-data");
                    lines.push(Idiom::Run.line(&[("N", &count.to_string()), ("MANY", &many)]));
                }
                outputs.push(output(&format!("{data}-data"), dtype, false, &path));
                let numbers = Form::Numpy { key: data, dtype, shape: shape.clone() };
                contents.push(match offsets {
                    Some(key) => Form::List { key, content: Box::new(numbers) },
                    None => numbers,
                });
            }
        }
    }
    let form = Form::Record { fields: Some(names), contents, name: None };
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    Some(by_hand(&variables, &lines, outputs, form, member))
}

/// A string that takes no bytes at all if it is empty.
fn text_if_any(key: &str) -> [String; 2] {
    let (offsets, many) = (format!("{key}-offsets"), format!("data #B-> {key}-data"));
    Idiom::TextIfAny.lines(&[("DATA", "data"), ("STOP", "stop"), ("OFFSETS", &offsets), ("MANY", &many)])
}

/// The bits of a `TObject`, of which one says that two bytes follow.
fn object_bits(output: &str) -> String {
    let given = [("READ", "data !I-> stack"), ("N", "16"), ("BODY", "2 data skip"), ("OUT", output)];
    Idiom::Flags.line(&given)
}

/// The word that reads a number, without the arrow.
fn parser(wire: Encoding) -> Option<&'static str> {
    Some(match wire {
        Encoding::Bool => "?",
        Encoding::Big(dtype) => dtype.parser(true),
        _ => return None,
    })
}

/// The bits of a `TObject`, of one or of all items of a collection. Two more bytes follow those of an object
/// that is referenced.
pub(super) fn bits(items: bool, member: &str) -> Program {
    let numbers = |node: &str| Form::Numpy { key: node.into(), dtype: DType::UInt32, shape: vec![] };
    if !items {
        let lines = [&*object_bits("node0-data")];
        let outputs = vec![output("node0-data", DType::UInt32, false, member)];
        return by_hand(&[], &lines, outputs, numbers("node0"), member);
    }
    let inner = format!("{member}[]");
    let [begin, end] =
        Idiom::ToEnd.lines(&[("DATA", "data"), ("STOP", "stop"), ("OFFSETS", "node0-offsets")]);
    let lines = [&*begin, &object_bits("node1-data"), &end];
    let outputs = vec![
        output("node0-offsets", DType::Int64, true, member),
        output("node1-data", DType::UInt32, false, &inner),
    ];
    let form = Form::List { key: "node0".into(), content: Box::new(numbers("node1")) };
    by_hand(&[], &lines, outputs, form, member)
}

fn by_hand(
    variables: &[String],
    lines: &[&str],
    outputs: Vec<OutputBinding>,
    form: Form,
    member: &str,
) -> Program {
    let mut source = String::from("input data\ninput starts\ninput stops\nvariable stop\n");
    for output in &outputs {
        source.push_str(&format!("output {} {}\n", output.key, output.dtype));
    }
    for variable in variables {
        source.push_str(&format!("variable {variable}\n"));
    }
    let start = Idiom::Start.line(&[("READ", "starts I-> stack"), ("DATA", "data")]);
    let stop = Idiom::Stop.line(&[("READ", "stops I-> stack"), ("STOP", "stop")]);
    source.push_str(&format!("0 do\n  {start}\n  {stop}\n"));
    let first = source.lines().count() as u32 + 1;
    let members = (first..).zip(lines).map(|(line, _)| Member { line, path: member.into() }).collect();
    for line in lines {
        source.push_str(&format!("  {line}\n"));
    }
    let code = FAULT_LENGTH.to_string();
    let end = Idiom::CheckEnd.line(&[("DATA", "data"), ("STOP", "stop"), ("CODE", &code)]);
    source.push_str(&format!("  {end}\nloop\n"));
    let mut faults = vec![fault(FAULT_LENGTH, "the entry's bytes are not consumed exactly")];
    if !variables.is_empty() {
        faults.push(fault(FAULT_NEGATIVE, "a length is negative"));
    }
    Program {
        source,
        form,
        outputs,
        bounded: true,
        faults,
        members,
        finish: Vec::new(),
        constants: Vec::new(),
        signed: false,
        origin: false,
        asks: false,
        counts: false,
        items: false,
        to_end: true,
    }
}

fn output(key: &str, dtype: DType, offsets: bool, member: &str) -> OutputBinding {
    OutputBinding { key: key.into(), dtype, offsets, member: member.into() }
}

fn fault(code: i64, what: &str) -> Fault {
    Fault { code, what: what.into(), unsupported: false }
}

const FAULT_LENGTH: i64 = 3;
const FAULT_NEGATIVE: i64 = 5;
