-- One row per operator and service_date on which too much of what was seen is not recognised, and why: no figure that
-- goes by line or departure can be right then.
-- `lines unknown`: of too many observed passages the line is not known. `stops out of order`: too many buses pass stops
-- before others that their list has first. `departures unknown`: too many trips that were seen to run are no departure
-- of the timetable.
with seen as (
    select
        operator,
        service_date,
        count(case when arrival_quality in ('evidenced', 'bounded') then 1 end) as n_passages,
        count(case when arrival_quality in ('evidenced', 'bounded') and line_code is null then 1 end) as n_unknown,
        count(case when is_out_of_order then 1 end) as n_out_of_order
    from {{ built('stop_visits') }}
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
        seen.n_out_of_order,
        trips.n_trips,
        trips.n_unknown as n_trips_unknown,
        case
            when
                seen.n_passages >= parameters.recognised_passages
                and seen.n_unknown > parameters.unrecognised_share * seen.n_passages
                then 'lines unknown'
            when
                seen.n_passages + seen.n_out_of_order >= parameters.recognised_passages
                and seen.n_out_of_order
                > parameters.out_of_order_share * (seen.n_passages + seen.n_out_of_order)
                then 'stops out of order'
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
