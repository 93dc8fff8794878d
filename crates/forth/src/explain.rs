//! Explains which tier runs which part of a program, and why.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::compile::ir::{Body, Ir, Kind};
use crate::compiled::Compiled;
use crate::error::places;
use crate::idioms::Idiom;
use crate::jit::{self, Jit, Refusal};
use crate::lower::ir::{Origin, Variant};
use crate::lower::{Miss, Static};

impl Compiled {
    /// Returns a description of the program: which loops are recognised idioms, what else runs as flat code,
    /// what runs in the checked tier, and why.
    pub fn explain(&self) -> String {
        let mut text = explain(self);
        text.push_str(&format!("machine code: {}\n", self.explain_machine_code()));
        text
    }

    /// Returns the idioms that the recognised loops consist of.
    ///
    /// ```
    /// use forthwith_forth::{Compiled, idioms::Idiom};
    /// let program = Compiled::new("input data output x float32 0 do 4 data skip data !f-> x loop")?;
    /// assert!(program.idioms().eq([Idiom::Skip, Idiom::Item]));
    /// # Ok::<(), forthwith_forth::CompileError>(())
    /// ```
    pub fn idioms(&self) -> impl Iterator<Item = Idiom> {
        self.plans.idioms().iter()
    }

    fn explain_machine_code(&self) -> String {
        match self.known_machine_code() {
            Some(Ok(jit)) => format!("{} bytes, for all machines of this program", jit.size()),
            Some(Err(refusal)) => format!("none: {}", refusal.text()),
            None if !Jit::BUILT => format!("none: {}", Refusal::NotBuilt.text()),
            None if !jit::pays(&self.ir, &self.plans) => {
                "not wanted: it has no loops that are not native already".to_owned()
            }
            None if self.inputs().is_empty() => "at the first run".to_owned(),
            None => "when enough has been decoded to make up for compiling".to_owned(),
        }
    }
}

/// Describes the main program, each word and each `do` loop in a line; also the other loops that run as flat
/// code although the code around them does not.
fn explain(compiled: &Compiled) -> String {
    let program = &compiled.ir;
    let (effects, code, plans) = (compiled.effects(), compiled.code(Variant::of(64)), &compiled.plans);
    // Loops inside flat code, by the segment of their body.
    let mut flat: HashSet<u32> = HashSet::new();
    for scope in &code.scopes {
        flat.extend(scope.loops.iter().map(|shape| shape.body));
    }
    let parts = code.functions.iter().filter_map(|function| match function.origin {
        Origin::Loop(segment) => Some(segment),
        _ => None,
    });
    let parts: HashSet<u32> = parts.collect();
    let mut alone = Vec::new();
    for body in bodies(program) {
        loops(body, &parts, &mut alone);
    }

    let misses = effects.words.iter().chain([&effects.main]).filter_map(|effect| effect.as_ref().err());
    let found = plans.found().iter();
    let wanted = misses
        .map(|miss| miss.at)
        .chain(found.flat_map(|found| [found.at, found.miss.as_ref().map_or(found.at, |miss| miss.at)]))
        .chain(alone.iter().copied());
    let places = places(compiled.source(), wanted);
    let place = |at: u32| {
        let (line, column) = places[&at];
        format!("line {line} col {column}")
    };
    let lowered = !code.functions.is_empty();
    let verdict = |effect: &Static| match effect {
        Ok(_) if !lowered => "checked: the program is too large".to_owned(),
        Ok(effect) => match effect.delta {
            Some(delta) => format!("flat code ( {} -- {} )", effect.need, effect.need + delta),
            None => format!("flat code ( {} -- ), without an end", effect.need),
        },
        Err(Miss { at, why }) => format!("checked: {why} ({})", place(*at)),
    };

    let mut text = format!("cpu: {}\n", plans.cpu_name());
    for found in plans.found() {
        let _ = write!(text, "loop at {}: ", place(found.at));
        let _ = match &found.miss {
            None if plans.is_native(found.body as usize) => {
                writeln!(text, "fused: {}", plans.describe(found.body))
            }
            None if flat.contains(&found.body) => {
                writeln!(text, "fused: flat code: {}", plans.describe(found.body))
            }
            None => writeln!(text, "checked: {}", plans.describe(found.body)),
            Some(miss) => {
                let tier = if flat.contains(&found.body) { "flat code" } else { "checked" };
                writeln!(text, "{tier}: {} ({})", miss.why, place(miss.at))
            }
        };
    }
    for at in alone {
        let _ = writeln!(text, "loop at {}: flat code", place(at));
    }
    let _ = writeln!(text, "main program: {}", verdict(&effects.main));
    for (word, effect) in program.words.iter().zip(&effects.words) {
        let _ = writeln!(text, "word {}: {}", word.name, verdict(effect));
    }
    text
}

fn bodies(program: &Ir) -> impl Iterator<Item = &Body> {
    std::iter::once(&program.main).chain(program.words.iter().map(|word| &word.body))
}

/// Collects the source offsets of the indefinite loops whose first bodies are among the `wanted` segments.
fn loops(body: &Body, wanted: &HashSet<u32>, to: &mut Vec<u32>) {
    for node in &body.nodes {
        if let Kind::Again(first) | Kind::Until(first) | Kind::While(first, _) = &node.kind
            && wanted.contains(&first.segment)
        {
            to.push(node.at);
        }
        node.bodies().into_iter().for_each(|body| loops(body, wanted, to));
    }
}
