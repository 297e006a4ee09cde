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

guessed as (
    select
        audited.*,
        guesses.line_code,
        guesses.direction,
        guesses.side,
        shares.shares,
        rules.early_seconds,
        rules.late_seconds,
        {{ expected_delay('guesses', 'errors') }} as expected_seconds,
        errors.error_seconds * coalesce(lines.factor, 1) as error_seconds
    from audited
    inner join {{ ref('delay_guesses') }} as guesses
        on
            audited.departure_key = guesses.departure_key
            and audited.position = guesses.position
            and guesses.holdout = 1
    inner join {{ built('delay_errors') }} as errors
        on
            guesses.operator = errors.operator
            and guesses.service_date = errors.service_date
            and guesses.side = errors.side
            and guesses.gap_class = errors.gap_class
            and guesses.delay_class = errors.delay_class
    inner join {{ built('error_shares') }} as shares
        on
            guesses.operator = shares.operator
            and guesses.service_date = shares.service_date
            and guesses.side = shares.side
    left join {{ built('line_errors') }} as lines
        on
            guesses.operator = lines.operator
            and guesses.service_date = lines.service_date
            and guesses.line_code = lines.line_code
            and guesses.direction = lines.direction
    {{ join_rules('audited.service_date') }}
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
from guessed
