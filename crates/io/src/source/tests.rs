#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + i / 251) as u8).collect()
}

fn file_of(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file.flush().unwrap();
    file
}

/// An object that reads at most three bytes per call, as files on a network may.
struct Slow(Vec<u8>);

impl ReadAt for Slow {
    fn size(&mut self) -> std::result::Result<u64, String> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> std::result::Result<usize, String> {
        let rest = self.0.get(at as usize..).unwrap_or_default();
        let length = rest.len().min(into.len()).min(3);
        into[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
}

/// Every kind of source over the same bytes. The file must outlive them.
fn all_over(bytes: &[u8]) -> (tempfile::NamedTempFile, Vec<Box<dyn Source>>) {
    let file = file_of(bytes);
    let sources: Vec<Box<dyn Source>> = vec![
        Box::new(MappedFile::open(file.path()).unwrap()),
        Box::new(PreadFile::open(file.path()).unwrap()),
        Box::new(Memory::new("memory", bytes.to_vec())),
        Box::new(Callback::new("callback", Box::new(Slow(bytes.to_vec())))),
    ];
    (file, sources)
}

#[test]
fn every_source_answers_exactly_what_is_asked() {
    let bytes = pattern(1000);
    let (_file, sources) = all_over(&bytes);
    for source in &sources {
        assert_eq!(source.size().unwrap(), 1000);
        let answers = source.read(&[990..1000, 0..1, 5..5, 1000..1000, 100..900, 100..200]).unwrap();
        let expected = [&bytes[990..], &bytes[..1], &[], &[], &bytes[100..900], &bytes[100..200]];
        assert_eq!(answers, expected, "{source:?}");
        assert_eq!(source.read(&[]).unwrap().len(), 0);
        let mut into = [0; 10];
        source.read_into(20, &mut into).unwrap();
        assert_eq!(into, bytes[20..30], "{source:?}");
    }
}

#[test]
#[allow(clippy::reversed_empty_ranges)] // the point of the test
fn every_source_refuses_what_it_does_not_have() {
    let (_file, sources) = all_over(&pattern(100));
    for source in &sources {
        for wanted in [99..101, 100..101, 101..101, 0..u64::MAX, u64::MAX - 1..u64::MAX] {
            let error = source.read(&[0..10, wanted.clone()]).unwrap_err();
            assert_eq!(error.kind, ErrorKind::BeyondEnd { wanted: wanted.clone(), size: 100 }, "{source:?}");
            assert_eq!((error.at, &*error.uri), (Some(wanted.start), source.uri()));
        }
        let error = source.read_one(7..3).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Inverted { wanted: 7..3 });
        for at in [91, 100, 5000, u64::MAX - 3] {
            let error = source.read_into(at, &mut [0; 10]).unwrap_err();
            assert!(matches!(error.kind, ErrorKind::BeyondEnd { .. } | ErrorKind::Io { .. }), "{error}");
        }
    }
}

#[test]
fn an_empty_file_can_be_opened() {
    let (_file, sources) = all_over(&[]);
    for source in &sources {
        assert_eq!(source.size().unwrap(), 0);
        assert_eq!(source.read_one(0..0).unwrap().len(), 0);
        assert!(source.read_one(0..1).is_err());
        source.read_into(0, &mut []).unwrap();
    }
}

#[test]
fn a_file_cut_after_it_was_opened_is_an_error_that_says_so() {
    let file = file_of(&pattern(100_000));
    let mapped = MappedFile::open(file.path()).unwrap();
    let pread = PreadFile::open(file.path()).unwrap();
    let sources: [&dyn Source; 2] = [&mapped, &pread];
    sources.iter().for_each(|source| assert!(source.read_one(90_000..90_010).is_ok()));

    file.as_file().set_len(50_000).unwrap();
    let shrunk = |wanted| ErrorKind::Shrunk { wanted, opened: 100_000, present: 50_000 };
    for source in sources {
        assert_eq!(source.size().unwrap(), 50_000);
        let error = source.read_one(90_000..90_010).unwrap_err();
        assert_eq!(error.kind, shrunk(90_000..90_010));
        assert_eq!(source.view(90_000..90_010).unwrap_err().kind, shrunk(90_000..90_010));
        let error = source.read_into(49_999, &mut [0; 2]).unwrap_err();
        assert_eq!(error.kind, shrunk(49_999..50_001));
        // Bytes that were never inside change nothing; those that still are can be read.
        let error = source.read_one(100_000..100_001).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::BeyondEnd { size: 50_000, .. }), "{error}");
        assert_eq!(source.read_one(49_000..50_000).unwrap(), pattern(100_000)[49_000..50_000]);
    }
    assert!(matches!(mapped.advise(0..60_000, Advice::Populate).unwrap_err().kind, ErrorKind::Shrunk { .. }));
}

