{{ config(materialized=inlined()) }}
-- One row per version of the thresholds and ruleset with a known band: what counts as early and late by it, and which
-- passages it judges. That in force is the version's own.
select
    rules.ruleset_version,
    authorities.ruleset,
    authorities.is_in_force,
    case when authorities.is_in_force then rules.early_seconds else authorities.early_seconds end as early_seconds,
    case when authorities.is_in_force then rules.late_seconds else authorities.late_seconds end as late_seconds,
    authorities.stop_scope,
    authorities.event,
    authorities.from_hour,
    authorities.to_hour,
    authorities.frequent_per_hour,
    authorities.frequent_judged_by,
    authorities.gap_ratio
from {{ ref('rulesets') }} as rules
cross join {{ ref('authority_rulesets') }} as authorities
where authorities.is_in_force or authorities.late_seconds is not null
