//! `forthwith streamers`: lists the classes described in a file, each version with its bases and members.

use crate::{
    console::Console,
    failure::{Failure, Result},
    glob::Patterns,
    human,
    shape::Shape,
};
use forthwith::{
    File,
    plan::Error,
    root::{Element, ElementKind, RootFile},
};
use serde::Serialize;

/// One version of a class.
#[derive(Debug, Serialize)]
struct Class {
    class: String,
    version: i32,
    checksum: u32,
    members: Vec<Member>,
}

/// A base or member.
#[derive(Debug, Serialize)]
struct Member {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    title: String,
    is_base: bool,
    /// Version of a base class.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i32>,
}

pub(crate) fn streamers(
    file: &File,
    filter: &[String],
    shape: Shape,
    console: &mut Console<'_>,
) -> Result<()> {
    let Some(root) = file.own::<RootFile>() else {
        let what = format!("streamer infos of {} files, because only ROOT files have them", file.format());
        return Err(Error::unsupported(what).in_file(file.uri()).into());
    };
    let patterns = Patterns::of(filter).map_err(Failure::misuse)?;
    let infos = root.streamers()?.infos().map_err(|error| error.in_file(file.uri()))?;
    let classes = infos.iter().filter(|info| patterns.want(&info.class, &info.class)).map(|info| Class {
        class: info.class.to_string(),
        version: info.version,
        checksum: info.checksum,
        members: info.elements.iter().map(Member::of).collect(),
    });
    let classes: Vec<Class> = classes.collect();
    if shape == Shape::Json {
        return console.json(&classes);
    }
    if classes.is_empty() {
        return console.line("the file describes no class that matches");
    }
    for (at, class) in classes.iter().enumerate() {
        let gap = if at == 0 { "" } else { "\n" };
        let name = console.paint.strong(&human::clean(&class.class));
        console.line(&format!("{gap}{name} version {}, checksum {:#010x}", class.version, class.checksum))?;
        let width = class.members.iter().map(|member| member.kind.chars().count()).max().unwrap_or(0).min(40);
        for Member { name, kind, title, is_base, version } in &class.members {
            let [name, kind, title] = [name, kind, title].map(|text| human::clean(text));
            let title = if title.is_empty() { title } else { format!("  {title}") };
            let line = match (is_base, version) {
                (true, Some(version)) => format!("  {name:width$}  base, version {version}"),
                (true, None) => format!("  {name:width$}  base"),
                (false, _) => format!("  {kind:width$}  {name}{title}"),
            };
            console.line(line.trim_end())?;
        }
    }
    Ok(())
}

impl Member {
    fn of(element: &Element) -> Self {
        let version = match element.kind {
            ElementKind::Base { version, .. } => version,
            _ => None,
        };
        let dimensions: String = element.dimensions.iter().map(|size| format!("[{size}]")).collect();
        Self {
            name: element.name.to_string(),
            kind: format!(
                "{}{dimensions}",
                if element.is_base() { &element.name } else { &element.type_name }
            ),
            title: element.title.to_string(),
            is_base: element.is_base(),
            version,
        }
    }
}
