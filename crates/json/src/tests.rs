//! Tests from the text of a file to values.

use crate::{JsonFile, JsonOptions, JsonTable, decode::Recipe};
use forthwith_columns::Value;
use forthwith_io::Memory;
use forthwith_plan::{
    BlockMaker, BlockRunner, BlockSink, Dataset, Decoder, Error, OneThread, Result, Stored,
};
use std::{ops::Range, sync::Arc};

/// Single-threaded runner that claims two threads, so that blocks are found by brackets.
#[derive(Debug, Default)]
struct Several(OneThread);

impl BlockRunner for Several {
    fn run(&self, blocks: &dyn BlockMaker, sink: &mut dyn BlockSink) -> Result<()> {
        self.0.run(blocks, sink)
    }

    fn threads(&self) -> usize {
        2
    }
}

/// Returns the entries of a file as JSON texts.
fn entries(
    text: &[u8],
    options: &JsonOptions,
    runner: &dyn BlockRunner,
    part: Option<Range<u64>>,
) -> Result<Vec<String>> {
    let file = JsonFile::open(Arc::new(Memory::new("made", text.to_vec())), options, runner)?;
    let table = JsonTable::new(file);
    let fields: Vec<u32> = (0..table.fields()?.len() as u32).collect();
    let plan = table.plan(&fields, part.unwrap_or(0..table.entries()?))?;
    let mut found = Vec::new();
    for task in &plan.tasks {
        let (Stored::Range(bytes), Decoder::Format(recipe)) = (&task.stored, &plan.groups[0].decoder) else {
            panic!("of the file")
        };
        let recipe: Recipe = serde_json::from_str(recipe).expect("of JSON");
        let array = recipe.decode(&text[bytes.start as usize..bytes.end as usize], task)?;
        array.validate().expect("valid");
        let values = array.values(0..array.length).expect("valid");
        found.extend(values.iter().map(|value: &Value| serde_json::to_string(value).expect("JSON")));
    }
    Ok(found)
}

/// Reads a file in both modes, by parsing and by brackets, and checks that the results are equal.
fn read(text: &[u8], options: &JsonOptions) -> Result<Vec<String>, String> {
    let said = |error: Error| error.to_string();
    let one = entries(text, options, &OneThread::default(), None).map_err(said);
    let several = entries(text, options, &Several::default(), None).map_err(said);
    assert_eq!(one, several);
    one
}

fn schema(of: &str) -> JsonOptions {
    JsonOptions { schema: Some(of.into()), ..JsonOptions::default() }
}

#[test]
fn files_are_values_lines_or_a_list() {
    let wanted = Ok(vec![r#"{"a":1}"#.to_owned(), r#"{"a":null}"#.into(), r#"{"a":3}"#.into()]);
    for text in [
        "{\"a\":1}\n{}\n{\"a\":3}\n",
        "{\"a\":1}{}\n\n  {\"a\":3}",
        "\u{feff}[{\"a\":1},{},\n{\"a\":3}]",
        "{\"a\":\n1}\r\n{\"b\":[\"}\"],\"a\":null}\r\n{\"a\":3}",
    ] {
        let options = schema("{a: ?int64}");
        assert_eq!(read(text.as_bytes(), &options), wanted, "{text}");
        let lines = JsonOptions { lines: true, ..options };
        if text.starts_with('{') && !text.contains("\n1") && !text.contains("}{") {
            assert_eq!(read(text.as_bytes(), &lines), wanted, "{text}");
        }
    }
    assert_eq!(read(b"1 2\n3", &JsonOptions::default()), Ok(vec!["1".into(), "2".into(), "3".into()]));
    assert_eq!(read(b" [ ] ", &JsonOptions::default()), Ok(vec![]));
}

#[test]
fn errors_say_where() {
    for (text, of, wanted) in [
        ("{\"a\": 1}\n{\"a\": x}", None, "\"x}\" where a value is expected (line 2, column 7, in a)"),
        ("[1,\n 2,]", None, "where a value is expected (line 2, column 4)"),
        (
            "{\"a\": [{\"b\": 1}, {\"b\": \"x\"}]}",
            Some("{a: var * {b: int8}}"),
            "a text where a number is expected (line 1, column 24, in a[1].b)",
        ),
        ("{\"a\": 300}", Some("{a: int8}"), "300 is not a number of type int8 (line 1, column 7, in a)"),
        ("{\"b\": 300}", Some("{a: int8}"), "an object without the member \"a\" (line 1, column 11)"),
        ("{\"a\": [1, 2", None, "the text ends within a value, or was cut off (line 1, column 12)"),
    ] {
        let options = of.map_or_else(JsonOptions::default, schema);
        let error = read(text.as_bytes(), &options).expect_err(text);
        assert!(error.contains(wanted), "{text}: {error}");
    }
}

#[test]
fn damage_ends_with_its_line() {
    let lines: Vec<String> = (0..3000).map(|n| format!("{{\"n\": {n}}}")).collect();
    for bad in ["{\"n\": }", "{\"n\": 1", "{\"n\": 1} x", "\"open", "}", "{\"x\": [}", "\u{1}", "\u{2}"] {
        let mut text = lines.clone();
        text[1000] = bad.into();
        // An invalid UTF-8 byte.
        let text: Vec<u8> = text.join("\n").bytes().map(|byte| if byte == 2 { 0xff } else { byte }).collect();
        let by_schema = schema("{n: int32}");
        for options in [JsonOptions::default(), JsonOptions { lines: true, ..by_schema.clone() }, by_schema] {
            for runner in [&OneThread::default() as &dyn BlockRunner, &Several::default()] {
                let part = |range| entries(&text, &options, runner, Some(range));
                assert_eq!(part(0..1000).expect("sound").len(), 1000);
                assert_eq!(part(1001..3000).expect("sound")[0], "{\"n\":1001}");
                let error = part(998..1003).expect_err("damaged");
                assert_eq!(error.place.entry, Some(1000), "{error}");
                assert!(error.to_string().contains("line 1001"), "{error}");
            }
        }
    }
}

#[test]
fn values_that_are_not_on_lines_are_not_told_apart_by_lines() {
    // There are as many lines as values, but one line has two values and one value spans two lines.
    let text = b"{\"n\":0}{\"n\":1}\n{\"n\":2}\n{\"n\":\n\"bad\"}\n{\"n\":4}\n";
    for runner in [&OneThread::default() as &dyn BlockRunner, &Several::default()] {
        let part = |range| entries(text, &schema("{n: int32}"), runner, Some(range));
        let error = part(1..2).expect_err("the block is read as one");
        assert_eq!(error.place.entry, Some(3), "{error}");
        assert!(error.to_string().contains("line 4"), "{error}");
    }
}

#[test]
fn the_last_of_members_of_one_name_counts() {
    let text = b"{\"a\": [1, 2], \"b\": 1, \"a\": [{}], \"a\": []} {\"a\": [3], \"b\": 2, \"a\": [4, 5]}";
    let wanted = vec!["{\"a\":[],\"b\":1}".to_owned(), "{\"a\":[4,5],\"b\":2}".into()];
    assert_eq!(
        read(b"{\"a\":[1,2],\"b\":1,\"a\":[]}{\"a\":[3],\"b\":2,\"a\":[4,5]}", &JsonOptions::default()),
        Ok(wanted)
    );
    assert!(read(text, &schema("{a: var * int64, b: int64}")).is_err());
}
