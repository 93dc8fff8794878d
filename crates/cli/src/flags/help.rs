//! The help of each command behind its flags.

pub(super) const EXAMPLES: &str = "\
Examples:
  forthwith ls events.root                       what is in the file
  forthwith show events.root:Events -f 'Muon_*'  some branches of a tree
  forthwith head events.root:Events -b nMuon,Muon_pt
  forthwith browse events.root                   all of it on the screen
  forthwith convert events.root:Events events.parquet
  forthwith demo events.root                     a tour of any file
  forthwith events.root                          as forthwith ls

Exit codes:
  0  done
  1  the file cannot be read or is damaged
  2  the command was typed wrongly, or asks for what makes no sense
  3  no file, object or branch of that name
  4  the type or feature is not supported (yet); the message names it

Answers for several files follow each other, each below the name of its file; with --json they
are one array of objects with a file and its answer.
Errors go to standard error, answers to standard output.
https://github.com/forthwith/forthwith";

pub(super) const LS: &str = "\
Examples:
  forthwith ls events.root
  forthwith ls -rl events.root        everything, with sizes and entries
  forthwith ls events.root:skim       one directory
  forthwith ls *.root                 several files
  forthwith ls --json events.root     for programs";

pub(super) const BROWSE: &str = "\
The screen shows the directories and objects of a file, the branches of its trees with types and
sizes, values page by page, histograms, programs and plans; ? lists the keys. Only what is shown
is read. Rows that were marked with the space bar go to standard output at the end, as JSON Lines.

Examples:
  forthwith browse events.root
  forthwith browse events.root:Events/Muon_pt     the values of a branch
  forthwith browse events.root > marked.jsonl";

pub(super) const VIEW: &str = "\
The keys are those of browse; ? lists them. Rows that were marked with the space bar go to
standard output at the end, as JSON Lines.

Examples:
  forthwith view events.root:Events -c 'Muon_*'
  forthwith view orders.csv --where 'price > 100'
  zcat orders.jsonl.gz | forthwith view -";

pub(super) const CHECK: &str = "\
Compares the parts of a ROOT file with each other: the header, every record with the checksums
of its blocks, the lists of keys, the free segments, the streamer infos, the byte counts in every
object, the pages of RNTuples, and the baskets that trees name. Values are not decoded. Avro and
Parquet files are read completely, block by block: sync markers, the footer, pages and their
checksums, all values, and their statistics. Damage means that some data cannot be read as they
were written; a remark does not.

The exit code is 0 if nothing is damaged, 1 if something is or the file cannot be opened,
2 if the command line is wrong, 3 if there is no such file.

Examples:
  forthwith check events.root
  forthwith check --json events.root";

pub(super) const RECOVER: &str = "\
The file to write has the format of the damaged one, which is never changed. Of a ROOT file, trees
and RNTuples keep the entries that can be read in all columns; a column of which nothing can be
read is left out. Of several cycles of a tree the newest that can be read counts. Histograms and
other objects are copied. Avro, Arrow and JSON Lines files keep whole entries, Parquet files with
a footer, too. The report names what was lost, with entries and bytes.

The exit code is 0 if nothing was lost, 1 if something was, 2 if nothing could be written.

Examples:
  forthwith recover events.root sound.root
  forthwith recover --json --report lost.json orders.avro whole.avro";

pub(super) const MCP: &str = "\
Messages are lines of JSON-RPC on standard input and output, as language models and their editors
send them. The tools list, schema, stats, head, query and plot only read, and only files in the
folders: names with .. and symbolic links are refused. Answers end after 50 kB and say so.

Examples:
  forthwith mcp runs
  forthwith mcp --limit 20 runs data";

pub(super) const SHOW: &str = "\
The decoder column says how a branch is read: by a kernel (the layout is columnar), by a
program (generated AwkwardForth), by the format itself (RNTuples, Parquet), or not at all
(unsupported; explain says why).

Examples:
  forthwith show events.root                       the file's only tree
  forthwith show events.root:Events -f 'Muon_*' -f 'MET_*'
  forthwith show --json events.root:Events";

pub(super) const HEAD: &str = "\
Without -b or -f all supported branches are printed, on a terminal as many as fit.

Examples:
  forthwith head events.root:Events/Muon_pt
  forthwith head events.root:Events -n 3 -b nMuon,Muon_pt
  forthwith head events.root:Events -f 'Jet_*' --jsonl";