#[cfg(target_os = "linux")]
#[test]
fn files_without_a_size_are_refused() {
    for name in ["/proc/self/status", "/proc/version"] {
        assert_eq!(open(name).unwrap_err().kind, ErrorKind::NoSize);
        assert_eq!(open_unmapped(name).unwrap_err().kind, ErrorKind::NoSize);
    }
}

#[test]
fn a_file_that_grows_is_read_to_its_new_end() {
    let file = file_of(&pattern(10));
    let mapped = MappedFile::open(file.path()).unwrap();
    OpenOptions::new().append(true).open(file.path()).unwrap().write_all(b"more").unwrap();
    assert_eq!(mapped.size().unwrap(), 14);
    assert_eq!(mapped.read_one(8..14).unwrap(), [&pattern(10)[8..], b"more"].concat());
}

#[cfg(unix)]
#[test]
fn a_view_of_a_part_that_is_cut_off_reads_as_zeros_and_its_source_has_another_version() {
    let bytes = pattern(100_000);
    let file = file_of(&bytes);
    let other = file_of(&bytes);
    let mapped = MappedFile::open(file.path()).unwrap();
    let several = Several::new(Arc::new(MappedFile::open(other.path()).unwrap()), []);
    let (before, of_other) = (mapped.version().unwrap(), several.version().unwrap());
    let view = mapped.view(0..100_000).unwrap();
    let copy = mapped.read_one(0..100_000).unwrap();
    assert_eq!(mapped.version().unwrap(), before);

    file.as_file().set_len(10_000).unwrap();
    assert_ne!(mapped.version().unwrap(), before);
    // Threads meet the end at different places.
    std::thread::scope(|scope| {
        for from in [99_999, 50_000, 20_000, 40_000] {
            let view = &view;
            scope.spawn(move || assert!(view[from..].iter().all(|byte| *byte == 0)));
        }
    });
    assert_eq!(view[..10_000], bytes[..10_000]);
    assert_eq!(copy, bytes);

    // Whole again, the file is read, and no longer from the map. It never has its first version again.
    std::fs::write(file.path(), &bytes).unwrap();
    assert_eq!(mapped.view(0..100_000).unwrap(), bytes);
    assert_ne!(mapped.version().unwrap(), before);
    assert_eq!(several.version().unwrap(), of_other);
    assert_eq!(several.view(0..100_000).unwrap(), bytes);
}

#[cfg(unix)]
#[test]
fn maps_that_come_and_go_are_told_apart() {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for round in 0..50 {
                    let bytes = pattern(8192 * (1 + (thread + round) % 5));
                    let file = file_of(&bytes);
                    let mapped = MappedFile::open(file.path()).unwrap();
                    let before = mapped.version().unwrap();
                    let view = mapped.view(0..bytes.len() as u64).unwrap();
                    drop(mapped);
                    if round % 3 == 0 {
                        file.as_file().set_len(4096).unwrap();
                        assert!(view[4096..].iter().all(|byte| *byte == 0));
                        assert_ne!(MappedFile::open(file.path()).unwrap().version().unwrap(), before);
                    } else {
                        assert_eq!(view, bytes);
                    }
                }
            });
        }
    });
}

/// In a child, because it ends the process.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_has_nothing_to_do_with_maps_is_passed_on() {
    use std::os::unix::process::ExitStatusExt;
    const CHILD: &str = "FORTHWITH_IO_TEST_CHILD";
    const SIGBUS: i32 = 7;
    if let Some(path) = std::env::var_os(CHILD) {
        let _mapped = MappedFile::open(&path).unwrap();
        // The shell has `kill` built in; not every machine has the program.
        let kill = format!("kill -BUS {}", forthwith_platform::process_id());
        // The handler of Rust's own library, which was there before, leaves at the first one that it knows
        // nothing of; and signals that wait to be delivered are one, which loaded machines let them do.
        for _ in 0..100 {
            std::process::Command::new("sh").args(["-c", &kill]).status().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        std::process::exit(0);
    }
    let file = file_of(&pattern(100_000));
    let name = "source::tests::a_signal_that_has_nothing_to_do_with_maps_is_passed_on";
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name])
        .env(CHILD, file.path())
        .output()
        .unwrap();
    assert_eq!(child.status.signal(), Some(SIGBUS), "{child:?}");
}

