//! Expressions from text to arrays.

use crate::{Expression, Named, Program, Spelling};
use forthwith_columns::{Array, Column, DType, Form, Native};
use std::sync::Arc;

fn flat<T: Native>(items: &[T]) -> Array {
    let form = Form::Numpy { key: "x".into(), dtype: T::DTYPE, shape: vec![] };
    Array { form, length: items.len() as u64, columns: vec![("x-data".into(), Column::from_slice(items))] }
}

fn jagged<T: Native>(offsets: &[i64], items: &[T]) -> Array {
    let content = Form::Numpy { key: "x".into(), dtype: T::DTYPE, shape: vec![] };
    Array {
        form: Form::List { key: "l".into(), content: Box::new(content) },
        length: offsets.len() as u64 - 1,
        columns: vec![
            ("l-offsets".into(), Column::from_slice(offsets)),
            ("x-data".into(), Column::from_slice(items)),
        ],
    }
}

/// Rows of an array, or none.
fn lacking(index: &[i64], array: Array) -> Array {
    let mut columns = array.columns;
    columns.push(("o-index".into(), Column::from_slice(index)));
    let form = Form::Option { key: "o".into(), content: Box::new(array.form) };
    Array { form, length: index.len() as u64, columns }
}

fn columns() -> Vec<(&'static str, Array)> {
    vec![
        ("n", flat(&[2i32, 0, 1])),
        ("b", flat(&[1i8, -3, 127])),
        ("u", flat(&[1u64, u64::MAX, 3])),
        ("f", flat(&[0.5f32, f32::NAN, 2.0])),
        ("pt", jagged(&[0, 2, 2, 3], &[10f32, 30.0, 25.0])),
        ("eta", jagged(&[0, 2, 2, 3], &[-1f64, 2.5, 0.0])),
        ("short", jagged(&[0, 1, 1, 2], &[1i32, 2])),
        ("dir/x.y", flat(&[1i32, 2, 3])),
        ("sum", flat(&[7i32, 8, 9])),
        ("hole", lacking(&[0, -1, 2], jagged(&[0, 2, 2, 3], &[1i32, 2, 3]))),
        ("hole2", lacking(&[-1, 0, 1], jagged(&[0, 1, 2], &[5i32, 6]))),
        ("full", lacking(&[0, 1, 2], jagged(&[0, 2, 2, 3], &[1i32, 2, 3]))),
        ("gap", lacking(&[0, -1, 2], flat(&[1i32, 7, 3]))),
    ]
}

fn evaluate(text: &str, aliases: &[(&str, &str)]) -> Result<(String, Vec<String>), String> {
    let columns = columns();
    let mut look_up = |name: &str| {
        if let Some((_, array)) = columns.iter().find(|(known, _)| *known == name) {
            return Named::Column(array.form.clone());
        }
        match aliases.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => match Expression::parse(text) {
                Ok(expression) => Named::Alias(Arc::new(expression)),
                Err(error) => Named::Refused(error.to_string()),
            },
            None => Named::Unknown(vec![]),
        }
    };
    let expression = Expression::parse(text).map_err(|error| error.to_string())?;
    let program = Program::new(&[&expression], &mut look_up).map_err(|error| error.to_string())?;
    let inputs: Vec<&Array> = program
        .inputs()
        .filter_map(|name| columns.iter().find(|(known, _)| *known == name).map(|(_, array)| array))
        .collect();
    let found = program.run(&inputs, 3).map_err(|error| format!("{error} ({:?})", error.entry))?;
    let array = &found[0];
    array.validate().map_err(|error| error.to_string())?;
    if program.column(0).is_none() {
        assert_eq!(Some(&array.form), program.form(0).as_ref());
    }
    let lines = array.preview(0..3, 60).lines().map_err(|error| error.to_string())?;
    Ok((array.form.type_string(), lines.into_iter().map(|line| line.to_string()).collect()))
}

