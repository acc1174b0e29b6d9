//! ApiVersions: what a broker speaks, and the cluster's feature levels.

use std::collections::BTreeMap;

use kafka_protocol::messages::ApiVersionsRequest;

use super::{ErrorCode, WireError, text};
use crate::wire::Connection;
use crate::wire::connection::read;

const UNSUPPORTED_VERSION: i16 = 35;

/// Versions from `min` to `max`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRange {
    /// Lowest version.
    pub min: i16,
    /// Highest version.
    pub max: i16,
}

/// What a broker says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiVersionsAnswer {
    /// Refusal, if any.
    pub error: ErrorCode,
    /// Versions by API key.
    pub apis: BTreeMap<i16, VersionRange>,
    /// Finalized feature levels, for example `transaction.version`; level 0 is not listed.
    pub finalized: BTreeMap<String, i16>,
}

impl ApiVersionsAnswer {
    /// The finalized level of `transaction.version`; 0 where it is not listed.
    #[must_use]
    pub fn transaction_version(&self) -> i16 {
        self.finalized
            .get("transaction.version")
            .copied()
            .unwrap_or(0)
    }
}

impl Connection {
    /// ApiVersions v3; v0 of a broker that refuses v3 (KIP-511: it does so in the format of v0).
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn api_versions(&mut self) -> Result<ApiVersionsAnswer, WireError> {
        let request = ApiVersionsRequest::default()
            .with_client_software_name(text("fencepost"))
            .with_client_software_version(text("0"));
        let newer = self.ask(3, &request)?;
        let answer = if newer.starts_with(&UNSUPPORTED_VERSION.to_be_bytes()) {
            self.call(0, &ApiVersionsRequest::default())?
        } else {
            read::<ApiVersionsRequest>(3, newer)?
        };
        Ok(ApiVersionsAnswer {
            error: ErrorCode(answer.error_code),
            apis: answer
                .api_keys
                .iter()
                .map(|api| {
                    let range = VersionRange {
                        min: api.min_version,
                        max: api.max_version,
                    };
                    (api.api_key, range)
                })
                .collect(),
            finalized: answer
                .finalized_features
                .iter()
                .map(|feature| (feature.name.to_string(), feature.max_version_level))
                .collect(),
        })
    }
}
