{{ config(materialized='table', meta={'reads_all_dates': 'an episode may last for many days'}) }}
-- One row per operator, service_date and lift: how long it was out of use, and how often it failed, from the first to
-- the last status answer of the date. Overlapping episodes count once; an episode lasts at least until the last answer
-- with it, at most until the first later answer without it. Upstream lists only lifts that fail: one that never failed
-- has no row, nor has one whose only failures were withdrawn before they were to start.
{%- set seconds_out = seconds_between(
    "greatest(outages.from_at, days.watched_from)", "least(outages.to_at, days.watched_to)"
) %}
{%- set while_watched = "between days.watched_from and days.watched_to" %}
with failures as (
    select
        *,
        named as lift
    from {{ named_episodes() }} as episodes
    where category = 'ASC' and named is not null and high_to_at >= from_at
),

outages as (
    {{ merged_intervals('failures', ['operator', 'lift'], 'max(case when is_open then 1 else 0 end) as is_open,') }}
),

days as (
    -- every lift on every date with status answers about lifts
    select
        watched.*,
        lifts.lift
    from (
        select distinct
            operator,
            lift
        from failures
    ) as lifts
    inner join {{ ref('status_coverage') }} as watched
        on lifts.operator = watched.operator and watched.category = 'ASC'
),

sums as (
    select
        days.operator,
        days.service_date,
        days.lift,
        cast(ceil({{ seconds_between('days.watched_from', 'days.watched_to') }}) as bigint) as total_seconds,
        days.covered_seconds,
        {%- for bound, rounded in {"low": "floor", "high": "ceil"}.items() %}
            cast({{ rounded }}(
                round(sum(case when bound = '{{ bound }}' then {{ seconds_out }} else 0 end), 3)
            ) as bigint) as out_{{ bound }}_seconds,
        {%- endfor %}
        count(case when bound = 'high' and outages.from_at {{ while_watched }} then 1 end) as n_failures,
        count(case when bound = 'high' and is_open = 0 and outages.to_at {{ while_watched }} then 1 end) as n_repairs,
        coalesce(max(is_open), 0) = 1 as is_open,
        days.ruleset_version
    from days
    left join outages
        on
            days.operator = outages.operator
            and days.lift = outages.lift
            and outages.from_at <= days.watched_to
            and outages.to_at >= days.watched_from
    group by
        days.operator, days.service_date, days.lift, days.watched_from, days.watched_to, days.covered_seconds,
        days.ruleset_version
)

select
    sums.*,
    case
        when sums.total_seconds = 0 then 'watched for a moment only'
        when sums.covered_seconds < rules.coverage_threshold * sums.total_seconds then 'coverage under threshold'
    end as null_reason
from sums
inner join {{ ref('rulesets') }} as rules using (ruleset_version)
