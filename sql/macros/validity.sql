{# From when to when each row was in the answers of its stream (SCD2 by content): runs of consecutive good answers that
   hold exactly the same row. `valid_from` is the first of them, `valid_to` the first later answer that proves the row
   absent. A failed answer is no evidence, so it ends no validity. Without `held` also `last_listed_at`, the last
   answer of the run.

   answers:  a relation of good answers with operator, stream, request_id, received_at.
   rows:     a relation of operator, request_id and the columns of `content`.
   held:     the column that names the stream, in a model that is_continued(): what was valid when the days being built
             began is then taken from the table itself, as one more answer before all others.
   proof:    the condition on `answers` for what one does not list to be absent; all prove it unless given.
   until:    the instant, by columns of `content`, from which on no answer proves a row absent: a list of what is to come
             lacks what is past. None unless given.
   identity: those columns of `content` that tell which thing a row is about, where the others may be edited: a row ends
             where another of the same thing begins. All of them unless given. #}
{% macro validity(answers, rows, content, held=none, proof="true", identity=none, until=none) -%}
    {%- set content_list = content | join(", ") -%}
    {%- set one_thing = "partition by operator, stream, " ~ (identity or content) | join(", ") -%}
    {%- set of_answer = "answers.operator, answers.stream, answers.answer_number, answers.received_at, answers.n_proofs, "
        ~ "answers.n_earlier_proofs, answers.next_proof_at" -%}
    {%- set is_continued = held is not none and is_incremental() -%}
    {% if is_continued -%}
    carried as (
        select
            operator, {{ held }} as stream, 'before' as request_id,
            add_seconds({{ first_instant() }}, -1) as received_at,
            valid_from as carried_from,
            {{ content_list }}
        from {{ this }}
        where valid_from < {{ first_instant() }} and coalesce(valid_to >= {{ first_instant() }}, true)
    ),
    {%- endif %}
    proving_answers as (
        select
            operator, stream, request_id, received_at, {{ proof }} as is_proof
        from {% if is_continued -%}
            (
                select operator, stream, request_id, received_at from {{ answers }}
                union
                select operator, stream, request_id, received_at from carried
            ) as all_answers
        {%- else %}{{ answers }}{% endif %}
    ),
    numbered_answers as (
        {%- set in_order = "partition by operator, stream order by received_at, request_id" %}
        select
            *,
            row_number() over ({{ in_order }}) as answer_number,
            -- the proofs before this answer, and up to it
            count(case when is_proof then 1 end) over (
                {{ in_order }} rows between unbounded preceding and current row
            ) as n_proofs,
            n_proofs - case when is_proof then 1 else 0 end as n_earlier_proofs,
            min(case when is_proof then received_at end) over (
                {{ in_order }} rows between 1 following and unbounded following
            ) as next_proof_at
        from proving_answers
    ),
    held as (
        select
            {{ of_answer }},
            cast(null as timestamp) as carried_from,
            {{ content_list }}
        from {{ rows }} as content_rows
        inner join numbered_answers as answers using (operator, request_id)
        {%- if is_continued %}
        union all
        select
            {{ of_answer }},
            carried.carried_from,
            {{ content_list }}
        from carried
        inner join numbered_answers as answers using (operator, stream, request_id)
        {%- endif %}
    ),
    followed as (
        select
            *,
            case
                when
                    n_earlier_proofs > lag(n_proofs) over listings
                    {{- " and lag(next_proof_at) over listings <= " ~ until if until }}
                    then 1
                {%- for column in content if identity and column not in identity %}
                when ({{ column }} is distinct from lag({{ column }}) over listings) then 1
                {%- endfor %}
                else 0
            end as is_apart,
            least(
                {{ "case when next_proof_at <= " ~ until ~ " then next_proof_at end" if until else "next_proof_at" }},
                lead(received_at) over listings
            ) as next_answer_at
        from held
        window listings as ({{ one_thing }} order by answer_number)
    ),
    islands as (
        select
            *,
            sum(is_apart) over (
                {{ one_thing }} order by answer_number rows between unbounded preceding and current row
            ) as island
        from followed
    ),
    validity as (
        select
            operator, {{ content_list }},
            coalesce(min(carried_from), min(received_at)) as valid_from,
            case when count(next_answer_at) = count(*) then max(next_answer_at) end as valid_to,
            count(next_answer_at) < count(*) as is_current
            {%- if held is none %},
            max(received_at) as last_listed_at
            {%- endif %}
        from islands
        group by operator, stream, {{ content_list }}, island
        -- of answers received at one instant the last counts
        having count(next_answer_at) < count(*) or max(next_answer_at) > min(received_at)
    )
{%- endmacro %}

{# How much of a good answer was read.

   n_rows: how many rows it listed; null where its list could not be read.
   n_kept: how many of them are in the lake; null for none. The others are in quarantine. #}
{% macro reading_of(n_rows, n_kept) -%}
    case
        when {{ n_rows }} is null then 'unreadable'
        when {{ n_rows }} > 0 and {{ n_kept }} is null then 'rejected'
        when {{ n_rows }} > {{ n_kept }} then 'partly_quarantined'
        else 'complete'
    end
{%- endmacro %}

{# The answers of an endpoint that may stand for the list they give, as the `answers` of validity(): one of which nothing
   could be read, that is suddenly short, or that lost rows while others did not, is no evidence of what was not listed.

   stream:   the expression that names the stream of an answer.
   received: the condition on when they were received; left out in a model that is_continued(). #}
{% macro good_answers(endpoint, stream, received=none) -%}
    (
        select
            operator, {{ stream }} as stream, request_id, received_at
        from {{ ref('answer_evidence') }}
        where endpoint = '{{ endpoint }}' and is_whole_list and {{ received or is_continued() }}
    ) as good_answers
{%- endmacro %}
