-- One row per departure of which no bus was observed, and that is not known not to have run: between which bounds the
-- share of such departures that did not run lies.
-- The stops that are polled shortly before a bus is due list it. So of the departures with many such stops most that
-- are unseen did not run, and how many these are tells how many of the others did not. A departure that was listed as a
-- timetable row until it was due may have run untracked or not at all: of these a share is assumed.
with polled_calls as (
    select
        passages.departure_key,
        passages.position
    from {{ ref('scheduled_passages') }} as passages
    cross join {{ ref('inference_parameters') }} as parameters
    {{ join_proving_answers(
        'passages',
        "seconds_between(polls.received_at, passages.scheduled_at)"
        ~ ' between 0 and parameters.shortly_before_seconds'
    ) }}
    where doubts.request_id is null
    group by passages.departure_key, passages.position
),

polled_departures as (
    select
        departure_key,
        count(*) as n_polled_stops
    from polled_calls
    group by departure_key
),

possibly_run as (
    select distinct departure_key
    from {{ ref('calls_of_other_trips') }}
),

departures as (
    select
        departures.departure_key,
        departures.operator,
        departures.service_date,
        least(coalesce(polled.n_polled_stops, 0), parameters.well_polled_stops) as n_polled_stops,
        coalesce(polled.n_polled_stops >= parameters.well_polled_stops, false) as is_well_polled,
        departures.outcome = 'not_run' as is_not_run,
        departures.outcome != 'not_run'
        and departures.matched_trip_key is null
        and possibly_run.departure_key is null as is_unseen,
        departures.outcome = 'never_tracked' as is_never_tracked,
        parameters.usual_weight,
        parameters.usual_not_run_share,
        parameters.unseen_not_run_share
    from {{ built('scheduled_departures') }} as departures
    inner join {{ listed_lines() }} as listed_lines using (operator, service_date, line_code, direction)
    inner join {{ last_answers() }} as last_answers using (operator)
    cross join {{ ref('inference_parameters') }} as parameters
    left join polled_departures as polled using (departure_key)
    left join possibly_run using (departure_key)
    where departures.is_in_force and departures.departure_at <= last_answers.last_received_at
),

well_polled as (
    -- a few departures say little, and count with what is usual
    select
        operator,
        service_date,
        count(case when is_well_polled and is_not_run then 1 end)
        + max(usual_weight * usual_not_run_share) as n_not_run,
        count(case when is_well_polled and is_unseen then 1 end) as n_unseen,
        count(case when is_well_polled then 1 end) + max(usual_weight) as n_departures,
        max(unseen_not_run_share) as unseen_not_run_share
    from departures
    group by operator, service_date
),

classes as (
    select
        operator,
        service_date,
        n_polled_stops,
        count(*) as n_departures,
        count(case when is_not_run then 1 end) as n_not_run,
        count(case when is_unseen then 1 end) as n_unseen
    from departures
    group by operator, service_date, n_polled_stops
),

missing as (
    -- how many of the class did not run, beyond those known, at least and at most
    select
        classes.*,
        (well_polled.n_not_run + well_polled.unseen_not_run_share * well_polled.n_unseen)
        / well_polled.n_departures * classes.n_departures - classes.n_not_run as n_low,
        (well_polled.n_not_run + well_polled.n_unseen) / well_polled.n_departures * classes.n_departures
        - classes.n_not_run as n_high
    from classes
    inner join well_polled using (operator, service_date)
)

select
    departures.departure_key,
    departures.operator,
    departures.service_date,
    departures.n_polled_stops,
    case
        when departures.is_never_tracked then 0
        else least(greatest(missing.n_low / missing.n_unseen, 0), 1)
    end as not_run_share_low,
    case
        when departures.is_never_tracked then 1
        else least(greatest(missing.n_high / missing.n_unseen, 0), 1)
    end as not_run_share_high
from departures
inner join missing using (operator, service_date, n_polled_stops)
where departures.is_unseen or departures.is_never_tracked
