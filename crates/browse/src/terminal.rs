//! Browser on a terminal: events, drawing, and restoring the state of the terminal.

use crate::{
    app::App,
    input::{Input, Key},
    screen::draw,
};
use ratatui::{
    Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor::Show,
        event::{
            DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event,
            KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind, read,
        },
        execute,
        terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size},
    },
};
use std::{
    io::{self, BufWriter, IsTerminal, Write},
    panic,
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    thread,
    time::Duration,
};

/// Timeout while waiting for an event if jobs are running.
const BUSY: Duration = Duration::from_millis(10);
/// Timeout while waiting for an event otherwise, after which signals are checked.
const IDLE: Duration = Duration::from_millis(200);
/// Maximum number of events that are handled before the screen is redrawn.
const TOGETHER: usize = 64;

/// Terminal for output: standard output, else standard error, else the terminal of the process.
pub struct Screen {
    output: Output,
}

#[derive(Clone, Copy)]
enum Output {
    Standard,
    Error,
    #[cfg(unix)]
    Device,
}

impl Screen {
    /// Returns the terminal of the process; `None` if it has none.
    #[must_use]
    pub fn find() -> Option<Self> {
        let output = if io::stdout().is_terminal() {
            Output::Standard
        } else if io::stderr().is_terminal() {
            Output::Error
        } else {
            Self::device()?
        };
        Some(Self { output })
    }

    #[cfg(unix)]
    fn device() -> Option<Output> {
        std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty").ok().map(|_| Output::Device)
    }

    #[cfg(not(unix))]
    fn device() -> Option<Output> {
        None
    }

    fn writer(&self) -> io::Result<Box<dyn Write>> {
        self.output.writer()
    }

    /// Shows a browser until the user leaves it or `ends` returns `true`; `ends` is called several times a
    /// second.
    ///
    /// # Errors
    /// Returns an error if drawing on the terminal fails.
    pub fn show(&self, app: &mut App, ends: &dyn Fn() -> bool) -> io::Result<()> {
        let _restored = Raw::begin(self.output)?;
        let mut terminal = Terminal::new(CrosstermBackend::new(BufWriter::new(self.writer()?)))?;
        let events = events();
        while !app.is_done() && !ends() {
            let area = terminal.size()?;
            app.handle(Input::Resize { width: area.width, height: area.height });
            if app.poll() {
                terminal.draw(|frame| {
                    let area = frame.area();
                    if let Some(cursor) = draw(app, area, frame.buffer_mut()) {
                        frame.set_cursor_position(cursor);
                    }
                })?;
            }
            let mut wait = if app.is_busy() { BUSY } else { IDLE };
            for _ in 0..TOGETHER {
                let Ok(input) = events.recv_timeout(wait) else { break };
                app.handle(input);
                wait = Duration::ZERO;
                if app.is_done() {
                    break;
                }
            }
        }
        Ok(())
    }
}

impl Output {
    fn writer(self) -> io::Result<Box<dyn Write>> {
        Ok(match self {
            Self::Standard => Box::new(io::stdout()),
            Self::Error => Box::new(io::stderr()),
            #[cfg(unix)]
            Self::Device => Box::new(std::fs::OpenOptions::new().write(true).open("/dev/tty")?),
        })
    }

    /// Restores the state of the terminal that a shell expects. Errors are ignored.
    fn restore(self) {
        let _ = disable_raw_mode();
        if let Ok(mut writer) = self.writer() {
            let _ = execute!(writer, DisableBracketedPaste, DisableMouseCapture, LeaveAlternateScreen, Show);
        }
    }
}

type Hook = Arc<dyn Fn(&panic::PanicHookInfo<'_>) + Send + Sync>;

/// Raw mode of the terminal, which is left at the end and before a panic is reported.
struct Raw {
    output: Output,
    hook: Hook,
}

impl Raw {
    fn begin(output: Output) -> io::Result<Self> {
        // The size is unavailable if the terminal has no screen.
        size()?;
        let hook: Hook = Arc::from(panic::take_hook());
        let (before, own) = (Arc::clone(&hook), thread::current().id());
        panic::set_hook(Box::new(move |info| {
            // A panic of a job becomes its answer, which the browser shows.
            if thread::current().id() == own {
                output.restore();
                before(info);
            }
        }));
        let raw = Self { output, hook };
        enable_raw_mode()?;
        execute!(output.writer()?, EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste)?;
        Ok(raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.output.restore();
        if !thread::panicking() {
            let hook = Arc::clone(&self.hook);
            panic::set_hook(Box::new(move |info| hook(info)));
        }
    }
}

/// Returns the events of the terminal, read by a thread until the receiver is dropped and one more event
/// arrives. Reading may block forever after the terminal hangs up, and must not keep the process from ending.
fn events() -> Receiver<Input> {
    let (to, events) = channel();
    thread::spawn(move || {
        while let Ok(event) = read() {
            if input(event).is_some_and(|input| to.send(input).is_err()) {
                return;
            }
        }
    });
    events
}

/// Converts an event of the terminal.
fn input(event: Event) -> Option<Input> {
    match event {
        Event::Key(KeyEvent { kind: KeyEventKind::Release, .. }) => None,
        Event::Key(KeyEvent { code, modifiers, .. }) => key(code, modifiers).map(Input::Key),
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                Some(Input::Click { column: mouse.column, row: mouse.row })
            }
            MouseEventKind::ScrollDown => Some(Input::Scroll(3)),
            MouseEventKind::ScrollUp => Some(Input::Scroll(-3)),
            _ => None,
        },
        Event::Paste(text) => Some(Input::Paste(text)),
        Event::Resize(width, height) => Some(Input::Resize { width, height }),
        Event::FocusGained | Event::FocusLost => None,
    }
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
    Some(match code {
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => Key::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Tab => Key::Tab,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}
