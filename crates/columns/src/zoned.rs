//! Time zones of the timestamps in a Form.

use crate::{Form, LogicalType, Zone};

impl Form {
    /// Whether any timestamp has a zone.
    #[must_use]
    pub fn has_zone(&self) -> bool {
        self.nodes().any(|node| {
            matches!(node, Self::Logical { meaning: LogicalType::Timestamp { zone: Some(_), .. }, .. })
        })
    }

    /// Gives timestamps with a zone the zone of the corresponding node of `other`, and UTC if that has no
    /// such node. Fields are matched by name, and options are ignored.
    pub fn show_in_zones_of(&mut self, other: Option<&Self>) {
        let other = other.map(|other| match other {
            Self::Option { content, .. } => content,
            other => other,
        });
        match (&mut *self, other) {
            (Self::Option { content, .. }, other) => content.show_in_zones_of(other),
            (Self::Logical { meaning: LogicalType::Timestamp { zone: Some(zone), .. }, .. }, other) => {
                *zone = match other {
                    Some(Self::Logical {
                        meaning: LogicalType::Timestamp { zone: Some(other), .. }, ..
                    }) => *other,
                    _ => Zone::UTC,
                };
            }
            (Self::Record { fields: Some(names), contents, .. }, other) => {
                let others = match other {
                    Some(Self::Record { fields: Some(names), contents, .. }) => Some((names, contents)),
                    _ => None,
                };
                for (name, content) in names.iter().zip(contents) {
                    let like = others.and_then(|(names, contents)| {
                        names.iter().position(|other| other == name).and_then(|at| contents.get(at))
                    });
                    content.show_in_zones_of(like);
                }
            }
            (one, other) => {
                let others = other.map(Self::contents).unwrap_or_default();
                for (at, content) in one.contents_mut().iter_mut().enumerate() {
                    content.show_in_zones_of(others.get(at));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_shown_in_the_zones_of_another_form() {
        let stamp = |zone: &str| Form::Logical {
            meaning: LogicalType::Timestamp { unit: crate::TimeUnit::Milli, zone: Some(Zone::of(zone)) },
            content: Box::new(Form::Empty),
        };
        let record = |names: [&str; 2], contents| Form::Record {
            fields: Some(names.map(str::to_owned).to_vec()),
            contents,
            name: None,
        };
        let optional = |content| Form::Option { key: "o".into(), content: Box::new(content) };
        let list = |content| Form::List { key: "l".into(), content: Box::new(content) };
        let mut form = list(record(["a", "b"], vec![stamp("Asia/Tokyo"), optional(stamp("Asia/Tokyo"))]));
        let other = list(optional(record(["b", "c"], vec![stamp("Europe/Rome"), stamp("+02:00")])));
        assert!(form.has_zone());
        form.show_in_zones_of(Some(&other));
        assert_eq!(form, list(record(["a", "b"], vec![stamp("UTC"), optional(stamp("Europe/Rome"))])));
    }
}
