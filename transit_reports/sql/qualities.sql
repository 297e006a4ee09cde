-- Passages due by how much is known of their time, and their estimated on-time share.
select
    arrival_quality,
    cast(sum(n_due) as bigint) as n_due,
    sum(expected_on_time) / nullif(sum(n_due), 0) as on_time
from marts.punctuality_by_quality
where service_date between $first and $last
group by arrival_quality
order by n_due desc, arrival_quality