pub(super) const TAIL: &str = "\
The options are those of head.

Examples:
  forthwith tail events.root:Events -n 3 -b nMuon,Muon_pt
  forthwith tail orders.avro --jsonl";

pub(super) const CAT: &str = "\
Entries are printed as they are read: forthwith cat FILE | head -1 ends at once.
In CSV, missing values are empty cells and empty texts are \"\"; NaN and infinities are NaN, inf and
-inf. In JSON Lines, missing values are null, and so are NaN and infinities, unless --nan says more.

Examples:
  forthwith cat events.root:Events -c 'Muon_*' | jq .Muon_pt
  forthwith cat events.root:Events -c MET_pt --where 'nMuon > 1' --compute 'n=count(Muon_pt)'
  forthwith cat part-*.parquet --format csv";

pub(super) const DUMP: &str = "\
Objects are printed with all their members, tables with the types of their columns and a line for each
value. Entries are printed as they are read, in steps of some 1 MB. What cannot be read is told on
standard error, and the rest is printed.

Examples:
  forthwith dump events.root -n 2
  forthwith dump events.root:Events -c 'Muon_*' | head
  forthwith dump events.root --json -n 1";

pub(super) const BENCH: &str = "\
One thread reads the stored bytes of all blocks, then reads and decompresses them, then reads them to
arrays; the differences are the times of the parts. At last all threads read them to arrays. The first
round brings the file into memory, if it fits: what is measured then is not the disk. Formats whose
blocks are decompressed and decoded at once have one number for both.

Examples:
  forthwith bench events.root:Events
  forthwith bench events.root:Events -b 'Muon_*' --rounds 1
  forthwith bench orders.avro --json";

pub(super) const COUNT: &str = "\
Examples:
  forthwith count events.root:Events
  forthwith count part-*.avro
  forthwith count events.root:Events --where 'nMuon > 1'";

pub(super) const STATS: &str = "\
Lists are summarised by their lengths and by their items, records by their fields. The deviation is
that of the values as they are (NumPy's std). Where a column has more than 32768 values, quantiles are
those of a sample of so many; where it has more distinct values, their number is estimated to 2 %, and
so are the most frequent ones: such numbers have a ~ before them, and is_exact is false in JSON.
Columns that are damaged are named, the others summarised, and the exit code is 1.
The mean and quantiles of times are times, their deviation is in seconds, that of dates in days.
Entries are read once, in steps of some 24 MB; memory does not grow with the table.

Examples:
  forthwith stats events.root:Events
  forthwith stats events.root:Events -b nMuon,Muon_pt --quantiles 0.05,0.5,0.95
  forthwith stats orders.avro --json
  forthwith stats events.root:Events --compute 'leading=max(Muon_pt)' --where 'nMuon > 1'";

pub(super) const FREQ: &str = "\
The items of lists are counted. Up to 4 million distinct values are counted, for which memory is needed;
where there are more, numbers are estimated and have a ~ before them.

Examples:
  forthwith freq events.root:Events/nMuon
  forthwith freq orders.avro -b status --top 5
  forthwith freq events.root:Events --compute 'pairs=nMuon // 2' --json";

pub(super) const SAMPLE: &str = "\
Each set of entries is as likely as any other. With --where, entries are drawn from those that pass.
Entries are printed in the order of the table, as JSON Lines or CSV. Blocks without such entries are
not read.

Examples:
  forthwith sample events.root:Events -n 5 --seed 7 -c 'Muon_*'
  forthwith sample orders.avro -n 3 --format csv --skip-unsupported
  forthwith sample events.root:Events --where 'nMuon > 1' -c nMuon";

pub(super) const SNIFF: &str = "\
Only metadata are read.

Examples:
  forthwith sniff events.root
  forthwith sniff *.root *.parquet
  forthwith sniff --json orders.avro";

pub(super) const SCHEMA: &str = "\
Examples:
  forthwith schema orders.avro > orders.avsc
  forthwith schema events.root:Events | grep float32";

pub(super) const DIFF: &str = "\
Tables are compared by columns, types and values, other objects by their members. Tables of one
file are compared with those at the same path of the other. With --same-content, numbers are equal by
value whatever their types, and so are lists of one and of any length, texts and categories.
Entries are read in steps of some 24 MB, so that memory does not grow with the tables; --on keeps some
50 bytes for each entry. What is damaged is named, and the rest is compared. Tables of several files,
with -- between those of the two sides, follow each other: files may begin and end at any entry.

The exit code is 0 if nothing differs, 1 if something does, and 2 if something could not be compared,
whatever the reason. With --brief, a difference is the answer as soon as it is found: what was not
read until then is not compared. Equal summaries are no answer: values are read.

Examples:
  forthwith diff events.root copy.root
  forthwith diff events.root:Events events.parquet --same-content
  forthwith diff run-a.root:Events run-b.root:Events --rtol 1e-6 -c 'Muon_*'
  forthwith diff events.root:Events skim.root:Events --on run,event
  forthwith diff old/ new/ -q
  forthwith diff run-a.root run-b.root --brief
  forthwith diff run-a.root:Events -- events.root:Events
  forthwith diff 'old/*.root:Events' 'new/*.root:Events'";

pub(super) const GEN: &str = "\
Rust: structs with #[derive(forthwith::Row)], for Table::rows. Columns that one column counts, as nMuon
counts those of Muon_, are a list of structs. Python: a TypedDict of the records that rows gives.
C++: a struct for ROOT's TTreeReader, of numbers and lists of numbers in a tree.

Examples:
  forthwith gen rust events.root:Events > src/event.rs
  forthwith gen python orders.parquet > orders.py";

pub(super) const CONVERT: &str = "\
Formats: .parquet (codecs none, snappy, gzip, brotli, lz4, zstd; by default zstd), .avro (null,
deflate, snappy, zstandard, bzip2, xz), .arrow or .feather (not compressed), .root (a tree; none,
zlib, lzma, lz4, zstd; by default zlib), .jsonl or .ndjson (an object for each entry) and .csv
(numbers and text only; missing values are empty cells, empty texts \"\", and NaN and infinities NaN,
inf and -inf).
The file appears when it is complete; standard output (-) gets each step as it is read.
With --as and a whole ROOT file, all of its tables are written at their paths, and other objects copied.
With a folder as TO, each table of the file becomes a file in it, under the table's path; --format
says which. Objects that are no tables are left out, which is said.
Columns of several files that are unequal numbers become the type that NumPy promotes them to.
In JSON, maps with texts as keys are objects, and bytes are texts with one character (U+0000 to
U+00FF) for each byte. Columns that hold nothing (records without fields) are left out of formats
that cannot have them.

