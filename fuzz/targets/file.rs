//! Any bytes as a file: header, directories, streamer infos, the fields of every tree, and a little of their data.
#![no_main]

use forthwith::File;
use forthwith_fuzz::engine;
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

static ENGINE: LazyLock<Arc<forthwith::Engine>> = LazyLock::new(|| Arc::new(engine()));

fuzz_target!(|bytes: &[u8]| {
    let source = Arc::new(forthwith::io::Memory::new("fuzz.root", bytes.to_vec()));
    let Ok(file) = File::from_source(source, Arc::clone(&ENGINE)) else { return };
    let _ = file.info();
    if let Some(root) = file.own::<forthwith::root::RootFile>() {
        let _ = root.streamers();
        let _ = root.free_segments();
    }
    let _ = file.find("events;1");
    for key in file.keys("", true).unwrap_or_default().iter().take(32) {
        let Ok(table) = file.table(&format!("{};{}", key.path, key.cycle)) else { continue };
        let fields = table.fields().map_or(0, <[_]>::len);
        for field in 0..fields.min(64) as u32 {
            if let Ok(description) = table.describe(field) {
                let _ = description.reading.map(|reading| reading.form.type_string());
            }
            let Ok(plan) = table.plan(&[field], 0..table.entries_up_to(1000).unwrap_or(0)) else { continue };
            if plan.tasks.len() > 64 {
                continue;
            }
            for array in table.read(&plan, Some(1), None).unwrap_or_default() {
                array.validate().expect("what is delivered is valid");
                let _ = array.preview(0..array.length.min(3), 40).lines();
            }
        }
    }
});
