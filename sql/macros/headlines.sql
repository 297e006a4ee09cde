{# What lines and directions are called: `line` is the public number, with the code where several lines share the number,
   `towards` the terminus that buses of the direction show, as last known, or else the one that the lists of lines give it;
   without one, the name of the direction. A relation of operator, line_code, direction, line and towards. #}
{% macro named_directions() -%}
    (
        select
            operator,
            line_code,
            direction,
            case
                when count(*) over (partition by operator, shown_number, direction) > 1
                    then shown_number || ' (' || line_code || ')'
                else shown_number
            end as line,
            case
                when terminus is null then direction
                when terminus_outbound = terminus_inbound then terminus || ' (' || direction || ')'
                else terminus
            end as towards
        from (
            select
                lines.*,
                directions.direction,
                coalesce(nullif(trim(lines.line_number), ''), lines.line_code) as shown_number,
                nullif(trim(coalesce(shown.terminus, case
                    when directions.direction = 'outbound' then lines.terminus_outbound
                    else lines.terminus_inbound
                end)), '') as terminus
            from {{ ref('latest_lines') }} as lines
            cross join (values ('outbound'), ('inbound')) as directions (direction)
            left join (
                select
                    *,
                    row_number() over (partition by operator, line_code, direction order by service_date desc) as nth
                from {{ ref('line_destinations') }}
                where terminus is not null
            ) as shown
                on
                    lines.operator = shown.operator
                    and lines.line_code = shown.line_code
                    and directions.direction = shown.direction
                    and shown.nth = 1
        ) as named
    )
{%- endmacro %}

{# A number as it is cited, rounded as `labels.decimals` says. The ends of an interval, and bounds, are rounded outwards, so
   that what is cited never says more than is known. transit_base/cited.py does the same for what is no headline.

   way: `round`, `floor` or `ceil`. #}
{% macro cited_number(value, way="round") -%}
    ({{ way }}({{ rounded(value ~ " * power(10.0, labels.decimals)", 6) }}) / power(10.0, labels.decimals) + 0.0)
{%- endmacro %}

{# The same as text. #}
{% macro number_text(value, way="round") -%}
    {{ decimal_text(cited_number(value, way), "labels.decimals") }}
{%- endmacro %}

{# A share in a sentence, in percent: without decimals. #}
{% macro percent_text(share) -%}
    {{ decimal_text("round(100 * " ~ share ~ ")", "0") }} || ' %'
{%- endmacro %}

{# Names the operator in a sentence where the warehouse has several; else it is empty. #}
{% macro operator_words(relation) -%}
    case
        when (select count(distinct operator) from {{ ref('service_days') }}) > 1
            then ' (operator ' || {{ relation }}.operator || ')'
        else ''
    end
{%- endmacro %}

{# The final select of a headline: operator, figure, interval and the sentence to cite.

   From the relation `figures`, with operator, `columns`, figure, low, high, null_reason, and the parts of the sentence:
   words_before (the figure), words_after, question (what is not known), when_words and note.

   columns:     names of what stands between operator and figure; `last_columns` stand after the sentence.
   quantity:    of core.precision_labels.
   decimals:    decimals that the columns keep at most; they have what is cited.
   factor:      what the figure is multiplied by in the sentence; `unit`: what follows it there.
   is_certain:  whether low and high are bounds; else they are a 95 % interval. Bounds are also given where
                the figure is not known.
   bounds_reason: the null_reason with which bounds alone are the answer.
   is_covered:  whether there is a coverage.
   is_named:    whether the parts of the sentence name the operator. #}
{% macro headline(
    columns, quantity, decimals, factor, unit, is_certain, bounds_reason=none, is_covered=true, last_columns=[],
    is_named=false
) -%}
    {%- set figure = "figures.figure * " ~ factor %}
    {%- set low = "figures.low * " ~ factor %}
    {%- set high = "figures.high * " ~ factor %}
    {%- set when_words = "figures.when_words" if is_named else "figures.when_words || " ~ operator_words("figures") %}
    select
        figures.operator,
        {%- for column in columns %}
        figures.{{ column }},
        {%- endfor %}
        {{ rounded(cited_number(figure) ~ " / " ~ factor, decimals) }} as figure,
        -- without an upper bound there is no width: whole units then
        coalesce(
            {{ rounded(cited_number(low, 'floor') ~ " / " ~ factor, decimals) }}, floor({{ low }}) / {{ factor }}
        ) as low,
        {{ rounded(cited_number(high, 'ceil') ~ " / " ~ factor, decimals) }} as high,
        {%- if is_covered %}
        {{ rounded('figures.coverage', 4) }} as coverage,
        {%- endif %}
        case when figures.null_reason is null then labels.precision end as precision,
        coalesce(reasons.words, figures.null_reason) as reason,
        case
            {%- if is_certain %}
            when figures.null_reason is null and {{ number_text(low, 'floor') }} = {{ number_text(high, 'ceil') }}
                then
                    figures.words_before || regexp_replace({{ number_text(low) }}, '[.]0+$', '')
                    || ' {{ unit }} (for certain)' || figures.words_after || ' ' || {{ when_words }}
            {%- endif %}
            when figures.null_reason is null
                then
                    figures.words_before || {{ number_text(figure) }} || ' {{ unit }} ('
                    || {{ "'bounds, not a 95 % interval: '" if is_certain else "'95 % interval: '" }}
                    || {{ number_text(low, 'floor') }} || ' to ' || {{ number_text(high, 'ceil') }} || ' {{ unit }})'
                    || figures.words_after || ' ' || {{ when_words }}
            {%- if bounds_reason %}
            when figures.null_reason = '{{ bounds_reason }}'
                then
                    'Between ' || {{ number_text(low, 'floor') }} || ' and ' || {{ number_text(high, 'ceil') }}
                    || ' {{ unit }} (bounds, not a 95 % interval)' || figures.words_after || ' ' || {{ when_words }}
            {%- endif %}
            else
                'It is not known ' || figures.question || ' ' || {{ when_words }} || ': '
                || coalesce(reasons.words, figures.null_reason)
                {%- if is_certain %}
                || coalesce(
                    ' (bounds: ' || {{ number_text(low, 'floor') }} || ' to ' || {{ number_text(high, 'ceil') }}
                    || ' {{ unit }})',
                    ' (at least ' || {{ decimal_text("floor(" ~ low ~ ")", "0") }} || ' {{ unit }})',
                    ''
                )
                {%- endif %}
        end || '; ' || figures.note || '.' as sentence
        {%- for column in last_columns %},
        figures.{{ column }}
        {%- endfor %}
    from figures
    left join {{ ref('precision_labels') }} as labels
        on
            labels.quantity = '{{ quantity }}'
            and (figures.high - figures.low) > labels.over_width
            and (figures.high - figures.low) <= labels.up_to_width
    left join {{ ref('null_reasons') }} as reasons on figures.null_reason = reasons.reason
{%- endmacro %}

{# When: a period of core.closed_dates in words. #}
{% macro when_words(period) -%}
    case length({{ period }})
        when 7 then 'in '
        when 10 then 'on '
        else 'from '
    end || replace({{ period }}, '/', ' to ')
{%- endmacro %}

{# The join that leaves the dates of a source that are over, and gives their month_period. #}
{% macro over_dates() -%}
    inner join {{ ref('closed_dates') }} using (operator, service_date)
{%- endmacro %}

{# The line, its terminus, and both in a sentence. In a relation with line_code and direction, joined with
   named_directions() as `names`. #}
{% macro shown_line(relation) -%} coalesce(names.line, {{ relation }}.line_code) {%- endmacro %}
{% macro shown_terminus(relation) -%} coalesce(names.towards, {{ relation }}.direction) {%- endmacro %}
{% macro direction_words(relation) -%}
    'line ' || {{ shown_line(relation) }} || ' towards ' || {{ shown_terminus(relation) }}
{%- endmacro %}

{# An on-time share as a headline: one row per row of the relation `shares`.

   subject:  an expression of whose passages the share is.
   period:   an expression of the period, as text.
   columns:  names of what stands between operator and period, each with its expression.
   joins:    what the expressions need besides `shares` and `rules`.
   is_named: whether the subject names the operator. #}
{% macro on_time_headline(subject, period="shares.period", columns={}, joins="", condition="", is_named=false) -%}
    figures as (
        select
            shares.operator,
            {%- for column, expression in columns.items() %}
            {{ expression }} as {{ column }},
            {%- endfor %}
            {{ period }} as period,
            shares.estimated_on_time_share as figure,
            shares.estimated_on_time_share_low as low,
            shares.estimated_on_time_share_high as high,
            shares.coverage,
            shares.estimate_null_reason as null_reason,
            '' as words_before,
            ' of the passages of ' || {{ subject }} || ' were on time' as words_after,
            'what share of the passages of ' || {{ subject }} || ' was on time' as question,
            {{ when_words(period) }} as when_words,
            {{ percent_text("coalesce(shares.coverage, 0)") }}
            || ' of the passages due were observed, the others are estimated (ruleset ' || rules.ruleset_version
            || ': on time from ' || -rules.early_seconds || ' s early to ' || rules.late_seconds || ' s late)' as note
        from shares
        inner join {{ ref('rulesets') }} as rules using (ruleset_version)
        {{ joins }}
        {{ condition }}
    )

    {{ headline(columns | list + ['period'], 'share', 6, 100, '%', is_certain=false, is_named=is_named) }}
{%- endmacro %}
