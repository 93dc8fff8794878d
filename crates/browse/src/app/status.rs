//! Status line below the topmost pane.

use super::App;
use crate::{human, pane::Pane, tree_node::TreeContent};

impl App {
    /// Returns a description of the pending requests; `None` without any.
    pub(crate) fn reading(&self) -> Option<String> {
        let (first, others) = self.pending.split_first()?;
        let others = match others.len() {
            0 => String::new(),
            number => format!(" and {}", human::counted(number as u64, "other", "others")),
        };
        Some(format!("reading {}{others}…   Esc gives up", human::cut_middle(&first.subject, 60)))
    }

    /// Returns the position of the cursor and other properties of the topmost pane.
    pub(crate) fn status(&self) -> String {
        match self.panes.last() {
            Some(Pane::Tree(tree)) => {
                let marked = match tree.marked.len() {
                    0 => String::new(),
                    number => format!(", {} marked", human::count(number as u64)),
                };
                let path = tree.current().map_or(String::new(), |(_, node)| match &node.content {
                    TreeContent::Column { table, field, .. } => {
                        let table = tree.tables.get(*table);
                        let fields = table.and_then(|table| table.fields().ok()).unwrap_or_default();
                        fields.get(*field as usize).map_or(String::new(), |field| field.title.clone())
                    }
                    TreeContent::Table(key, _) | TreeContent::Object(key) => key.title.clone(),
                    _ => String::new(),
                });
                let filter = if tree.filter.is_empty() {
                    String::new()
                } else {
                    format!(" with {}", tree.filter.text())
                };
                let shown = human::count(tree.shown.len() as u64);
                format!("{shown} lines{filter}{marked}{}{path}", if path.is_empty() { "" } else { "  " })
            }
            Some(Pane::Grid(grid)) => {
                let marks = match grid.marks.len() {
                    0 => String::new(),
                    number => format!(", {} marked", human::count(number as u64)),
                };
                let activity = grid.activity().map_or(String::new(), |activity| format!(", {activity}…"));
                let kind = grid.kind().map_or(String::new(), |kind| format!("  {kind}"));
                let name = grid.current().and_then(|field| grid.field(field));
                let name = name.map_or(String::new(), |field| format!("  {}", field.path));
                format!("{}{marks}{activity}{name}{kind}", grid.rows.words())
            }
            Some(Pane::Plot(plot)) => plot.failed.clone().unwrap_or_default(),
            Some(Pane::Text(text)) => {
                let last = (text.top + usize::from(self.body().1)).min(text.lines.len());
                format!("lines {} to {} of {}", text.top + 1, last, text.lines.len())
            }
            None => String::new(),
        }
    }
}
