//! Requests of keys: start, answers and cancellation.

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

/// Time for which the answer to a request is awaited. Other events are not handled meanwhile, so that a
/// following key goes to the pane that the request opens.
const AT_HAND: Duration = Duration::from_millis(30);

impl App {
    /// Starts a request. Pending requests that would open another pane are cancelled.
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

    /// Handles the answer to a request.
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

    /// Cancels pending requests, or else scans of the topmost pane; returns whether there were any.
    pub(super) fn stop(&mut self) -> bool {
        if self.pending.is_empty() {
            return self.panes.last_mut().is_some_and(|pane| pane.stop(&mut self.jobs));
        }
        self.give_up(|_| true);
        true
    }

    /// Cancels requests that would open a pane or change the topmost one.
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

    /// Returns the tree, which is the first pane unless a table was opened directly.
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
