{{ config(materialized='ephemeral') }}
-- One row per drawn visit that the audit saw passing: whether it was on time, and how probable that was by what was
-- observed of its trip elsewhere. Visits that the planner would have observed anyway are left out.
with audited as (
    select
        operator,
        service_date,
        departure_key,
        position,
        inclusion_probability,
        scheduled_at,
        case when punctuality_point = 'on_time' then 1 else 0 end as is_on_time
    from {{ built('audit_visits') }}
    where result = 'passed' and punctuality_point is not null and n_audit_requests > 0
),

compared as (
    select
        audited.*,
        expected.line_code,
        expected.direction,
        expected.side,
        expected.expected_seconds,
        expected.error_seconds,
        shares.shares,
        rules.early_seconds,
        rules.late_seconds
    from audited
    inner join {{ ref('expected_delays') }} as expected using (operator, service_date, departure_key, position)
    inner join {{ built('error_shares') }} as shares using (operator, service_date, side, gap_class)
    {{ join_rules('audited.service_date') }}
    where expected.holdout = 1
)

select
    operator,
    service_date,
    departure_key,
    position,
    line_code,
    direction,
    side,
    scheduled_at,
    is_on_time,
    -- in thousandths, as a whole number, so that sums do not depend on the order
    cast(round(1000 / inclusion_probability) as bigint) as weight,
    cast(
        {{ share_up_to("shares", "((late_seconds + 0.5 - expected_seconds) / error_seconds)") }}
        - {{ share_up_to("shares", "((early_seconds - 0.5 - expected_seconds) / error_seconds)") }}
        as decimal(7, 6)
    ) as on_time_probability
from compared
