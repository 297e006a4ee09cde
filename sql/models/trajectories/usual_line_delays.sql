{{ config(materialized=inlined()) }}
-- One row per due call: the delay to expect where nothing is known of its trip nor of the stop, learned from the other
-- trips of the date. It goes by how long after the departure it is due, by hour, by line and direction, and by these
-- and hour. Each of these counts as far as its groups differ by more than chance does.
{%- set levels = {
    "hours": ["hour"], "lines": ["line_code", "direction"], "line_hours": ["line_code", "direction", "hour"]
} %}
with calls as (
    select
        departure_key,
        operator,
        service_date,
        line_code,
        direction,
        position,
        {{ quotient("scheduled_seconds", 3600) }} as hour,
        -- the first stop, the last one, and between them by ten minutes
        case
            when is_first_stop then -1
            when is_last_stop then -2
            else least(cast(floor(running_seconds / 600) as bigint), 6)
        end as stage,
        case when arrival_quality = 'evidenced' and is_timed then delay_seconds end as delay_seconds,
        case when is_told then delay_seconds end as told_delay_seconds
    from {{ built('due_calls') }}
),

days as (
    select
        operator,
        service_date,
        coalesce(avg(delay_seconds), 0) as day_delay_seconds
    from calls
    group by operator, service_date
),

stages as (
    select
        calls.operator,
        calls.service_date,
        calls.stage,
        cast(round(coalesce(avg(calls.delay_seconds), max(days.day_delay_seconds))) as bigint) as stage_delay_seconds
    from calls
    inner join days using (operator, service_date)
    group by calls.operator, calls.service_date, calls.stage
),

trips as (
    -- one value for each trip and hour: the passages of a trip are late together
    select
        calls.departure_key,
        calls.operator,
        calls.service_date,
        calls.line_code,
        calls.direction,
        calls.hour,
        cast(round(avg(calls.delay_seconds - stages.stage_delay_seconds)) as bigint) as above_seconds
    from calls
    inner join stages using (operator, service_date, stage)
    where calls.delay_seconds is not null
    group by
        calls.departure_key, calls.operator, calls.service_date, calls.line_code, calls.direction, calls.hour
)
{{- values_above_groups(levels, "trips") }},
{%- for level, keys in levels.items() %}

    {{ level }}_own as (
        select
            departure_key,
            {{- " hour," if "hour" in keys }}
            sum(level_seconds) as own_sum,
            count(*) as n_own
        from {{ level }}_trips
        group by departure_key{{ ", hour" if "hour" in keys }}
    ),
{%- endfor %}

expected as (
    select
        calls.departure_key,
        calls.operator,
        calls.service_date,
        calls.line_code,
        calls.direction,
        calls.position,
        calls.told_delay_seconds,
        stages.stage_delay_seconds
        {%- for level in levels %}
            + {{ mean_of_group(
                "(coalesce(" ~ level ~ ".above_sum, 0) - coalesce(" ~ level ~ "_own.own_sum, 0))",
                "(coalesce(" ~ level ~ ".n_trips, 0) - coalesce(" ~ level ~ "_own.n_own, 0))",
                level ~ "_variances.group_variance",
                level ~ "_variances.trip_variance"
            ) }}
        {%- endfor %} as exact_usual_delay_seconds
    from calls
    inner join stages using (operator, service_date, stage)
    {%- for level, keys in levels.items() %}
        left join {{ level }} using ({{ of_days(keys) }})
        left join {{ level }}_own using (departure_key{{ ", hour" if "hour" in keys }})
        left join {{ level }}_variances using (operator, service_date)
    {%- endfor %}
)

select
    departure_key,
    operator,
    service_date,
    line_code,
    direction,
    position,
    cast(round(exact_usual_delay_seconds) as bigint) as usual_line_delay_seconds,
    told_delay_seconds - usual_line_delay_seconds as above_seconds
from expected
