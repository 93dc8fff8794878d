//! The report of a check of a file, in any format.

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Informational: all listed objects can be read.
    Remark,
    /// A listed object cannot be read, or only with other contents than were written.
    Damage,
}

/// A problem of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Severity of the finding.
    pub severity: Severity,
    /// The part of the file that was checked: `"header"`, `"blocks"`, `"pages"`, …
    pub part: &'static str,
    /// The affected object; `None` if the finding concerns the file as a whole.
    pub object: Option<String>,
    /// Byte offset in the file, if known.
    pub byte: Option<u64>,
    /// Description of the finding.
    pub what: String,
}

/// Counts of the parts that were checked, and the findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Number of parts by the format's names for them: `("records", 12)`, `("baskets", 3)`.
    pub counts: Vec<(&'static str, u64)>,
    /// Total length in bytes of the decompressed blocks.
    pub decompressed_bytes: u64,
    /// The findings, in the order of the parts.
    pub findings: Vec<Finding>,
    /// Number of findings beyond [`MOST_FINDINGS`](Self::MOST_FINDINGS), which are not listed.
    pub left_out: u64,
}

impl CheckReport {
    /// Upper bound on the number of listed findings: a file may be damaged in every block.
    pub const MOST_FINDINGS: usize = 1000;

    /// Returns the highest severity of all findings; `None` if the file is sound.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Adds a finding, or counts it if the list is full. Damage then replaces the last listed remark.
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

    /// Adds `more` to the count of this name, which is created if needed.
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
