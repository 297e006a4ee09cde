{{ config(materialized='view') }}
-- One row per operator, line, direction and month, of its dates that are over: the share of the line's passages that
-- were on time, with its 95 % interval.
with shares as (
    {{ punctuality_over('period', 'month_period', ['line_code', 'direction'], among=over_dates()) }}
),

{{ on_time_headline(
    direction_words('shares'),
    columns={'line': shown_line('shares'), 'towards': shown_terminus('shares')},
    joins='left join ' ~ named_directions() ~ ' as names using (operator, line_code, direction)',
    condition='where shares.line_code is not null'
) }}
