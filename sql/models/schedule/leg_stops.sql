{{ config(meta={
    'reads_all_dates': 'stops are learned over dates, for schedule_memory_days', 'other_dates_of': ['leg_calls']
}) }}
-- One row per operator, service_date, line, direction, leg and position: a stop at which departures of the leg are due.
-- A direction's stop list holds the stops of all its variants. A leg calls where its trips were listed; elsewhere only
-- between its ends (where they are not known, the first and last stop that listed it; of an only leg, those of the
-- list), and not at stops in a row that listed none of its trips, if two answers that came shortly before a trip should
-- have, nor where most trips of the direction that pass were not listed. Where one or two stops never list anything,
-- the upstream may not know of them. Where a stop did not list half of the trips that answers should have listed, those
-- alone are due that it ever listed. A leg that nothing tells of calls where most trips of the direction do.
-- A leg of few trips counts those of earlier dates, too.
{%- set way = "operator, service_date, line_code, direction" %}
with earlier as (
    select
        legs.operator,
        legs.service_date,
        legs.line_code,
        legs.direction,
        legs.leg,
        legs.position,
        sum(earlier_legs.n_calls) as earlier_calls,
        sum(earlier_legs.n_chances) as earlier_chances,
        sum(earlier_legs.n_called_chances) as earlier_called_chances
    from {{ built('leg_calls') }} as legs
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ ref('leg_calls') }} as earlier_legs
        on
            legs.operator = earlier_legs.operator
            and legs.line_code = earlier_legs.line_code
            and legs.direction = earlier_legs.direction
            and legs.leg = earlier_legs.leg
            and legs.position = earlier_legs.position
            and legs.stop_code = earlier_legs.stop_code
            and earlier_legs.service_date < legs.service_date
            and earlier_legs.service_date >= legs.service_date - parameters.schedule_memory_days
    where legs.n_matched_trips < parameters.skipped_stop_trips
    group by legs.operator, legs.service_date, legs.line_code, legs.direction, legs.leg, legs.position
),

counted as (
    select
        {{ way }},
        leg,
        position,
        stop_sequence,
        stop_code,
        is_listing,
        n_matched_trips,
        n_calls + coalesce(earlier_calls, 0) as n_calls,
        n_chances + coalesce(earlier_chances, 0) as n_chances,
        n_called_chances + coalesce(earlier_called_chances, 0) as n_called_chances
    from {{ built('leg_calls') }}
    left join earlier using ({{ way }}, leg, position)
),

listed as (
    select
        *,
        count(case when n_calls > 0 then 1 end) over (
            partition by {{ way }}, leg order by position rows between unbounded preceding and current row
        ) as n_called_before,
        min(case when n_calls > 0 then position end) over (partition by {{ way }}, leg) as first_called,
        max(case when n_calls > 0 then position end) over (partition by {{ way }}, leg) as last_called,
        min(leg) over (partition by {{ way }}) = max(leg) over (partition by {{ way }}) as is_only_leg
    from counted
),

stretches as (
    -- stops in a row at which the leg was not listed are skipped together
    select
        *,
        sum(case when n_calls = 0 then n_chances end) over stretch as n_chances_in_stretch,
        count(case when n_calls = 0 then 1 end) over stretch as n_stops_in_stretch,
        count(case when n_calls = 0 and is_listing then 1 end) over stretch as n_listing_in_stretch,
        sum(n_calls) over all_legs as n_calls_of_all,
        coalesce(sum(
            case when n_calls = 0 and position between first_called and last_called then n_chances end
        ) over all_legs, 0) as n_skips_of_all,
        2 * sum(case when n_calls > 0 then n_matched_trips else 0 end) over all_legs
        >= sum(n_matched_trips) over all_legs as is_usual_call
    from listed
    window
        stretch as (partition by {{ way }}, leg, n_called_before),
        all_legs as (partition by {{ way }}, position)
)

select
    stretches.* {{ exclude(
        "n_calls, n_chances, n_called_chances, is_listing, n_called_before, n_chances_in_stretch, n_stops_in_stretch",
        "n_listing_in_stretch, first_called, last_called, is_only_leg, n_calls_of_all, n_skips_of_all",
        "n_matched_trips, is_usual_call"
    ) }},
    stretches.n_calls > 0
    and stretches.n_chances - stretches.n_called_chances >= greatest(
        stretches.n_called_chances, least(stretches.n_calls, parameters.skipped_stop_trips)
    ) as is_rare
from stretches
cross join {{ ref('inference_parameters') }} as parameters
left join {{ built('leg_ends') }} as ends using (operator, service_date, line_code, direction, leg)
where
    stretches.n_calls > 0
    or stretches.position between coalesce(ends.origin_position, stretches.position)
    and coalesce(ends.destination_position, stretches.position)
    and (
        coalesce(stretches.n_chances_in_stretch < 2, true)
        and stretches.n_calls_of_all >= stretches.n_skips_of_all
        and (stretches.is_usual_call or coalesce(stretches.first_called, ends.origin_position) is not null)
        and (
            stretches.is_only_leg
            or stretches.position between coalesce(ends.origin_position, stretches.first_called, stretches.position)
            and coalesce(ends.destination_position, stretches.last_called, stretches.position)
        )
        or stretches.n_listing_in_stretch = 0 and stretches.n_stops_in_stretch < parameters.silent_stops
    )
