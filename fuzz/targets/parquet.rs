//! Parquet: any bytes as a file; or any bytes as the pages of a chunk behind a footer from the seeds, which are whole files.
#![no_main]

use forthwith::{File, OpenOptions, parquet::ParquetTable};
use forthwith_fuzz::engine;
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

static ENGINE: LazyLock<Arc<forthwith::Engine>> = LazyLock::new(|| Arc::new(engine()));

fuzz_target!(|bytes: &[u8]| {
    for options in [OpenOptions::new(), OpenOptions::new().with("row_groups", vec![1, 0])] {
        let source = Arc::new(forthwith::io::Memory::new("fuzz.parquet", bytes.to_vec()));
        let Ok(file) = File::from_source_with(source, Arc::clone(&ENGINE), &options) else { return };
        let _ = (file.info(), file.check());
        let Ok(table) = file.table("") else { continue };
        let fields = table.fields().map_or(0, <[_]>::len).min(32) as u32;
        for field in 0..fields {
            let _ = table.own::<ParquetTable>().map(|own| own.chunks(field));
            let entries = table.entries_up_to(1000).unwrap_or(0);
            for (entries, threads) in [(0..entries, 1), (entries / 3..entries / 2, 1), (0..entries, 2)] {
                let Ok(plan) = table.plan(&[field], entries) else { continue };
                for array in table.read(&plan, Some(threads), None).unwrap_or_default() {
                    array.validate().expect("what is delivered is valid");
                    let _ = array.preview(0..array.length.min(3), 40).lines();
                }
            }
        }
    }
});
