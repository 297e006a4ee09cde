{{ config(materialized='ephemeral') }}
-- One row per operator and good answer about the passages of a stop around the service dates being built, numbered so
-- that those of a stop come in order.
-- The numbers are those of one build: no table, but part of the models that ask it.
select
    *,
    row_number() over (order by operator, stop_code, polled_at, request_id) as poll_number
from {{ ref('stop_polls') }}
where {{ is_received_around() }}
