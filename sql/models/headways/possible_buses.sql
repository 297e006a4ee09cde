-- One row per bus that may have passed a stop at which a line is frequent: when it passed, and whether it did, as far
-- as that is known. A line is frequent by the thresholds in force, or by a ruleset that judges its waits there. A bus
-- is a departure that was due, or a trip without one. A trip on a diversion skips stops: it runs, and the stop takes
-- it off its list. Where nothing is known of a bus, it did as the buses before and after it.
{%- set stop_buses = "partition by due.operator, due.service_date, due.line_code, due.direction, due.stop_code"
    " order by due.scheduled_at, due.departure_key" %}
with parameters as (
    select * from {{ ref('inference_parameters') }}
),

frequent_stops as (
    select distinct
        hours.operator,
        hours.service_date,
        hours.line_code,
        hours.direction,
        hours.stop_code
    from (
        select
            operator,
            service_date,
            line_code,
            direction,
            stop_code,
            count(*) as n_buses
        from {{ ref('scheduled_passages') }}
        group by operator, service_date, line_code, direction, stop_code, service_hour
    ) as hours
    {{ join_rules('hours.service_date') }}
    left join {{ ref('judging_rulesets') }} as judging
        on rules.ruleset_version = judging.ruleset_version and judging.frequent_judged_by = 'excess_wait'
    left join {{ ref('named_stops') }} as named_stops
        on
            hours.operator = named_stops.operator
            and hours.service_date = named_stops.service_date
            and hours.line_code = named_stops.line_code
            and hours.direction = named_stops.direction
            and hours.stop_code = named_stops.stop_code
            and judging.stop_scope = named_stops.stop_scope
    where
        hours.n_buses >= rules.frequent_per_hour
        or (
            hours.n_buses >= judging.frequent_per_hour
            and (judging.stop_scope = 'all' or named_stops.stop_code is not null)
        )
),

due as (
    select
        calls.*,
        -- as unsure of all stops between two that are known well
        count(case when calls.arrival_quality = 'evidenced' then 1 end) over (
            partition by calls.departure_key order by calls.position rows between unbounded preceding and current row
        ) as n_evidenced_before,
        coalesce(calls.arrival_quality in ('evidenced', 'bounded') or visits.n_polls > 0, false) as is_seen,
        case when trips.outcome = 'run' then visits.n_withdrawn_polls end as n_withdrawn_polls,
        case when trips.outcome = 'run' then visits.withdrawn_at end as withdrawn_at
    from {{ built('trip_trajectories') }} as calls
    left join {{ built('stop_visits') }} as visits using (visit_key)
    left join {{ built('trips') }} as trips on calls.trip_key = trips.trip_key
),

of_frequent_stops as (
    select
        due.*,
        -- buses in a row that the stop did not see have the same number
        count(case when due.is_seen then 1 end) over (
            {{ stop_buses }} rows between unbounded preceding and current row
        ) as n_seen
    from due
    inner join frequent_stops using (operator, service_date, line_code, direction, stop_code)
),

judged as (
    -- one answer may lack a row by mistake; two do not, of one bus or of several unseen ones in a row
    select
        buses.*,
        case
            when buses.is_seen then 0
            when buses.n_withdrawn_polls >= parameters.fewest_agreeing then 1
            when
                buses.n_withdrawn_polls > 0
                and sum(buses.n_withdrawn_polls) over unseen_row >= parameters.fewest_agreeing
                and min(buses.withdrawn_at) over unseen_row < max(buses.withdrawn_at) over unseen_row
                then 1
        end as is_skipped
    from of_frequent_stops as buses
    cross join parameters
    window unseen_row as (
        partition by
            buses.operator, buses.service_date, buses.line_code, buses.direction, buses.stop_code, buses.n_seen
    )
),

between_known as (
    -- the nearest buses of the stop, before and after, of which it is known
    select
        judged.*,
        {{ nearest_known(
            {"is_skipped": "judged.is_skipped", "known_at": "judged.scheduled_at"}, "judged.is_skipped is not null"
        ) }}
    from judged
    window
        {{ windows_around(
            "judged.operator, judged.service_date, judged.line_code, judged.direction, judged.stop_code",
            "judged.scheduled_at, judged.departure_key"
        ) }}
)

select
    calls.departure_key as bus_key,
    calls.position,
    calls.operator,
    calls.service_date,
    calls.line_code,
    calls.direction,
    calls.stop_code,
    calls.service_hour,
    case
        when calls.arrival_quality in ('evidenced', 'bounded') then -calls.position else calls.n_evidenced_before
    end as stretch_number,
    microseconds(calls.passed_at) / 1e6 as passed_seconds,
    microseconds(calls.passed_after) / 1e6 as earliest_seconds,
    microseconds(calls.passed_before) / 1e6 as latest_seconds,
    -- where nobody saw it, the instant is unsure by the schedule too
    case
        when calls.arrival_quality in ('evidenced', 'bounded') then calls.delay_error_seconds
        else sqrt(power(calls.delay_error_seconds, 2) + power(calls.schedule_error_seconds, 2))
    end as error_seconds,
    coalesce(unseen.not_run_share_low, 0) as not_run_share_low,
    coalesce(unseen.not_run_share_high, 0) as not_run_share_high,
    coalesce(calls.is_skipped, calls.is_skipped_before, calls.is_skipped_after, 0) as is_skipped_before,
    coalesce(calls.is_skipped, calls.is_skipped_after, calls.is_skipped_before, 0) as is_skipped_after,
    -- which part of the time between the two known buses lies before this one
    coalesce(
        seconds_between(calls.known_at_before, calls.scheduled_at)
        / nullif(seconds_between(calls.known_at_before, calls.known_at_after), 0),
        0.5
    ) as part_before
from between_known as calls
left join {{ built('unseen_departures') }} as unseen using (departure_key)
left join {{ ref('calls_of_other_trips') }} as others using (departure_key, position)
where others.departure_key is null
union all
select
    visits.visit_key as bus_key,
    visits.position,
    visits.operator,
    visits.service_date,
    visits.line_code,
    visits.direction,
    visits.stop_code,
    visits.service_hour,
    0 as stretch_number,
    microseconds(visits.passed_at) / 1e6 as passed_seconds,
    null as earliest_seconds,
    null as latest_seconds,
    0 as error_seconds,
    0 as not_run_share_low,
    0 as not_run_share_high,
    0 as is_skipped_before,
    0 as is_skipped_after,
    0 as part_before
from {{ ref('unmatched_passages') }} as visits
inner join frequent_stops using (operator, service_date, line_code, direction, stop_code)
