-- One row per operator, service_date, line, direction and service_hour: how well the stops of the line were watched.
-- Of the stops that were asked; n_stops says how many there are.
with stops as (
    select
        operator,
        service_date,
        line_code,
        direction,
        stop_code,
        count(*) over (partition by operator, service_date, line_code, direction) as n_stops
    from (
        select distinct
            operator,
            service_date,
            line_code,
            direction,
            stop_code
        from {{ ref('line_stops_of_day') }}
        where {{ is_built() }}
    ) as listed
)

select
    coverage.operator,
    coverage.service_date,
    stops.line_code,
    stops.direction,
    coverage.service_hour,
    max(stops.n_stops) as n_stops,
    count(*) as n_stops_polled,
    cast(sum(coverage.covered_seconds) as bigint) as covered_seconds,
    3600 * count(*) as asked_seconds,
    max(coverage.ruleset_version) as ruleset_version
from {{ ref('coverage') }} as coverage
inner join stops
    on
        coverage.operator = stops.operator
        and coverage.service_date = stops.service_date
        and coverage.stop_code = stops.stop_code
where {{ is_built('coverage.service_date') }}
group by coverage.operator, coverage.service_date, stops.line_code, stops.direction, coverage.service_hour
