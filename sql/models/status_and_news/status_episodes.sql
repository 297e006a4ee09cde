{{ config(schema='core', materialized='table', meta={'reads_all_dates': 'an episode may last for many days'}) }}
-- One row per episode: an event of the service status, from the first answer that lists it to the first later one that
-- proves that it was no longer listed. `status_chains` says which listings are one episode.
-- A failed answer, one that proves nothing absent, or none, is no evidence of an end.
{%- set is_plausible = "abs(seconds_between(started_at, root_seen_at))"
    " <= 86400 * parameters.implausible_start_days" %}
with listings as (
    select
        chains.*,
        case when {{ is_plausible }} then started_at end as plausible_start_at,
        row_number() over (partition by episode_id order by version_number desc) as from_last
    from {{ ref('status_chains') }} as chains
    cross join {{ ref('inference_parameters') }} as parameters
),

sums as (
    select
        episode_id,
        min(case when version_number = 1 then started_at end) as announced_start_at,
        min(plausible_start_at) as earliest_start_at,
        max(plausible_start_at) as latest_start_at,
        max(case when version_number = 1 then absent_before_at end) as listed_after,
        min(first_seen_at) as first_seen_at,
        sum(n_answers) as n_answers,
        count(distinct message) as n_messages,
        count(case when is_after_gap then 1 end) as n_flaps,
        sum(case when is_after_gap then ceil(seconds_between(previous_seen_at, first_seen_at)) else 0 end)
            as most_absent_seconds
    from listings
    group by episode_id
),

episodes as (
    select
        listings.* {{ exclude("first_seen_at, n_answers, absent_before_at, from_last") }},
        sums.* {{ exclude("episode_id") }}
    from listings
    inner join sums using (episode_id)
    where listings.from_last = 1
),

earlier as (
    -- an event with the same start that had ended before: the time between was none of this episode
    select
        episodes.episode_id,
        max(before.absent_after_at) as ended_at
    from episodes
    inner join episodes as before
        on
            episodes.operator = before.operator
            and episodes.category is not distinct from before.category
            and episodes.earliest_start_at = before.latest_start_at
            and episodes.first_seen_at > before.absent_after_at
            and (
                episodes.root_key = before.root_key
                or arrays_overlap(line_keys(episodes.lines), line_keys(before.lines))
            )
    group by episodes.episode_id
)

select
    episodes.episode_id,
    episodes.operator,
    episodes.category,
    episodes.event,
    episodes.lines,
    episodes.lines_text,
    episodes.lines_kind,
    episodes.cause,
    episodes.message,
    episodes.n_messages,
    episodes.started_at,
    episodes.announced_start_at,
    case
        when episodes.earliest_start_at is null then coalesce(episodes.listed_after, episodes.first_seen_at)
        when earlier.ended_at is null then episodes.earliest_start_at
        else greatest(episodes.earliest_start_at, earlier.ended_at, episodes.listed_after)
    end as begun_after,
    case
        when episodes.earliest_start_at is null then episodes.first_seen_at
        when earlier.ended_at is null then episodes.latest_start_at
        else greatest(episodes.latest_start_at, episodes.first_seen_at)
    end as begun_before,
    episodes.listed_after,
    episodes.first_seen_at,
    episodes.last_seen_at,
    episodes.last_seen_at as ended_after,
    episodes.absent_after_at as ended_before,
    episodes.absent_after_at is null as is_open,
    cast(episodes.n_answers as bigint) as n_answers,
    episodes.n_flaps,
    cast(episodes.most_absent_seconds as bigint) as most_absent_seconds,
    episodes.twin_number,
    episodes.episode_number,
    rules.ruleset_version
from episodes
left join earlier using (episode_id)
{{ join_rules('episodes.last_service_date') }}
