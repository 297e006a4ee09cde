{{ config(materialized='table', meta={'reads_all_dates': 'a text counts beside all others'}) }}
-- One row per text of a news item or of an episode of the service status, and word of it that tells something.
-- Words of one concept count as one, others by their beginning, which has no ending. Numbers and fillers are left out.
with terms as (
    select distinct
        operator,
        document_kind,
        document_id,
        term,
        concept_kind
    from (
        select
            words.operator,
            words.document_kind,
            words.document_id,
            coalesce(concepts.concept, left(words.word, 6)) as term,
            concepts.kind as concept_kind,
            coalesce(concepts.kind = 'place' and words.document_kind = 'name', false) as is_kind_of_place,
            row_number() over (
                partition by
                    words.operator, words.document_kind, words.document_id, words.version_number, words.position
                order by length(concepts.beginning) desc
            ) as nth
        from {{ ref('document_words') }} as words
        left join {{ ref('news_words') }} as meanings on words.word = meanings.word
        left join {{ ref('news_concepts') }} as concepts on words.word like concepts.beginning || '%'
        where meanings.word is null and length(words.word) >= 3 and not has_form(words.word, '.*[0-9].*')
    ) as read_words
    -- `lift` is in the name of every lift
    where nth = 1 and not is_kind_of_place
),

documents as (
    select
        operator,
        count(*) as n_documents
    from (
        select distinct
            operator,
            document_kind,
            document_id
        from terms
        where document_kind != 'name'
    ) as texts
    group by operator
),

weights as (
    -- inverse document frequency
    select
        terms.operator,
        terms.term,
        ln(1 + max(documents.n_documents) / cast(count(distinct terms.document_kind || terms.document_id) as double))
            as weight
    from terms
    inner join documents using (operator)
    where terms.document_kind != 'name'
    group by terms.operator, terms.term
)

select
    terms.operator,
    terms.document_kind,
    terms.document_id,
    terms.term,
    terms.concept_kind,
    coalesce(weights.weight, ln(1 + documents.n_documents)) as weight,
    documents.n_documents
from terms
inner join documents using (operator)
left join weights using (operator, term)
