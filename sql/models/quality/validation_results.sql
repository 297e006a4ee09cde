{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per expectation and batch: whether it held, and how many rows broke it.
select *
from {{ ref('staging_validation_results') }}
where {{ is_received_around() }}
