{# From when to when each row stood in the answers of its stream (SCD2 by content): islands of consecutive good
   answers that hold exactly the same row. `valid_from` is the first of them, `valid_to` the first later answer
   without it. A failed answer is no answer, so it ends nothing.

   answers: a relation of good answers with operator, stream, request_id, received_at.
   rows:    a relation of operator, request_id and the columns of `content`. #}
{% macro validity(answers, rows, content) -%}
    {%- set content_list = content | join(", ") -%}
    numbered_answers as (
        select
            *,
            row_number() over (partition by operator, stream order by received_at, request_id) as answer_number,
            lead(received_at) over (partition by operator, stream order by received_at, request_id) as next_answer_at
        from {{ answers }}
    ),
    held as (
        select
            answers.operator, answers.stream, answers.answer_number, answers.received_at, answers.next_answer_at,
            {{ content_list }}
        from {{ rows }} as content_rows
        inner join numbered_answers as answers using (operator, request_id)
    ),
    islands as (
        select
            *,
            answer_number - row_number() over (
                partition by operator, stream, {{ content_list }} order by answer_number
            ) as island
        from held
    ),
    validity as (
        select
            operator, stream, {{ content_list }},
            min(received_at) as valid_from,
            case when count(next_answer_at) = count(*) then max(next_answer_at) end as valid_to,
            count(next_answer_at) < count(*) as is_current,
            count(*) as n_answers
        from islands
        group by operator, stream, {{ content_list }}, island
    )
{%- endmacro %}
