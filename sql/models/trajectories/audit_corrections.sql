-- One row per operator and service_date with calls due, and ruleset: by how much the estimated share of unobserved
-- passages is to be corrected, and what error remains. The audit sample measures the error that all estimates have in
-- common; what was assumed of it before (unobserved_bias of the ruleset) counts by its own precision.
-- Drawn visits stand for all passages, observed without the audit or not. Estimates are learned from those that are
-- observed, and so are right on average there: what the sample measures is the error of the others alone.
with measured as (
    select
        operator,
        service_date,
        ruleset,
        {{ audit_figures() }}
    from {{ ref('audited_passages') }}
    group by operator, service_date, ruleset
),

calls as (
    select
        calls.*,
        {{ is_observed_call("calls.") }} and coalesce(drawn.n_audit_requests, 0) = 0 as is_observed_anyway
    from {{ built('due_calls') }} as calls
    inner join {{ running_departures() }} as departures using (departure_key)
    left join {{ built('audit_visits') }} as drawn using (departure_key, position)
),

days as (
    select
        calls.operator,
        calls.service_date,
        judging.ruleset,
        max(rules.unobserved_bias) as assumed_error,
        avg(case when calls.is_observed_anyway then 0.0 else 1.0 end) as unobserved_share
    from calls
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
    {{ join_judging_rulesets('calls') }}
    group by calls.operator, calls.service_date, judging.ruleset
),

weights as (
    select
        days.*,
        coalesce(measured.n_audited, 0) as n_audited,
        measured.error / days.unobserved_share as measured_bias,
        measured.standard_error / days.unobserved_share as measured_error,
        -- the precision of a measurement without spread would be infinite: one more passage off by half counts along
        coalesce(
            power(days.unobserved_share, 2)
            / (power(measured.standard_error, 2) + 0.25 / power(measured.n_audited + 1, 2)),
            0
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
