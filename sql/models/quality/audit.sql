-- One row per operator, service_date and part of the service: how far the estimates of unobserved passages were from
-- what the audit sample saw there, as a difference of shares with a 95 % interval.
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
from {{ built('audit_errors') }}
where ruleset = 'default' and n_audited > 0