#[test]
fn views_outlive_their_source() {
    let bytes = pattern(5000);
    let (file, sources) = all_over(&bytes);
    let views: Vec<_> = sources.iter().map(|source| source.view(10..4990).unwrap()).collect();
    drop(sources);
    drop(file);
    views.iter().for_each(|view| assert_eq!(view, &bytes[10..4990]));
}

#[test]
fn views_are_views_and_copies_are_copies() {
    let (_file, sources) = all_over(&pattern(100));
    for source in &sources {
        let (a, b) = (source.view(10..20).unwrap(), source.view(10..20).unwrap());
        assert_eq!(a.as_ptr() == b.as_ptr(), source.zero_copy(), "{source:?}");
        // Bytes for the caller to keep are no view of memory that may change.
        let (a, b) = (source.read_one(10..20).unwrap(), source.read_one(10..20).unwrap());
        let keeps = source.zero_copy() && !source.views_may_change();
        assert_eq!(a.as_ptr() == b.as_ptr(), keeps, "{source:?}");
    }
}

#[test]
fn advice_never_hurts() {
    let bytes = pattern(300_000);
    let file = file_of(&bytes);
    let mapped = MappedFile::open(file.path()).unwrap();
    for advice in [Advice::WillNeed, Advice::Populate, Advice::Sequential] {
        for range in [0..300_000, 5000..5001, 4095..8193, 7..7] {
            mapped.advise(range, advice).unwrap();
        }
        assert!(mapped.advise(0..300_001, advice).is_err());
    }
    assert_eq!(mapped.read_one(0..300_000).unwrap(), bytes);
}

#[test]
fn uris_name_local_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a b%.bin");
    fs::write(&path, b"here").unwrap();
    let plain = path.to_str().unwrap();
    let escaped = plain.replace('%', "%25").replace(' ', "%20");
    for uri in [plain.to_owned(), format!("file://{escaped}"), format!("FILE://localhost{escaped}")] {
        let source = open(&uri).unwrap();
        assert_eq!(source.uri(), uri);
        assert_eq!(source.read_one(0..4).unwrap(), "here");
    }
    // A name that only looks like a uri's beginning.
    fs::write(dir.path().join("a:b"), b"colon").unwrap();
    assert!(open(dir.path().join("a:b").to_str().unwrap()).is_ok());
}

#[test]
fn what_cannot_be_opened_says_why() {
    let kind = |uri: &str| open(uri).unwrap_err().kind;
    assert_eq!(kind("/nowhere/at/all"), ErrorKind::NotFound);
    assert_eq!(kind(""), ErrorKind::NotFound);
    assert_eq!(kind("."), ErrorKind::NotAFile);
    assert_eq!(kind("root://host//x"), ErrorKind::UnsupportedScheme { scheme: "root".into() });
    assert_eq!(kind("s3+x://host/x"), ErrorKind::UnsupportedScheme { scheme: "s3+x".into() });
    assert_eq!(kind("file://elsewhere/x"), ErrorKind::ForeignHost { host: "elsewhere".into() });
    assert_eq!(kind("file:///x%2"), ErrorKind::BadEscape);
    assert_eq!(kind("file:///x%+1"), ErrorKind::BadEscape);
    assert_eq!(kind("C://x"), ErrorKind::NotFound);
    assert_eq!(kind("nul\0inside"), {
        let error = fs::File::open("nul\0inside").unwrap_err();
        error.into()
    });
    let text = open("https://host/x.root").unwrap_err().to_string();
    assert_eq!(text, "https://host/x.root: scheme \"https\" is not supported (a local path or file:// is)");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_without_waiting_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert_eq!(PreadFile::open(&path).unwrap_err().kind, ErrorKind::NotAFile);
}

#[test]
fn a_huge_sparse_file_does_not_abort() {
    let file = tempfile::NamedTempFile::new().unwrap();
    // Not every file system allows it; the test is about what happens where it is.
    if file.as_file().set_len(1 << 46).is_ok() {
        let error = PreadFile::open(file.path()).unwrap().read_one(0..1 << 46).unwrap_err();
        assert_eq!(error.kind, ErrorKind::OutOfMemory { bytes: 1 << 46 });
        let source = open(file.path().to_str().unwrap()).unwrap();
        assert_eq!(source.read_one((1 << 45)..(1 << 45) + 2).unwrap(), [0, 0].as_slice());
    }
}

/// An object that misbehaves in its own way on each call.
struct Hostile<F>(F);

impl<F: FnMut(&mut [u8]) -> std::result::Result<usize, String> + Send> ReadAt for Hostile<F> {
    fn size(&mut self) -> std::result::Result<u64, String> {
        Ok(100)
    }

