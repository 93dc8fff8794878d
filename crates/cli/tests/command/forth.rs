//! Programs of one's own: run, stepped, listed, explained.

use crate::{Said, forthwith, typing};
use forthwith_cli::Terminal;
use serde_json::{Value, json};
use std::{fs, path::PathBuf};
use tempfile::TempDir;

const LISTS: &str = "\
input data
output offsets int64
output content float32
variable total

0 offsets <- stack
: list ( -- )
  data !I-> stack
  dup total +!
  dup offsets +<- stack
  data #!f-> content ;
0 do list loop
";

/// A folder with `lists.fs` and three lists in `lists.bin`.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a temporary folder"));
        let mut data = Vec::new();
        for list in [&[1.5_f32, -2.0][..], &[], &[3.0]] {
            data.extend((list.len() as u32).to_be_bytes());
            list.iter().for_each(|item| data.extend(item.to_be_bytes()));
        }
        fs::write(folder.path("lists.fs"), LISTS).expect("written");
        fs::write(folder.path("lists.bin"), data).expect("written");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `forthwith forth ARGS…`, with `@` standing for the folder.
    fn forth(&self, args: &[&str]) -> Said {
        self.typing(args, "", None)
    }

    fn typing(&self, args: &[&str], typed: &str, person: Option<usize>) -> Said {
        let folder = format!("{}/", self.0.path().to_str().expect("UTF-8"));
        let args: Vec<String> = ["forth"].iter().chain(args).map(|arg| arg.replace('@', &folder)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let terminal = Terminal { width: person, color: false };
        let mut said = typing(terminal, &args, typed, person.is_some());
        (said.out, said.err) = (said.out.replace(&folder, ""), said.err.replace(&folder, ""));
        said
    }
}

/// A program from standard input.
fn piped(program: &str, args: &[&str]) -> Said {
    typing(Terminal::default(), &[&["forth"], args].concat(), program, false)
}

