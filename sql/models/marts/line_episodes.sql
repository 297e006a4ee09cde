{{ config(schema='intermediate', materialized='view') }}
-- One row per episode of the service status and line it names. Numbers without a line of that number have no row.
select distinct
    episodes.operator,
    episodes.episode_id,
    lines.line_code,
    episodes.from_at,
    episodes.low_to_at,
    episodes.high_to_at
from {{ named_episodes() }} as episodes
inner join {{ ref('lines') }} as lines
    on
        episodes.operator = lines.operator
        and {{ normal_label('episodes.named') }} = {{ normal_label('lines.line_number') }}
