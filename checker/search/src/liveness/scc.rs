//! Strongly connected components (Tarjan 1972, without recursion).

use super::graph::Graph;

/// Finds components of parts of one graph. Its tables are made once and cleaned only where they were used.
pub(super) struct Components {
    order: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<u32>,
    next: u32,
}

/// A state that the search has entered and not left.
struct Frame {
    state: u32,
    next_edge: usize,
}

/// The order of a state outside the part that is searched.
const OUTSIDE: u32 = u32::MAX;
const UNSEEN: u32 = u32::MAX - 1;

impl Components {
    pub(super) fn of<S>(graph: &Graph<S>) -> Self {
        Self {
            order: vec![OUTSIDE; graph.len()],
            low: vec![0; graph.len()],
            on_stack: vec![false; graph.len()],
            stack: Vec::new(),
            next: 0,
        }
    }

    /// The components of the graph restricted to `states`. A state on no cycle is a component of its own.
    pub(super) fn within<S>(&mut self, graph: &Graph<S>, states: &[u32]) -> Vec<Vec<u32>> {
        let mut components = Vec::new();
        self.set_order(states, UNSEEN);
        self.next = 0;
        for state in states {
            if self.order[*state as usize] == UNSEEN {
                self.search(graph, *state, &mut components);
            }
        }
        self.set_order(states, OUTSIDE);
        components
    }

    fn set_order(&mut self, states: &[u32], order: u32) {
        for state in states {
            self.order[*state as usize] = order;
        }
    }

    fn search<S>(&mut self, graph: &Graph<S>, root: u32, components: &mut Vec<Vec<u32>>) {
        let mut frames = vec![self.enter(root)];
        while let Some(frame) = frames.last_mut() {
            let state = frame.state;
            if let Some(edge) = graph.edges(state).get(frame.next_edge) {
                frame.next_edge += 1;
                match self.order[edge.to as usize] {
                    OUTSIDE => {}
                    UNSEEN => frames.push(self.enter(edge.to)),
                    order => {
                        if self.on_stack[edge.to as usize] {
                            self.lower(state, order);
                        }
                    }
                }
            } else {
                frames.pop();
                if let Some(parent) = frames.last() {
                    self.lower(parent.state, self.low[state as usize]);
                }
                if self.low[state as usize] == self.order[state as usize] {
                    components.push(self.leave(state));
                }
            }
        }
    }

    fn enter(&mut self, state: u32) -> Frame {
        self.order[state as usize] = self.next;
        self.low[state as usize] = self.next;
        self.next += 1;
        self.on_stack[state as usize] = true;
        self.stack.push(state);
        Frame {
            state,
            next_edge: 0,
        }
    }

    fn lower(&mut self, state: u32, to: u32) {
        let low = &mut self.low[state as usize];
        *low = (*low).min(to);
    }

    /// The component whose first state is `root` is complete: it lies on the stack.
    fn leave(&mut self, root: u32) -> Vec<u32> {
        let mut component = Vec::new();
        while let Some(state) = self.stack.pop() {
            self.on_stack[state as usize] = false;
            component.push(state);
            if state == root {
                break;
            }
        }
        component
    }
}
