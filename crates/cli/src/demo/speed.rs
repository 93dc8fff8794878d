//! Throughput of reading the whole table.

use crate::{
    console::Console,
    failure::Result,
    human, show,
    survey::{Branch, Means, tally},
    words::Counted,
};
use forthwith::{Step, Table, plan};
use std::{
    collections::BTreeMap,
    ops::Range,
    time::{Duration, Instant},
};

/// Approximate size in bytes of the arrays of one step.
const STEP: u64 = 256 << 20;
/// Time below which a measurement is repeated.
const TOO_SHORT: Duration = Duration::from_millis(300);
/// Maximum time for repetitions.
const REPEAT_FOR: Duration = Duration::from_millis(500);

/// One pass over the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pass {
    time: Duration,
    array_bytes: u64,
    stored_bytes: u64,
    entries: u64,
}

pub(crate) fn speed(
    table: &Table,
    branches: &[Branch],
    threads: usize,
    limit: Duration,
    console: &mut Console<'_>,
) -> Result<()> {
    let readable: Vec<&Branch> = branches.iter().filter(|b| b.is_readable()).collect();
    if readable.is_empty() {
        console.line(&format!("  no {} that can be read", table.words().column[0]))?;
        return missing(branches, console);
    }
    console.flush()?;
    // A branch may have fewer entries than its table; such branches are read after the others.
    let entries = table.entries()?;
    let (whole, short): (Vec<&Branch>, Vec<&Branch>) = readable.iter().partition(|b| b.entries() >= entries);
    let whole: Vec<u32> = whole.iter().map(|b| b.index).collect();
    let deadline = Instant::now() + limit;
    let mut failed = Vec::new();
    let first = match all(table, &whole, entries, deadline) {
        Ok(pass) => pass,
        // If a basket is damaged, branches are read one by one to find it.
        Err(_) => each(table, &readable, entries, deadline, &mut failed),
    };
    let mut total = first;
    if failed.is_empty() {
        total = total.and(each(table, &short, entries, deadline, &mut failed));
    }
    let mut best = total;
    let mut runs = 1;
    let repeatable =
        failed.is_empty() && short.is_empty() && total.time < TOO_SHORT && total.entries == entries;
    let until = (Instant::now() + REPEAT_FOR).min(deadline);
    while repeatable && runs < 50 && Instant::now() < until {
        let Ok(pass) = all(table, &whole, entries, deadline) else { break };
        runs += 1;
        if pass.time < best.time && pass.entries == entries {
            best = pass;
        }
    }
    let kinds = tally(branches.iter().map(Branch::means));
    console.line(&format!(
        "  {} ({}), {} of {} entries, {}",
        table.words().columns(readable.len() as u64),
        show::kinds([kinds[0], kinds[1], kinds[2], 0]),
        if total.entries == entries { "all".into() } else { human::count(total.entries) },
        human::count(entries),
        human::counted(threads as u64, "thread", "threads"),
    ))?;
    console.line(&format!(
        "  {} of arrays from {} stored, in {}{}",
        human::bytes(total.array_bytes),
        human::bytes(total.stored_bytes),
        human::time(total.time),
        if runs > 1 { format!("; best of {runs} runs {}", human::time(best.time)) } else { String::new() },
    ))?;
    let rate = format!(
        "{} of arrays, {} of stored bytes",
        human::rate(best.array_bytes, best.time),
        human::rate(best.stored_bytes, best.time)
    );
    console.line(&format!("  {}", console.paint.strong(&rate)))?;
    if total.entries < entries && failed.is_empty() {
        console.line(&format!("  stopped after {} (--limit)", human::time(limit)))?;
    }
    if cfg!(debug_assertions) {
        console.line("  but this forthwith was built without optimisation: the figures mean nothing")?;
    }
    if best.time < Duration::from_millis(5) {
        console.line("  too little to measure well; take a larger file for real figures")?;
    }
    for (path, why) in failed.iter().take(5) {
        console.line(&format!(
            "  failed: {}: {}",
            human::clean(path),
            why.lines().map(human::clean).collect::<Vec<_>>().join(" ")
        ))?;
    }
    if failed.len() > 5 {
        console.line(&format!("  and {} more failed", human::count(failed.len() as u64 - 5)))?;
    }
    missing(branches, console)
}

impl Pass {
    fn and(self, other: Self) -> Self {
        Self {
            time: self.time + other.time,
            array_bytes: self.array_bytes.saturating_add(other.array_bytes),
            stored_bytes: self.stored_bytes.saturating_add(other.stored_bytes),
            entries: self.entries.max(other.entries),
        }
    }
}

/// Reads branches of equal length in steps of bounded memory, until the end or the deadline.
fn all(table: &Table, fields: &[u32], entries: u64, deadline: Instant) -> plan::Result<Pass> {
    let mut pass = Pass::default();
    if fields.is_empty() {
        return Ok(pass);
    }
    let start = Instant::now();
    for step in table.cut(fields, 0..entries, Step::Bytes(STEP))? {
        if Instant::now() >= deadline {
            break;
        }
        let Range { end, .. } = step;
        let plan = table.plan(fields, step)?;
        let arrays = table.read(&plan, None, None)?;
        pass.array_bytes += arrays.iter().map(|a| a.nbytes() as u64).sum::<u64>();
        pass.stored_bytes += plan.stored_bytes();
        pass.entries = end;
    }
    pass.time = start.elapsed();
    Ok(pass)
}

/// Reads branches one by one, and records failures.
fn each(
    table: &Table,
    branches: &[&Branch],
    entries: u64,
    deadline: Instant,
    failed: &mut Vec<(String, String)>,
) -> Pass {
    let mut total = Pass::default();
    for branch in branches {
        match all(table, &[branch.index], branch.entries().min(entries), deadline) {
            Ok(pass) => total = total.and(pass),
            Err(error) => failed.push((branch.field.path.clone(), error.to_string())),
        }
    }
    total
}

/// Lists the branches that cannot be read, by type.
fn missing(branches: &[Branch], console: &mut Console<'_>) -> Result<()> {
    let mut types: BTreeMap<&str, u64> = BTreeMap::new();
    for branch in branches.iter().filter(|b| matches!(b.means(), Means::Unsupported | Means::Damaged)) {
        *types.entry(branch.type_name()).or_default() += 1;
    }
    if types.is_empty() {
        return Ok(());
    }
    let number = human::counted(types.values().sum(), "column", "columns");
    let mut types: Vec<_> = types.into_iter().collect();
    types.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let rest = types.len().saturating_sub(12);
    let mut words: Vec<_> = types
        .iter()
        .take(12)
        .map(|(name, number)| {
            let name =
                if name.is_empty() { "of unknown type".into() } else { human::cut(&human::clean(name), 60) };
            if *number > 1 { format!("{name} ({number})") } else { name }
        })
        .collect();
    if rest > 0 {
        words.push(format!("and {rest} more types"));
    }
    console.line(&format!("  not supported yet: {number}, of type"))?;
    console.line(&format!("    {}", human::wrap(&words, ",", console.width.unwrap_or(100), 4)))
}
