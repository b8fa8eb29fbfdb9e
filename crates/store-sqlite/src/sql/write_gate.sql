INSERT OR REPLACE INTO gate (
    scope, breaker, pause_ms, until, probe_endpoint, probe_msg, lease_until, throttled_until,
    throttles, failing_since, failures, noticed, disabled_since, disabled_why, frozen, cancel_through
) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
