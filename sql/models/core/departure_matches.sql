-- One row per operator, service_date and matched trip: the scheduled departure it runs as, and how sure that is.
-- Per line and direction, one to one. A trip with a timetable time of its own takes the departure nearest its start,
-- and of several that want the same one the nearest has it. Trips only ever seen live share out the departures that are
-- left: the later a bus is, and the longer its departure had not been listed when the bus appeared, the worse the pair.
with visits as (
    select
        operator,
        service_date,
        trip_id,
        stop_code,
        visit_number,
        is_short_run,
        theoretical_at,
        passed_at,
        began_at,
        first_live_at,
        line_code,
        direction,
        position
    from {{ ref('visit_runs') }}
    where position is not null and not is_stand_in and {{ is_built() }}
),

starts as (
    -- when a trip is thought to have been due at its origin: its own timetable time there, or one at a later stop less
    -- the running time; a short run may begin at any stop, so its first known one is tried
    select
        *,
        case basis
            when 'theoretical_origin' then 1.0
            when 'theoretical_later' then 0.9
            else 0.8
        end as basis_score
    from (
        select
            visits.*,
            case
                when visits.is_short_run and visits.position > 1 then 'short_run'
                when visits.position = 1 then 'theoretical_origin'
                else 'theoretical_later'
            end as basis,
            case
                when visits.position = 1 or visits.is_short_run then visits.theoretical_at
                else
                    {{ add_seconds(
                        'visits.theoretical_at', '-coalesce(of_hour.offset_seconds, of_day.offset_seconds)'
                    ) }}
            end as due_at
        from visits
        left join {{ ref('departure_guesses') }} as guesses
            on
                visits.operator = guesses.operator
                and visits.service_date = guesses.service_date
                and visits.trip_id = guesses.trip_id
                and visits.stop_code = guesses.stop_code
                and visits.visit_number = guesses.visit_number
        left join {{ ref('running_times') }} as of_hour
            on
                visits.operator = of_hour.operator
                and visits.service_date = of_hour.service_date
                and visits.line_code = of_hour.line_code
                and visits.direction = of_hour.direction
                and visits.position = of_hour.position
                and guesses.service_hour = of_hour.service_hour
        left join {{ ref('running_times') }} as of_day
            on
                visits.operator = of_day.operator
                and visits.service_date = of_day.service_date
                and visits.line_code = of_day.line_code
                and visits.direction = of_day.direction
                and visits.position = of_day.position
                and of_day.service_hour is null
        where visits.theoretical_at is not null
    ) as guessed
    where due_at is not null
),

trip_starts as (
    select *
    from (
        select
            starts.*,
            rules.match_theoretical_seconds as bound_seconds,
            rules.ruleset_version,
            row_number() over (
                partition by starts.operator, starts.service_date, starts.trip_id
                order by starts.basis_score desc, starts.position, starts.due_at, starts.line_code, starts.direction
            ) as nth
        from starts
        {{ join_rules('starts.service_date') }}
    ) as ranked
    where nth = 1
),

departures as (
    -- equal departures are numbered, so that as many trips may take them
    select
        operator,
        service_date,
        line_code,
        direction,
        departure_at,
        service_code,
        duplicate_number,
        valid_from,
        is_slash_variant,
        row_number() over (
            partition by operator, service_date, line_code, direction, is_slash_variant, departure_at
            order by service_code, duplicate_number, valid_from
        ) as place
    from {{ ref('timetable_departures') }}
    where is_in_force and {{ is_built() }}
),

nearest as (
    select *
    from (
        select
            trips.*,
            departures.departure_at,
            departures.is_slash_variant as is_slash_departure,
            abs({{ seconds_between('departures.departure_at', 'trips.due_at') }}) as off_seconds,
            row_number() over (
                partition by trips.operator, trips.service_date, trips.trip_id
                order by
                    abs({{ seconds_between('departures.departure_at', 'trips.due_at') }}),
                    case when departures.is_slash_variant = trips.is_short_run then 0 else 1 end,
                    departures.departure_at,
                    departures.is_slash_variant
            ) as nth_departure
        from trip_starts as trips
        inner join departures
            on
                trips.operator = departures.operator
                and trips.service_date = departures.service_date
                and trips.line_code = departures.line_code
                and trips.direction = departures.direction
                and departures.place = 1
                and departures.is_slash_variant = trips.is_short_run
                and abs({{ seconds_between('departures.departure_at', 'trips.due_at') }}) <= trips.bound_seconds
    ) as ranked
    where nth_departure = 1
),

