-- One row per operator, service_date, line, direction, stop and service_hour: how many of the visits listed live were
-- flagged as full.
-- A visit is full if at least half of its live listings say so; surely, if all do; possibly, if any does.
{%- set stop_hour = "operator, service_date, line_code, direction, stop_code, service_hour" %}
select
    {{ stop_hour }},
    count(*) as n_visits,
    count(case when is_full_share >= 0.5 then 1 end) as n_full,
    count(case when is_full_share = 1 then 1 end) as n_surely_full,
    count(case when is_full_share > 0 then 1 end) as n_possibly_full,
    cast(sum(n_polls) as bigint) as n_listings,
    cast(sum(round(is_full_share * n_polls)) as bigint) as n_full_listings,
    max(ruleset_version) as ruleset_version
from {{ built('stop_visits') }}
where is_full_share is not null
group by {{ stop_hour }}
