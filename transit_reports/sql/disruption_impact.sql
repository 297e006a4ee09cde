-- What disruptions changed in the on-time share of their lines, with a 95 % interval.
select
    impact.episode_id,
    impact.line_code,
    impact.n_hours_compared,
    impact.n_dates_compared,
    impact.during_value,
    impact.expected_value,
    impact.impact,
    impact.impact_low,
    impact.impact_high,
    impact.null_reason
from marts.disruption_impact as impact
where
    impact.metric = 'on_time_share'
    and service_date(impact.from_at) <= $last
    and service_date(greatest(impact.from_at, impact.to_at)) >= $first
order by impact.impact_high, impact.episode_id, impact.line_code
