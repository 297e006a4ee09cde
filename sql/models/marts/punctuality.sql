-- One row per operator, service_date, line, direction and service_hour: how punctual its visits were.
-- Counts and sums only, so any period adds up; visits of no known line are counted under a null line.
with visits as (
    select * from {{ ref('stop_visits') }}
    where {{ is_built() }}
)

select
    operator,
    service_date,
    line_code,
    direction,
    service_hour,
    count(*) as n_visits,
    count(case when scheduled_at is not null then 1 end) as n_scheduled,
    count(case when punctuality = 'early' then 1 end) as n_early,
    count(case when punctuality = 'on_time' then 1 end) as n_on_time,
    count(case when punctuality = 'late' then 1 end) as n_late,
    count(case when punctuality = 'indeterminate' then 1 end) as n_indeterminate,
    count(case when punctuality = 'unscheduled' then 1 end) as n_unscheduled,
    -- by the likeliest moment: leaving out those whose bounds straddle a threshold would favour the clear cases
    count(punctuality_point) as n_points,
    count(case when punctuality_point = 'on_time' then 1 end) as n_on_time_points,
    count(case when arrival_quality = 'evidenced' then 1 end) as n_evidenced,
    count(case when arrival_quality = 'bounded' then 1 end) as n_bounded,
    count(case when arrival_quality = 'estimated' then 1 end) as n_estimated,
    count(case when arrival_quality = 'untracked' then 1 end) as n_untracked,
    -- delays known to some precision; the bounds are summed over the visits that have both
    count(case when delay_seconds is not null then 1 end) as n_delays,
    cast(coalesce(sum(delay_seconds), 0) as bigint) as delay_seconds_sum,
    count(case when delay_low_seconds is not null and delay_high_seconds is not null then 1 end)
        as n_bounded_delays,
    cast(coalesce(sum(case when delay_high_seconds is not null then delay_low_seconds end), 0) as bigint)
        as delay_low_seconds_sum,
    cast(coalesce(sum(case when delay_low_seconds is not null then delay_high_seconds end), 0) as bigint)
        as delay_high_seconds_sum,
    max(ruleset_version) as ruleset_version
from visits
group by operator, service_date, line_code, direction, service_hour
