-- One row per operator, service_date, line, direction and arrival_quality: how many of the passages due are known that
-- well, how punctual they are thought to be, and their mean delay.
{%- set quality = "operator, service_date, line_code, direction, arrival_quality" %}
select
    {{ quality }},
    count(*) as n_due,
    {%- for verdict in ["early", "on_time", "late"] %}
        cast(sum({{ verdict }}_probability) as decimal(18, 6)) as expected_{{ verdict }},
    {%- endfor %}
    cast(sum(delay_seconds) as bigint) as expected_delay_seconds_sum,
    avg(delay_seconds) as estimated_mean_delay_seconds,
    max(ruleset_version) as ruleset_version
from {{ built('trip_trajectories') }}
group by {{ quality }}
