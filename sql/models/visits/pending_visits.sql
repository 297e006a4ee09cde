{{ config(materialized='ephemeral') }}
-- One row per visit that was listed live, and still expected when collecting ended or paused: no visit, as its end was
-- not observed, but its trip was under way.
select
    listed.operator,
    listed.service_date,
    listed.listed_id,
    listed.stop_code,
    listed.line_label,
    listed.is_slash_variant,
    coalesce(listed.destination, '') as destination,
    coalesce(listed.theoretical_at, listed.last_predicted_at) as expected_at
from {{ built('listed_visits') }} as listed
left join {{ built('visit_evidence') }} as ended using (operator, service_date, listed_id, stop_code, first_seen_at)
where
    listed.n_polls > 0
    and ended.operator is null
