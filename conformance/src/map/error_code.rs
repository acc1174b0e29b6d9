//! Error codes: both sides number them as the wire does.

use super::Unmapped;
use fencepost::error_code::ErrorCode as Impl;
use fencepost_spec::error_code::ErrorCode as Spec;

/// The implementation's code of the same number.
///
/// # Errors
/// [`Unmapped`] where it has none.
pub fn impl_error(code: Spec) -> Result<Impl, Unmapped> {
    Impl::ALL
        .into_iter()
        .find(|known| *known as i16 == code.number())
        .ok_or_else(|| Unmapped::new("error code", code))
}

/// The model's code of the same number.
///
/// # Errors
/// [`Unmapped`] where it has none.
pub fn spec_error(code: Impl) -> Result<Spec, Unmapped> {
    Spec::ALL
        .iter()
        .copied()
        .find(|known| known.number() == code as i16)
        .ok_or_else(|| Unmapped::new("error code", code))
}

#[cfg(test)]
mod tests {
    use super::{Spec, impl_error, spec_error};

    #[test]
    fn every_code_of_the_model_is_one_of_the_implementation() {
        for code in Spec::ALL {
            assert_eq!(impl_error(*code).and_then(spec_error), Ok(*code));
        }
    }
}
