{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per expectation and batch (the rows of one dataset in one window), with the number of rows that broke it.
select *
from {{ ref('staging_validation_results') }}
where {{ is_received_around() }}
