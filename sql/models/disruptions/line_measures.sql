{{ config(schema='intermediate') }}
{%- set line_hour = "operator, service_date, line_code, service_hour" %}
-- One row per operator, service_date, line, service_hour and metric: the sums of which the metric is made over any
-- hours, as first_sum / first_weight - second_sum / second_weight.
with delivered as (
    select
        {{ line_hour }},
        sum(case when outcome = 'not_run' then 1 else 0 end) as n_not_run,
        count(*) as n_known
    from {{ built('scheduled_departures') }}
    where is_in_force and outcome in ('run', 'tracking_lost', 'not_run')
    group by {{ line_hour }}
)

select
    {{ line_hour }},
    'on_time_share' as metric,
    cast(sum(expected_on_time) as double) as first_sum,
    cast(sum(n_due) as double) as first_weight,
    0.0 as second_sum,
    1.0 as second_weight,
    1 - cast(sum(n_unobserved) as double) / sum(n_due) as seen_share
from {{ built('punctuality') }}
where line_code is not null and n_due > 0
group by {{ line_hour }}
union all
select
    {{ line_hour }},
    'gaps_share' as metric,
    cast(sum(expected_gaps) as double) as first_sum,
    cast(sum(expected_headways) as double) as first_weight,
    0.0 as second_sum,
    1.0 as second_weight,
    cast(sum(n_due_of_observed_trips) as double) / sum(n_due) as seen_share
from {{ built('headways') }}
where expected_headways > 0
group by {{ line_hour }}
union all
select
    {{ line_hour }},
    'excess_wait_seconds' as metric,
    cast(sum(expected_seconds_squared_sum) as double) as first_sum,
    cast(2 * sum(expected_seconds_sum) as double) as first_weight,
    cast(sum(due_seconds_squared_sum) as double) as second_sum,
    cast(2 * sum(due_seconds_sum) as double) as second_weight,
    cast(sum(n_due_of_observed_trips) as double) / sum(n_due) as seen_share
from {{ built('headways') }}
where is_frequent and expected_seconds_sum > 0 and due_seconds_sum > 0
group by {{ line_hour }}
union all
select
    {{ line_hour }},
    'not_run_share' as metric,
    cast(n_not_run as double) as first_sum,
    cast(n_known as double) as first_weight,
    0.0 as second_sum,
    1.0 as second_weight,
    1.0 as seen_share
from delivered
