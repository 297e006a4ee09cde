-- One row per operator and service_date on which too much of what was seen is not recognised, and why: no figure that
-- goes by line or departure can be right then.
-- `lines unknown`: of too many observed passages the line is not known. `departures unknown`: too many trips that were
-- seen to run are no departure of the timetable.
with seen as (
    select
        operator,
        service_date,
        count(*) as n_passages,
        count(case when line_code is null then 1 end) as n_unknown
    from {{ built('stop_visits') }}
    where arrival_quality in ('evidenced', 'bounded')
    group by operator, service_date
),

trips as (
    select
        operator,
        service_date,
        count(*) as n_trips,
        count(case when scheduled_departure_at is null then 1 end) as n_unknown
    from {{ built('trips') }}
    where n_passed > 0
    group by operator, service_date
),

judged as (
    select
        operator,
        service_date,
        seen.n_passages,
        seen.n_unknown as n_passages_unknown,
        trips.n_trips,
        trips.n_unknown as n_trips_unknown,
        case
            when
                seen.n_passages >= parameters.recognised_passages
                and seen.n_unknown > parameters.unrecognised_share * seen.n_passages
                then 'lines unknown'
            when
                seen.n_passages >= parameters.recognised_passages
                and trips.n_unknown > parameters.unrecognised_share * trips.n_trips
                then 'departures unknown'
        end as null_reason
    from seen
    cross join {{ ref('inference_parameters') }} as parameters
    left join trips using (operator, service_date)
)

select * from judged
where null_reason is not null
