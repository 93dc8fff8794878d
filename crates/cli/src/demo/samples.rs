//! Branches that are shown as examples.

use crate::survey::Branch;
use forthwith::{
    columns::{DType, Form},
    plan::Decoder,
};

/// Kind of data of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One number for each entry.
    Flat,
    /// A list of numbers for each entry.
    Jagged,
    /// Nested lists, strings and records, which require a program.
    Nested,
}

/// Returns the best example of a kind; the first one of several equally good.
pub(crate) fn sample(branches: &[Branch], kind: Kind) -> Option<&Branch> {
    let mut best: Option<(u32, &Branch)> = None;
    for branch in branches.iter().filter(|b| b.is_readable() && b.entries() > 0) {
        let Some(reading) = branch.reading() else { continue };
        let program = matches!(reading.decoder, Decoder::Program(_));
        let worth = match worth(&reading.form, kind, program) {
            0 => 0,
            worth => 3 * worth + promise(&branch.field.name),
        };
        if worth > best.map_or(0, |(most, _)| most) {
            best = Some((worth, branch));
        }
    }
    best.map(|(_, branch)| branch)
}

/// Returns the value of a Form as an example; 0 if it is not of the kind.
fn worth(form: &Form, kind: Kind, program: bool) -> u32 {
    match (kind, form) {
        (Kind::Flat, Form::Numpy { dtype, shape, .. }) if shape.is_empty() => number(*dtype),
        (Kind::Jagged, Form::List { content, .. }) => match &**content {
            Form::Numpy { dtype, shape, .. } if shape.is_empty() => number(*dtype),
            _ => 0,
        },
        // Programs are preferred, as the distinctive feature of this library.
        (Kind::Nested, form) => nested(form) + if program && nested(form) > 0 { 10 } else { 0 },
        _ => 0,
    }
}

/// Whether a name suggests an interesting quantity.
pub(crate) fn is_telling(name: &str) -> bool {
    promise(name) > 0
}

fn promise(name: &str) -> u32 {
    let name = name.to_ascii_lowercase();
    let parts = |word| name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part == word);
    match () {
        () if parts("pt") => 2,
        () if parts("mass") || parts("energy") || parts("px") => 1,
        () => 0,
    }
}

fn nested(form: &Form) -> u32 {
    match form {
        Form::List { content, .. } => match &**content {
            Form::List { content, .. } if matches!(**content, Form::Numpy { .. }) => 5,
            Form::List { .. } | Form::Record { .. } => 4,
            Form::String { .. } => 3,
            Form::Numpy { .. } => 0,
            _ => 2,
        },
        Form::String { .. } | Form::Categorical { .. } => 1,
        Form::Record { .. } | Form::Option { .. } | Form::Union { .. } => 2,
        _ => 0,
    }
}

const fn number(dtype: DType) -> u32 {
    match dtype {
        DType::Float32 | DType::Float64 => 3,
        DType::Bool => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(dtype: DType) -> Form {
        Form::Numpy { key: "node".into(), dtype, shape: vec![] }
    }

    fn list(content: Form) -> Form {
        Form::List { key: "node".into(), content: Box::new(content) }
    }

    #[test]
    fn floats_are_preferred() {
        assert!(
            worth(&numbers(DType::Float32), Kind::Flat, false)
                > worth(&numbers(DType::Int32), Kind::Flat, false)
        );
        assert_eq!(worth(&list(numbers(DType::Int32)), Kind::Flat, false), 0);
        assert!(worth(&list(numbers(DType::Int32)), Kind::Jagged, false) > 0);
    }

    #[test]
    fn some_names_are_telling() {
        assert!(is_telling("Muon_pt") && is_telling("jets.pt") && is_telling("MASS"));
        assert!(!is_telling("script") && !is_telling("prompt_id"));
        assert!(promise("Jet_pt") > promise("Jet_mass"));
    }

    #[test]
    fn nested_lists_by_a_program_are_the_best_of_the_nested() {
        let two_deep = list(list(numbers(DType::Float32)));
        let text = Form::String { key: "node".into(), binary: false };
        assert!(worth(&two_deep, Kind::Nested, true) > worth(&list(text.clone()), Kind::Nested, true));
        assert!(worth(&text, Kind::Nested, true) > worth(&two_deep, Kind::Nested, false));
        assert_eq!(worth(&list(numbers(DType::Int8)), Kind::Nested, true), 0);
    }
}
