{{ config(schema='intermediate', materialized='view') }}
-- One row per episode of the service status and line it is about: between which instants it was disrupted, for certain
-- (low) and at most (high).
select distinct
    episodes.operator,
    episodes.episode_id,
    named.line_code,
    episodes.begun_before as from_at,
    episodes.begun_after as high_from_at,
    episodes.ended_after as low_to_at,
    coalesce(episodes.ended_before, timestamp '9999-12-31') as high_to_at
from {{ ref('disruptions') }} as episodes
inner join {{ ref('status_episode_lines') }} as named using (operator, episode_id)
where named.line_code is not null
