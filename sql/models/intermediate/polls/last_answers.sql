{{ config(materialized='ephemeral') }}
-- One row per operator: when the last good answer about passages around the service dates being built was received.
-- Nothing that is scheduled for later is due yet.
select
    operator,
    max(received_at) as last_received_at
from {{ ref('stop_polls') }}
where {{ is_received_around() }}
group by operator
