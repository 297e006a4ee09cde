-- The dates that count in both files' figures, of the months in which anything can differ; the sums of each date; and
-- the figures as the files give them.
create table counted as
with closed as (
    select 'before' as side, operator, service_date from before.core.closed_dates
    union all
    select 'after' as side, operator, service_date from after.core.closed_dates
),

dated as (
    select *, date_trunc('month', service_date)::date as month, count(*) over (partition by operator, service_date) as n_sides
    from closed
),

differing as (
    select operator, date_trunc('month', service_date)::date as month from dates
    union
    select operator, month from dated where n_sides = 1
    union
    -- other models may make other figures of the same sums
    select operator, month from dated
    where (select fingerprint from before.quality.publication) <> (select fingerprint from after.quality.publication)
)

from dated semi join differing using (operator, month);

create table counted_before as select operator, service_date, month from counted where side = 'before';
create table counted_after as select operator, service_date, month from counted where side = 'after';

create table date_sums (
    side varchar, figure varchar, ratio_number integer, operator varchar, service_date date, line_code varchar,
    direction varchar, numerator double, denominator double
);
create table published_figures (
    side varchar, level varchar, operator varchar, month date, line_code varchar, direction varchar, reason varchar,
    figure varchar, value double
);
