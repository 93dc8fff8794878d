//! Reads that keys ask for: their beginning, their answers, and giving them up.

use super::App;
use crate::{
    answers::Answer,
    jobs::{Lane, Ticket},
    pane::Pane,
    request::{Pending, Reopened, Reply, Request},
    tree::Tree,
    tree_node::NodeId,
};
use std::time::Duration;

/// Time in which files at hand answer. Events are not taken meanwhile, so that the next key is for the pane that this one
/// leads to.
const AT_HAND: Duration = Duration::from_millis(30);

impl App {
    /// Begins a read that a key asked for. A pending read that would lead to another pane is given up.
    pub(super) fn request(&mut self, request: Request) {
        if request.node.is_none() {
            self.give_up_panes();
        }
        let (subject, node) = (request.subject.clone(), request.node);
        let ticket = self.jobs.start(Lane::Request, request.job());
        self.pending.push(Pending { ticket, subject, node });
        if let Some(answer) = self.jobs.wait(Lane::Request, ticket, AT_HAND) {
            self.replied(ticket, answer);
        }
    }

    /// Takes the answer to a request.
    pub(super) fn replied(&mut self, ticket: Ticket, answer: Answer) {
        let Some(at) = self.pending.iter().position(|pending| pending.ticket == ticket) else { return };
        let pending = self.pending.remove(at);
        let reply = match answer {
            Answer::Reply(reply) => match reply.downcast::<Reply>() {
                Ok(reply) => *reply,
                Err(_) => return,
            },
            Answer::Failed(why) => {
                self.close_node(pending.node);
                self.message = Some(why);
                return;
            }
            _ => return,
        };
        match reply {
            Reply::Pane(pane) => self.push(pane),
            Reply::Children { node, children, enters } => {
                let is_top = self.panes.len() == 1;
                let Some(tree) = self.tree() else { return };
                tree.adopt(node, children);
                if enters && is_top {
                    let act = tree.values_of(node);
                    self.carry_out(act);
                }
            }
            Reply::Reopened(reopened) => self.reopened(reopened),
            Reply::Cut(cut) => {
                if let Some(pane) = self.panes.last_mut() {
                    pane.filter_by_cut(&cut, &mut self.jobs);
                }
            }
        }
    }

    /// Stops what an Escape stops: reads that were asked for, else scans. Returns whether there was any.
    pub(super) fn stop(&mut self) -> bool {
        if self.pending.is_empty() {
            return self.panes.last_mut().is_some_and(|pane| pane.stop(&mut self.jobs));
        }
        self.give_up(|_| true);
        true
    }

    /// Gives up reads that would lead to a pane or change the topmost one.
    pub(super) fn give_up_panes(&mut self) {
        self.give_up(|pending| pending.node.is_none());
    }

    fn give_up(&mut self, is_meant: impl Fn(&Pending) -> bool) {
        let all = std::mem::take(&mut self.pending);
        let (given_up, kept): (Vec<Pending>, _) = all.into_iter().partition(is_meant);
        self.pending = kept;
        for pending in given_up {
            self.jobs.cancel(pending.ticket);
            self.close_node(pending.node);
        }
    }

    fn reopened(&mut self, reopened: Reopened) {
        let Reopened { file, start, pane, version, size } = reopened;
        self.give_up(|_| true);
        self.panes.iter_mut().for_each(|pane| pane.close(&mut self.jobs));
        self.watch.take().into_iter().for_each(|ticket| self.jobs.cancel(ticket));
        (self.file, self.start, self.version) = (file, start, version);
        self.file_size = size;
        self.has_changed = false;
        self.panes = vec![pane];
        self.message = Some("opened again".into());
    }

    /// The tree, which is below all other panes.
    fn tree(&mut self) -> Option<&mut Tree> {
        match self.panes.first_mut() {
            Some(Pane::Tree(tree)) => Some(tree),
            _ => None,
        }
    }

    fn close_node(&mut self, node: Option<NodeId>) {
        if let Some(node) = node
            && let Some(tree) = self.tree()
        {
            tree.give_up(node);
        }
    }
}
