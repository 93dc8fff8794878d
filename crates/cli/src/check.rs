//! `forthwith check`: validates a file.

use crate::{
    console::Console,
    failure::{Failure, Result},
    human,
    shape::Shape,
};
use forthwith::{
    File,
    plan::{CheckReport, Severity},
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Number of parts that were checked, and the findings.
#[derive(Debug, Serialize)]
struct Report<'a> {
    file: &'a str,
    /// `"sound"`, `"remarks"` or `"damaged"`.
    verdict: &'static str,
    /// Number of parts of each kind: `"records"`, `"blocks"`, …
    #[serde(flatten)]
    counts: BTreeMap<&'static str, u64>,
    decompressed_bytes: u64,
    findings: Vec<Row<'a>>,
    more_findings: u64,
    /// Counts in the order of the format.
    #[serde(skip)]
    ordered: &'a [(&'static str, u64)],
}

/// Finding.
#[derive(Debug, Serialize)]
struct Row<'a> {
    severity: &'static str,
    part: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte: Option<u64>,
    what: &'a str,
}

pub(crate) fn check(file: &File, strict: bool, shape: Shape, console: &mut Console<'_>) -> Result<()> {
    let checked = file.check()?;
    let report = report(file.uri(), &checked);
    if shape == Shape::Text {
        console.text(&render(&report))?
    } else {
        console.json(&report)?
    }
    match checked.severity() {
        Some(Severity::Damage) => Err(Failure::Damaged { uri: file.uri().to_owned() }),
        Some(Severity::Remark) if strict => Err(Failure::Damaged { uri: file.uri().to_owned() }),
        _ => Ok(()),
    }
}

fn report<'a>(uri: &'a str, checked: &'a CheckReport) -> Report<'a> {
    let findings = checked.findings.iter();
    let findings = findings.map(|finding| Row {
        severity: word(finding.severity),
        part: finding.part,
        object: finding.object.as_deref(),
        byte: finding.byte,
        what: &finding.what,
    });
    Report {
        file: uri,
        verdict: match checked.severity() {
            None => "sound",
            Some(Severity::Remark) => "remarks",
            Some(Severity::Damage) => "damaged",
        },
        counts: checked.counts.iter().copied().collect(),
        decompressed_bytes: checked.decompressed_bytes,
        findings: findings.collect(),
        more_findings: checked.left_out,
        ordered: &checked.counts,
    }
}

const fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Remark => "remark",
        Severity::Damage => "damage",
    }
}

fn render(report: &Report<'_>) -> String {
    let mut text = String::new();
    for row in &report.findings {
        let object = row.object.map(|object| format!(" {}", human::clean(object))).unwrap_or_default();
        let byte = row.byte.map(|byte| format!(" at byte {byte}")).unwrap_or_default();
        let what = human::clean(row.what);
        text += &format!("{}: {}{object}{byte}: {what}\n", row.severity, row.part);
    }
    if report.more_findings > 0 {
        text += &format!("and {} more\n", report.more_findings);
    }
    let counts = report.ordered.iter().map(|(name, number)| human::counted(*number, &singular(name), name));
    text += &format!("{}: {}", report.verdict, counts.collect::<Vec<_>>().join(", "));
    if report.decompressed_bytes > 0 {
        text += &format!("; {} decompressed", human::bytes(report.decompressed_bytes));
    }
    text + "\n"
}

/// Returns the singular of the name of a kind of parts.
fn singular(many: &str) -> String {
    let one = many.strip_suffix("ies").map(|stem| format!("{stem}y"));
    let one = one.or_else(|| many.strip_suffix("ches").map(|stem| format!("{stem}ch")));
    one.unwrap_or_else(|| many.strip_suffix('s').unwrap_or(many).to_owned())
}
