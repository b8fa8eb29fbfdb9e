//! Whatever happens to several endpoints together: the laws hold, and every wait has an end.

use std::{sync::Arc, time::Duration};

use gonets_core::{
    gate::Scope,
    ids::{AppNo, EndpointNo},
    notice::NoticeKind,
    outcome::Outcome,
    profile::{Profile, builtin},
};
use gonets_dispatch::{config::Bounds, input::Input};
use proptest::prelude::*;

use crate::world::{Answer, BEGIN, World, secs};

const DAY: Duration = secs(86_400);
const ENDPOINTS: u32 = 5;

/// From an instant, for a while, an endpoint answers like this.
#[derive(Clone, Copy, Debug)]
struct Weather {
    endpoint: u32,
    from: Duration,
    lasts: Duration,
    answer: Answer,
}

#[derive(Clone, Copy, Debug)]
enum Doing {
    Post { endpoint: u32, critical: bool, kind: u32 },
    ByHand { endpoint: u32 },
    Freeze { endpoint: u32, frozen: bool },
    Disable { endpoint: u32, disabled: bool },
    Order { endpoint: u32, ordered: bool },
    Profile { app: u32, profile: usize },
    Reset { app: u32 },
    Lift { endpoint: u32 },
    Ended { endpoint: u32 },
    Restart,
}

fn answer() -> impl Strategy<Value = Answer> {
    let outcome = prop_oneof![
        4 => Just(Outcome::Unavailable),
        2 => Just(Outcome::Refused),
        2 => Just(Outcome::Throttled),
        1 => Just(Outcome::Misdirected),
        1 => Just(Outcome::Blocked),
        1 => Just(Outcome::Interrupted),
        1 => Just(Outcome::Gone),
        2 => Just(Outcome::Delivered),
    ];
    (outcome, prop::option::weighted(0.3, 1..2_000u64), prop_oneof![4 => Just(20), 1 => 1_000..30_000u64])
        .prop_map(|(outcome, asked, took)| {
            let asked = asked.filter(|_| matches!(outcome, Outcome::Throttled | Outcome::Unavailable));
            Answer { retry_after: asked.map(secs), ..Answer::of(outcome).after(Duration::from_millis(took)) }
        })
}

fn weather() -> impl Strategy<Value = Weather> {
    let span = prop_oneof![0..3_600u64, 0..259_200u64];
    (0..ENDPOINTS, span.clone(), span, answer()).prop_map(|(endpoint, from, lasts, answer)| Weather {
        endpoint,
        from: secs(from),
        lasts: secs(lasts),
        answer,
    })
}

fn doing() -> impl Strategy<Value = Doing> {
    let endpoint = 0..ENDPOINTS;
    prop_oneof![
        20 => (endpoint.clone(), any::<bool>(), 0..3u32)
            .prop_map(|(endpoint, critical, kind)| Doing::Post { endpoint, critical, kind }),
        2 => endpoint.clone().prop_map(|endpoint| Doing::ByHand { endpoint }),
        1 => (endpoint.clone(), any::<bool>()).prop_map(|(endpoint, frozen)| Doing::Freeze { endpoint, frozen }),
        1 => (endpoint.clone(), any::<bool>())
            .prop_map(|(endpoint, disabled)| Doing::Disable { endpoint, disabled }),
        1 => (endpoint.clone(), any::<bool>()).prop_map(|(endpoint, ordered)| Doing::Order { endpoint, ordered }),
        1 => (0..2u32, 0..3usize).prop_map(|(app, profile)| Doing::Profile { app, profile }),
        1 => (0..2u32).prop_map(|app| Doing::Reset { app }),
        1 => endpoint.clone().prop_map(|endpoint| Doing::Lift { endpoint }),
        1 => endpoint.prop_map(|endpoint| Doing::Ended { endpoint }),
        1 => Just(Doing::Restart),
    ]
}

fn profiles() -> [Arc<Profile>; 3] {
    [builtin::payments(), builtin::standard(), builtin::svix()].map(Arc::new)
}

fn app_of(endpoint: u32) -> u32 {
    endpoint % 2
}

