//! ListGroups and DeleteGroups: which groups there are, and removing one.

use kafka_protocol::messages::{DeleteGroupsRequest, GroupId, ListGroupsRequest};

use super::{ErrorCode, WireError, only, text};
use crate::wire::Connection;

impl Connection {
    /// The ids of every group that the broker coordinates, sorted (ListGroups v2).
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn list_groups(&mut self) -> Result<(ErrorCode, Vec<String>), WireError> {
        let answer = self.call(2, &ListGroupsRequest::default())?;
        let groups = answer.groups.iter();
        let mut ids: Vec<String> = groups.map(|group| group.group_id.to_string()).collect();
        ids.sort();
        Ok((ErrorCode(answer.error_code), ids))
    }

    /// Deletes a group that has no members (DeleteGroups v1).
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn delete_group(&mut self, group_id: &str) -> Result<ErrorCode, WireError> {
        let request =
            DeleteGroupsRequest::default().with_groups_names(vec![GroupId(text(group_id))]);
        let answer = only(self.call(1, &request)?.results, "groups")?;
        Ok(ErrorCode(answer.error_code))
    }
}
