-- What did disruptions do to punctuality? Change of the estimated on-time share of a line during each episode, with its
-- 95 % interval. An interval that contains 0 shows no effect. Episodes whose change cannot be told have a reason
-- instead: they are part of what disruptions cost, and not those with the least. One that is open has no end, and its
-- change is that of the hours so far. Only episodes that began on dates that are over count.
select
    impact.operator,
    episodes.event_meaning,
    episodes.cause,
    impact.line_code,
    impact.from_at,
    case when not episodes.is_open then impact.to_at end as to_at,
    episodes.is_open,
    impact.n_hours_compared,
    round(impact.during_value, 3) as on_time_share_during,
    round(impact.expected_value, 3) as on_time_share_expected,
    round(impact.impact, 3) as impact,
    round(impact.impact_low, 3) as impact_low,
    round(impact.impact_high, 3) as impact_high,
    case
        when impact.impact_high < 0 then 'worse'
        when impact.impact_low > 0 then 'better'
        when impact.impact is not null then 'no effect shown'
        else impact.null_reason
    end as verdict
from marts.disruption_impact as impact
inner join marts.disruptions as episodes using (operator, episode_id)
inner join quality.operators
    on impact.operator = operators.operator and cast(impact.from_at as date) <= operators.closed_date
where
    impact.metric = 'on_time_share'
    and coalesce(cast(impact.from_at as date) >= getvariable('from_date'), true)
    and coalesce(cast(impact.from_at as date) <= getvariable('to_date'), true)
    and (getvariable('lines') is null or list_contains(getvariable('lines'), impact.line_code))
order by impact.operator, impact.impact nulls last, impact.line_code, impact.from_at
