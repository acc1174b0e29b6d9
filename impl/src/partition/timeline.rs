//! A state that follows a log: what it was at the high watermark, and after each append since.

use std::collections::VecDeque;

use crate::types::Offset;

/// Versions of `T`, one for each log end from the high watermark on. Cloning a version must be cheap (`im` maps):
/// taking an append back then costs nothing, however long the log is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Timeline<T> {
    replicated: T,
    appended: VecDeque<(Offset, T)>,
}

impl<T: Clone> Timeline<T> {
    /// A state that is known to be replicated.
    pub(crate) fn new(replicated: T) -> Self {
        Self {
            replicated,
            appended: VecDeque::new(),
        }
    }

    /// The state at the high watermark.
    pub(crate) fn replicated(&self) -> &T {
        &self.replicated
    }

    /// The state at the log end.
    pub(crate) fn latest(&self) -> &T {
        self.appended.back().map_or(&self.replicated, |(_, it)| it)
    }

    /// Adds the state after an append that made `log_end` the log's end.
    pub(crate) fn push(&mut self, log_end: Offset, state: T) {
        self.appended.push_back((log_end, state));
    }

    /// Forgets the versions before the high watermark.
    pub(crate) fn replicate(&mut self, high_watermark: Offset) {
        while let Some((end, _)) = self.appended.front()
            && *end <= high_watermark
        {
            if let Some((_, state)) = self.appended.pop_front() {
                self.replicated = state;
            }
        }
    }

    /// Takes back the appends that end after `log_end`, which is not below the high watermark.
    pub(crate) fn truncate(&mut self, log_end: Offset) {
        while let Some((end, _)) = self.appended.back()
            && *end > log_end
        {
            self.appended.pop_back();
        }
    }

    /// Changes every version in the same way, for changes that are not in the log.
    pub(crate) fn update_all(&mut self, mut change: impl FnMut(&mut T)) {
        change(&mut self.replicated);
        self.appended.iter_mut().for_each(|(_, it)| change(it));
    }
}

#[cfg(test)]
mod tests {
    use super::Timeline;
    use crate::types::Offset;

    #[test]
    fn versions_come_and_go_with_the_log() {
        let mut line = Timeline::new('a');
        line.push(Offset::new(1), 'b');
        line.push(Offset::new(3), 'c');
        line.replicate(Offset::new(2));
        assert_eq!((*line.replicated(), *line.latest()), ('b', 'c'));
        line.truncate(Offset::new(2));
        assert_eq!((*line.replicated(), *line.latest()), ('b', 'b'));
        line.update_all(|it| *it = 'z');
        assert_eq!(line, Timeline::new('z'));
    }
}
