//! Booleans with missing values: `and`, `or` and `not` as in SQL, and tests for missing values.

use super::{Checked, Compiler, Operand, Value, lists::Missing};
use crate::{
    error::{Fault, Span},
    program::{CONSTANT, ENTRIES, Kind, Register, SpaceId, Step},
    scalar::Typed,
    syntax::{Binary, Unary},
};
use forthwith_columns::DType;

const BOOLEAN: Kind = Kind::Number(DType::Bool);
const FALSE: Typed = Typed { dtype: DType::Bool, bits: 0 };

impl Compiler<'_> {
    /// Converts numbers to booleans: whether they differ from zero.
    pub(super) fn truth(&mut self, x: Operand, at: Span) -> Checked<Operand> {
        self.cast(x, DType::Bool, at)
    }

    /// Negates booleans. Missing ones remain missing.
    pub(super) fn opposite(&mut self, x: Operand, at: Span) -> Checked<Value> {
        let register = self.of_truth(x.register, x.space, at)?;
        Ok(Value::Operand(Operand { register, ..x }))
    }

    /// Computes `and` (`BitAnd`) or `or` (`BitOr`) of two booleans. If one is missing, the result is missing,
    /// unless the other one decides it: false for `and`, true for `or`.
    pub(super) fn both_or_either(
        &mut self,
        operation: Binary,
        x: Operand,
        y: Operand,
        at: Span,
    ) -> Checked<Value> {
        let mut pair = [x, y];
        let space = self.all_aligned(&mut pair, Missing::Items, at)?;
        let [x, y] = pair;
        // This is the result wherever it is valid, regardless of the values at missing operands.
        let register = self.of_both(operation, x.register, y.register, space, at)?;
        let valid = match (x.valid, y.valid) {
            (None, None) => None,
            (Some(valid), None) => Some(self.there_or_decided(operation, valid, y, space, at)?),
            (None, Some(valid)) => Some(self.there_or_decided(operation, valid, x, space, at)?),
            (Some(a), Some(b)) => {
                let mut valid = self.of_both(Binary::BitAnd, a, b, space, at)?;
                for (there, operand) in [(a, x), (b, y)] {
                    let decides = match operation {
                        Binary::BitOr => Binary::BitAnd,
                        // Valid and false.
                        _ => Binary::Greater,
                    };
                    let decided = self.of_both(decides, there, operand.register, space, at)?;
                    valid = self.of_both(Binary::BitOr, valid, decided, space, at)?;
                }
                Some(valid)
            }
        };
        Ok(Value::Operand(Operand { register, kind: BOOLEAN, space, valid, lists: x.lists }))
    }

    /// Returns the validity of a result with one optional operand: the operand is valid, or the other one
    /// decides alone.
    fn there_or_decided(
        &mut self,
        operation: Binary,
        valid: Register,
        other: Operand,
        space: SpaceId,
        at: Span,
    ) -> Checked<Register> {
        let decides = match operation {
            Binary::BitOr => Binary::BitOr,
            // Valid, or the other operand is false.
            _ => Binary::GreaterEqual,
        };
        self.of_both(decides, valid, other.register, space, at)
    }

    pub(super) fn of_both(
        &mut self,
        operation: Binary,
        x: Register,
        y: Register,
        space: SpaceId,
        at: Span,
    ) -> Checked<Register> {
        self.step(Step::Binary { operation, dtype: DType::Bool, x, y }, space, at)
    }

    pub(super) fn of_truth(&mut self, x: Register, space: SpaceId, at: Span) -> Checked<Register> {
        self.step(Step::Unary { operation: Unary::Not, dtype: DType::Bool, x }, space, at)
    }

    /// Computes whether values are missing or, along an outer axis, whether lists are. The result is never
    /// missing.
    pub(super) fn is_none(&mut self, x: &Value, axis: Option<i64>, at: Span) -> Checked<Value> {
        if let Value::Number(_) | Value::Text(_) = x {
            return self.constant(FALSE, at).map(Value::Operand);
        }
        // The test works for any column, even if it cannot be computed with.
        let x = match x {
            Value::Column(input) => self.presence(*input, at)?,
            value => self.operand(value, at)?,
        };
        let path = self.path(x.space);
        let depth = path.len() as i64;
        let level = axis.filter(|axis| *axis != -1).unwrap_or(depth);
        if !(0..=depth).contains(&level) {
            let what =
                format!("values are missing along axis=0 to axis={depth} here, not along axis={level}");
            return Err(Fault::new(at, what));
        }
        let levels = (0..level as usize).map(|level| self.lists_there(x, level)).collect();
        let (space, valid) = match path.get(level as usize) {
            None => (x.space, x.valid),
            Some(_) => {
                let outer = (level as usize).checked_sub(1).map_or(ENTRIES, |outer| path[outer]);
                (outer, self.lists_there(x, level as usize))
            }
        };
        let lists = self.levels_there(levels);
        let register = match valid {
            Some(valid) => self.of_truth(valid, space, at)?,
            None if space == ENTRIES || space == CONSTANT => {
                return self.constant(FALSE, at).map(Value::Operand);
            }
            None => self.false_in(space, at)?,
        };
        Ok(Value::Operand(Operand { register, kind: BOOLEAN, space, valid: None, lists }))
    }

    /// Returns false for each item of lists.
    fn false_in(&mut self, space: SpaceId, at: Span) -> Checked<Register> {
        let (of, parent) = self.lists_within(space, "is_none", at)?;
        let some = self.step(Step::Some { valid: None, of }, parent, at)?;
        let some = self.expand(DType::Bool, some, of, at)?;
        self.of_both(Binary::NotEqual, some, some, space, at)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Expression, Named, Program};
    use forthwith_columns::{Array, Column, DType, Form};

    /// Returns optional booleans.
    fn booleans(items: &[Option<bool>]) -> Array {
        // The values at missing entries are arbitrary, and must not matter.
        let data: Vec<u8> =
            items.iter().enumerate().map(|(at, x)| u8::from(x.unwrap_or(at % 2 == 0))).collect();
        let index: Vec<i64> = (0i64..).zip(items).map(|(at, x)| if x.is_some() { at } else { -1 }).collect();
        let column = Column::from_slice(&data);
        let content = Form::Numpy { key: "x".into(), dtype: DType::Bool, shape: vec![] };
        Array {
            form: Form::Option { key: "o".into(), content: Box::new(content) },
            length: items.len() as u64,
            columns: vec![
                ("x-data".into(), column.view(DType::Bool).unwrap_or(column)),
                ("o-index".into(), Column::from_vec(index)),
            ],
        }
    }

    /// Returns an array of lists with these lengths.
    fn in_lists(array: Array, lengths: &[i64]) -> Array {
        let ends = lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        let offsets: Vec<i64> = std::iter::once(0).chain(ends).collect();
        let mut columns = array.columns;
        columns.push(("l-offsets".into(), Column::from_vec(offsets)));
        let form = Form::List { key: "l".into(), content: Box::new(array.form) };
        Array { form, length: lengths.len() as u64, columns }
    }

    fn evaluate(text: &str, columns: &[(&str, &Array)]) -> (String, Vec<String>) {
        let of = |name: &str| columns.iter().find(|(known, _)| *known == name).map(|(_, array)| *array);
        let expression = Expression::parse(text).expect(text);
        let program = Program::new(&[&expression], &mut |name| match of(name) {
            Some(array) => Named::Column(array.form.clone()),
            None => Named::Unknown(vec![]),
        });
        let program = program.expect(text);
        let inputs: Vec<&Array> = program.inputs().filter_map(of).collect();
        let length = columns.iter().map(|(_, array)| array.length).min().unwrap_or(0);
        let found = program.run(&inputs, length).expect(text).remove(0);
        found.validate().expect(text);
        assert_eq!(Some(&found.form), program.form(0).as_ref(), "{text}");
        let lines = found.preview(0..length, 60).lines().expect(text);
        (found.form.type_string(), lines.into_iter().map(|line| line.to_string()).collect())
    }

    type Pair = (Option<bool>, Option<bool>);

    const VALUES: [Option<bool>; 3] = [Some(true), Some(false), None];

    fn shown(value: Option<bool>) -> String {
        value.map_or("None", |value| if value { "True" } else { "False" }).into()
    }

    fn both(x: Option<bool>, y: Option<bool>) -> Option<bool> {
        match (x, y) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }
    }

    fn either(x: Option<bool>, y: Option<bool>) -> Option<bool> {
        both(x.map(|x| !x), y.map(|y| !y)).map(|neither| !neither)
    }

    #[test]
    fn truth_values_that_are_missing_are_not_known() {
        let pairs: Vec<_> = VALUES.iter().flat_map(|x| VALUES.map(|y| (*x, y))).collect();
        let column = |of: fn(&Pair) -> Option<bool>| booleans(&pairs.iter().map(of).collect::<Vec<_>>());
        // In the order of the pairs, and without missing values in the third column.
        let (p, q) = (column(|pair| pair.0), column(|pair| pair.1));
        let sure = booleans(&pairs.iter().map(|pair| Some(pair.0 == pair.1)).collect::<Vec<_>>());
        let sure = Array {
            form: Form::Numpy { key: "x".into(), dtype: DType::Bool, shape: vec![] },
            columns: sure.columns[..1].to_vec(),
            ..sure
        };
        let columns = [("p", &p), ("q", &q), ("sure", &sure)];
        let known = |of: &dyn Fn(Option<bool>, Option<bool>) -> Option<bool>| -> Vec<String> {
            pairs.iter().map(|(x, y)| shown(of(*x, *y))).collect()
        };
        let opposite = |x: Option<bool>| x.map(|x| !x);
        for text in
            ["p and q", "p & q", "p && q", "logical_and(q, p)", "bitwise_and(p, q)", "not (not p or not q)"]
        {
            assert_eq!(evaluate(text, &columns), ("?bool".into(), known(&both)), "{text}");
        }
        for text in ["p or q", "q | p", "p || q", "logical_or(p, q)", "~(~p & ~q)", "int8(p) or float32(q)"] {
            assert_eq!(evaluate(text, &columns), ("?bool".into(), known(&either)), "{text}");
        }
        for (text, of) in [
            ("not p", &(|x, _| opposite(x)) as &dyn Fn(_, _) -> _),
            ("p and sure", &|x, y| both(x, Some(x == y))),
            ("sure & p", &|x, y| both(x, Some(x == y))),
            ("sure or q", &|x, y| either(y, Some(x == y))),
            ("q | sure", &|x, y| either(y, Some(x == y))),
            ("p or True", &|_, _| Some(true)),
            ("False & p", &|_, _| Some(false)),
            ("p and True", &|x, _| x),
            ("0 | p or False", &|x, _| x),
            ("p ^ q", &|x, y| Some(x? != y?)),
            ("p + q", &|x, y| x.zip(y).map(|(x, y)| x || y)),
            ("(p or q) and not (p and q)", &|x, y| both(either(x, y), opposite(both(x, y)))),
            ("p and q and sure or p", &|x, y| either(both(both(x, y), Some(x == y)), x)),
            ("0 < int8(p) + 1 < 2", &|x, _| opposite(x)),
        ] {
            assert_eq!(evaluate(text, &columns), ("?bool".into(), known(of)), "{text}");
        }
        // Bits of integers are valid if both operands are.
        let wanted: Vec<String> = pairs
            .iter()
            .map(|(x, y)| x.zip(*y).map_or("None".into(), |(x, y)| u8::from(x && y).to_string()))
            .collect();
        assert_eq!(evaluate("int8(p) & int8(q)", &columns), ("?int8".into(), wanted));
    }

    #[test]
    fn truth_values_in_lists_meet_item_by_item() {
        let flat = booleans(&[None, Some(true), Some(false), None]);
        let lists = in_lists(
            booleans(&[Some(true), Some(false), None, Some(false), None, Some(true), None]),
            &[3, 2, 2, 0],
        );
        let others = in_lists(
            booleans(&[None, None, None, Some(true), Some(true), Some(false), Some(false)]),
            &[3, 2, 2, 0],
        );
        let columns = [("flat", &flat), ("lists", &lists), ("others", &others)];
        for (text, wanted) in [
            ("flat or lists", ["[True, None, None]", "[True, True]", "[True, None]", "[]"]),
            ("lists & flat", ["[None, False, None]", "[False, None]", "[False, False]", "[]"]),
            ("lists and others", ["[None, False, None]", "[False, None]", "[False, False]", "[]"]),
            ("others | lists", ["[True, None, None]", "[True, True]", "[True, None]", "[]"]),
            ("lists[lists & flat]", ["[None, None]", "[None]", "[]", "[]"]),
        ] {
            let wanted = wanted.map(str::to_owned).to_vec();
            assert_eq!(evaluate(text, &columns), ("var * ?bool".into(), wanted), "{text}");
        }
    }

    #[test]
    fn missing_values_are_told() {
        let flat = booleans(&[None, Some(true), Some(false), None]);
        let lists = in_lists(
            booleans(&[Some(true), Some(false), None, Some(false), None, Some(true), None]),
            &[3, 2, 2, 0],
        );
        let mut lacking = lists.clone();
        lacking.columns.push(("m-index".into(), Column::from_slice(&[0i64, -1, 2, 3])));
        // The items of a missing list do not belong to any entry.
        lacking.columns.retain(|(key, _)| key != "l-offsets");
        lacking.columns.push(("l-offsets".into(), Column::from_slice(&[0i64, 3, 3, 5, 5])));
        lacking.form = Form::Option { key: "m".into(), content: Box::new(lacking.form) };
        let text = Array {
            form: Form::Option {
                key: "o".into(),
                content: Box::new(Form::String { key: "s".into(), binary: true }),
            },
            length: 4,
            columns: vec![
                ("s-offsets".into(), Column::from_slice(&[0i64, 1, 2])),
                ("s-data".into(), Column::from_slice(b"ab")),
                ("o-index".into(), Column::from_slice(&[0i64, -1, -1, 1])),
            ],
        };
        let columns = [("flat", &flat), ("lists", &lists), ("lacking", &lacking), ("bytes", &text)];
        for (text, kind, wanted) in [
            ("is_none(flat)", "bool", ["True", "False", "False", "True"]),
            ("not ak.is_none(flat, axis=0)", "bool", ["False", "True", "True", "False"]),
            ("is_none(flat) or flat", "?bool", ["True", "True", "False", "True"]),
            ("is_none(is_none(flat))", "bool", ["False"; 4]),
            ("is_none(5) or is_none('a')", "bool", ["False"; 4]),
            ("~~is_none(5)", "bool", ["False"; 4]),
            ("is_none(sqrt(4)) == is_none(flat)", "bool", ["False", "True", "True", "False"]),
            ("is_none(first(lists))", "bool", ["False", "False", "False", "True"]),
            ("is_none(flat | True)", "bool", ["False"; 4]),
            (
                "is_none(lists)",
                "var * bool",
                ["[False, False, True]", "[False, True]", "[False, True]", "[]"],
            ),
            ("is_none(lists, axis=0)", "bool", ["False"; 4]),
            (
                "is_none(is_none(lists))",
                "var * bool",
                ["[False, False, False]", "[False, False]", "[False, False]", "[]"],
            ),
            ("lists[not is_none(lists)]", "var * ?bool", ["[True, False]", "[False]", "[True]", "[]"]),
            ("is_none(lacking)", "?var * bool", ["[False, False, True]", "None", "[False, True]", "[]"]),
            ("is_none(lacking, axis=0)", "bool", ["False", "True", "False", "False"]),
            ("is_none(bytes)", "bool", ["False", "True", "True", "False"]),
            ("count(lists[is_none(lists)])", "int64", ["0", "0", "0", "0"]),
            ("sum(is_none(lists))", "int64", ["1", "1", "1", "0"]),
        ] {
            let (found_type, found) = evaluate(text, &columns);
            assert_eq!((found_type.as_str(), found), (kind, wanted.map(str::to_owned).to_vec()), "{text}");
        }
        for (text, wanted) in [
            ("is_none(lists, axis=2)", "values are missing along axis=0 to axis=1 here, not along axis=2"),
            ("is_none(flat, axis=-2)", "values are missing along axis=0 to axis=0 here, not along axis=-2"),
            ("bytes == 'a'", "\"bytes\" is ?bytes: bytes cannot be computed with"),
        ] {
            let expression = Expression::parse(text).expect(text);
            let error = Program::new(&[&expression], &mut |name| {
                let found = columns.iter().find(|(known, _)| *known == name);
                found.map_or(Named::Unknown(vec![]), |(_, array)| Named::Column(array.form.clone()))
            });
            let error = error.expect_err(text).to_string();
            assert!(error.starts_with(wanted), "{text}: {error}");
        }
        assert!(Expression::parse("is_none(a, b)").is_err());
    }
}
