{# Of pairs of a live visit (series_number, group_number, live_at) and a timetable row (theoretical_series_number,
   theoretical_group_number, theoretical_at) that lie off_seconds apart: those in which each is the other's nearest, and
   how much nearer it is than the next one of either. #}
{% macro nearest_pairs(pairs) -%}
    (
        select *
        from (
            select
                *,
                least(
                    (lead(off_seconds) over for_live) - off_seconds,
                    (lead(off_seconds) over for_theoretical) - off_seconds
                ) as nearer_by_seconds,
                row_number() over for_live as nth_for_live,
                row_number() over for_theoretical as nth_for_theoretical
            from {{ pairs }}
            window
                for_live as (partition by series_number, group_number order by off_seconds, theoretical_at nulls last),
                for_theoretical as (
                    partition by theoretical_series_number, theoretical_group_number
                    order by off_seconds, live_at, series_number
                )
        ) as ranked
        where nth_for_live = 1 and nth_for_theoretical = 1
    )
{%- endmacro %}

{# When a trip was first live, by the first_live_at of its visits. The second of three or more, because the earliest may
   be a visit of another trip. #}
{% macro trip_live_from() -%}
    coalesce(
        case when count(first_live_at) > 2 then {{ nth_smallest('first_live_at', 2) }} end, min(first_live_at)
    )
{%- endmacro %}

{# The travel_factor of observed_steps by operator, service_date, line_code, direction and service_hour. #}
{% macro travel_factors() -%}
    (
        select distinct
            operator,
            service_date,
            line_code,
            direction,
            service_hour,
            travel_factor
        from {{ built('observed_steps') }}
        where travel_factor is not null
    )
{%- endmacro %}

{# The join of answers with what passage_doubts says of a label, as `doubts`: where there is a row, the answer
   proves of no bus of that label that it was not listed. Each join that reads an absence needs it.

   plain_label: the label as an expression; of a line it is that of its number. An empty one stands for the whole answer,
                which then proves nothing.
   answers:     a relation with operator and request_id. #}
{% macro join_doubts(plain_label, answers="polls") -%}
    left join {{ ref('passage_doubts') }} as doubts
        on
            {{ answers }}.operator = doubts.operator
            and {{ answers }}.request_id = doubts.request_id
            and {{ plain_label }} = doubts.plain_label
            and {{ is_received_around('doubts.received_date') }}
{%- endmacro %}

{# The join of due calls with the answers of their stop that should list every bus of the line, as `polls`, and with
   what is doubted of them: an answer proves that a bus was not listed where `doubts.request_id` is null.

   calls: a relation with operator, stop_code and line_code.
   when:  the condition on the time of `polls`. #}
{% macro join_proving_answers(calls, when) -%}
    inner join {{ ref('stop_polls') }} as polls
        on
            {{ calls }}.operator = polls.operator
            and {{ calls }}.stop_code = polls.stop_code
            and {{ is_received_around('polls.received_date') }}
            and polls.is_complete
            and {{ when }}
    left join {{ ref('latest_lines') }} as lines
        on {{ calls }}.operator = lines.operator and {{ calls }}.line_code = lines.line_code
    {{ join_doubts(plain_label_of('lines.line_number')) }}
{%- endmacro %}