placed as (
    select
        *,
        row_number() over (
            partition by operator, service_date, line_code, direction, is_slash_departure, departure_at
            order by basis_score desc, off_seconds, due_at, trip_id
        ) as place
    from nearest
),

told as (
    select
        placed.operator,
        placed.service_date,
        placed.trip_id,
        placed.line_code,
        placed.direction,
        placed.departure_at,
        placed.is_slash_departure,
        placed.place,
        placed.due_at,
        placed.basis,
        placed.basis_score * (1 - 0.5 * placed.off_seconds / placed.bound_seconds) as match_score,
        placed.ruleset_version
    from placed
    inner join departures
        on
            placed.operator = departures.operator
            and placed.service_date = departures.service_date
            and placed.line_code = departures.line_code
            and placed.direction = departures.direction
            and placed.departure_at = departures.departure_at
            and placed.is_slash_departure is not distinct from departures.is_slash_variant
            and placed.place = departures.place
),

live_trips as (
    -- when a trip nobody announced left its origin, or would have at the usual pace
    select
        visits.operator,
        visits.service_date,
        visits.trip_id,
        visits.line_code,
        visits.direction,
        visits.is_short_run,
        case
            -- a short run may begin at any stop: its first known one is tried
            when visits.is_short_run then min(visits.passed_at)
            else coalesce(min(case when visits.position = 1 then visits.passed_at end), median(visits.began_at))
        end as left_at,
        min(visits.first_live_at) as first_live_at,
        row_number() over (
            partition by visits.operator, visits.service_date, visits.trip_id
            order by count(*) desc, visits.line_code, visits.direction, visits.is_short_run
        ) as nth
    from visits
    left join told
        on
            visits.operator = told.operator
            and visits.service_date = told.service_date
            and visits.trip_id = told.trip_id
    where told.trip_id is null and visits.first_live_at is not null
    group by
        visits.operator, visits.service_date, visits.trip_id, visits.line_code, visits.direction,
        visits.is_short_run
),

free_departures as (
    -- what no announced trip takes, and until when the timetable rows of a departure were listed
    select
        departures.operator,
        departures.service_date,
        departures.line_code,
        departures.direction,
        departures.departure_at,
        departures.is_slash_variant,
        departures.place,
        announced.last_theoretical_at
    from departures
    left join told
        on
            departures.operator = told.operator
            and departures.service_date = told.service_date
            and departures.line_code = told.line_code
            and departures.direction = told.direction
            and departures.departure_at = told.departure_at
            and departures.is_slash_variant is not distinct from told.is_slash_departure
            and departures.place = told.place
    left join (
        select
            stand_ins.operator,
            stand_ins.service_date,
            stand_ins.line_code,
            stand_ins.direction,
            stand_ins.departure_at,
            max(runs.last_theoretical_at) as last_theoretical_at
        from {{ ref('stand_in_departures') }} as stand_ins
        inner join {{ ref('visit_runs') }} as runs
            on
                stand_ins.operator = runs.operator
                and stand_ins.service_date = runs.service_date
                and stand_ins.trip_id = runs.trip_id
                and stand_ins.stop_code = runs.stop_code
                and stand_ins.visit_number = runs.visit_number
        group by
            stand_ins.operator, stand_ins.service_date, stand_ins.line_code, stand_ins.direction,
            stand_ins.departure_at
    ) as announced
        on
            departures.operator = announced.operator
            and departures.service_date = announced.service_date
            and departures.line_code = announced.line_code
            and departures.direction = announced.direction
            and departures.departure_at = announced.departure_at
            and not departures.is_slash_variant
    where told.trip_id is null
),

