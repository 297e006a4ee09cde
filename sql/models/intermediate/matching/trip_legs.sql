-- One row per operator, service_date, trip, line, direction and leg: the legs of the timetable that a trip may run as,
-- and the position their departures leave from. Not every leg begins at the first stop of its line: a destination
-- begins at the first stop that lists it, if the stop before was watched as well and does not; and a trip begins where
-- it is first listed, if that is where trips were seen to begin and the stop before did not list it.
with visits as (
    select
        operator,
        service_date,
        trip_id,
        stop_code,
        line_code,
        direction,
        position,
        theoretical_at,
        replaced_at,
        is_stand_in,
        replace(line_label, '/', '') as plain_label,
        coalesce(is_slash_variant, false) as is_slash_shown,
        coalesce(destination, '') as destination,
        coalesce(theoretical_at, last_predicted_at) as thought_at,
        least(theoretical_at, last_predicted_at) as due_from
    from {{ ref('visit_runs') }}
    where position is not null and {{ is_built() }}
),

trips as (
    select *
    from (
        select
            operator,
            service_date,
            trip_id,
            line_code,
            direction,
            is_slash_shown,
            destination,
            row_number() over (
                partition by operator, service_date, trip_id, line_code, direction
                order by count(*) desc, destination, is_slash_shown
            ) as nth
        from visits
        group by operator, service_date, trip_id, line_code, direction, is_slash_shown, destination
    ) as ranked
    where nth = 1
),

shown as (
    -- at which positions a destination is listed, and how often next to where it is listed most
    select
        operator,
        service_date,
        line_code,
        direction,
        is_slash_shown,
        destination,
        position,
        count(*) as n_visits,
        max(count(*)) over (
            partition by operator, service_date, line_code, direction, is_slash_shown, destination
        ) as most_visits
    from visits
    group by operator, service_date, line_code, direction, is_slash_shown, destination, position
),

firsts as (
    select
        shown.operator,
        shown.service_date,
        shown.line_code,
        shown.direction,
        shown.is_slash_shown,
        shown.destination,
        min(shown.position) as first_position
    from shown
    {{ join_rules('shown.service_date') }}
    where shown.n_visits >= rules.origin_share * shown.most_visits
    group by
        shown.operator, shown.service_date, shown.line_code, shown.direction, shown.is_slash_shown,
        shown.destination
),

starts as (
    -- where each trip is first listed
    select *
    from (
        select
            visits.*,
            rules.not_run_gap_seconds,
            rules.past_tolerance_seconds,
            rules.listed_per_line,
            row_number() over (
                partition by
                    visits.operator, visits.service_date, visits.trip_id, visits.line_code, visits.direction
                order by visits.position, visits.thought_at
            ) as nth
        from visits
        {{ join_rules('visits.service_date') }}
    ) as firsts
    where nth = 1
),

stops_before as (
    -- the stops that another comes after, and how soon
    select
        stops.operator,
        stops.service_date,
        stops.line_code,
        stops.direction,
        stops.position,
        stops.stop_code,
        lead(paces.pace_seconds) over (
            partition by stops.operator, stops.service_date, stops.line_code, stops.direction order by stops.position
        ) - paces.pace_seconds as step_seconds
    from {{ ref('line_stops_of_day') }} as stops
    inner join {{ ref('line_paces') }} as paces
        on
            stops.operator = paces.operator
            and stops.service_date = paces.service_date
            and stops.line_code = paces.line_code
            and stops.direction = paces.direction
            and stops.position = paces.position
            and {{ is_built('paces.service_date') }}
    where {{ is_built('stops.service_date') }}
),

watched as (
    -- trips that the stop before did not list when it was asked shortly before, although the list had room for them:
    -- one that was on its way when collecting began tells nothing of where it came from
    select
        starts.operator,
        starts.service_date,
        starts.trip_id,
        starts.line_code,
        starts.direction
    from starts
    inner join stops_before as before
        on
            starts.operator = before.operator
            and starts.service_date = before.service_date
            and starts.line_code = before.line_code
            and starts.direction = before.direction
            and starts.position = before.position + 1
    inner join {{ ref('staging_requests') }} as requests
        on
            before.operator = requests.operator
            and before.stop_code = requests.key
            and requests.endpoint = 'passages'
            and requests.is_good
            and {{ is_received_around('requests.received_date') }}
            and requests.received_at
            between {{ add_seconds('starts.due_from', '-starts.not_run_gap_seconds') }}
            and {{ add_seconds('starts.due_from', '-(before.step_seconds + starts.past_tolerance_seconds)') }}
    left join {{ ref('staging_passages') }} as passages
        on
            requests.operator = passages.operator
            and requests.request_id = passages.request_id
            and starts.plain_label = replace(passages.line_label, '/', '')
            and starts.thought_at > passages.predicted_at
            and {{ is_received_around('passages.received_date') }}
    group by
        starts.operator, starts.service_date, starts.trip_id, starts.line_code, starts.direction,
        requests.request_id
    having
        count(passages.request_id) < max(starts.listed_per_line)
        -- a timetable row without an id may be about any trip
        and count(case when passages.trip_id is null then passages.request_id end) = 0
),

