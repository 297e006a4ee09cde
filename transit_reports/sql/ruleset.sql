-- The rules that hold in the period.
select
    ruleset_version,
    -early_seconds as early_seconds,
    late_seconds,
    frequent_per_hour,
    bunched_ratio,
    gap_ratio
from core.rulesets
cross join (select max(ruleset_version) as version_set from quality.operators) as operators
where
    coalesce(
        ruleset_version = version_set,
        valid_from_date <= $last and coalesce(valid_to_date > $first, true)
    )
order by ruleset_version desc
limit 1
