//! Columns that are computed and entries that are chosen, from file to array.

use forthwith::{
    File, SelectOptions, Step,
    columns::Array,
    plan::{ErrorKind, Result},
};

fn file(name: &str) -> File {
    File::open(format!("{}/../../tests/data/{name}", env!("CARGO_MANIFEST_DIR")))
        .expect("a file of the repository")
}

fn events() -> forthwith::Table {
    file("zmumu.root").table("events").expect("a tree")
}

fn options(cut: Option<&str>, aliases: &[(&str, &str)]) -> SelectOptions {
    let aliases = aliases.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    SelectOptions { aliases, cut: cut.map(str::to_owned), entries: None }
}

/// The rows of an array as they are shown.
fn lines(array: &Array) -> Vec<String> {
    let lines = array.preview(0..array.length, 4000).lines().expect("an array");
    lines.into_iter().map(|line| line.to_string()).collect()
}

fn refused(names: &[&str], options: SelectOptions) -> String {
    match events().select(names, options).and_then(|selection| selection.read(.., None, None)) {
        Ok(_) => panic!("{names:?} was read"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_cut_leaves_the_entries_for_which_it_is_true() -> Result<()> {
    let table = events();
    let cut = options(Some("nMuon > 1"), &[("pt2", "Muon_pt**2")]);
    let selected = table.select(&["pt2", "nMuon", "MET_pt"], cut)?.read(.., None, None)?;
    let kept = selected.kept.expect("entries are chosen");
    let (counts, met) = (table.column("nMuon")?, table.column("MET_pt")?);
    let (counts, met) = (lines(&counts), lines(&met));
    let wanted: Vec<u64> =
        (0..).zip(&counts).filter(|(_, n)| n.parse::<i64>().is_ok_and(|n| n > 1)).map(|(at, _)| at).collect();
    assert!(!wanted.is_empty() && wanted.len() < counts.len());
    assert_eq!(kept, wanted);
    let chosen = |lines: &[String]| wanted.iter().map(|at| lines[*at as usize].clone()).collect::<Vec<_>>();
    assert_eq!(lines(&selected.arrays[1]), chosen(&counts));
    assert_eq!(lines(&selected.arrays[2]), chosen(&met));
    let all = table.select(&["Muon_pt**2"], SelectOptions::default())?.read(.., None, None)?;
    assert_eq!(lines(&selected.arrays[0]), chosen(&lines(&all.arrays[0])));
    Ok(())
}

#[test]
fn steps_and_ranges_have_the_same_entries_as_the_whole() -> Result<()> {
    let table = events();
    let selection =
        table.select(&["MET_pt * 2", "Muon_eta"], options(Some("nMuon == 2 and MET_pt > 20"), &[]))?;
    let whole = selection.read(.., None, None)?;
    for step in [Step::Entries(1), Step::Entries(700), Step::Bytes(10_000)] {
        let range = if step == Step::Entries(1) { 100..160 } else { 0..u64::MAX };
        let (mut kept, mut rows) = (Vec::new(), vec![Vec::new(); 2]);
        for batch in selection.steps(range.clone(), step)? {
            let batch = batch?;
            assert_eq!(batch.kept.as_ref().map(|kept| kept.len() as u64), Some(batch.arrays[0].length));
            kept.extend(batch.kept.unwrap_or_default());
            rows.iter_mut().zip(&batch.arrays).for_each(|(rows, array)| rows.extend(lines(array)));
        }
        let all = whole.kept.clone().unwrap_or_default();
        let wanted = all.iter().enumerate().filter(|(_, entry)| range.contains(entry));
        assert_eq!(kept, wanted.clone().map(|(_, entry)| *entry).collect::<Vec<_>>());
        for (rows, array) in rows.iter().zip(&whole.arrays) {
            let lines = lines(array);
            assert_eq!(*rows, wanted.clone().map(|(at, _)| lines[at].clone()).collect::<Vec<_>>());
        }
    }
    Ok(())
}

#[test]
fn entries_are_read_as_they_are_listed() -> Result<()> {
    let table = events();
    let whole = lines(&table.column("Muon_pt")?);
    for entries in [vec![], vec![0], vec![3, 5, 6, 3599], (0..3600).collect::<Vec<u64>>()] {
        let options = SelectOptions { entries: Some(entries.clone()), ..SelectOptions::default() };
        let selected = table.select(&["Muon_pt"], options)?.read(.., None, None)?;
        assert_eq!(selected.kept.as_deref(), Some(&entries[..]));
        let wanted: Vec<&String> = entries.iter().map(|entry| &whole[*entry as usize]).collect();
        assert_eq!(lines(&selected.arrays[0]).iter().collect::<Vec<_>>(), wanted);
    }
    let wrong = SelectOptions { entries: Some(vec![2, 2]), ..SelectOptions::default() };
    assert!(refused(&["MET_pt"], wrong).starts_with("entries have to ascend"));
    let beyond = SelectOptions { entries: Some(vec![2, 3600]), ..SelectOptions::default() };
    assert!(refused(&["MET_pt"], beyond).starts_with("there is no entry 3600, only 3600"));
    Ok(())
}

#[test]
fn names_of_the_file_win_and_what_cannot_be_computed_says_where() {
    let table = events();
    let plain = table.select(&["MET_pt"], SelectOptions::default()).expect("a column");
    assert_eq!(
        plain.forms().expect("forms"),
        [table.form(table.find("MET_pt").expect("a field")).expect("a form")]
    );
    let error = refused(&["MET_ptt * 2"], SelectOptions::default());
    assert!(error.starts_with("there is no column \"MET_ptt\"; did you mean MET_pt"), "{error}");
    assert!(error.contains("\n    MET_ptt * 2\n    ^^^^^^^\n"), "{error}");
    assert!(matches!(
        table.select(&["MET_ptt"], SelectOptions::default()).map(|_| ()).map_err(|error| error.kind),
        Err(ErrorKind::NotFound { .. })
    ));
    let error = refused(&["MET_pt"], options(Some("Muon_pt > 20"), &[]));
    assert!(
        error.starts_with("the cut \"Muon_pt > 20\" is var * bool for each entry, which has to be one"),
        "{error}"
    );
    let error = refused(&["MET_pt"], options(Some("nMuon"), &[]));
    assert!(error.starts_with("the cut \"nMuon\" is "), "{error}");
    let error = refused(&["MET_pt"], options(None, &[("MET_pt", "1")]));
    assert!(error.starts_with("the alias \"MET_pt\" is the name of a column"), "{error}");
}

#[test]
fn the_aliases_of_a_tree_are_names_as_well() -> Result<()> {
    let file = file("belongings.root");
    let with_aliases = file.keys("", true)?.into_iter().filter(|key| key.is_table).find_map(|key| {
        let table = file.table(&key.path).ok()?;
        let aliases = table.aliases().ok()?;
        (!aliases.is_empty()).then_some((table, aliases))
    });
    let (table, aliases) = with_aliases.expect("a tree with aliases");
    let names: Vec<&str> = aliases.iter().map(|(name, _)| name.as_str()).collect();
    let selected = table.select(&names[..1], SelectOptions::default())?.read(.., None, None)?;
    let direct = table.select(&[&aliases[0].1], SelectOptions::default())?.read(.., None, None)?;
    assert_eq!(lines(&selected.arrays[0]), lines(&direct.arrays[0]));
    Ok(())
}
