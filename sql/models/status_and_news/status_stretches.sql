{{ config(materialized='view') }}
-- One row per listing of an episode and distinct name in it (null if it names none): between which instants it was
-- disrupted for certain (low), and between which it may have been (high), within the limits of the episode. Low ends
-- before low begins where nothing is certain; high has no end while the episode is open.
-- A listing that follows another without an answer in between that lists neither goes on from it; after a gap, the gap
-- may have been disrupted. `listed_to` is the last answer in which the episode had the name.
with named as (
    select distinct
        episode_id,
        version_number,
        first_seen_at,
        last_seen_at,
        previous_seen_at,
        next_seen_at,
        is_after_gap,
        {{ each_of("names") }} as named
    from (
        select
            *,
            names_in(lines) as names
        from {{ ref('status_chains') }}
    ) as listings
),

followed as (
    select
        *,
        max(last_seen_at) over (partition by episode_id, named) as listed_to,
        lead(version_number) over one_name = version_number + 1
        and not lead(is_after_gap) over one_name as goes_on
    from named
    window one_name as (partition by episode_id, named order by version_number)
)

select
    followed.episode_id,
    followed.version_number,
    followed.named,
    case
        when followed.previous_seen_at is null then episodes.begun_before
        else greatest(episodes.begun_before, followed.first_seen_at)
    end as low_from,
    case when coalesce(followed.goes_on, false) then followed.next_seen_at else followed.last_seen_at end as low_to,
    greatest(episodes.begun_after, coalesce(followed.previous_seen_at, episodes.begun_after)) as high_from,
    coalesce(followed.next_seen_at, episodes.ended_before) as high_to,
    followed.listed_to
from followed
inner join {{ ref('status_episodes') }} as episodes using (episode_id)
