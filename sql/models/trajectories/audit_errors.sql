-- One row per operator and service_date with calls due, ruleset, and part of the service: how far the estimates of
-- unobserved passages were from what the audit sample saw there; and by how much the estimated share of the whole
-- service is to be corrected, and what error remains. The audit sample measures the error that all estimates have in
-- common; what was assumed of it before (unobserved_bias of the ruleset) counts by its own precision.
-- Compared is whether drawn visits were on time, and how probable that was by what was observed of their trips
-- elsewhere. Visits that the planner would have observed anyway are left out, and those of a trip whose departure is a
-- guess: whether these were on time is not known.
-- Drawn visits stand for all passages, observed without the audit or not. Estimates are learned from those that are
-- observed, and so are right on average there: what the sample measures is the error of the others alone.
{%- set parts = {
    "all": "cast(null as string)",
    "hour": "lpad(cast(service_hour as string), 2, '0')",
    "line": "line_code",
    "side": "side"
} %}
with audited as (
    select * from {{ built('audit_visits') }}
    where result = 'passed' and punctuality_point is not null and n_audit_requests > 0
),

compared as (
    select
        audited.operator,
        audited.service_date,
        audited.inclusion_probability,
        audited.delay_seconds,
        calls.service_hour,
        calls.is_guessed,
        expected.line_code,
        expected.side,
        expected.expected_seconds,
        expected.unseen_factor * expected.error_seconds as error_seconds,
        shares.shares,
        judging.ruleset,
        passages.least_seconds,
        judging.early_seconds,
        judging.late_seconds
    from audited
    inner join {{ built('due_calls') }} as calls using (operator, service_date, departure_key, position)
    inner join {{ built('expected_delays') }} as expected using (operator, service_date, departure_key, position)
    inner join {{ built('error_shares') }} as shares using (operator, service_date, side, shape_class)
    left join {{ built('estimated_passages') }} as passages
        using (operator, service_date, departure_key, position)
    {{ join_judging_rulesets('calls') }} and not {{ is_frequent_passage('calls') }} and expected.holdout = 1
),

passages as (
    select
        operator,
        service_date,
        ruleset,
        service_hour,
        line_code,
        side,
        case
            when delay_seconds < coalesce(early_seconds, delay_seconds) or delay_seconds > late_seconds then 0 else 1
        end as is_on_time,
        -- in thousandths, as a whole number, so that sums do not depend on the order
        cast(round(1000 / inclusion_probability) as bigint) as weight,
        {{ as_decimal(
            share_up_to("shares", "((late_seconds + 0.5 - expected_seconds) / error_seconds)")
            ~ " - case when early_seconds is null or early_seconds <= least_seconds then 0 else "
            ~ share_up_to("shares", "((early_seconds - 0.5 - expected_seconds) / error_seconds)") ~ " end", 7, 6
        ) }} as on_time_probability
    from compared
    where not is_guessed
),

measured as (
    {%- for part, value in parts.items() %}
        select
            operator,
            service_date,
            ruleset,
            '{{ part }}' as part,
            {{ value }} as part_value,
            {{ audit_figures() }}
        from passages
        group by operator, service_date, ruleset, {{ value }}
        {{ "union all" if not loop.last }}
    {%- endfor %}
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
        avg(case when calls.is_observed_anyway then 0 else 1 end) as unobserved_share
    from calls
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
    {{ join_judging_rulesets('calls') }}
    group by calls.operator, calls.service_date, judging.ruleset
),

weights as (
    select
        days.*,
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
    left join measured
        on
            days.operator = measured.operator
            and days.service_date = measured.service_date
            and days.ruleset = measured.ruleset
            and measured.part = 'all'
)

select
    operator,
    service_date,
    ruleset,
    coalesce(measured.part, 'all') as part,
    measured.part_value,
    coalesce(measured.n_audited, 0) as n_audited,
    measured.observed_share,
    measured.expected_share,
    measured.error,
    measured.standard_error,
    weights.measured_bias,
    weights.measured_error,
    coalesce(measured_bias * measured_precision / (measured_precision + assumed_precision), 0) as correction,
    1 / sqrt(measured_precision + assumed_precision) as remaining_error
from weights
left join measured using (operator, service_date, ruleset)
