-- One row per operator, service_date, line, direction, stop and service_hour of stops at which a line is frequent: the
-- headways of all buses, observed or not, as expected count, sum and sum of squares, with the variance of the latter;
-- and how many of them are bunched and gaps, with variances.
-- They are the mean of several draws: in each, every bus passes at a time that is possible for it, or not at all, as
-- probable as that is. Stops between two known ones share the error of the trip; so the errors of the stops of a line
-- belong together, and line_variance adds up over them.
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
        ({{ chance("buses.bus_key") }} + draws.number * 0.6180339887) % 1
        >= buses.not_run_share_low + (buses.not_run_share_high - buses.not_run_share_low) * draws.part
        and 0 = case
            when
                buses.part_before
                < {{ chance("buses.service_date, buses.line_code, buses.direction, draws.number") }}
                then buses.is_skipped_before
            else buses.is_skipped_after
        end
),

headways as (
    select
        drawn.*,
        drawn_seconds - lag(drawn_seconds) over stop_buses as headway_seconds
    from drawn
    window stop_buses as (
        partition by operator, service_date, line_code, direction, stop_code, number
        order by drawn_seconds, bus_key, position
    )
),

scheduled as (
    select
        operator,
        service_date,
        line_code,
        direction,
        stop_code,
        service_hour,
        count(*) as n_headways_due,
        sum(scheduled_headway_seconds) as due_seconds_sum,
        sum(scheduled_headway_seconds * scheduled_headway_seconds) as due_seconds_squared_sum
    from {{ ref('scheduled_passages') }}
    where scheduled_headway_seconds <= 3600
    group by operator, service_date, line_code, direction, stop_code, service_hour
),

sums as (
    -- bunched buses and gaps are told by the mean headway scheduled in the hour
    select
        headways.operator,
        headways.service_date,
        headways.line_code,
        headways.direction,
        headways.stop_code,
        headways.service_hour,
        headways.number,
        sum(headways.headway_seconds) as seconds_sum,
        sum(headways.headway_seconds * headways.headway_seconds) as squares_sum,
        {%- for name, beyond in {"bunched": "<= rules.bunched_ratio", "gaps": ">= rules.gap_ratio"}.items() %}
            count(
                case
                    when
                        headways.headway_seconds * scheduled.n_headways_due
                        {{ beyond }} * nullif(scheduled.due_seconds_sum, 0)
                        then 1
                end
            ) as n_{{ name }},
        {%- endfor %}
        count(*) as n_headways
    from headways
    {{ join_rules('headways.service_date') }}
    inner join scheduled using (operator, service_date, line_code, direction, stop_code, service_hour)
    left join {{ ref('scheduled_passages') }} as passages
        on headways.bus_key = passages.departure_key and headways.position = passages.position
    where
        headways.headway_seconds is not null
        -- a scheduled headway of over an hour is a break in service, not a wait
        and coalesce(passages.scheduled_headway_seconds <= 3600, true)
    group by
        headways.operator, headways.service_date, headways.line_code, headways.direction, headways.stop_code,
        headways.service_hour, headways.number
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
    window stop_hour as (partition by operator, service_date, line_code, direction, stop_code, service_hour)
),

line_errors as (
    select
        *,
        {%- for name in ["bunched", "gaps"] %}
            sum({{ name }}_error) over line_hour as {{ name }}_line_error,
        {%- endfor %}
        sum(squares_error) over line_hour as squares_line_error
    from errors
    window line_hour as (partition by operator, service_date, line_code, direction, service_hour, number)
),

expected as (
    select
        line_errors.operator,
        line_errors.service_date,
        line_errors.line_code,
        line_errors.direction,
        line_errors.stop_code,
        line_errors.service_hour,
        cast(round(cast(sum(line_errors.seconds_sum) as double) / max(parameters.headway_draws)) as bigint)
            as expected_seconds_sum,
        cast(round(cast(sum(line_errors.squares_sum) as double) / max(parameters.headway_draws)) as bigint)
            as expected_seconds_squared_sum,
        cast(sum(cast(line_errors.squares_error as hugeint) * line_errors.squares_error) as double)
        / (max(parameters.headway_draws) - 1) as squared_sum_variance,
        cast(sum(cast(line_errors.squares_error as hugeint) * line_errors.squares_line_error) as double)
        / (max(parameters.headway_draws) - 1) as line_variance,
        {%- for name in ["bunched", "gaps"] %}
            cast(cast(sum(line_errors.n_{{ name }}) as double) / max(parameters.headway_draws) as decimal(18, 6))
                as expected_{{ name }},
            cast(
                cast(sum(line_errors.{{ name }}_error * line_errors.{{ name }}_error) as double) / 1e6
                / (max(parameters.headway_draws) - 1) as decimal(18, 6)
            ) as {{ name }}_variance,
            cast(
                cast(sum(line_errors.{{ name }}_error * line_errors.{{ name }}_line_error) as double) / 1e6
                / (max(parameters.headway_draws) - 1) as decimal(18, 6)
            ) as {{ name }}_line_variance,
        {%- endfor %}
        cast(cast(sum(line_errors.n_headways) as double) / max(parameters.headway_draws) as decimal(18, 6))
            as expected_headways
    from line_errors
    cross join {{ ref('inference_parameters') }} as parameters
    group by
        line_errors.operator, line_errors.service_date, line_errors.line_code, line_errors.direction,
        line_errors.stop_code, line_errors.service_hour
),

due as (
    select
        operator,
        service_date,
        line_code,
        direction,
        stop_code,
        service_hour,
        count(*) as n_due,
        -- of trips that were observed anywhere
        count(case when arrival_quality != 'expected' then 1 end) as n_due_of_observed_trips
    from {{ built('trip_trajectories') }}
    group by operator, service_date, line_code, direction, stop_code, service_hour
)

select
    expected.*,
    due.n_due,
    due.n_due_of_observed_trips,
    cast(scheduled.due_seconds_sum as bigint) as due_seconds_sum,
    cast(scheduled.due_seconds_squared_sum as bigint) as due_seconds_squared_sum
from expected
inner join due using (operator, service_date, line_code, direction, stop_code, service_hour)
inner join scheduled using (operator, service_date, line_code, direction, stop_code, service_hour)
