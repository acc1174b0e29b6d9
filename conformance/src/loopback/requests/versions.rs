//! ApiVersions: what the broker speaks, and the cluster's feature levels.

use bytes::Bytes;
use fencepost::types::TransactionVersion;
use kafka_protocol::messages::api_versions_response::{
    ApiVersion, FinalizedFeatureKey, SupportedFeatureKey,
};
use kafka_protocol::messages::{ApiKey, ApiVersionsResponse};

use super::{APIS, Plan, text};
use crate::loopback::answer::body;
use crate::loopback::desk::Desk;
use crate::loopback::frame::Head;
use crate::wire::WireError;

const UNSUPPORTED_VERSION: i16 = 35;
const FEATURE: &str = "transaction.version";

pub(super) fn api_versions(desk: &mut Desk<'_>, _: Bytes) -> Result<Plan, WireError> {
    let answer = spoken(desk.version(), desk.broker.level);
    Ok(Plan::Body(body(desk.version(), &answer)))
}

/// KIP-511: ApiVersions in an unknown version is answered in version 0, so that the client can choose again. No other
/// request is.
pub(in crate::loopback) fn unsupported(
    head: &Head,
    level: TransactionVersion,
) -> Option<Result<Option<Bytes>, WireError>> {
    let refused = spoken(0, level).with_error_code(UNSUPPORTED_VERSION);
    (head.api_key == ApiKey::ApiVersions as i16).then(|| body(0, &refused))
}

fn spoken(version: i16, level: TransactionVersion) -> ApiVersionsResponse {
    let mut keys: Vec<ApiVersion> = Vec::new();
    for api in &APIS {
        match keys.iter_mut().find(|key| key.api_key == api.key) {
            Some(key) => key.max_version = key.max_version.max(api.max),
            None => keys.push(
                ApiVersion::default()
                    .with_api_key(api.key)
                    .with_min_version(api.min)
                    .with_max_version(api.max),
            ),
        }
    }
    let answer = ApiVersionsResponse::default().with_api_keys(keys);
    if version < 3 {
        return answer;
    }
    let finalized = FinalizedFeatureKey::default()
        .with_name(text(FEATURE))
        .with_min_version_level(level.level())
        .with_max_version_level(level.level());
    let supported = SupportedFeatureKey::default()
        .with_name(text(FEATURE))
        .with_max_version(TransactionVersion::V2.level());
    answer
        .with_supported_features(vec![supported])
        .with_finalized_features_epoch(0)
        .with_finalized_features(vec![finalized])
}
