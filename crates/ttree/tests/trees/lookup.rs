//! Finding branches, and what a tree says of itself.

use std::sync::Arc;

use forthwith_io::Memory;
use forthwith_plan::{Dataset, ErrorKind, Stored};
use forthwith_root::RootFile;
use forthwith_ttree::Tree;

use crate::support::{bundled, corpus, samples};

fn tree(file: &str, path: &str) -> Option<Tree> {
    let sample = bundled(file)?;
    Some(Tree::open(&sample.file, path).unwrap_or_else(|error| panic!("{file}:{path}: {error}")))
}

#[test]
fn a_tree_is_described() {
    let Some(tree) = tree("trees.root", "main") else { return };
    assert_eq!((tree.format(), tree.object(), tree.entries().unwrap()), ("root.ttree", "main", 40));
    let info = tree.info();
    assert_eq!(info.title, "aliases, user info, a friend, an index, two cycles");
    let aliases: Vec<(&str, &str)> = info.aliases.iter().map(|(name, text)| (&**name, &**text)).collect();
    assert_eq!(aliases, [("twice", "2*x"), ("label", "run*1000+event")]);
    assert!(info.total_bytes > info.zip_bytes && info.zip_bytes > 0, "{info:?}");
    assert_eq!(info.weight, 0.5);
}

#[test]
fn clusters_are_those_that_root_finds() {
    for sample in samples() {
        for (path, tree, golden) in sample.trees() {
            let Ok(tree) = tree else { continue };
            let found = tree.info().clusters();
            assert_eq!(
                (found[0], found[found.len() - 1]),
                (0, tree.entries().unwrap()),
                "{}:{path}",
                sample.name
            );
            // For a file that does not record the size, ROOT guesses by the size of its cache.
            let recorded = tree.info().auto_flush > 0;
            if let Some(expected) = golden["clusters"].as_array().filter(|_| recorded) {
                let expected: Vec<u64> = expected.iter().filter_map(serde_json::Value::as_u64).collect();
                assert_eq!(found, expected, "{}:{path}", sample.name);
            }
        }
    }
}

