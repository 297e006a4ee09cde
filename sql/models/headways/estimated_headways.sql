-- One row per operator, service_date, line, direction, stop and service_hour of stops at which a line is frequent: the
-- headways of all buses, observed or not, as expected count, sum and sum of squares, with the variance of the latter;
-- and how many of them are bunched and gaps, with variances.
-- They are the mean of several draws: in each, every bus passes at a time that is possible for it, or not at all, as
-- probable as that is. Stops between two known ones share the error of the trip; so the errors of the stops of a line
-- belong together, and line_variance adds up over them.
{%- set stop_hour = "operator, service_date, line_code, direction, stop_code, service_hour" %}
with draws as (
    -- the share that did not run is one for all departures of a draw, and lies between its bounds
    select
        cast(numbers.number as bigint) as number,
        (numbers.number - 0.5) / parameters.headway_draws as part
    from {{ numbers(100) }} as numbers
    inner join {{ ref('inference_parameters') }} as parameters on numbers.number <= parameters.headway_draws
),

drawn as (
    select
        buses.*,
        draws.number,
        cast(round(least(
            greatest(
                buses.passed_seconds
                + buses.error_seconds * {{ normal_draw("buses.bus_key, buses.stretch_number, draws.number") }},
                coalesce(buses.earliest_seconds, buses.passed_seconds - 6 * buses.error_seconds)
            ),
            coalesce(buses.latest_seconds, buses.passed_seconds + 6 * buses.error_seconds)
        )) as bigint) as drawn_seconds
    from {{ built('possible_buses') }} as buses
    cross join draws
    where
        -- steps of the golden ratio fill the numbers from 0 to 1 evenly: a bus is missing from as many draws as it
        -- should be
        (chance(concat_ws('|', buses.bus_key)) + draws.number * 0.6180339887) % 1
        >= buses.not_run_share_low + (buses.not_run_share_high - buses.not_run_share_low) * draws.part
        and 0 = case
            when
                buses.part_before
                < chance(concat_ws('|', buses.service_date, buses.line_code, buses.direction, draws.number))
                then buses.is_skipped_before
            else buses.is_skipped_after
        end
),

headways as (
    select
        *,
        drawn_seconds - lag(drawn_seconds) over stop_buses as headway_seconds
    from drawn
    window stop_buses as (
        partition by operator, service_date, line_code, direction, stop_code, number
        order by drawn_seconds, bus_key, position
    )
),

scheduled as (
    select
        {{ stop_hour }},
        count(*) as n_headways_due,
        cast(sum(scheduled_headway_seconds) as bigint) as due_seconds_sum,
        cast(sum(scheduled_headway_seconds * scheduled_headway_seconds) as bigint) as due_seconds_squared_sum
    from {{ ref('scheduled_passages') }}
    where scheduled_headway_seconds <= 3600
    group by {{ stop_hour }}
),

breaks as (
    -- a scheduled headway of over an hour is a break in service, not a wait
    select
        departure_key as bus_key,
        position
    from {{ ref('scheduled_passages') }}
    where scheduled_headway_seconds > 3600
),

sums as (
    -- bunched buses and gaps are told by the mean headway scheduled in the hour
    select
        {{ stop_hour }},
        number,
        sum(headway_seconds) as seconds_sum,
        sum(headway_seconds * headway_seconds) as squares_sum,
        {%- for name, beyond in {"bunched": "<= rules.bunched_ratio", "gaps": ">= rules.gap_ratio"}.items() %}
            count(
                case when headway_seconds * n_headways_due {{ beyond }} * nullif(due_seconds_sum, 0) then 1 end
            ) as n_{{ name }},
        {%- endfor %}
        count(*) as n_headways
    from headways
    {{ join_rules('service_date') }}
    inner join scheduled using ({{ stop_hour }})
    left join breaks using (bus_key, position)
    where headway_seconds is not null and breaks.bus_key is null
    group by {{ stop_hour }}, number
),

errors as (
    -- how far the squares of a draw are from what is usual for its sum, and its bunched buses and gaps, in thousandths,
    -- from what is usual for as many headways
    select
        *,
        {%- for name in ["bunched", "gaps"] %}
            cast(round(
                1000 * n_{{ name }}
                - 1000 * n_headways * cast(sum(n_{{ name }}) over stop_hour as double) / sum(n_headways) over stop_hour
            ) as bigint) as {{ name }}_error,
        {%- endfor %}
        cast(round(
            squares_sum
            - seconds_sum * cast(sum(squares_sum) over stop_hour as double) / nullif(sum(seconds_sum) over stop_hour, 0)
        ) as bigint) as squares_error
    from sums
    window stop_hour as (partition by {{ stop_hour }})
),

line_errors as (
    select
        *,
        sum(bunched_error) over line_hour as bunched_line_error,
        sum(gaps_error) over line_hour as gaps_line_error,
        sum(squares_error) over line_hour as squares_line_error
    from errors
    window line_hour as (partition by operator, service_date, line_code, direction, service_hour, number)
),

expected as (
    select
        {{ stop_hour }},
        {%- for name, value in {
            "expected_seconds_sum": "seconds_sum", "expected_seconds_squared_sum": "squares_sum"
        }.items() %}
            cast(round(cast(sum({{ value }}) as double) / headway_draws) as bigint) as {{ name }},
        {%- endfor %}
        {%- for name, error in {
            "squared_sum_variance": "squares_error", "line_variance": "squares_line_error"
        }.items() %}
            cast(sum(cast(squares_error as decimal(38, 0)) * {{ error }}) as double) / (headway_draws - 1)
                as {{ name }},
        {%- endfor %}
        {%- for name in ["bunched", "gaps"] %}
            {{ as_decimal("cast(sum(n_" ~ name ~ ") as double) / headway_draws", 18, 6) }} as expected_{{ name }},
            {%- for variance, error in {"variance": "error", "line_variance": "line_error"}.items() %}
                {{ as_decimal(
                    "cast(sum(" ~ name ~ "_error * " ~ name ~ "_" ~ error ~ ") as double) / 1e6 / (headway_draws - 1)",
                    18, 6
                ) }} as {{ name }}_{{ variance }},
            {%- endfor %}
        {%- endfor %}
        {{ as_decimal("cast(sum(n_headways) as double) / headway_draws", 18, 6) }} as expected_headways
    from line_errors
    cross join {{ ref('inference_parameters') }}
    group by {{ stop_hour }}, headway_draws
),

due as (
    select
        {{ stop_hour }},
        count(*) as n_due,
        -- of trips that were observed anywhere
        count(case when arrival_quality != 'expected' then 1 end) as n_due_of_observed_trips
    from {{ built('trip_trajectories') }}
    group by {{ stop_hour }}
)

select
    expected.*,
    due.n_due,
    due.n_due_of_observed_trips,
    scheduled.due_seconds_sum,
    scheduled.due_seconds_squared_sum
from expected
inner join due using ({{ stop_hour }})
inner join scheduled using ({{ stop_hour }})
