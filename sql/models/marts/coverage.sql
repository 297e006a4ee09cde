-- One row per operator, service_date, stop and service_hour in which passages were due at the stop or were to be
-- requested of it: what was due, and how well the stop was polled. Nothing was requested where only `n_due` is not 0.
{%- set stop_hour = "operator, service_date, stop_code, service_hour" %}
with requests as (
    select
        requests.*,
        requests.key as stop_code,
        requests.is_good and doubts.request_id is null as is_proof
    from {{ built('requests') }} as requests
    {{ join_doubts("''", answers='requests') }}
    where requests.endpoint = 'passages' and requests.key != ''
),

requested as (
    select
        {{ stop_hour }},
        count(*) as planned,
        count(sent_at) as sent,
        count(case when is_good then 1 end) as good,
        count(case when is_good and not is_proof then 1 end) as doubtful
    from requests
    group by {{ stop_hour }}
),

due as (
    select
        {{ stop_hour }},
        count(*) as n_due
    from {{ built('trip_trajectories') }}
    group by {{ stop_hour }}
),

polls as (
    select
        {{ stop_hour }},
        service_seconds,
        lag(service_seconds) over stop_day as previous_seconds,
        lead(service_seconds) over stop_day as next_seconds,
        rules.coverage_gap_seconds
    from requests
    {{ join_rules('service_date') }}
    where is_proof
    window stop_day as (partition by operator, service_date, stop_code order by service_seconds, request_id)
),

gaps as (
    -- the time between two polls, cut at full hours: first the part in the hour of the later poll, then, where the next
    -- poll is in another hour, the rest of the hour of the earlier one
    select
        {{ stop_hour }},
        service_seconds - greatest(coalesce(previous_seconds, 0), service_hour * 3600) as seconds,
        service_seconds - previous_seconds <= coverage_gap_seconds as is_covered
    from polls
    union all
    select
        {{ stop_hour }},
        (service_hour + 1) * 3600 - service_seconds as seconds,
        next_seconds - service_seconds <= coverage_gap_seconds as is_covered
    from polls
    where coalesce(next_seconds >= (service_hour + 1) * 3600, true)
),

gap_sums as (
    select
        {{ stop_hour }},
        max(seconds) as longest_gap_seconds,
        cast(sum(case when is_covered then seconds else 0 end) as bigint) as covered_seconds
    from gaps
    group by {{ stop_hour }}
)

select
    {{ stop_hour }},
    coalesce(due.n_due, 0) as n_due,
    coalesce(requested.planned, 0) as planned,
    coalesce(requested.sent, 0) as sent,
    coalesce(requested.good, 0) as good,
    coalesce(requested.doubtful, 0) as doubtful,
    coalesce(gap_sums.longest_gap_seconds, 3600) as longest_gap_seconds,
    coalesce(gap_sums.covered_seconds, 0) as covered_seconds,
    rules.ruleset_version
from requested
full outer join due using ({{ stop_hour }})
left join gap_sums using ({{ stop_hour }})
{{ join_rules('service_date') }}