seen_to_begin as (
    select distinct
        operator,
        service_date,
        trip_id,
        line_code,
        direction
    from watched
),

began as (
    -- the positions where trips were seen to begin
    select
        starts.operator,
        starts.service_date,
        starts.line_code,
        starts.direction,
        starts.is_slash_shown,
        starts.destination,
        starts.position
    from starts
    left join seen_to_begin as seen
        on
            starts.operator = seen.operator
            and starts.service_date = seen.service_date
            and starts.trip_id = seen.trip_id
            and starts.line_code = seen.line_code
            and starts.direction = seen.direction
    {{ join_rules('starts.service_date') }}
    group by
        starts.operator, starts.service_date, starts.line_code, starts.direction, starts.is_slash_shown,
        starts.destination, starts.position
    having
        count(seen.trip_id) >= max(case when starts.is_slash_shown then 1 else rules.pattern_min_trips end)
        and count(seen.trip_id) >= max(rules.origin_share) * count(*)
),

origins as (
    select
        firsts.operator,
        firsts.service_date,
        firsts.line_code,
        firsts.direction,
        firsts.is_slash_shown,
        firsts.destination,
        case when firsts.first_position = 1 then 1 else began.position end as origin_position
    from firsts
    left join began
        on
            firsts.operator = began.operator
            and firsts.service_date = began.service_date
            and firsts.line_code = began.line_code
            and firsts.direction = began.direction
            and firsts.is_slash_shown = began.is_slash_shown
            and firsts.destination = began.destination
            and firsts.first_position = began.position
),

legs as (
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        is_slash_variant,
        {{ plain_text('leg') }} as plain_leg
    from {{ ref('timetable_departures') }}
    where is_in_force and {{ is_built() }}
    group by operator, service_date, line_code, direction, leg, is_slash_variant
),

slash_lines as (
    -- a line whose own number carries the slash shows it on every bus
    select
        operator,
        line_code
    from {{ ref('lines') }}
    where line_number like '%/'
    group by operator, line_code
),

fits as (
    -- how much of what the stops show agrees with a leg: its destination before its slash
    select
        origins.operator,
        origins.service_date,
        origins.line_code,
        origins.direction,
        origins.is_slash_shown,
        origins.destination,
        origins.origin_position,
        legs.leg,
        legs.is_slash_variant,
        case
            when {{ plain_text('origins.destination') }} = '' then 0
            when legs.plain_leg like '%' || {{ plain_text('origins.destination') }} then 3
            when legs.plain_leg like '%' || {{ plain_text('origins.destination') }} || '%' then 2
            else 0
        end
        + case when slash_lines.line_code is null and origins.is_slash_shown = legs.is_slash_variant then 1 else 0 end
            as fit
    from origins
    inner join legs
        on
            origins.operator = legs.operator
            and origins.service_date = legs.service_date
            and origins.line_code = legs.line_code
            and origins.direction = legs.direction
    left join slash_lines
        on
            origins.operator = slash_lines.operator
            and origins.line_code = slash_lines.line_code
),

best_fits as (
    select
        *,
        max(fit) over (
            partition by operator, service_date, line_code, direction, is_slash_shown, destination
        ) as best_fit
    from fits
)

select
    trips.operator,
    trips.service_date,
    trips.trip_id,
    trips.line_code,
    trips.direction,
    best_fits.leg,
    best_fits.is_slash_variant,
    -- not every trip comes from as far as others that go there; and a leg that is no short run begins where its line
    -- does, unless it was seen not to
    coalesce(
        began.position, best_fits.origin_position, case when not best_fits.is_slash_variant then 1 end
    ) as origin_position
from trips
inner join best_fits
    on
        trips.operator = best_fits.operator
        and trips.service_date = best_fits.service_date
        and trips.line_code = best_fits.line_code
        and trips.direction = best_fits.direction
        and trips.is_slash_shown = best_fits.is_slash_shown
        and trips.destination = best_fits.destination
        and best_fits.fit = best_fits.best_fit
left join seen_to_begin as seen
    on
        trips.operator = seen.operator
        and trips.service_date = seen.service_date
        and trips.trip_id = seen.trip_id
        and trips.line_code = seen.line_code
        and trips.direction = seen.direction
left join starts
    on
        seen.operator = starts.operator
        and seen.service_date = starts.service_date
        and seen.trip_id = starts.trip_id
        and seen.line_code = starts.line_code
        and seen.direction = starts.direction
        and starts.theoretical_at is not null
        -- rows without an id may have been listed before it
        and starts.replaced_at is null
        and not starts.is_stand_in
left join began
    on
        starts.operator = began.operator
        and starts.service_date = began.service_date
        and starts.line_code = began.line_code
        and starts.direction = began.direction
        and starts.is_slash_shown = began.is_slash_shown
        and starts.destination = began.destination
        and starts.position = began.position
