//! What the fuzz targets share: a careful engine, the bundled files, and the frame of a basket.

mod arrays;
mod dripping;
mod ipc;
pub mod json_mutants;
mod merged;
mod program;
pub mod proto_mutants;
mod reading;
mod rng;
mod tiers;

pub use arrays::Arrays;
pub use dripping::dripping;
pub use ipc::ipc_file;
pub use merged::merged;
pub use program::{Script, runnable};
pub use reading::{read_all, same, shown, written};
pub use rng::Rng;
pub use tiers::check;

use bytes::Bytes;
use forthwith::columns::Policy;
use forthwith::plan::{Plan, Stored};
use forthwith::root::RootFile;
use forthwith::{Engine, File, Options};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One thread, and little memory: an allocation a file talks us into shall be noticed.
pub fn engine() -> Engine {
    let policy = Policy { pool_bytes: 1 << 20, huge_pages: false, limit: Some(256 << 20), ..Policy::default() };
    Engine::new(Options { threads: 1, policy, ..Options::default() })
}

/// The bundled files, in the order of their paths.
pub fn files() -> Vec<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data");
    let mut files: Vec<PathBuf> = ["", "evolution", "unclosed"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(data.join(folder)).expect("the bundled files are there"))
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "root"))
        .collect();
    files.sort();
    files
}

/// Every object of the bundled files with its file, the length of its key, and its class.
pub fn objects() -> Vec<(RootFile, Bytes, u32, String)> {
    let mut objects = Vec::new();
    for path in files() {
        let bytes = std::fs::read(&path).expect("a bundled file is readable");
        let source = Arc::new(forthwith::io::Memory::new(path.to_string_lossy(), bytes));
        let Ok(file) = RootFile::open(source) else { continue };
        for found in file.keys_recursive().unwrap_or_default() {
            if let (false, Ok(payload)) = (found.key.is_directory(), file.payload(&found.key)) {
                let class = found.key.class_name.to_string();
                objects.push((file.clone(), payload, u32::from(found.key.keylen), class));
            }
        }
    }
    objects
}

/// A plan for the first basket of one branch, with the bytes in it.
pub struct Case {
    /// File, tree and branch.
    pub name: String,
    /// The file.
    pub file: File,
    /// The plan; every task is inline.
    pub plan: Plan,
    /// The task to damage.
    pub task: usize,
}

/// One case for every branch of the bundled files that can be read, in a fixed order; those of classes with streamers of their own, too.
pub fn cases() -> Vec<Case> {
    for (class, members) in [
        ("Raw", [("time", "uint32: data I-> stack"), ("channel", "unsigned char")]),
        ("Preamble", [("length", "int"), ("kind", "int")]),
    ] {
        forthwith::root::register_unframed(class, &members).expect("types that there are");
    }
    let engine = Arc::new(engine());
    let mut cases = Vec::new();
    for path in files() {
        let bytes = std::fs::read(&path).expect("a bundled file is readable");
        let source = Arc::new(forthwith::io::Memory::new(path.to_string_lossy(), bytes));
        let Ok(file) = File::from_source(source, Arc::clone(&engine)) else { continue };
        for key in file.keys("", true).unwrap_or_default().iter().filter(|key| key.is_table) {
            let Ok(table) = file.table(&format!("{};{}", key.path, key.cycle)) else { continue };
            for field in 0..table.fields().map_or(0, <[_]>::len) as u32 {
                let Ok(plan) = table.plan(&[field], 0..table.entries().unwrap_or(0)) else { continue };
                let Some(first) = plan.tasks.iter().find(|task| task.group == 0) else { continue };
                // Baskets of a counter need not end where those of the branch do: plan again for what the first one holds.
                let Ok(mut plan) = table.plan(&[field], first.wanted.clone()) else { continue };
                for task in &mut plan.tasks {
                    if let Stored::Range(range) = &task.stored {
                        let bytes = file.source().read(std::slice::from_ref(range)).expect("the range is in the file");
                        task.stored = Stored::Inline(bytes[0].clone());
                    }
                }
                let Some(task) = plan.tasks.iter().position(|task| task.group == 0) else { continue };
                let name = format!("{}:{}/{}", path.display(), key.path, plan.groups[0].path);
                cases.push(Case { name, file: file.clone(), plan, task });
            }
        }
    }
    cases
}

/// The length of a basket's key, which follows its date.
fn key_length(basket: &[u8]) -> Option<usize> {
    basket.get(14..16).map(|b| usize::from(u16::from_be_bytes([b[0], b[1]])))
}

/// A basket whose lengths are what they are, so that damage gets past the first check. With `whole`, also the length of the
/// payload, which makes the basket an uncompressed one.
pub fn mend(basket: &[u8], whole: bool) -> Bytes {
    let mut mended = basket.to_vec();
    if let (Some(slot), Ok(length)) = (mended.get_mut(..4), i32::try_from(basket.len())) {
        slot.copy_from_slice(&length.to_be_bytes());
    }
    if let (true, Some(length)) = (whole, key_length(basket)) {
        if let (Some(slot), Some(payload)) = (mended.get_mut(6..10), basket.len().checked_sub(length)) {
            slot.copy_from_slice(&(payload as u32).to_be_bytes());
        }
    }
    mended.into()
}

/// The key of a stored basket with its payload uncompressed behind it.
pub fn unpack(basket: &[u8]) -> Option<Bytes> {
    let length = key_length(basket)?;
    let payload = basket.get(length..)?;
    let size = u32::from_be_bytes(basket.get(6..10)?.try_into().ok()?) as usize;
    let mut unpacked = basket[..length].to_vec();
    if size > payload.len() {
        unpacked.resize(length + size, 0);
        let mut decompressor = forthwith::io::Decompressor::default();
        forthwith::root::decompress_record(payload, &mut unpacked[length..], &mut decompressor).ok()?;
    } else {
        unpacked.extend_from_slice(payload);
    }
    Some(mend(&unpacked, false))
}
