-- What random polls say of the estimates of each date: on-time share estimated minus observed, with a 95 % interval.
select
    service_date,
    n_audited,
    observed_share,
    expected_share,
    error,
    error_low,
    error_high
from quality.audit
where service_date between $first and $last and part = 'all'
order by service_date
