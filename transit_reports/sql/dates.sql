-- The service dates of the period that are over and of which anything is known.
select service_date
from core.closed_dates
where service_date between $first and $last
order by service_date
