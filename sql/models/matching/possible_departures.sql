{%- set levels = {"hours": ["hour"], "lines": ["line_code", "direction"]} %}
{%- set delay_seconds = "seconds_between(matches.departure_at, trips.left_at)" %}
-- One row per operator, service_date, trip and departure that it may run as: the one that timetable times of its own
-- tell, or else every free one whose bus may have left when it did.
-- Of timetable times, a trip takes the departure nearest to when it was due at the origin of its leg; of several trips
-- that take the same one, the best fitting keeps it, and the closer the departures, the more rows that it replaced have
-- to agree. From these trips is learned how late buses usually leave: in the hour, and on the line and direction, each
-- as far as its groups differ by more than chance does.
{%- set trip_leg = "trip_key, operator, service_date, trip_id, line_code, direction, leg, origin_position" %}
with visits as (
    select * from {{ built('leg_visits') }}
    where not is_anonymous
),

trip_starts as (
    -- when a trip was due at the origin: the median by its timetable times of the best grade
    select
        {{ trip_leg }},
        case
            when origin_position is null then 'short_run'
            when min(position) = origin_position then 'theoretical_origin'
            else 'theoretical_later'
        end as basis,
        case when origin_position is null then 0.8 when min(position) = origin_position then 1.0 else 0.9 end
            as basis_score,
        {{ median_instant('due_at') }} as due_at,
        -- how much of the way from the origin is estimated by travel times alone
        case when min(due_grade) = 3 and origin_position is not null then median(from_origin_seconds) else 0 end
            as from_origin_seconds,
        case when max(n_replaced_rows) = max(n_rows) then max(n_replaced_rows) end as n_replaced_rows
    from (
        select
            *,
            min(due_grade) over one_leg as best_grade,
            count(replaced_at) over one_leg as n_replaced_rows,
            count(*) over one_leg as n_rows
        from visits
        where due_at is not null
        window one_leg as (partition by trip_key, leg)
    ) as graded
    where due_grade = best_grade
    group by {{ trip_leg }}
),

nearest as (
    {{ nearest_departures(
        'trip_starts', 'trip_key', 'due_at', 'match_theoretical_seconds', best_first='basis_score desc'
    ) }}
),

matches as (
    -- as many trips run as a departure as there are equal ones
    select
        placed.* {{ exclude("departure_key") }},
        departures.departure_key,
        placed.basis_score
        * (1 - 0.5 * least(placed.off_seconds / parameters.match_theoretical_seconds, 1)) as match_score
    from (
        select
            *,
            row_number() over (
                partition by operator, service_date, line_code, direction, leg, departure_at
                order by basis_score desc, off_seconds, origin_position nulls last, due_at, trip_id
            ) as slot_number
        from nearest
    ) as placed
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ built('timetable_departures') }} as departures
        using (operator, service_date, line_code, direction, leg, departure_at, slot_number)
    where coalesce(placed.n_replaced_rows * departures.headway_seconds >= parameters.match_sure_headway_seconds, true)
),

live_trips as (
    -- when each trip left the origin of the leg that most of its visits fit, and since when it was live
    select
        *,
        cast(floor(microseconds(left_at) / 3.6e9) as bigint) as hour
    from (
        select
            {{ trip_leg }},
            case
                -- it may have started at any stop: the first known one is taken for the origin
                when origin_position is null then min(passed_at)
                else
                    coalesce(
                        min(case when position = origin_position then passed_at end),
                        -- the stops nearest to the origin are most accurate, because a bus may be faster or slower than
                        -- usual
                        {{ median_instant('case when nth_stop <= 5 then left_at end') }}
                    )
            end as left_at,
            coalesce(min(from_origin_seconds), 0) as from_origin_seconds,
            {{ trip_live_from() }} as first_live_at,
            max(passed_after) as last_live_at,
            rank() over (partition by trip_key order by count(*) desc, line_code, direction) as nth
        from (
            select
                *,
                row_number() over (partition by trip_key, leg order by position, visit_number, stop_code) as nth_stop
            from visits
            where first_live_at is not null
        ) as stops
        group by {{ trip_leg }}
    ) as ranked
    where nth = 1
),

delays as (
    -- of those with timetable times; of one that is far too late the match is wrong
    select
        trips.*,
        matches.trip_key is null as is_unmatched,
        case
            when trips.leg = matches.leg
                then cast(round(least(
                    greatest({{ delay_seconds }}, -parameters.match_early_seconds), parameters.latest_bus_seconds
                )) as bigint)
        end as delay_seconds
    from live_trips as trips
    cross join {{ ref('inference_parameters') }} as parameters
    left join matches using (trip_key)
),

usual_days as (
    -- a few trips say little, and count with what is usual elsewhere
    select
        delays.*,
        cast(round({{ leaning_mean(
            "sum(delay_seconds) over one_day", "count(delay_seconds) over one_day", "parameters.usual_delay_seconds",
            "parameters.error_passages"
        ) }}) as bigint) as day_seconds
    from delays
    cross join {{ ref('inference_parameters') }} as parameters
    window one_day as (partition by operator, service_date)
),

above_days as (
    select
        *,
        delay_seconds - day_seconds as above_seconds
    from usual_days
    where delay_seconds is not null
)
{{- values_above_groups(levels, "above_days") }},

unmatched as (
    select
        trips.*,
        min(trips.first_live_at) over (partition by operator, service_date) as collected_since,
        trips.day_seconds + {{ mean_of_level("hours") }} + {{ mean_of_level("lines") }} as usual_delay_seconds
    from usual_days as trips
    left join hours using ({{ of_days(levels.hours) }})
    left join hours_variances using (operator, service_date)
    left join lines using ({{ of_days(levels.lines) }})
    left join lines_variances using (operator, service_date)
    where trips.is_unmatched
)

select
    {{ "matches." ~ trip_leg.replace(", ", ", matches.") }},
    matches.departure_key,
    matches.departure_at,
    matches.due_at,
    matches.n_replaced_rows,
    matches.basis,
    matches.match_score,
    cast(null as timestamp) as first_live_at,
    cast(null as timestamp) as last_live_at,
    -- how late buses usually leave then, and how much later it left
    lines_trips.delay_seconds - lines_trips.above_seconds as usual_seconds,
    lines_trips.above_seconds
from matches
left join lines_trips using (trip_key)
union all
select
    {{ "trips." ~ trip_leg.replace(", ", ", trips.") }},
    departures.departure_key,
    departures.departure_at,
    trips.left_at as due_at,
    cast(null as bigint) as n_replaced_rows,
    'live' as basis,
    cast(null as double) as match_score,
    trips.first_live_at,
    trips.last_live_at,
    cast(round(trips.usual_delay_seconds) as bigint) as usual_seconds,
    cast(round(seconds_between(departures.departure_at, trips.left_at) - trips.usual_delay_seconds) as bigint)
        as above_seconds
from unmatched as trips
cross join {{ ref('inference_parameters') }} as parameters
inner join {{ built('timetable_departures') }} as departures using (operator, service_date, line_code, direction, leg)
left join matches as taken using (departure_key)
where
    taken.departure_key is null
    -- of the buses under way when collecting began, some ran as departures before it, and nobody knows which
    and departures.departure_at > add_seconds(trips.collected_since, -parameters.match_early_seconds)
    and departures.is_in_force
    and seconds_between(departures.departure_at, trips.left_at)
    -- first seen far along its way, it may have been faster up to there than is known
    between -(parameters.match_early_seconds + parameters.match_travel_share * trips.from_origin_seconds)
    and parameters.latest_bus_seconds
