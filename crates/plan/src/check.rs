//! The report of a check of a file, whatever the format.

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing. Everything that is listed can be read.
    Remark,
    /// Something that is listed cannot be read, or not as it was written.
    Damage,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The part of the file that was checked: `"header"`, `"blocks"`, `"pages"`, …
    pub part: &'static str,
    /// The object, if it is about one.
    pub object: Option<String>,
    /// The place in the file, as far as known.
    pub byte: Option<u64>,
    /// The finding in words.
    pub what: String,
}

/// The parts that a check read, and its findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Numbers of parts, by the format's own words for them: `("records", 12)`, `("baskets", 3)`.
    pub counts: Vec<(&'static str, u64)>,
    /// Bytes that were decompressed.
    pub decompressed_bytes: u64,
    /// The findings, in the order of the parts.
    pub findings: Vec<Finding>,
    /// The number of findings that are not listed.
    pub left_out: u64,
}

impl CheckReport {
    /// A file may be damaged in every block; more findings than this are only counted.
    pub const MOST_FINDINGS: usize = 1000;

    /// The worst of what was found; `None` if the file is sound.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Adds a finding, or counts it where there are too many to list. Damage is listed in place of a remark.
    pub fn add(&mut self, finding: Finding) {
        if self.findings.len() < Self::MOST_FINDINGS {
            self.findings.push(finding);
            return;
        }
        self.left_out += 1;
        let remark = |known: &Finding| known.severity == Severity::Remark;
        if finding.severity == Severity::Damage
            && let Some(at) = self.findings.iter().rposition(remark)
        {
            self.findings.remove(at);
            self.findings.push(finding);
        }
    }

    /// Adds to one of the counts, which is made if there is none of that name.
    pub fn count(&mut self, name: &'static str, more: u64) {
        match self.counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, number)) => *number = number.saturating_add(more),
            None => self.counts.push((name, more)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CheckReport, Finding, Severity};

    #[test]
    fn many_remarks_do_not_hide_damage() {
        let mut report = CheckReport::default();
        let finding =
            |severity| Finding { severity, part: "blocks", object: None, byte: None, what: String::new() };
        (0..2 * CheckReport::MOST_FINDINGS).for_each(|_| report.add(finding(Severity::Remark)));
        assert_eq!(report.severity(), Some(Severity::Remark));
        report.add(finding(Severity::Damage));
        assert_eq!(report.severity(), Some(Severity::Damage));
        assert_eq!(report.findings.len() as u64 + report.left_out, 2 * CheckReport::MOST_FINDINGS as u64 + 1);
    }
}
