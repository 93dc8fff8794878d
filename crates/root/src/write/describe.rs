//! Class descriptions of a file being written.

use std::sync::Arc;

use forthwith_plan::{Error, Result};

use super::FileWriter;
use super::classes::named_by;
use crate::streamer::{StreamerInfo, Streamers};

impl FileWriter {
    /// Adds the description of a class to the file's streamer record, and those of ROOT's own classes that it
    /// refers to.
    pub fn describe(&mut self, info: &StreamerInfo) {
        self.classes.add_closed(Arc::new(info.clone()));
    }

    /// Adds the description of a class that was made for this file, as [`describe`](Self::describe) does.
    ///
    /// # Errors
    /// Returns an error if the file has a class of the same name and version with other members, because
    /// readers would confuse the two.
    pub fn describe_new(&mut self, info: &StreamerInfo) -> Result<()> {
        if self.classes.has_other(info) {
            let what = format!(
                "class {:?} for records, as the file has a class of this name with other members: records that have \
                 another name become another class",
                info.class
            );
            return Err(Error::invalid(what).in_file(self.uri()));
        }
        self.describe(info);
        Ok(())
    }

    /// Adds the description of one of ROOT's own classes, and those of the classes that it refers to.
    ///
    /// # Errors
    /// Returns an error if the class is not one of ROOT's own, as far as is known here.
    pub fn describe_class(&mut self, class: &str) -> Result<()> {
        if self.classes.add_known(class) {
            return Ok(());
        }
        Err(Error::unsupported(format!("writing objects of class {class}")).in_file(self.uri()))
    }

    /// Adds all descriptions and rules of another file, for objects that are copied from it. ROOT's own
    /// classes that these refer to are only added if they have no description in any version: objects of
    /// other versions were written by the descriptions of that file.
    ///
    /// # Errors
    /// Returns an error if a description cannot be parsed.
    pub fn describe_from(&mut self, streamers: &Streamers) -> Result<()> {
        let infos = streamers.infos()?;
        let mut new = Vec::new();
        for info in &infos {
            if self.classes.add(Arc::clone(info)) || !self.classes.complete {
                new.push(info);
            }
        }
        for class in new.iter().flat_map(|info| named_by(info)) {
            if !self.classes.classes.contains_key(class) {
                self.classes.add_known(class);
            }
        }
        for rule in streamers.rules() {
            if !self.classes.rules.contains(rule) {
                self.classes.rules.push(rule.clone());
                self.classes.changed = true;
            }
        }
        Ok(())
    }
}
