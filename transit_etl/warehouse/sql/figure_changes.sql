-- One row per figure, operator and month that differs, of the network or of a line and direction: the change, and the
-- part of it that each cause has.
-- Of a ratio r = N / D, a part of the dates changes N by n and D by d. With the means of before and after, r' and D', the
-- change of r is the sum of (n - r' d) / D' over the parts, exactly and whatever their order.
with levels as (
    select 'network' as level, * replace (null as line_code, null as direction) from date_sums
    union all
    select 'line' as level, * from date_sums where line_code is not null
),

by_date as (
    select
        level, figure, ratio_number, operator, service_date, line_code, direction,
        date_trunc('month', service_date)::date as month,
        coalesce(sum(numerator) filter (side = 'before'), 0) as numerator_before,
        coalesce(sum(denominator) filter (side = 'before'), 0) as denominator_before,
        coalesce(sum(numerator) filter (side = 'after'), 0) as numerator_after,
        coalesce(sum(denominator) filter (side = 'after'), 0) as denominator_after
    from levels
    group by all
),

by_cause as (
    select
        level, figure, ratio_number, by_date.operator, month, line_code, direction,
        -- a date that counts in one file only, such as one that was not over yet, is new data
        case when counts.n_sides = 1 then 'data' else coalesce(dates.cause, 'not separated') end as cause,
        sum(numerator_before) as numerator_before,
        sum(denominator_before) as denominator_before,
        sum(numerator_after) as numerator_after,
        sum(denominator_after) as denominator_after
    from by_date
    left join dates on by_date.operator = dates.operator and by_date.service_date = dates.service_date
    left join (select operator, service_date, any_value(n_sides) as n_sides from counted group by all) as counts
        on by_date.operator = counts.operator and by_date.service_date = counts.service_date
    group by all
),

ratios as (
    select
        level, figure, ratio_number, operator, month, line_code, direction,
        sum(numerator_before) / nullif(sum(denominator_before), 0) as ratio_before,
        sum(numerator_after) / nullif(sum(denominator_after), 0) as ratio_after,
        (sum(denominator_before) + sum(denominator_after)) / 2 as mean_denominator
    from by_cause
    group by all
),

parts as (
    select
        by_cause.level, by_cause.figure, by_cause.operator, by_cause.month, by_cause.line_code, by_cause.direction, cause,
        sum(
            (
                numerator_after - numerator_before
                - (ratio_before + ratio_after) / 2 * (denominator_after - denominator_before)
            ) / nullif(mean_denominator, 0)
        ) as part
    from by_cause
    inner join ratios
        on by_cause.level = ratios.level
        and by_cause.figure = ratios.figure
        and by_cause.ratio_number = ratios.ratio_number
        and by_cause.operator = ratios.operator
        and by_cause.month = ratios.month
        and by_cause.line_code is not distinct from ratios.line_code
        and by_cause.direction is not distinct from ratios.direction
    group by all
),

computed as (
    select
        level, figure, operator, month, line_code, direction,
        -- null unless every ratio is known
        case when bool_and(ratio_before is not null) then sum(ratio_before) end as before,
        case when bool_and(ratio_after is not null) then sum(ratio_after) end as after
    from ratios
    group by all
),

published as (
    select
        level, figure, operator, month, line_code, direction,
        bool_or(side = 'before') as is_before,
        bool_or(side = 'after') as is_after,
        any_value(value) filter (side = 'before') as value_before,
        any_value(value) filter (side = 'after') as value_after,
        any_value(reason) filter (side = 'before') as reason_before,
        any_value(reason) filter (side = 'after') as reason_after
    from published_figures
    group by all
),

figures as (
    select
        computed.* exclude (before, after),
        case when published.is_before then published.value_before else computed.before end as before,
        case when published.is_after then published.value_after else computed.after end as after,
        published.reason_before,
        published.reason_after
    from computed
    left join published
        on computed.level = published.level
        and computed.figure = published.figure
        and computed.operator = published.operator
        and computed.month = published.month
        and computed.line_code is not distinct from published.line_code
        and computed.direction is not distinct from published.direction
),

separated as (
    select
        figures.*,
        figures.after - figures.before as change,
        coalesce(sum(part) filter (cause = 'data'), 0) as by_data,
        coalesce(sum(part) filter (cause = 'ruleset'), 0) as by_ruleset,
        coalesce(sum(part) filter (cause = 'models'), 0) as by_models,
        coalesce(sum(part) filter (cause = 'not separated'), 0) as not_separated
    from figures
    left join parts
        on figures.level = parts.level
        and figures.figure = parts.figure
        and figures.operator = parts.operator
        and figures.month = parts.month
        and figures.line_code is not distinct from parts.line_code
        and figures.direction is not distinct from parts.direction
    group by all
),

-- What the sums do not explain: the file's own functions make another figure of them.
by_definition as (
    select
        *,
        change - by_data - by_ruleset - by_models - not_separated as remainder,
        (select fingerprint from before.quality.publication) <> (select fingerprint from after.quality.publication)
            as has_other_models
    from separated
),

mixed as (
    select
        operator,
        month,
        string_agg(why || ' (' || first_date || ' to ' || last_date || ')', '; ' order by why) as why
    from (
        select
            operator,
            date_trunc('month', service_date)::date as month,
            why,
            min(service_date) as first_date,
            max(service_date) as last_date
        from dates
        where cause = 'not separated'
        group by all
    )
    group by all
)

select
    level,
    figure,
    by_definition.operator,
    strftime(by_definition.month, '%Y-%m') as month,
    line_code,
    direction,
    before,
    after,
    change,
    case when change is not null then by_data end as by_data,
    case when change is not null then by_ruleset end as by_ruleset,
    case when change is not null then by_models + case when has_other_models then remainder else 0 end end as by_models,
    case
        when change is not null then not_separated + case when has_other_models then 0 else remainder end
    end as not_separated,
    reason_before,
    reason_after,
    case when abs(not_separated) > 1e-12 then mixed.why end as why_not_separated
from by_definition
left join mixed on by_definition.operator = mixed.operator and by_definition.month = mixed.month
where coalesce(abs(change) > 1e-12, (before is null) <> (after is null))
