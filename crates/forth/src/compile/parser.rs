//! Tokens → structured IR, with every compile-time check.

use std::collections::HashMap;

use super::ir::{Body, Ir, Kind, Node, OutputDecl, Word};
use super::lexer::{Token, integer, tokenize};
use super::options::{LiteralWidth, Options};
use crate::DType;
use crate::error::{CompileError, CompileErrorKind as E};
use crate::isa::{self, Group, Op, Parser as Code, Read, Syntax};
use crate::similar_names;

/// Upper bound on the nesting of structures. Deeper nesting could exhaust the native stack of the compiler,
/// and few runs could enter it with default limits.
const MAX_NESTING: usize = 192;
/// Upper bound on the nesting including the links of `case` chains, each of which is nested in the one
/// before. A link takes less of the native stack.
const MAX_DEPTH: usize = 576;

pub(crate) fn parse(source: &str, options: Options) -> Result<Ir> {
    if source.len() > i32::MAX as usize {
        return Err(CompileError::new(E::ProgramTooLarge, source, 0, 0));
    }
    let tokens = tokenize(source)?;
    let mut parser = Parser {
        source,
        options,
        tokens: &tokens,
        at: 0,
        program: Ir { segments: 1, ..Ir::default() },
        names: HashMap::new(),
        closers: Vec::new(),
        definition: None,
        loops: 0,
        links: 0,
    };
    let (nodes, _) = parser.nodes(&[])?;
    parser.program.main = Body { segment: 0, nodes };
    // Words were added in the order of their ends; the dictionary is in the order of the colons.
    parser.program.words.sort_by_key(|word| word.body.segment);
    Ok(parser.program)
}

#[derive(Clone, Copy)]
enum Name {
    Variable(u32),
    Input(u32),
    Output(u32),
    /// Word number and segment.
    Word(u32),
}

struct Parser<'a> {
    source: &'a str,
    options: Options,
    tokens: &'a [Token<'a>],
    at: usize,
    program: Ir,
    names: HashMap<&'a str, Name>,
    /// The words that close the enclosing structures, outermost first.
    closers: Vec<&'static [&'static str]>,
    /// Number of the word that is being defined.
    definition: Option<u32>,
    /// Number of `do` loops around the current token in the same definition.
    loops: usize,
    /// Number of links of `case` chains around the current token.
    links: usize,
}

type Result<T> = std::result::Result<T, CompileError>;

impl<'a> Parser<'a> {
    /// Parses up to one of `closers`, which is consumed, or to the end of the text if `closers` is empty.
    /// Returns the nodes and the closer found.
    fn nodes(&mut self, closers: &[&'static str]) -> Result<(Vec<Node>, Option<&'a str>)> {
        let mut nodes = Vec::new();
        while let Some(token) = self.tokens.get(self.at) {
            if closers.contains(&token.word) {
                self.at += 1;
                return Ok((nodes, Some(token.word)));
            }
            if self.closers.iter().any(|outer| outer.contains(&token.word)) {
                break;
            }
            self.node(&mut nodes)?;
        }
        Ok((nodes, None))
    }

    /// Parses one body, and returns it with the closer found; `unclosed` is reported at token `head` if none
    /// of `closers` ends it.
    fn body(
        &mut self,
        head: usize,
        closers: &'static [&'static str],
        unclosed: E,
    ) -> Result<(Body, &'a str)> {
        let segment = self.segment();
        let (nodes, closer) = self.enclosed(head, closers, unclosed)?;
        Ok((Body { segment, nodes }, closer))
    }

