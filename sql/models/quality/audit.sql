-- One row per operator, service_date and part of the service: how far the estimates of unobserved passages were from
-- what the audit sample saw there, as a difference of shares with a 95 % interval.
{%- set parts = {
    "all": "cast(null as varchar)",
    "hour": "lpad(cast(service_hour as varchar), 2, '0')",
    "line": "line_code",
    "side": "side"
} %}
with passages as (
    select
        audited.*,
        cast(floor({{ seconds_between('days.zero_at', 'audited.scheduled_at') }} / 3600) as bigint) as service_hour
    from {{ ref('audited_passages') }} as audited
    inner join {{ built('service_days') }} as days using (operator, service_date)
    where audited.ruleset = 'default'
),

figures as (
    {%- for part, value in parts.items() %}
        select
            operator,
            service_date,
            '{{ part }}' as part,
            {{ value }} as part_value,
            {{ audit_figures() }}
        from passages
        group by operator, service_date, {{ value }}
        {{ "union all" if not loop.last }}
    {%- endfor %}
)

select
    operator,
    service_date,
    part,
    part_value,
    n_audited,
    observed_share,
    expected_share,
    error,
    error - 1.96 * standard_error as error_low,
    error + 1.96 * standard_error as error_high
from figures
