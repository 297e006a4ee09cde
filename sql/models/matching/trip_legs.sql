-- One row per operator, service_date, trip, line, direction and leg: a leg of the timetable that the trip may run as,
-- and the position its departures leave from.
-- Not every leg begins at the first stop of its line. A destination begins at the first stop that lists it, if trips
-- were observed to start there; a trip begins where it is first listed, if it and others were observed to start there.
{%- set pattern = "operator, service_date, line_code, direction, is_slash_listed, destination_text" %}
with visits as (
    select
        *,
        replace(line_label, '/', '') as plain_label,
        coalesce(is_slash_variant, false) as is_slash_listed,
        coalesce(destination, '') as destination_text,
        least(theoretical_at, last_predicted_at) as earliest_at
    from {{ built('visit_trips') }}
    where position is not null
),

trips as (
    select
        trip_key,
        trip_id,
        {{ pattern }},
        count(*) as n_visits
    from visits
    group by trip_key, trip_id, {{ pattern }}
),

destinations as (
    -- the first position that lists a destination, leaving out those that rarely do
    select
        {{ pattern }},
        min(position) as position
    from (
        select
            {{ pattern }},
            position,
            count(*) as n_visits,
            max(count(*)) over (partition by {{ pattern }}) as most_visits
        from visits
        group by {{ pattern }}, position
    ) as counted
    cross join {{ ref('inference_parameters') }} as parameters
    where counted.n_visits >= parameters.origin_share * counted.most_visits
    group by {{ pattern }}
),

starts as (
    -- where each trip is first listed
    select * from {{ first_rows('visits', ['trip_key', 'line_code', 'direction'], 'position, expected_at') }} as firsts
),

stops_before as (
    -- by the position that follows
    select
        operator,
        service_date,
        line_code,
        direction,
        position + 1 as position,
        stop_code,
        lead(travel_seconds) over (
            partition by operator, service_date, line_code, direction order by position
        ) - travel_seconds as step_seconds
    from {{ built('line_travel_times') }}
),

observed_trips as (
    -- a trip was observed to start, if the stop before was polled shortly before and did not list it although its list
    -- had room. For a trip that was under way when collecting began there is no such poll
    select distinct trip_key
    from (
        select starts.trip_key
        from starts
        cross join {{ ref('inference_parameters') }} as parameters
        inner join stops_before as stops using (operator, service_date, line_code, direction, position)
        inner join {{ ref('stop_polls') }} as polls
            on
                stops.operator = polls.operator
                and stops.stop_code = polls.stop_code
                and {{ is_received_around('polls.received_date') }}
                and {{ seconds_between('polls.received_at', 'starts.earliest_at') }}
                between stops.step_seconds + parameters.past_tolerance_seconds and parameters.not_run_gap_seconds
                and polls.is_complete
        {{ join_doubts('starts.plain_label') }}
        left join {{ ref('staging_passages') }} as passages
            on
                polls.operator = passages.operator
                and polls.request_id = passages.request_id
                and starts.plain_label = replace(passages.line_label, '/', '')
                and starts.expected_at > passages.predicted_at
                and {{ is_received_around('passages.received_date') }}
        where doubts.request_id is null
        group by starts.trip_key, polls.request_id
        having
            count(passages.request_id) < max(parameters.listed_per_line)
            -- an anonymous row may be about any trip
            and count(case when passages.trip_id is null then passages.request_id end) = 0
    ) as answers
),

observed_starts as (
    -- the positions where enough trips of a destination were observed to start
    select
        {{ pattern }},
        position
    from starts
    cross join {{ ref('inference_parameters') }} as parameters
    left join observed_trips as observed using (trip_key)
    group by {{ pattern }}, position
    having
        count(observed.trip_key) >= max(case when is_slash_listed then 1 else parameters.pattern_min_trips end)
        and count(observed.trip_key) >= max(parameters.origin_share) * count(*)
),

later_starts as (
    -- where a trip starts later than others to its destination
    select
        trip_key,
        position
    from starts
    inner join observed_trips using (trip_key)
    inner join observed_starts using ({{ pattern }}, position)
    where
        theoretical_at is not null
        -- anonymous rows may have been listed at stops before
        and replaced_at is null
        and not is_anonymous
),

legs as (
    select distinct
        operator,
        service_date,
        line_code,
        direction,
        leg,
        is_slash_variant,
        {{ plain_text('leg') }} as plain_leg
    from {{ built('timetable_departures') }}
    where is_in_force
),

slash_lines as (
    -- a line whose own number ends in a slash shows it on every bus
    select distinct
        operator,
        line_code
    from {{ ref('lines') }}
    where line_number like '%/'
),

fits as (
    -- how well a leg agrees with what the stops list: the destination counts more than the slash
    select
        destinations.*,
        legs.leg,
        legs.is_slash_variant,
        case when position = 1 then 1 else observed_starts.position end as origin_position,
        case
            when {{ plain_text('destination_text') }} = '' then 0
            when legs.plain_leg like '%' || {{ plain_text('destination_text') }} then 3
            when legs.plain_leg like '%' || {{ plain_text('destination_text') }} || '%' then 2
            else 0
        end
        + case when slash_lines.line_code is null and is_slash_listed = legs.is_slash_variant then 1 else 0 end as fit
    from destinations
    left join observed_starts using ({{ pattern }}, position)
    inner join legs using (operator, service_date, line_code, direction)
    left join slash_lines using (operator, line_code)
),

best_fits as (
    select *
    from (
        select
            *,
            rank() over (partition by {{ pattern }} order by fit desc) as nth_fit
        from fits
    ) as ranked
    where nth_fit = 1
)

select
    trip_key,
    operator,
    service_date,
    trips.trip_id,
    line_code,
    direction,
    best_fits.leg,
    -- a leg that is no slash variant begins at the first stop of its line, unless observed otherwise
    coalesce(
        later_starts.position, best_fits.origin_position, case when not best_fits.is_slash_variant then 1 end
    ) as origin_position
-- with the destination that most stops list it with
from {{ first_rows(
    'trips', ['trip_key', 'line_code', 'direction'], 'n_visits desc, destination_text, is_slash_listed'
) }} as trips
inner join best_fits using ({{ pattern }})
left join later_starts using (trip_key)
