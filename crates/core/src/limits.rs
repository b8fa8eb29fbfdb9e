//! Every limit of the product, in one place. A limit on everything is what keeps one partner, or
//! one mistake, from hurting the others. Those that an operator can set carry their default here;
//! units are last in the names.

use std::time::Duration;

/// A message's payload: `limits.payload_bytes`.
pub const PAYLOAD_BYTES: usize = 1024 * 1024;
/// Messages in one batch request.
pub const BATCH_MESSAGES: usize = 1000;
/// Channels of one message, and of one endpoint.
pub const CHANNELS: usize = 5;
/// Tags of one message.
pub const TAGS: usize = 5;
/// A uid, event id, channel, tag or event type.
pub const NAME_CHARS: usize = 256;
/// Event types that one endpoint may list in its filter.
pub const FILTER_EVENT_TYPES: usize = 256;
/// The URL of an endpoint.
pub const URL_BYTES: usize = 2048;
/// A description of anything.
pub const DESCRIPTION_CHARS: usize = 1024;
/// Metadata of one application or endpoint, as JSON.
pub const METADATA_BYTES: usize = 16 * 1024;
/// Extra headers of one endpoint.
pub const ENDPOINT_HEADERS: usize = 32;
/// Name and value of one extra header together.
pub const ENDPOINT_HEADER_BYTES: usize = 4096;
/// Endpoints of one application.
pub const ENDPOINTS_PER_APPLICATION: usize = 5_000;
/// Contacts of one application.
pub const CONTACTS: usize = 10;

/// Requests in flight over all endpoints: `delivery.global_concurrency` (R22).
pub const GLOBAL_CONCURRENCY: usize = 4096;
/// Part of the global slots, as one in so many, that only lanes answering within
/// [`QUICK_ANSWER`] may use (R22).
pub const QUICK_SLOTS_ONE_IN: usize = 4;
/// An answer within this time is quick: it widens its lane; a later one halves it (R22).
pub const QUICK_ANSWER: Duration = Duration::from_secs(1);
/// Requests at once to one endpoint, unless it says otherwise (R22).
pub const ENDPOINT_CONCURRENCY: u32 = 32;
/// Requests at once to an endpoint that is not known yet (R22).
pub const ENDPOINT_CONCURRENCY_START: u32 = 4;
/// The most that an endpoint may ask for as its concurrency.
pub const ENDPOINT_CONCURRENCY_MAX: u32 = 1024;
/// Requests at once to one host and port, over all applications (R22).
pub const HOST_CONCURRENCY: u32 = 64;
/// The largest `throttleRate` of an endpoint, in requests per second.
pub const THROTTLE_RATE_MAX: u32 = 65_535;
/// Deliveries of one lane that are kept in memory; the rest stays in the store (R23).
pub const LANE_WINDOW: usize = 128;

/// An endpoint's answer: status line and headers together.
pub const RESPONSE_HEADER_BYTES: usize = 64 * 1024;
/// An endpoint's answer: header fields.
pub const RESPONSE_HEADERS: usize = 100;
/// What is kept of an answer's body for the journal.
pub const RESPONSE_BODY_KEPT_BYTES: usize = 16 * 1024;

/// How long an `idempotency-key` of the caller's is remembered.
pub const IDEMPOTENCY_KEPT: Duration = Duration::from_secs(12 * 3600);
/// How long a repeated body without a key is taken for the same request, where that is asked for.
pub const IDEMPOTENCY_AUTO_KEPT: Duration = Duration::from_secs(10 * 60);
/// An `idempotency-key`.
pub const IDEMPOTENCY_KEY_BYTES: usize = 256;

/// Secrets of one endpoint that still sign beside the newest while rotations last.
pub const OLD_KEYS: usize = 10;
/// How long an old secret still signs after a rotation, unless the caller says otherwise.
pub const OLD_KEY_GRACE: Duration = Duration::from_secs(24 * 3600);

/// Entries of a page, unless the caller says otherwise.
pub const PAGE_ENTRIES: usize = 50;
/// The most entries of a page; the least is 1.
pub const PAGE_ENTRIES_MAX: usize = 250;

/// Resets of a breaker by a partner: one in this time (R17).
pub const PARTNER_RESET_EVERY: Duration = Duration::from_secs(60);
/// What a probe's lease lasts beyond the profile's time-out (R12).
pub const PROBE_LEASE_EXTRA: Duration = Duration::from_secs(5);

/// Profiles of one installation, the built-in ones included.
pub const PROFILES: usize = 256;
/// Steps of one ladder.
pub const LADDER_STEPS: usize = 64;
/// Rules of what is critical, in one profile.
pub const CRITICAL_RULES: usize = 256;
/// Values of one rule of what is critical.
pub const CRITICAL_VALUES: usize = 64;
/// Notices of one profile.
pub const NOTICES: usize = 16;
/// The shortest time-out of an attempt.
pub const TIMEOUT_MIN: Duration = Duration::from_millis(100);
/// The longest time-out of an attempt: slots are held for as long.
pub const TIMEOUT_MAX: Duration = Duration::from_secs(120);
/// The longest duration that a profile may hold.
pub const PROFILE_DURATION_MAX: Duration = Duration::from_secs(3650 * 24 * 3600);
