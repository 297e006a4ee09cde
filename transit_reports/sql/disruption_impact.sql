-- What disruptions changed in the on-time share of their lines, with a 95 % interval.
select
    impact.episode_id,
    impact.line_code,
    impact.n_hours,
    impact.n_judged,
    impact.on_time_share_during,
    impact.on_time_share_expected,
    impact.impact,
    impact.impact_low,
    impact.impact_high,
    impact.null_reason
from marts.disruption_impact as impact
where service_date(impact.from_at) <= $last and service_date(impact.to_at) >= $first
order by impact.impact_high, impact.episode_id, impact.line_code
