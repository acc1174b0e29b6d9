//! Liveness: fair cycles, stuttering, lassos.

use std::collections::BTreeSet;

use fencepost_search::models::{InitPid, InitPidAction, InitPidState};
use fencepost_search::{
    Checks, Goal, LassoError, Liveness, Options, Reason, Strength, Verdict, run_bfs, run_liveness,
};
use proptest::prelude::*;
use stateright::{Model, Property};

use crate::graph::{Graph, graphs};

#[derive(Clone, Copy, Debug)]
enum Kind {
    Eventually,
    AlwaysEventually,
    EventuallyAlways,
    LeadsTo,
}

const KINDS: [Kind; 4] = [
    Kind::Eventually,
    Kind::AlwaysEventually,
    Kind::EventuallyAlways,
    Kind::LeadsTo,
];

/// What fairness is assumed of each action number.
type Fairness = Vec<(usize, Strength)>;

fn good(graph: &Graph, state: &u8) -> bool {
    !graph.bad.contains(state)
}

fn triggered(_: &Graph, state: &u8) -> bool {
    state.is_multiple_of(3)
}

fn liveness(fairness: &Fairness) -> Liveness<Graph> {
    let mut liveness = Liveness::new();
    for kind in KINDS {
        let goal = match kind {
            Kind::Eventually => Goal::Eventually(Box::new(good)),
            Kind::AlwaysEventually => Goal::AlwaysEventually(Box::new(good)),
            Kind::EventuallyAlways => Goal::EventuallyAlways(Box::new(good)),
            Kind::LeadsTo => Goal::LeadsTo(Box::new(triggered), Box::new(good)),
        };
        liveness = liveness.property(format!("{kind:?}"), goal);
    }
    for (class, strength) in fairness {
        let class = *class;
        let name = format!("action {class}");
        liveness = liveness.fair(name, *strength, move |_, _, action| *action == class);
    }
    liveness
}

/// The oracle: tries every set of states as the set that a run visits for ever.
struct Oracle<'a> {
    graph: &'a Graph,
    fairness: &'a Fairness,
}

impl Oracle<'_> {
    fn steps(&self, state: u8) -> impl Iterator<Item = (usize, u8)> + '_ {
        let listed = self.graph.edges[usize::from(state)].iter().enumerate();
        listed.filter_map(|(action, to)| to.map(|to| (action, to)))
    }

    fn reach(&self, first: impl Iterator<Item = u8>, allowed: impl Fn(u8) -> bool) -> BTreeSet<u8> {
        let mut reached = BTreeSet::new();
        let mut to_do: Vec<u8> = first.filter(|state| allowed(*state)).collect();
        while let Some(state) = to_do.pop() {
            if reached.insert(state) {
                let next = self.steps(state).map(|(_, next)| next);
                to_do.extend(next.filter(|next| allowed(*next)));
            }
        }
        reached
    }

    /// Whether a run can visit exactly these states for ever, fairly.
    fn can_stay(&self, states: &BTreeSet<u8>) -> bool {
        let inside = |state| states.contains(&state);
        let connected = states
            .iter()
            .all(|state| self.reach([*state].into_iter(), inside) == *states);
        let enabled = |state: u8, class| {
            self.steps(state)
                .any(|(action, to)| action == class && to != state)
        };
        connected
            && self.fairness.iter().all(|(class, strength)| {
                let taken = states.iter().any(|state| {
                    let mut steps = self.steps(*state);
                    steps.any(|(action, to)| action == *class && to != *state && inside(to))
                });
                let mut here = states.iter().map(|state| enabled(*state, *class));
                taken
                    || match strength {
                        Strength::Weak => !here.all(|enabled| enabled),
                        Strength::Strong => !here.any(|enabled| enabled),
                    }
            })
    }

    fn violates(&self, kind: Kind) -> bool {
        let graph = self.graph;
        let bad = |state: u8| graph.bad.contains(&state);
        let initial = || graph.initial.iter().copied();
        let reachable = self.reach(initial(), |_| true);
        let candidates = match kind {
            Kind::Eventually => self.reach(initial(), bad),
            Kind::AlwaysEventually => reachable.into_iter().filter(|state| bad(*state)).collect(),
            Kind::EventuallyAlways => reachable,
            Kind::LeadsTo => {
                let first = reachable
                    .into_iter()
                    .filter(|state| triggered(graph, state));
                self.reach(first, bad)
            }
        };
        let candidates: Vec<u8> = candidates.into_iter().collect();
        (1u32..1 << candidates.len()).any(|chosen| {
            let set: BTreeSet<u8> = candidates
                .iter()
                .enumerate()
                .filter(|(bit, _)| chosen >> bit & 1 == 1)
                .map(|(_, state)| *state)
                .collect();
            let bad_enough = match kind {
                Kind::EventuallyAlways => set.iter().any(|state| bad(*state)),
                Kind::Eventually | Kind::AlwaysEventually | Kind::LeadsTo => true,
            };
            bad_enough && self.can_stay(&set)
        })
    }
}