#[test]
fn run_prints_what_is_left() {
    let said = Folder::new().forth(&["run", "@lists.fs", "--input", "data=@lists.bin", "--entries", "3"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    insta::assert_snapshot!(said.out, @r"
    done
    stack      <0>
    variable   total = 3
    input      data at 24 of 24
    output     offsets int64[4]  0 2 2 3
    output     content float32[3]  1.5 -2 3
    ");
}

#[test]
fn run_prints_json() {
    let folder = Folder::new();
    let run = |args: &[&str]| {
        let said = folder
            .forth(&[&["run", "@lists.fs", "-i", "data=@lists.bin", "--output", "json"], args].concat());
        (said.code, serde_json::from_str::<Value>(&said.out).expect("JSON"))
    };
    let (code, found) = run(&["-n", "3"]);
    assert_eq!(code, 0);
    let expected = json!({
        "status": "done", "stack": [], "variables": {"total": 3}, "positions": {"data": 24},
        "outputs": {
            "offsets": {"dtype": "int64", "items": [0, 2, 2, 3]},
            "content": {"dtype": "float32", "items": [1.5, -2.0, 3.0]},
        },
    });
    assert_eq!(found, expected);
    let (code, found) = run(&["-n", "4"]);
    assert_eq!((code, &found["status"], &found["outputs"]), (1, &json!("error"), &expected["outputs"]));
    assert_eq!(
        found["error"],
        json!({"name": "read beyond", "line": 8, "column": 3, "word": "list", "instruction": "data !I-> stack", "pass": 3})
    );
    // An end that was meant is no failure.
    assert_eq!(run(&["-n", "4", "--expect", "read beyond"]).0, 0);
    for tier in ["0", "1", "2"] {
        assert_eq!(run(&["-n", "3", "--tier", tier]), (0, expected.clone()));
    }
    assert_eq!(run(&["-n", "3", "--bits", "32"]), (0, expected));
    let nan = piped(
        "input x output y float64 output z bool x d-> y x ?-> z",
        &["run", "-", "--bytes", "x=00 00 00 00 00 00 f8 7f 05", "-o", "json"],
    );
    let nan: Value = serde_json::from_str(&nan.out).expect("JSON");
    assert_eq!(nan["outputs"]["y"]["items"], json!([null]));
    assert_eq!(nan["outputs"]["z"]["items"], json!([true]));
}

#[test]
fn run_writes_numpy_files() {
    let folder = Folder::new();
    let said = folder.forth(&[
        "run",
        "@lists.fs",
        "-i",
        "data=@lists.bin",
        "-n",
        "3",
        "-o",
        "npy",
        "--to",
        "@columns",
    ]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "columns/offsets.npy int64[4]\ncolumns/content.npy float32[3]\n")
    );
    let bytes = fs::read(folder.path("columns/content.npy")).expect("written");
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    assert!(
        String::from_utf8_lossy(&bytes[10..128])
            .starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }")
    );
    assert_eq!(bytes[128..], [1.5_f32, -2.0, 3.0].map(f32::to_le_bytes).concat());
    // Nothing else is left there, and what cannot be replaced is told of.
    assert_eq!(fs::read_dir(folder.path("columns")).expect("a folder").count(), 2);
    fs::create_dir(folder.path("columns/x.npy")).expect("a folder");
    let source = "output x int8 1 x <- stack";
    fs::write(folder.path("x.fs"), source).expect("written");
    let said = folder.forth(&["run", "@x.fs", "-o", "npy", "--to", "@columns"]);
    assert_eq!((said.code, said.err.contains("x.npy")), (1, true), "{}", said.err);
    // A name is no way out of the folder.
    let source = "output ../../etc/x int8 1 ../../etc/x <- stack";
    fs::write(folder.path("escape.fs"), source).expect("written");
    let said = folder.forth(&["run", "@escape.fs", "-o", "npy", "--to", "@columns"]);
    assert_eq!((said.code, said.out.as_str()), (0, "columns/_.._etc_x.npy int8[1]\n"));
}

#[test]
fn programs_and_data_come_from_many_places() {
    let said = piped("2 3 + . cr .\" text\"", &["run", "-"]);
    assert_eq!((said.code, said.out.as_str()), (0, "5 \ntext\ndone\nstack      <0>\n"));
    let said =
        piped("input x x textint-> stack +", &["run", "-", "--text", "x=-7", "--stack", "-3,4", "-n", "9"]);
    assert_eq!(said.out, "done\nstack      <3> -3 4 2\ninput      x at 2 of 2\n");
    let folder = Folder::new();
    let data = folder.typing(&["run", "@lists.fs", "-i", "data=-", "-n", "1"], "\0\0\0\u{1}\0\0\0\0", None);
    assert!(data.out.contains("content float32[1]  0\n"), "{}", data.out);
    let said = piped("1 pause 2 pause 3", &["run", "-"]);
    assert_eq!(said.out, "paused (--resume goes on)\nstack      <1> 1\n");
    assert_eq!(piped("1 pause 2 pause 3", &["run", "-", "--resume"]).out, "done\nstack      <3> 1 2 3\n");
    let said = piped("3000000000", &["run", "-"]);
    assert_eq!(said.out, "done\nstack      <1> -1294967296\n");
    assert!(said.err.contains("(standard input):1:1: does not fit 32 bits and is cut"), "{}", said.err);
    let said = piped("3000000000", &["run", "-", "--literal-width", "64"]);
    assert_eq!((said.out.as_str(), said.err.as_str()), ("done\nstack      <1> 3000000000\n", ""));
}

#[test]
fn mistakes_are_marked() {
    let complaint = |program: &str, args: &[&str]| {
        let said = piped(program, args);
        format!("{} {}", said.code, said.err)
    };
    insta::assert_snapshot!(complaint("1\n  data foo-> stack", &["run", "-"]), @r"
    1 forthwith: (standard input):2:3: unrecognized word or wrong context for word
      2 |   data foo-> stack
        |   ^^^^
    ");
    insta::assert_snapshot!(complaint(": f\n  1 0 / ;\n3 0 do f loop", &["run", "-"]), @r"
    1 forthwith: (standard input): division by zero: tried to divide by zero
      (standard input):2:7 in word f: /, pass 0 of the outermost loop
      2 |   1 0 / ;
        |       ^
    ");
    insta::assert_snapshot!(complaint("7 halt", &["run", "-"]), @r"
    1 forthwith: (standard input): user halt: user-defined error or stopping condition (top of the stack: 7)
      (standard input):1:3: halt
      1 | 7 halt
        |   ^^^^
    ");
    insta::assert_snapshot!(complaint("input x input y", &["run", "-", "--text", "y=1"]), @"2 forthwith: no data for x: give --input x=FILE, --bytes x=HEX or --text x=TEXT");
    insta::assert_snapshot!(complaint("input x", &["run", "-", "--text", "y=1"]), @"2 forthwith: the program has no input y; it has x");
    insta::assert_snapshot!(complaint("1", &["run", "-", "--text", "y=1"]), @"2 forthwith: the program has no input y; it has none");
    insta::assert_snapshot!(complaint("input x", &["run", "-", "--bytes", "x=0g"]), @"2 forthwith: 0g is not hexadecimal (as in 00 01 ff)");
    insta::assert_snapshot!(complaint("input x", &["run", "-", "--text", "x=1", "--text", "x=2"]), @"2 forthwith: input x is given twice");
    insta::assert_snapshot!(complaint("input x", &["run", "-", "--text", "x"]), @"2 forthwith: x is not of the form NAME=VALUE");
    insta::assert_snapshot!(complaint("input x", &["run", "-", "-i", "x=no/such.file"]), @"3 forthwith: no such file: no/such.file");
    insta::assert_snapshot!(complaint(".", &["run", "-", "-s", "4294967297", "--bits", "32"]), @"2 forthwith: 4294967297 does not fit the 32 bits of the stack");
    insta::assert_snapshot!(complaint(".", &["run", "-", "-n", "4294967296", "--bits", "32"]), @"2 forthwith: 4294967296 does not fit the 32 bits of the stack");
    insta::assert_snapshot!(complaint("output a/b int8 output a_b int8", &["run", "-", "-o", "npy"]), @"2 forthwith: two outputs would be written to a_b.npy: give them other names");
    insta::assert_snapshot!(complaint("1", &["step", "-", "--break", "2"]), @"2 forthwith: --break 2: the program has lines 1 to 1");
    insta::assert_snapshot!(complaint("", &["run", "no/such.fs"]), @"3 forthwith: no such file: no/such.fs");
    let steering = complaint(": \u{1b}[2J 1 ; : \u{1b}[2J", &["run", "-"]);
    assert!(steering.ends_with("  1 | : ·[2J 1 ; : ·[2J\n    |            ^\n"), "{steering}");
    for args in [
        &["run", "-", "--tier", "3"][..],
        &["run"],
        &["step"],
        &["dis", "-", "--text", "--json"],
        &["run", "-", "--stack", "x"],
        &["run", "-", "--bits", "16"],
        &[],
    ] {
        let said = piped("", args);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
    }
}

#[test]
fn runaways_are_stopped() {
    let said = piped("output y int64 begin 1 y <- stack again", &["run", "-", "--max-output", "80"]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("y int64[10]  1 1 1 1 1 1 1 1 1 1\n"), "{}", said.out);
    assert!(said.err.contains("output limit exceeded"), "{}", said.err);
    let said = piped("begin again", &["step", "-", "--limit", "7"]);
    assert_eq!((said.code, said.out.lines().count()), (0, 7 + 1 + 2));
    assert_eq!(said.err, "forthwith: stopped after 7 instructions (--limit)\n");
    // Source that is no text, and deep nesting.
    let folder = Folder::new();
    fs::write(folder.path("bad.fs"), [b'1', 0xff]).expect("written");
    assert_eq!(folder.forth(&["run", "@bad.fs"]).err, "forthwith: bad.fs: not UTF-8 at byte 1\n");
    let deep = piped(&"1 if ".repeat(100_000), &["dis", "-"]);
    assert!(
        deep.code == 1 && deep.err.len() < 1000 && deep.err.contains("nested too deeply"),
        "{}",
        deep.err
    );
}

#[test]
fn step_traces_each_instruction() {
    let said = Folder::new().forth(&["step", "@lists.fs", "-i", "data=@lists.bin", "-n", "1"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    insta::assert_snapshot!(said.out, @r"
         1  6:1                 0                             <2> 1 0
         2  6:3                 offsets <- stack              <1> 1; offsets + 0
         3  12:1                0                             <2> 1 0
         4  12:3                do                            <0>; i=0/1
         5  12:6                list                          <0>; i=0/1
         6  8:3     list        data !I-> stack               <1> 2; i=0/1; data at 4
         7  9:3     list        dup                           <2> 2 2; i=0/1
         8  9:7     list        total +!                      <1> 2; i=0/1; total = 2
         9  10:3    list        dup                           <2> 2 2; i=0/1
        10  10:7    list        offsets +<- stack             <1> 2; i=0/1; offsets + 2
        11  11:3    list        data #!f-> content            <0>; data at 12; content + 1.5 -2

    done
    stack      <0>
    variable   total = 2
    input      data at 12 of 24
    output     offsets int64[2]  0 2
    output     content float32[2]  1.5 -2
    ");
    let said = piped("3 0 do i . loop 1 0 /", &["step", "-"]);
    assert_eq!(said.code, 1);
    assert!(
        said.out.contains("prints: 2 \n") && said.err.contains("division by zero"),
        "{}\n{}",
        said.out,
        said.err
    );
    assert_eq!(piped("", &["step", "-"]).out, "\ndone\nstack      <0>\n");
    // A pause is an instruction like others.
    assert_eq!(piped("1 pause 2", &["step", "-"]).code, 0);
}

#[test]
fn step_asks_on_a_terminal() {
    let folder = Folder::new();
    let step = |typed: &str, args: &[&str]| {
        folder.typing(
            &[&["step", "@lists.fs", "-i", "data=@lists.bin", "-n", "3"], args].concat(),
            typed,
            Some(80),
        )
    };
    let said = step("\ns 4\nq\n", &[]);
    assert_eq!(said.code, 0);
    let screens: Vec<&str> = said.out.split("\n> ").collect();
    assert_eq!(screens.iter().filter(|screen| screen.contains("next ")).count(), 3, "{}", said.out);
    let last = screens[2].trim_start().lines().collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(last, @r"
    after 5 instructions, at lists.fs:8:3 in list
                 6  0 offsets <- stack
                 7  : list ( -- )
             >   8    data !I-> stack
                 9    dup total +!
                10    dup offsets +<- stack
    next     data !I-> stack
    stack    <0>
    loops    i=0/3
    variable total = 0
    input    data at 0 of 24  |00 00 00 02 3f c0 00 00 c0 00 00 00…
    output   offsets int64[1]  0
    output   content float32[0]
    ");
    let broken = step("c\nc\nq\n", &["--break", "10"]);
    assert_eq!(broken.out.matches("at lists.fs:10:3 in list").count(), 2, "{}", broken.out);
    assert!(broken.out.contains("00 00 00 02 |3f c0 00 00"), "{}", broken.out);
    let out = step("s 5\no\nl\nb 8\nb\nb 8\nb\nnonsense\nc\n", &[]);
    assert!(
        out.out.contains("breaks at lines: 8\n")
            && out.out.contains("breaks at lines: \n")
            && out.out.contains("enter, s "),
        "{}",
        out.out
    );
    assert!(out.out.ends_with("the end\n"), "{}", out.out);
    // A closed terminal ends the session.
    assert_eq!(step("", &[]).code, 0);
    let failed = folder.typing(&["step", "@lists.fs", "--bytes", "data=00", "-n", "1"], "c\n", Some(80));
    assert!(
        failed.code == 1 && failed.out.ends_with("stopped\n") && failed.err.contains("read beyond"),
        "{}",
        failed.out
    );
    // `--trace` asks no questions.
    let traced = step("", &["--trace"]);
    assert!(traced.out.contains("\ndone\n") && !traced.out.contains("next "), "{}", traced.out);
}

#[test]
fn dis_lists_bytecode() {
    let folder = Folder::new();
    let said = folder.forth(&["dis", "@lists.fs"]);
    insta::assert_snapshot!(said.out, @r"
    at  numbers    instruction         place  word
        segment 0
     0  0 0        0                   6:1
     2  24 0       offsets <- stack    6:3
     4  0 0        0                   12:1
     6  6 73       do                  12:3
        segment 1
     8  -77 0      data !I-> stack     8:3    list
    10  37         dup                 9:3    list
    11  13 0       total +!            9:7    list
    13  37         dup                 10:3   list
    14  25 0       offsets +<- stack   10:7   list
    16  -104 0 1   data #!f-> content  11:3   list
        segment 2
    19  72         list                12:6
    ");
    let text = folder.forth(&["dis", "@lists.fs", "--text"]).out;
    assert_eq!(piped(&text, &["dis", "-", "--text"]).out, text);
    let json: Value = serde_json::from_str(&folder.forth(&["dis", "@lists.fs", "--json"]).out).expect("JSON");
    assert_eq!(
        (&json["dictionary"], &json["decompiled"], &json["source"]),
        (&json!(["list"]), &json!(text), &json!(LISTS))
    );
}

#[test]
fn explain_tells_what_is_native() {
    let folder = Folder::new();
    let said = folder.forth(&["explain", "@lists.fs"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    for part in [
        "lists.fs: 20 numbers of bytecode\n",
        "inputs: data\n",
        "outputs: offsets int64, content float32\n",
        "loop at line 12 col 3",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    // The program printed for a branch can be piped in.
    let target = crate::file("zmumu.root:events/Track_hits");
    let program = forthwith(&["forth", &target]).out;
    assert!(piped(&program, &["explain", "-"]).out.contains(": fused: "));
    assert!(piped(&forthwith(&["forth", &target, "--explain"]).out, &["dis", "-"]).code == 0);
}
