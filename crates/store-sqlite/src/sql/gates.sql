SELECT
    scope, breaker, pause_ms, until, probe_endpoint, probe_msg, lease_until, throttled_until,
    throttles, failing_since, failures, noticed, disabled_since, disabled_why, frozen, cancel_through
FROM gate
ORDER BY scope
