//! A browser without a terminal.

use forthwith::{File, Table};
use forthwith_browse::{App, Host, Input, Key, Start, draw, start_at};
use forthwith_platform::Instant;
use ratatui::{Terminal, backend::TestBackend};
use std::{path::PathBuf, sync::Arc, time::Duration};

/// A small terminal, and a large one.
pub(crate) const SMALL: (u16, u16) = (80, 24);
pub(crate) const LARGE: (u16, u16) = (200, 60);

/// A bundled file, by a name that is the same wherever the sources are: tests run in the folder of the crate.
pub(crate) fn data(name: &str) -> PathBuf {
    PathBuf::from("../../tests/data").join(name)
}

struct Texts(PathBuf);

impl Host for Texts {
    fn reopen(&self) -> Result<File, String> {
        File::open(&self.0).map_err(|error| error.to_string())
    }

    fn object(&self, _: &File, key: &forthwith::Key, _: usize) -> Result<String, String> {
        Ok(format!("{} of class {}", key.path, key.class))
    }

    fn plan(&self, table: &Table, field: u32, _: usize) -> Result<String, String> {
        let described = table.describe(field).map_err(|error| error.to_string())?;
        Ok(format!("{}\n{} entries\n", described.type_name, described.entries))
    }

    fn program(&self, _: &Table, field: u32) -> Result<String, String> {
        Err(format!("column {field} has no program"))
    }
}

/// A browser and the size of its screen.
pub(crate) struct Driver {
    pub(crate) app: App,
    terminal: Terminal<TestBackend>,
}

impl Driver {
    /// Browses a file, or a table of it if a path says so.
    pub(crate) fn new(name: &str, path: &str, (width, height): (u16, u16)) -> Self {
        Self::of(data(name), path, (width, height))
    }

    /// [`new`](Self::new) of any file.
    pub(crate) fn of(name: PathBuf, path: &str, size: (u16, u16)) -> Self {
        let file = File::open(&name).expect("a file");
        let start = start_at(&file, path).expect("a place");
        Self::at(name, &file, start, size)
    }

    /// Views a table.
    pub(crate) fn view(name: &str, table: &str, size: (u16, u16)) -> Self {
        let file = File::open(data(name)).expect("a file");
        let start = Start::Table(file.table(table).expect("a table"), None);
        Self::at(data(name), &file, start, size)
    }

    fn at(name: PathBuf, file: &File, start: Start, (width, height): (u16, u16)) -> Self {
        let host = Arc::new(Texts(name));
        let app = App::without_threads(file.clone(), host, start, false).expect("a browser");
        Self::with_app(app, (width, height))
    }

    /// Shows a browser.
    pub(crate) fn with_app(mut app: App, (width, height): (u16, u16)) -> Self {
        app.handle(Input::Resize { width, height });
        let terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        Self { app, terminal }
    }

    /// Presses keys, one for each character; `\n` is Enter, `\x1b` Escape, `\t` Tab.
    pub(crate) fn keys(&mut self, keys: &str) -> &mut Self {
        for c in keys.chars() {
            self.key(match c {
                '\n' => Key::Enter,
                '\t' => Key::Tab,
                '\u{1b}' => Key::Esc,
                '→' => Key::Right,
                '←' => Key::Left,
                '↓' => Key::Down,
                '↑' => Key::Up,
                c => Key::Char(c),
            });
        }
        self
    }

    pub(crate) fn key(&mut self, key: Key) -> &mut Self {
        self.app.handle(Input::Key(key));
        self
    }

    /// Runs all jobs to their end.
    pub(crate) fn settle(&mut self) -> &mut Self {
        for _ in 0..10_000 {
            self.app.poll();
            if !self.app.is_busy() {
                return self;
            }
        }
        panic!("jobs do not end");
    }

    /// Draws until the screen has a text, for jobs on threads.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text))
    }

    /// Draws until the screen fulfils a condition.
    pub(crate) fn wait_until(&mut self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        loop {
            self.app.poll();
            let screen = self.draw();
            if is_there(&screen) {
                return screen;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{what:?} does not come:\n{screen}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The screen after all jobs have ended.
    pub(crate) fn screen(&mut self) -> String {
        self.settle();
        self.draw()
    }

    /// Another size of the screen.
    pub(crate) fn resize(&mut self, width: u16, height: u16) {
        self.terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    }

    /// The screen as it is.
    pub(crate) fn draw(&mut self) -> String {
        let app = &self.app;
        self.terminal
            .draw(|frame| {
                let area = frame.area();
                draw(app, area, frame.buffer_mut());
            })
            .expect("a drawing");
        let buffer = self.terminal.backend().buffer();
        let width = usize::from(buffer.area.width);
        let line = |line: &[ratatui::buffer::Cell]| {
            let text: String = line.iter().map(ratatui::buffer::Cell::symbol).collect();
            text.trim_end().to_owned()
        };
        let lines: Vec<String> = buffer.content.chunks(width.max(1)).map(line).collect();
        lines.join("\n").trim_end().to_owned()
    }
}
