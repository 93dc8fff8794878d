//! Objects read by their streamer infos.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forthwith_root::{BasketHeader, Cursor, Object, Objects, RootFile, Streamers, Value, Walker};

use crate::corpus;

const TREES: [&str; 4] = ["TTree", "TNtuple", "TNtupleD", "TChain"];

/// Names of all branches below an object, and how many leaves they have.
fn branches(object: Object<'_>, names: &mut Vec<String>, leaves: &mut usize) {
    for branch in object.list("fBranches").flatten() {
        names.push(branch.text("fName").unwrap_or_default());
        *leaves += branch.list("fLeaves").flatten().count();
        branches(branch, names, leaves);
    }
}

#[test]
fn every_tree_is_walked() {
    let (mut trees, mut total, mut total_leaves, mut opaque) = (0, 0, 0, BTreeMap::new());
    let (mut unread, mut baskets) = (0, 0);
    let mut slowest = Vec::new();
    let mut wrong = Vec::new();
    for example in corpus::examples() {
        let (file, golden) = (example.open(), &example.golden);
        for found in file.keys_recursive().expect("keys are listed") {
            if !TREES.contains(&&*found.key.class_name) {
                continue;
            }
            trees += 1;
            let payload = file.payload(&found.key).expect("payloads are read");
            let walker = file.walker().expect("streamers are read");
            let origin = u32::from(found.key.keylen);
            let place = format!("{example}:{}", found.path);
            let (mut time, mut objects) = (Duration::MAX, None);
            for _ in 0..3 {
                let start = Instant::now();
                let read = walker.read(payload.clone(), origin, &found.key.class_name);
                time = time.min(start.elapsed());
                objects = Some(read);
            }
            let objects: Objects = match objects.expect("read three times") {
                Ok(objects) => objects,
                Err(error) => {
                    wrong.push(format!("{place}: {error}"));
                    continue;
                }
            };
            let tree = objects.top();
            unread += objects.unread();
            baskets += check_baskets(&objects);
            let (mut names, mut leaves) = (Vec::new(), 0);
            branches(tree, &mut names, &mut leaves);
            total += names.len();
            total_leaves += leaves;
            for object in objects.iter().filter(|object| object.is_opaque()) {
                *opaque.entry(format!("{} v{}", object.class(), object.version())).or_insert(0) += 1;
                if let Some(error) = object.fault() {
                    wrong.push(format!("{place}: {} not read: {error}", object.class()));
                }
            }
            let entries = golden["trees"][&found.path]["entries"].as_i64();
            let whole = entries.is_none() || tree.int("fEntries") == entries;
            // Several cycles of a tree share their path, and the golden is of the last.
            if !whole && file.find(&found.path).expect("found above").key == found.key {
                wrong.push(format!("{place}: {:?} entries, expected {entries:?}", tree.int("fEntries")));
            }
            let listed: BTreeSet<_> = names.iter().cloned().collect();
            let columns = golden["trees"][&found.path]["columns"].as_object();
            for column in columns.into_iter().flatten().map(|(name, _)| name) {
                // A path of branches whose names may themselves contain a slash.
                let known = column.match_indices('/').map(|(at, _)| &column[at + 1..]);
                if !known.chain([&**column]).any(|name| listed.contains(name)) && whole {
                    wrong.push(format!("{place}: no branch {column}"));
                }
            }
            if leaves == 0 && !names.is_empty() {
                wrong.push(format!("{place}: no leaves"));
            }
            slowest.push((time, names.len(), objects.len(), payload.len(), place));
        }
    }
    slowest.sort();
    eprintln!("trees walked: {}/{trees}; {total} branches, {total_leaves} leaves", slowest.len());
    eprintln!("passed over: {opaque:?}; {unread} with bytes unread; extents of {baskets} baskets");
    for (time, branches, objects, bytes, place) in slowest.iter().rev().take(6) {
        eprintln!("{time:?}: {branches} branches, {objects} objects, {bytes} bytes in {place}");
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

/// Whether the extent of every basket inside a branch, from its own words, is what the byte count around it
/// says.
fn check_baskets(objects: &Objects) -> usize {
    let baskets = objects.iter().filter(|object| object.class() == "TBasket");
    baskets
        .map(|basket| {
            let mut cursor = Cursor::with_origin(objects.payload(), objects.origin());
            cursor.seek(basket.body().start).expect("inside the payload");
            let header = BasketHeader::parse(&mut cursor).expect("a basket");
            header.embedded(&mut cursor).expect("a basket's contents");
            assert_eq!(cursor.position(), basket.body().end, "{header:?}");
        })
        .count()
}

#[test]
fn every_keyed_object_is_walked_or_named() {
    let (mut read, mut opaque, mut refused, mut unread) = (0, 0, BTreeMap::new(), 0);
    for example in corpus::examples() {
        let file = example.open();
        for found in file.keys_recursive().expect("keys are listed") {
            if found.key.is_directory() {
                continue;
            }
            match file.object(&found.key) {
                Ok(objects) if objects.top().is_opaque() => opaque += 1,
                Ok(objects) => {
                    read += 1;
                    unread += objects.unread();
                }
                Err(error) => {
                    let kind = format!("{} {}", found.key.class_name, error.kind);
                    *refused.entry(kind.chars().take(100).collect::<String>()).or_insert(0) += 1;
                }
            }
        }
    }
    eprintln!(
        "keyed objects read: {read}, opaque: {opaque}, {unread} with bytes unread, refused: {refused:#?}"
    );
    assert!(read > 0);
}

#[test]
fn named_objects_of_the_repository_are_what_root_says() {
    let mut checked = 0;
    for example in corpus::bundled() {
        let file = example.open();
        for (path, golden) in example.golden["objects"].as_object().into_iter().flatten() {
            let found = file.find(path).unwrap_or_else(|error| panic!("{error}"));
            let objects = file.object(&found.key).unwrap_or_else(|error| panic!("{error}"));
            for (member, key) in [("fName", "name"), ("fTitle", "title")] {
                let Some(wanted) = golden[key].as_str() else { continue };
                // Not every object that ROOT gives a name stores one.
                if let Some(text) = objects.top().text(member) {
                    assert_eq!(text, wanted, "{example}: {path}");
                    checked += 1;
                }
            }
        }
    }
    eprintln!("names and titles compared: {checked}");
    assert!(checked > 20);
}

/// Damaged objects, and damaged infos of sound ones: an error or an object, in proportion to the bytes, and
/// never a panic.
#[test]
fn damaged_objects_are_read_or_refused() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let (mut read, mut refused) = (0, 0);
    for path in corpus::data() {
        let Ok(file) = RootFile::open(corpus::source(&path)) else { continue };
        for found in file.keys_recursive().unwrap_or_default() {
            let Ok(payload) = file.payload(&found.key) else { continue };
            if found.key.is_directory() || payload.len() > 50_000 {
                continue;
            }
            let walker = file.walker().expect("streamers are read");
            for _ in 0..60 {
                let mut bytes = payload.to_vec();
                for _ in 0..=random(3) {
                    let at = random(bytes.len());
                    let Some(place) = bytes.get_mut(at) else { continue };
                    *place = [0, 1, 0x40, 0x7F, 0x80, 0xFF, *place ^ 1, *place ^ 0x10][random(8)];
                }
                bytes.truncate(if random(4) == 0 { random(bytes.len()) } else { bytes.len() });
                let length = bytes.len();
                match walker.read(bytes.into(), u32::from(found.key.keylen), &found.key.class_name) {
                    Ok(objects) => {
                        read += 1;
                        assert!(objects.len() <= 200_000 + 4 * length);
                        for object in objects.iter() {
                            assert!(object.members().count() + object.items().count() < 200_000 + 4 * length);
                        }
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    eprintln!("damaged objects read: {read}, refused: {refused}");
    assert!(read > 0 && refused > 0);
}

#[test]
fn pointers_to_one_object_are_one_object() {
    let file = corpus::bundled().into_iter().find(|example| example.to_string() == "leaves.root");
    let file = file.expect("a file of the repository").open();
    let objects = file.object(&file.find("counted").expect("a tree").key).expect("a readable tree");
    let tree = objects.top();
    let mut counted = 0;
    for branch in tree.list("fBranches").flatten() {
        for leaf in branch.list("fLeaves").flatten() {
            assert!(tree.list("fLeaves").flatten().any(|other| other == leaf), "the tree lists every leaf");
            if let Some(counter) = leaf.object("fLeafCount") {
                assert!(tree.list("fLeaves").flatten().any(|other| other == counter));
                counted += 1;
            }
        }
    }
    assert!(counted > 0);
}

/// Stripped files have no infos: those of the classes that trees are made of are built in, and say the same.
#[test]
fn trees_are_walked_without_streamer_infos() {
    let walker = Walker::new(Arc::new(Streamers::default()));
    let (mut same, mut differ) = (0, Vec::new());
    for example in corpus::examples() {
        let file = example.open();
        for found in file.keys_recursive().expect("keys are listed") {
            if !TREES.contains(&&*found.key.class_name) {
                continue;
            }
            let whole = file.object(&found.key).expect("walked by the test above");
            let origin = u32::from(found.key.keylen);
            match walker.read(whole.payload().clone(), origin, &found.key.class_name) {
                Ok(bare) => {
                    let (bare, whole) = (outline(bare.top()), outline(whole.top()));
                    match bare.iter().zip(&whole).position(|(bare, whole)| bare != whole) {
                        None if bare.len() == whole.len() => same += 1,
                        place => {
                            let before = place.unwrap_or(whole.len()).saturating_sub(1);
                            let lines = &whole[before..(before + 2).min(whole.len())];
                            differ.push(format!("{example}:{}: behind {lines:?}", found.path));
                        }
                    }
                }
                Err(error) => differ.push(format!("{example}:{}: {error}", found.path)),
            }
        }
    }
    eprintln!("trees the same without streamer infos: {same}");
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

/// The metadata of a tree and its branches.
fn outline(object: Object<'_>) -> Vec<String> {
    let mut lines = vec![format!("{} {}: {:?}", object.class(), object.version(), object.fault())];
    for (name, value) in object.members() {
        match value {
            // Whatever a user put there.
            _ if name == "fUserInfo" => {}
            Value::Object(inner)
                if inner.number() > object.number() && !inner.class().starts_with("TRef") =>
            {
                lines.extend(outline(inner));
                lines.extend(
                    inner.items().flatten().filter(|item| item.number() > inner.number()).flat_map(outline),
                );
            }
            Value::Object(_) | Value::Objects(_) => lines.push(name.to_owned()),
            Value::Array(array) => lines.push(format!("{name} {:?}", array.ints().collect::<Vec<_>>())),
            value => lines.push(format!("{name} {value:?}")),
        }
    }
    lines
}

#[test]
fn a_branch_can_be_read_alone() {
    let file = corpus::bundled().into_iter().find(|example| example.to_string() == "leaves.root");
    let file = file.expect("a file of the repository").open();
    let walker = file.walker().expect("streamer infos");
    let objects = file.object(&file.find("counted").expect("a tree").key).expect("a readable tree");
    let mut outside = 0;
    for branch in objects.top().list("fBranches").flatten() {
        let payload = objects.payload().clone();
        let alone = walker.read_at(payload, objects.origin(), branch.class(), branch.body().start);
        let alone = alone.expect("it was readable with the others");
        assert_eq!(alone.top().text("fName"), branch.text("fName"));
        for (leaf, same) in alone.top().list("fLeaves").zip(branch.list("fLeaves")) {
            let (leaf, same) = (leaf.expect("a leaf"), same.expect("a leaf"));
            assert_eq!(leaf.range(), same.range());
            // The counter is a leaf of another branch: known by its place.
            if let Some(Value::Elsewhere(position)) = leaf.member("fLeafCount") {
                let counter = same.object("fLeafCount").expect("the tree has it");
                assert_eq!(counter.range().start, position);
                outside += 1;
            }
        }
    }
    assert!(outside > 0);
}