#[track_caller]
fn gives(text: &str, wanted_type: &str, wanted: [&str; 3]) {
    let (found_type, found) = evaluate(text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!((found_type.as_str(), found), (wanted_type, wanted.map(str::to_owned).to_vec()), "{text}");
}

#[track_caller]
fn refused(text: &str, wanted: &str) {
    let error = evaluate(text, &[]).expect_err(text);
    assert!(error.starts_with(wanted), "{text}: {error}");
}

#[test]
fn numbers_have_the_types_of_numpy() {
    gives("n * 2", "int32", ["4", "0", "2"]);
    gives("n / 2", "float64", ["1", "0", "0.5"]);
    gives("b + 1", "int8", ["2", "-2", "-128"]);
    gives("b + n", "int32", ["3", "-3", "128"]);
    gives("f * 2", "float32", ["1", "nan", "4"]);
    gives("f * n", "float64", ["1", "nan", "2"]);
    gives("f ** 2", "float32", ["0.25", "nan", "4"]);
    gives("-7 // 2 + n", "int32", ["-2", "-4", "-3"]);
    gives("n > 0", "bool", ["True", "False", "True"]);
    gives("b < 1000", "bool", ["True", "True", "True"]);
    gives("b > -1000", "bool", ["True", "True", "True"]);
    gives("1000 < b", "bool", ["False", "False", "False"]);
    gives("u > b", "bool", ["False", "True", "False"]);
    gives("(n > 0) + (b > 0)", "bool", ["True", "False", "True"]);
    gives("1 < n < 3", "bool", ["True", "False", "False"]);
    gives("not n", "bool", ["False", "True", "False"]);
    gives("!n || n == 1", "bool", ["False", "True", "True"]);
    gives("2 ** 3 ** 2 + n", "int32", ["514", "512", "513"]);
    gives("-n ** 2", "int32", ["-4", "0", "-1"]);
    gives("where(n > 0, f, -1)", "float32", ["0.5", "-1", "2"]);
    gives("n ? 1 : 0", "int64", ["1", "0", "1"]);
    gives("TMath::Abs(b) + fabs(b)", "int8", ["2", "6", "-2"]);
    gives("sum + 1", "int32", ["8", "9", "10"]);
    gives("`dir/x.y` + 0", "int32", ["1", "2", "3"]);
    gives("2 * 3", "int64", ["6", "6", "6"]);
    gives("sqrt(4) * f", "float64", ["1", "nan", "4"]);
    gives("hypot(b, n)", "float64", ["2.23606797749979", "3", "127.00393694685216"]);
    gives("hypot(b, b)", "float32", ["1.4142135", "4.2426405", "179.60512"]);
    gives("isnan(f)", "bool", ["False", "True", "False"]);
}

#[test]
fn lists_meet_lists_and_numbers() {
    gives("pt * 2", "var * float32", ["[20, 60]", "[]", "[50]"]);
    gives("pt * n", "var * float64", ["[20, 60]", "[]", "[25]"]);
    gives("(pt > 20) & (abs(eta) < 2.4)", "var * bool", ["[False, False]", "[]", "[True]"]);
    gives("sum(pt)", "float32", ["40", "0", "25"]);
    gives("Sum$(pt > 5)", "int64", ["2", "0", "1"]);
    gives("count(pt)", "int64", ["2", "0", "1"]);
    gives("any(pt > 20, axis=-1)", "bool", ["True", "False", "True"]);
    gives("all(pt > 20, axis=1)", "bool", ["False", "True", "True"]);
    gives("max(pt)", "?float32", ["30", "None", "25"]);
    gives("first(pt) + 1", "?float32", ["11", "None", "26"]);
    gives("item(pt, -1)", "?float32", ["30", "None", "25"]);
    gives("item(pt, 1) > 5", "?bool", ["True", "None", "None"]);
    gives("pt[pt > 20]", "var * float32", ["[30]", "[]", "[25]"]);
    gives("sum(pt[pt > 20] * eta[pt > 20])", "float64", ["75", "0", "0"]);
    gives("pt - sum(pt) / count(pt)", "var * float64", ["[-10, 10]", "[]", "[0]"]);
    gives("max(pt, 20)", "var * float32", ["[20, 30]", "[]", "[25]"]);
    refused("pt + short", "a list of 2 items meets a list of 1\n    pt + short\n    ^^^^^^^^^^ (Some(0))");
}

#[test]
fn missing_lists_are_missing_in_results() {
    gives("hole * 2", "?var * int32", ["[2, 4]", "None", "[6]"]);
    gives("full * 2", "?var * int32", ["[2, 4]", "[]", "[6]"]);
    gives("hole + pt", "?var * float64", ["[11, 32]", "None", "[28]"]);
    refused("hole2 + short", "a list of 1 items meets a list of 0");
    gives("hole2[hole2 > 5]", "?var * int32", ["None", "[]", "[6]"]);
    gives("hole - hole2", "?var * int32", ["None", "None", "[-3]"]);
    gives("pt + gap", "?var * float64", ["[11, 31]", "None", "[28]"]);
    gives("pt[hole > 1]", "?var * float32", ["[30]", "None", "[25]"]);
    gives("sum(hole)", "?int64", ["3", "None", "3"]);
    gives("count(hole2) > 0", "?bool", ["None", "True", "True"]);
    gives("max(full)", "?int32", ["2", "None", "3"]);
    gives("first(hole) + n", "?int32", ["3", "None", "4"]);
    gives("n ** (gap - 1)", "?int32", ["1", "None", "1"]);
    gives("(n + 0 * hole) ** (gap - 1)", "?var * int32", ["[1, 1]", "None", "[1]"]);
    gives("where(pt > 20, hole, gap)", "?var * ?int32", ["[1, 2]", "None", "[3]"]);
    gives("where(pt > 0, gap, 0)", "var * ?int32", ["[1, 1]", "[]", "[3]"]);
}

#[test]
fn errors_point_at_the_place() {
    refused("n +", "a value is expected where the end stands\n    n +\n       ^");
    refused("muon + n", "there is no column \"muon\"\n    muon + n\n    ^^^^");
    refused("b + 300", "300 is beyond int8");
    refused("n + uint8(300)", "300 is beyond uint8");
    refused("n + int8(-129.5)", "-129.5 is beyond int8");
    refused("f & 1", "& of float32");
    refused("n > 0 & f < 2", "& binds more tightly");
    refused("pt[0]", "a number in brackets");
    refused("n ** -1", "int32 to the power of -1");
    refused("n ** b", "an integer to a negative power");
    refused("max(n, n, axis=-1)", "max of two arguments goes item by item");
    refused("'n'", "a text alone is no column: the name of a column has no quotes, as in `n`");
    refused("sum(n)", "sum reduces lists");
    refused("sum(pt, axis=0)", "lists are reduced along");
    refused("n = 1", "an operator or the end is expected");
    refused("sqrtt(n)", "there is no function \"sqrtt\"; did you mean sqrt?");
    refused("n == 'a'", "text is compared with a number");
    refused("1 // 0", "division by zero");
    refused("f ^ 2", "^ of float32");
    refused("(n > 0) - (n > 1)", "- of bool");
}

#[test]
fn aliases_stand_for_expressions_and_not_for_themselves() {
    let found = evaluate("r * 2", &[("r", "sqrt(q)"), ("q", "f ** 2")]).expect("aliases");
    assert_eq!(found.1, ["1", "nan", "4"]);
    let error = evaluate("a", &[("a", "b2 + 1"), ("b2", "a")]).expect_err("a circle");
    assert!(error.starts_with("the alias \"a\" refers to itself"), "{error}");
    let error = evaluate("a", &[("a", "n + nothing")]).expect_err("unknown");
    assert!(error.contains("in the alias \"a\"\n    n + nothing\n        ^"), "{error}");
    // Columns are before aliases.
    assert_eq!(evaluate("n", &[("n", "f")]).expect("n").0, "int32");
}

#[test]
fn hostile_text_is_refused_and_does_not_overflow() {
    for text in [
        "(".repeat(60_000),
        "-".repeat(60_000),
        "not ".repeat(15_000),
        "a[".repeat(30_000),
        "abs(".repeat(15_000),
        "2**".repeat(20_000) + "2",
        "n?".repeat(20_000),
        "x".repeat(70_000),
    ] {
        assert!(Expression::parse(&text).is_err());
    }
    let wide = vec!["n"; 9_000].join("+");
    let (_, found) = evaluate(&wide, &[]).expect("a long sum");
    assert_eq!(found, ["18000", "0", "9000"]);
    assert!(evaluate("9**9**9**9", &[]).is_err());
    assert!(evaluate("1 << 100", &[]).is_err());
    // Aliases that double are computed once each.
    let names: Vec<String> = (0..40).map(|at| format!("a{at}")).collect();
    let texts: Vec<String> =
        (0..40).map(|at| if at == 0 { "n".into() } else { format!("a{} + a{}", at - 1, at - 1) }).collect();
    let aliases: Vec<(&str, &str)> =
        names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    evaluate("a39", &aliases).expect("doubling");
}

#[test]
fn the_caret_of_tree_formula_is_power() {
    let python = Expression::parse("n ^ 2").expect("python");
    let formula = Expression::parse_as("n ^ 2", Spelling::TTreeFormula).expect("formula");
    assert_ne!(python.nodes, formula.nodes);
}

#[test]
fn long_lists_are_reduced_as_short_ones_are() {
    let items: Vec<i32> = (0..200_000).collect();
    let array = jagged(&[0, 3, 150_000, 150_000, 200_000], &items);
    for (text, wanted) in [
        ("any(l == 70000)", ["False", "True", "False", "False"]),
        ("all(l > 2)", ["False", "True", "True", "True"]),
        ("sum(l)", ["3", "11249924997", "0", "8749975000"]),
        ("count(l[l % 2 == 0])", ["2", "74998", "0", "25000"]),
    ] {
        let expression = Expression::parse(text).expect(text);
        let program =
            Program::new(&[&expression], &mut |_| Named::Column(array.form.clone())).expect("program");
        let found = &program.run(&[&array], 4).expect(text)[0];
        assert_eq!(found.preview(0..4, 20).lines().expect(text), wanted, "{text}");
    }
}

#[test]
fn threads_make_no_difference() {
    let rows = 300_000usize;
    let offsets: Vec<i64> = (0..=rows as i64).map(|at| at / 3 * 4 + at % 3).collect();
    let items: Vec<f32> = (0..offsets[rows]).map(|at| (at * 7919 % 101) as f32).collect();
    let numbers: Vec<i32> = (0..rows as i32).map(|at| at % 11 - 5).collect();
    let index: Vec<i64> = (0..rows as i64).map(|at| if at % 5 == 3 { -1 } else { at }).collect();
    let columns =
        [("l", jagged(&offsets, &items)), ("n", flat(&numbers)), ("h", lacking(&index, flat(&numbers)))];
    let form = |name: &str| columns.iter().find(|(known, _)| *known == name).map(|(_, array)| array);
    for text in [
        "n * 2",
        "l * n",
        "sum(l[l > 50])",
        "l[l > 50] + n",
        "max(l) + h",
        "l[l > h]",
        "7",
        "n ** (n + 4)",
        "l + l[l > 1]",
    ] {
        let expression = Expression::parse(text).expect(text);
        let program = Program::new(&[&expression], &mut |name| match form(name) {
            Some(array) => Named::Column(array.form.clone()),
            None => Named::Unknown(vec![]),
        });
        let program = program.expect(text);
        let inputs: Vec<&Array> = program.inputs().filter_map(form).collect();
        let one = program.run(&inputs, rows as u64);
        for threads in [2, 3, 16] {
            let several = program.run_while(&inputs, rows as u64, threads, &mut || true);
            let several = several.map(Option::unwrap_or_default);
            match (&one, &several) {
                (Ok(one), Ok(several)) => {
                    several[0].validate().expect(text);
                    assert_eq!(one[0].form, several[0].form, "{text}");
                    for ((key, a), (other, b)) in one[0].columns.iter().zip(&several[0].columns) {
                        assert_eq!((key, a.as_bytes()), (other, b.as_bytes()), "{text}");
                    }
                }
                (one, several) => assert_eq!(one.as_ref().err(), several.as_ref().err(), "{text}"),
            }
        }
    }
}

#[test]
fn work_ends_when_it_is_not_to_go_on() {
    let array = flat(&vec![1i64; 1 << 20]);
    let expression = Expression::parse("x ** 2 + x").expect("text");
    let program = Program::new(&[&expression], &mut |_| Named::Column(array.form.clone())).expect("program");
    for threads in [1, 3] {
        for after in [0, 1, 5] {
            let mut asked = 0;
            let mut goes_on = || {
                asked += 1;
                asked <= after
            };
            let made = program.run_while(&[&array], array.length, threads, &mut goes_on);
            assert!(matches!(made, Ok(None)), "{made:?}");
            assert_eq!(asked, after + 1, "nothing is asked after the last answer");
        }
        let made = program.run_while(&[&array], array.length, threads, &mut || true).expect("values");
        assert_eq!(made.map(|made| made[0].length), Some(array.length));
    }
}

#[test]
fn columns_that_lie_are_refused() {
    let form = jagged(&[0, 1], &[1i32]).form;
    let expression = Expression::parse("pt + 1").expect("text");
    let program = Program::new(&[&expression], &mut |_| Named::Column(form.clone())).expect("program");
    let lies = [
        jagged(&[0, 5], &[1i32]),
        jagged(&[3, 1], &[1i32, 2, 3]),
        jagged(&[-1, 1], &[1i32]),
        flat(&[1i32]),
        Array { columns: vec![], ..jagged(&[0, 1], &[1i32]) },
        jagged(&[0], &[1i32]),
    ];
    for array in &lies {
        assert!(program.run(&[array], 1).is_err());
    }
    assert!(program.run(&[], 1).is_err());
    let bools = flat(&[7u8, 0]);
    let column = bools.columns[0].1.view(DType::Bool).expect("one byte each");
    let form = Form::Numpy { key: "x".into(), dtype: DType::Bool, shape: vec![] };
    let array = Array { form: form.clone(), length: 2, columns: vec![("x-data".into(), column)] };
    let program =
        Program::new(&[&Expression::parse("x + 0").expect("text")], &mut |_| Named::Column(form.clone()))
            .expect("program");
    assert_eq!(
        program.run(&[&array], 2).expect("run")[0].preview(0..2, 20).lines().expect("lines"),
        ["1", "0"]
    );
}

fn formula(text: &str) -> Result<(String, Vec<String>), String> {
    let columns = columns();
    let expression = Expression::parse_as(text, Spelling::TTreeFormula).map_err(|error| error.to_string())?;
    let find = |name: &str| columns.iter().find(|(known, _)| *known == name).map(|(_, array)| array);
    let program = Program::new(&[&expression], &mut |name| match find(name) {
        Some(array) => Named::Column(array.form.clone()),
        None => Named::Unknown(vec![]),
    });
    let program = program.map_err(|error| error.to_string())?;
    let inputs: Vec<&Array> = program.inputs().filter_map(find).collect();
    let found = program.run(&inputs, 3).map_err(|error| error.to_string())?.remove(0);
    found.validate().map_err(|error| error.to_string())?;
    let lines = found.preview(0..3, 60).lines().map_err(|error| error.to_string())?;
    Ok((found.form.type_string(), lines.into_iter().map(|line| line.to_string()).collect()))
}

#[track_caller]
fn formula_gives(text: &str, wanted_type: &str, wanted: [&str; 3]) {
    let (found_type, found) = formula(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!((found_type.as_str(), found), (wanted_type, wanted.map(str::to_owned).to_vec()), "{text}");
}

#[test]
fn formulas_are_computed_in_doubles_by_their_own_precedence() {
    formula_gives("b*2", "float64", ["2", "-6", "254"]);
    formula_gives("n-3", "float64", ["-1", "-3", "-2"]);
    formula_gives("f*0+2^3^2", "float64", ["64", "nan", "64"]);
    formula_gives("n*0 - 2^2", "float64", ["-4", "-4", "-4"]);
    formula_gives("n/0", "float64", ["0", "0", "0"]);
    formula_gives("2.75+n%2", "float64", ["2.75", "2.75", "3.75"]);
    formula_gives("b%2", "float64", ["1", "-1", "1"]);
    formula_gives("7%4*3+0*n", "float64", ["7", "7", "7"]);
    formula_gives("(n>0)+(b>0)", "float64", ["2", "0", "2"]);
    formula_gives("n>0&b>0", "float64", ["1", "0", "1"]);
    formula_gives("1==n>b", "bool", ["False", "True", "False"]);
    formula_gives("sqrt(b)*sqrt(b)", "float64", ["1", "2.9999999999999996", "126.99999999999999"]);
    formula_gives("log(n)", "float64", ["0.6931471805599453", "0", "0"]);
    formula_gives("sign(n)*sign(b)", "float64", ["1", "-1", "1"]);
    formula_gives("pt[0]", "?float32", ["10", "None", "25"]);
    formula_gives("Alt$(pt[1], -1)", "float64", ["30", "-1", "-1"]);
    formula_gives("Max$(pt) + Sum$(eta)", "float64", ["31.5", "0", "25"]);
    formula_gives("MinIf$(pt, eta > 0) + MaxIf$(pt, n)", "float64", ["60", "0", "25"]);
    formula_gives("Iteration$ + 10*Length$ + 0*pt", "var * float64", ["[20, 21]", "[]", "[10]"]);
    formula_gives("Sum$(pt*(Iteration$ == 0)) + Length$(n)", "float64", ["11", "1", "26"]);
    formula_gives("TMath::Odd(n) + TMath::Even(b)*2", "float64", ["0", "0", "1"]);
    formula_gives("TMath::Sign(3, b)", "float64", ["3", "-3", "3"]);
    formula_gives("TMath::Gaus(n, 1, 2)", "float64", ["0.8824969025845955", "0.8824969025845955", "1"]);
    for (text, wanted) in [
        ("~n", "~ is not an operator"),
        ("n<<1<3", "<< before a comparison"),
        ("rndm*n", "rndm is not supported"),
        ("Alt$(pt, 0)", "Alt$ beside lists is not supported"),
        ("eta*Alt$(pt[0], 0)", "Alt$ beside lists is not supported"),
        ("pt[n]", "an index of a formula that is not a number"),
        ("(pt+1)[0]*Iteration$", "Iteration$ and Length$ beside items"),
        ("n<b<=2", "<= behind <: put one of them in brackets"),
    ] {
        let error = formula(text).expect_err(text);
        assert!(error.starts_with(wanted), "{text}: {error}");
    }
}

#[test]
fn nodes_with_several_users_are_looked_at_once() {
    let mut text = "Iteration$".to_owned();
    for _ in 0..60 {
        text = format!("({text}) in (1, 2)");
    }
    assert!(formula(&text).is_ok());
    let mut text = "Alt$(n, 1)".to_owned();
    for _ in 0..60 {
        text = format!("TMath::Gaus(n, 0, {text})");
    }
    assert!(formula(&text).is_ok());
}

#[test]
fn items_are_chosen_by_positions() {
    gives("pt[:, 0]", "?float32", ["10", "None", "25"]);
    gives("pt[:, -1] + 0", "?float32", ["30", "None", "25"]);
    gives("pt[..., 1]", "?float32", ["30", "None", "None"]);
    gives("pt[:, :1]", "var * float32", ["[10]", "[]", "[25]"]);
    gives("pt[:, 1:]", "var * float32", ["[30]", "[]", "[]"]);
    gives("pt[:, -1:]", "var * float32", ["[30]", "[]", "[25]"]);
    gives("pt[:, :-1]", "var * float32", ["[10]", "[]", "[]"]);
    gives("pt[:, ::2] + eta[:, ::2]", "var * float64", ["[9]", "[]", "[25]"]);
    gives("sum(pt[:])", "float32", ["40", "0", "25"]);
    refused("pt[:, 0, 0]", "2 positions within lists, but there is only one level of lists");
    refused("n[:, 0]", "1 positions within lists, but there is only one value for each entry");
    refused("pt[1:2]", "a slice of entries");
    refused("pt[:, eta > 0]", "a position, as in x[:, 0], or a slice, as in x[:, :2], is expected");
    refused("pt[:, ::-1]", "a step of -1");
}

#[test]
fn lists_have_means_and_positions_of_extremes() {
    gives("mean(pt)", "float64", ["20", "nan", "25"]);
    gives("std(pt) + var(pt)", "float64", ["110", "nan", "0"]);
    gives("argmax(pt)", "?int64", ["1", "None", "0"]);
    gives("np.argmin(eta)", "?int64", ["0", "None", "0"]);
    gives("round(f * 1.3, 1)", "float32", ["0.6", "nan", "2.6"]);
    gives("round(n) + round(b, 2)", "int32", ["3", "-3", "128"]);
    gives("int(eta)", "var * int64", ["[-1, 2]", "[]", "[0]"]);
    gives("n in (1, 2)", "bool", ["True", "False", "True"]);
    gives("n not in [1, 2]", "bool", ["False", "True", "False"]);
    gives("np.isin(pt, [10, 25.0])", "var * bool", ["[True, False]", "[]", "[True]"]);
    gives("erf(n)", "float64", ["0.9953222650189527", "0", "0.8427007929497148"]);
    refused("n in pt", "a list of values, as in x in [1, 2], is expected where the name \"pt\" stands");
    refused("n in []", "no value to compare with");
    refused("round(n, -1)", "round of int32 to -1 digits");
}
