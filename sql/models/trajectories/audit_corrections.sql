-- One row per operator and service_date with calls due, and ruleset: by how much the estimated share of unobserved
-- passages is to be corrected, and what error remains. The audit sample measures the error that all estimates have in
-- common; what was assumed of it before (unobserved_bias of the ruleset) counts by its own precision.
with measured as (
    select
        operator,
        service_date,
        ruleset,
        {{ audit_figures() }}
    from {{ ref('audited_passages') }}
    group by operator, service_date, ruleset
),

days as (
    select
        calls.operator,
        calls.service_date,
        judging.ruleset,
        max(rules.unobserved_bias) as assumed_error
    from {{ built('due_calls') }} as calls
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
    inner join {{ ref('judging_rulesets') }} as judging using (ruleset_version)
    group by calls.operator, calls.service_date, judging.ruleset
),

weights as (
    select
        days.*,
        coalesce(measured.n_audited, 0) as n_audited,
        measured.error as measured_bias,
        measured.standard_error as measured_error,
        -- the precision of a measurement without spread would be infinite: one more passage off by half counts along
        coalesce(
            1 / (power(measured.standard_error, 2) + 0.25 / power(measured.n_audited + 1, 2)), 0
        ) as measured_precision,
        1 / power(days.assumed_error, 2) as assumed_precision
    from days
    left join measured using (operator, service_date, ruleset)
)

select
    operator,
    service_date,
    ruleset,
    n_audited,
    measured_bias,
    measured_error,
    coalesce(measured_bias * measured_precision / (measured_precision + assumed_precision), 0) as correction,
    1 / sqrt(measured_precision + assumed_precision) as remaining_error
from weights
