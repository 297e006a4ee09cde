-- One row per operator, service_date, ruleset, line and direction, of rulesets that judge frequent service by its
-- waits: the headways at the stops and in the hours that are frequent by the ruleset, of all buses due, and of those
-- observed how many were long gaps. Stops and hours in which too few trips were observed do not take part.
with stop_hours as (
    select
        headways.*,
        judging.ruleset,
        judging.gap_ratio
    from {{ built('headways') }} as headways
    inner join {{ ref('judging_rulesets') }} as judging
        on
            headways.ruleset_version = judging.ruleset_version
            and judging.frequent_judged_by = 'excess_wait'
            and headways.service_hour >= coalesce(judging.from_hour, headways.service_hour)
            and headways.service_hour < coalesce(judging.to_hour, headways.service_hour + 1)
            and headways.n_due >= judging.frequent_per_hour
    left join {{ ref('named_stops') }} as named_stops
        on
            headways.operator = named_stops.operator
            and headways.service_date = named_stops.service_date
            and headways.line_code = named_stops.line_code
            and headways.direction = named_stops.direction
            and headways.stop_code = named_stops.stop_code
            and judging.stop_scope = named_stops.stop_scope
    inner join {{ ref('rulesets') }} as rules on headways.ruleset_version = rules.ruleset_version
    where
        (judging.stop_scope = 'all' or named_stops.stop_code is not null)
        and headways.is_complete
        and headways.expected_seconds_sum * headways.due_seconds_sum > 0
        and headways.n_due_of_observed_trips >= rules.coverage_threshold * headways.n_due
),

observed as (
    -- a gap is long compared with the mean headway scheduled in the hour
    select
        headways.operator,
        headways.service_date,
        headways.line_code,
        headways.direction,
        headways.stop_code,
        headways.service_hour,
        headways.headway_seconds,
        sum(headways.scheduled_seconds) over stop_hour
        / nullif(sum(headways.n_scheduled) over stop_hour, 0) as mean_scheduled_seconds
    from {{ built('observed_headways') }} as headways
    window stop_hour as (
        partition by
            headways.operator, headways.service_date, headways.line_code, headways.direction, headways.stop_code,
            headways.service_hour
    )
),

gaps as (
    select
        stop_hours.operator,
        stop_hours.service_date,
        stop_hours.ruleset,
        stop_hours.line_code,
        stop_hours.direction,
        count(*) as n_headways,
        count(
            case when observed.headway_seconds >= stop_hours.gap_ratio * observed.mean_scheduled_seconds then 1 end
        ) as n_gaps
    from stop_hours
    inner join observed using (operator, service_date, line_code, direction, stop_code, service_hour)
    where stop_hours.gap_ratio is not null
    group by
        stop_hours.operator, stop_hours.service_date, stop_hours.ruleset, stop_hours.line_code, stop_hours.direction
),

sums as (
    select
        operator,
        service_date,
        ruleset,
        line_code,
        direction,
        count(*) as n_stop_hours,
        sum(n_due) as n_due,
        sum(n_due_of_observed_trips) as n_due_of_observed_trips,
        sum(due_seconds_sum) as due_seconds_sum,
        sum(due_seconds_squared_sum) as due_seconds_squared_sum,
        sum(expected_seconds_sum) as expected_seconds_sum,
        sum(expected_seconds_squared_sum) as expected_seconds_squared_sum,
        greatest({{ exact_sum('line_variance') }}, 0) as line_variance,
        max(ruleset_version) as ruleset_version
    from stop_hours
    group by operator, service_date, ruleset, line_code, direction
)

select
    sums.operator,
    sums.service_date,
    sums.ruleset,
    sums.line_code,
    sums.direction,
    sums.n_stop_hours,
    cast(sums.n_due as bigint) as n_due,
    cast(sums.n_due_of_observed_trips as bigint) as n_due_of_observed_trips,
    cast(sums.due_seconds_sum as bigint) as due_seconds_sum,
    cast(sums.due_seconds_squared_sum as bigint) as due_seconds_squared_sum,
    cast(sums.expected_seconds_sum as bigint) as expected_seconds_sum,
    cast(sums.expected_seconds_squared_sum as bigint) as expected_seconds_squared_sum,
    sums.line_variance,
    coalesce(gaps.n_headways, 0) as n_headways,
    coalesce(gaps.n_gaps, 0) as n_gaps,
    sums.ruleset_version
from sums
left join gaps using (operator, service_date, ruleset, line_code, direction)
