//! Bytecode → text, for `decompiled`.

use super::emit::Bytecode;
use super::ir::Ir;
use crate::isa::{FIRST_CALL, Group, Op, Read, WIDE_LITERAL};

/// Upper bound on the indentation, in spaces.
const MAX_INDENT: usize = 48;

pub(crate) struct Decompiler<'a> {
    pub(crate) program: &'a Ir,
    pub(crate) bytecode: &'a Bytecode,
}

impl Decompiler<'_> {
    pub(crate) fn program(&self) -> String {
        let program = self.program;
        let mut text = String::new();
        for name in &program.variables {
            text.push_str(&format!("variable {name}\n"));
        }
        for name in &program.inputs {
            text.push_str(&format!("input {name}\n"));
        }
        for output in &program.outputs {
            text.push_str(&format!("output {} {}\n", output.name, output.dtype));
        }
        for word in &program.words {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&format!(": {}\n", word.name));
            self.indented(word.body.segment as usize, "", &mut text);
            text.push_str(";\n");
        }
        if !text.is_empty() && !self.segment(0).is_empty() {
            text.push('\n');
        }
        self.body(0, "", &mut text);
        text
    }

    /// Appends the text of the instruction at a position, which may have several lines, and returns its
    /// length.
    pub(crate) fn instruction(&self, at: usize, indent: &str, text: &mut String) -> usize {
        let code = &self.bytecode.code;
        if let Some((read, length)) = Read::decode(&code[at..]) {
            let to = read.output.map_or("stack", |output| &self.program.outputs[output as usize].name);
            text.push_str(&format!("{} {} {to}", self.program.inputs[read.input as usize], read.word()));
            return length;
        }
        if let [WIDE_LITERAL, low, high, ..] = code[at..] {
            text.push_str(&(i64::from(high) << 32 | i64::from(low as u32)).to_string());
            return 3;
        }
        match Op::from_code(code[at]) {
            Some(op) => {
                self.op(op, &code[at + 1..], indent, text);
                1 + op.operands()
            }
            None => self.call(at, indent, text),
        }
    }

    /// Returns the number of bytecode numbers of the instruction at a position; None if no instruction begins
    /// there.
    pub(crate) fn length(&self, at: usize) -> Option<usize> {
        let offsets = &self.bytecode.offsets;
        let segment = offsets.partition_point(|&offset| offset as usize <= at).checked_sub(1)?;
        let end = *offsets.get(segment + 1)? as usize;
        let mut start = offsets[segment] as usize;
        // Operands look like instructions, so the segment has to be decoded from its start.
        while start < end {
            let code = &self.bytecode.code[start..end];
            let length = match (Read::decode(code), Op::from_code(code[0])) {
                (Some((_, length)), _) => length,
                (_, Some(op)) => 1 + op.operands(),
                _ if code[0] == WIDE_LITERAL => 3,
                _ => 1,
            };
            if start >= at {
                return (start == at).then_some(length);
            }
            // A body that was entered is an instruction of its own: the call that is the operand.
            if at < start + length && is_structure(code[0]) {
                return Some(1);
            }
            start += length;
        }
        None
    }

    fn segment(&self, segment: usize) -> std::ops::Range<usize> {
        self.bytecode.offsets[segment] as usize..self.bytecode.offsets[segment + 1] as usize
    }

    fn body(&self, segment: usize, indent: &str, text: &mut String) {
        self.lines(segment, indent, indent, text);
    }

    fn lines(&self, segment: usize, first: &str, indent: &str, text: &mut String) {
        let range = self.segment(segment);
        let mut at = range.start;
        while at < range.end {
            text.push_str(if at == range.start { first } else { indent });
            at += self.instruction(at, indent, text);
            text.push('\n');
        }
    }

    fn indented(&self, segment: usize, indent: &str, text: &mut String) {
        // Without the bound, deeply nested text would be mostly spaces.
        let deeper = if indent.len() < MAX_INDENT { "  " } else { "" };
        self.body(segment, &format!("{indent}{deeper}"), text);
    }

    fn call(&self, at: usize, indent: &str, text: &mut String) -> usize {
        let code = &self.bytecode.code;
        let segment = (code[at] - FIRST_CALL) as usize;
        let next = code.get(at + 1).and_then(|&code| Op::from_code(code));
        // A call followed by one of these is the body of an indefinite loop, unless a segment ends between
        // them.
        let same_segment = self.bytecode.offsets.binary_search(&(at as i64 + 1)).is_err();
        if let (true, Some(op @ (Op::Again | Op::Until | Op::While))) = (same_segment, next) {
            text.push_str("begin\n");
            self.indented(segment, indent, text);
            text.push_str(indent);
            text.push_str(op.word());
            if op == Op::While {
                text.push('\n');
                self.indented((code[at + 2] - FIRST_CALL) as usize, indent, text);
                text.push_str(indent);
                text.push_str("repeat");
            }
            return 2 + op.operands();
        }
        let words = &self.program.words;
        match words.binary_search_by_key(&segment, |word| word.body.segment as usize) {
            Ok(word) => text.push_str(&words[word].name),
            Err(_) => {
                // The caller has written the indentation of the first line and will terminate the last one.
                self.lines(segment, "", indent, text);
                if text.ends_with('\n') {
                    text.pop();
                }
            }
        }
        1
    }

    fn op(&self, op: Op, operands: &[i32], indent: &str, text: &mut String) {
        let program = self.program;
        let slot = || operands[0] as usize;
        let body = |at: usize| (operands[at] - FIRST_CALL) as usize;
        match (op.group(), op) {
            (_, Op::Literal) => text.push_str(&operands[0].to_string()),
            (_, Op::If) => {
                text.push_str("if\n");
                self.indented(body(0), indent, text);
                text.push_str(&format!("{indent}then"));
            }
            (_, Op::IfElse) => {
                text.push_str("if\n");
                self.indented(body(0), indent, text);
                text.push_str(&format!("{indent}else\n"));
                self.indented(body(1), indent, text);
                text.push_str(&format!("{indent}then"));
            }
            (_, Op::CaseTable) => self.case(body(0), body(1), indent, text),
            (_, Op::Do | Op::DoStep) => {
                text.push_str("do\n");
                self.indented(body(0), indent, text);
                text.push_str(&format!("{indent}{}", if op == Op::Do { "loop" } else { op.word() }));
            }
            (Group::Variable, _) => text.push_str(&format!("{} {}", program.variables[slot()], op.word())),
            (Group::Output, _) => text.push_str(&format!("{} {}", program.outputs[slot()].name, op.word())),
            (Group::OutputStack, _) => {
                text.push_str(&format!("{} {} stack", program.outputs[slot()].name, op.word()));
            }
            (Group::Input, _) => {
                text.push_str(&format!("{} {}", program.inputs[slot()], op.word()));
                if matches!(op, Op::Enum | Op::EnumOnly) {
                    for string in &program.strings[operands[1] as usize..operands[2] as usize] {
                        text.push_str(&format!(" s\" {}\"", string.replace('"', "\\\"")));
                    }
                }
            }
            (Group::Text, _) => {
                text.push_str(&format!("{} {}\"", op.word(), program.strings[slot()].replace('"', "\\\"")));
            }
            _ => text.push_str(op.word()),
        }
    }

    fn case(&self, first: usize, default: usize, indent: &str, text: &mut String) {
        text.push_str("case ( regular )\n");
        let inner = format!("{indent}{}", if indent.len() < MAX_INDENT { "    " } else { "" });
        for (number, segment) in (first..default).enumerate() {
            text.push_str(&format!("{indent}  {number} of"));
            if self.segment(segment).is_empty() {
                text.push_str(" endof\n");
            } else {
                text.push('\n');
                self.body(segment, &inner, text);
                text.push_str(&format!("{indent}  endof\n"));
            }
        }
        if self.segment(default).len() > 1 {
            text.push_str(&format!("{indent}  ( default )\n"));
            let mut body = String::new();
            self.body(default, &inner, &mut body);
            // The last `drop` belongs to `endcase` and is not in the source.
            let shown = body.trim_end_matches('\n');
            text.push_str(shown.strip_suffix(Op::Drop.word()).unwrap_or(shown).trim_end_matches(&*inner));
        }
        text.push_str(&format!("{indent}endcase"));
    }
}

/// Whether the operands of an instruction are calls of bodies, which can be the position of a machine.
fn is_structure(code: i32) -> bool {
    matches!(Op::from_code(code), Some(Op::If | Op::IfElse | Op::Do | Op::DoStep | Op::While))
}
