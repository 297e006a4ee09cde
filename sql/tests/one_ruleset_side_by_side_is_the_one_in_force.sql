{{ config(severity='error', meta={'checks': 'logic'}) }}
-- It is called `default`, judges every passage, and takes its band from `rulesets` alone.
select
    count(*) as n_rows,
    max(ruleset) as ruleset
from {{ ref('authority_rulesets') }}
where is_in_force
having
    count(*) != 1
    or max(ruleset) != 'default'
    or max(judged) != 'passages'
    or max(stop_scope) != 'all'
    or count(event) + count(early_seconds) + count(late_seconds) + count(from_hour) + count(to_hour)
    + count(frequent_per_hour) != 0
