{{ config(materialized='ephemeral') }}
{%- set levels = {"hours": ["hour"], "lines": ["line_code", "direction"]} %}
{%- set delay_seconds = seconds_between("matches.departure_at", "trips.left_at") %}
-- One row per trip without a match by timetable times, and leg that it may run as: when it left the origin of the leg,
-- since when it was live, and how late buses usually leave then.
-- How late is learned from trips matched by timetable times: of the hour, and of the line and direction, each as far as
-- its groups differ by more than chance does.
with visits as (
    -- when it left the origin, computed from each of its stops
    select
        *,
        coalesce({{ add_seconds('passed_at', '-day_running_seconds') }}, estimated_departure_at) as left_at,
        row_number() over (partition by trip_key, leg order by position, visit_number, stop_code) as nth_stop
    from {{ built('leg_visits') }}
    where first_live_at is not null and not is_anonymous
),

trips as (
    select
        *,
        cast(floor({{ microseconds('left_at') }} / 3.6e9) as bigint) as hour
    from (
        select
            trip_key,
            operator,
            service_date,
            trip_id,
            line_code,
            direction,
            leg,
            origin_position,
            case
                -- it may have started at any stop: the first known one is taken for the origin
                when origin_position is null then min(passed_at)
                else
                    coalesce(
                        min(case when position = origin_position then passed_at end),
                        -- the stops nearest to the origin are most accurate, because a bus may be faster or slower than
                        -- usual
                        median(case when nth_stop <= 5 then left_at end)
                    )
            end as left_at,
            coalesce(min(from_origin_seconds), 0) as from_origin_seconds,
            {{ trip_live_from() }} as first_live_at,
            max(passed_after) as last_live_at,
            rank() over (partition by trip_key order by count(*) desc, line_code, direction) as nth
        from visits
        group by trip_key, operator, service_date, trip_id, line_code, direction, leg, origin_position
    ) as ranked
    where nth = 1
),

delays as (
    -- of matched trips; of one that is far too late the match is wrong
    select
        trips.*,
        cast(round(least(
            greatest({{ delay_seconds }}, -parameters.match_early_seconds), parameters.match_late_seconds
        )) as bigint) as delay_seconds
    from trips
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ built('timetable_matches') }} as matches using (trip_key, leg)
),

days as (
    -- a few trips say little, and count with what is usual elsewhere
    select
        dates.operator,
        dates.service_date,
        cast(round({{ leaning_mean(
            "sum(delays.delay_seconds)", "count(delays.delay_seconds)", "max(parameters.usual_delay_seconds)",
            "max(parameters.error_passages)"
        ) }}) as bigint) as day_seconds,
        -- those only seen live vary more than those matched by timetable times
        cast(round(max(parameters.match_spread_factor) * sqrt({{ leaning_mean(
            "count(delays.delay_seconds) * var_pop(delays.delay_seconds)", "count(delays.delay_seconds)",
            "power(max(parameters.match_spread_seconds / parameters.match_spread_factor), 2)",
            "max(parameters.error_passages)"
        ) }})) as bigint) as spread_seconds
    from {{ watched_dates() }} as dates
    cross join {{ ref('inference_parameters') }} as parameters
    left join delays using (operator, service_date)
    group by dates.operator, dates.service_date
),

above_days as (
    select
        delays.* exclude (delay_seconds),
        delays.delay_seconds - days.day_seconds as above_seconds
    from delays
    inner join days using (operator, service_date)
)
{{- values_above_groups(levels, "above_days") }}

select
    trips.*,
    min(trips.first_live_at) over (partition by trips.operator, trips.service_date) as collected_since,
    days.day_seconds
    {%- for level in levels %}
        + {{ mean_of_level(level) }}
    {%- endfor %} as usual_delay_seconds,
    days.spread_seconds
from trips
inner join days using (operator, service_date)
{%- for level, keys in levels.items() %}
    left join {{ level }} using ({{ of_days(keys) }})
    left join {{ level }}_variances using (operator, service_date)
{%- endfor %}
left join {{ built('timetable_matches') }} as matches using (trip_key)
where matches.trip_key is null
