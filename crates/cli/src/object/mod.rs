//! `forthwith show` for objects other than trees: draws histograms and lists the members of other objects.
//! Also `forthwith streamers`, which lists the classes described in a file.

mod binned;
mod buffer;
mod efficiency;
mod graph;
mod heat;
mod members;
mod points;
mod streamers;

pub(crate) use points::draw as points;
pub(crate) use streamers::streamers;

use crate::{console::Console, failure::Result, graph::Graph, human, shape::Shape};
use binned::Binned;
use forthwith::{File, Key, plan::Error, root::Objects};
use serde::Serialize;
use serde_json::Value as Json;

/// The JSON output.
#[derive(Debug, Serialize)]
struct Report<'a> {
    file: &'a str,
    path: &'a str,
    class: &'a str,
    title: &'a str,
    members: Json,
}

pub(crate) fn show(file: &File, key: &Key, shape: Shape, console: &mut Console<'_>) -> Result<()> {
    let object = file.object(&format!("{};{}", key.path, key.cycle))?;
    let Some(objects) = object.own::<Objects>() else {
        return Err(Error::unsupported(format!("showing a {}", key.class)).in_file(file.uri()).into());
    };
    let top = objects.top();
    if shape != Shape::Text {
        let members = members::json(top);
        let Key { path, class, title, .. } = key;
        return console.json(&Report { file: file.uri(), path, class, title, members });
    }
    let title = if key.title.is_empty() { String::new() } else { format!(": {}", key.title) };
    console.line(&format!(
        "{} {}{} in {}\n",
        console.paint.strong(&human::clean(&key.path)),
        console.paint.faint(&human::clean(&key.class)),
        human::clean(&title),
        human::clean(file.uri()),
    ))?;
    let width = console.width.unwrap_or(80);
    let picture = Binned::of(top).map(|binned| binned.draw(width, console.paint));
    match picture.or_else(|| points::draw(&graph::graph_of(top, "")?, width, console.paint)) {
        Some(picture) => console.text(&picture)?,
        None => console.text(&members::text(top))?,
    }
    buffer::note(top).map_or(Ok(()), |note| console.line(&note))
}

/// Prints all members of an object and their types, or one line of JSON if requested.
pub(crate) fn dump(file: &File, key: &Key, shape: Shape, console: &mut Console<'_>) -> Result<()> {
    let path = format!("{};{}", key.path, key.cycle);
    let object = file.object(&path)?;
    let Some(objects) = object.own::<Objects>() else {
        return Err(Error::unsupported(format!("printing a {}", key.class)).in_file(file.uri()).into());
    };
    let top = objects.top();
    if shape != Shape::Text {
        let members = members::json(top);
        let Key { path, class, title, .. } = key;
        console.json_part(&Report { file: file.uri(), path, class, title, members })?;
        return console.text("\n");
    }
    let (name, class) = (human::clean(&path), human::clean(&key.class));
    console.line(&format!("{} {}", console.paint.strong(&name), console.paint.faint(&class)))?;
    let members = members::all(top);
    members.lines().try_for_each(|line| console.line(&format!("  {line}")))
}

/// Returns the histogram or efficiency in an object; `None` for other classes.
pub(crate) fn binned(file: &File, key: &Key) -> Result<Option<Binned>> {
    let object = file.object(&format!("{};{}", key.path, key.cycle))?;
    Ok(object.own::<Objects>().and_then(|objects| Binned::of(objects.top())))
}

/// Returns the graph in an object, with a name for legends; `None` for other classes.
pub(crate) fn graph(file: &File, key: &Key, name: &str) -> Result<Option<Graph>> {
    let object = file.object(&format!("{};{}", key.path, key.cycle))?;
    Ok(object.own::<Objects>().and_then(|objects| graph::graph_of(objects.top(), name)))
}

/// Returns the picture of an object; `None` if its class is not drawn.
pub(crate) fn picture(file: &File, path: &str, console: &Console<'_>) -> Option<String> {
    let object = file.object(path).ok()?;
    let top = object.own::<Objects>()?.top();
    let binned = Binned::of(top)?;
    let drawn = binned.draw(console.width.unwrap_or(80).saturating_sub(2), console.paint);
    Some(drawn + &buffer::note(top).map_or_else(String::new, |note| note + "\n"))
}
