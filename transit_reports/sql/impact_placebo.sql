-- How often an interval leaves out 0 where there was no disruption: all dates of the file.
select
    sum(n_placebos) as n_placebos,
    sum(n_apart) / sum(n_placebos) as placebo_rate
from marts.impact_placebo
where metric = 'on_time_share'
having sum(n_placebos) > 0
