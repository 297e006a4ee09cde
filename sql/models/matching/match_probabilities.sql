-- One row per operator, service_date, trip without a match by timetable times, and free departure that it may have run
-- as: how probable that is, and whether it is the match (transit_estimates/matching.py). A match is less probable the
-- more unusual its delay is, and the longer before its departure the bus was live.
{%- set line_day = "operator, service_date, line_code, direction" %}
{#- the logarithm of the delay in proportion to the usual one, both counted from the earliest bus on #}
{%- set relative_delay = "ln(greatest(above_seconds + usual_seconds + match_early_seconds, 60.0)"
    ~ " / greatest(usual_seconds + match_early_seconds, 60.0))" %}
with pairs as (
    select * from {{ built('possible_departures') }}
),

visits as (
    select * from {{ built('leg_visits') }}
    where not is_anonymous
),

lead_times as (
    -- how long before its departure a bus is first live at most, by those matched by their timetable times
    select
        operator,
        service_date,
        percentile(lead_seconds, 0.95) as longest_seconds
    from (
        select
            operator,
            service_date,
            seconds_between(min(visits.first_live_at), min(pairs.departure_at)) as lead_seconds
        from pairs
        inner join visits using (operator, service_date, trip_key)
        where
            pairs.basis != 'live'
            and visits.first_live_at is not null
            -- it was listed before it was live, by its own timetable row or by an anonymous one that it replaced
            and (visits.last_theoretical_at <= visits.first_live_at or visits.theoretical_at = visits.replaced_at)
        group by operator, service_date, trip_key
    ) as trips
    group by operator, service_date
    having count(*) >= 20
),

still_listed as (
    -- a departure that two stops list without a bus while the bus is live on its way is another's; a single row may be
    -- an error, and what is listed after that may be the bus itself, its tracking lost
    select
        pairs.trip_key,
        pairs.departure_key
    from pairs
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ built('anonymous_departures') }} as listed using (departure_key)
    where pairs.basis = 'live'
    group by pairs.trip_key, pairs.departure_key
    having
        count(
            case
                when
                    listed.last_theoretical_at
                    > add_seconds(pairs.first_live_at, parameters.past_tolerance_seconds)
                    and coalesce(listed.last_theoretical_at <= pairs.last_live_at, true)
                    then 1
            end
        ) >= least(2, count(*))
),

costs as (
    select
        pairs.*,
        {{ relative_delay }} as relative_delay,
        greatest(coalesce(
            (seconds_between(pairs.first_live_at, pairs.departure_at) - lead_times.longest_seconds)
            / parameters.lead_cost_seconds,
            0
        ), 0) as cost,
        row_number() over (partition by {{ line_day }} order by pairs.trip_key, pairs.departure_key) as pair_number,
        dense_rank() over (partition by {{ line_day }} order by pairs.trip_key) as trip_number,
        dense_rank() over (partition by {{ line_day }} order by pairs.departure_key) as departure_number
    from pairs
    cross join {{ ref('inference_parameters') }} as parameters
    left join lead_times using (operator, service_date)
    left join still_listed using (trip_key, departure_key)
    where pairs.basis = 'live' and still_listed.trip_key is null
),

known_delays as (
    -- of buses whose departure is known, in classes
    select
        {{ line_day }},
        round(20 * {{ relative_delay }}) / 20 as known_delay,
        count(*) as n_known
    from pairs
    cross join {{ ref('inference_parameters') }}
    where basis != 'live' and above_seconds is not null
    group by {{ line_day }}, round(20 * {{ relative_delay }}) / 20
),

known_on_days as (
    select
        operator,
        service_date,
        known_delay,
        sum(n_known) as n_known,
        sum(sum(n_known)) over (partition by operator, service_date) as n_known_of_day
    from known_delays
    group by operator, service_date, known_delay
),

known_on_lines as (
    -- those of all lines together count as a few
    select
        {{ line_day }},
        {{ list_in_order("coalesce(known_delay, 0)", "known_delay") }} as known_delays,
        {{ list_in_order(
            "coalesce(lines.n_known, 0) + coalesce(cast(days.n_known as double) * error_passages "
            ~ "/ (days.n_known_of_day + error_passages), 0)",
            "known_delay"
        ) }} as known_weights,
        coalesce(sum(lines.n_known), 0) as n_known
    from (select distinct {{ line_day }} from costs) as line_days
    cross join {{ ref('inference_parameters') }}
    left join known_on_days as days using (operator, service_date)
    left join known_delays as lines using ({{ line_day }}, known_delay)
    group by {{ line_day }}
),

matched as (
    select
        {{ line_day }},
        {{ each_of('matched') }} as matched
    from (
        select
            {{ line_day }},
            {{ pair_probabilities(
                "trip_number", "departure_number", "relative_delay", "above_seconds", "cost", "pair_number",
                "any_value(known_delays)", "any_value(known_weights)", "any_value(n_known)", "max(match_unpaired_cost)"
            ) }} as matched
        from costs
        cross join {{ ref('inference_parameters') }}
        inner join known_on_lines using ({{ line_day }})
        group by {{ line_day }}
    ) as assignments
)

select
    costs.* {{ exclude(
        "first_live_at, last_live_at, n_replaced_rows, match_score, usual_seconds, relative_delay, cost",
        "pair_number, trip_number, departure_number"
    ) }},
    matched.matched.is_chosen as is_match,
    matched.matched.probability,
    matched.matched.common_seconds
from costs
inner join matched using ({{ line_day }})
where costs.pair_number = matched.matched.pair
