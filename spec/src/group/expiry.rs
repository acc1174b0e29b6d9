//! Expiry: offsets that nobody has committed for long are forgotten.
//!
//! SOURCE: `offsets.retention.minutes`; KAFKA-19163 (staged offsets pin the group).

use super::Group;
use crate::rules::GroupRules;
use crate::step::Step;
use crate::types::Payload;

impl Group {
    /// The group's offsets expire: only where nothing is staged (KAFKA-19163).
    pub fn expire_offsets(&mut self, rules: &GroupRules) -> Step {
        let idle = self.staged.is_empty() || !rules.staged_pin_group;
        if !idle || (self.staged.is_empty() && self.committed == Payload(0)) {
            return Step::NotEnabled;
        }
        self.committed = Payload(0);
        self.staged.clear();
        Step::Handled
    }
}
