-- One row per operator, service_date, trip, line, direction and leg: a leg of the timetable that the trip may run as,
-- and the position its departures leave from.
-- Not every leg begins at the first stop of its line. A destination begins at the first stop that lists it, if trips
-- were observed to start there; a trip begins where it is first listed, if it and others were observed to start there.
with visits as (
    select
        *,
        coalesce(is_slash_variant, false) as is_slash_listed,
        coalesce(destination, '') as destination_text
    from {{ built('passing_times') }}
    where position is not null
),

trips as (
    -- the destination that most stops list each trip with
    select *
    from (
        select
            trip_key,
            operator,
            service_date,
            trip_id,
            line_code,
            direction,
            is_slash_listed,
            destination_text as destination,
            row_number() over (
                partition by trip_key, line_code, direction
                order by count(*) desc, destination_text, is_slash_listed
            ) as nth
        from visits
        group by
            trip_key, operator, service_date, trip_id, line_code, direction, is_slash_listed, destination_text
    ) as ranked
    where nth = 1
),

destinations as (
    -- the first position that lists a destination, leaving out those that rarely do
    select
        counted.operator,
        counted.service_date,
        counted.line_code,
        counted.direction,
        counted.is_slash_listed,
        counted.destination,
        min(counted.position) as first_position
    from (
        select
            operator,
            service_date,
            line_code,
            direction,
            is_slash_listed,
            destination_text as destination,
            position,
            count(*) as n_visits,
            max(count(*)) over (
                partition by operator, service_date, line_code, direction, is_slash_listed, destination_text
            ) as most_visits
        from visits
        group by operator, service_date, line_code, direction, is_slash_listed, destination_text, position
    ) as counted
    cross join {{ ref('inference_parameters') }} as parameters
    where counted.n_visits >= parameters.origin_share * counted.most_visits
    group by
        counted.operator, counted.service_date, counted.line_code, counted.direction, counted.is_slash_listed,
        counted.destination
),

starts as (
    select * from {{ ref('trip_starts') }}
),

observed_starts as (
    -- the positions where enough trips of a destination were observed to start
    select
        starts.operator,
        starts.service_date,
        starts.line_code,
        starts.direction,
        starts.is_slash_listed,
        starts.destination,
        starts.position
    from starts
    cross join {{ ref('inference_parameters') }} as parameters
    group by
        starts.operator, starts.service_date, starts.line_code, starts.direction, starts.is_slash_listed,
        starts.destination, starts.position
    having
        count(case when starts.is_start_observed then 1 end)
        >= max(case when starts.is_slash_listed then 1 else parameters.pattern_min_trips end)
        and count(case when starts.is_start_observed then 1 end) >= max(parameters.origin_share) * count(*)
),

origins as (
    select
        destinations.*,
        case when destinations.first_position = 1 then 1 else observed_starts.position end as origin_position
    from destinations
    left join observed_starts
        on
            destinations.operator = observed_starts.operator
            and destinations.service_date = observed_starts.service_date
            and destinations.line_code = observed_starts.line_code
            and destinations.direction = observed_starts.direction
            and destinations.is_slash_listed = observed_starts.is_slash_listed
            and destinations.destination = observed_starts.destination
            and destinations.first_position = observed_starts.position
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
    from {{ built('timetable_departures') }}
    where is_in_force
    group by operator, service_date, line_code, direction, leg, is_slash_variant
),

slash_lines as (
    -- a line whose own number ends in a slash shows it on every bus
    select
        operator,
        line_code
    from {{ ref('lines') }}
    where line_number like '%/'
    group by operator, line_code
),

fits as (
    -- how well a leg agrees with what the stops list: the destination counts more than the slash
    select
        origins.*,
        legs.leg,
        legs.is_slash_variant,
        case
            when {{ plain_text('origins.destination') }} = '' then 0
            when legs.plain_leg like '%' || {{ plain_text('origins.destination') }} then 3
            when legs.plain_leg like '%' || {{ plain_text('origins.destination') }} || '%' then 2
            else 0
        end
        + case when slash_lines.line_code is null and origins.is_slash_listed = legs.is_slash_variant then 1 else 0 end
            as fit
    from origins
    inner join legs using (operator, service_date, line_code, direction)
    left join slash_lines using (operator, line_code)
),

best_fits as (
    select *
    from (
        select
            *,
            rank() over (
                partition by operator, service_date, line_code, direction, is_slash_listed, destination
                order by fit desc
            ) as nth
        from fits
    ) as ranked
    where nth = 1
),

later_starts as (
    -- where a trip starts later than others to its destination
    select
        starts.trip_key,
        starts.position
    from starts
    inner join observed_starts
        using (operator, service_date, line_code, direction, is_slash_listed, destination, position)
    where
        starts.is_start_observed
        and starts.theoretical_at is not null
        -- anonymous rows may have been listed at stops before
        and starts.replaced_at is null
        and not starts.is_anonymous
)

select
    trips.trip_key,
    trips.operator,
    trips.service_date,
    trips.trip_id,
    trips.line_code,
    trips.direction,
    best_fits.leg,
    best_fits.is_slash_variant,
    -- a leg that is no slash variant begins at the first stop of its line, unless observed otherwise
    coalesce(
        later_starts.position, best_fits.origin_position, case when not best_fits.is_slash_variant then 1 end
    ) as origin_position
from trips
inner join best_fits using (operator, service_date, line_code, direction, is_slash_listed, destination)
left join later_starts using (trip_key)