    fn read_at(&mut self, _: u64, into: &mut [u8]) -> std::result::Result<usize, String> {
        (self.0)(into)
    }
}

fn hostile(act: impl FnMut(&mut [u8]) -> std::result::Result<usize, String> + Send + 'static) -> Callback {
    Callback::new("object", Box::new(Hostile(act)))
}

#[test]
fn a_callback_may_fail_lie_or_panic() {
    let kind = |source: &Callback| source.read_one(10..20).unwrap_err().kind;
    assert_eq!(
        kind(&hostile(|_| Err("closed file".into()))),
        ErrorKind::Callback { message: "closed file".into() }
    );
    assert_eq!(
        kind(&hostile(|into| Ok(into.len() + 1))),
        ErrorKind::CallbackOverrun { asked: 10, claimed: 11 }
    );
    // It said 100 bytes, and ends at once.
    assert_eq!(kind(&hostile(|_| Ok(0))), ErrorKind::BeyondEnd { wanted: 10..20, size: 10 });

    let panics = hostile(|_| panic!("in the host"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| panics.read_one(0..1))).is_err());
    assert_eq!(kind(&panics), ErrorKind::CallbackPanicked);
}

#[test]
fn a_callback_serves_threads_one_at_a_time() {
    static INSIDE: AtomicUsize = AtomicUsize::new(0);
    let source = hostile(|into| {
        assert_eq!(INSIDE.fetch_add(1, Ordering::SeqCst), 0);
        std::thread::yield_now();
        INSIDE.fetch_sub(1, Ordering::SeqCst);
        Ok(into.len())
    });
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| drop(source.read_one(0..10).unwrap())));
        }
    });
}

proptest! {
    #[test]
    fn all_sources_agree_with_the_bytes(
        bytes in proptest::collection::vec(any::<u8>(), 0..500),
        ranges in proptest::collection::vec((0..600u64, 0..600u64), 0..6),
    ) {
        let ranges: Vec<_> = ranges.into_iter().map(|(start, end)| start..end).collect();
        let expected: Option<Vec<&[u8]>> =
            ranges.iter().map(|r| bytes.get(r.start as usize..r.end as usize)).collect();
        let (_file, sources) = all_over(&bytes);
        for source in &sources {
            match (&expected, source.read(&ranges)) {
                (Some(expected), Ok(found)) => prop_assert_eq!(&found, expected),
                (None, Err(_)) => {}
                (_, found) => prop_assert!(false, "{:?}: {:?}", source, found),
            }
        }
    }
}

#[test]
fn files_find_those_beside_them_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(path("below")).unwrap();
    for name in ["first", "second", "below/third"] {
        fs::write(path(name), name).unwrap();
    }
    for first in [open(&path("first")).unwrap(), open_unmapped(&path("first")).unwrap()] {
        for name in ["second", "below/third"] {
            let other = first.beside(name).unwrap();
            assert_eq!(other.read_one(0..other.size().unwrap()).unwrap(), name.as_bytes());
        }
        assert_eq!(first.beside("fourth").unwrap_err().kind, ErrorKind::NotFound);
        let absolute = path("second");
        for name in ["", "..", "../x/second", "below/../second", &absolute, "file:///etc/passwd", "./../x"] {
            assert_eq!(first.beside(name).unwrap_err().kind, ErrorKind::Elsewhere, "{name}");
        }
    }
    let memory = Memory::new("bytes", b"first".to_vec());
    assert!(memory.beside("second").unwrap_err().to_string().contains("bytes"));
}

#[test]
fn several_sources_are_one() {
    let source = |text: &'static [u8]| Arc::new(Memory::new("memory", text.to_vec())) as Arc<dyn Source>;
    let all = Several::new(source(b"first"), [source(b"second"), source(b"3")]);
    let range =
        |number, begin, end| Several::place(number, begin).unwrap()..Several::place(number, end).unwrap();
    let answers = all.read(&[range(1, 0, 6), range(0, 1, 5), range(2, 0, 1)]).unwrap();
    assert_eq!(answers, [&b"second"[..], b"irst", b"3"]);
    let mut into = [0; 3];
    all.read_into(Several::place(1, 3).unwrap(), &mut into).unwrap();
    assert_eq!(&into, b"ond");
    for bad in [range(1, 0, 7), range(3, 0, 0), range(0, 3, 6), 5..range(1, 0, 0).start] {
        assert!(all.read_one(bad.clone()).is_err(), "{bad:?}");
    }
    assert_eq!(Several::place(0, 1 << 48), None);
    assert_eq!(Several::place(1 << 16, 0), None);
    assert_eq!(all.size().unwrap(), range(2, 0, 1).end);
}
