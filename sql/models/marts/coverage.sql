-- One row per operator, service_date, stop and service_hour in which passages were due at the stop or were to be
-- requested of it: what was due, and how well the stop was polled. Nothing was requested where only `n_due` is not 0.
with requests as (
    select * from {{ built('requests') }}
    where endpoint = 'passages' and key != ''
),

requested as (
    select
        operator,
        service_date,
        key as stop_code,
        service_hour,
        count(*) as planned,
        count(sent_at) as sent,
        count(case when is_good then 1 end) as good
    from requests
    group by operator, service_date, key, service_hour
),

due as (
    select
        operator,
        service_date,
        stop_code,
        service_hour,
        count(*) as n_due
    from {{ built('trip_trajectories') }}
    group by operator, service_date, stop_code, service_hour
),

hours as (
    select
        operator,
        service_date,
        stop_code,
        service_hour,
        coalesce(due.n_due, 0) as n_due,
        coalesce(requested.planned, 0) as planned,
        coalesce(requested.sent, 0) as sent,
        coalesce(requested.good, 0) as good
    from requested
    full outer join due using (operator, service_date, stop_code, service_hour)
),

polls as (
    select
        operator,
        service_date,
        key as stop_code,
        service_hour,
        service_seconds,
        lag(service_seconds) over stop_day as previous_seconds,
        lead(service_seconds) over stop_day as next_seconds
    from requests
    where is_good
    window stop_day as (partition by operator, service_date, key order by service_seconds, request_id)
),

gaps as (
    -- the time between two polls, cut at full hours: first the part in the hour of the later poll, then, where the next
    -- poll is in another hour, the rest of the hour of the earlier one
    select
        operator,
        service_date,
        stop_code,
        service_hour,
        service_seconds - greatest(coalesce(previous_seconds, 0), service_hour * 3600) as seconds,
        coalesce(service_seconds - previous_seconds <= rules.coverage_gap_seconds, false) as is_covered
    from polls
    {{ join_rules('service_date') }}
    union all
    select
        operator,
        service_date,
        stop_code,
        service_hour,
        (service_hour + 1) * 3600 - service_seconds as seconds,
        coalesce(next_seconds - service_seconds <= rules.coverage_gap_seconds, false) as is_covered
    from polls
    {{ join_rules('service_date') }}
    where coalesce(next_seconds >= (service_hour + 1) * 3600, true)
),

gap_sums as (
    select
        operator,
        service_date,
        stop_code,
        service_hour,
        max(seconds) as longest_gap_seconds,
        cast(sum(case when is_covered then seconds else 0 end) as bigint) as covered_seconds
    from gaps
    group by operator, service_date, stop_code, service_hour
)

select
    operator,
    service_date,
    stop_code,
    service_hour,
    hours.n_due,
    hours.planned,
    hours.sent,
    hours.good,
    coalesce(gap_sums.longest_gap_seconds, 3600) as longest_gap_seconds,
    coalesce(gap_sums.covered_seconds, 0) as covered_seconds,
    rules.ruleset_version
from hours
left join gap_sums using (operator, service_date, stop_code, service_hour)
{{ join_rules('hours.service_date') }}