Examples:
  forthwith convert events.root:Events events.parquet
  forthwith convert events.root:Events muons.parquet --columns 'Muon_*,nMuon' --codec zstd:9
  forthwith convert events.root:Events pairs.parquet --where 'nMuon == 2 and all(Muon_pt > 20)'
  forthwith convert run.avro run.parquet --force
  forthwith convert events.root tables/ --format parquet
  forthwith convert events.root ntuples.root --as ntuple
  forthwith convert events.parquet events.avro --codec zstandard
  forthwith convert events.parquet events.arrow
  forthwith convert events.root:Events events.jsonl --columns 'Muon_*'
  forthwith convert part-1.parquet part-2.parquet all.parquet --missing null
  forthwith convert events.root:Events - --format csv | gzip > events.csv.gz";

pub(super) const MERGE: &str = "\
Baskets and pages are copied as they are stored, without decoding them. Histograms, profiles,
efficiencies and parameters with the same path are added up; other objects with the same path are
all kept, as cycles.
The file appears when it is complete. A file of its name is replaced with --force only, and without
--output only if it looks like an older result: larger than each input, not older than the first.

Examples:
  forthwith merge part-1.root part-2.root all.root
  forthwith merge -o all.root part-1.root part-2.root
  forthwith merge 'part-*.root' all.root --common
  forthwith merge 'part-*.root' muons.root --columns 'Muon_*' --force";

pub(super) const CP: &str = "\
Baskets that are wanted as a whole are copied as they are stored. Branches that others need (the
counters of arrays) are copied with them. The file appears when it is complete.

Examples:
  forthwith cp events.root:Events muons.root --columns 'Muon_*'
  forthwith cp events.root:Events first.root --entries :1000
  forthwith cp events.root:Events pairs.root --where 'nMuon == 2'
  forthwith cp events.root:histograms histograms.root";

pub(super) const SPLIT: &str = "\
Objects other than trees are copied to each of the files.

Examples:
  forthwith split events.root part.root --entries 100000
  forthwith split events.root:Events 'part-{}.root' --files 4";

