//! States as bytes, for a frontier that waits on disk.

use super::State;

impl State {
    /// Appends the state's bytes. They are good for this build alone.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        postcard::to_io(self, bytes).expect("a state can be written to memory");
    }

    /// The state of these bytes; `None` if they are no state's, or more than one's.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (mut state, rest): (Self, _) = postcard::take_from_bytes(bytes).ok()?;
        state.seal();
        rest.is_empty().then_some(state)
    }
}
