//! Parquet: any bytes as a file; or any bytes as the pages of a chunk behind a footer from the seeds, which are whole files.
#![no_main]

use forthwith::{File, parquet};
use forthwith_fuzz::engine;
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

static ENGINE: LazyLock<Arc<forthwith::Engine>> = LazyLock::new(|| Arc::new(engine()));

fuzz_target!(|bytes: &[u8]| {
    let source = Arc::new(forthwith::io::Memory::new("fuzz.parquet", bytes.to_vec()));
    let Ok(file) = File::from_source(source, Arc::clone(&ENGINE)) else { return };
    if file.parquet().is_none() {
        return;
    }
    let _ = file.info();
    for row_groups in [None, Some(vec![1, 0])] {
        let Ok(table) = file.parquet_table("", &parquet::Options { row_groups, ..Default::default() }) else { continue };
        let fields = table.fields().map_or(0, <[_]>::len).min(32) as u32;
        for field in 0..fields {
            let _ = table.parquet().map(|own| own.chunks(field));
            let entries = table.entries_up_to(1000).unwrap_or(0);
            for (entries, threads) in [(0..entries, 1), (entries / 3..entries / 2, 1), (0..entries, 2)] {
                let Ok(plan) = table.plan(&[field], entries) else { continue };
                for array in table.read(&plan, Some(threads), None).unwrap_or_default() {
                    array.validate().expect("what is delivered is valid");
                    let _ = array.preview(0..array.length.min(3), 40);
                }
            }
        }
    }
});
