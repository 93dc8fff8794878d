//! A damaged file copied in all ways: whole, in part, compressed anew, behind a sound one, and continued.

use crate::{engine, files};
use forthwith::columns::Array;
use forthwith::io::{Memory, MemorySink};
use forthwith::root::write::{FileSettings, FileWriter};
use forthwith::root::{RootFile, TreeOptions, extend_tree};
use forthwith::{EntryBounds, File, Merge, merge};
use std::io::Write;
use std::sync::{Arc, LazyLock};

static ENGINE: LazyLock<Arc<forthwith::Engine>> = LazyLock::new(|| Arc::new(engine()));
/// Bundled files that others are put behind.
static SOUND: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let read = |path: std::path::PathBuf| std::fs::read(path).expect("a bundled file is readable");
    files().into_iter().map(read).filter(|bytes| bytes.len() <= 1 << 16).collect()
});

/// Copies the file that these bytes are behind the first three: how, and which bundled file comes before it.
pub fn merged(bytes: &[u8]) {
    let Some((&[how, first, entry], bytes)) = bytes.split_first_chunk() else { return };
    let open = |name: &str, bytes: &[u8]| {
        let source = Arc::new(Memory::new(name, bytes.to_vec()));
        File::from_source(source, Arc::clone(&ENGINE)).ok()
    };
    let Some(file) = open("fuzz.root", bytes) else { return };
    let sound = &SOUND[usize::from(first) % SOUND.len()];
    let mut inputs = vec![file];
    match how & 3 {
        1 => inputs.extend(open("again.root", bytes)),
        2 => inputs.extend(open("sound.root", sound)),
        3 => inputs.splice(0..0, open("sound.root", sound)).for_each(drop),
        _ => continued(bytes),
    }
    let begin = u64::from(entry);
    let job = Merge {
        codec: (how & 4 != 0).then(|| "zlib".to_owned()),
        common: how & 8 != 0,
        entries: (how & 16 != 0).then(|| vec![begin..begin + 1, begin + 2..begin + 40]),
        bounds: if how & 32 != 0 { EntryBounds::Existing } else { EntryBounds::Clamped },
        threads: Some(1),
        ..Merge::default()
    };
    let sink = MemorySink::new("merged.root");
    if merge(&inputs, Box::new(sink.clone()), &job, &mut |_, _| true).is_ok() {
        let written = sink.bytes().expect("a merge that succeeds has written a file");
        assert!(open("merged.root", &written).is_some(), "what was written is a file");
    }
}

/// Begins to extend each tree of a file, with no entries.
fn continued(bytes: &[u8]) {
    let Ok(old) = RootFile::open(Arc::new(Memory::new("fuzz.root", bytes.to_vec()))) else { return };
    if old.header().end != bytes.len() as u64 {
        return;
    }
    let mut sink = MemorySink::new("continued.root");
    sink.write_all(bytes).expect("memory takes bytes");
    let Ok(mut writer) = FileWriter::update(Box::new(sink), &old, FileSettings::of(&old)) else { return };
    for found in old.keys_recursive().unwrap_or_default().iter().take(16) {
        if let Ok(mut tree) = extend_tree(&mut writer, &old, found, TreeOptions::default()) {
            let none: [Array; 0] = [];
            let _ = tree.extend(&mut writer, &none);
            let _ = tree.finish(&mut writer);
        }
    }
    let _ = writer.finish();
}
