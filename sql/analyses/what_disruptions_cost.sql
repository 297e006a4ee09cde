-- What did disruptions do to punctuality? Change of the on-time share during each episode, with its 95 % interval.
-- An interval that contains 0 shows no effect. Episodes without comparable hours are left out.
select
    episodes.event_meaning,
    episodes.cause,
    impact.line_code,
    impact.from_at,
    impact.to_at,
    impact.n_judged,
    round(impact.on_time_share_during, 3) as on_time_share_during,
    round(impact.on_time_share_expected, 3) as on_time_share_expected,
    round(impact.impact, 3) as impact,
    round(impact.impact_low, 3) as impact_low,
    round(impact.impact_high, 3) as impact_high
from marts.disruption_impact as impact
inner join marts.disruptions as episodes using (operator, episode_id)
where impact.null_reason is null
order by impact.impact, impact.line_code, impact.from_at
