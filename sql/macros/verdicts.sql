{# Joins to passages, as `judging`, each ruleset that is about them: by its stops, event and hours. At its origin a bus
   has no arrival, at its terminus no departure; elsewhere the interface gives one instant for both.

   passages: a relation with the columns of due_calls; the condition on the stops follows as `where`. #}
{% macro join_judging_rulesets(passages) -%}
    inner join {{ ref('judging_rulesets') }} as judging
        on
            {{ passages }}.ruleset_version = judging.ruleset_version
            and {{ passages }}.service_hour >= coalesce(judging.from_hour, {{ passages }}.service_hour)
            and {{ passages }}.service_hour < coalesce(judging.to_hour, {{ passages }}.service_hour + 1)
            and not (coalesce(judging.event, '') = 'departure' and {{ passages }}.is_last_stop)
            and not (coalesce(judging.event, '') = 'arrival' and {{ passages }}.is_first_stop)
    left join {{ ref('named_stops') }} as named_stops
        on
            {{ passages }}.operator = named_stops.operator
            and {{ passages }}.service_date = named_stops.service_date
            and {{ passages }}.line_code = named_stops.line_code
            and {{ passages }}.direction = named_stops.direction
            and {{ passages }}.stop_code = named_stops.stop_code
            and judging.stop_scope = named_stops.stop_scope
    where
        case judging.stop_scope
            when 'all' then true
            when 'origin' then {{ passages }}.is_first_stop
            when 'terminus' then {{ passages }}.is_last_stop
            else named_stops.stop_code is not null
        end
{%- endmacro %}

{# True for a passage where a bus comes so often that the ruleset, `judging`, does not judge it by the timetable. #}
{% macro is_frequent_passage(passages) -%}
    {{ passages }}.n_buses_of_hour >= coalesce(judging.frequent_per_hour, {{ passages }}.n_buses_of_hour + 1)
{%- endmacro %}

{# From estimated passages to the probabilities that each is early, on time or late by a ruleset, as common table
   expressions that end with `verdicts`. The default and every other ruleset are judged by this, of the same errors.

   passages: the name of a relation with the columns of estimated_passages, and ruleset, early_seconds and late_seconds:
             a delay below the first is early, one above the second late; without the first nothing is early. A passage
             may be there once for each ruleset. #}
{% macro passage_verdicts(passages) -%}
{%- set classes = ["early", "on_time", "late"] -%}
standardised as (
    select
        *,
        {%- for name, value in {
            "low": "low_seconds", "high": "high_seconds",
            "early": "(early_seconds - 0.5)", "late": "(late_seconds + 0.5)"
        }.items() %}
        ({{ value }} - guessed_seconds + wrong_share * wrong_shift_seconds)
        / coalesce(told_error_seconds, error_seconds) as {{ name }}_value
        {{- "," if not loop.last }}
        {%- endfor %}
    from {{ passages }}
),

shared as (
    -- every class has shares; a left join is done last, so that no other has to hold these lists for all rows
    select
        standardised.*,
        {%- for name in ["low", "high", "early", "late"] %}
        case
            when {{ name }}_value is null then {{ 1 if name == "high" else 0 }}
            when is_observed then {{ normal_share(name ~ "_value") }}
            -- as the match says, or another bus or none
            when wrong_share > 0
                then
                    (1 - wrong_share) * {{ share_up_to("shares.shares", name ~ "_value") }}
                    + wrong_share * (
                        {%- for tenth in range(1, 11) %}
                        {{ "+ " if not loop.first }}{{ normal_share(
                            "(" ~ name ~ "_value - " ~ element("wrong_seconds", tenth)
                            ~ " / coalesce(told_error_seconds, error_seconds))"
                        ) }}
                        {%- endfor %}
                    ) / 10
            else {{ share_up_to("shares.shares", name ~ "_value") }}
        end as share_{{ name }}
        {{- "," if not loop.last }}
        {%- endfor %}
    from standardised
    left join {{ built('error_shares') }} as shares using (operator, service_date, side, shape_class)
),

judged as (
    -- within the bounds; where hardly anything of the distribution lies there, the nearest bound decides
    select
        *,
        case
            when early_seconds is null then 0
            -- no bus passes so early, unless it was seen to
            when
                early_seconds <= least_seconds
                and coalesce(early_seconds <= high_seconds, true)
                and not (is_observed and arrival_quality = 'evidenced')
                then 0
            when share_high - share_low < 0.001 then case when expected_seconds < early_seconds - 0.5 then 1 else 0 end
            else least(greatest((share_early - share_low) / (share_high - share_low), 0), 1)
        end as up_to_early,
        case
            when share_high - share_low < 0.001 then case when expected_seconds < late_seconds + 0.5 then 1 else 0 end
            else least(greatest((share_late - share_low) / (share_high - share_low), 0), 1)
        end as up_to_late
    from shared
),

weighted as (
    -- what is uncertain takes part in the correction, what is certain does not
    select
        *,
        greatest(up_to_late - up_to_early, 0) as on_time_share,
        case
            when not is_observed
                then greatest(up_to_late - up_to_early, 0) * (1 - greatest(up_to_late - up_to_early, 0))
        end as weight
    from judged
),

corrected as (
    -- towards on time or away from it, with early and late in their proportion
    select
        weighted.*,
        least(greatest(
            on_time_share
            + coalesce(
                corrections.correction * weight
                / nullif(
                    cast(sum({{ as_decimal("weight", 7, 6) }}) over one_ruleset as double) / count(weight) over one_ruleset,
                    0
                ),
                0
            ),
            0
        ), 1) as corrected_share,
        case
            when is_observed then 0
            -- where nothing is known of the trip, only as sure as the trips observed in the hour allow
            when side like 'none%'
                then sqrt(power(corrections.remaining_error, 2) + 0.25 / (n_observed_trips_of_hour + 1))
            else corrections.remaining_error
        end as common_error
    from weighted
    inner join {{ built('audit_errors') }} as corrections using (operator, service_date, ruleset)
    where corrections.part = 'all'
    window one_ruleset as (partition by weighted.operator, weighted.service_date, weighted.ruleset)
),

probable as (
    select
        *,
        {{ as_decimal("corrected_share", 7, 6) }} as on_time_probability,
        cast(least(
            {{ as_decimal(
                "case when on_time_share < 1 then (1 - corrected_share) * up_to_early / (1 - on_time_share) else 0 end",
                7, 6
            ) }},
            1 - {{ as_decimal("corrected_share", 7, 6) }}
        ) as decimal(7, 6)) as early_probability
    from corrected
),

uncertain as (
    select
        *,
        cast(1 - early_probability - on_time_probability as decimal(7, 6)) as late_probability
    from probable
),

shifted as (
    -- how the probabilities change if all passages of the line at the stop, or of the line, are later or earlier by the
    -- error that they have in common, by the density of the errors at the thresholds
    select
        *,
        {%- set late = "1.702 * share_late * (1 - share_late)" %}
        {%- set early = "1.702 * share_early * (1 - share_early)" %}
        {%- for name, density in {"early": early, "on_time": "abs(" ~ late ~ " - " ~ early ~ ")", "late": late}.items() %}
        {{ as_decimal(density ~ " * stop_error_seconds / error_seconds", 7, 6) }} as {{ name }}_shift,
        {{ as_decimal(density ~ " * line_error_seconds / error_seconds", 7, 6) }} as {{ name }}_line_shift
        {{- "," if not loop.last }}
        {%- endfor %}
    from uncertain
),

verdicts as (
    -- between two evidenced passages a bus is early or late as a whole: their uncertainties add up; so does what the
    -- passages of a line at a stop have in common, and those of a line whose departures are guesses
    select
        *,
        {%- for name in classes %}
        {%- set error = as_decimal("sqrt(" ~ name ~ "_probability * (1 - " ~ name ~ "_probability))", 7, 6) %}
        cast({{ name }}_shift * sum({{ name }}_shift) over line_stop as decimal(18, 6)) as {{ name }}_stop_variance,
        cast(
            {{ error }} * sum({{ error }}) over part
            + {{ name }}_shift * sum({{ name }}_shift) over line_stop
            + {{ name }}_line_shift * sum({{ name }}_line_shift) over line_day as decimal(18, 6)
        ) as {{ name }}_variance,
        {%- endfor %}
        {%- set stop_error = as_decimal("stop_error_seconds", 9, 1) %}
        cast({{ stop_error }} * sum({{ stop_error }}) over line_stop as decimal(18, 6)) as delay_stop_variance,
        {%- set line_error = as_decimal("line_error_seconds", 9, 1) %}
        cast({{ line_error }} * sum({{ line_error }}) over line_day as decimal(18, 6)) as delay_line_variance
    from shifted
    window
        part as (
            partition by
                ruleset, departure_key, case when arrival_quality = 'evidenced' then position end, n_evidenced_before
        ),
        line_stop as (partition by ruleset, operator, service_date, line_code, direction, stop_code),
        line_day as (partition by ruleset, operator, service_date, line_code, direction)
)
{%- endmacro %}