fn act(world: &mut World, doing: Doing) {
    match doing {
        Doing::Post { endpoint, critical, kind } => _ = world.post_kind(endpoint, critical, kind),
        Doing::ByHand { endpoint } => {
            let no = EndpointNo(endpoint);
            let idle =
                world.stored[&no].waiting.keys().copied().find(|message| !world.shard.is_busy(no, *message));
            let disabled = world.lanes[&no].disabled || world.gate(Scope::Endpoint(no)).disabled.is_some();
            if let Some(message) = idle.filter(|_| !disabled) {
                world.retry_by_hand(endpoint, message);
            }
        }
        Doing::Freeze { endpoint, frozen } => world.change(endpoint, |config| config.frozen = frozen),
        Doing::Disable { endpoint, disabled: true } => {
            world.change(endpoint, |config| config.disabled = true)
        }
        Doing::Disable { endpoint, disabled: false } => world.enable(endpoint),
        Doing::Order { endpoint, ordered } => world.change(endpoint, |config| config.ordered = ordered),
        Doing::Profile { app, profile } => {
            for endpoint in (0..ENDPOINTS).filter(|endpoint| app_of(*endpoint) == app) {
                world.change(endpoint, |config| config.profile = Arc::clone(&profiles()[profile]));
            }
        }
        Doing::Reset { app } => world.step(vec![Input::Reset { scope: Scope::Application(AppNo(app)) }]),
        Doing::Lift { endpoint } => world.step(vec![Input::Lifted { endpoint: EndpointNo(endpoint) }]),
        Doing::Ended { endpoint } => world.step(vec![Input::Ended { endpoint: EndpointNo(endpoint) }]),
        Doing::Restart => world.restart(secs(3)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn r11_r24_the_laws_hold_and_every_wait_has_an_end(
        weather in prop::collection::vec(weather(), 0..16),
        doings in prop::collection::vec((prop_oneof![3 => 0..60u64, 1 => 0..20_000u64], doing()), 1..160),
        first in prop::collection::vec(0..3usize, 2),
        slots in 2..40usize,
        lag in prop_oneof![Just(0), 1..50u64, 1_000..20_000u64],
    ) {
        let bounds = Bounds { global_slots: slots, host_slots: 8, window: 8 };
        let sky = weather.clone();
        let mut world = World::with_bounds(bounds, move |send, now| {
            let since = now.since(BEGIN);
            let of = |w: &&Weather| w.endpoint == send.endpoint.0 && since >= w.from && since < w.from + w.lasts;
            sky.iter().rev().find(of).map_or(Answer::of(Outcome::Delivered), |weather| weather.answer)
        });
        world.lag = Duration::from_millis(lag);
        for endpoint in 0..ENDPOINTS {
            let app = app_of(endpoint);
            world.endpoint(endpoint, app, &profiles()[first[app as usize]]);
        }
        for (wait, doing) in doings {
            world.pass(secs(wait));
            act(&mut world, doing);
        }
        // Whatever was shut by hand is opened, and the weather clears.
        for _ in 0..6 {
            for endpoint in 0..ENDPOINTS {
                world.change(endpoint, |config| config.frozen = false);
                world.enable(endpoint);
            }
            world.pass(DAY);
        }
        for (endpoint, stored) in &world.stored {
            prop_assert!(
                stored.waiting.is_empty() && stored.by_hand.is_empty(),
                "{endpoint:?} keeps {:?}, held by {:?}",
                stored.waiting,
                stored.waiting.keys().next().map(|message| world.shard.hold(*endpoint, *message)),
            );
        }
    }
}

/// An outage of everything at once, from an instant for a while; and whether a host besides is down for
/// most of the time.
fn outage() -> impl Strategy<Value = ((u64, u64), Option<u32>)> {
    ((40..500u64, 10..300u64), prop::option::of(0..24u32))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn r27_an_outage_of_everything_costs_nothing_and_ends(
        ((from, lasts), down) in outage(),
        every in 100..400u64,
        took in 5..3_000u64,
    ) {
        let hosts = 24;
        let mut world = World::new(move |send, now| {
            let since = now.since(BEGIN).as_secs();
            if (from..from + lasts).contains(&since) || (down == Some(send.endpoint.0) && since < 1_000) {
                return Answer::unreached().after(Duration::from_millis(took));
            }
            Answer::of(Outcome::Delivered)
        });
        for endpoint in 0..hosts {
            world.endpoint(endpoint, endpoint, &profiles()[0]);
        }
        for n in 0..600_000 / every {
            world.post(n as u32 % hosts, n % 3 == 0);
            world.pass(Duration::from_millis(every));
        }
        world.pass(secs((from + lasts).saturating_sub(world.since_begin().as_secs()) + 11));
        prop_assert_eq!(world.count(NoticeKind::SendingPaused), 1);
        prop_assert!(world.shard.sending_paused_since().is_none(), "it goes on within ten seconds");
        world.pass(DAY * 2);
        for (endpoint, stored) in &world.stored {
            prop_assert!(stored.waiting.is_empty());
            let spent = stored.ended.values().filter(|(_, row, _)| row.progress.outage > 0).count();
            prop_assert!(spent == 0 || down == Some(endpoint.0), "{endpoint:?} lost {spent} steps");
        }
    }
}