/// Small enough for the oracle; without a boundary, and mostly bad, so that bad cycles occur.
fn small_graphs() -> impl Strategy<Value = Graph> {
    graphs().prop_filter_map("too large for the oracle", |mut graph| {
        graph.outside.clear();
        let states = graph.edges.len() as u8;
        graph.bad = (0..states)
            .filter(|state| !graph.bad.contains(state))
            .collect();
        (graph.edges.len() <= 8).then_some(graph)
    })
}

fn fairness() -> impl Strategy<Value = Fairness> {
    let strength = prop_oneof![Just(Strength::Weak), Just(Strength::Strong)];
    prop::collection::vec((0usize..5, strength), 0..=4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn random_graphs_agree_with_the_oracle(graph in small_graphs(), fairness in fairness()) {
        let liveness = liveness(&fairness);
        let outcome = run_liveness(&graph, &liveness, &Options::default());
        prop_assert_eq!(outcome.incomplete, None);
        let oracle = Oracle { graph: &graph, fairness: &fairness };
        for kind in KINDS {
            let lasso = outcome.violation(&format!("{kind:?}"));
            prop_assert_eq!(lasso.is_some(), oracle.violates(kind), "{:?}", kind);
            if let Some(lasso) = lasso {
                prop_assert_eq!(lasso.check(&graph, &liveness), Ok(()));
            }
        }
        prop_assert_eq!(outcome.distinct, run_bfs(&graph, &Checks::none(), &Options::default()).distinct);
    }
}

fn graph(edges: Vec<Vec<Option<u8>>>, bad: &[u8]) -> Graph {
    Graph {
        initial: vec![0],
        edges,
        bad: bad.iter().copied().collect(),
        outside: BTreeSet::new(),
    }
}

/// A model with an `eventually` property of its own.
struct Owner(Graph);

impl Model for Owner {
    type State = u8;
    type Action = usize;

    fn init_states(&self) -> Vec<u8> {
        self.0.init_states()
    }

    fn actions(&self, state: &u8, actions: &mut Vec<usize>) {
        self.0.actions(state, actions);
    }

    fn next_state(&self, state: &u8, action: usize) -> Option<u8> {
        self.0.next_state(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::eventually("good", |owner: &Owner, state| {
            good(&owner.0, state)
        })]
    }
}

#[test]
fn trap_2_a_cycle_a_self_loop_and_a_join_are_seen() {
    let cycle = vec![vec![Some(1)], vec![Some(0), Some(2)], vec![]];
    let self_loop = vec![vec![Some(0)]];
    // Two ways to 3; only the one by 2 is good, whichever is listed first.
    let join = vec![vec![Some(1), Some(2)], vec![Some(3)], vec![Some(3)], vec![]];
    let other = vec![vec![Some(2), Some(1)], vec![Some(3)], vec![Some(3)], vec![]];
    let cases = [
        (cycle, vec![0, 1], vec![0, 1, 0], 0),
        (self_loop, vec![0], vec![0], 0),
        (join, vec![0, 1, 3], vec![0, 1, 3], 2),
        (other, vec![0, 1, 3], vec![0, 1, 3], 2),
    ];
    for (edges, bad, states, loop_start) in cases {
        let owner = Owner(graph(edges, &bad));
        let liveness = Liveness::of_model(&owner);
        let outcome = run_liveness(&owner, &liveness, &Options::default());
        let lasso = outcome.violation("good").expect("a violation");
        assert_eq!(lasso.trace.states, states);
        assert_eq!(lasso.loop_start, loop_start);
        assert_eq!(lasso.stutters(), states.len() == loop_start + 1);
    }
}

#[test]
fn weak_fairness_is_not_enough_where_strong_is() {
    // 0 and 1 alternate; from 0 action 1 leads to the good state 2: enabled again and again, but never for ever.
    let model = graph(vec![vec![Some(1), Some(2)], vec![Some(0)], vec![]], &[0, 1]);
    let any = (0, Strength::Weak);
    let weak = run_liveness(
        &model,
        &liveness(&vec![any, (1, Strength::Weak)]),
        &Options::default(),
    );
    assert_eq!(
        weak.violation("Eventually").unwrap().trace.states,
        [0, 1, 0]
    );
    let strong = run_liveness(
        &model,
        &liveness(&vec![any, (1, Strength::Strong)]),
        &Options::default(),
    );
    assert_eq!(strong.verdict(), Verdict::Holds);
}

#[test]
fn without_fairness_every_run_may_stop() {
    let model = graph(vec![vec![Some(1)], vec![]], &[0]);
    let none = run_liveness(&model, &liveness(&Vec::new()), &Options::default());
    let lasso = none.violation("Eventually").unwrap();
    assert!(lasso.stutters() && lasso.trace.is_empty());
    let fair = run_liveness(
        &model,
        &liveness(&vec![(0, Strength::Weak)]),
        &Options::default(),
    );
    assert_eq!(fair.violation("Eventually"), None);
}

#[test]
fn a_forged_lasso_is_refused() {
    let model = graph(vec![vec![Some(1), Some(2)], vec![Some(0)], vec![]], &[0, 1]);
    let liveness = liveness(&vec![(0, Strength::Weak)]);
    let outcome = run_liveness(&model, &liveness, &Options::default());
    let lasso = outcome.violation("Eventually").unwrap();
    let mut other = lasso.clone();
    other.property = "no such".to_owned();
    assert!(matches!(
        other.check(&model, &liveness),
        Err(LassoError::NoSuchProperty(_))
    ));
    let mut other = lasso.clone();
    other.trace.states[1] = 2;
    assert_eq!(other.check(&model, &liveness), Err(LassoError::NotAStep(1)));
    let mut other = lasso.clone();
    other.trace.states.pop();
    other.trace.actions.pop();
    assert_eq!(other.check(&model, &liveness), Err(LassoError::NotClosed));
    let mut other = lasso.clone();
    other.trace.states = vec![0];
    other.trace.actions.clear();
    assert_eq!(
        other.check(&model, &liveness),
        Err(LassoError::NotFair("action 0".to_owned()))
    );
    let mut other = lasso.clone();
    other.trace.states = vec![1, 0, 1];
    assert_eq!(other.check(&model, &liveness), Err(LassoError::NotInitial));
    let mut other = lasso.clone();
    other.trace.states = vec![0, 2];
    other.trace.actions = vec![1];
    other.loop_start = 1;
    assert_eq!(other.check(&model, &liveness), Err(LassoError::Holds));
}

#[test]
fn bounds_make_a_liveness_run_incomplete() {
    let chain = (1..100)
        .map(|next| vec![Some(next)])
        .chain([vec![]])
        .collect();
    let model = graph(chain, &[]);
    let liveness = liveness(&vec![(0, Strength::Weak)]);
    let options = Options {
        max_depth: Some(10),
        ..Options::default()
    };
    let outcome = run_liveness(&model, &liveness, &options);
    assert_eq!(outcome.verdict(), Verdict::Incomplete(Reason::MaxDepth));
    assert_eq!(outcome.distinct, 10);
}

/// The InitPidRequest model's own liveness property, under its own fairness; `send` is the strength for requests.
fn init_pid_liveness(send: Strength) -> Liveness<InitPid> {
    let mut liveness = Liveness::new().property(
        "all clients get a producer id",
        Goal::EventuallyAlways(Box::new(|model: &InitPid, state: &InitPidState| {
            state.all_have_pid(model)
        })),
    );
    for client in 0..2u8 {
        for broker in 0..2u8 {
            liveness = liveness
                .fair(
                    format!("send {client} {broker}"),
                    send,
                    move |_, _, action| {
                        matches!(action, InitPidAction::SendRequest { client: c, broker: b, .. }
                        if (*c, *b) == (client, broker))
                    },
                )
                .fair(
                    format!("receive {client} {broker}"),
                    Strength::Weak,
                    move |_, _, action| {
                        matches!(action, InitPidAction::ReceiveRequest { client: c, broker: b, .. }
                        if (*c, *b) == (client, broker))
                    },
                );
        }
        liveness = liveness.fair(format!("answer {client}"), Strength::Weak, move |_, _, action| {
            matches!(action, InitPidAction::ReceiveRefusal { client: c, .. } | InitPidAction::ReceiveGrant { client: c }
                if *c == client)
        });
    }
    liveness.fair("complete", Strength::Weak, |_, _, action| {
        matches!(action, InitPidAction::Complete { .. })
    })
}

#[test]
fn clients_get_their_producer_id_only_if_requests_are_strongly_fair() {
    // A client that always asks the wrong broker is fair to the right one, weakly: asking disables asking.
    let model = InitPid::new(2, 1, 1);
    let strong = run_liveness(
        &model,
        &init_pid_liveness(Strength::Strong),
        &Options::default(),
    );
    assert_eq!(strong.verdict(), Verdict::Holds);
    assert_eq!((strong.distinct, strong.edges), (484, 860));
    let weak = run_liveness(
        &model,
        &init_pid_liveness(Strength::Weak),
        &Options::default(),
    );
    let lasso = &weak.violations[0];
    assert!(!lasso.stutters());
    assert_eq!(
        lasso.check(&model, &init_pid_liveness(Strength::Weak)),
        Ok(())
    );
}