#[test]
fn names_that_need_care_are_found() {
    let Some(tree) = tree("trees.root", "names") else { return };
    for name in
        ["with.dot", "with space", "with/slash", "with;semicolon", "with[bracket]", "hé", "/with/slash"]
    {
        let field = tree.find(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(tree.fields().unwrap()[field as usize].name, name.trim_start_matches('/'));
    }
}

#[test]
fn unknown_names_are_answered_with_similar_ones() {
    let Some(tree) = tree("trees.root", "main") else { return };
    let error = tree.find("evnt").unwrap_err();
    assert!(matches!(&error.kind, ErrorKind::NotFound { near, .. } if near == &["event"]), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("no branch named \"evnt\"; did you mean event?"), "{text}");
    assert!(text.ends_with("trees.root:main"), "{text}");
}

#[test]
fn names_alone_are_enough_if_only_one_branch_has_them() {
    let Some(tree) = tree("objects.root", "split") else { return };
    let fields = tree.fields().unwrap();
    let (mut unique, mut ambiguous) = (0, 0);
    for field in fields {
        let same = fields.iter().filter(|other| other.name == field.name).count();
        match tree.find(&field.name) {
            Ok(found) => {
                unique += 1;
                assert!(same == 1 || fields[found as usize].path == field.name, "{}", field.path);
            }
            Err(error) => {
                ambiguous += 1;
                assert!(same > 1 && matches!(error.kind, ErrorKind::Invalid { .. }), "{error}");
            }
        }
    }
    assert!(unique > 0 && ambiguous > 0);
}

#[test]
fn what_is_no_tree_is_refused() {
    let Some(sample) = bundled("zmumu.root") else { return };
    let keys = sample.file.keys().unwrap();
    let histogram = keys.iter().find(|key| key.class_name.starts_with("TH1")).expect("it has a histogram");
    let error = Tree::open(&sample.file, &histogram.name).unwrap_err();
    assert!(matches!(&error.kind, ErrorKind::NotA { what: "a tree", .. }), "{error}");
}

#[test]
fn branches_can_be_shorter_than_their_tree() {
    let Some(tree) = tree("layout.root", "short") else { return };
    let fewer = tree.find("fewer").unwrap();
    let entries = tree.describe(fewer).unwrap().entries;
    assert!(entries < tree.entries().unwrap());
    assert!(tree.plan(&[fewer], 0..entries).is_ok());
    let error = tree.plan(&[fewer], 0..tree.entries().unwrap()).unwrap_err();
    let ErrorKind::Invalid { what } = &error.kind else { panic!("{error}") };
    assert_eq!(*what, format!("entries 0 to 100 of \"fewer\", which has entries 0 to {entries}"));
    let none = tree.find("none").unwrap();
    assert_eq!(tree.plan(&[none], 0..0).unwrap().tasks.len(), 0);
}

#[test]
fn baskets_in_another_file_are_found_beside() {
    let Some(tree) = tree("layout.root", "elsewhere") else { return };
    let there = tree.find("there").unwrap();
    assert_eq!(tree.describe(there).unwrap().blocks, 4);
    let plan = tree.plan(&[there], 0..10).unwrap();
    assert_eq!(plan.others, ["layout-branch.root"]);
    // Behind the first file, whatever its size is.
    assert!(matches!(&plan.tasks[0].stored, Stored::Range(range) if range.start >> 48 == 1));
    assert!(serde_json::to_string(&plan).unwrap().contains("layout-branch.root"));
}

#[test]
fn baskets_in_a_file_that_is_not_there_are_refused_by_its_name() {
    let Some(sample) = bundled("layout.root") else { return };
    let source = sample.file.source();
    let bytes = source.read_one(0..source.size().unwrap()).unwrap();
    let file = RootFile::open(Arc::new(Memory::new("memory", bytes))).unwrap();
    let tree = Tree::open(&file, "elsewhere").unwrap();
    let there = tree.find("there").unwrap();
    assert!(tree.describe(there).unwrap().reading.is_ok());
    let error = tree.plan(&[there], 0..10).unwrap_err();
    assert!(error.to_string().contains("layout-branch.root"), "{error}");
    assert!(error.to_string().contains("no folder to look in"), "{error}");
}

#[test]
fn plans_cover_what_is_asked_and_no_more() {
    for sample in
        samples().into_iter().filter(|sample| ["layout.root", "zmumu.root"].contains(&&*sample.name))
    {
        for (path, tree, _) in sample.trees() {
            let tree = tree.unwrap();
            for field in 0..tree.fields().unwrap().len() as u32 {
                let all = tree.entry_range(field, u64::MAX).unwrap();
                if all.is_empty() || tree.describe(field).unwrap().reading.is_err() {
                    continue;
                }
                let third = (all.end - all.start) / 3;
                let wanted = all.start + third..all.end - third;
                let plan = tree.plan(&[field], wanted.clone()).unwrap();
                assert_eq!((plan.delivered, plan.entries.clone()), (1, wanted.clone()));
                let mut next = wanted.start;
                for task in plan.tasks.iter().filter(|task| task.group == 0) {
                    assert_eq!(task.wanted.start, next, "{path} {}", plan.groups[0].path);
                    assert!(
                        task.entries.start <= next
                            && task.wanted.end <= task.entries.end
                            && !task.stored.is_empty()
                    );
                    next = task.wanted.end;
                }
                assert_eq!(next, wanted.end);
                let borders = tree.boundaries(&[field], wanted.clone()).unwrap();
                assert!(
                    borders.is_sorted()
                        && borders[0] == wanted.start
                        && borders[borders.len() - 1] == wanted.end
                );
                assert!(
                    plan.tasks
                        .iter()
                        .filter(|task| task.group == 0)
                        .all(|task| borders.contains(&task.wanted.end))
                );
            }
        }
    }
}

#[test]
fn counters_follow_what_was_asked_for() {
    let Some(tree) = tree("layout.root", "offsetmap") else { return };
    let (n, x) = (tree.find("n").unwrap(), tree.find("x").unwrap());
    let alone = tree.plan(&[x], 0..150).unwrap();
    assert_eq!((alone.delivered, alone.groups.len(), alone.groups[0].counter), (1, 2, Some(1)));
    assert_eq!(alone.groups[1].path, "n");
    assert!(alone.tasks.iter().all(|task| (task.group == 0) == (task.needs == [1])));
    // A group of its own, even if the counter was asked for: whole baskets need the counts of all their
    // entries.
    let both = tree.plan(&[n, x], 10..11).unwrap();
    assert_eq!((both.delivered, both.groups.len(), both.groups[1].counter), (2, 3, Some(2)));
    let entries = |group| {
        let tasks = both.tasks.iter().filter(move |task| task.group == group);
        tasks.map(|task| task.entries.clone()).reduce(|a, b| a.start..b.end).unwrap()
    };
    let (counts, items) = (entries(2), entries(1));
    assert!(counts.start <= items.start && items.end <= counts.end);
}

/// A file that lost its streamer infos has the same trees: what trees are made of is known.
#[test]
fn trees_open_without_streamer_infos() {
    let mut same = 0;
    for name in ["leaves.root", "layout.root", "objects.root", "trees.root", "codec-none.root"] {
        let Some(sample) = bundled(name) else { return };
        let source = sample.file.source();
        let mut bytes = source.read_one(0..source.size().unwrap()).unwrap().to_vec();
        // Offset of the infos, in the header of a file below 2 GB.
        bytes[37..45].fill(0);
        let bare = RootFile::open(Arc::new(Memory::new("bare", bytes))).unwrap();
        assert_eq!(bare.streamers().unwrap().classes().len(), 0, "{name}");
        for (path, tree, _) in sample.trees() {
            let (tree, bare) = (tree.unwrap(), Tree::open(&bare, &path).unwrap());
            assert_eq!(
                (tree.info(), tree.fields().unwrap()),
                (bare.info(), bare.fields().unwrap()),
                "{path}"
            );
            same += 1;
        }
    }
    assert!(same > 10);
}

#[test]
fn wide_trees_open_without_looking_at_every_type() {
    let wide = corpus().into_iter().flat_map(|sample| sample.trees()).filter_map(|(_, tree, _)| tree.ok());
    let Some(widest) = wide.max_by_key(|tree| tree.fields().unwrap().len()) else { return };
    assert!(widest.fields().unwrap().len() > 900);
}
