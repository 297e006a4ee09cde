{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
{%- set datasets = ['lines', 'line_stops', 'timetables', 'passages', 'status', 'news', 'news_details'] -%}
-- One row per operator, UTC day of receipt, dataset, kind and name of a key or code that nothing describes.
with undescribed as (
    {% for dataset in datasets %}
        select
            operator,
            received_date,
            '{{ dataset }}' as dataset,
            'key' as kind,
            unnest({{ json_keys_of('extra') }}) as name,
            received_at
        from {{ ref('staging_' ~ dataset) }}
        where extra is not null and {{ is_received_around() }}
        union all
    {% endfor %}
    select
        operator,
        received_date,
        'status' as dataset,
        'event' as kind,
        event as name,
        received_at
    from {{ ref('staging_status') }}
    where
        event not in (select meanings.event from {{ ref('event_meanings') }} as meanings)
        and {{ is_received_around() }}
    union all
    select
        operator,
        received_date,
        'status' as dataset,
        'category' as kind,
        category as name,
        received_at
    from {{ ref('staging_status') }}
    where
        category not in (select meanings.category from {{ ref('category_meanings') }} as meanings)
        and {{ is_received_around() }}
)

select
    operator,
    received_date,
    dataset,
    kind,
    name,
    min(received_at) as first_seen_at,
    max(received_at) as last_seen_at,
    count(*) as n
from undescribed
group by operator, received_date, dataset, kind, name
