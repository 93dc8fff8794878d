//! The streamer infos of real files.

use std::collections::BTreeSet;

use forthwith_root::ElementKind;

use crate::corpus;

#[test]
fn streamer_records_parse() {
    let files = corpus::examples();
    let (mut parsed, mut infos, mut elements, mut rules) = (0, 0, 0, 0);
    let mut kinds = BTreeSet::new();
    let mut differ = Vec::new();
    for example in &files {
        let golden = &example.golden;
        let file = example.open();
        let streamers = file.streamers().unwrap_or_else(|error| panic!("{example}: {error}"));
        let all = streamers.infos().unwrap_or_else(|error| panic!("{example}: {error}"));
        // 0 where the golden's reader could not read the record of an old file.
        if let Some(wanted) = golden["streamer_classes"].as_u64().filter(|&wanted| wanted > 0) {
            let classes: BTreeSet<_> = streamers.classes().map(|(class, _)| class.to_owned()).collect();
            if classes.len() as u64 != wanted {
                differ.push(format!("{example}: {} classes, expected {wanted}", classes.len()));
            }
        }
        parsed += 1;
        infos += all.len();
        rules += streamers.rules().len();
        for info in all {
            elements += info.elements.len();
            for element in &info.elements {
                if let ElementKind::Unknown(class) = &element.kind {
                    panic!("{example}: element class {class}");
                }
                let kind = format!("{:?}", element.kind);
                kinds.insert(kind.split([' ', '(']).next().unwrap_or_default().to_owned());
            }
        }
    }
    eprintln!(
        "streamer records parsed: {parsed}/{}; {infos} infos, {elements} elements, {rules} rules",
        files.len()
    );
    eprintln!("kinds: {kinds:?}");
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
