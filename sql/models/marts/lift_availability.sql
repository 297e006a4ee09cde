{{ config(materialized='table', meta={'reads_all_dates': 'an episode may last for many days'}) }}
-- One row per operator, service_date and lift: how long it was out of use, and how often it failed, from the first to
-- the last status answer of the date. Overlapping episodes count once; an episode lasts at least until the last answer
-- with it, at most until the first later answer without it. Upstream lists only lifts that fail: one that never failed
-- has no row, nor has one whose only failures were withdrawn before they were to start.
with episodes as (
    select
        operator,
        {{ each_of('lines') }} as lift,
        coalesce(started_at, first_seen_at) as from_at,
        ended_after as low_to_at,
        coalesce(ended_before, ended_after) as to_at,
        case when is_open then 1 else 0 end as is_open
    from {{ ref('disruptions') }}
    where category = 'ASC'
),

named as (
    select * from episodes
    where lift is not null and to_at >= from_at
),

outages as (
    {{ merged_intervals(
        'named', ['operator', 'lift'], 'max(is_open) as is_open, max(low_to_at) as low_to_at,'
    ) }}
),

low_spans as (
    select
        operator,
        lift,
        from_at,
        low_to_at as to_at
    from named
    where low_to_at >= from_at
),

low_outages as (
    {{ merged_intervals('low_spans', ['operator', 'lift']) }}
),

days as (
    -- every lift on every date with status answers about lifts
    select
        lifts.operator,
        lifts.lift,
        watched.service_date,
        watched.watched_from,
        watched.watched_to,
        watched.covered_seconds,
        watched.ruleset_version
    from (
        select distinct
            operator,
            lift
        from named
    ) as lifts
    inner join {{ ref('status_coverage') }} as watched
        on lifts.operator = watched.operator and watched.category = 'ASC'
),

high_sums as (
    select
        days.operator,
        days.service_date,
        days.lift,
        sum({{ seconds_between(
            'greatest(outages.from_at, days.watched_from)', 'least(outages.to_at, days.watched_to)'
        ) }}) as seconds,
        count(case when outages.from_at between days.watched_from and days.watched_to then 1 end) as n_failures,
        count(
            case when outages.is_open = 0 and outages.to_at between days.watched_from and days.watched_to then 1 end
        ) as n_repairs,
        max(case when outages.is_open = 1 then 1 else 0 end) as is_open
    from days
    inner join outages
        on
            days.operator = outages.operator
            and days.lift = outages.lift
            and outages.from_at <= days.watched_to
            and outages.to_at >= days.watched_from
    group by days.operator, days.service_date, days.lift
),

low_sums as (
    select
        days.operator,
        days.service_date,
        days.lift,
        sum({{ seconds_between(
            'greatest(outages.from_at, days.watched_from)', 'least(outages.to_at, days.watched_to)'
        ) }}) as seconds
    from days
    inner join low_outages as outages
        on
            days.operator = outages.operator
            and days.lift = outages.lift
            and outages.from_at <= days.watched_to
            and outages.to_at >= days.watched_from
    group by days.operator, days.service_date, days.lift
),

sums as (
    select
        operator,
        service_date,
        lift,
        cast(ceil({{ seconds_between('days.watched_from', 'days.watched_to') }}) as bigint) as total_seconds,
        days.covered_seconds,
        cast(floor(round(coalesce(low_sums.seconds, 0), 3)) as bigint) as out_low_seconds,
        cast(ceil(round(coalesce(high_sums.seconds, 0), 3)) as bigint) as out_high_seconds,
        coalesce(high_sums.n_failures, 0) as n_failures,
        coalesce(high_sums.n_repairs, 0) as n_repairs,
        coalesce(high_sums.is_open, 0) = 1 as is_open,
        days.ruleset_version
    from days
    left join high_sums using (operator, service_date, lift)
    left join low_sums using (operator, service_date, lift)
)

select
    sums.*,
    case
        when sums.total_seconds = 0 then 'watched for a moment only'
        when sums.covered_seconds < rules.coverage_threshold * sums.total_seconds then 'coverage under threshold'
    end as null_reason
from sums
inner join {{ ref('rulesets') }} as rules using (ruleset_version)
