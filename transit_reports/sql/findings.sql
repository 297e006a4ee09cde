-- What the checks of the data found.
select
    found_date,
    found_in,
    finding,
    n_rows,
    began_at,
    ended_at,
    n_stops,
    answer_share,
    example
from quality.findings
where found_date between $first and $last
order by found_date, found_in, finding