pub(super) const RECOMPRESS: &str = "\
Examples:
  forthwith recompress events.root small.root --codec zstd:9
  forthwith recompress events.root fast.root --codec lz4";

pub(super) const EXPLAIN: &str = "\
Examples:
  forthwith explain events.root:Events/Muon_pt
  forthwith explain events.root:Events -f '*Track*'
  forthwith explain --json events.root:Events";

pub(super) const FORTH: &str = "\
Only branches decoded by a program have one; explain tells which.

Examples:
  forthwith forth events.root:Events/Hits
  forthwith forth events.root:Events/Hits --explain
  forthwith forth run lists.fs --input data=lists.bin -n 100

The language is described in docs/details/forth.md.";

pub(super) const RUN: &str = "\
Without --tier the machine chooses; the results are the same in all tiers. A program that
ends in an error leaves what it wrote before: it is printed, and the exit code is 1.

Examples:
  forthwith forth run lists.fs --input data=lists.bin --entries 100
  forthwith forth run lists.fs --input data=lists.bin -n 100 --output npy --to columns
  forthwith forth run words.fs --bytes data='00 01 ff' --output json
  echo '2 3 + .' | forthwith forth run -";

pub(super) const STEP: &str = "\
On a terminal it shows the next instruction, the stack, loops, inputs and outputs, and asks:
enter is one step, h lists the other commands. Otherwise it prints a line for each instruction
with the state after it.

Examples:
  forthwith forth step lists.fs --input data=lists.bin -n 3
  forthwith forth step lists.fs --input data=lists.bin -n 3 --break 7
  echo '3 0 do i . loop' | forthwith forth step -";

pub(super) const DIS: &str = "\
Examples:
  forthwith forth dis lists.fs
  forthwith forth dis lists.fs --text
  forthwith forth dis - --json < lists.fs";

pub(super) const EXPLAIN_PROGRAM: &str = "\
Examples:
  forthwith forth explain lists.fs
  forthwith forth events.root:Events/Hits | forthwith forth explain -";

pub(super) const PLOT: &str = "\
The items of lists are drawn, missing values are left out. Values outside of the range are
counted below the picture. Objects are drawn as show draws them, and in a picture if they are
histograms, profiles or efficiencies. Two columns are drawn in shades: of one entry, or of the
items of lists of equal lengths. A picture of several columns, files or objects has a legend.

Examples:
  forthwith plot events.root:Events/Muon_pt
  forthwith plot events.root:Events -b MET_pt --bins 40 --range 0,200
  forthwith plot events.root:Events Muon_eta Muon_pt --log z
  forthwith plot events.root:Events --compute 'leading=max(Muon_pt)' --where 'nMuon > 1'
  forthwith plot orders.avro -b amount -n 100000
  forthwith plot histograms.root:two -o two.png
  forthwith plot run-a.root:Events run-b.root:Events -b MET_pt --density --ratio -o met.png
  forthwith plot events.root:Events/MET_pt --stats --log y -o met.svg";

pub(super) const INDEX: &str = "\
An index holds those bytes of a file that are read before its data. It is used only if it is
named: by --index here, by index= in Python. The index of another file, or of another state of the
file, is an error: forthwith compares the size and the mark of the file, or, if there is no mark,
all bytes of the index with the file. For a URL, the mark is the entity tag of the server.

Examples:
  forthwith index events.root
  forthwith index https://host/events.root --to events.fwi
  forthwith show https://host/events.root --index events.fwi
  forthwith index 'runs/*.root' --to indexes/";

pub(super) const STREAMERS: &str = "\
Bases stand before members, each with its type, its name and the comment in the C++ header.

Examples:
  forthwith streamers events.root
  forthwith streamers events.root -f 'edm::*'
  forthwith streamers --json events.root";

pub(super) const COMPLETIONS: &str = "\
Examples:
  source <(forthwith completions bash)             in ~/.bashrc
  source <(forthwith completions zsh)              in ~/.zshrc, behind compinit
  forthwith completions fish > ~/.config/fish/completions/forthwith.fish";

pub(super) const MAN: &str = "\
Examples:
  forthwith man ~/.local/share/man/man1            then man forthwith-ls";

pub(super) const DEMO: &str = "\
Examples:
  forthwith demo events.root
  forthwith demo events.root:Events --threads 1";
