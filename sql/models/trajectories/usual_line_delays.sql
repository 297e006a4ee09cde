{{ config(materialized=inlined()) }}
-- One row per due call: the delay to expect where nothing is known of its trip nor of the stop, learned from the other
-- trips of the date. It goes by how far along the way the call is (way_delays), by hour, by line and direction, and by
-- these and hour. Each of these counts as far as its groups differ by more than chance does.
{%- set levels = {
    "hours": ["hour"], "lines": ["line_code", "direction"], "line_hours": ["line_code", "direction", "hour"]
} %}
with days as (
    select
        operator,
        service_date,
        coalesce(avg(delay_seconds - later_seconds), 0) as first_stop_seconds
    from {{ ref('way_delays') }}
    group by operator, service_date
),

trips as (
    -- one value for each trip and hour: the passages of a trip are late together
    select
        later.departure_key,
        later.operator,
        later.service_date,
        later.line_code,
        later.direction,
        later.hour,
        cast(round(avg(later.delay_seconds - later.later_seconds - days.first_stop_seconds)) as bigint)
            as above_seconds
    from {{ ref('way_delays') }} as later
    inner join days using (operator, service_date)
    where later.delay_seconds is not null
    group by
        later.departure_key, later.operator, later.service_date, later.line_code, later.direction, later.hour
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
        later.departure_key,
        later.operator,
        later.service_date,
        later.line_code,
        later.direction,
        later.position,
        later.told_delay_seconds,
        later.later_seconds + days.first_stop_seconds
        {%- for level in levels %}
            + {{ mean_of_group(
                "(coalesce(" ~ level ~ ".above_sum, 0) - coalesce(" ~ level ~ "_own.own_sum, 0))",
                "(coalesce(" ~ level ~ ".n_trips, 0) - coalesce(" ~ level ~ "_own.n_own, 0))",
                level ~ "_variances.group_variance",
                level ~ "_variances.trip_variance"
            ) }}
        {%- endfor %} as exact_usual_delay_seconds,
        sqrt({{ error_variance_of_group(
            "(coalesce(lines.n_trips, 0) - coalesce(lines_own.n_own, 0))", "lines_variances.group_variance",
            "lines_variances.trip_variance"
        ) }}) as usual_line_error_seconds
    from {{ ref('way_delays') }} as later
    inner join days using (operator, service_date)
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
    -- of all buses of the line, by the number of trips that tell
    usual_line_error_seconds,
    told_delay_seconds - usual_line_delay_seconds as above_seconds
from expected
