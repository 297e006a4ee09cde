{{ config(severity='error', meta={'checks': 'logic'}) }}
-- A trip is judged by one stop, a bus does not arrive at its origin nor depart from its terminus, headways are of
-- stops that a ruleset names or of all, and what is demanded and judged lies in order.
select *
from {{ ref('authority_rulesets') }}
where
    (judged = 'trips' and stop_scope not in ('origin', 'terminus'))
    or (stop_scope = 'origin' and coalesce(event, 'departure') != 'departure')
    or (stop_scope = 'terminus' and coalesce(event, 'arrival') != 'arrival')
    or (frequent_judged_by is not null and (frequent_per_hour is null or stop_scope in ('origin', 'terminus')))
    or (gap_ratio is not null and frequent_judged_by is null)
    or early_seconds > late_seconds
    or from_hour >= to_hour
    or minimum > target
    or (is_confirmed and source is null)
