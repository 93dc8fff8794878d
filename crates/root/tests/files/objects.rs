//! Objects read by their streamer infos.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use forthwith_root::{Object, Objects};

use crate::corpus;

const TREES: [&str; 4] = ["TTree", "TNtuple", "TNtupleD", "TChain"];

/// Names of all branches below an object, and how many leaves they have.
fn branches(object: Object<'_>, names: &mut Vec<String>, leaves: &mut usize) {
    for branch in object.list("fBranches").flatten() {
        names.push(branch.text("fName").unwrap_or_default().into_owned());
        *leaves += branch.list("fLeaves").flatten().count();
        branches(branch, names, leaves);
    }
}

#[test]
fn every_tree_of_the_corpus_is_walked() {
    let (mut trees, mut total, mut total_leaves, mut opaque) = (0, 0, 0, BTreeMap::new());
    let mut slowest = Vec::new();
    let mut wrong = Vec::new();
    for (path, golden) in corpus::files() {
        let file = corpus::open(&path);
        for found in file.keys_recursive().expect("keys are listed") {
            if !TREES.contains(&&*found.key.class_name) {
                continue;
            }
            trees += 1;
            let payload = file.payload(&found.key).expect("payloads are read");
            let walker = file.walker().expect("streamers are read");
            let origin = u32::from(found.key.keylen);
            let place = format!("{}:{}", path.display(), found.path);
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
    eprintln!("passed over: {opaque:?}");
    for (time, branches, objects, bytes, place) in slowest.iter().rev().take(6) {
        eprintln!("{time:?}: {branches} branches, {objects} objects, {bytes} bytes in {place}");
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}
