{{ config(materialized='view') }}
{%- set grain = "operator, definition, period, category, lift" %}
{%- set groups = {
    "'all' as period, category, lift": "one lift, all dates",
    "month_period as period, category, lift": "one lift, one month",
    "'all' as period, category, null as lift": "all lifts of a category",
    "month_period as period, category, null as lift": "all lifts of a category, one month"
} %}
-- One row per operator, definition of availability, period (`all` or a month) and lift, or null for all of a category:
-- availability, mean time between failures (MTBF) and median time to repair, of the outages that began on dates that
-- are over. Repairs take between the certain and the possible time of an outage; one that is open takes longer than
-- its certain time. The 95 % interval of the median goes from the certain time with the rank of `median_ranks` to the
-- possible time with the opposite rank: it holds whatever the times are distributed like, and below six outages there
-- is none.
with days as (
    {%- for columns in groups %}
        select
            days.operator,
            days.definition,
            {{ columns | replace("category", "days.category") | replace(", lift", ", days.lift") }},
            days.total_seconds,
            days.out_low_seconds,
            days.out_high_seconds,
            days.service_date
        from {{ ref('lift_availability_by_definition') }} as days
        inner join {{ ref('closed_dates') }} using (operator, service_date)
        {{ "union all" if not loop.last }}
    {%- endfor %}
),

sums as (
    select
        {{ grain }},
        count(distinct service_date) as n_dates,
        cast(sum(total_seconds) as bigint) as total_seconds,
        cast(sum(out_low_seconds) as bigint) as out_low_seconds,
        cast(sum(out_high_seconds) as bigint) as out_high_seconds
    from days
    group by {{ grain }}
),

begun as (
    select
        outages.*,
        dates.month_period
    from {{ ref('lift_outages') }} as outages
    inner join {{ ref('service_hours') }} as hours
        on
            outages.operator = hours.operator
            and outages.begun_before >= hours.from_at
            and outages.begun_before < hours.to_at
    inner join {{ ref('closed_dates') }} as dates
        on hours.operator = dates.operator and hours.service_date = dates.service_date
    where outages.is_certain
),

outages as (
    {%- for columns in groups %}
        select
            operator,
            definition,
            {{ columns }},
            low_seconds,
            high_seconds,
            is_open
        from begun
        {{ "union all" if not loop.last }}
    {%- endfor %}
),

ranked as (
    select
        *,
        count(*) over (partition by {{ grain }}) as n_outages,
        row_number() over (partition by {{ grain }} order by low_seconds) as low_rank,
        row_number() over (partition by {{ grain }} order by high_seconds nulls last) as high_rank
    from outages
),

repairs as (
    select
        ranked.operator,
        ranked.definition,
        ranked.period,
        ranked.category,
        ranked.lift,
        ranked.n_outages,
        count(case when ranked.is_open then 1 end) as n_open,
        {%- for bound in ['low', 'high'] %}
            max(case
                when ranked.{{ bound }}_rank = {{ quotient("(ranked.n_outages + 1)", 2) }}
                    then ranked.{{ bound }}_seconds
            end)
                as median_{{ bound }}_seconds,
        {%- endfor %}
        max(case when ranked.low_rank = ranks.low_rank then ranked.low_seconds end) as repair_low_seconds,
        max(case when ranked.high_rank = ranked.n_outages + 1 - ranks.low_rank then ranked.high_seconds end)
            as repair_high_seconds
    from ranked
    left join {{ ref('median_ranks') }} as ranks on ranked.n_outages = ranks.n_outages
    group by
        ranked.operator, ranked.definition, ranked.period, ranked.category, ranked.lift, ranked.n_outages
)

select
    sums.operator,
    sums.definition,
    sums.period,
    sums.category,
    sums.lift,
    sums.n_dates,
    sums.total_seconds,
    sums.out_low_seconds,
    sums.out_high_seconds,
    coalesce(repairs.n_outages, 0) as n_failures,
    coalesce(repairs.n_outages - repairs.n_open, 0) as n_repairs,
    coalesce(repairs.n_open, 0) > 0 as is_open,
    greatest(1 - cast(sums.out_high_seconds as double) / sums.total_seconds, 0) as availability_low,
    1 - cast(sums.out_low_seconds as double) / sums.total_seconds as availability_high,
    cast(sums.total_seconds - sums.out_high_seconds as double) / repairs.n_outages as mtbf_low_seconds,
    cast(sums.total_seconds - sums.out_low_seconds as double) / repairs.n_outages as mtbf_high_seconds,
    repairs.median_low_seconds,
    repairs.median_high_seconds,
    repairs.repair_low_seconds,
    repairs.repair_high_seconds,
    case when repairs.repair_low_seconds is null then 'too few repairs' end as null_reason
from sums
left join repairs
    on
        sums.operator = repairs.operator
        and sums.definition = repairs.definition
        and sums.period = repairs.period
        and sums.category = repairs.category
        and sums.lift is not distinct from repairs.lift
