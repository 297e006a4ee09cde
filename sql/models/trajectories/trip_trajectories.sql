{{ config(schema='core') }}
-- One row per due call: when its bus passed, observed or not, with bounds, and how late it was, with
-- probabilities. A call is due for each departure in force that is not known not to have run, at each stop of its leg.
with passages as (
    select
        passages.*,
        'default' as ruleset,
        rules.early_seconds,
        rules.late_seconds
    from {{ built('estimated_passages') }} as passages
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
),

{{ passage_verdicts('passages') }}

select
    departure_key,
    operator,
    service_date,
    line_code,
    direction,
    leg,
    departure_at,
    position,
    stops.stop_sequence,
    verdicts.stop_code,
    service_hour,
    trip_key,
    visit_key,
    match_score,
    scheduled_at,
    schedule_source,
    {{ rounded('schedule_error_seconds', 1) }} as schedule_error_seconds,
    passed_at,
    hard_after as passed_after,
    hard_before as passed_before,
    case
        when is_seen and not is_guessed then arrival_quality
        when side = 'between' then 'interpolated'
        when side like 'none%' then 'expected'
        else 'extrapolated'
    end as arrival_quality,
    cast(round(expected_seconds) as bigint) as delay_seconds,
    {{ rounded('error_seconds', 1) }} as delay_error_seconds,
    early_probability,
    on_time_probability,
    late_probability,
    -- errors of seconds are alike along the whole trip, even of evidenced passages: they come of the same predictions
    -- of the same vehicle
    cast(
        {{ as_decimal("error_seconds", 9, 1) }}
        * sum({{ as_decimal("error_seconds", 9, 1) }}) over (partition by departure_key)
        + delay_stop_variance
        + delay_line_variance
        as decimal(18, 6)
    ) as delay_variance,
    early_variance,
    on_time_variance,
    late_variance,
    delay_stop_variance,
    early_stop_variance,
    on_time_stop_variance,
    late_stop_variance,
    {{ as_decimal('common_error', 7, 6) }} as common_error,
    ruleset_version
from verdicts
left join {{ built('leg_stops') }} as stops using (operator, service_date, line_code, direction, leg, position)