pairs as (
    select
        trips.operator,
        trips.service_date,
        trips.trip_id,
        trips.line_code,
        trips.direction,
        trips.left_at,
        departures.departure_at,
        departures.is_slash_variant,
        departures.place,
        rules.ruleset_version,
        rules.match_live_seconds,
        abs({{ seconds_between('departures.departure_at', 'trips.left_at') }} - rules.usual_delay_seconds)
        + coalesce(
            greatest({{ seconds_between('departures.last_theoretical_at', 'trips.first_live_at') }}, 0),
            rules.unannounced_seconds
        ) as cost_seconds
    from live_trips as trips
    {{ join_rules('trips.service_date') }}
    inner join free_departures as departures
        on
            trips.operator = departures.operator
            and trips.service_date = departures.service_date
            and trips.line_code = departures.line_code
            and trips.direction = departures.direction
            and trips.is_short_run = departures.is_slash_variant
            and departures.departure_at
            between {{ add_seconds('trips.left_at', '-rules.match_late_seconds') }}
            and {{ add_seconds('trips.left_at', 'rules.match_early_seconds') }}
    where
        trips.nth = 1
        -- still announced without a bus, when the bus was already there: another departure
        and coalesce(
            departures.last_theoretical_at <= {{ add_seconds('trips.first_live_at', 'rules.past_tolerance_seconds') }},
            true
        )
),
{% for round in range(1, 6) %}
    round_{{ round }} as (
    -- those that are each other's best of what the rounds before left
        select *
        from (
            select
                pairs.*,
                row_number() over (
                    partition by pairs.operator, pairs.service_date, pairs.trip_id
                    order by pairs.cost_seconds, pairs.departure_at, pairs.place
                ) as nth_for_trip,
                row_number() over (
                    partition by
                        pairs.operator, pairs.service_date, pairs.line_code, pairs.direction, pairs.departure_at,
                        pairs.is_slash_variant, pairs.place
                    order by pairs.cost_seconds, pairs.left_at, pairs.trip_id
                ) as nth_for_departure
            from
                pairs
            {%- for before in range(1, round) %}
            left join round_{{ before }} as trip_{{ before }}
                on
                    pairs.operator = trip_{{ before }}.operator
                    and pairs.service_date = trip_{{ before }}.service_date
                    and pairs.trip_id = trip_{{ before }}.trip_id
            left join round_{{ before }} as departure_{{ before }}
                on
                    pairs.operator = departure_{{ before }}.operator
                    and pairs.service_date = departure_{{ before }}.service_date
                    and pairs.line_code = departure_{{ before }}.line_code
                    and pairs.direction = departure_{{ before }}.direction
                    and pairs.departure_at = departure_{{ before }}.departure_at
                    and pairs.is_slash_variant is not distinct from departure_{{ before }}.is_slash_variant
                    and pairs.place = departure_{{ before }}.place
            {%- endfor %}
            where
                true
                {%- for before in range(1, round) %}
                    and trip_{{ before }}.trip_id is null
                    and departure_{{ before }}.trip_id is null
                {%- endfor %}
        ) as ranked
        where nth_for_trip = 1 and nth_for_departure = 1
    ),
{% endfor %}
matched as (
    select * from told
    {%- for round in range(1, 6) %}
        union all
        select
            operator,
            service_date,
            trip_id,
            line_code,
            direction,
            departure_at,
            is_slash_variant as is_slash_departure,
            place,
            left_at as due_at,
            'live' as basis,
            0.6 / (1 + cost_seconds / match_live_seconds) as match_score,
            ruleset_version
        from round_{{ round }}
    {%- endfor %}
)

select
    matched.operator,
    matched.service_date,
    matched.trip_id,
    matched.line_code,
    matched.direction,
    departures.service_code,
    departures.departure_at,
    departures.duplicate_number,
    departures.valid_from as departure_valid_from,
    matched.due_at,
    matched.basis,
    matched.match_score,
    matched.ruleset_version
from matched
inner join departures
    on
        matched.operator = departures.operator
        and matched.service_date = departures.service_date
        and matched.line_code = departures.line_code
        and matched.direction = departures.direction
        and matched.departure_at = departures.departure_at
        and matched.is_slash_departure is not distinct from departures.is_slash_variant
        and matched.place = departures.place
