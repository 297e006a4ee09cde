-- Disruptions that began in the period, by the cause that the operator gives, or else by the kind of cause that the
-- message names.
select
    cause,
    case when cause is null then cause_class end as cause_class,
    count(*) as n_disruptions,
    sum(duration_low_seconds) / 60 as minutes_low,
    case when count(duration_high_seconds) = count(*) then sum(duration_high_seconds) / 60 end as minutes_high
from marts.disruptions
where
    not is_plant
    and service_date(begun_before) between $first and $last
group by all
order by minutes_low desc, cause, cause_class
