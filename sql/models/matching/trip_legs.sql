-- One row per operator, service_date, trip, line, direction and leg: a leg of the timetable that the trip may run as,
-- and the position its departures leave from.
-- Not every leg begins at the first stop of its line. A leg begins where its text says, where it is known which stop
-- that is: no trip that is listed before runs as it. A destination begins at the first stop that lists it, if stops
-- before should have listed enough of its trips and did not; a trip begins later, where it is or should have been
-- first listed, if others were observed to start there.
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
    -- the first position that lists a destination, leaving out those that rarely do, and whether slashes tell its trips
    -- apart
    select
        {{ pattern }},
        min(position) as position,
        max(is_slash_listed) over (
            partition by operator, service_date, line_code, direction, destination_text
        ) as is_slash_shown
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

absences as (
    -- the stops before where a trip is first listed that were polled shortly before its bus would have come and did not
    -- list it although their lists had room. For a trip that was under way when collecting began there is none
    select
        starts.trip_key,
        min(before.position) as first_absent_position,
        max(before.position) as last_absent_position
    from starts
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ built('line_travel_times') }} as here
        using (operator, service_date, line_code, direction, position)
    inner join {{ built('line_travel_times') }} as before
        on
            here.operator = before.operator
            and here.service_date = before.service_date
            and here.line_code = before.line_code
            and here.direction = before.direction
            and here.position > before.position
    inner join {{ ref('stop_polls') }} as polls
        on
            before.operator = polls.operator
            and before.stop_code = polls.stop_code
            and {{ is_received_around('polls.received_date') }}
            and seconds_between(polls.received_at, starts.earliest_at)
            - (here.travel_seconds - before.travel_seconds)
            between parameters.past_tolerance_seconds and parameters.not_run_gap_seconds
            and polls.is_complete
    {{ join_doubts('starts.plain_label') }}
    left join {{ ref('full_lists') }} as lists
        on
            polls.operator = lists.operator
            and polls.request_id = lists.request_id
            and starts.plain_label = lists.plain_label
            and seconds_between(least(lists.full_at, lists.anonymous_at), starts.expected_at)
            > here.travel_seconds - before.travel_seconds - parameters.past_tolerance_seconds
    where doubts.request_id is null and lists.request_id is null
    group by starts.trip_key
),

observed_starts as (
    -- the positions where enough trips of a destination were observed to start: the stop before did not list them
    select
        {{ pattern }},
        position
    from starts
    cross join {{ ref('inference_parameters') }} as parameters
    left join absences as observed
        on starts.trip_key = observed.trip_key and starts.position = observed.last_absent_position + 1
    group by {{ pattern }}, position
    having
        count(observed.trip_key) >= max(case when is_slash_listed then 1 else parameters.fewest_agreeing end)
        and count(observed.trip_key) >= max(parameters.origin_share) * count(*)
),

first_starts as (
    -- destinations whose trips are not listed at stops before the first, where enough of them should have been
    select {{ pattern }}
    from starts
    cross join {{ ref('inference_parameters') }} as parameters
    inner join destinations as firsts using ({{ pattern }})
    left join absences using (trip_key)
    group by {{ pattern }}
    having
        count(case when absences.first_absent_position < firsts.position then 1 end)
        >= max(parameters.skipped_stop_trips)
        and count(case when starts.position < firsts.position then 1 end) <= max(parameters.origin_share)
        * count(case when absences.first_absent_position < firsts.position then 1 end)
),

later_starts as (
    -- where a trip starts later than others to its destination
    select
        trip_key,
        max(observed_starts.position) as position
    from starts
    inner join absences using (trip_key)
    inner join observed_starts using ({{ pattern }})
    where
        observed_starts.position > absences.last_absent_position
        and observed_starts.position <= starts.position
        and starts.theoretical_at is not null
        -- anonymous rows may have been listed at stops before
        and starts.replaced_at is null
        and not starts.is_anonymous
    group by trip_key
),

legs as (
    select distinct
        operator,
        service_date,
        line_code,
        direction,
        leg,
        is_slash_variant,
        plain_text(leg) as plain_leg
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
        case
            when destinations.position = 1 or first_starts.line_code is not null then destinations.position
            else observed_starts.position
        end as origin_position,
        case
            when plain_text(destination_text) = '' then 0
            when legs.plain_leg like '%' || plain_text(destination_text) then 3
            when legs.plain_leg like '%' || plain_text(destination_text) || '%' then 2
            else 0
        end
        + case
            when slash_lines.line_code is null and is_slash_shown and is_slash_listed = legs.is_slash_variant then 1
            else 0
        end as fit
    from destinations
    left join observed_starts using ({{ pattern }}, position)
    left join first_starts using ({{ pattern }})
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
),

possible_legs as (
    -- by the destination that most stops list a trip with
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
            later_starts.position,
            case when starts.position >= ends.origin_position then ends.origin_position end,
            best_fits.origin_position,
            case when not best_fits.is_slash_variant then 1 end
        ) as origin_position,
        -- legs that begin after a stop that lists the trip come last
        rank() over (
            partition by trip_key, line_code, direction
            order by coalesce(ends.is_origin_observed and starts.position < ends.origin_position, false)
        ) as nth_possible
    from {{ first_rows(
        'trips', ['trip_key', 'line_code', 'direction'], 'n_visits desc, destination_text, is_slash_listed'
    ) }} as trips
    inner join (
        select
            trip_key,
            line_code,
            direction,
            position
        from starts
    ) as starts using (trip_key, line_code, direction)
    inner join best_fits using ({{ pattern }})
    left join {{ built('leg_ends') }} as ends using (operator, service_date, line_code, direction, leg)
    left join later_starts using (trip_key)
)

select * {{ exclude("nth_possible") }}
from possible_legs
where nth_possible = 1