    fn enclosed(
        &mut self,
        head: usize,
        closers: &'static [&'static str],
        unclosed: E,
    ) -> Result<(Vec<Node>, &'a str)> {
        if self.closers.len() >= MAX_NESTING || self.closers.len() + self.links >= MAX_DEPTH {
            return Err(self.error(E::NestedTooDeeply, head));
        }
        self.closers.push(closers);
        let (nodes, closer) = self.nodes(closers)?;
        self.closers.pop();
        match closer {
            Some(closer) => Ok((nodes, closer)),
            None => Err(self.error(unclosed, head)),
        }
    }

    fn node(&mut self, nodes: &mut Vec<Node>) -> Result<()> {
        let head = self.at;
        let token = &self.tokens[head];
        self.at += 1;
        let kind = match self.names.get(token.word) {
            Some(&Name::Variable(index)) => self.variable(head, index)?,
            Some(&Name::Input(index)) => self.input(head, index)?,
            Some(&Name::Output(index)) => self.output(head, index)?,
            Some(&Name::Word(index)) => Kind::Call(index),
            None => match self.word(head, token)? {
                Some(kind) => kind,
                None => return Ok(()),
            },
        };
        nodes.push(Node::new(token.start, kind));
        Ok(())
    }

    /// Parses a word that is not a declared name. None: a declaration, which compiles to nothing.
    fn word(&mut self, head: usize, token: &Token<'a>) -> Result<Option<Kind>> {
        if let Some(syntax) = Syntax::lookup(token.word) {
            return self.syntax(head, syntax);
        }
        let alone = |group| matches!(group, Group::Control | Group::Text | Group::Generic);
        if let Some(op) = Op::lookup(token.word, alone) {
            return self.op(head, token, op).map(Some);
        }
        match integer(token.word) {
            Some(value) => {
                if i32::try_from(value).is_err() {
                    if self.options.literal_width == LiteralWidth::Bits64 {
                        return Ok(Some(Kind::Wide(value)));
                    }
                    self.program.cut_literals.push(token.start);
                }
                // The bytecode has 32 bits for a literal, for machines of either width.
                Ok(Some(Kind::Plain(Op::Literal, value as i32)))
            }
            None => Err(self.error(E::UnknownWord, head)),
        }
    }

    fn syntax(&mut self, head: usize, syntax: Syntax) -> Result<Option<Kind>> {
        match syntax {
            Syntax::Define => self.define(head).map(|()| None),
            Syntax::Recurse => match self.definition {
                Some(index) => Ok(Some(Kind::Call(index))),
                None => Err(self.error(E::RecurseOutsideDefinition, head)),
            },
            Syntax::Variable => {
                let name = self.name(head, E::MissingVariableName)?;
                self.names.insert(name, Name::Variable(self.program.variables.len() as u32));
                self.program.variables.push(name.to_owned());
                Ok(None)
            }
            Syntax::Input => {
                let name = self.name(head, E::MissingInputName)?;
                self.names.insert(name, Name::Input(self.program.inputs.len() as u32));
                self.program.inputs.push(name.to_owned());
                Ok(None)
            }
            Syntax::Output => {
                let name = self.name(head, E::MissingOutputName)?;
                let Some(dtype) = self.tokens.get(self.at) else {
                    return Err(self.error(E::MissingOutputName, head));
                };
                let Some(dtype) = DType::from_name(dtype.word) else {
                    return Err(self.error(E::UnknownDtype, head));
                };
                self.at += 1;
                self.names.insert(name, Name::Output(self.program.outputs.len() as u32));
                self.program.outputs.push(OutputDecl { name: name.to_owned(), dtype });
                Ok(None)
            }
            Syntax::Begin => self.begin(head).map(Some),
            _ => Err(self.error(E::UnknownWord, head)),
        }
    }

    fn op(&mut self, head: usize, token: &Token<'a>, op: Op) -> Result<Kind> {
        match op {
            Op::Halt | Op::Pause => Ok(Kind::Plain(op, 0)),
            Op::Exit => Ok(Kind::Exit),
            Op::If => {
                let (then, closer) = self.body(head, &["else", "then"], E::UnclosedIf)?;
                if closer == "then" {
                    return Ok(Kind::If(then));
                }
                let (otherwise, _) = self.body(head, &["then"], E::UnclosedIf)?;
                Ok(Kind::IfElse(then, otherwise))
            }
            Op::Do => {
                self.loops += 1;
                let (body, closer) = self.body(head, &["loop", "+loop"], E::UnclosedDo)?;
                self.loops -= 1;
                Ok(Kind::Do { body, step: closer == "+loop" })
            }
            Op::CaseTable => self.case(head),
            Op::String | Op::PrintString => {
                let index = self.program.strings.len() as i32;
                self.program.strings.push(token.string(self.source));
                Ok(Kind::Plain(op, index))
            }
            Op::IndexI if self.loops < 1 => Err(self.error(E::IndexOutsideDo, head)),
            Op::IndexJ if self.loops < 2 => Err(self.error(E::IndexOutsideNestedDo, head)),
            Op::IndexK if self.loops < 3 => Err(self.error(E::IndexOutsideDoublyNestedDo, head)),
            _ if op.group() == Group::Generic => Ok(Kind::Plain(op, 0)),
            // `else`, `while`, `+loop` and the like outside of their structure.
            _ => Err(self.error(E::UnknownWord, head)),
        }
    }

    fn define(&mut self, head: usize) -> Result<()> {
        let name = self.name(head, E::MissingDefinitionName)?;
        // Nested definitions are completed first, so the index counts the open ones as well.
        let open = self.closers.iter().filter(|closers| closers.contains(&";")).count();
        let index = (self.program.words.len() + open) as u32;
        self.names.insert(name, Name::Word(index));
        let outer = (self.definition.replace(index), std::mem::take(&mut self.loops));
        let body = self.body(head, &[";"], E::UnclosedDefinition);
        (self.definition, self.loops) = outer;
        self.program.words.push(Word { name: name.to_owned(), body: body?.0 });
        Ok(())
    }

    fn begin(&mut self, head: usize) -> Result<Kind> {
        let (body, closer) = self.body(head, &["again", "until", "while"], E::UnclosedBegin)?;
        Ok(match closer {
            "again" => Kind::Again(body),
            "until" => Kind::Until(body),
            _ => {
                let (rest, _) = self.body(head, &["repeat"], E::UnclosedWhile)?;
                Kind::While(body, rest)
            }
        })
    }

    fn case(&mut self, head: usize) -> Result<Kind> {
        let branches = self.count_branches(head)?;
        let first = self.program.segments;
        self.program.segments += branches as u32 + 1;
        let mut predicates = Vec::with_capacity(branches);
        let mut consequents = Vec::with_capacity(branches);
        let outer = self.links;
        let mut is_table = true;
        for branch in 0..branches {
            predicates.push(self.body(head, &["of"], E::UnbalancedOf)?.0);
            is_table &= is_literal(&predicates[branch], branch);
            if !is_table {
                self.links = outer + branch + 1;
            }
            let (nodes, _) = self.enclosed(head, &["endof"], E::UnbalancedOf)?;
            consequents.push(Body { segment: first + branch as u32, nodes });
        }
        let (mut nodes, _) = self.enclosed(head, &["endcase"], E::UnclosedCase)?;
        let at = self.tokens[self.at - 1].start;
        nodes.push(Node::new(at, Kind::Plain(Op::Drop, 0)));
        let default = Body { segment: first + branches as u32, nodes };
        self.links = outer;
        if is_table {
            return Ok(Kind::CaseTable { consequents, default, predicates });
        }
        // The general form is a chain of `P over = if drop C else … then`, each link a body of its own.
        let at = self.tokens[head].start;
        let mut rest = default;
        for (mut predicate, mut consequent) in predicates.into_iter().zip(consequents).rev() {
            predicate.nodes.push(Node::new(at, Kind::Plain(Op::Over, 0)));
            predicate.nodes.push(Node::new(at, Kind::Plain(Op::Eq, 0)));
            consequent.nodes.insert(0, Node::new(at, Kind::Plain(Op::Drop, 0)));
            let nodes =
                vec![Node::new(at, Kind::Nest(predicate)), Node::new(at, Kind::IfElse(consequent, rest))];
            rest = Body { segment: self.segment(), nodes };
        }
        Ok(Kind::Nest(rest))
    }

    /// Returns the number of `of` that belong to the `case` just parsed.
    fn count_branches(&self, head: usize) -> Result<usize> {
        let mut depth = 1;
        let (mut opened, mut closed) = (0, 0);
        for token in &self.tokens[self.at..] {
            match token.word {
                "case" => depth += 1,
                "endcase" => depth -= 1,
                "of" if depth == 1 => opened += 1,
                "endof" if depth == 1 => closed += 1,
                _ => {}
            }
            if closed > opened {
                break;
            }
            if depth == 0 {
                return if opened == closed { Ok(opened) } else { Err(self.error(E::UnbalancedOf, head)) };
            }
        }
        Err(self.error(if closed > opened { E::UnbalancedOf } else { E::UnclosedCase }, head))
    }

    fn variable(&mut self, head: usize, index: u32) -> Result<Kind> {
        match self.action(Group::Variable) {
            Some(op) => Ok(Kind::Plain(op, index as i32)),
            None => Err(self.error(E::VariableWithoutAction, head)),
        }
    }

    fn output(&mut self, head: usize, index: u32) -> Result<Kind> {
        if let Some(op) = self.action(Group::Output) {
            return Ok(Kind::Plain(op, index as i32));
        }
        let Some(op) = self.action(Group::OutputStack) else {
            return Err(self.error(E::OutputWithoutAction, head));
        };
        if self.tokens.get(self.at).is_none_or(|token| token.word != Syntax::Stack.word()) {
            let kind = if op == Op::Write { E::WriteWithoutStack } else { E::WriteAddWithoutStack };
            return Err(self.error(kind, head));
        }
        self.at += 1;
        Ok(Kind::Plain(op, index as i32))
    }

    fn input(&mut self, head: usize, index: u32) -> Result<Kind> {
        if let Some(op) = self.action(Group::Input) {
            if !matches!(op, Op::Enum | Op::EnumOnly) {
                return Ok(Kind::Plain(op, index as i32));
            }
            let first = self.program.strings.len();
            while let Some(token) = self.tokens.get(self.at).filter(|token| token.word == Op::String.word()) {
                self.program.strings.push(token.string(self.source));
                self.at += 1;
            }
            let end = self.program.strings.len();
            if end == first {
                let kind = if op == Op::Enum { E::EnumWithoutString } else { E::EnumOnlyWithoutString };
                return Err(self.error(kind, head));
            }
            return Ok(Kind::Enum(op, index, first as u32, end as u32));
        }
        let Some(token) = self.tokens.get(self.at) else {
            return Err(self.error(E::InputWithoutAction, head));
        };
        let Some(mut read) = Read::parse(token.word) else {
            return Err(self.error(E::InputWithoutAction, head));
        };
        self.at += 1;
        read.input = index;
        let destination = self.tokens.get(self.at).map(|token| token.word);
        match destination.map(|word| (word, self.names.get(word))) {
            Some((_, Some(&Name::Output(output)))) => {
                let dtype = self.program.outputs[output as usize].dtype;
                if read.parser == Code::QuotedStr && !matches!(dtype, DType::UInt8 | DType::Int8) {
                    return Err(self.error(E::QuotedStrDtype, head));
                }
                read.output = Some(output);
            }
            Some((word, _)) if word == Syntax::Stack.word() => match read.parser {
                Code::TextFloat => return Err(self.error(E::TextFloatToStack, head)),
                Code::QuotedStr => return Err(self.error(E::QuotedStrToStack, head)),
                _ => {}
            },
            _ => return Err(self.error(E::ParserWithoutDestination, head)),
        }
        self.at += 1;
        Ok(Kind::Read(read))
    }

    /// Parses the word after a name, if it belongs to the group.
    fn action(&mut self, group: Group) -> Option<Op> {
        let word = self.tokens.get(self.at)?.word;
        let op = Op::lookup(word, |other| other == group)?;
        self.at += 1;
        Some(op)
    }

    /// Parses a new name, which must be unused.
    fn name(&mut self, head: usize, missing: E) -> Result<&'a str> {
        let Some(token) = self.tokens.get(self.at) else {
            return Err(self.error(missing, head));
        };
        self.at += 1;
        let name = token.word;
        if self.names.contains_key(name) || isa::is_reserved(name) || integer(name).is_some() {
            return Err(self.error(E::NameTaken, head));
        }
        Ok(name)
    }

    fn segment(&mut self) -> u32 {
        let segment = self.program.segments;
        self.program.segments += 1;
        segment
    }

    /// Returns an error whose snippet begins at token `head` and ends at the current one.
    fn error(&self, kind: E, head: usize) -> CompileError {
        let start = self.tokens[head].start as usize;
        let last = (self.at + 1).min(self.tokens.len()).max(head + 1) - 1;
        let error = CompileError::new(kind, self.source, start, self.tokens[last].end as usize);
        match self.hint(kind, head) {
            Some((at, hint)) => error.about(self.source, at, hint),
            None => error,
        }
    }

    /// Returns the byte offset of the offending word, and suggestions for it.
    fn hint(&self, kind: E, head: usize) -> Option<(usize, String)> {
        let at = if kind == E::UnknownWord { head } else { self.at };
        let token = self.tokens.get(at)?;
        let mut names: Vec<&str> = match kind {
            E::UnknownWord => self.names.keys().copied().collect(),
            E::ParserWithoutDestination => {
                self.program.outputs.iter().map(|output| output.name.as_str()).collect()
            }
            E::UnknownDtype => DType::ALL.iter().map(|dtype| dtype.name()).collect(),
            E::InputWithoutAction => Vec::new(),
            _ => return None,
        };
        let all = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let what = match kind {
            E::UnknownDtype => format!("; {} is none of {all}", token.word),
            E::ParserWithoutDestination => {
                format!("; there is no output {}, only {all}", token.word)
            }
            _ => String::new(),
        };
        match kind {
            E::UnknownWord | E::InputWithoutAction => isa::words().for_each(|word| names.push(word)),
            E::ParserWithoutDestination => names.push(Syntax::Stack.word()),
            _ => {}
        }
        names.sort_unstable();
        let near = similar_names(token.word, names);
        let meant =
            if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
        Some((token.start as usize, what + &meant))
    }
}

/// Whether a predicate is exactly the number of its branch.
fn is_literal(predicate: &Body, branch: usize) -> bool {
    matches!(predicate.nodes[..], [Node { kind: Kind::Plain(Op::Literal, value), .. }] if value as usize == branch)
}
