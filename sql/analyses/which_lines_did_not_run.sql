-- Which lines did not run all their departures? By month, of the dates that are over, the lines with most departures
-- that certainly did not run first. Low and high are bounds of the delivered share: between them lie the
-- departures whose outcome could not be observed; `coverage` is the share of the others. That a bus did not run is
-- seldom proven, so that no share between the bounds is the likeliest. Of each operator the first twenty.
select
    operator,
    line,
    towards,
    period,
    low as delivered_share_low,
    high as delivered_share_high,
    coverage
from headline.trips_delivered
qualify row_number() over (partition by operator order by high, line, towards, period) <= 20
order by operator, high, line, towards, period
