-- Where do buses bunch? Shares of headways of at most half, and of at least one and a half times, the mean scheduled
-- one of the hour. Estimated for all buses that were due in frequent service, observed or not, with a 95 % interval.
-- Without `--to` only dates that are over count. Where too little is known a share is null, with the reason. Of each
-- operator the twenty with the largest share.
select
    waits.operator,
    line_code,
    direction,
    stop_code,
    n_stop_hours as n_hours,
    round(expected_headways) as n_headways,
    round(estimated_bunched_share, 3) as bunched_share,
    round(estimated_bunched_share_low, 3) as bunched_share_low,
    round(estimated_bunched_share_high, 3) as bunched_share_high,
    bunched_null_reason,
    round(estimated_gaps_share, 3) as gap_share,
    round(estimated_gaps_share_low, 3) as gap_share_low,
    round(estimated_gaps_share_high, 3) as gap_share_high,
    gaps_null_reason
from stop_waits_between(getvariable('from_date'), getvariable('to_date')) as waits
where (getvariable('lines') is null or list_contains(getvariable('lines'), line_code))
qualify
    row_number() over (
        partition by waits.operator
        order by bunched_share desc nulls last, n_headways desc nulls last, line_code, direction, stop_code
    ) <= 20
order by waits.operator, bunched_share desc nulls last, n_headways desc nulls last, line_code, direction, stop_code
