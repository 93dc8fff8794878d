//! Every basket of every column that can be read is unframed, and holds what its column says.

use forthwith_plan::Dataset;

use crate::{decode::decode, support::samples};

/// Objects that their classes' own code wrote, which do not follow the description in the file: an error says so.
const BY_OWN_CODE: &[(&str, &str)] = &[
    ("Event.3.2.0.root", "a/b"),
    ("shorttrack.root", "event/fHighPt"),
    ("shorttrack.root", "event/fMuons"),
    ("uproot-issue124.root", "KM3NET_EVENT/KM3NETDAQ::JDAQPreamble"),
    ("uproot-issue124.root", "KM3NET_SUMMARYSLICE/KM3NETDAQ::JDAQPreamble"),
    ("uproot-issue475.root", "ElecHeader/m_event"),
    ("uproot-issue475.root", "SimHeader/m_event"),
    ("uproot-issue475.root", "EvtNavigator/m_refs"),
];

/// What is found out only where the data say it.
const REFUSED_WHERE_MET: &[&str] = &[
    "which the file does not describe",
    "a class that the file does not describe",
    "of a version that the file does not describe",
    "a pointer to an object that stands elsewhere",
];

#[test]
fn all_baskets_hold_what_their_columns_say() {
    let (mut columns, mut bytes, mut wrong) = (0, 0, Vec::new());
    for sample in samples() {
        for (path, tree, golden) in sample.trees() {
            let Ok(tree) = tree else { continue };
            for column in golden["columns"].as_object().into_iter().flatten().map(|(column, _)| column) {
                let place = format!("{}:{path}", sample.name);
                let Ok(field) = tree.find(column) else { continue };
                let Ok(description) = tree.describe(field) else { continue };
                if description.reading.is_err() {
                    continue;
                }
                let planned = tree.entry_range(field).and_then(|entries| tree.plan(&[field], entries));
                let plan = match planned {
                    Ok(plan) => plan,
                    Err(error) if crate::support::is_elsewhere(&error) => continue,
                    Err(error) => {
                        wrong.push(format!("{place}/{column}: {error}"));
                        continue;
                    }
                };
                columns += 1;
                match decode(&sample.file, &plan) {
                    Ok(found) => bytes += found.iter().flatten().map(Vec::len).sum::<usize>(),
                    Err(_) if BY_OWN_CODE.contains(&(sample.name.as_str(), column.as_str())) => {}
                    // Classes that a file does not describe, and objects that stand elsewhere, are errors where they are met.
                    Err(error) if REFUSED_WHERE_MET.iter().any(|why| error.contains(why)) => {}
                    Err(error) => wrong.push(format!("{place}: {error}")),
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {columns} wrong:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(100)].join("\n")
    );
    assert!(columns > 0 && bytes > 0);
}
