{{ config(materialized='table', meta={'reads_all_dates': 'a text counts beside all others'}) }}
-- One row per text of a news item or of an episode of the service status, and word of it, in order. A text that several
-- versions have counts as that of the first.
with documents as (
    select
        operator,
        'news' as document_kind,
        news_id as document_id,
        version_number,
        concat_ws(' ', title, content) as document_text
    from {{ ref('news') }}
    union all
    select
        operator,
        'episode' as document_kind,
        episode_id as document_id,
        version_number,
        concat_ws(' ', cause, message) as document_text
    from {{ ref('status_episode_versions') }}
    union all
    -- the names of plant, or of a place: what an episode names among its lines that is no number
    select
        operator,
        'name' as document_kind,
        episode_id as document_id,
        row_number() over (partition by episode_id order by named) as version_number,
        named as document_text
    from {{ ref('status_episode_lines') }}
    where line_code is null and not has_form(upper(trim(named)), line_label_form())
),

texts as (
    select
        operator,
        document_kind,
        document_id,
        document_text,
        min(version_number) as version_number
    from documents
    group by operator, document_kind, document_id, document_text
)

{{ numbered_elements(
    'texts', ['operator', 'document_kind', 'document_id', 'version_number'], "words_of(document_text)", 'word',
    'position'
) }}
