{{ config(materialized=inlined()) }}
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
    listed.expected_at
from {{ built('listed_visits') }} as listed
left join {{ built('visit_evidence') }} as ended using (listed_visit_key)
where
    listed.n_polls > 0
    and ended.operator is null
