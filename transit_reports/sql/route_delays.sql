-- Delay at each stop along the main pattern of a line and direction, of the passages whose time was observed.
with passages as (
    select
        line_code,
        direction,
        stop_sequence,
        stop_code,
        delay_seconds,
        arrival_quality in ('evidenced', 'bounded') as is_observed
    from core.trip_trajectories
    where service_date between $first and $last and stop_sequence is not null
)

select
    line_code,
    direction,
    stop_sequence,
    stop_code,
    count(*) as n_due,
    count_if(is_observed) as n_observed,
    median(delay_seconds) filter (is_observed) as median_delay,
    quantile_cont(delay_seconds, 0.25) filter (is_observed) as quarter_delay,
    quantile_cont(delay_seconds, 0.75) filter (is_observed) as three_quarters_delay
from passages
group by line_code, direction, stop_sequence, stop_code
order by all
