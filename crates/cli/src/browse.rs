//! `forthwith browse` and `forthwith view`: a file or a table on the screen.

use crate::{
    choice::{Choice, Chosen},
    console::Console,
    explain,
    failure::{Failure, Result},
    forth,
    interrupt::Watch,
    object,
    opened::{self, Opening, Place, Values},
    paint::{Paint, wants_color},
    shape::Shape,
    survey::Branch,
    target::Target,
};
use forthwith::{File, Key, Table};
use forthwith_browse::{App, Host, Start, start_at, terminal::Screen};
use std::sync::Arc;

/// Content that the browser shows.
#[derive(Debug, PartialEq)]
pub(crate) enum Browsing {
    /// Objects of a file.
    File,
    /// Values of a table.
    Table(Choice),
}

/// Options of `browse` and `view`.
#[derive(Debug, PartialEq)]
pub(crate) struct Browse {
    pub(crate) browsing: Browsing,
    pub(crate) values: Values,
    /// Whether to use colours; `None` to follow the terminal.
    pub(crate) color: Option<bool>,
}

impl Browse {
    const fn verb(&self) -> &'static str {
        match self.browsing {
            Browsing::File => "browse",
            Browsing::Table(_) => "view",
        }
    }
}

pub(crate) fn browse(
    file: &File,
    target: &Target,
    asked: &Browse,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let Some(screen) = Screen::find() else {
        let instead = match asked.browsing {
            Browsing::File => "forthwith ls lists a file, and show what is in a table",
            Browsing::Table(_) => "forthwith head prints the first entries of a table, and cat all",
        };
        return Err(Failure::misuse(format!(
            "{} draws on a terminal, and there is none: {instead}",
            asked.verb()
        )));
    };
    let (target, opening, values) = (target.clone(), opening.clone(), asked.values);
    let host = Arc::new(FileHost { target, opening, values });
    let (start, cut) = start(file, &host, &asked.browsing)?;
    let color = asked.color.unwrap_or_else(|| wants_color(true, |name| std::env::var_os(name)));
    let mut app = App::new(file.clone(), host, start, color)?;
    if let Some(cut) = cut {
        app.filter(&cut)?;
    }
    let watch = Watch::begin();
    screen.show(&mut app, &|| watch.asked())?;
    if watch.asked() {
        return Err(forthwith::plan::Error::new(forthwith::plan::ErrorKind::Cancelled)
            .in_file(file.uri())
            .into());
    }
    console.bytes(&app.marked()?)
}

/// Returns the first pane, and the cut of its rows.
fn start(file: &File, host: &FileHost, browsing: &Browsing) -> Result<(Start, Option<String>)> {
    let place = || Ok::<_, Failure>(opened::place_in(file, &host.target)?.with_values(host.values));
    let choice = match browsing {
        Browsing::File => {
            return Ok(match start_at(file, &host.target.object) {
                Ok(Start::Table(table, columns)) => (Start::Table(host.put_constants(table)?, columns), None),
                Ok(tree) => (tree, None),
                // The column may be a Hive partition key.
                Err(error) => match place() {
                    Ok(Place { table, branch, .. }) => {
                        (Start::Table(table, branch.map(|branch| vec![branch])), None)
                    }
                    Err(_) => return Err(error.into()),
                },
            });
        }
        Browsing::Table(choice) => choice,
    };
    let place = place()?;
    let is_all = choice.filter.is_empty() && place.branch.is_none();
    let columns = if is_all {
        None
    } else {
        let Chosen { branches, .. } = choice.find(&place, 0)?;
        Some(branches.iter().map(|branch| branch.index).collect())
    };
    Ok((Start::Table(place.table, columns), choice.cut.clone()))
}

/// Answers of the command for the browser.
struct FileHost {
    target: Target,
    opening: Opening,
    values: Values,
}

impl FileHost {
    /// Returns the table with its Hive partition keys, and with values read as the flags demand.
    fn put_constants(&self, table: Table) -> forthwith::plan::Result<Table> {
        let table = table.with_constants(&self.target.constants)?.with_text_policy(self.values.text);
        Ok(table.with_times_as_integers(self.values.times_as_integers))
    }
}

impl Host for FileHost {
    fn reopen(&self) -> Result<File, String> {
        if self.target.is_stream() {
            return Err("standard input and pipes are read once only".into());
        }
        opened::file(&self.target, &self.opening).map_err(|failure| failure.to_string())
    }

    fn table(&self, file: &File, path: &str) -> forthwith::plan::Result<Table> {
        self.put_constants(file.table(path)?)
    }

    fn object(&self, file: &File, key: &Key, width: usize) -> Result<String, String> {
        printed(width, |console| object::show(file, key, Shape::Text, console))
    }

    fn plan(&self, table: &Table, field: u32, width: usize) -> Result<String, String> {
        let fields = table.fields().map_err(|error| error.to_string())?;
        let Some(of) = fields.get(field as usize) else { return Err("no such column".into()) };
        Ok(explain::text(table, &Branch::of(table, field, of), width))
    }

    fn program(&self, table: &Table, field: u32) -> Result<String, String> {
        let place = Place { words: table.words(), table: table.clone(), branch: Some(field), named: true };
        printed(usize::MAX, |console| forth::forth(&place, true, console))
    }
}

/// Returns the output of a command on a terminal of the given width.
fn printed(width: usize, print: impl FnOnce(&mut Console<'_>) -> Result<()>) -> Result<String, String> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut console = Console::new(&mut out, &mut err, Some(width), Paint { color: false });
    print(&mut console).map_err(|failure| failure.to_string())?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}
