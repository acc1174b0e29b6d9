use super::TransactionState::{
    self, CompleteAbort, CompleteCommit, Dead, Empty, Ongoing, PrepareAbort, PrepareCommit,
    PrepareEpochFence,
};

#[test]
fn each_state_may_be_entered_from_these_and_no_others() {
    let rows: [(TransactionState, &[TransactionState]); 8] = [
        (Empty, &[Empty, CompleteCommit, CompleteAbort]),
        (Ongoing, &[Empty, Ongoing, CompleteCommit, CompleteAbort]),
        (PrepareCommit, &[Ongoing]),
        (
            PrepareAbort,
            &[
                Empty,
                Ongoing,
                CompleteCommit,
                CompleteAbort,
                PrepareEpochFence,
            ],
        ),
        (CompleteCommit, &[PrepareCommit]),
        (CompleteAbort, &[PrepareAbort]),
        (Dead, &[Empty, CompleteCommit, CompleteAbort]),
        (PrepareEpochFence, &[Ongoing]),
    ];
    for (state, from) in rows {
        let legal: Vec<TransactionState> = TransactionState::ALL
            .into_iter()
            .filter(|previous| state.may_follow(*previous))
            .collect();
        assert_eq!(legal, from, "{state:?}");
    }
}

#[test]
fn numbers_names_and_expiry_are_kafkas() {
    let rows = [
        (Empty, 0, "Empty", true, true),
        (Ongoing, 1, "Ongoing", false, true),
        (PrepareCommit, 2, "PrepareCommit", false, true),
        (PrepareAbort, 3, "PrepareAbort", false, true),
        (CompleteCommit, 4, "CompleteCommit", true, true),
        (CompleteAbort, 5, "CompleteAbort", true, true),
        (Dead, 6, "Dead", false, false),
        (PrepareEpochFence, 7, "PrepareEpochFence", false, false),
    ];
    for (state, status, name, expires, persisted) in rows {
        assert_eq!(
            (state.status(), state.name(), state.may_expire()),
            (status, name, expires)
        );
        assert_eq!(
            TransactionState::from_record(status),
            persisted.then_some(state)
        );
    }
    assert_eq!(TransactionState::from_record(8), None);
    assert_eq!(TransactionState::from_record(-1), None);
}
