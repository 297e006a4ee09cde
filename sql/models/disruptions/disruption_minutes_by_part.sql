{{ config(materialized='table', meta={'reads_all_dates': 'an episode may last for many days'}) }}
{%- set parts = [
    'place', 'category', 'event', 'effect_class', 'cause_class', 'duration_band', 'announced'
] %}
{%- set subject = "operator, line_code, place" %}
{%- set hour_part = "operator, service_date, service_hour, line_code, " ~ parts | join(", ") %}
-- One row per operator, service_date, service_hour, line or place, and part: how long the line was disrupted.
-- The parts of an hour add up: time in which several episodes overlap counts for the one that was certain first. The
-- part `not watched` is time in which the service status was not asked for, and no episode is known: the line may have
-- been disrupted. A place is a name that is no line (a lift, a line that is not known); episodes that name nothing have
-- neither line nor place, and concern the whole network.
with stretches as (
    select distinct
        episodes.operator,
        coalesce(named.line_code, '') as line_code,
        case when named.line_code is null then coalesce(stretches.named, '') else '' end as place,
        stretches.episode_id,
        episodes.category,
        episodes.event,
        episodes.effect_class,
        episodes.cause_class,
        episodes.duration_band,
        episodes.announced,
        stretches.low_from,
        greatest(stretches.low_from, stretches.low_to) as low_to,
        stretches.high_from,
        coalesce(stretches.high_to, timestamp '9999-12-31') as high_to
    from {{ ref('status_stretches') }} as stretches
    inner join {{ ref('disruptions') }} as episodes using (episode_id)
    left join {{ ref('status_episode_lines') }} as named
        on stretches.episode_id = named.episode_id and stretches.named = named.named
    where coalesce(stretches.high_to > stretches.high_from, true)
),

subjects as (
    select distinct
        {{ subject }}
    from stretches
    union
    select distinct
        operator,
        line_code,
        '' as place
    from {{ ref('lines') }}
),

unwatched as (
    select
        subjects.*,
        gaps.from_at,
        gaps.to_at
    from subjects
    inner join {{ ref('status_unwatched') }} as gaps using (operator)
    where gaps.category_asked = ''
),

instants as (
    {% for bound in ['low_from', 'low_to', 'high_from', 'high_to'] %}
        select
            {{ subject }},
            {{ bound }} as from_at
        from stretches
        union
    {% endfor %}
    {% for bound in ['from_at', 'to_at'] %}
        select
            {{ subject }},
            {{ bound }} as from_at
        from unwatched
        {{ "union" if not loop.last }}
    {% endfor %}
),

segments as (
    select
        *,
        lead(from_at) over (partition by {{ subject }} order by from_at) as to_at
    from instants
),

covered as (
    select
        segments.*,
        stretches.* {{ exclude("operator, line_code, place") }},
        coalesce(stretches.low_from <= segments.from_at and stretches.low_to >= segments.to_at, false) as is_certain
    from segments
    inner join stretches
        on
            segments.operator = stretches.operator
            and segments.line_code = stretches.line_code
            and segments.place = stretches.place
            and segments.from_at >= stretches.high_from
            and segments.to_at <= stretches.high_to
    where segments.to_at is not null
),

disrupted as (
    select * from {{ first_rows(
        'covered', ['operator', 'line_code', 'place', 'from_at'],
        'case when is_certain then 0 else 1 end, low_from, episode_id'
    ) }} as first_covered
),

named as (
    select
        {{ subject }},
        {% for part in parts if part != 'place' %}
            {{ part }},
        {% endfor %}
        episode_id,
        is_certain,
        from_at,
        to_at
    from disrupted
    union all
    select
        segments.operator,
        segments.line_code,
        segments.place,
        {% for part in parts if part != 'place' %}
            'not watched' as {{ part }},
        {% endfor %}
        null as episode_id,
        false as is_certain,
        segments.from_at,
        segments.to_at
    from segments
    inner join unwatched
        on
            segments.operator = unwatched.operator
            and segments.line_code = unwatched.line_code
            and segments.place = unwatched.place
            and segments.from_at >= unwatched.from_at
            and segments.to_at <= unwatched.to_at
    left join disrupted
        on
            segments.operator = disrupted.operator
            and segments.line_code = disrupted.line_code
            and segments.place = disrupted.place
            and segments.from_at = disrupted.from_at
    where disrupted.from_at is null
),

dated as (
    -- the rows are distinct anyway: else an engine may join dates and hours first, and compare every segment with the
    -- hours of all dates
    select distinct
        named.*,
        dates.service_date
    from named
    inner join {{ service_date_spans() }} as dates
        on
            named.operator = dates.operator
            and named.from_at < dates.to_at
            and named.to_at > dates.from_at
),

hours as (
    select
        dated.*,
        hours.service_hour,
        seconds_between(greatest(dated.from_at, hours.from_at), least(dated.to_at, hours.to_at)) as seconds
    from dated
    inner join {{ ref('service_hours') }} as hours
        on
            dated.operator = hours.operator
            and dated.service_date = hours.service_date
            and dated.from_at < hours.to_at
            and dated.to_at > hours.from_at
),

sums_by_episode as (
    select
        {{ hour_part }},
        episode_id,
        {{ exact_sum('case when is_certain then seconds else 0 end') }} as low_seconds,
        {{ exact_sum('seconds') }} as high_seconds
    from hours
    group by {{ hour_part }}, episode_id
),

sums as (
    select
        operator,
        service_date,
        service_hour,
        nullif(line_code, '') as line_code,
        {% for part in parts %}
            {{ "nullif(place, '') as place" if part == 'place' else part }},
        {% endfor %}
        count(episode_id) as n_episodes,
        {{ exact_sum('low_seconds') }} as low_seconds,
        {{ exact_sum('high_seconds') }} as high_seconds
    from sums_by_episode
    group by {{ hour_part }}
)

select
    sums.*,
    rules.ruleset_version
from sums
{{ join_rules('sums.service_date') }}
