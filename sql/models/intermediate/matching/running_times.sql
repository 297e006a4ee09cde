-- One row per operator, service_date, line, direction, leg, position and service_hour of departure: the scheduled
-- running time from where the leg begins, learned from timetable listings and the departures they seem to belong to.
-- The row without an hour speaks for the whole day. Times that differ too much between trips are no pattern.
with offsets as (
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        position,
        service_hour,
        {{ seconds_between('departure_at', 'theoretical_at') }} as offset_seconds
    from {{ ref('departure_guesses') }}
    where {{ is_built() }} and theoretical_at >= departure_at
)

select
    offsets.operator,
    offsets.service_date,
    offsets.line_code,
    offsets.direction,
    offsets.leg,
    offsets.position,
    offsets.service_hour,
    count(*) as n_trips,
    median(offsets.offset_seconds) as offset_seconds,
    -- between most trips: a few may have been guessed to be their neighbours
    greatest(
        percentile_cont(0.9) within group (order by offsets.offset_seconds)
        - percentile_cont(0.1) within group (order by offsets.offset_seconds),
        0
    ) as spread_seconds,
    max(rules.ruleset_version) as ruleset_version
from (
    select * from offsets
    union all
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        position,
        null as service_hour,
        offset_seconds
    from offsets
) as offsets
{{ join_rules('offsets.service_date') }}
group by
    offsets.operator, offsets.service_date, offsets.line_code, offsets.direction, offsets.leg,
    offsets.position, offsets.service_hour
having
    count(*) >= max(rules.pattern_min_trips)
    and percentile_cont(0.9) within group (order by offsets.offset_seconds)
    - percentile_cont(0.1) within group (order by offsets.offset_seconds) <= max(rules.pattern_spread_seconds)
