//! Descriptions of classes, added to a file that is written.

use std::sync::Arc;

use forthwith_plan::{Error, Result};

use super::FileWriter;
use super::classes::named_by;
use crate::streamer::{StreamerInfo, Streamers};

impl FileWriter {
    /// Adds a description of a class to the file's streamer record, and those of ROOT's own classes that it names.
    pub fn describe(&mut self, info: &StreamerInfo) {
        self.classes.add_closed(Arc::new(info.clone()));
    }

    /// As [`describe`](Self::describe), of a class that is made for the file.
    ///
    /// # Errors
    /// The file has a class of this name and version with other members: readers take one of them for the other.
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

    /// Adds the description of one of ROOT's own classes, and those of the classes that it names.
    ///
    /// # Errors
    /// A class that is not known to be one of ROOT's own.
    pub fn describe_class(&mut self, class: &str) -> Result<()> {
        if self.classes.add_known(class) {
            return Ok(());
        }
        Err(Error::unsupported(format!("writing objects of class {class}")).in_file(self.uri()))
    }

    /// Adds all descriptions and rules that another file has, for what is copied from there. Of ROOT's own classes those are added
    /// that are named and described nowhere: objects of other versions were written by what that file says of them.
    ///
    /// # Errors
    /// A description cannot be parsed.
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
