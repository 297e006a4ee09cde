{{ config(schema='intermediate', meta={'date_column': 'received_date', 'days_around': 1}) }}
{%- set datasets = ['lines', 'line_stops', 'timetables', 'passages', 'status', 'news', 'news_details'] -%}
-- One row per operator, UTC day of receipt, dataset, kind and name of a key or code that nothing describes.
with statuses as (
    select * from {{ ref('staging_status') }}
    where {{ is_received_around() }}
),

undescribed as (
    {% for dataset in datasets %}
        select
            operator,
            received_date,
            '{{ dataset }}' as dataset,
            'key' as kind,
            {{ each_of("json_object_keys(extra)") }} as name,
            received_at,
            extra as example
        from {{ ref('staging_' ~ dataset) }}
        where extra is not null and {{ is_received_around() }}
        union all
    {% endfor %}
    {% for code in ['event', 'category', 'cause'] %}
        select
            operator,
            received_date,
            'status' as dataset,
            '{{ code }}' as kind,
            {{ code }} as name,
            received_at,
            concat_ws(', ', category, event, sorted_text(lines), cause, message) as example
        from statuses
        where
            {{ code }} != ''
            and not exists (
                select 1 from {{ ref(code ~ '_meanings') }} as meanings
                where
                    {% if code == 'cause' -%}
                        has_text(comparable_text(statuses.cause), meanings.cause)
                    {%- else -%}
                        meanings.{{ code }} = statuses.{{ code }}
                    {%- endif %}
            )
        {{ "union all" if not loop.last }}
    {% endfor %}
)

select
    operator,
    received_date,
    dataset,
    kind,
    name,
    min(received_at) as first_seen_at,
    max(received_at) as last_seen_at,
    count(*) as n,
    left(min(example), 200) as example
from undescribed
group by operator, received_date, dataset, kind, name
