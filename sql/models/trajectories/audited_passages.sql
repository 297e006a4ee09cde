{{ config(materialized='ephemeral') }}
-- One row per drawn visit that the audit saw passing, and ruleset that judges it: whether it was on time, and how
-- probable that was by what was observed of its trip elsewhere. Visits that the planner would have observed anyway are
-- left out, and those of a trip whose departure is a guess: whether these were on time is not known.
with audited as (
    select
        operator,
        service_date,
        departure_key,
        position,
        inclusion_probability,
        scheduled_at,
        delay_seconds
    from {{ built('audit_visits') }}
    where result = 'passed' and punctuality_point is not null and n_audit_requests > 0
),

compared as (
    select
        audited.*,
        calls.is_guessed,
        expected.line_code,
        expected.direction,
        expected.side,
        expected.expected_seconds,
        expected.error_seconds,
        shares.shares,
        judging.ruleset,
        judging.early_seconds,
        judging.late_seconds
    from audited
    inner join {{ built('due_calls') }} as calls using (operator, service_date, departure_key, position)
    inner join {{ built('expected_delays') }} as expected using (operator, service_date, departure_key, position)
    inner join {{ built('error_shares') }} as shares using (operator, service_date, side, shape_class)
    {{ join_judging_rulesets('calls') }} and not {{ is_frequent_passage('calls') }} and expected.holdout = 1
)

select
    ruleset,
    operator,
    service_date,
    departure_key,
    position,
    line_code,
    direction,
    side,
    scheduled_at,
    case
        when delay_seconds < coalesce(early_seconds, delay_seconds) or delay_seconds > late_seconds then 0 else 1
    end as is_on_time,
    -- in thousandths, as a whole number, so that sums do not depend on the order
    cast(round(1000 / inclusion_probability) as bigint) as weight,
    cast(
        {{ share_up_to("shares", "((late_seconds + 0.5 - expected_seconds) / error_seconds)") }}
        - case
            when early_seconds is null then 0
            else {{ share_up_to("shares", "((early_seconds - 0.5 - expected_seconds) / error_seconds)") }}
        end
        as decimal(7, 6)
    ) as on_time_probability
from compared
where not is_guessed
