{{ config(schema='core', incremental_strategy='validity') }}
-- One row per line and validity: its content in the lines list, from when to when.
with listed as (
    select * from {{ ref('staging_lines') }}
    where {{ is_continued() }}
),

listed_once as (
    select * from {{ first_rows('listed', ['operator', 'request_id', 'line_code'], 'row_number') }} as first_listed
),

{{ validity(good_answers('lines', "''"), 'listed_once', [
    'line_code', 'line_number', 'terminus_outbound', 'terminus_inbound', 'is_active', 'note'
], held="''") }}

select * from validity
