//! Every basket of every column that can be read is unframed, and holds what its column says.

use forthwith_plan::Dataset;

use crate::{decode::decode, support::samples};

/// Faults that only the data show: file, tree and branch, and the message of the error.
const REFUSED_WHERE_MET: &[(&str, &str, &str)] = &[
    (
        "S_1_1004_qgsjet_100_1.KGrec.root",
        "recData:event./event.fFDEvents/event.fFDEvents.fFdRecPixel.fStatus",
        "class EPixelStatus, which",
    ),
    ("uproot-issue-607.root", "MGTree:event", OWN_CODE),
    ("uproot-issue124.root", "KM3NET_EVENT:KM3NET_EVENT/KM3NETDAQ::JDAQPreamble", OWN_CODE),
    ("uproot-issue124.root", "KM3NET_EVENT:KM3NET_EVENT/snapshotHits", "class JDAQSnapshotHit, which"),
    ("uproot-issue124.root", "KM3NET_EVENT:KM3NET_EVENT/triggeredHits", "class JDAQTriggeredHit, which"),
    ("uproot-issue124.root", "KM3NET_SUMMARYSLICE:KM3NET_SUMMARYSLICE/KM3NETDAQ::JDAQPreamble", OWN_CODE),
    (
        "uproot-issue124.root",
        "KM3NET_SUMMARYSLICE:KM3NET_SUMMARYSLICE/vector<KM3NETDAQ::JDAQSummaryFrame>",
        "class KM3NETDAQ::JDAQSummaryFrame, which",
    ),
    ("uproot-issue124.root", HITS[0], OWN_CODE),
    ("uproot-issue124.root", HITS[1], OWN_CODE),
    ("uproot-issue475.root", "Event/Elec/ElecHeader:ElecHeader/m_event", OWN_CODE),
    (
        "uproot-issue475.root",
        "Event/Sim/SimHeader:SimHeader/m_event",
        "the byte count does not end at the entry's end",
    ),
    ("uproot-issue475.root", "Meta/navigator:EvtNavigator/m_refs", OWN_CODE),
];
const OWN_CODE: &str = "or written by a streamer of its own";
/// Long names.
const HITS: [&str; 2] = [
    "KM3NET_TIMESLICE_L1:km3net_timeslice_L1/KM3NETDAQ::JDAQTimeslice/vector<KM3NETDAQ::JDAQSuperFrame>/vector<KM3NETDAQ::JDAQSuperFrame>.buffer",
    "KM3NET_TIMESLICE_SN:km3net_timeslice_SN/KM3NETDAQ::JDAQTimeslice/vector<KM3NETDAQ::JDAQSuperFrame>/vector<KM3NETDAQ::JDAQSuperFrame>.buffer",
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
                let planned =
                    tree.entry_range(field, u64::MAX).and_then(|entries| tree.plan(&[field], entries));
                let plan = match planned {
                    Ok(plan) => plan,
                    Err(error) if crate::support::is_elsewhere(&error) => continue,
                    Err(error) => {
                        wrong.push(format!("{place}/{column}: {error}"));
                        continue;
                    }
                };
                columns += 1;
                let named = format!("{path}:{column}");
                let is_this = |(file, of, _): &&(&str, &str, &str)| *file == sample.name && *of == named;
                let refused: Vec<_> = REFUSED_WHERE_MET.iter().filter(is_this).collect();
                match decode(&sample.file, &plan) {
                    // Whoever reads one of these has a line less to keep here.
                    Ok(_) if !refused.is_empty() => wrong.push(format!("{place}/{column}: no error")),
                    Ok(found) => bytes += found.iter().flatten().map(Vec::len).sum::<usize>(),
                    Err(error) if refused.iter().any(|(.., why)| error.contains(why)) => {}
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
