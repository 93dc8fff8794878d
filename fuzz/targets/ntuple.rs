//! RNTuple: any bytes as a ROOT file whose tables are read without looking at checksums, which would find every change.
//! The seeds are whole files.
#![no_main]

use forthwith::{File, OpenOptions};
use forthwith_fuzz::engine;
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

static ENGINE: LazyLock<Arc<forthwith::Engine>> = LazyLock::new(|| Arc::new(engine()));

/// More items are not read: what is stored in few bytes may be many, and their memory is not what is looked for.
const MOST: u64 = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let source = Arc::new(forthwith::io::Memory::new("fuzz.root", bytes.to_vec()));
    let options = OpenOptions::new().with("checksums", false);
    let Ok(file) = File::from_source_with(source, Arc::clone(&ENGINE), &options) else { return };
    for key in file.keys("", true).unwrap_or_default().iter().filter(|key| key.is_table).take(3) {
        let Ok(table) = file.table(&format!("{};{}", key.path, key.cycle)) else { continue };
        let fields = table.fields().map_or(0, <[_]>::len).min(32) as u32;
        for field in 0..fields {
            let _ = table.describe(field);
            let entries = table.entries_up_to(1000).unwrap_or(0);
            for (entries, threads) in [(0..entries, 1), (entries / 3..entries / 2, 2)] {
                let Ok(plan) = table.plan(&[field], entries) else { continue };
                let items = plan.tasks.iter().map(|task| task.wanted.end - task.wanted.start);
                if items.fold(0, u64::saturating_add) > MOST {
                    continue;
                }
                for array in table.read(&plan, Some(threads), None).unwrap_or_default() {
                    array.validate().expect("what is delivered is valid");
                }
            }
        }
    }
});
