//! How each state was first reached: six bytes a state, in order of discovery.

/// States a chunk holds. Chunks are never moved or enlarged, so nothing is copied and at most one is partly empty.
const CHUNK: usize = 1 << 14;

/// The step that first reached a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The number of the state before; for an initial state, its position among the model's initial states.
    pub(crate) parent: u32,
    /// The position of the action in the list that the model gave for the parent; 0 for an initial state.
    pub(crate) action: u16,
}

/// The links of all states. State `i` is the `i`-th that a sequential breadth-first search finds.
pub(crate) struct Links {
    roots: usize,
    parents: Vec<Vec<u32>>,
    actions: Vec<Vec<u16>>,
    len: usize,
}

impl Links {
    pub(crate) fn new() -> Self {
        Self {
            roots: 0,
            parents: Vec::new(),
            actions: Vec::new(),
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds an initial state. All come before the first [`Links::push`].
    pub(crate) fn push_root(&mut self, position: u32) {
        self.push(Link {
            parent: position,
            action: 0,
        });
        self.roots = self.len;
    }

    pub(crate) fn push(&mut self, link: Link) {
        if self.len.is_multiple_of(CHUNK) {
            self.parents.push(Vec::with_capacity(CHUNK));
            self.actions.push(Vec::with_capacity(CHUNK));
        }
        let chunk = self.len / CHUNK;
        self.parents[chunk].push(link.parent);
        self.actions[chunk].push(link.action);
        self.len += 1;
    }

    /// How a state was first reached.
    pub(crate) fn get(&self, state: usize) -> Link {
        Link {
            parent: self.parents[state / CHUNK][state % CHUNK],
            action: self.actions[state / CHUNK][state % CHUNK],
        }
    }

    /// The way to a state: the position of the initial state, then the positions of the actions, in order.
    pub(crate) fn path(&self, state: u32) -> (u32, Vec<u16>) {
        let mut at = state as usize;
        let mut actions = Vec::new();
        while at >= self.roots {
            let link = self.get(at);
            actions.push(link.action);
            at = link.parent as usize;
        }
        actions.reverse();
        (self.get(at).parent, actions)
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.parents.len() * CHUNK * (size_of::<u32>() + size_of::<u16>())
    }
}
