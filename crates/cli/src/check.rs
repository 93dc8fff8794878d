//! `forthwith check`: whether a file is whole.

use crate::{
    console::Console,
    failure::{Failure, Result},
    human,
    meaning::Shape,
};
use forthwith::{
    File,
    plan::Error,
    root::{Checked, Severity},
};
use serde::Serialize;

/// What was looked at and found.
#[derive(Debug, Serialize)]
struct Report<'a> {
    file: &'a str,
    /// `"sound"`, `"remarks"` or `"damaged"`.
    verdict: &'static str,
    records: usize,
    baskets: usize,
    decompressed_bytes: u64,
    objects: usize,
    branches: usize,
    findings: Vec<Row<'a>>,
    more_findings: usize,
}

/// One finding.
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
    let Some(root) = file.root() else {
        let what = format!("check for {} files", file.info()?.format);
        return Err(Error::unsupported(what).in_file(file.uri()).into());
    };
    let checked = root.check()?;
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

fn report<'a>(uri: &'a str, checked: &'a Checked) -> Report<'a> {
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
        records: checked.records,
        baskets: checked.baskets,
        decompressed_bytes: checked.bytes,
        objects: checked.objects,
        branches: checked.branches,
        findings: findings.collect(),
        more_findings: checked.left_out(),
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
    text + &format!(
        "{}: {} records, {} of them baskets; {} objects, {} branches; {} decompressed\n",
        report.verdict,
        report.records,
        report.baskets,
        report.objects,
        report.branches,
        human::bytes(report.decompressed_bytes),
    )
}
