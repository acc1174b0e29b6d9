//! How long a group that was empty waits for more than its first member.

use crate::types::Timestamp;

/// How long a group that was empty waits for more members: `group.initial.rebalance.delay.ms`, and again as long as
/// members are added, up to the longest rebalance timeout of those that began.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Gathering {
    until: Timestamp,
    /// Milliseconds by which it may still be put off.
    left_ms: i64,
    /// Since it was last put off.
    member_added: bool,
}

impl Gathering {
    pub(super) fn begin(delay_ms: i64, rebalance_timeout_ms: i64, now: Timestamp) -> Self {
        Self {
            until: now.plus_millis(delay_ms),
            left_ms: (rebalance_timeout_ms - delay_ms).max(0),
            member_added: false,
        }
    }

    pub(super) fn add_member(&mut self) {
        self.member_added = true;
    }

    /// Whether it is over by now; puts it off where that is due.
    pub(super) fn is_over(&mut self, delay_ms: i64, now: Timestamp) -> bool {
        while now >= self.until {
            if !self.member_added || self.left_ms == 0 {
                return true;
            }
            self.member_added = false;
            self.until = self.until.plus_millis(delay_ms.min(self.left_ms));
            self.left_ms = (self.left_ms - delay_ms).max(0);
        }
        false
    }
}
