-- What would the on-time shares be under another ruleset? Each line in the latest month, by the ruleset in force and by
-- another one of core.authority_rulesets (`origin_5min` where none is asked for), from the same estimates. Of a ruleset
-- with another period than a month, or over other dates, ask rulesets_between. Of each operator the lines whose share
-- differs most come first.
with monthly as (
    select *
    from marts.punctuality_by_ruleset_period
    where
        ruleset in ('default', coalesce(getvariable('ruleset'), 'origin_5min'))
        and (getvariable('lines') is null or list_contains(getvariable('lines'), line_code))
    qualify
        period_starts_date
        = max(case when ruleset = 'default' then period_starts_date end) over (partition by operator)
)

select
    operator,
    in_force.period_starts_date as month_starts_date,
    line_code,
    direction,
    in_force.n_due,
    round(in_force.estimated_on_time_share, 3) as on_time_share,
    round(in_force.estimated_on_time_share_low, 3) as low,
    round(in_force.estimated_on_time_share_high, 3) as high,
    in_force.null_reason,
    other.n_due as other_n_due,
    round(other.estimated_on_time_share, 3) as other_on_time_share,
    round(other.estimated_on_time_share_low, 3) as other_low,
    round(other.estimated_on_time_share_high, 3) as other_high,
    other.null_reason as other_null_reason,
    round(other.estimated_on_time_share - in_force.estimated_on_time_share, 3) as difference
from monthly as in_force
inner join monthly as other using (operator, period_starts_date, line_code, direction)
where in_force.ruleset = 'default' and other.ruleset = coalesce(getvariable('ruleset'), 'origin_5min')
order by operator, abs(difference) desc nulls last, line_code, direction
