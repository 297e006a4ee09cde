-- The rules that hold in the period.
select
    ruleset_version,
    -early_seconds as early_seconds,
    late_seconds,
    frequent_per_hour,
    bunched_ratio,
    gap_ratio
from core.rulesets
where valid_from_date <= $last and coalesce(valid_to_date > $first, true)
order by ruleset_version desc
limit 1
